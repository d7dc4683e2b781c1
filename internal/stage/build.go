package stage

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"

	"cutroom"
)

// Build is a result in the making, in a private folder that no reader sees.
// It ends with [Build.Seal] or [Build.Discard]; a crash leaves the folder to the
// next run, which moves it to .pending.
type Build struct {
	lock    *Lock
	private *private
	done    bool
}

// Begin makes the private folder for what lock names. Leftovers of crashed builds
// are moved to .pending on the way; they never block.
func (s *Stage) Begin(ctx context.Context, lock *Lock) (*Build, error) {
	root, err := s.madeRoot()
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	s.sweep(root)
	n := lock.name
	p, err := s.newPrivate(ctx, root, n.Tool+"."+n.Source.Short()+"."+n.Invocation.Short())
	if err != nil {
		return nil, s.fault("begin a build in", buildingFolder, err)
	}
	return &Build{lock: lock, private: p}, nil
}

// Dir returns the absolute path of the private folder: what a sandbox grants to
// its programs for writing.
func (b *Build) Dir() string {
	s := b.private.stage
	return filepath.Join(s.workspace, filepath.FromSlash(s.shown(b.private.path())))
}

// Create makes the new file name of the folder, to be written; folders on the way
// are made.
func (b *Build) Create(name string) (*os.File, error) {
	if !artifactPath(name) {
		return nil, cutroom.Errorf(cutroom.Invalid, "%q cannot name an artifact", name)
	}
	s := b.private.stage
	folder, err := b.private.dir.makeDirs(path.Dir(name))
	if err != nil {
		return nil, s.fault("write", b.private.path(), err)
	}
	defer folder.close()
	f, err := folder.create(path.Base(name), 0o600)
	if err != nil {
		return nil, s.fault("write", path.Join(b.private.path(), name), err)
	}
	return f, nil
}

// Put writes data as the new file name of the folder.
func (b *Build) Put(name string, data []byte) error {
	f, err := b.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return b.private.stage.fault("write", b.private.path(), errors.Join(err, f.Close()))
}

// Open opens a file that a program left in the folder, to read. What is missing,
// or no plain file, is verification.
func (b *Build) Open(name string) (*os.File, error) {
	f, err := b.private.dir.open(name)
	if err != nil {
		return nil, b.private.stage.fault("read", b.private.path(), outputError(name, err))
	}
	return f, nil
}

// Refuse keeps what was made for a person to look at: it moves the private folder among
// the leftovers and returns where it lies, relative to the workspace. It never becomes
// a result.
func (b *Build) Refuse() (string, error) {
	if b.done {
		return "", errors.New("the build has ended")
	}
	s, p := b.private.stage, b.private
	root, err := s.madeRoot()
	if err != nil {
		return "", s.fault("open", ".", err)
	}
	defer root.close()
	if err := p.check(); err != nil {
		return "", err
	}
	name, err := s.setAside(root, p.home, p.name, pendingFolder)
	if err != nil {
		return "", s.fault("keep", p.path(), err)
	}
	b.done = true
	p.close()
	s.recordLeftovers(root)
	return s.shown(path.Join(pendingFolder, name)), nil
}

// Discard deletes the private folder. After Seal it does nothing, so that it can
// be deferred.
func (b *Build) Discard() error {
	if b.done {
		return nil
	}
	b.done = true
	return b.private.stage.fault("discard", b.private.path(), b.private.remove())
}
