//go:build unix

package journal

import (
	"os"
	"syscall"
)

// lock locks f until it is closed. The error is ErrInUse where another
// open file has the lock. A file system without locks has none.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		return ErrInUse
	}
	return nil
}
