//go:build !unix

package sim

import "time"

func processorTime() time.Duration { return time.Since(benchStart) }
