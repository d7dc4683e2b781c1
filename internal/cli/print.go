package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/evidence"
)

// printJSON writes v as the one document of the run.
func (a *App) printJSON(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // every document is a type of ours
	}
	// A reader that went away cannot be told so.
	_, _ = a.Stdout.Write(b.Bytes())
}

func (a *App) printRaw(doc []byte) error {
	_, err := a.Stdout.Write(append(bytes.TrimSpace(doc), '\n'))
	return err
}

// say writes one line for people on standard error.
func (a *App) say(format string, args ...any) {
	fmt.Fprintln(a.Stderr, a.Redact.Text(clean(fmt.Sprintf(format, args...))))
}

// remark is a line that --quiet leaves out.
func (a *App) remark(format string, args ...any) {
	if !a.flags.quiet {
		a.say(format, args...)
	}
}

// clean makes text from anywhere safe for a terminal.
func clean(s string) string { return evidence.Terminal(s) }

// createNew makes a file that does not exist yet and has write fill it. One that could not
// be written whole is taken away. An agent's has to be one that it may write.
func (a *App) createNew(ctx context.Context, name string, mode fs.FileMode, write func(io.Writer) error) error {
	if err := a.free(ctx, name); err != nil {
		return err
	}
	path := paths{dir: a.Dir}.absolute(name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return taken(name)
	}
	if err != nil {
		return cutroom.Errorf(cutroom.Invalid, "cannot write %q", name).WithCause(err).WithHint("check the folder")
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
		return err
	}
	return nil
}

func taken(name string) error {
	return cutroom.Errorf(cutroom.Conflict, "%q is already there", name).WithHint("name a new file, or move that one away")
}

// free refuses a new file that is there already, or that who calls may not write: for an
// agent it lies in the workspace or a root, links followed, and no rule denies it.
func (a *App) free(ctx context.Context, name string) error {
	p := paths{dir: a.Dir}
	path := p.absolute(name)
	if _, err := os.Lstat(path); err == nil {
		return taken(name)
	}
	who := a.principal()
	if who.Role != cutroom.RoleAgent {
		return nil
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	p.root, p.roots, p.agent = i.Workspace, i.Config.Roots, true
	if _, err := p.convert(name); err != nil {
		return err
	}
	real := filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
	if !slices.ContainsFunc(append([]string{p.root}, p.roots...), func(r string) bool { return inside(resolved(r), real) }) {
		return cutroom.Errorf(cutroom.Denied, "%q leads out of the workspace", name).WithHint("name a file in a folder of the workspace itself")
	}
	return i.Engine.MayWrite(who, path)
}

// writeNew writes a document to a file that does not exist yet.
func (a *App) writeNew(ctx context.Context, name string, v any) error {
	return a.createNew(ctx, name, 0o644, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// printPlan shows the steps of a dry run.
func (a *App) printPlan(p *engine.Preview) {
	fmt.Fprintf(a.Stdout, "%s would run (nothing has run):\n", p.Tool)
	for n, s := range p.Steps {
		fmt.Fprintf(a.Stdout, "%3d. %s\n     %s\n", n+1, clean(s.Stage), clean(p.Commands[n]))
	}
	for _, id := range p.Calls {
		fmt.Fprintf(a.Stdout, "  -  %s\n", id)
	}
	if len(p.Steps)+len(p.Calls) == 0 {
		fmt.Fprintln(a.Stdout, "  no program of its own")
	}
	if p.More != "" {
		fmt.Fprintln(a.Stdout, "  "+clean(p.More))
	}
}
