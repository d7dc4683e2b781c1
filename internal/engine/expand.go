package engine

import (
	"context"
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/tool"
)

// expanding opens what an input is completed by.
type expanding struct {
	k   *call
	ctx context.Context
}

// Read opens a file, keeps it among the call's inputs, and returns what it holds.
func (r expanding) Read(path cutroom.InPath, max int64) ([]byte, error) {
	if !r.k.opened(plainPath(path)) {
		if err := r.k.openFile(r.ctx, string(path), tool.Input{Plain: true}); err != nil {
			return nil, err
		}
	}
	for i, in := range r.k.inputs {
		if in.Text == string(path) && in.Plain {
			return readAll(r.k.files[i], max)
		}
	}
	return nil, fmt.Errorf("%s was not opened", path)
}

// Has says whether a file can be opened that is there; a name of nothing is no error.
func (r expanding) Has(path cutroom.InPath) (bool, error) {
	f, _, err := r.k.openInput(string(path))
	if err != nil {
		if e := cutroom.AsError(err); e.Code == cutroom.NotFound {
			return false, nil
		}
		return false, err
	}
	return true, f.Close()
}

// List returns the names of the plain files in a folder, sorted.
func (r expanding) List(folder cutroom.InPath) ([]string, error) {
	list, err := r.k.list(folder)
	var names []string
	for _, l := range list {
		if l.Plain {
			names = append(names, l.Name)
		}
	}
	return names, err
}

// expand completes the input by the files that it names.
func (k *call) expand(ctx context.Context) error {
	if !k.tool.Expands() {
		return nil
	}
	in, err := k.tool.Expand(k.in, expanding{k, ctx})
	if err == nil {
		k.in, err = in, tool.Validate(in)
	}
	return err
}

// opened reports whether a path was opened already, in the same way.
func (k *call) opened(v any) bool {
	text, plain := "", false
	switch v := v.(type) {
	case plainPath:
		text, plain = string(v), true
	case cutroom.InPath:
		text = string(v)
	default:
		return false
	}
	return slices.ContainsFunc(k.inputs, func(in tool.Input) bool { return in.Text == text && in.Plain == plain && in.Frame == nil && !in.Inline })
}
