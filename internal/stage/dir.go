package stage

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// What a walk can meet besides the errors of io/fs.
var (
	errLink        = errors.New("a symbolic link is in the way")
	errNotFolder   = errors.New("not a folder")
	errNotRegular  = errors.New("not a regular file")
	errNotStored   = errors.New("not a stored file")
	errEscape      = errors.New("the path leaves its root")
	errUnsupported = errors.New("not supported by this file system")
	errBusy        = errors.New("locked by another holder")
)

// A dir (one type per system) is an open folder. Its methods take paths relative
// to it, with forward slashes, and never pass through a link or out of it:
//
//	openRoot(path) (*dir, error)               the operator's own path; links are followed
//	openDir(path) (*dir, error)                a folder below
//	open(path) (*os.File, error)               a regular file below, to read
//	create(name, perm) (*os.File, error)       a new file; fs.ErrExist when something is there
//	openLock(name) (*os.File, error)           an empty file, made when missing
//	mkdir(name) error                          0700
//	lstat(path) (stat, error)
//	names() ([]string, error)                  sorted
//	rename(old, to, new, replace) error        fs.ErrExist, or errUnsupported when !replace cannot be had
//	exchange(a, b) error                       two entries change places; or errUnsupported
//	link(old, to, new) error
//	unlink(name), rmdir(name) error
//	sync(), close() error
//
// name is a single component.

// stat is what lstat says about one entry.
type stat struct {
	Identity
	mode  fs.FileMode // type bits and permissions
	links uint64
}

// components splits p and refuses what leaves the folder it is relative to.
func components(p string) ([]string, error) {
	if strings.HasPrefix(p, "/") {
		return nil, errEscape
	}
	var parts []string
	for c := range strings.SplitSeq(p, "/") {
		switch c {
		case "", ".":
		case "..":
			return nil, errEscape
		default:
			parts = append(parts, c)
		}
	}
	return parts, nil
}

// makeDirs opens the folder p below d, making what is missing.
func (d *dir) makeDirs(p string) (*dir, error) {
	parts, err := components(p)
	if err != nil {
		return nil, err
	}
	at, err := d.openDir(".")
	if err != nil {
		return nil, err
	}
	for _, c := range parts {
		next, err := at.childDir(c)
		at.close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// childDir opens the folder name in d, making it when it is missing.
func (d *dir) childDir(name string) (*dir, error) {
	child, err := d.openDir(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return child, err
	}
	if err := d.mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.openDir(name)
}

// syncPath makes durable what was made or moved in the folder p below d, and the
// folders on the way to it, d included. One commit of a journal covers them all.
func (d *dir) syncPath(p string) error {
	for ; ; p = path.Dir(p) {
		sub, err := d.openDir(p)
		if err != nil {
			return err
		}
		if err := errors.Join(sub.sync(), sub.close()); err != nil {
			return err
		}
		if p == "." {
			return nil
		}
	}
}

// same reports whether name in d is still the entry that id describes: the same
// inode, whatever became of its times.
func (d *dir) same(name string, id Identity) bool {
	st, err := d.lstat(name)
	return err == nil && st.sameInode(id)
}

// removeAll empties d. It follows nothing and goes on after a failure; the first
// one is returned. Only folders that this process made itself are emptied so.
func (d *dir) removeAll() error {
	names, err := d.names()
	for _, name := range names {
		err = errors.Join(err, d.removeTree(name))
	}
	return err
}

func (d *dir) removeTree(name string) error {
	st, err := d.lstat(name)
	if err != nil {
		return err
	}
	if !st.mode.IsDir() {
		return d.unlink(name)
	}
	child, err := d.openDir(name)
	if err != nil {
		return err
	}
	defer child.close()
	if err := child.removeAll(); err != nil {
		return err
	}
	return d.rmdir(name)
}

// within splits p into the folder that holds it and its last component.
func within(p string) (folder, name string) {
	folder, name = path.Split(p)
	if folder == "" {
		return ".", name
	}
	return strings.TrimSuffix(folder, "/"), name
}
