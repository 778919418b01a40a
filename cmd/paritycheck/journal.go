package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/paritycheck/paritycheck/internal/journal"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// keeping are the flags of a run that is kept on disk while it goes on.
type keeping struct {
	journal string
	resume  bool
}

// noJournal is the word of --journal for none.
const noJournal = "none"

// A kept run is one with its journal, nil where it keeps none.
type kept struct {
	journal *journal.Journal
	header  journal.Header
	folder  journal.Folder // where the journal is nameless
	prior   *runner.Run    // what to go on with
	cases   int            // in the journal
	full    bool           // it cannot be written any more
	errOut  io.Writer
}

// keep opens the journal of a run with header h: a file that the user
// names, or one in the user's cache folder. Where that cannot be written,
// the run keeps none.
func (o *keeping) keep(h journal.Header, errOut io.Writer) (*kept, error) {
	k := &kept{header: h, errOut: errOut}
	switch o.journal {
	case noJournal:
		if o.resume {
			return nil, fmt.Errorf("--resume and --journal %s exclude each other", noJournal)
		}
		return k, nil
	case "":
	default:
		return k, k.open(o.journal, o.resume)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		if o.resume {
			return nil, fmt.Errorf("--resume finds no cache folder, where journals are kept: %w", err)
		}
		return k, nil
	}
	k.folder = journal.Folder(filepath.Join(cache, "paritycheck", "runs"))
	if !o.resume {
		k.journal, _ = k.folder.Create(h) // a run without a cache goes on all the same
		return k, nil
	}
	j, c, err := k.folder.Find(h)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	k.goOn(j, c)
	return k, nil
}

// open opens a journal that the user names.
func (k *kept) open(path string, resume bool) (err error) {
	if resume {
		j, c, err := journal.Open(path)
		if err == nil {
			if diff := k.header.Differs(&c.Header); len(diff) > 0 || k.header.Key() != c.Header.Key() {
				j.Close()
				return fmt.Errorf("journal %s is of another run: different are %s", path, strings.Join(diff, "; "))
			}
			k.goOn(j, c)
			return nil
		}
		if errors.Is(err, journal.ErrEmpty) {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("journal %s: %w", path, reason(err))
		}
		// Nothing was begun: a job that is always run with --resume begins.
	}
	k.journal, err = journal.Create(path, k.header)
	if errors.Is(err, journal.ErrExists) {
		if j, _, oerr := journal.Open(path); oerr != nil {
			return fmt.Errorf("journal %s: %w", path, reason(oerr))
		} else {
			j.Close()
		}
		return fmt.Errorf("journal %s is of a run that was cut off: go on with --resume, or remove it", path)
	}
	if err != nil {
		return fmt.Errorf("journal %s cannot be written: %w", path, reason(err))
	}
	return nil
}

// reason is err without the path that the caller says.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func (k *kept) goOn(j *journal.Journal, c *journal.Content) {
	k.journal, k.cases = j, c.Cases
	if c.Cases > 0 {
		k.prior = c.Run
	}
	fmt.Fprintf(k.errOut, "going on with the run of %s: %d of %d cases are done\n", c.Header.Began.Local().Format("2006-01-02 15:04:05"), c.Cases, c.Header.Cases)
	if c.Damaged > 0 {
		fmt.Fprintf(k.errOut, "%d damaged lines of %s are left out: their cases are run again\n", c.Damaged, j.Name())
	}
}

// add writes the results of a case. A journal that cannot be written any
// more costs no result of this run.
func (k *kept) add(p runner.Progress) {
	if k.journal == nil || k.full {
		return
	}
	if err := k.journal.Add(p.Results, p.Targets); err != nil {
		fmt.Fprintf(k.errOut, "the journal cannot be written any more, so that --resume would go on from here: %v\n", err)
		k.full = true
		return
	}
	k.cases++
}

// close leaves the journal, unless it is empty, for another run to go on
// with.
func (k *kept) close() {
	switch {
	case k.journal == nil:
		return
	case k.cases == 0:
		k.journal.Remove()
	default:
		k.journal.Close()
	}
	k.journal = nil
}

// finish removes the journal of a run whose reports are written.
func (k *kept) finish() {
	if k.journal == nil {
		return
	}
	k.journal.Remove()
	k.journal = nil
	if k.folder != "" {
		k.folder.Forget(k.header)
	}
}

// header is what the results of a run depend on.
func header(opts runOptions, cases []ops.Case, targets []runner.Target) (journal.Header, error) {
	h := journal.Header{Began: time.Now().UTC().Truncate(time.Second), Seed: opts.seed, Flags: opts.given, Shard: opts.shard, Cases: len(cases), Files: map[string]string{}}
	h.Version, h.Commit = build()
	var err error
	if h.Program, err = program(); err != nil {
		return h, err
	}
	names := sha256.New()
	for i := range cases {
		io.WriteString(names, cases[i].Name()+"\n")
	}
	h.CasesSum = hex.EncodeToString(names.Sum(nil))
	for _, t := range targets {
		h.Targets = append(h.Targets, t.Name)
	}
	// A flag may name a file whose content decides results: --hip FILE, or
	// --vs cuda@rec:FILE.
	for _, flag := range opts.given {
		_, value, _ := strings.Cut(flag, "=")
		_, behind, _ := strings.Cut(value, ":")
		for _, name := range []string{value, behind} {
			if info, err := os.Stat(name); name == "" || err != nil || !info.Mode().IsRegular() {
				continue
			}
			if h.Files[name], err = fileSum(name); err != nil {
				return h, err
			}
		}
	}
	return h, nil
}

// program is the hash of this program's file.
var program = sync.OnceValues(func() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	return fileSum(exe)
})

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
