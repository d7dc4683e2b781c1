package config

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"cutroom"
)

const commented = `# my settings
roots: [/media]   # the archive

lens: # eyes
    # consent
    allow_upload: false   # not yet
    models: {image: auto, audio: ""}

    inject:
        families:
            - deepseek  # text
            - glm
    refine:

# models of ours
models:
  - id: gpt # small
    provider: openai
    modalities: [text, image]
  - {id: b, provider: here, base_url: "http://127.0.0.1:1/v1"}
limits: {}
# the end
`

// TestSet: exactly one thing of the file changes.
func TestSet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ key, value, old, new string }{
		{"lens.allow_upload", "true", "allow_upload: false   # not yet", "allow_upload: true   # not yet"},
		{"lens.models.image", "", "{image: auto, audio", "{image: \"\", audio"},
		{"lens.models.audio", "openai/gpt", `audio: ""}`, `audio: openai/gpt}`},
		{"lens.models.video", "here/a: b", `audio: ""}`, `audio: "", video: 'here/a: b'}`},
		{"lens.inject.families[0]", "qwen", "- deepseek  # text", "- qwen  # text"},
		{"lens.inject.families[2]", "qwen", "            - glm\n", "            - glm\n            - qwen\n"},
		{"lens.inject.families", "a,b", "            - deepseek  # text\n            - glm\n", ""},
		{"lens.inject.enabled", "true", "            - glm\n", "            - glm\n        enabled: true\n"},
		{"lens.refine.enabled", "true", "    refine:\n", "    refine:\n      enabled: true\n"},
		{"lens.refine", "{enabled: true, model: m}", "    refine:\n", "    refine: {enabled: true, model: m}\n"},
		{"lens.cooldownMs", "1", "    refine:\n", "    refine:\n    cooldownMs: 1\n"},
		{"lens.budget.cost_per_day", "0.50", "    refine:\n", "    refine:\n    budget:\n      cost_per_day: 0.50\n"},
		{"models[0].id", "gpt-4.1", "id: gpt # small", "id: gpt-4.1 # small"},
		{"models[0].price.input", "0.4", "    modalities: [text, image]\n", "    modalities: [text, image]\n    price:\n      input: 0.4\n"},
		{"models[0].modalities", `["text"]`, "[text, image]", "[text]"},
		{"models[1].key", "env:B", `/v1"}`, `/v1", key: 'env:B'}`},
		{"models[1]", "{id: c, provider: openai}", `{id: b, provider: here, base_url: "http://127.0.0.1:1/v1"}`, "{id: c, provider: openai}"},
		{"models[2]", `{"id": "c", "provider": "openai"}`, `/v1"}` + "\n", `/v1"}` + "\n  - id: c\n    provider: openai\n"},
		{"limits.max_frames", "9", "limits: {}", "limits: {max_frames: 9}"},
		{"stage.root", "out", "limits: {}\n", "limits: {}\nstage:\n  root: out\n"},
		{"roots", "[]", "[/media]", "[]"},
		{"lens.models.image", `""`, "{image: auto, audio", "{image: \"\", audio"},
		{"lens.inject.families[0]", `'qwen'`, "- deepseek  # text", "- qwen  # text"},
		{"lens.inject.specialists", `"", '*vl', !a"`, "            - glm\n", "            - glm\n        specialists: [\"\", '*vl', '!a\"']\n"},
		{"roots[1]", "/b, c", "[/media]", `[/media, '/b, c']`},
	} {
		got, err := Set([]byte(commented), row.key, row.value)
		if err != nil {
			t.Errorf("%s: %v (%s)", row.key, err, cutroom.AsError(err).Hint)
			continue
		}
		want := strings.Replace(commented, row.old, row.new, 1)
		if row.key == "lens.inject.families" {
			want = strings.Replace(commented, "families:\n"+row.old, "families: [a, b]\n", 1)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", row.key, diff)
		}
		if row.key != "models[0].modalities" {
			continue
		}
		if again, err := Set(got, row.key, row.value); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: a second time: %s%v", row.key, again, err)
		}
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	for key, old := range map[string]string{
		"lens.allow_upload":       "    allow_upload: false   # not yet\n",
		"lens.inject":             "    inject:\n        families:\n            - deepseek  # text\n            - glm\n",
		"lens.inject.families[1]": "            - glm\n",
		"models[0].modalities":    "    modalities: [text, image]\n",
		"models[1]":               `  - {id: b, provider: here, base_url: "http://127.0.0.1:1/v1"}` + "\n",
		"limits":                  "limits: {}\n",
		"lens.cooldownMs":         "",
		"models[7].id":            "",
		"stage":                   "",
	} {
		got, err := Unset([]byte(commented), key)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if diff := cmp.Diff(strings.Replace(commented, old, "", 1), string(got)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	// In brackets the file is written anew; nothing but the key goes.
	got, err := Unset([]byte(commented), "lens.models.image")
	if err != nil || strings.Contains(string(got), "image: auto") || strings.Count(string(got), "#") != strings.Count(commented, "#") {
		t.Errorf("%s%v", got, err)
	}
}

// TestSetInFilesOfAllForms: an empty file, none, comments alone, other line ends.
func TestSetInFilesOfAllForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "lens:\n  allow_upload: true\n",
		"# mine":                              "# mine\nlens:\n  allow_upload: true\n",
		"---\n":                               "---\nlens:\n  allow_upload: true\n",
		"lens:":                               "lens:\n  allow_upload: true\n",
		"lens: # x":                           "lens: # x\n  allow_upload: true\n",
		"lens: {}":                            "lens: {allow_upload: true}",
		"{}":                                  "{lens: {allow_upload: true}}\n",
		"roots: []\r\nlens:\r\n  refine:\r\n": "roots: []\r\nlens:\r\n  refine:\r\n  allow_upload: true\r\n",
		"lens: {cooldownMs: 1,\n}":            "lens: {cooldownMs: 1,\nallow_upload: true}",
		"lens: {cooldownMs: 1 # a }\n}":       "lens: {cooldownMs: 1 # a }\n, allow_upload: true}",
		"\"lens\": {'cooldownMs': 1}\n":       "\"lens\": {'cooldownMs': 1, allow_upload: true}\n",
		"stage: {root: \"a # {b\"}\nlens: {allow_upload: false}":   "stage: {root: \"a # {b\"}\nlens: {allow_upload: true}",
		"stage:\n  root: |\n    a\nlens:\n  allow_upload: false\n": "stage:\n  root: |\n    a\nlens:\n  allow_upload: true\n",
	} {
		got, err := Set([]byte(text), "lens.allow_upload", "true")
		if err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v", text, got, err)
		}
	}
	for key, value := range map[string]string{
		"lens.allow_uplod": "true", "lens": "", "lens.allow_upload.x": "1", "lens.allow_upload": "perhaps", "lens.cooldownMs": "soon", "lens.cooldownMs ": "1",
		"models[x].id": "a", "models[0": "a", "models[-1].id": "a", "models[5].id": "a", "lens[0]": "a", "models": "{id: a}", "models[0]": "{id: a, provder: b}",
		"lens.inject.families": "[a", "": "x", "lens.budget.bytes_per_call": "[1]", "policy": "&a [*a]",
	} {
		got, err := Set([]byte("roots: []"), key, value)
		if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Invalid || e.Hint == "" {
			t.Errorf("%s=%s: %q, %v", key, value, got, err)
		}
	}
	for key, hint := range map[string]string{
		"models.0.id": "written models[0]", "models.id": "name its element, as in models[0].id", "models": "in brackets", "lens.providers.openai.url": "did you mean lens.providers.openai.baseUrl?",
	} {
		if _, err := Set(nil, key, "{id: a}"); err == nil || !strings.Contains(cutroom.AsError(err).Hint, hint) {
			t.Errorf("%s: %v (%s)", key, err, cutroom.AsError(err).Hint)
		}
	}
	for _, text := range []string{"a: [", "- a", "a: &x 1", "a: 1\n---\nb: 2", "lens"} {
		if got, err := Set([]byte(text), "lens.allow_upload", "true"); err == nil {
			t.Errorf("%q is edited: %s", text, got)
		}
	}
}

