package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// An Output is what one case gave on one target.
type Output struct {
	// Runs are the results of each launch. The buffers were poisoned with
	// poisons[i%len(poisons)] before launch i.
	Runs     []*tensor.Tensor
	Findings []gpu.Finding
	Counters *gpu.Counters
	// Damage says what the kernel wrote that it must not: red zones and
	// inputs. It is empty for a well-behaved kernel.
	Damage []string
}

// poisons fill outputs and red zones before a launch: NaN in every
// floating-point type, and an ordinary number. A value that both launches
// share was written by the kernel.
var poisons = [...]byte{0xff, 0x5a}

// A session is a device with the modules loaded on it.
type session struct {
	target  *Target
	dev     gpu.Device
	modules map[string]gpu.Module // by family
	byHash  map[string]gpu.Module // by SHA-256 of the image
	kernels map[string]gpu.Kernel // by symbol
	use     ModuleUse
	images  map[string]string // family -> SHA-256 of the image
	failed  map[string]error  // families whose image cannot be had
	lost    error             // why the device cannot be used any more
}

func open(t *Target) (*session, error) {
	dev, err := t.Open()
	if err != nil {
		return nil, err
	}
	return &session{
		target: t, dev: dev, modules: map[string]gpu.Module{}, byHash: map[string]gpu.Module{}, kernels: map[string]gpu.Kernel{},
		images: map[string]string{}, failed: map[string]error{},
	}, nil
}

func (s *session) close() error { return s.dev.Close() }

// kernel loads the family's module at its first use.
func (s *session) kernel(c *ops.Case) (gpu.Kernel, error) {
	family := c.Op.Family
	if err := s.failed[family]; err != nil {
		return nil, err
	}
	symbol := c.Op.Kernel(c.Variant)
	if k := s.kernels[symbol]; k != nil {
		s.use.Hits++
		return k, nil
	}
	m := s.modules[family]
	if m != nil {
		s.use.Hits++
	} else {
		image, err := s.target.Image(s.dev, family)
		var hash string
		if err == nil {
			sum := sha256.Sum256(image)
			hash = hex.EncodeToString(sum[:])
			if m = s.byHash[hash]; m != nil { // a user's file has all families
				s.use.Hits++
			} else if m, err = s.dev.Load(image); err == nil {
				s.byHash[hash] = m
				s.use.Loads++
			}
		}
		if err != nil {
			err = fmt.Errorf("loading %s for %s: %w", family, s.target.Name, err)
			s.failed[family] = err
			return nil, err
		}
		s.images[family] = hash
		s.modules[family] = m
	}
	k, err := m.Kernel(symbol)
	if err != nil {
		return nil, err
	}
	s.kernels[symbol] = k
	return k, nil
}

// A region is one buffer argument on the device: red zone, contents, red
// zone.
type region struct {
	param int
	buf   gpu.Buffer
	guard int // bytes of each red zone
	want  []byte
}

// guardBytes is the size of the red zones around a buffer of n bytes on
// hardware: an index slip of several times the buffer stays inside them.
// The interpreter has unmapped red zones of its own.
func guardBytes(n int, emulated bool) int {
	if emulated {
		return 0
	}
	g := min(max(16*n, 4096), 1<<20)
	return (g + 255) &^ 255 // keep the contents aligned as the driver aligns
}

