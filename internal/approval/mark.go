package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// marks are files beside the signing key that say what was used up and what was taken
// back: a row of the database that somebody set back does not make an approval new.
type marks struct{ folder string }

// use notes that an approval, or one of a grant's uses, is used up. Of all processes
// that try it exactly one gets true.
func (m marks) use(name string, until time.Time) (bool, error) {
	if err := os.MkdirAll(m.folder, 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(m.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(f, "%d\n", until.UnixMilli())
	return true, errors.Join(err, f.Sync(), f.Close())
}

// used says whether a use was noted.
func (m marks) used(name string) bool {
	_, err := os.Lstat(m.path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// path is the mark's file. An id is our own text; one that is not has no mark.
func (m marks) path(name string) string {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		name = "invalid"
	}
	return filepath.Join(m.folder, name)
}

// floorName holds the time up to which everything that was approved is taken back.
const floorName = "revoked-before"

// floor returns that time, zero when nothing was taken back at once.
func (m marks) floor() (time.Time, error) {
	raw, err := os.ReadFile(filepath.Join(m.folder, floorName))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return time.Time{}, damaged(floorName).WithCause(err)
	}
	return time.UnixMilli(ms), nil
}

// raise sets the floor to t; it never falls.
func (m marks) raise(t time.Time) error {
	was, err := m.floor()
	if err != nil || !t.After(was) {
		return err
	}
	return Keys{m.folder}.write(floorName, fmt.Appendf(nil, "%d\n", t.UnixMilli()), true)
}

// lower forgets the floor: with a new key it says nothing.
func (m marks) lower() error {
	err := os.Remove(filepath.Join(m.folder, floorName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keyMark says that a key was made here.
const keyMark = "key-made"

// any says whether anything was noted here that takes a key; the floor takes none.
func (m marks) any() bool {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != floorName && !strings.HasPrefix(e.Name(), ".") })
}

// sweep removes the marks of what ended long ago, one way or the other.
func (m marks) sweep(before time.Time) {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return // nothing was ever used
	}
	for _, e := range entries {
		if e.Name() == floorName || e.Name() == keyMark || !e.Type().IsRegular() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(m.folder, e.Name()))
		ms, perr := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		if err == nil && perr == nil && time.UnixMilli(ms).Before(before) {
			_ = os.Remove(filepath.Join(m.folder, e.Name())) // the next sweep tries again
		}
	}
}
