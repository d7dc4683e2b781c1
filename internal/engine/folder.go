package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// maxNames bounds what is listed of a folder.
const maxNames = 20_000

// List returns what a folder holds, by name, nothing below its folders. What a principal
// may open is decided when it is opened; links are named and not followed.
func (v *env) List(_ context.Context, folder cutroom.InPath) ([]tool.Listed, error) {
	return v.k.list(folder)
}

func (k *call) list(folder cutroom.InPath) ([]tool.Listed, error) {
	root, rel, err := k.e.folder(k.Principal, string(folder))
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := r.Open(rel)
	if err != nil {
		return nil, noFolder(string(folder), err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxNames + 1)
	if err != nil && len(entries) == 0 && !errors.Is(err, fs.ErrClosed) {
		if info, e := f.Stat(); e != nil || !info.IsDir() {
			return nil, noFolder(string(folder), err)
		}
	}
	if len(entries) > maxNames {
		return nil, cutroom.Errorf(cutroom.Limit, "%q holds more than %d files", folder, maxNames).WithHint("spread them over folders")
	}
	var names []tool.Listed
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // it went while the folder was read
		}
		names = append(names, tool.Listed{Name: e.Name(), Folder: e.IsDir(), Plain: info.Mode().IsRegular(), Size: info.Size(), Modified: info.ModTime()})
	}
	slices.SortFunc(names, func(a, b tool.Listed) int { return strings.Compare(a.Name, b.Name) })
	return names, nil
}

// MakeFolder makes a folder where this principal may write, with those above it.
func (v *env) MakeFolder(_ context.Context, folder cutroom.InPath) error {
	if err := v.k.e.MayWrite(v.k.Principal, string(folder)); err != nil {
		return err
	}
	root, rel, err := v.k.e.writable(v.k.Principal, string(folder))
	if err != nil {
		return err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.MkdirAll(rel, 0o755); err != nil {
		return cutroom.Errorf(cutroom.Conflict, "the folder %q cannot be made", folder).WithCause(err).WithHint("name another folder for the results")
	}
	return nil
}

// DropFolder removes a folder that is empty; one that holds something stays.
func (v *env) DropFolder(_ context.Context, folder cutroom.InPath) error {
	root, rel, err := v.k.e.writable(v.k.Principal, string(folder))
	if err != nil {
		return err
	}
	return v.k.e.Stage.DropFolder(root, filepath.ToSlash(rel))
}

// Withdraw removes what a call of this one wrote, where the record of that call says
// that it is what stands there.
func (v *env) Withdraw(ctx context.Context, made tool.Reply) error {
	m, ok := made.Output.(tool.Maker)
	if !ok || m.AsMade().File == nil {
		return nil
	}
	path := *m.AsMade().File
	if err := v.k.e.MayWrite(v.k.Principal, path); err != nil {
		return err
	}
	root, rel, err := v.k.e.writable(v.k.Principal, path)
	if err != nil {
		return err
	}
	v.k.mu.Lock()
	mine := slices.Contains(v.k.parents, made.Run)
	v.k.mu.Unlock()
	if !mine {
		return cutroom.Errorf(cutroom.Denied, "%q was not written by this call", path)
	}
	r, err := v.k.e.Stage.Lookup(ctx, stage.Name{Source: made.Record.Provenance.SourceIdentity.SHA256, Tool: made.Tool, Invocation: made.Run})
	if err != nil || r == nil {
		return err
	}
	for _, a := range r.Manifest.Artifacts {
		if a.Field == "output" {
			return v.k.e.Stage.Withdraw(ctx, root, filepath.ToSlash(rel), a.SHA256)
		}
	}
	return nil
}

func noFolder(folder string, err error) error {
	return cutroom.Errorf(cutroom.NotFound, "there is no folder %q", folder).WithCause(err).WithHint("name a folder of the workspace, or a pattern in one, such as 'shoot/*.mp4'")
}

// folder says where a folder lies that a principal may list: beneath the workspace or a
// root, or, for the operator, anywhere that the call names.
func (e *Engine) folder(who cutroom.Principal, text string) (root, rel string, err error) {
	if !filepath.IsAbs(text) {
		if !filepath.IsLocal(filepath.FromSlash(text)) {
			return "", "", outsideWorkspace(text)
		}
		return e.Workspace, filepath.Clean(filepath.FromSlash(text)), nil
	}
	for _, r := range append([]string{e.Workspace}, e.Roots...) {
		if within(r, text) {
			rel, err := filepath.Rel(r, filepath.Clean(text))
			return r, rel, err
		}
	}
	if who.Role == cutroom.RoleOperator {
		return filepath.Clean(text), ".", nil
	}
	return "", "", outsideWorkspace(text)
}
