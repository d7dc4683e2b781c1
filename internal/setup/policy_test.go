package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/policy"
)

// settled is the policy over two config files, of the user and of the workspace.
func settled(t *testing.T, user, workspace string) (policy.Policy, string) {
	t.Helper()
	c, w, err := config.Load(config.File{Path: "user", Text: []byte(user)}, config.File{Path: "workspace", Text: []byte(workspace)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return settings{config: c, narrower: w, workspace: dir}.policy(), dir
}

// An allow rule speaks neither of the network nor of replacing files unless it says so;
// a deny rule speaks of all.
func TestAllowRulesAreQuiet(t *testing.T) {
	t.Parallel()
	p, _ := settled(t, "policy: {rules: [{effect: allow, tools: [video.*, edit.*]}]}", "")
	q := policy.Request{Principal: cutroom.Agent, Tool: "video.download", Kind: cutroom.Execute, Network: true}
	if d := p.Decide(q); d.Effect != policy.Ask {
		t.Errorf("the network is reached by a rule that does not speak of it: %+v", d)
	}
	q = policy.Request{Principal: cutroom.Agent, Tool: "edit.cut", Kind: cutroom.Execute, Writes: true, Overwrite: true}
	if d := p.Decide(q); d.Effect != policy.Ask {
		t.Errorf("a file is replaced by a rule that does not speak of it: %+v", d)
	}
	p, _ = settled(t, "policy: {rules: [{effect: allow, tools: [video.*, edit.*], network: any, overwrite: any}]}", "")
	if d := p.Decide(q); d.Effect != policy.Allow || d.Rule != "rule 1" {
		t.Errorf("a rule that allows replacing: %+v", d)
	}
	p, _ = settled(t, "policy: {rules: [{effect: deny, tools: [video.*, edit.*]}]}", "")
	if d := p.Decide(q); d.Effect != policy.Deny {
		t.Errorf("a deny rule that says nothing of replacing: %+v", d)
	}
}

func TestWorkspaceFileNarrows(t *testing.T) {
	t.Parallel()
	p, _ := settled(t, "policy: {rules: [{effect: allow, tools: [inventory.scan]}]}", "policy: {rules: [{effect: ask, tools: [edit.*]}, {effect: deny, tools: [review.*]}]}")
	for tool, want := range map[string]policy.Effect{"edit.cut": policy.Ask, "review.check": policy.Deny, "measure.probe": policy.Allow, "inventory.scan": policy.Allow, "catalog.tag": policy.Ask} {
		if d := p.Decide(policy.Request{Principal: cutroom.Agent, Tool: tool, Kind: cutroom.Execute}); d.Effect != want {
			t.Errorf("%s: %+v, want %s", tool, d, want)
		}
	}
}

// A folder is the same folder by every name that leads there.
func TestFoldersAreComparedWhereTheyLead(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, d := range []string{"real/ws/out", "real/media"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"ws": "real/ws", "media": "real/media"} {
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	denies := func(folder, path string) bool {
		c, _, err := config.Load(config.File{Text: []byte("policy: {rules: [{effect: deny, inputs: [" + strings.ReplaceAll(folder, "BASE", base) + "]}]}")}, config.File{})
		if err != nil {
			t.Fatal(err)
		}
		p := settings{config: c, workspace: filepath.Join(base, "ws")}.policy()
		return p.Decide(policy.Request{Principal: cutroom.Operator, Tool: "video.probe", Kind: cutroom.Read, Inputs: []string{filepath.Join(base, path)}}).Effect == policy.Deny
	}
	for _, r := range []struct {
		folder, path string
		want         bool
	}{
		{"out", "ws/out/a.mp4", true},
		{"BASE/ws/out", "ws/out/a.mp4", true},
		{"BASE/real/ws/out", "ws/out/a.mp4", true},
		{"BASE/media", "real/media/a.mp4", true},
		{"BASE/real/media", "real/media/a.mp4", true},
		{"out", "ws/outer/a.mp4", false},
		{"BASE/media", "ws/media/a.mp4", false},
	} {
		if got := denies(r.folder, r.path); got != r.want {
			t.Errorf("%s and %s: %v", r.folder, r.path, got)
		}
	}
}
