package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cutroom"
)

// Keep names one file of a build that becomes an artifact.
type Keep struct {
	Path      string // inside the folder, forward slashes
	MediaType string
	Timestamp *cutroom.Micros // presentation time, when it is a frame
	Field     string          // input field whose path the file is published at too
}

// Seal makes the build a result: it verifies and hashes the files in keep,
// removes every other file, makes all durable, writes result.json and moves the
// folder to its place in one step. m is completed with what was observed.
//
// A file that is missing, or is not a plain file with a single link, is
// verification; anything that another writer did meanwhile, a result that
// appeared in the place included, is conflict; a full disk is unavailable. After
// an error the caller discards the build.
func (b *Build) Seal(ctx context.Context, m Manifest, keep []Keep) (*Result, error) {
	s, p := b.private.stage, b.private
	if b.done {
		return nil, errors.New("the build has ended")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	kept, err := b.collect(ctx, keep)
	if err != nil {
		return nil, s.fault("seal", p.path(), err)
	}
	if err := m.complete(b.lock.name, kept.artifacts, s.now()); err != nil {
		return nil, err
	}
	if err := b.write(&m, kept); err != nil {
		return nil, s.fault("seal", p.path(), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.place(); err != nil {
		return nil, s.fault("publish", b.lock.name.folder(), err)
	}
	b.done = true
	r := &Result{Manifest: m, stage: s, name: b.lock.name, folder: p.id, seen: kept.seen}
	p.close()
	return r, nil
}

// collection is the files that a build keeps.
type collection struct {
	artifacts []Artifact          // sorted by path
	seen      map[string]Identity // by path
}

func (c *collection) paths() []string {
	var paths []string
	for _, a := range c.artifacts {
		paths = append(paths, a.Path)
	}
	return paths
}

// collect opens, checks and hashes what is kept, and begins to write it to the disk.
func (b *Build) collect(ctx context.Context, keep []Keep) (*collection, error) {
	keep = slices.Clone(keep)
	slices.SortFunc(keep, func(a, b Keep) int { return strings.Compare(a.Path, b.Path) })
	c := &collection{artifacts: make([]Artifact, 0, len(keep)), seen: map[string]Identity{}}
	for _, k := range keep {
		if _, twice := c.seen[k.Path]; twice || !artifactPath(k.Path) {
			return nil, cutroom.Errorf(cutroom.Verification, "%q cannot name an artifact, or names two", k.Path)
		}
		a, id, err := b.collectOne(ctx, k)
		if err != nil {
			return nil, err
		}
		c.artifacts = append(c.artifacts, a)
		c.seen[k.Path] = id
	}
	return c, nil
}

func (b *Build) collectOne(ctx context.Context, k Keep) (Artifact, Identity, error) {
	f, err := b.Open(k.Path)
	if err != nil {
		return Artifact{}, Identity{}, err
	}
	defer f.Close()
	_ = f.Chmod(0o600) // the folder is private already; some file systems have no modes
	st, err := statFile(f)
	if err != nil {
		return Artifact{}, Identity{}, err
	}
	if st.links != 1 {
		return Artifact{}, Identity{}, outputError(k.Path, errNotRegular)
	}
	startWriting(f)
	digest, id, err := (*IdentityCache)(nil).Digest(ctx, f)
	return Artifact{Path: k.Path, SHA256: digest, Size: id.Size, MediaType: k.MediaType, Timestamp: k.Timestamp, Field: k.Field}, id, err
}

func outputError(p string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cutroom.Errorf(cutroom.Verification, "the output %q was not made", p)
	case errors.Is(err, errLink), errors.Is(err, errNotRegular), errors.Is(err, errNotFolder), errors.Is(err, errEscape):
		return cutroom.Errorf(cutroom.Verification, "the output %q is not a plain file of its own", p).WithCause(err)
	}
	return err
}

// flush makes files and folders of t durable. The disk was given all of it before,
// so that the first fsync waits and the others find their work done.
func (b *Build) flush(t map[string][]string, files []string) error {
	for _, p := range files {
		if err := b.private.flush(p); err != nil {
			return err
		}
	}
	for folder := range t {
		sub, err := b.private.dir.openDir(folder)
		if err != nil {
			return err
		}
		if err := errors.Join(sub.sync(), sub.close()); err != nil {
			return err
		}
	}
	return nil
}

// write removes what is not kept, adds result.json, and makes the folders durable.
func (b *Build) write(m *Manifest, kept *collection) error {
	t := tree(kept.paths())
	for folder, names := range t {
		if err := b.clear(folder, names); err != nil {
			return err
		}
	}
	text, err := sealText(b.private.stage.key, resultKind, m)
	if err != nil {
		return err
	}
	if err := b.private.write(resultFile, text); err != nil {
		return err
	}
	// The caller gets what later readers will get: the canonical form.
	*m = Manifest{}
	if err := unsealText(b.private.stage.key, resultKind, text, m); err != nil {
		return err
	}
	t["."] = append(t["."], resultFile)
	if err := b.flush(t, append(kept.paths(), resultFile)); err != nil {
		return err
	}
	return b.recheck(t, kept)
}

// clear removes from folder everything but names.
func (b *Build) clear(folder string, names []string) error {
	d, err := b.private.dir.openDir(folder)
	if err != nil {
		return err
	}
	defer d.close()
	present, err := d.names()
	if err != nil {
		return err
	}
	for _, name := range present {
		if slices.Contains(names, name) {
			continue
		}
		if err := d.removeTree(name); err != nil {
			return err
		}
	}
	return nil
}

// recheck compares the folder once more with what was hashed, the last thing
// before it becomes visible.
func (b *Build) recheck(t map[string][]string, kept *collection) error {
	d, foreign := b.private.dir, ""
	for folder, names := range t {
		extra, missing, err := compare(d, folder, names)
		if err != nil {
			return err
		}
		if extra+missing != "" {
			foreign = path.Join(folder, extra+missing)
		}
	}
	for p, id := range kept.seen {
		if st, err := d.lstat(p); err != nil || st.Identity != id || st.links != 1 {
			foreign = p
		}
	}
	if foreign != "" {
		return cutroom.Errorf(cutroom.Conflict, "another writer changed %q while the result was made", path.Join(b.private.stage.shown(b.private.path()), foreign)).
			WithHint("repeat the call; let nothing else write there")
	}
	return b.private.check()
}

// compare returns the first name of folder that does not belong to names, and the
// first of names that is not there.
func compare(d *dir, folder string, names []string) (extra, missing string, err error) {
	sub, err := d.openDir(folder)
	if err != nil {
		return "", "", err
	}
	defer sub.close()
	present, err := sub.names()
	if err != nil {
		return "", "", err
	}
	known := make(map[string]bool, len(names))
	for _, n := range names {
		known[n] = true
	}
	for _, n := range present {
		if !known[n] {
			return n, "", nil
		}
		delete(known, n)
	}
	for n := range known {
		return "", n, nil
	}
	return "", "", nil
}

// place moves the folder to its name. Another prune may take the empty parents
// away between making them and moving, so that is tried again.
func (b *Build) place() error {
	name := b.lock.name
	if !b.lock.held.valid() {
		return cutroom.Errorf(cutroom.Conflict, "the lock of %q was taken away by another writer", b.private.stage.shown(name.folder())).
			WithHint("repeat the call; let nothing else write there")
	}
	var err error
	for range 5 {
		if err = b.placeOnce(path.Dir(name.folder()), path.Base(name.folder())); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return cutroom.Errorf(cutroom.Conflict, "%q appeared while the result was made", b.private.stage.shown(name.folder())).
			WithHint("repeat the call; if it does not verify, `cutroom prune --invalid` moves it away")
	}
	return err
}

func (b *Build) placeOnce(folder, base string) error {
	parent, err := b.private.root.makeDirs(folder)
	if err != nil {
		return err
	}
	defer parent.close()
	home := b.private.home
	err = home.rename(b.private.name, parent, base, false)
	if errors.Is(err, errUnsupported) {
		// Under the lock only a foreign writer can come between the two calls, and a
		// folder never replaces one that holds a file (rename(2)).
		if exists(parent, base) {
			return fmt.Errorf("%s: %w", base, fs.ErrExist)
		}
		err = home.rename(b.private.name, parent, base, true)
	}
	if err != nil {
		return err
	}
	return errors.Join(b.private.root.syncPath(folder), home.sync())
}
