package conformance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What reads the verdicts must see a failure when there is one.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"server-ping-2026-11-30T05-55-54-855Z":                      `[{"id":"ping","status":"SUCCESS"},{"id":"n","status":"INFO"}]`,
		"server-server-stateless-2026-11-30T05-55-54-001Z":          `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"FAILURE","errorMessage":"why"}]`,
		"server-caching-2026-11-30T05-55-54-002Z":                   `[{"id":"a","status":"SUCCESS"},{"id":"w","status":"WARNING","errorMessage":"should"}]`,
		"server-server-sse-polling-2026-11-30T05-55-54-003Z":        `[{"id":"a","status":"INFO"}]`,
		"server-sep-2164-resource-not-found-2026-11-30T05-55-54-4Z": `[]`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "checks.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string][]string{}
	for name, checks := range scenariosOf(t, dir) {
		got[name] = faultsOf(checks)
	}
	const nothing = "nothing of it passed, or it did not run"
	want := map[string][]string{
		"ping":                        nil,
		"server-stateless":            {"FAILURE b: why "},
		"caching":                     {"WARNING w: should "},
		"server-sse-polling":          {nothing},
		"sep-2164-resource-not-found": {nothing},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{nothing}, faultsOf(nil)); d != "" {
		t.Errorf("a scenario that did not run: %s", d)
	}
	list := serverList("# server:\nclient:\n  - no\nserver:\n  - one\n\n  # why\n  - two\nnot_scored:\n  - scenario: three\n")
	if d := cmp.Diff([]string{"one", "two"}, list); d != "" {
		t.Error(d)
	}
}
