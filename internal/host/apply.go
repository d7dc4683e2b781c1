package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
)

// Apply makes the changes, each file whole or not at all; conflicts are passed over.
// When one fails, those before it are taken back, and where that fails, too, the error
// names what is left.
func Apply(changes []Change) error {
	var undo []func() error
	for i, c := range changes {
		if c.Action == Unchanged || c.Action == Conflict {
			undo = append(undo, func() error { return nil })
			continue
		}
		back, err := c.apply()
		undo = append(undo, back)
		if err == nil {
			continue
		}
		left := []string{}
		for j := i; j >= 0; j-- {
			if undo[j]() != nil {
				left = append(left, changes[j].File)
			}
		}
		e := *cutroom.AsError(err)
		e.Msg = c.File + ": " + e.Msg
		if len(left) > 0 {
			e.Msg += fmt.Sprintf("; written and not taken back: %s", strings.Join(left, ", "))
		}
		return &e
	}
	return nil
}

// apply makes a change if the file still is what was read. undo, never nil, takes back
// what was done.
func (c Change) apply() (undo func() error, err error) {
	nothing := func() error { return nil }
	mode := fs.FileMode(0o644)
	info, err := os.Stat(c.path)
	if err == nil {
		mode = info.Mode().Perm()
	}
	if err := c.still(c.before); err != nil {
		return nothing, err
	}
	if c.after == nil {
		if err := os.Remove(c.path); err != nil {
			return nothing, unusable(err)
		}
		gone := prune(filepath.Dir(c.path), c.prune)
		return func() error {
			if err := c.still(nil); err != nil {
				return err
			}
			if _, err := makeFolders(gone); err != nil {
				return err
			}
			return write(c.path, c.before, mode, info)
		}, nil
	}
	made, err := makeFolders(missing(filepath.Dir(c.path)))
	if err == nil {
		err = write(c.path, c.after, mode, info)
	}
	if err != nil {
		return func() error { removeFolders(made); return nil }, unusable(err)
	}
	return func() error {
		if err := c.still(c.after); err != nil {
			return err
		}
		if c.before != nil {
			return write(c.path, c.before, mode, info)
		}
		err := os.Remove(c.path)
		removeFolders(made)
		return err
	}, nil
}

// still refuses to go on when the file is not what it is known to be.
func (c Change) still(text []byte) error {
	now, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(err)
	}
	if (err == nil) != (text != nil) || !bytes.Equal(now, text) {
		return cutroom.Errorf(cutroom.Conflict, "it changed meanwhile").WithHint("run the command again")
	}
	return nil
}

// missing are the folders that are not there at a path, the uppermost first.
func missing(folder string) []string {
	var list []string
	for d := folder; !exists(d); d = filepath.Dir(d) {
		list = append([]string{d}, list...)
	}
	return list
}

// makeFolders makes folders and returns those that it has made.
func makeFolders(folders []string) (made []string, err error) {
	for _, d := range folders {
		if err := os.Mkdir(d, 0o755); err != nil {
			return made, err
		}
		made = append(made, d)
	}
	return made, nil
}

func removeFolders(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if os.Remove(made[i]) != nil {
			return // something else is in it by now
		}
	}
}

// prune removes up to n folders at and above a path while they are empty, and returns
// them, the uppermost first.
func prune(folder string, n int) []string {
	var gone []string
	for range n {
		if os.Remove(folder) != nil {
			break
		}
		gone = append([]string{folder}, gone...)
		folder = filepath.Dir(folder)
	}
	return gone
}

// write puts a file in place at once, for the owner of the one that it replaces.
func write(path string, text []byte, mode fs.FileMode, old fs.FileInfo) error {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, ".cutroom-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone once it was renamed
	_, err = f.Write(text)
	if old != nil {
		keepOwner(f, old)
	}
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync() // not every system can
		d.Close()
	}
	return nil
}
