package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cutroom"
)

// maxNames bounds what is listed of a folder.
const maxNames = 20_000

// List returns the names of the plain files in a folder, sorted. What a principal may open
// is decided when it is opened; links are not followed.
func (v *env) List(_ context.Context, folder cutroom.InPath) ([]string, error) {
	root, rel, err := v.k.e.folder(v.k.Principal, string(folder))
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
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
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
