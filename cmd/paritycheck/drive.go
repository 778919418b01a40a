package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/internal/gpu/isolate"
	"github.com/paritycheck/paritycheck/internal/gpu/rocm"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// driveCommand is the hidden command that drives a GPU in a child process.
const driveCommand = "drive-gpu"

func newDriveCmd() *cobra.Command {
	return &cobra.Command{
		Use:    driveCommand,
		Short:  "Drive a GPU as pipes ask for it, for paritycheck itself",
		Hidden: true,
		Args:   noArgs,
		RunE: func(*cobra.Command, []string) error {
			return isolate.Child(isolate.Driver{Open: openPlace, Probe: probePlaces})
		},
	}
}

// openPlace opens the GPU of a place, as in cuda:0.
func openPlace(place string) (gpu.Device, error) {
	backend, number, _ := strings.Cut(place, ":")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
	case backend == "cuda":
		return cuda.Open(n, nil)
	case backend == "rocm":
		return rocm.Open(n, "")
	}
	return nil, fmt.Errorf("there is no place %q", place)
}

// probePlaces looks for the GPUs of a backend.
func probePlaces(backend string) {
	switch backend {
	case "cuda":
		cuda.Probe()
	case "rocm":
		rocm.Probe()
	}
}

// probeLimit is how long a driver may take to say what it has.
const probeLimit = time.Minute

// survives says what becomes of who asks the driver of a backend for its
// GPUs, where that is not to live.
func survives(backend string) error {
	host, err := newHost(probeLimit)
	if err != nil {
		return err
	}
	return host.Try(backend)
}

// newHost returns what drives GPUs in child processes, where a call other
// than a launch may take so long.
func newHost(timeout time.Duration) (*isolate.Host, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program, which drives GPUs in a child process: %w", err)
	}
	return &isolate.Host{Exe: exe, Args: []string{driveCommand}, Limit: timeout, LimitBy: "--timeout"}, nil
}

// lock waits until no other paritycheck uses the GPUs of targets.
func lock(ctx context.Context, errOut io.Writer, host *isolate.Host, targets []runner.Target) error {
	var places []string
	for _, t := range targets {
		if t.Place != "" && !slices.Contains(places, t.Place) {
			places = append(places, t.Place)
		}
	}
	slices.Sort(places) // in one order, so that no two runs wait for each other
	return host.Lock(ctx, places, func(place string) {
		fmt.Fprintf(errOut, "waiting for %s, which another paritycheck uses\n", place)
	})
}
