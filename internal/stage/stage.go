package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"cutroom"
)

// Options of [Open].
type Options struct {
	// Key is the MAC key, 32 bytes or more, from outside the workspace ([KeyFile]).
	Key []byte
	// Workspace is the folder that paths in answers and errors are relative to; the
	// root lies below it and is walked from it without following links. Empty means
	// the folder that holds `.cutroom`, or else the one that holds the root.
	Workspace string
	// Cache trusts artifacts by identity; without one every Lookup reads them all.
	Cache *IdentityCache
	// Now is the clock, time.Now when nil.
	Now func() time.Time
	// PendingLimit is how many bytes of crash leftovers are kept, 2 GiB when 0.
	PendingLimit int64
}

// Stage is the results below one root. It holds nothing open and may be used by
// many goroutines, beside any number of other processes.
type Stage struct {
	workspace string // absolute
	rel       string // of the root, below workspace, forward slashes
	key       []byte
	cache     *IdentityCache
	now       func() time.Time
	limit     int64
}

// The folders below the root that are no results.
const (
	lockFolder     = ".lock"     // one empty file per held lock
	buildingFolder = ".building" // private folders of running builds
	pendingFolder  = ".pending"  // leftovers of crashes
	rejectedFolder = ".rejected" // what did not verify
	pruningFolder  = ".pruning"  // results on their way out
)

// Open returns the stage below root. Nothing is made before the first write. When
// the root exists, leftovers of a crash are moved to .pending.
func Open(root string, opt Options) (*Stage, error) {
	if len(opt.Key) < keySize {
		return nil, fmt.Errorf("the stage key has %d bytes, %d are needed", len(opt.Key), keySize)
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("stage root: %w", err)
	}
	workspace := opt.Workspace
	if workspace == "" {
		workspace = workspaceOf(root)
	}
	if workspace, err = filepath.Abs(workspace); err != nil {
		return nil, fmt.Errorf("stage root: %w", err)
	}
	rel, err := filepath.Rel(workspace, root)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil, cutroom.Errorf(cutroom.Invalid, "the stage root does not lie below the workspace").WithHint("name another with --stage")
	}
	s := &Stage{
		workspace: workspace, rel: filepath.ToSlash(rel), key: opt.Key,
		cache: opt.Cache, now: opt.Now, limit: opt.PendingLimit,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.limit == 0 {
		s.limit = 2 << 30
	}
	d, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer d.close()
	s.sweep(d)
	return s, nil
}

// workspaceOf returns the folder that holds the first `.cutroom` on the way to
// root, else the one that holds root.
func workspaceOf(root string) string {
	sep := string(filepath.Separator)
	if i := strings.LastIndex(root+sep, sep+".cutroom"+sep); i >= 0 {
		return root[:i] + sep
	}
	return filepath.Dir(root)
}

// root opens the root folder, fs.ErrNotExist when there is none.
func (s *Stage) root() (*dir, error) {
	w, err := openRoot(s.workspace)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.openDir(s.rel)
}

// madeRoot opens the root folder, making it first when it is missing.
func (s *Stage) madeRoot() (*dir, error) {
	d, err := s.root()
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	w, err := openRoot(s.workspace)
	if err != nil {
		return nil, err
	}
	defer w.close()
	parts := strings.Split(s.rel, "/")
	for i, c := range parts {
		if c != ".cutroom" {
			continue
		}
		house, err := w.makeDirs(path.Join(parts[:i+1]...))
		if err != nil {
			return nil, err
		}
		err = ignore(house)
		house.close()
		if err != nil {
			return nil, err
		}
		break
	}
	d, err = w.makeDirs(s.rel)
	if err != nil {
		return nil, err
	}
	if err := w.syncPath(s.rel); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// ignore keeps version control out of the folder d.
func ignore(d *dir) error {
	f, err := d.create(".gitignore", 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// shown is the path p below the root as callers see it: relative to the workspace.
func (s *Stage) shown(p string) string { return path.Join(s.rel, p) }

// fault says what went wrong with the path p below the root.
func (s *Stage) fault(doing, p string, err error) error {
	where := s.shown(p)
	if _, ok := errors.AsType[*cutroom.Error](err); ok || err == nil {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case diskFull(err):
		return cutroom.Errorf(cutroom.Unavailable, "the disk is full: cannot write in %q", s.shown(".")).
			WithHint("free space there, or run `cutroom prune`, then repeat the call").WithCause(err)
	case tooLarge(err):
		return cutroom.Errorf(cutroom.Limit, "a file in %q would be larger than allowed", where).WithCause(err)
	case errors.Is(err, errLink), errors.Is(err, errEscape), errors.Is(err, errNotFolder), errors.Is(err, errNotRegular):
		return cutroom.Errorf(cutroom.Denied, "something else is in the way in %q: %s", where, err).
			WithHint("remove what is in the way, or name another folder with --stage").WithCause(err)
	case readOnly(err):
		return cutroom.Errorf(cutroom.Denied, "%q cannot be written", where).
			WithHint("allow your user to write there, or name another folder with --stage").WithCause(err)
	case errors.Is(err, fs.ErrNotExist):
		return cutroom.Errorf(cutroom.Conflict, "another writer removed %q meanwhile", where).
			WithHint("repeat the call; let nothing else write there").WithCause(err)
	case tooManyOpen(err):
		return cutroom.Errorf(cutroom.Unavailable, "too many files are open to work in %q", where).
			WithHint("raise the limit of open files (`ulimit -n 256` or more), then repeat the call").WithCause(err)
	case errors.Is(err, errUnsupported):
		return cutroom.Errorf(cutroom.Unavailable, "the file system of %q lacks what the stage needs", where).
			WithHint("name a folder on a local disk with --stage").WithCause(err)
	}
	return fmt.Errorf("%s %q: %w", doing, where, err)
}

// tampered is the answer to anything that is not as it was recorded.
func (s *Stage) tampered(folder, why string) error {
	return cutroom.Errorf(cutroom.Conflict, "the result in %q does not verify: %s", s.shown(folder), why).
		WithHint("move it away with `cutroom prune --invalid`, then repeat the call")
}