// drawn draws a config in one of many ways of writing it, with a comment on every line
// that can have one.
func drawn(t *rapid.T) string {
	n := 0
	remark := func() string {
		n++
		switch rapid.IntRange(0, 3).Draw(t, "remark") {
		case 0:
			return fmt.Sprintf(" # remark %d", n)
		case 1:
			return fmt.Sprintf("\n\n# remark %d", n)
		}
		return ""
	}
	indent := strings.Repeat(" ", rapid.IntRange(1, 4).Draw(t, "indent"))
	text := rapid.SampledFrom([]string{"plain", `"double \" , # ] "`, "'single '' : {'", `""`, "two words", "a#b", "env:A"})
	list := func() string {
		if rapid.Bool().Draw(t, "block") {
			return remark() + "\n" + indent + indent + "- " + text.Draw(t, "a") + remark() + "\n" + indent + indent + "- " + text.Draw(t, "b")
		}
		return " [" + text.Draw(t, "a") + ", " + text.Draw(t, "b") + "]"
	}
	var b strings.Builder
	line := func(s string) { b.WriteString(s + remark() + "\n") }
	line("# top")
	if rapid.Bool().Draw(t, "roots") {
		line("roots: [" + text.Draw(t, "root") + "]")
	}
	line("lens:")
	if rapid.Bool().Draw(t, "models") {
		line(indent + "models: {image: " + text.Draw(t, "image") + "}")
	} else {
		line(indent + "models:")
		line(indent + indent + "image: " + text.Draw(t, "image"))
	}
	line(indent + "inject:")
	line(indent + indent + "omni:" + strings.ReplaceAll(list(), "\n"+indent, "\n"+indent+indent))
	line(indent + "allow_upload: false")
	line("models:")
	for range rapid.IntRange(1, 3).Draw(t, "count") {
		line("- id: " + text.Draw(t, "id"))
		line("  name: " + text.Draw(t, "name"))
		line("  price: {input: 1}")
	}
	return b.String()
}

