//go:build unix

package sim

import (
	"syscall"
	"time"
)

// processorTime is the time that the process has run.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return time.Since(benchStart)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
