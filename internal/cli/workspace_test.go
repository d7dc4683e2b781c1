package cli

import (
	"os"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/setup"
)

// TestAgentsStayInTheirWorkspace: an agent's --root names no other workspace than the
// one where it is, unless the operator's file lists it; the operator's may be anywhere.
func TestAgentsStayInTheirWorkspace(t *testing.T) {
	t.Parallel()
	ws, listed, other := t.TempDir(), t.TempDir(), t.TempDir()
	for _, d := range []string{filepath.Join(ws, ".cutroom"), filepath.Join(ws, "sub")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for root, allowed := range map[string]bool{"": true, ws: true, filepath.Join(ws, "sub"): true, listed: true, "/": false, other: false, filepath.Dir(ws): false} {
		a := &App{Dir: filepath.Join(ws, "sub")}
		a.flags.root = root
		err := a.ownWorkspace(&setup.Installation{Workspace: root, Config: config.Config{Roots: []string{listed}}})
		if (err == nil) != allowed || err != nil && cutroom.AsError(err).Code != cutroom.Denied {
			t.Errorf("--root %q: %v", root, err)
		}
	}
	p := paths{dir: ws, root: ws, agent: true, roots: []string{listed}}
	file := filepath.Join(listed, "r.mp4")
	if got, err := p.convert(file); err != nil || got != file {
		t.Errorf("a listed folder: %q, %v", got, err)
	}
	if got, err := p.convert(filepath.Join(other, "r.mp4")); err == nil {
		t.Errorf("a folder that is not listed: %q", got)
	}
}
