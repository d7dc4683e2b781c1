package stage

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Leftover is what a crashed run left behind, moved to .pending with a record.
// It is kept until a prune; only when all leftovers together exceed the limit do
// the oldest lose their bytes, and then their record stays.
type Leftover struct {
	Name       string    // its name in .pending
	Folder     string    // relative to the workspace
	Tool       string    // the tool whose build it was, empty when it was none
	Source     string    // 16 digits of the source's digest
	Invocation string    // 16 digits of the invocation
	Moved      time.Time // when it was found
	Files      []string  // what it held, Go-quoted, relative to Folder
	Bytes      int64     // how much that was
	Dropped    bool      // the bytes are gone
	Recorded   bool      // the record verifies; without one nothing of it is ever deleted
}

// leftover is the record of a [Leftover].
type leftover struct {
	Version int       `json:"version"`
	Name    string    `json:"name"`
	Moved   time.Time `json:"moved"`
	Files   []string  `json:"files"`   // Go-quoted: a program may have chosen the names
	Folders []string  `json:"folders"` // Go-quoted, the deepest first
	Bytes   int64     `json:"bytes"`
	Dropped bool      `json:"dropped"`
	MAC     string    `json:"mac,omitempty"`
}

func (l *leftover) mac() string     { return l.MAC }
func (l *leftover) setMAC(s string) { l.MAC = s }

// shown is the record as callers see it.
func (l *leftover) shown(s *Stage) Leftover {
	v := Leftover{
		Name: l.Name, Folder: s.shown(path.Join(pendingFolder, l.Name)), Moved: l.Moved,
		Files: l.Files, Bytes: l.Bytes, Dropped: l.Dropped, Recorded: true,
	}
	// <time>-<tool>.<source16>.<invocation16>.<random>
	_, label, _ := strings.Cut(l.Name, "-")
	if w := strings.Split(label, "."); len(w) > 3 {
		n := len(w)
		v.Tool, v.Source, v.Invocation = strings.Join(w[:n-3], "."), w[n-3], w[n-2]
	}
	return v
}

// Pending lists the leftovers, the oldest first.
func (s *Stage) Pending(ctx context.Context) ([]Leftover, error) {
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	s.sweep(root)
	home, err := root.openDir(pendingFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fault("list", pendingFolder, err)
	}
	defer home.close()
	names, err := home.names()
	if err != nil {
		return nil, s.fault("list", pendingFolder, err)
	}
	var all []Leftover
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		base, isRecord := strings.CutSuffix(name, ".json")
		if !isRecord && exists(home, name+".json") {
			continue
		}
		if l, err := s.leftover(home, base); err == nil {
			all = append(all, l.shown(s))
		} else {
			all = append(all, Leftover{Name: base, Folder: s.shown(path.Join(pendingFolder, base))})
		}
	}
	return all, nil
}

// leftover reads one record.
func (s *Stage) leftover(home *dir, name string) (*leftover, error) {
	var l leftover
	if err := s.read(home, name+".json", pendingKind, &l); err != nil {
		return nil, err
	}
	if l.Name != name || l.Version != 1 {
		return nil, errForged
	}
	return &l, nil
}

// sweep moves what crashed runs left in .building to .pending, writes missing
// records and enforces the limit. It blocks nothing and fails nothing: what cannot
// be done now, on a full disk for one, the next sweep does.
func (s *Stage) sweep(root *dir) {
	tidyLocks(root)
	building, err := root.openDir(buildingFolder)
	if err != nil {
		return
	}
	defer building.close()
	names, err := building.names()
	if err != nil {
		return
	}
	for _, name := range names {
		h, err := hold(context.Background(), root, name, false)
		if err != nil {
			continue // somebody is working there
		}
		if exists(building, name) {
			s.setAside(root, building, name, pendingFolder)
		}
		h.release()
	}
	s.recordLeftovers(root)
}

