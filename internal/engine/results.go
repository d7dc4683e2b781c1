package engine

import (
	"context"
	"io"
	"os"
	"slices"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/stage"
)

// results is what Interpret sees of a call.
type results struct {
	k     *call
	steps map[string]argv.Result
	state any
}

func (r *results) Step(name string) (argv.Result, bool) { res, ok := r.steps[name]; return res, ok }
func (r *results) State() any                           { return r.state }

func (r *results) ReadInput(index int, max int64) ([]byte, error) { return r.k.readInput(index, max) }

func (r *results) ReadFile(name string, max int64) ([]byte, error) {
	f, err := r.k.private(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, max)
}

func (r *results) OpenFile(name string) (io.ReadCloser, error) { return r.k.private(name) }

// private opens a file of the private folder. A program wrote there, so links are
// not followed.
func (k *call) private(name string) (*os.File, error) { return stage.OpenBeneath(k.build.Dir(), name) }

func (r *results) Keep(name, mediaType string, at *cutroom.Micros) (cutroom.ArtifactRef, error) {
	return r.k.keep(name, mediaType, at)
}

func (r *results) Deliver(name, mediaType, field string) (cutroom.ArtifactRef, error) {
	return r.k.deliverable(name, mediaType, field)
}

func (r *results) Put(name, mediaType string, data []byte, at *cutroom.Micros) (cutroom.ArtifactRef, error) {
	return r.k.put(name, mediaType, data, at)
}

func (k *call) readInput(index int, max int64) ([]byte, error) {
	if index < 0 || index >= len(k.inputs) {
		return nil, cutroom.Errorf(cutroom.Internal, "there is no input %d", index)
	}
	if in := k.inputs[index]; in.Inline {
		if int64(len(in.Content)) > max {
			return nil, cutroom.Errorf(cutroom.Limit, "the transcript has %d bytes, more than the limit of %d", len(in.Content), max).
				WithHint("raise limits.max_transcript_bytes")
		}
		return []byte(in.Content), nil
	}
	return readAll(k.files[index], max)
}

// keep makes a file of the private folder an artifact of the result.
func (k *call) keep(name, mediaType string, at *cutroom.Micros) (cutroom.ArtifactRef, error) {
	if i := slices.IndexFunc(k.kept, func(a stage.Keep) bool { return a.Path == name }); i >= 0 {
		return k.made[i], nil
	}
	f, err := k.private(name)
	if err != nil {
		return cutroom.ArtifactRef{}, err
	}
	defer f.Close()
	digest, id, err := (*stage.IdentityCache)(nil).Digest(context.Background(), f)
	if err != nil {
		return cutroom.ArtifactRef{}, err
	}
	k.kept = append(k.kept, stage.Keep{Path: name, MediaType: mediaType, Timestamp: at})
	k.made = append(k.made, k.refOf(stage.Artifact{Path: name, SHA256: digest, Size: id.Size, MediaType: mediaType, Timestamp: at}))
	return k.made[len(k.made)-1], nil
}

func (k *call) put(name, mediaType string, data []byte, at *cutroom.Micros) (cutroom.ArtifactRef, error) {
	if err := k.build.Put(name, data); err != nil {
		return cutroom.ArtifactRef{}, err
	}
	return k.keep(name, mediaType, at)
}

// refOf is an artifact of this call as callers see it.
func (k *call) refOf(a stage.Artifact) cutroom.ArtifactRef {
	return cutroom.ArtifactRef{
		RelativePath: k.e.relativePath(k.name, a.Path), SHA256: a.SHA256,
		SizeBytes: a.Size, MediaType: a.MediaType, TimestampSeconds: a.Timestamp,
	}
}
