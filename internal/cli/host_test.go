package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/host"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// The skill lets a host use tools unasked: those must be there, and only read.
func TestTheSkillAllowsToolsThatOnlyRead(t *testing.T) {
	t.Parallel()
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range host.SkillTools {
		i := slices.IndexFunc(registry.Tools(), func(d *tool.Tool) bool { return strings.ReplaceAll(d.Name, ".", "_") == name })
		if i < 0 {
			t.Errorf("the skill names %s, which is no tool", name)
			continue
		}
		if d := registry.Tools()[i]; d.Kind != cutroom.Read && name != "job_cancel" {
			t.Errorf("%s is of kind %s", name, d.Kind)
		}
	}
}

// run runs a command line as a person in a home of their own.
func (l hostLab) run(t *testing.T, env []string, args ...string) (code int, out hostReport, text string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	as := cutroom.Operator
	a := App{
		Families: tools.Families(), Stdout: &stdout, Stderr: &stderr, Stdin: strings.NewReader(""),
		Environ: append([]string{"HOME=" + l.home, "PATH=" + l.home}, env...), Dir: l.project, Now: time.Now, As: &as,
	}
	code = a.Run(t.Context(), args)
	if slices.Contains(args, "--json") {
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			t.Fatalf("%v: %s", err, stdout.Bytes())
		}
	}
	return code, out, stdout.String() + stderr.String()
}

type hostLab struct{ home, project string }

func newHostLab(t *testing.T) hostLab {
	t.Helper()
	l := hostLab{home: t.TempDir()}
	l.project = filepath.Join(l.home, "film")
	if err := os.Mkdir(l.project, 0o755); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTheUsersOwnFoldersAreAsked(t *testing.T) {
	t.Parallel()
	l := newHostLab(t)
	elsewhere := t.TempDir()
	for _, row := range []struct{ host, env, file string }{
		{host.Claude, "CLAUDE_CONFIG_DIR", ".claude.json"},
		{host.Codex, "CODEX_HOME", "config.toml"},
		{host.OpenCode, "XDG_CONFIG_HOME", "opencode/opencode.json"},
	} {
		code, out, text := l.run(t, []string{row.env + "=" + elsewhere}, "install", row.host, "--scope", "user", "--json")
		if code != 0 || !out.Written || out.Files[0].File != "$"+row.env+"/"+row.file {
			t.Errorf("%d: %s", code, text)
		}
		if _, err := os.Stat(filepath.Join(elsewhere, row.file)); err != nil {
			t.Error(err)
		}
		// A relative path is no folder of anybody's.
		if _, out, text := l.run(t, []string{row.env + "=x"}, "install", row.host, "--scope", "user", "--json", "--dry-run"); !strings.HasPrefix(out.Files[0].File, "~/") {
			t.Error(text)
		}
	}
}

func TestAProjectsFilesNameNoFolderOfTheUser(t *testing.T) {
	t.Parallel()
	l := newHostLab(t)
	for _, h := range host.Hosts() {
		code, out, text := l.run(t, []string{"CUTROOM_HOME=" + l.home + "/c"}, "install", h.Name, "--json")
		if code != 0 || !out.Written {
			t.Fatalf("%d: %s", code, text)
		}
		if !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, "until it is on PATH") }) {
			t.Errorf("%s: no word about PATH: %q", h.Name, out.Notes)
		}
		for _, f := range out.Files {
			raw, err := os.ReadFile(filepath.Join(l.project, f.File))
			if err != nil || strings.Contains(string(raw)+f.Diff, l.home) {
				t.Errorf("%s, %v:\n%s", f.File, err, raw)
			}
		}
	}
}

func TestUninstallDoesWhatItCan(t *testing.T) {
	t.Parallel()
	l := newHostLab(t)
	if code, _, text := l.run(t, nil, "install", "claude"); code != 0 {
		t.Fatal(text)
	}
	skill := filepath.Join(l.project, ".claude/skills/watch/SKILL.md")
	if err := os.WriteFile(skill, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, text := l.run(t, nil, "uninstall", "claude", "--json")
	if code != cutroom.Conflict.Facts().Exit || !out.Written || out.Files[0].Action != host.Removed || out.Files[1].Action != host.Conflict || out.Files[1].Hint == "" {
		t.Errorf("%d: %s", code, text)
	}
	if _, err := os.Stat(skill); err != nil {
		t.Error(err)
	}
}

// What a file has in it cannot take hold of the terminal.
func TestADiffIsSafeToPrint(t *testing.T) {
	t.Parallel()
	l := newHostLab(t)
	if err := os.WriteFile(filepath.Join(l.project, ".mcp.json"), []byte("{\n  \"a\": \"\u009b31m\u202e\"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, text := l.run(t, nil, "install", "claude", "--dry-run"); strings.ContainsAny(text, "\x1b\u009b\u202e") || !strings.Contains(text, "cutroom") {
		t.Errorf("%q", text)
	}
}