// collect launches the problem once for each of repeat runs and reads
// the output back. The error is a *gpu.Fault where the kernel failed and
// anything else where it could not be tried.
func (s *session) collect(ctx context.Context, p *ops.Problem, repeat int, schedule uint64) (_ *Output, err error) {
	if s.lost != nil {
		return nil, fmt.Errorf("the device was lost: %v", s.lost) // not wrapped: that fault is another case's
	}
	k, err := s.kernel(p.Case)
	if err != nil {
		return nil, err
	}
	var regions []*region
	defer func() {
		for _, r := range regions {
			if ferr := r.buf.Free(); ferr != nil && err == nil {
				err = ferr
			}
		}
	}()
	emulated := s.dev.Info().Emulated
	var args gpu.Args
	outIndex := p.Case.Op.Output()
	var out *region
	for i, param := range p.Case.Op.Params {
		a := p.Args[i]
		if a.Buf != nil {
			a.Buf.Expand()
		}
		dt := param.Type.DType(p.Case.Variant)
		if param.Role == ops.Scalar {
			packScalar(&args, dt, a)
			continue
		}
		if a.Buf == nil {
			args.Ptr(nil)
			continue
		}
		g := guardBytes(len(a.Buf.Data), emulated)
		buf, err := s.dev.Alloc(param.Name, len(a.Buf.Data)+2*g)
		if err != nil {
			return nil, fmt.Errorf("allocating %s: %w", param.Name, err)
		}
		r := &region{param: i, buf: buf, guard: g}
		regions = append(regions, r)
		if i == outIndex {
			out = r
		}
		args.Uint(buf.Ptr()+uint64(g)+uint64(a.Offset*dt.Size()), 8)
	}
	if out == nil {
		return nil, fmt.Errorf("%s binds no output buffer", p.Case.Name())
	}
	res := &Output{}
	for n := range max(repeat, 1) {
		poison := poisons[n%len(poisons)]
		for _, r := range regions {
			if err := r.prepare(p, poison); err != nil {
				return nil, err
			}
		}
		cfg := gpu.LaunchConfig{Grid: p.Grid, Block: p.Block, Shared: p.Shared}
		if n > 0 {
			cfg.Schedule = schedule + uint64(n)
		}
		var report gpu.Report
		if p.Grid.Count() > 0 { // an empty tensor launches nothing, as on every host side
			report, err = s.dev.Launch(ctx, k, cfg, args.Bytes())
		}
		if n == 0 {
			res.Findings, res.Counters = report.Findings, report.Counters
		} else {
			res.Findings = mergeFindings(res.Findings, report.Findings)
		}
		if err != nil {
			f, ok := errors.AsType[*gpu.Fault](err)
			switch {
			case ok && f.Lost:
				s.lost = err
			case !ok && !errors.Is(err, gpu.ErrLost) && ctx.Err() == nil:
				// Its buffers are there, and the driver will not launch it.
				err = &gpu.Fault{Kernel: k.Name(), Reason: err.Error(), Err: err}
			}
			return res, err
		}
		for _, r := range regions {
			got, damage, err := r.check(p, poison)
			if err != nil {
				return res, err
			}
			if n == 0 || len(res.Damage) == 0 {
				res.Damage = append(res.Damage, damage...)
			}
			if r == out {
				res.Runs = append(res.Runs, got)
			}
		}
	}
	return res, nil
}

// prepare fills the buffer for a launch.
func (r *region) prepare(p *ops.Problem, poison byte) error {
	a := p.Args[r.param]
	if p.Role(r.param) == ops.Out {
		r.want = nil
		return r.buf.Poison(poison)
	}
	img := make([]byte, 0, len(a.Buf.Data)+2*r.guard)
	img = append(img, bytes.Repeat([]byte{poison}, r.guard)...)
	img = append(img, a.Buf.Data...)
	img = append(img, bytes.Repeat([]byte{poison}, r.guard)...)
	r.want = img
	return r.buf.CopyIn(img)
}

// check reads the buffer back and says what changed that must not have.
func (r *region) check(p *ops.Problem, poison byte) (*tensor.Tensor, []string, error) {
	param, a := p.Case.Op.Params[r.param], p.Args[r.param]
	img := make([]byte, len(a.Buf.Data)+2*r.guard)
	if err := r.buf.CopyOut(img); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", param.Name, err)
	}
	size := len(a.Buf.Data)
	var damage []string
	if first, last, n := changed(img[:r.guard], poison); n > 0 {
		damage = append(damage, fmt.Sprintf("%s is written before its start: %d bytes, %d to %d before byte 0", param.Name, n, r.guard-first, r.guard-last))
	}
	if first, last, n := changed(img[r.guard+size:], poison); n > 0 {
		damage = append(damage, fmt.Sprintf("%s is written past its end: %d bytes, the first %d and the last %d past byte %d", param.Name, n, first, last, size))
	}
	body := img[r.guard : r.guard+size]
	if param.Role == ops.In && !bytes.Equal(body, a.Buf.Data) {
		for i := range body {
			if body[i] != a.Buf.Data[i] {
				damage = append(damage, fmt.Sprintf("the kernel wrote to its input %s: first at element %d", param.Name, i/a.Buf.DType.Size()))
				break
			}
		}
	}
	return &tensor.Tensor{DType: a.Buf.DType, Shape: a.Buf.Shape, Data: body}, damage, nil
}

// changed finds the bytes of b that are not poison.
func changed(b []byte, poison byte) (first, last, n int) {
	for i, v := range b {
		if v != poison {
			if n == 0 {
				first = i
			}
			last = i
			n++
		}
	}
	return first, last, n
}

func packScalar(args *gpu.Args, dt tensor.DType, a ops.Arg) {
	if dt.IsFloat() {
		args.Uint(dt.Encode(a.Float), dt.Size())
		return
	}
	args.Uint(uint64(a.Int), dt.Size())
}

// mergeFindings adds those of more that are not in list yet: a repeat may
// find what the first launch's schedule hid.
func mergeFindings(list, more []gpu.Finding) []gpu.Finding {
	type key struct {
		check  gpu.Check
		pc     uint64
		buffer string
	}
	seen := map[key]bool{}
	for _, f := range list {
		seen[key{f.Check, f.First.PC, f.Buffer}] = true
	}
	for _, f := range more {
		if !seen[key{f.Check, f.First.PC, f.Buffer}] {
			list = append(list, f)
		}
	}
	return list
}
