package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paritycheck/paritycheck/internal/ops"
)

// A launchDump writes launches to a folder, so that another program can
// make the same ones.
type launchDump struct {
	dir  string
	list []dumpedLaunch
	have map[string]bool // files by name
}

// A dumpedLaunch is one launch in launches.json.
type dumpedLaunch struct {
	Case   string      `json:"case"`
	Target string      `json:"target"`
	Kernel string      `json:"kernel"`
	Module string      `json:"module"` // file: PTX, a cubin or a code object
	Grid   [3]uint32   `json:"grid"`   // blocks
	Block  [3]uint32   `json:"block"`  // threads
	Shared int         `json:"shared"` // bytes
	Args   []dumpedArg `json:"args"`
	Bytes  int64       `json:"bytes"` // that a perfect kernel moves
}

// A dumpedArg is one kernel argument: a buffer where Bytes is set, a null
// pointer where Null is, and a scalar else.
type dumpedArg struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes,omitempty"`
	Offset int    `json:"offset,omitempty"` // bytes, that the pointer is behind the buffer's start
	File   string `json:"file,omitempty"`   // content, repeated to fill the buffer; without one it is an output
	Null   bool   `json:"null,omitempty"`
	Size   int    `json:"size,omitempty"`  // of a scalar, bytes
	Value  uint64 `json:"value,omitempty"` // its bits
}

func newLaunchDump(dir string) (*launchDump, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("--dump: %w", err)
	}
	return &launchDump{dir: dir, have: map[string]bool{}}, nil
}

// file writes data under a name of its content.
func (d *launchDump) file(data []byte, ext string) (string, error) {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:8]) + ext
	if d.have[name] {
		return name, nil
	}
	d.have[name] = true
	return name, os.WriteFile(filepath.Join(d.dir, name), data, 0o666)
}

// add takes a launch.
func (d *launchDump) add(target string, p *ops.Problem, image []byte) error {
	c := p.Case
	l := dumpedLaunch{
		Case: c.Name(), Target: target, Kernel: c.Op.Kernel(c.Variant),
		Grid: [3]uint32{p.Grid.X, p.Grid.Y, p.Grid.Z}, Block: [3]uint32{p.Block.X, p.Block.Y, p.Block.Z}, Shared: p.Shared,
	}
	if c.Op.Work != nil {
		l.Bytes, _ = c.Op.Work(p)
	}
	var err error
	if l.Module, err = d.file(image, ".module"); err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	for i, param := range c.Op.Params {
		a, dt := p.Args[i], param.Type.DType(c.Variant)
		x := dumpedArg{Name: param.Name}
		switch {
		case param.Role == ops.Scalar && dt.IsFloat():
			x.Size, x.Value = dt.Size(), dt.Encode(a.Float)
		case param.Role == ops.Scalar:
			x.Size, x.Value = dt.Size(), uint64(a.Int)&(1<<(8*dt.Size()-1)<<1-1)
		case a.Buf == nil:
			x.Null = true
		default:
			x.Bytes, x.Offset = len(a.Buf.Data), a.Offset*dt.Size()
			if p.Role(i) != ops.Out {
				if x.File, err = d.file(a.Buf.Data[:a.Buf.Distinct()*dt.Size()], ".data"); err != nil {
					return fmt.Errorf("--dump: %w", err)
				}
			}
		}
		l.Args = append(l.Args, x)
	}
	d.list = append(d.list, l)
	return nil
}

// write ends the dump.
func (d *launchDump) write() error {
	text, err := json.MarshalIndent(d.list, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(d.dir, "launches.json"), append(text, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	return nil
}
