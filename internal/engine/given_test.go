package engine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/tool"
)

// TestGivenInputs: what a door hands over is read as a file of the workspace is, answers an
// equal call that hands the same over, and is nobody else's: neither the content nor what
// came of it.
func TestGivenInputs(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("sent"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := Uploads + "/a.txt"
	call := Call{
		Tool: "engine.engine_test", Input: []byte(`{"input":"` + name + `"}`), Principal: cutroom.Agent,
		Given: map[string]Opener{name: func() (*os.File, error) { return os.Open(path) }},
	}
	first, err := h.Invoke(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Invoke(t.Context(), call)
	if err != nil || !again.Reused || again.Run != first.Run || h.runner.runs != 1 {
		t.Fatal(again, err, h.runner.runs)
	}
	for _, who := range []cutroom.Principal{cutroom.Agent, cutroom.Operator} {
		other := call
		other.Principal, other.Given = who, nil
		if _, err := h.Invoke(t.Context(), other); cutroom.AsError(err).Code != cutroom.NotFound {
			t.Errorf("%s reads it: %v", who.Role, err)
		}
		if r, err := h.Recorded(t.Context(), who, string(first.Run)); err == nil {
			t.Errorf("%s reads the result: %s", who.Role, r.JSON)
		}
	}
	gone := errors.New("gone")
	call.Given = map[string]Opener{name: func() (*os.File, error) { return nil, gone }}
	if _, err := h.Invoke(t.Context(), call); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// TestNothingLiesBesideWhatWasGiven: a folder that somebody made where given inputs are
// named adds nothing to them, nor stands in for them.
func TestNothingLiesBesideWhatWasGiven(t *testing.T) {
	t.Parallel()
	var read []string
	h := build(t, func(s *tool.Spec[request, answer]) {
		s.Beside = func(_ request, names []string) []string { return names }
		s.Interpret = func(f tool.Facts, _ request, _ tool.Results) (answer, error) {
			for _, in := range f.Inputs {
				read = append(read, in.Text)
			}
			return answer{Text: "done"}, nil
		}
	})
	if err := os.MkdirAll(filepath.Join(h.dir, Uploads), 0o700); err != nil {
		t.Fatal(err)
	}
	name := Uploads + "/a.txt"
	h.write(name, "another")
	h.write(Uploads+"/a.srt", "put there")
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("sent"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := h.Invoke(t.Context(), Call{
		Tool: "engine.engine_test", Input: []byte(`{"input":"` + name + `"}`), Principal: cutroom.Agent,
		Given: map[string]Opener{name: func() (*os.File, error) { return os.Open(path) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Record.Provenance.SourceIdentity.SHA256; len(read) != 1 || got != cutroom.DigestOf([]byte("sent")) {
		t.Errorf("it read %q, source %s", read, got)
	}
}
