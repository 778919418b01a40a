package rocm

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// The test binary is its own child: with one of these arguments it is a
// compiler, or something that went wrong with one.
var children = map[string]func() error{
	"hiprtc-child": func() error { return CompileChild(os.Stdin, os.Stdout) },
	"child-abort": func() error {
		fmt.Fprintln(os.Stderr, "munmap_chunk(): invalid pointer")
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return errors.Join(p.Signal(syscall.SIGABRT), errors.New("still alive"))
	},
	"child-hang":    func() error { time.Sleep(time.Hour); return nil },
	"child-silent":  func() error { return nil },
	"child-damaged": func() error { _, err := fmt.Print(marker, `{"Code":`); return err },
	"child-litter": func() error {
		os.Mkdir(filepath.Join(os.TempDir(), "comgr-abcdef"), 0o777)
		wd, err := os.Getwd()
		fmt.Printf("a line that the library prints\n%s{\"Code\":\"AAEC\",\"Version\":%q}\n", marker, os.TempDir()+" "+wd)
		return err
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		if run := children[os.Args[1]]; run != nil {
			if err := run(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func child(t *testing.T, arg string) Compiler {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Compiler{Exe: exe, Args: []string{arg}}
}

// hiprtc is a real compiler, or skips.
func hiprtc(t *testing.T) Compiler {
	t.Helper()
	if l := probeHiprtc(hiprtcNames()...); l.Err != nil {
		gputest.Missing(t, "hip", l.Err)
	}
	return child(t, "hiprtc-child")
}

func TestCompile(t *testing.T) {
	c := hiprtc(t)
	src := gpu.Source{File: "conform.hip", Text: gputest.Source}
	for _, tt := range []struct {
		arch string
		mach uint32 // low byte of e_flags
	}{{"gfx90a", 0x3f}, {"gfx1030", 0x36}} {
		code, err := c.Compile(t.Context(), src, tt.arch)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(code.Compiler, "hiprtc ") {
			t.Errorf("compiler: got %q, want hiprtc and a version", code.Compiler)
		}
		if err := checkImage(code.Object); err != nil {
			t.Errorf("%s: checkImage: %v", tt.arch, err)
		}
		if got := uint32(code.Object[48]); got != tt.mach {
			t.Errorf("%s: machine: got %#x, want %#x", tt.arch, got, tt.mach)
		}
		f, err := elf.NewFile(bytes.NewReader(code.Object))
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, s := range symbols {
			have[s.Name] = true
		}
		for _, k := range gputest.SuiteKernels {
			if !have[k+".kd"] {
				t.Errorf("%s: object has no kernel %s", tt.arch, k)
			}
		}
		for n := range len(code.Object) / 64 {
			if err := checkImage(code.Object[:64*n]); err == nil {
				t.Errorf("checkImage of the first %d of %d bytes: got nil, want an error", 64*n, len(code.Object))
				break
			}
		}
	}
}

func TestCompileHeaders(t *testing.T) {
	c := hiprtc(t)
	src := gpu.Source{
		File:    "h.hip",
		Text:    "#include \"mine.h\"\nextern \"C\" __global__ void h(int *y) { y[0] = MINE; }\n",
		Headers: map[string]string{"mine.h": "#define MINE 321\n"},
	}
	if _, err := c.Compile(t.Context(), src, "gfx90a"); err != nil {
		t.Error(err)
	}
	src.Headers["mine.h"] = "#define YOURS 321\n"
	if _, err := c.Compile(t.Context(), src, "gfx90a"); err == nil || !strings.Contains(err.Error(), "MINE") {
		t.Errorf("without the macro: got %v, want an error that names MINE", err)
	}
}

func TestCompileErrors(t *testing.T) {
	c := hiprtc(t)
	good := `extern "C" __global__ void f() {}`
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	fails := func(name, file, text, arch string, flags []string, source bool, want ...string) {
		t.Helper()
		_, err := c.Compile(t.Context(), gpu.Source{File: file, Text: text}, arch, flags...)
		if err == nil {
			t.Errorf("%s: got nil, want an error", name)
			return
		}
		if _, ok := errors.AsType[*gpu.CompileError](err); ok != source {
			t.Errorf("%s: got %T, want a *gpu.CompileError: %v", name, err, source)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %q, want it to contain %q", name, err, w)
			}
		}
		for _, litter := range []string{"comgr-", "CompileSource", tmp} {
			if strings.Contains(err.Error(), litter) {
				t.Errorf("%s: got %q, want no %q in it", name, err, litter)
			}
		}
	}
	fails("syntax", "kernels/hip/bad.hip", "\nextern \"C\" __global__ void f( {", "gfx90a", nil, true, "compiling kernels/hip/bad.hip", "kernels/hip/bad.hip:2:", "error")
	fails("type", "x y.hip", "\n\nint *p = 1.0f;", "gfx90a", nil, true, "x y.hip:3:")
	fails("option", "f.hip", good, "gfx90a", []string{"-nonsense-option"}, true, "-nonsense-option")
	fails("header", "f.hip", "#include \"nowhere.h\"\n"+good, "gfx90a", nil, true, "nowhere.h")
	fails("newer architecture", "f.hip", good, "gfx9999", nil, false, "compiling f.hip for gfx9999", "does not compile for gfx9999", "gfx90a")
	fails("nvidia architecture", "f.hip", good, "sm_90", nil, false, "must be like gfx90a", `"sm_90"`)
	fails("NUL", "f.hip", good+"\x00", "gfx90a", nil, false, "NUL")
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

// TestCompileParallel compiles from several goroutines at once, which
// crashes hiprtc inside one process.
func TestCompileParallel(t *testing.T) {
	c := hiprtc(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			text := fmt.Sprintf(`extern "C" __global__ void k%d(int *y) { y[0] = %d; }`, i, i)
			code, err := c.Compile(t.Context(), gpu.Source{File: "k.hip", Text: text}, "gfx1030")
			if err != nil || !bytes.Contains(code.Object, fmt.Appendf(nil, "k%d.kd\x00", i)) {
				t.Errorf("source %d: %v, or the code of another", i, err)
			}
		})
	}
	wg.Wait()
}

func TestChildFailures(t *testing.T) {
	src := gpu.Source{File: "f.hip", Text: "text"}
	fails := func(c Compiler, want ...string) {
		t.Helper()
		_, err := c.Compile(t.Context(), src, "gfx90a")
		if err == nil {
			t.Errorf("%q: got nil, want an error", c.Args)
			return
		}
		for _, w := range append(want, "rocm: compiling f.hip for gfx90a") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: got %q, want it to contain %q", c.Args, err, w)
			}
		}
	}
	fails(child(t, "child-abort"), "the compiler died", "SIGABRT: abort", "munmap_chunk(): invalid pointer")
	fails(child(t, "child-silent"), "gave no answer")
	fails(child(t, "child-damaged"), "damaged")
	fails(Compiler{Exe: "/nowhere/paritycheck"}, "/nowhere/paritycheck")
	slow := child(t, "child-hang")
	slow.Limit = 50 * time.Millisecond
	fails(slow, "did not end in 50ms")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := child(t, "child-hang").Compile(ctx, src, "gfx90a"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
}

// TestCrash makes the real hiprtc abort: for an architecture it does not
// know, with no list of those it does.
func TestCrash(t *testing.T) {
	c := hiprtc(t)
	t.Setenv(comgrEnv, "/nowhere/libamd_comgr.so")
	_, err := c.Compile(t.Context(), gpu.Source{File: "f.hip", Text: `extern "C" __global__ void f() {}`}, "gfx9999")
	if err == nil {
		t.Error("got nil, want an error")
	}
	t.Log(err)
}

func TestChildSurroundings(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	code, err := child(t, "child-litter").Compile(t.Context(), gpu.Source{File: "f.hip"}, "gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(code.Object, []byte{0, 1, 2}) {
		t.Errorf("object: got %x, want 000102", code.Object)
	}
	inner, wd, _ := strings.Cut(code.Compiler, " ")
	if filepath.Dir(inner) != tmp || inner != wd {
		t.Errorf("the child's temporary folder is %s and its working folder %s, want one of its own in %s", inner, wd, tmp)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestNoHiprtc(t *testing.T) {
	t.Setenv(hiprtcEnv, "/nowhere/libhiprtc.so")
	_, err := child(t, "hiprtc-child").Compile(t.Context(), gpu.Source{File: "f.hip"}, "gfx90a")
	if !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "/nowhere/libhiprtc.so") {
		t.Errorf("got %v, want ErrUnavailable with the library's name", err)
	}
	l := probeHiprtc(hiprtcNames()...)
	if !errors.Is(l.Err, gpu.ErrUnavailable) || len(l.Tried) != 1 {
		t.Errorf("probe: got %+v, want ErrUnavailable and one library tried", l)
	}
	l = probeHiprtc("libm.so.6")
	if l.Err == nil || !strings.Contains(l.Err.Error(), "lacks hiprtcVersion") {
		t.Errorf("probe of another library: got %v, want the missing symbols", l.Err)
	}
}

func TestComgr(t *testing.T) {
	l := probeComgr(comgrNames()...)
	if l.Err != nil {
		gputest.Missing(t, "hip", l.Err)
	}
	if !strings.Contains(strings.Join(l.Notes, "\n"), " gfx90a ") {
		t.Errorf("got %q, want gfx90a in the list", l.Notes)
	}
}

func TestCompileChildInput(t *testing.T) {
	if err := CompileChild(strings.NewReader("{"), io.Discard); err == nil {
		t.Error("truncated request: got nil, want an error")
	}
}

func TestRewrite(t *testing.T) {
	for _, tt := range []struct{ log, want string }{
		{"/tmp/pc/comgr-4f1c2a/input/CompileSource:2:9: error: no\n/tmp/pc/comgr-4f1c2a/include/mine.h:1:1: note: here", "a/k.hip:2:9: error: no\nmine.h:1:1: note: here"},
		{"In file included from /tmp/comgr-000001/input/k.hip:1:", "In file included from a/k.hip:1:"},
		{"CompileSource is no file", "CompileSource is no file"},
	} {
		if got := rewrite(tt.log, "/tmp/pc", "a/k.hip"); got != tt.want {
			t.Errorf("rewrite(%q): got %q, want %q", tt.log, got, tt.want)
		}
	}
}
