package host

import (
	"bytes"
	"errors"
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
	Conflict  Action = "conflict" // what is there is not ours: it is left alone
)

// Change is what is planned for one file.
type Change struct {
	File    string // as a person knows it: relative to the project, or from ~
	Action  Action
	Note    string // something that a person may want to know
	Problem string // of a conflict
	Hint    string // what helps with it

	path   string // with links resolved
	before []byte // nil: there was no file
	after  []byte // nil: there will be none
	prune  int    // folders above the file that go with it when they are empty
}

// circumstance is what an editor has to know beyond the text.
type circumstance struct {
	missing int  // folders that will be made for the file
	replace bool // what is not ours may be overwritten
}

// edit is a text with our part put in or taken out.
type edit struct {
	text []byte // nil: no file
	made int    // folders that were made for it
	note string
}

// editor puts our part into a file's text, and takes it out. A conflict is an error of
// that code.
type editor interface {
	// put returns the text with our part in it; before is nil when there is no file.
	put(before []byte, c circumstance) (edit, error)
	// take returns the text without our part, nil when nothing is left of the file.
	take(before []byte) (edit, error)
}

// maxFile is the largest file that is edited; Claude Code's own is some megabytes.
const maxFile = 64 << 20

// Options are for one plan.
type Options struct {
	Tools   []string // that the skill may use unasked
	Replace bool     // what stands in the way is overwritten
}

// Install plans what puts a host's entry and skill in place. Nothing is written. A file
// that cannot be read or parsed is an error; one with something in the way a change
// that is a conflict.
func Install(h Host, scope Scope, p Places, s Server, o Options) ([]Change, error) {
	return plan(targets(h, scope, p, s, o.Tools), scope, p, func(e editor, before []byte, missing int) (edit, error) {
		return e.put(before, circumstance{missing: missing, replace: o.Replace})
	})
}

// Uninstall plans what takes them out again.
func Uninstall(h Host, scope Scope, p Places) ([]Change, error) {
	return plan(targets(h, scope, p, Server{}, nil), scope, p, func(e editor, before []byte, _ int) (edit, error) {
		return e.take(before)
	})
}

func plan(targets []target, scope Scope, p Places, do func(editor, []byte, int) (edit, error)) ([]Change, error) {
	var changes []Change
	for _, t := range targets {
		c := Change{File: shown(t.path, scope, p), path: t.path}
		within := ""
		if scope == Project {
			within = p.Project
		}
		missing, err := c.read(within)
		var done edit
		if err == nil {
			done, err = do(t.edit, c.before, missing)
		}
		switch e := cutroom.AsError(err); {
		case err == nil:
			c.after, c.Note, c.prune = done.text, done.note, done.made
			c.Action = c.action()
		case e.Code == cutroom.Conflict:
			c.after, c.Action, c.Problem, c.Hint = c.before, Conflict, e.Msg, e.Hint
		default:
			named := *e
			named.Msg = c.File + ": " + e.Msg
			return nil, &named
		}
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
func shown(path string, scope Scope, p Places) string {
	bases := []struct{ folder, name string }{{p.Project, ""}}
	if scope == User {
		bases = []struct{ folder, name string }{
			{p.Claude, "$CLAUDE_CONFIG_DIR/"}, {p.Codex, "$CODEX_HOME/"}, {p.Config, "$XDG_CONFIG_HOME/"}, {p.Home, "~/"},
		}
	}
	for _, b := range bases {
		if rel, err := filepath.Rel(b.folder, path); b.folder != "" && err == nil && filepath.IsLocal(rel) {
			return b.name + filepath.ToSlash(rel)
		}
	}
	return filepath.Base(path)
}

// read reads the file as it is, and counts the folders that are missing above it. A
// link is followed, the file that it names is changed and the link stays; but a
// project, which may be anybody's, reaches nothing outside of itself.
func (c *Change) read(within string) (missing int, err error) {
	real, err := filepath.EvalSymlinks(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		if exists(c.path) {
			return 0, errConflict("it is a link to nothing", "remove the link")
		}
		folder, rest := filepath.Split(filepath.Clean(c.path))
		for {
			real, err = filepath.EvalSymlinks(folder)
			if !errors.Is(err, fs.ErrNotExist) {
				break
			}
			if exists(filepath.Clean(folder)) {
				return 0, errConflict("its folder is a link to nothing", "remove the link")
			}
			missing++
			var last string
			folder, last = filepath.Split(filepath.Clean(folder))
			rest = filepath.Join(last, rest)
		}
		if err != nil {
			return 0, unusable(err)
		}
		c.path = filepath.Join(real, rest)
		return missing, inside(c.path, within)
	}
	if err != nil {
		return 0, unusable(err)
	}
	c.path = real
	if err := inside(real, within); err != nil {
		return 0, err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return 0, unusable(err)
	case !info.Mode().IsRegular():
		return 0, errConflict("it is no plain file", "move it away")
	case info.Size() > maxFile:
		return 0, errConflict("it is too large to edit", "add the server by hand")
	}
	if c.before, err = os.ReadFile(real); err != nil {
		return 0, unusable(err)
	}
	if c.before == nil {
		c.before = []byte{}
	}
	return 0, nil
}

// inside refuses a path, with links resolved, that leaves a folder.
func inside(path, folder string) error {
	if folder == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return unusable(err)
	}
	if rel, err := filepath.Rel(real, path); err != nil || !filepath.IsLocal(rel) {
		return errConflict("it is a link that leads out of the project", "remove the link, or set the host up where it leads")
	}
	return nil
}

func unusable(err error) error {
	return cutroom.Errorf(cutroom.Precondition, "it cannot be used").WithCause(err).WithHint("check that the file and its folder are yours")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Diff is the change as a unified diff, "" when there is none.
func (c Change) Diff() string {
	if c.Action == Unchanged || c.Action == Conflict {
		return ""
	}
	text := string(diff.Diff("a/"+c.File, c.before, "b/"+c.File, c.after))
	// The first line is a command that nobody ran.
	if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "diff ") {
		text = rest
	}
	return text
}
