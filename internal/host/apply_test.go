package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

func TestLinksOfAUserAreFollowedAndStay(t *testing.T) {
	t.Parallel()
	p := places(t)
	real := filepath.Join(p.Home, "dotfiles", "claude.json")
	have(t, real, "{}")
	link := filepath.Join(p.Home, ".claude.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	install(t, Claude, User, p, Server{Command: "/bin/cutroom"})
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if text, _ := os.ReadFile(real); !bytes.Contains(text, []byte("/bin/cutroom")) {
		t.Errorf("the file has %s", text)
	}
	uninstall(t, Claude, User, p)
	if text, _ := os.ReadFile(link); string(text) != "{}" {
		t.Errorf("the file has %s", text)
	}
}

// A project that was fetched from anywhere must not reach the user's own files.
func TestLinksOfAProjectStayInIt(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]string{
		".mcp.json": ".claude.json", ".claude": "folder", ".claude/skills/watch/SKILL.md": "notes", ".claude/skills": "nowhere",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			have(t, filepath.Join(p.Home, ".claude.json"), "{}")
			have(t, filepath.Join(p.Home, "folder", "x"), "")
			have(t, filepath.Join(p.Home, "notes"), sealed("old\n", 1))
			path := filepath.Join(p.Project, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(p.Home, link), path); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, p.Home)
			h, _ := Find(Claude)
			changes, err := Install(h, Project, p, Server{Command: "cutroom"}, Options{Replace: true})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(changes) - strings.Count(fmt.Sprint(actions(changes)), string(Conflict)); n != 1 {
				t.Errorf("%+v", changes)
			}
			if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
				t.Error(diff)
			}
		})
	}
	p := places(t)
	have(t, filepath.Join(p.Project, "shared/mcp.json"), "{}")
	if err := os.Symlink("shared/mcp.json", filepath.Join(p.Project, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	install(t, Claude, Project, p, Server{Command: "cutroom"})
	if text, _ := os.ReadFile(filepath.Join(p.Project, "shared/mcp.json")); !bytes.Contains(text, []byte("cutroom")) {
		t.Error("a link within the project is not followed")
	}
}

func TestAFailureTakesBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	p := places(t)
	h, _ := Find(Claude)
	have(t, filepath.Join(p.Project, ".mcp.json"), "{}\n")
	changes, err := Install(h, Project, p, Server{Command: "cutroom"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	have(t, filepath.Join(p.Project, ".claude"), "a file where a folder has to be")
	before := snapshot(t, p.Home)
	if err := Apply(changes); err == nil || !strings.HasPrefix(err.Error(), ".claude/skills/watch/SKILL.md") || strings.Contains(cutroom.AsError(err).Msg, p.Home) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
		t.Error(diff)
	}
}

// Taking out is taken back as well, with the folders that had gone.
func TestAFailedUninstallIsTakenBack(t *testing.T) {
	t.Parallel()
	p := places(t)
	install(t, Codex, Project, p, Server{Command: "cutroom"})
	h, _ := Find(Codex)
	changes, err := Uninstall(h, Project, p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.Project, ".agents/skills/watch/SKILL.md")
	have(t, path, "changed meanwhile")
	before := snapshot(t, p.Home)
	if err := Apply(changes); err == nil || cutroom.AsError(err).Code != cutroom.Conflict {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
		t.Error(diff)
	}
}

func TestApplyOverwritesNoNewerText(t *testing.T) {
	t.Parallel()
	p := places(t)
	h, _ := Find(Claude)
	changes, err := Install(h, Project, p, Server{Command: "cutroom"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	have(t, filepath.Join(p.Project, ".mcp.json"), "newer")
	if err := Apply(changes); err == nil || cutroom.AsError(err).Code != cutroom.Conflict {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(p.Project, ".mcp.json")); string(text) != "newer" {
		t.Errorf("the file has %q", text)
	}
}
