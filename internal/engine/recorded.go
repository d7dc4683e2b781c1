package engine

import (
	"context"
	"os"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/stage"
)

// Recorded is a recorded result that a principal may read.
type Recorded struct {
	Run    cutroom.Digest
	Tool   string
	JSON   []byte // the output as it was recorded
	result *stage.Result
	engine *Engine
}

// Recorded finds a recorded result by its id, or the first digits of it, and checks
// that who could open every source it came from now, and may by the policy: an id is not
// a permission. Whatever comes of it is a row of the audit.
func (e *Engine) Recorded(ctx context.Context, who cutroom.Principal, run string) (*Recorded, error) {
	r, d, err := e.find(ctx, who, run)
	err = e.Redact.Error(err)
	e.noteRead(ctx, who, run, r, d, err)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// find returns the result also when who may not read it, for the row.
func (e *Engine) find(ctx context.Context, who cutroom.Principal, run string) (*Recorded, policy.Decision, error) {
	k := &call{Call: Call{Principal: who}, e: e, results: map[cutroom.Digest]*stage.Result{}}
	r, err := k.openResult(ctx, run)
	if err != nil {
		return nil, policy.Decision{}, err
	}
	found := &Recorded{Run: r.Manifest.Invocation, Tool: r.Manifest.Tool, JSON: e.Redact.JSON(r.Manifest.Output), result: r, engine: e}
	d, err := e.mayRecall(ctx, who, &r.Manifest)
	return found, d, err
}

// Answer is a recorded result as the call that made it was answered.
func (e *Engine) Answer(ctx context.Context, who cutroom.Principal, run string) (*Reply, error) {
	k := &call{Call: Call{Principal: who}, e: e, results: map[cutroom.Digest]*stage.Result{}, started: e.Now()}
	r, err := k.openResult(ctx, run)
	if err != nil {
		return nil, e.Redact.Error(cutroom.AsError(err))
	}
	t, ok := e.Registry.Find(r.Manifest.Tool)
	if !ok || !e.lists(who, t.Name) {
		return nil, cutroom.Errorf(cutroom.NotFound, "there is no recorded result %q", run)
	}
	k.tool, k.name = t, r.Name()
	if err := k.answer(ctx, r, nil); err != nil {
		return nil, e.Redact.Error(cutroom.AsError(err))
	}
	return k.answered(), nil
}

// Decode reads back an output that was not recorded, as the call was answered.
func (e *Engine) Decode(name string, output []byte) (*Reply, error) {
	t, ok := e.Registry.Find(name)
	if !ok {
		return nil, cutroom.Errorf(cutroom.NotFound, "there is no tool %q", name)
	}
	out, err := t.DecodeOutput(output)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Conflict, "the stored answer has another shape than its tool").WithCause(err).WithHint("call the tool again")
	}
	return &Reply{Tool: t.Name, Output: out, JSON: output, Transient: true}, nil
}

// Artifacts lists the files of the result.
func (r *Recorded) Artifacts() []cutroom.ArtifactRef { return r.result.Refs() }

// Open opens one file of the result by its path inside it.
func (r *Recorded) Open(ctx context.Context, path string) (*os.File, error) {
	if _, ok := r.result.Artifact(path); !ok {
		return nil, cutroom.Errorf(cutroom.NotFound, "the result %s has no file %q", r.Run.Short(), path).
			WithHint("its files are listed in artifacts, by paths that end in their names inside the result")
	}
	return r.result.Open(ctx, path)
}

// Picture reads a recorded picture, of an answer that who just got, of at most max bytes.
func (e *Engine) Picture(ctx context.Context, who cutroom.Principal, ref cutroom.ArtifactRef, max int64) ([]byte, error) {
	run, path, ok := e.split(ref.RelativePath)
	if !ok {
		return nil, notEvidence(ref.RelativePath)
	}
	k := &call{Call: Call{Principal: who}, e: e, results: map[cutroom.Digest]*stage.Result{}}
	found, err := k.openResult(ctx, run)
	if err != nil {
		return nil, e.Redact.Error(err)
	}
	if !e.lists(who, found.Manifest.Tool) {
		return nil, notEvidence(ref.RelativePath)
	}
	f, err := (&Recorded{Run: found.Manifest.Invocation, result: found}).Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, max)
}

// Split takes the workspace-relative path of a recorded file apart: the id of its
// run and its path inside that result.
func (e *Engine) Split(relative string) (run, path string, ok bool) { return e.split(relative) }

// Told is what a list of results says of one.
type Told struct {
	Run     cutroom.Digest
	Tool    string
	Source  string // safe locator of its first source; empty when it has none
	Created time.Time
}

// Newest lists the newest results that who may know of, at most max. Whether their
// sources can still be opened is asked when one is read.
func (e *Engine) Newest(ctx context.Context, who cutroom.Principal, max int) []Told {
	var all []Told
	for r, err := range e.Stage.List(ctx) {
		if err != nil {
			continue
		}
		if _, err := e.mayRecall(ctx, who, &r.Manifest); err != nil {
			continue
		}
		t := Told{Run: r.Manifest.Invocation, Tool: r.Manifest.Tool, Created: r.Manifest.Created}
		if len(r.Manifest.Sources) > 0 {
			t.Source = e.Redact.Text(r.Manifest.Sources[0].Locator)
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b Told) int { return b.Created.Compare(a.Created) })
	return all[:min(len(all), max)]
}
