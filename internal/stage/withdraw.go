package stage

import (
	"context"
	"errors"
	"io/fs"

	"cutroom"
)

// Withdraw removes a published file, dest below root, when its content is still what
// want says. A file that is not there is no error; another one stays, and is a conflict.
func (s *Stage) Withdraw(ctx context.Context, root, dest string, want cutroom.Digest) error {
	parent, name, err := s.placeOf(root, dest)
	if err != nil {
		return err
	}
	defer parent.close()
	f, err := parent.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return outputPathError(dest, err)
	}
	defer f.Close()
	got, id, err := s.cache.Digest(ctx, f)
	if err != nil {
		return err
	}
	if got != want || !parent.same(name, id) {
		return outputPathError(dest, errOther)
	}
	return outputPathError(dest, parent.unlink(name))
}

// DropFolder removes a folder below root that holds nothing. What is no folder, not
// there or not empty stays as it is.
func (s *Stage) DropFolder(root, dest string) error {
	parent, name, err := s.placeOf(root, dest)
	if err != nil {
		return err
	}
	defer parent.close()
	st, err := parent.lstat(name)
	if err != nil || !st.mode.IsDir() {
		return nil
	}
	_ = parent.rmdir(name) // what holds something stays
	return nil
}

// placeOf opens the folder that a name below root lies in.
func (s *Stage) placeOf(root, dest string) (*dir, string, error) {
	rel, err := s.destination(root, dest)
	if err != nil {
		return nil, "", err
	}
	d, err := openRoot(root)
	if err != nil {
		return nil, "", outputPathError(dest, err)
	}
	defer d.close()
	folder, name := within(rel)
	parent, err := d.openDir(folder)
	if err != nil {
		return nil, "", outputPathError(dest, err)
	}
	return parent, name, nil
}
