package rocm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A Compiler compiles HIP with hiprtc, each source in a process of its
// own: hiprtc aborts the process for architectures it does not know, and
// crashes when two threads use it. It is safe for use from several
// goroutines.
type Compiler struct {
	Exe  string   // the program, which calls CompileChild when run with Args
	Args []string // its hidden command
	// Limit is how long one compilation may take; two minutes where it
	// is 0.
	Limit time.Duration
}

// A request is what a child is given on standard input.
type request struct {
	Source  gpu.Source
	Arch    string
	Options []string
}

// A response is what it answers, in JSON behind marker on standard
// output. The libraries may print there too.
type response struct {
	Code    []byte
	Version string // of the compiler: "hiprtc 9.0"
	Log     string // of the compiler, where it refused the source
	Error   string // why else there is no code
	Missing bool   // no compiler on this machine
}

const marker = "\nparitycheck-hiprtc: "

// Code is a compiled code object.
type Code struct {
	Object   []byte
	Compiler string // "hiprtc 9.0"
}

// Compile compiles src for arch, as in gfx90a or gfx90a:xnack-. flags are
// passed on. The error is a *gpu.CompileError where the source is at
// fault, and wraps gpu.ErrUnavailable where there is no hiprtc.
func (c Compiler) Compile(ctx context.Context, src gpu.Source, arch string, flags ...string) (Code, error) {
	code, err := c.compile(ctx, src, arch, flags)
	if err != nil {
		if _, ok := errors.AsType[*gpu.CompileError](err); ok {
			return Code{}, err
		}
		return Code{}, fmt.Errorf("rocm: compiling %s for %s: %w", src.File, arch, err)
	}
	return code, nil
}

func (c Compiler) compile(ctx context.Context, src gpu.Source, arch string, flags []string) (Code, error) {
	if !archName.MatchString(arch) {
		return Code{}, fmt.Errorf("architecture must be like gfx90a or gfx90a:xnack-, is %q", arch)
	}
	for _, s := range append([]string{src.File, src.Text}, flags...) {
		if err := clib.Name(s); err != nil {
			return Code{}, fmt.Errorf("source or option %.40q: %w", s, err)
		}
	}
	// hiprtc and comgr leave folders behind where they fail.
	tmp, err := os.MkdirTemp("", "paritycheck-hiprtc-")
	if err != nil {
		return Code{}, err
	}
	defer os.RemoveAll(tmp)

	limit := c.Limit
	if limit == 0 {
		limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the compiler did not end in %v", limit))
	defer cancel()
	in, err := json.Marshal(request{Source: src, Arch: arch, Options: flags})
	if err != nil {
		return Code{}, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Exe, c.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Dir = tmp // --save-temps and the like write to the working folder
	cmd.WaitDelay = time.Second
	runErr := cmd.Run()
	if ctx.Err() != nil {
		return Code{}, context.Cause(ctx)
	}

	var r response
	_, answer, ok := bytes.Cut(stdout.Bytes(), []byte(marker))
	if ok {
		if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&r); err != nil {
			return Code{}, fmt.Errorf("the compiler's answer is damaged: %w", err)
		}
	}
	switch {
	case !ok && runErr == nil:
		return Code{}, errors.New("the compiler gave no answer")
	case !ok:
		err := fmt.Errorf("the compiler died: %w", runErr)
		if said := clib.LastWords(stderr.String()); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return Code{}, err
	case r.Missing:
		return Code{}, fmt.Errorf("%w: %s", gpu.ErrUnavailable, strings.TrimPrefix(r.Error, gpu.ErrUnavailable.Error()+": "))
	case r.Log != "":
		return Code{}, &gpu.CompileError{File: src.File, Log: rewrite(r.Log, tmp, src.File), Hint: hint(r.Log)}
	case r.Error != "":
		return Code{}, errors.New(r.Error)
	}
	return Code{Object: r.Code, Compiler: r.Version}, nil
}

// comgrFile is how comgr calls the source in its messages: a file in a
// folder of its own below the temporary folder.
var comgrFile = regexp.MustCompile(`comgr-\w+/(?:input|include)/`)

// rewrite puts the user's name for the source where the log has comgr's.
func rewrite(log, tmp, file string) string {
	log = strings.ReplaceAll(log, tmp+string(filepath.Separator), "")
	for _, name := range []string{"CompileSource", filepath.Base(file)} {
		log = regexp.MustCompile(`(?:/\S*/)?comgr-\w+/input/`+regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(log, file)
	}
	return comgrFile.ReplaceAllString(log, "")
}

// hint says what to do about an error that hiprtc's own headers make.
func hint(log string) string {
	if m := brokenHeader.FindStringSubmatch(log); m != nil {
		return fmt.Sprintf("hiprtc has its own built-in header and does not take <%s>; guard the include with #ifndef __HIPCC_RTC__", m[1])
	}
	return ""
}

var brokenHeader = regexp.MustCompile(`'((?:hip/hip_(?:fp16|bfloat16)|stdint|cmath|cstdint)(?:\.h)?)' file not found`)

// CompileChild is the other end of Compiler: what the hidden command
// runs. Its error is of the exchange only; that of the compilation is in
// the answer.
func CompileChild(stdin io.Reader, stdout io.Writer) error {
	var q request
	if err := json.NewDecoder(stdin).Decode(&q); err != nil {
		return fmt.Errorf("rocm: reading what to compile: %w", err)
	}
	r := q.answer()
	out, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s%s\n", marker, out)
	return err
}

func (q request) answer() response {
	a, err := loadHiprtc(hiprtcNames()...)
	if err != nil {
		return response{Error: err.Error(), Missing: errors.Is(err, gpu.ErrUnavailable)}
	}
	version, err := a.version()
	if err != nil {
		return response{Error: err.Error()}
	}
	if err := known(q.Arch); err != nil {
		return response{Error: err.Error()}
	}
	options := append([]string{"--gpu-architecture=" + q.Arch}, q.Options...)
	code, log, err := a.compile(q.Source, options)
	if err != nil {
		return response{Error: err.Error(), Log: log}
	}
	return response{Code: code, Version: version}
}

// known checks arch against the list of the code object manager. Where
// there is none, hiprtc has to say.
func known(arch string) error {
	_, list, err := isas(comgrNames()...)
	if err != nil {
		return nil
	}
	if base, _, _ := strings.Cut(arch, ":"); !slices.Contains(list, base) {
		return fmt.Errorf("this ROCm does not compile for %s, only for %s", arch, strings.Join(list, " "))
	}
	return nil
}
