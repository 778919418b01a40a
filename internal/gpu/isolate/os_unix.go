//go:build unix

package isolate

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own, which the signals of the
// terminal do not reach.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killedOutside says whether a process was ended by SIGKILL or SIGTERM,
// which neither a driver nor a kernel raises: a person, a batch system, or
// the kernel where memory ran out.
func killedOutside(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && (w.Signal() == syscall.SIGKILL || w.Signal() == syscall.SIGTERM)
}

// noFollow keeps a link that somebody put into a folder of all users from
// being opened.
const noFollow = syscall.O_NOFOLLOW

// tryLock locks f for this process and for those that inherit it.
func tryLock(f *os.File) (bool, error) {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
	case nil:
		return true, nil
	case syscall.EWOULDBLOCK:
		return false, nil
	default:
		return false, err
	}
}