// setAside moves from/name to the folder to, under a name that begins with the time.
func (s *Stage) setAside(root, from *dir, name, to string) (string, error) {
	home, err := root.makeDirs(to)
	if err != nil {
		return "", err
	}
	defer home.close()
	target := s.now().UTC().Format("20060102T150405.000Z") + "-" + name
	for range 2 {
		err = from.rename(name, home, target, false)
		if errors.Is(err, errUnsupported) && !exists(home, target) {
			err = from.rename(name, home, target, true)
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		target += "." + random()
	}
	return target, err
}

// recordLeftovers writes the records that are missing.
func (s *Stage) recordLeftovers(root *dir) {
	home, err := root.openDir(pendingFolder)
	if err != nil {
		return
	}
	defer home.close()
	names, err := home.names()
	if err != nil {
		return
	}
	added := false
	for _, name := range names {
		if strings.HasSuffix(name, ".json") || slices.Contains(names, name+".json") {
			continue
		}
		d, err := home.openDir(name)
		if err != nil {
			continue // not a folder of ours
		}
		l := &leftover{Version: 1, Name: name, Moved: s.now().UTC().Truncate(time.Millisecond), Files: []string{}, Folders: []string{}}
		err = l.scan(d, "", 0)
		d.close()
		if err == nil && s.saveLeftover(root, home, l) == nil {
			added = true
		}
	}
	if added {
		s.enforceLimit(root, home)
	}
}

func (s *Stage) saveLeftover(root, home *dir, l *leftover) error {
	text, err := sealText(s.key, pendingKind, l)
	if err != nil {
		return err
	}
	return s.replace(context.Background(), root, home, l.Name+".json", text)
}

// maxDepth bounds how deep a leftover is looked through.
const maxDepth = 64

// scan lists what lies in d, the folders after what they hold.
func (l *leftover) scan(d *dir, at string, depth int) error {
	names, err := d.names()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return errUnsupported
	}
	for _, name := range names {
		st, err := d.lstat(name)
		if err != nil {
			return err
		}
		p := path.Join(at, name)
		if !st.mode.IsDir() {
			l.Files = append(l.Files, strconv.QuoteToASCII(p))
			l.Bytes += st.Size
			continue
		}
		sub, err := d.openDir(name)
		if err != nil {
			return err
		}
		err = l.scan(sub, p, depth+1)
		sub.close()
		if err != nil {
			return err
		}
		l.Folders = append(l.Folders, strconv.QuoteToASCII(p))
	}
	return nil
}

// enforceLimit takes the bytes of the oldest leftovers until the rest fits.
func (s *Stage) enforceLimit(root, home *dir) {
	names, err := home.names()
	if err != nil {
		return
	}
	var kept []*leftover
	total := int64(0)
	for _, name := range names {
		base, isRecord := strings.CutSuffix(name, ".json")
		if !isRecord {
			continue
		}
		if l, err := s.leftover(home, base); err == nil && !l.Dropped {
			kept, total = append(kept, l), total+l.Bytes
		}
	}
	for _, l := range kept {
		if total <= s.limit {
			return
		}
		if s.dropBytes(home, l) == nil {
			l.Dropped = true
			_ = s.saveLeftover(root, home, l)
		}
		total -= l.Bytes
	}
}

// dropBytes deletes what the record lists, and the folder if that was all.
func (s *Stage) dropBytes(home *dir, l *leftover) error {
	d, err := home.openDir(l.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := deleteListed(d, unquoted(l.Files), unquoted(l.Folders)); err != nil {
		return err
	}
	return home.rmdir(l.Name)
}

func unquoted(list []string) []string {
	var out []string
	for _, q := range list {
		if p, err := strconv.Unquote(q); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// deleteListed deletes files, then folders where nothing else is left. What is gone
// already counts as deleted; what is not listed stays.
func deleteListed(d *dir, files, folders []string) error {
	var errs []error
	for _, p := range files {
		errs = append(errs, deleteOne(d, p, (*dir).unlink))
	}
	for _, p := range folders {
		errs = append(errs, deleteOne(d, p, (*dir).rmdir))
	}
	return errors.Join(errs...)
}

func deleteOne(d *dir, p string, remove func(*dir, string) error) error {
	folder, name := within(p)
	at, err := d.openDir(folder)
	if err == nil {
		err = remove(at, name)
		at.close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
