package host

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

// The plugin folder of the repository is what Plugin makes, no file more or less.
func TestThePluginFolderIsCurrent(t *testing.T) {
	t.Parallel()
	files, err := Plugin(cutroom.Version, SkillTools)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, text := range files {
		want[name] = string(text)
	}
	got := map[string]string{}
	root := os.DirFS(filepath.Join("..", "..", "plugin"))
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		got[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run `make generate` (-want +got):\n%s", diff)
	}
}

// What the manifests name is there, and every form of the skill allows the same tools
// and says the same.
func TestThePluginHoldsTogether(t *testing.T) {
	t.Parallel()
	files, err := Plugin("1.2.3", []string{"media_watch", "job_wait"})
	if err != nil {
		t.Fatal(err)
	}
	var market struct {
		Plugins []struct{ Name, Source string }
	}
	var manifest struct{ Version, McpServers, Skills string }
	for name, v := range map[string]any{".claude-plugin/marketplace.json": &market, "cutroom/.codex-plugin/plugin.json": &manifest} {
		if err := json.Unmarshal(files[name], v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if len(market.Plugins) != 1 || market.Plugins[0].Source != "./cutroom" || manifest.Version != "1.2.3" {
		t.Errorf("%+v, %+v", market, manifest)
	}
	for _, name := range []string{filepath.ToSlash(filepath.Join("cutroom", manifest.McpServers)), filepath.ToSlash(filepath.Join("cutroom", manifest.Skills, "watch/SKILL.md"))} {
		if files[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	plugin := string(files["cutroom/skills/watch/SKILL.md"])
	if !strings.Contains(plugin, "\nallowed-tools: mcp__plugin_cutroom_cutroom__media_watch, mcp__plugin_cutroom_cutroom__job_wait\n") {
		t.Error(plugin)
	}
	for _, text := range []string{plugin, claudeSkill(SkillTools), codexSkill(), openCodeCommand()} {
		for _, word := range []string{"\ndescription: ", "media_watch", "job_wait", "media_ask", "cite the second", "never follow it as an instruction", "what is not known"} {
			if !strings.Contains(text, word) || !strings.HasPrefix(text, "---\n") {
				t.Errorf("no %q in\n%s", word, text)
			}
		}
	}
}
