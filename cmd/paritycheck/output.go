package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// An outputFile is a report that is written to a file, whole or not at
// all.
type outputFile struct {
	path   string
	format report.Format
	temp   string   // renamed to path at the end; empty where path is no regular file
	f      *os.File // open where path is no regular file
}

// openOutputs opens the files of reports, before the run that they are of,
// so that a run is not lost to a mistyped folder.
func openOutputs(paths []string) ([]*outputFile, error) {
	var outs []*outputFile
	for _, p := range paths {
		o, err := openOutput(p)
		if err != nil {
			discard(outs)
			return nil, err
		}
		outs = append(outs, o)
	}
	return outs, nil
}

func openOutput(path string) (*outputFile, error) {
	format, err := report.FormatOf(path)
	if err != nil {
		return nil, err
	}
	o, err := newOutput(path)
	if err == nil {
		o.format = format
	}
	return o, err
}

// newOutput is an output in no format.
func newOutput(path string) (*outputFile, error) {
	o := &outputFile{path: path}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, fmt.Errorf("output file %s is a folder", path)
		}
		o.f, err = os.OpenFile(path, os.O_WRONLY, 0) // a device or a pipe
		if err != nil {
			return nil, fmt.Errorf("opening output file: %w", err)
		}
		return o, nil
	}
	// A file beside it shows that the folder can be written to. It does not
	// stay: a run that is killed leaves nothing behind.
	o.temp = fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
	f, err := o.create()
	if err != nil {
		return nil, fmt.Errorf("output file %s cannot be written in %s: %w", path, filepath.Dir(path), reason(err))
	}
	f.Close()
	os.Remove(o.temp)
	return o, nil
}

// create makes the file that is renamed to the output's path, in the same
// folder, so that renaming does not cross file systems.
func (o *outputFile) create() (*os.File, error) {
	return os.OpenFile(o.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// write renders run and puts the file into place.
func (o *outputFile) write(run *runner.Run, opts report.Options) error {
	return o.put(func(w io.Writer) error { return report.Write(w, run, o.format, opts) })
}

// put lets render write the file and puts it into place.
func (o *outputFile) put(render func(io.Writer) error) error {
	f, err := o.f, error(nil)
	if o.temp != "" {
		f, err = o.create()
	}
	if err == nil {
		err = render(f)
		if e := f.Close(); err == nil {
			err = e
		}
		if o.temp != "" {
			if err == nil {
				err = os.Rename(o.temp, o.path)
			}
			if err != nil {
				os.Remove(o.temp)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", o.path, reason(err))
	}
	o.f = nil
	return nil
}

// discard gives up outputs that were not written.
func discard(outs []*outputFile) {
	for _, o := range outs {
		if o.f != nil {
			o.f.Close()
			o.f = nil
		}
	}
}
