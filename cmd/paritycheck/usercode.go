package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/target"
)

// userCode are the flags that put a user's kernels in place of the bundled
// ones.
type userCode struct {
	hip, hipObject, cuda, cudaObject []string
	include, define                  []string
	declared                         declaration
}

// A declaration is what flags say of how kernels compute.
type declaration struct {
	half  string
	lanes int
}

// add adds the flags to cmd; of says whose kernels they are about.
func (d *declaration) add(cmd *cobra.Command, of string) {
	addEnum(cmd, &d.half, "half", ops.InSteps.String(), "`arithmetic` of "+of+" on f16 and bf16: steps rounds each to the type, float once at the store", ops.Halves[:]...)
	cmd.Flags().IntVar(&d.lanes, "lanes", 1, "at least `n` lanes of "+of+" share each sum, such as 32; 1 is any order of additions")
}

// arithmetic is what is declared; before flags are parsed, nothing.
func (d *declaration) arithmetic() ops.Arithmetic {
	return ops.Arithmetic{Half: ops.Half(max(0, slices.Index(ops.Halves[:], d.half))), Lanes: d.lanes}
}

// check reports flags that make no sense.
func (d *declaration) check() error {
	if d.lanes < 1 || d.lanes > 1024 {
		return fmt.Errorf("--lanes must be from 1 to 1024, not %d", d.lanes)
	}
	return nil
}

// given reports whether anything is declared.
func (d *declaration) given() bool { return d.lanes > 1 || d.arithmetic().Half != ops.InSteps }

// add adds the flags to cmd.
func (u *userCode) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&u.hip, "hip", nil, "run the HIP kernels of `file`, a source, in place of ours")
	f.StringArrayVar(&u.hipObject, "hip-object", nil, "run the HIP kernels of `file`, a code object or an offload bundle, in place of ours")
	f.StringArrayVar(&u.cuda, "cuda", nil, "run the CUDA kernels of `file`, a source, in place of ours")
	f.StringArrayVar(&u.cudaObject, "cuda-object", nil, "run the CUDA kernels of `file`, PTX, a cubin or a fat binary, in place of ours")
	f.StringArrayVarP(&u.include, "include", "I", nil, "`folder` of headers for --hip and --cuda")
	f.StringArrayVarP(&u.define, "define", "D", nil, "`macro` for --hip and --cuda, NAME or NAME=VALUE")
	u.declared.add(cmd, "these files")
}

// files lists what was given.
func (u *userCode) files() []target.UserCode {
	var list []target.UserCode
	for _, x := range []struct {
		paths   []string
		side    runner.Side
		compile bool
	}{{u.cuda, runner.CUDA, true}, {u.cudaObject, runner.CUDA, false}, {u.hip, runner.HIP, true}, {u.hipObject, runner.HIP, false}} {
		for _, p := range x.paths {
			list = append(list, target.UserCode{Side: x.side, Path: p, Compile: x.compile, Include: u.include, Define: u.define, Arithmetic: u.declared.arithmetic()})
		}
	}
	return list
}

// userTargets are the targets of user's files, and of names those that
// are not the places for them: with a file of HIP, hip@gfx90a means that
// file there.
func userTargets(ctx context.Context, u userCode, names []string, topts target.Options) (targets []runner.Target, left []string, err error) {
	files := u.files()
	if err := u.declared.check(); err != nil {
		return nil, nil, err
	}
	if len(files) == 0 && u.declared.given() {
		return nil, nil, fmt.Errorf("--half and --lanes say how the files of --hip, --cuda and their objects compute, and none is given")
	}
	if len(files) == 0 && len(u.include)+len(u.define) > 0 {
		return nil, nil, fmt.Errorf("-I and -D are for the sources of --hip and --cuda, and none is given")
	}
	taken := map[runner.Side][]string{}
	for _, name := range names {
		side, place, _ := strings.Cut(name, "@")
		s := runner.Side(side)
		if !strings.HasPrefix(place, "rec:") && slices.ContainsFunc(files, func(f target.UserCode) bool { return f.Side == s }) {
			taken[s] = append(taken[s], place)
		} else {
			left = append(left, name)
		}
	}
	for _, f := range files {
		list, err := target.User(ctx, f, taken[f.Side], topts)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range list {
			if slices.ContainsFunc(targets, func(o runner.Target) bool { return o.Name == t.Name }) {
				return nil, nil, fmt.Errorf("%s would be two targets called %s: files must have different names", f.Path, t.Name)
			}
			targets = append(targets, t)
		}
	}
	return targets, left, nil
}

// replaced reports whether user's code stands in place of bundled target
// t.
func (u *userCode) replaced(t runner.Target) bool {
	return t.Recorded == nil && slices.ContainsFunc(u.files(), func(f target.UserCode) bool { return f.Side == t.Side })
}
