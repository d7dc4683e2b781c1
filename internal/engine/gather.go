package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// gather makes the facts: every input that the tool wants probed is probed once,
// and the limits on its length are checked.
func (k *call) gather(ctx context.Context) error {
	k.facts = tool.Facts{
		Inputs: k.inputs, Programs: map[string]string{},
		Languages: k.e.Languages, Fonts: k.e.Fonts, Settings: k.e.Settings,
	}
	for _, p := range k.e.Registry.Programs(k.tool) {
		if k.e.Toolchain.Fingerprint(p) != "" {
			k.facts.Programs[p] = k.e.Toolchain.Version(p)
		}
	}
	for run, r := range k.results {
		var made struct {
			EditMap *edl.Map `json:"edit_map"`
		}
		if json.Unmarshal(r.Manifest.Output, &made) == nil && made.EditMap != nil {
			k.facts.Maps = append(k.facts.Maps, tool.RecordedMap{Run: run, Map: *made.EditMap})
		}
	}
	if k.facts.Has("ffmpeg") {
		k.facts.Abilities = k.e.Abilities()
	}
	if !k.tool.Probes(k.facts, k.in) {
		return nil
	}
	var bad faults
	for i := range k.inputs {
		if k.files[i] == nil || k.inputs[i].Frame != nil || k.inputs[i].Beside || k.inputs[i].Plain {
			continue
		}
		if err := bad.keep(ctx, k.inputs[i].Text, k.probe(ctx, &k.inputs[i])); err != nil {
			return err
		}
	}
	k.facts.Inputs = k.inputs
	return bad.all()
}

// probe fills in what the content of an input is.
func (k *call) probe(ctx context.Context, in *tool.Input) error {
	format, err := ffmpeg.Sniff(in.Head, in.Name)
	if err != nil {
		return err
	}
	in.Format = format
	if !slices.Contains(k.ran, "ffprobe") {
		k.ran = append(k.ran, "ffprobe") // now or when the cached description was made, by the same pin
	}
	if in.Media, err = k.document(ctx, in); err != nil {
		return err
	}
	for i := range k.sources {
		if k.sources[i].SHA256 == in.Digest {
			k.sources[i].Duration = &in.Media.DurationSeconds
		}
	}
	if limit := k.bounds.Duration; limit > 0 && in.Media.DurationSeconds > limit {
		return tooLong(in.Text, in.Media.DurationSeconds, limit)
	}
	return nil
}

// document probes, or answers from the cache in the user's state folder, which
// is keyed by content, demuxer choice and toolchain.
func (k *call) document(ctx context.Context, in *tool.Input) (*ffmpeg.Document, error) {
	key := cutroom.DigestOf([]byte(string(in.Digest) + "\n" + strings.Join(in.Format.Demuxers, ",") + "\n" +
		string(k.e.Toolchain.Fingerprint("ffprobe")) + "\n" + string(k.e.Toolchain.Fingerprint("ffmpeg")) + "\n" + ffmpeg.ProbeRevision))
	path := filepath.Join(k.e.Facts, string(key[:2]), string(key))
	if raw, err := os.ReadFile(path); err == nil {
		var doc ffmpeg.Document
		if json.Unmarshal(raw, &doc) == nil && doc.FormatName != "" {
			return &doc, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		k.e.Log.Warn("probe cache", "cause", err)
	}
	shape := k.shape(in)
	if twin := k.alike[shape]; shape != "" && twin != nil {
		if doc := twin.Alike(in.Size); doc != nil {
			return doc, nil
		}
	}
	doc, err := k.look(ctx, in)
	if err != nil {
		return nil, err
	}
	if shape != "" {
		if k.alike == nil {
			k.alike = map[string]*ffmpeg.Document{}
		}
		k.alike[shape] = doc
	}
	// What holds a secret is looked at anew each time: a copy of it is kept nowhere.
	if raw, err := json.Marshal(doc); err == nil && bytes.Equal(raw, k.e.Redact.JSON(raw)) {
		if err := writeFile(path, raw); err != nil {
			k.e.Log.Warn("probe cache", "cause", err)
		}
	}
	return doc, nil
}

// shape is the shape of a still picture, "" of anything else: a thousand pictures of one
// are probed once.
func (k *call) shape(in *tool.Input) string {
	if len(in.Head) < ffmpeg.TailLen || k.files[in.Index] == nil {
		return ""
	}
	tail := make([]byte, ffmpeg.TailLen)
	if _, err := k.files[in.Index].ReadAt(tail, in.Size-ffmpeg.TailLen); err != nil {
		return ""
	}
	return ffmpeg.Shape(in.Format, in.Head, tail)
}

// look runs the probe's commands.
func (k *call) look(ctx context.Context, in *tool.Input) (*ffmpeg.Document, error) {
	dir := k.scratch
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "cutroom-probe-"); err != nil {
			return nil, err
		}
		k.scratch = dir
	}
	p := ffmpeg.NewProber(in.Index, in.Format, in.Size)
	for {
		cmd, ok := p.Next()
		if !ok {
			break
		}
		k.progress(cutroom.Progress{Stage: "probing"})
		res, err := k.start(ctx, cmd, dir)
		if err != nil {
			return nil, err
		}
		if err := p.Feed(res); err != nil {
			return nil, err
		}
	}
	return p.Document()
}

// writeFile replaces a cache file whole.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