// TestSetChangesOneThing: whatever the file, after a change it means what it meant but
// for the one key, every remark is there, and no line but those of the key has changed.
func TestSetChangesOneThing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t)
		key := rapid.SampledFrom([]string{
			"lens.allow_upload", "lens.models.image", "lens.models.video", "lens.inject.omni[1]", "lens.inject.enabled", "lens.cooldownMs", "lens.refine.model",
			"models[0].id", "models[0].key", "models[0].price.output", "models[0].limits.images", "stage.root", "speech.engine.args", "lens.inject.families",
		}).Draw(t, "key")
		value := "true"
		switch {
		case strings.HasSuffix(key, "cooldownMs"), strings.HasSuffix(key, "images"), strings.HasSuffix(key, "output"):
			value = "7"
		case !strings.HasSuffix(key, "allow_upload") && !strings.HasSuffix(key, "enabled"):
			value = rapid.SampledFrom([]string{"x", "true", "a: b", "#", "'", `"`, "[", "- a", "é ü", " ", "", "null", "1", "a\tb", "{", "!x", "&a", "*a", "%", "@"}).Draw(t, "value")
		}
		if strings.HasPrefix(value, "[") && strings.HasSuffix(key, "s") {
			value = "[a]"
		}
		got, err := Set([]byte(text), key, value)
		if err != nil {
			t.Fatalf("%s=%q in\n%s%v", key, value, text, err)
		}
		for i := 1; ; i++ {
			remark := fmt.Sprintf("# remark %d", i)
			if !strings.Contains(text, remark) && i > 60 {
				break
			}
			if strings.Contains(text, remark) && !strings.Contains(string(got), remark) && !strings.HasSuffix(key, "omni") {
				t.Fatalf("%s=%q loses %q of\n%s, leaving\n%s", key, value, remark, text, got)
			}
		}
		kept := 0
		for line := range strings.Lines(text) {
			if strings.Contains(string(got), line) {
				kept++
			}
		}
		if all := strings.Count(text, "\n"); kept < all-1 {
			t.Fatalf("%s=%q changes %d of %d lines of\n%s, leaving\n%s", key, value, all-kept, all, text, got)
		}
		back, err := Unset(got, key)
		if err != nil {
			t.Fatal(err)
		}
		var a any
		if err := yaml.Unmarshal(back, &a); err != nil {
			t.Fatalf("after taking %s out again: %v\n%s", key, err, back)
		}
	})
}

// FuzzSet: no file and no value makes the edit panic, and what comes out reads.
func FuzzSet(f *testing.F) {
	f.Add([]byte(commented), "lens.allow_upload", "true")
	f.Add([]byte("lens: {models: {image: 'a'}}"), "lens.models.image", "\x00")
	f.Add([]byte("\ufefflens:\n\tx"), "models[0].id", "a")
	f.Add([]byte("a: |\n  x\n"), "lens.inject.omni", "[a, 'b']")
	f.Fuzz(func(t *testing.T, text []byte, key, value string) {
		if got, err := Set(text, key, value); err == nil {
			if _, faults := treeOf(got); len(faults) > 0 {
				t.Fatalf("%q: %+v", got, faults)
			}
		}
		if got, err := Unset(text, key); err == nil {
			if _, faults := treeOf(got); len(faults) > 0 {
				t.Fatalf("%q: %+v", got, faults)
			}
		}
	})
}
