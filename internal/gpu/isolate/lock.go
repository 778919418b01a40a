package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Lock makes this host the only one on this machine that uses places,
// which it waits for; waiting is told of the first that another program
// has. The children hold the locks too: where the run is killed, a child
// that still has the GPU keeps the next run off it. A lock that cannot be
// made, for want of a folder, is none.
func (h *Host) Lock(ctx context.Context, places []string, waiting func(place string)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	told := false
	for _, place := range places {
		f, err := openLock(filepath.Join(os.TempDir(), lockName(place, os.Getenv)))
		if err != nil {
			continue
		}
		h.locks = append(h.locks, f)
		for {
			ok, err := tryLock(f)
			if ok || err != nil {
				break
			}
			if !told {
				waiting(place)
				told = true
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// Close gives up the locks.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for _, f := range h.locks {
		err = errors.Join(err, f.Close())
	}
	h.locks = nil
	return err
}

// openLock opens a file for every user to lock, in a folder that every
// user may write to.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o666)
	if err == nil {
		f.Chmod(0o666) // whatever the umask
		return f, nil
	}
	return os.OpenFile(path, os.O_RDONLY|noFollow, 0)
}

// visible are the variables that choose and number devices, by backend,
// the last to apply first.
var visible = map[string][]string{
	"cuda": {"CUDA_VISIBLE_DEVICES"},
	"rocm": {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"},
}

// lockName is the file of a place: of the device that its number stands
// for by the variables that hide devices.
func lockName(place string, getenv func(string) string) string {
	backend, name, _ := strings.Cut(place, ":")
	for _, env := range visible[backend] {
		n, err := strconv.Atoi(name)
		list := strings.Split(getenv(env), ",")
		if err == nil && getenv(env) != "" && n < len(list) {
			name = strings.TrimSpace(list[n])
		}
	}
	return fmt.Sprintf("paritycheck-%s-%s.lock", backend, odd.ReplaceAllString(name, "_"))
}

var odd = regexp.MustCompile(`[^0-9A-Za-z-]`)
