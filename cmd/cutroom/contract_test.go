package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/video"
)

// TestOldRequestsGetOldAnswers: what a request of 1.2.0 is answered fits the output
// schema of 1.2.0, which allows no other member.
func TestOldRequestsGetOldAnswers(t *testing.T) {
	t.Parallel()
	old := oldOutputs(t)
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	const talk = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello &amp; welcome"
	if err := os.WriteFile(filepath.Join(w.dir, "talk.vtt"), []byte(talk), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(id, request string) json.RawMessage {
		t.Helper()
		r, err := w.call(id, json.RawMessage(request))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		var instance any
		if err := json.Unmarshal(r.JSON, &instance); err != nil {
			t.Fatal(err)
		}
		if err := old[id].Validate(instance); err != nil {
			t.Errorf("%s: %v\n%s", id, err, r.JSON)
		}
		return r.JSON
	}
	const source = `{"source":{"kind":"local_file","value":"clip.mp4"}}`
	ask("video.probe", source)
	ask("video.extract_audio", source)
	ask("video.transcript", source)
	ask("video.transcript", `{"source":{"kind":"local_file","value":"talk.vtt"}}`)
	var frames struct{ Frames json.RawMessage }
	decode(t, ask("video.extract_frames", `{"source":{"kind":"local_file","value":"clip.mp4"},"timestamps_seconds":[0,"1.5"]}`), &frames)
	var read struct{ Items json.RawMessage }
	decode(t, ask("video.ocr_frames", `{"frames":`+string(frames.Frames)+`}`), &read)
	var seen struct {
		Evidence   json.RawMessage
		Provenance cutroom.Provenance
	}
	decode(t, ask("video.inspect_frames", `{"frames":`+string(frames.Frames)+`,"ocr_items":`+string(read.Items)+`}`), &seen)
	ask("video.summarize_timeline", `{"source_identity_sha256":"`+string(seen.Provenance.SourceIdentity.SHA256)+`","frame_evidence":`+string(seen.Evidence)+
		`,"transcript_segments":[{"start_seconds":1,"end_seconds":2,"text":"hello"}]}`)
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// oldOutputs reads the output schemas of 1.2.0. Their patterns of decimal strings use
// a form that Go does not read, and we answer numbers: those patterns are left out.
func oldOutputs(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testenv.Root(t), "testdata", "schema", "video-1.2.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tools []struct {
			ToolID string         `json:"tool_id"`
			Output map[string]any `json:"output_schema"`
		} `json:"tools"`
	}
	decode(t, raw, &doc)
	all := map[string]*jsonschema.Resolved{}
	for _, old := range doc.Tools {
		plain, err := json.Marshal(withoutLookahead(old.Output))
		if err != nil {
			t.Fatal(err)
		}
		s := &jsonschema.Schema{}
		decode(t, plain, s)
		if all[old.ToolID], err = s.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", old.ToolID, err)
		}
	}
	if len(all) != len(video.Family.Tools()) {
		t.Fatalf("%d old contracts", len(all))
	}
	return all
}

func withoutLookahead(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, m := range v {
			if p, ok := m.(string); k == "pattern" && ok && strings.Contains(p, "(?!") {
				continue
			}
			out[k] = withoutLookahead(m)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutLookahead(v[i])
		}
		return out
	}
	return v
}
