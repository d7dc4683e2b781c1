package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"cutroom"
)

// Action is what happens to a file.
type Action string

// The actions.
const (
	Created   Action = "created"
	Changed   Action = "changed"
	Removed   Action = "removed"
	Unchanged Action = "unchanged"
)

// Change is what is planned for one file.
type Change struct {
	File   string // as a person knows it: relative to the project, or from ~
	Action Action
	path   string // with links resolved
	before []byte // nil: there was no file
	after  []byte // nil: there will be none
	root   string // folders above it are not ours
}

// maxFile is the largest file that is edited; Claude Code's own is some megabytes.
const maxFile = 64 << 20

// Install plans what puts a host's entry and skill in place. Nothing is written.
func Install(h Host, scope Scope, p Places, s Server, tools []string) ([]Change, error) {
	return plan(h, scope, p, s, tools, editor.put)
}

// Uninstall plans what takes them out again.
func Uninstall(h Host, scope Scope, p Places, s Server, tools []string) ([]Change, error) {
	return plan(h, scope, p, s, tools, editor.take)
}

func plan(h Host, scope Scope, p Places, s Server, tools []string, edit func(editor, []byte) ([]byte, error)) ([]Change, error) {
	var changes []Change
	for _, t := range targets(h, scope, p, s, tools) {
		c := Change{File: shown(t.path, p), path: t.path, root: p.Home}
		if scope == Project {
			c.root = p.Project
		}
		err := c.read()
		if err == nil {
			c.after, err = edit(t.edit, c.before)
		}
		if err != nil {
			e := *cutroom.AsError(err)
			e.Msg = c.File + ": " + e.Msg
			return nil, &e
		}
		c.Action = c.action()
		changes = append(changes, c)
	}
	return changes, nil
}

func (c *Change) action() Action {
	switch {
	case c.before == nil && c.after == nil, c.before != nil && c.after != nil && bytes.Equal(c.before, c.after):
		return Unchanged
	case c.before == nil:
		return Created
	case c.after == nil:
		return Removed
	}
	return Changed
}

// shown is a path as a person knows it.
func shown(path string, p Places) string {
	if rel, err := filepath.Rel(p.Project, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(p.Home, path); err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// read reads the file as it is. A link is followed: the file it names is changed, and
// the link stays.
func (c *Change) read() error {
	real, err := filepath.EvalSymlinks(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(c.path); err == nil {
			return errConflict("it is a link to nothing", "remove the link")
		}
		return nil
	}
	if err != nil {
		return unusable(err)
	}
	c.path = real
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return unusable(err)
	case !info.Mode().IsRegular():
		return errConflict("it is no plain file", "move it away")
	case info.Size() > maxFile:
		return errConflict("it is too large", "add the server by hand")
	}
	if c.before, err = os.ReadFile(real); err != nil {
		return unusable(err)
	}
	if c.before == nil {
		c.before = []byte{}
	}
	return nil
}

func unusable(err error) error {
	return cutroom.Errorf(cutroom.Precondition, "it cannot be used").WithCause(err).WithHint("check that the file and its folder are yours")
}

// Diff is the change as a unified diff, "" when there is none.
func (c Change) Diff() string {
	if c.Action == Unchanged {
		return ""
	}
	text := string(diff.Diff("a/"+c.File, c.before, "b/"+c.File, c.after))
	// The first line is a command that nobody ran.
	if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "diff ") {
		text = rest
	}
	return text
}

// Apply makes the changes. When one fails, those before it are taken back.
func Apply(changes []Change) error {
	for i, c := range changes {
		err := c.apply(c.before, c.after)
		if err == nil {
			continue
		}
		failed := []string{}
		for j := i - 1; j >= 0; j-- {
			if back := changes[j].apply(changes[j].after, changes[j].before); back != nil {
				failed = append(failed, changes[j].File)
			}
		}
		e := *cutroom.AsError(err)
		e.Msg = c.File + ": " + e.Msg
		if len(failed) > 0 {
			e.Msg += fmt.Sprintf("; already written and not taken back: %s", strings.Join(failed, ", "))
		}
		return &e
	}
	return nil
}

// apply writes a file whole or not at all, if it still is what was read.
func (c Change) apply(from, to []byte) error {
	if from == nil && to == nil || from != nil && to != nil && bytes.Equal(from, to) {
		return nil
	}
	now, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(err)
	}
	if (err == nil) != (from != nil) || !bytes.Equal(now, from) {
		return cutroom.Errorf(cutroom.Conflict, "it changed meanwhile").WithHint("run the command again")
	}
	if to == nil {
		if err := os.Remove(c.path); err != nil {
			return unusable(err)
		}
		c.prune()
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o755); err != nil {
		return unusable(err)
	}
	return c.write(to)
}

// prune removes the folders that are empty now, up to the one that was there for
// other reasons.
func (c Change) prune() {
	for d := filepath.Dir(c.path); d != c.root && len(d) > len(c.root); d = filepath.Dir(d) {
		if os.Remove(d) != nil {
			return // not empty
		}
	}
}

func (c Change) write(text []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(c.path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), ".cutroom-*")
	if err != nil {
		return unusable(err)
	}
	defer os.Remove(f.Name()) // gone once it was renamed
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		return unusable(err)
	}
	return nil
}

func errConflict(what, hint string) error {
	return cutroom.Errorf(cutroom.Conflict, "%s", what).WithHint("%s", hint)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
