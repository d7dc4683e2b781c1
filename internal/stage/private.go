package stage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"

	"cutroom"
)

// private is a folder in .building that this process alone uses: it is ours as
// long as we hold the lock of the same name.
type private struct {
	stage *Stage
	name  string
	held  *held
	root  *dir
	home  *dir // .building
	dir   *dir
	id    Identity
}

// newPrivate makes a private folder. label says what for, in its name.
func (s *Stage) newPrivate(ctx context.Context, root *dir, label string) (_ *private, err error) {
	p := &private{stage: s, name: label + "." + random()}
	// The lock comes before the folder, so that no sweep ever sees the folder without it.
	if p.held, err = hold(ctx, root, p.name, true); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.root, err = root.openDir("."); err != nil {
		return nil, err
	}
	if p.home, err = root.makeDirs(buildingFolder); err != nil {
		return nil, err
	}
	if err = p.home.mkdir(p.name); err != nil {
		return nil, err
	}
	if p.dir, err = p.home.openDir(p.name); err != nil {
		_ = p.home.rmdir(p.name)
		return nil, err
	}
	st, err := p.home.lstat(p.name)
	p.id = st.Identity
	return p, err
}

// random returns 16 hexadecimal digits.
func random() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// check reports a writer other than us.
func (p *private) check() error {
	if !p.held.valid() || !p.home.same(p.name, p.id) {
		return cutroom.Errorf(cutroom.Conflict, "the private folder %q was taken away by another writer", p.stage.shown(p.path())).
			WithHint("repeat the call; let nothing else write there")
	}
	return nil
}

// path is the folder below the stage's root.
func (p *private) path() string { return path.Join(buildingFolder, p.name) }

// write makes the file name with data, and begins to write it to the disk.
func (p *private) write(name string, data []byte) error {
	f, err := p.dir.create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	startWriting(f)
	return errors.Join(err, f.Close())
}

// flush makes the file name durable.
func (p *private) flush(name string) error {
	f, err := p.dir.open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// remove deletes the folder with what is in it, if it still is ours.
func (p *private) remove() error {
	var err error
	if p.dir != nil && p.check() == nil {
		err = errors.Join(p.dir.removeAll(), p.home.rmdir(p.name))
	}
	p.close()
	return err
}

// close gives the lock back. A folder that is still there is a leftover from now on.
func (p *private) close() {
	for _, d := range []*dir{p.dir, p.home, p.root} {
		if d != nil {
			_ = d.close()
		}
	}
	p.held.release()
}

// replace writes a small file into the folder to, whole or not at all, over an
// older one.
func (s *Stage) replace(ctx context.Context, root, to *dir, name string, data []byte) error {
	p, err := s.newPrivate(ctx, root, "file")
	if err != nil {
		return err
	}
	err = p.write(name, data)
	if err == nil {
		err = p.flush(name)
	}
	if err == nil {
		err = p.dir.rename(name, to, name, true)
	}
	if err == nil {
		err = to.sync()
	}
	return errors.Join(err, p.remove())
}

// exists reports whether d has an entry name.
func exists(d *dir, name string) bool {
	_, err := d.lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
