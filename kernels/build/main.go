// Build compiles the device code of kernels/hip, kernels/cuda and
// kernels/faults into kernels/prebuilt and writes its manifest. Run it from the root of the
// repository, through make:
//
//	make kernels          all, where out of date
//	make kernels-hip      AMD code objects, those of faults too
//	make kernels-cuda     PTX
//	make kernels-check    rebuild everything and compare
//
// Equal sources, compiler and device libraries give equal bytes in any
// folder, so that -check can compare objects and not dates.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/paritycheck/paritycheck/kernels"
)

const prebuilt = "kernels/prebuilt"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kernels/build:", err)
		os.Exit(1)
	}
}

// A compiler turns the sources of one dialect into objects.
type compiler interface {
	// families lists what there is.
	families() []string
	// jobs lists what to build for a family.
	jobs(family string) ([]*job, error)
}

// A job is one object to build. Its Built lacks only the object's hash.
type job struct {
	kernels.Built
	compile func() ([]byte, error)
}

func run(args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("kernels/build", flag.ContinueOnError)
	check := fs.Bool("check", false, "rebuild everything, compare with the committed objects and write nothing")
	command := fs.String("clang", "clang-19", "the `command` that compiles HIP")
	rocm := fs.String("rocm", "/usr", "the `folder` that holds include/hip")
	bitcode := fs.String("bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "the `folder` of AMD's device libraries")
	if err := fs.Parse(args); err != nil {
		return err
	}
	dialects := fs.Args()
	if len(dialects) == 0 {
		dialects = []string{kernels.HIP, kernels.FAULT, kernels.CUDA}
	}
	if _, err := os.Stat(prebuilt); err != nil {
		return fmt.Errorf("%s is not here: run from the root of the repository", prebuilt)
	}
	tmp, err := os.MkdirTemp("", "kernels")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	old, err := kernels.ReadManifest()
	if err != nil {
		return err
	}
	var jobs []*job
	var hip *clang // its folder is made once
	for _, d := range dialects {
		var c compiler
		switch d {
		case kernels.HIP, kernels.FAULT:
			if hip == nil {
				hip, err = newClang(*command, *rocm, *bitcode, tmp)
			}
			c = hipDialect{hip, d}
		case kernels.CUDA:
			c, err = openNVRTC()
		default:
			err = fmt.Errorf("unknown dialect %q: must be hip, faults or cuda", d)
		}
		if err != nil {
			return err
		}
		for _, f := range c.families() {
			js, err := c.jobs(f)
			if err != nil {
				return err
			}
			jobs = append(jobs, js...)
		}
	}
	if *check {
		return compare(prebuilt, jobs, old, stdout)
	}
	return update(prebuilt, jobs, dialects, old, stdout)
}

// build runs jobs on all cores and returns their objects in order.
func build(jobs []*job) ([][]byte, error) {
	objects := make([][]byte, len(jobs))
	errs := make([]error, len(jobs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for i := range next {
				objects[i], errs[i] = jobs[i].compile()
				if errs[i] != nil {
					errs[i] = fmt.Errorf("building %s: %w", jobs[i].File, errs[i])
				}
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	return objects, errors.Join(errs...)
}

// compare rebuilds every object and fails where one differs from what is
// committed in dir.
func compare(dir string, jobs []*job, old *kernels.Manifest, stdout io.Writer) error {
	objects, err := build(jobs)
	if err != nil {
		return err
	}
	var errs []error
	for i, j := range jobs {
		was := find(old, j.File)
		got, err := readObject(filepath.Join(dir, j.File))
		switch {
		case was == nil:
			err = errors.New("is not in the manifest")
		case err != nil:
		case was.Compiler != j.Compiler:
			err = fmt.Errorf("was made by %s, but this is %s", was.Compiler, j.Compiler)
		case !maps.Equal(was.Packages, j.Packages):
			err = fmt.Errorf("was made with %v, but here is %v", was.Packages, j.Packages)
		case !bytes.Equal(got, objects[i]):
			err = fmt.Errorf("is %s (%d bytes), but its source gives %s (%d bytes)", hash(got)[:12], len(got), hash(objects[i])[:12], len(objects[i]))
		case !sameInputs(was, j):
			err = errors.New("has an entry in the manifest that is out of date")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", j.File, err))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%w\n%d of %d objects are out of date: run make kernels and commit kernels/prebuilt", errors.Join(errs...), len(errs), len(jobs))
	}
	fmt.Fprintf(stdout, "%d objects are what their sources give\n", len(jobs))
	return nil
}

// update builds what is out of date in dir, removes what no source makes
// any more and writes the manifest.
func update(dir string, jobs []*job, dialects []string, old *kernels.Manifest, stdout io.Writer) error {
	var stale []*job
	for _, j := range jobs {
		was := find(old, j.File)
		if got, err := readObject(filepath.Join(dir, j.File)); err == nil && was != nil && sameInputs(was, j) && hash(got) == was.SHA256 {
			j.SHA256 = was.SHA256
			continue
		}
		stale = append(stale, j)
	}
	objects, err := build(stale)
	if err != nil {
		return err
	}
	for i, j := range stale {
		j.SHA256 = hash(objects[i])
		if err := writeObject(filepath.Join(dir, j.File), objects[i]); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s\t%d bytes\n", j.File, len(objects[i]))
	}

	var m kernels.Manifest
	for _, j := range jobs {
		m.Objects = append(m.Objects, j.Built)
	}
	for _, o := range old.Objects {
		dialect, _, _ := strings.Cut(o.Source, "/")
		switch {
		case !slices.Contains(dialects, dialect):
			m.Objects = append(m.Objects, o)
		case find(&m, o.File) == nil:
			if err := os.Remove(filepath.Join(dir, o.File)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			fmt.Fprintf(stdout, "%s\tremoved\n", o.File)
		}
	}
	slices.SortFunc(m.Objects, func(a, b kernels.Built) int { return strings.Compare(a.File, b.File) })
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d objects, %d built\n", len(m.Objects), len(stale))
	return os.WriteFile(filepath.Join(dir, "manifest.json"), append(text, '\n'), 0o666)
}

func find(m *kernels.Manifest, file string) *kernels.Built {
	for i := range m.Objects {
		if m.Objects[i].File == file {
			return &m.Objects[i]
		}
	}
	return nil
}

// sameInputs reports whether the object of was is what j would build.
func sameInputs(was *kernels.Built, j *job) bool {
	return was.Compiler == j.Compiler &&
		maps.Equal(was.Packages, j.Packages) &&
		maps.Equal(was.Sources, j.Sources) &&
		slices.Equal(was.Flags, j.Flags)
}

// describe fills in what every dialect's Built has of a source.
func describe(dialect, family string, src string, headers map[string]string) kernels.Built {
	ext := ".hip"
	if dialect == kernels.CUDA {
		ext = ".cu"
	}
	b := kernels.Built{
		Family: family,
		Source: dialect + "/" + family + ext,
	}
	b.Sources = map[string]string{b.Source: hash([]byte(src))}
	for name, text := range headers {
		b.Sources[kernels.HeaderPath(dialect, name)] = hash([]byte(text))
	}
	return b
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func readObject(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// writeObject packs data without a name or date, so that equal objects
// make equal files.
func writeObject(name string, data []byte) error {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, buf.Bytes(), 0o666)
}
