package tool

import (
	"fmt"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/graph"
)

// AsSource is the input as a source of an edit.
func (in Input) AsSource() graph.Source {
	return graph.Source{Input: in.Index, Format: in.Format, Media: in.Media, Name: in.Name, SHA256: in.Source}
}

// Named returns the input that the caller named by path.
func (f Facts) Named(path cutroom.InPath) (Input, error) {
	for _, in := range f.Inputs {
		if in.Text == string(path) && in.Frame == nil && !in.Inline {
			return in, nil
		}
	}
	return Input{}, fmt.Errorf("no input was opened for a path of the call")
}

// Target is the file that an edit writes for an output path: a private name, in the
// container that the path's suffix stands for. An unknown suffix is an error for the
// caller.
func Target(out cutroom.OutPath) (graph.Target, error) {
	container, err := graph.ContainerOf(filepath.Ext(string(out)))
	return graph.Target{File: "out" + strings.ToLower(filepath.Ext(string(out))), Container: container}, err
}

// Render is the plan that encodes what g says and proves what was written; its state is
// the [graph.Render]. [Made.Rendered] answers it.
func Render(f Facts, g graph.Graph) (Plan, error) {
	r, err := graph.NewRender(g, f.Abilities)
	if err != nil {
		return Plan{}, err
	}
	return Follow(r, r, nil)
}

// Rendered fills in what a render ended with, and delivers the file at the input's field
// `output`. A file that is not what was planned is a verification error.
func (m *Made) Rendered(r Results, render *graph.Render, t graph.Target) error {
	res, err := render.Result()
	if err != nil {
		return err
	}
	m.Verified, m.Probe, m.EditMap, m.Dropped = res.Verified, res.Probe, res.Map, res.Dropped
	m.Notes = append(m.Notes, res.Notes...)
	_, err = r.Deliver(t.File, graph.MediaType(t.Container), "output")
	return err
}
