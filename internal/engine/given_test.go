package engine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cutroom"
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
