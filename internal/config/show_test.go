package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"cutroom"
)

// TestShow: every value with the file and the line that it comes from.
func TestShow(t *testing.T) {
	t.Parallel()
	user := File{Path: "user", Text: []byte("lens:\n  allow_upload: true\n  budget: {bytes_per_day: 100, cost_per_day: 1}\n  providers: {openai: {baseUrl: https://x/v1, apiKey: env:A, model: m}}\nlimits: {max_frames: 9}\nmodels:\n  - {id: a, provider: openai,\n     price: {input: 0.5}}\nagent: {kinds: [read]}\n")}
	space := File{Path: "workspace", Text: []byte("lens:\n  allow_upload: false\n  budget: {bytes_per_day: 10, cost_per_day: 2}\nlimits: {max_frames: 5}\nagent:\n  tools: [video.*]\n")}
	list, err := Show(user, space)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range list {
		if _, twice := got[v.Key]; twice && v.Key != "agent.tools" {
			t.Errorf("%s is there twice", v.Key)
		}
		got[v.Key] = fmt.Sprintf("%s %s %d", v.Value, v.From, v.Line)
	}
	for key, want := range map[string]string{
		"lens.allow_upload":            "false workspace 2",
		"lens.strictLocalOnly":         "false default 0",
		"lens.cooldownMs":              "600000 default 0",
		"lens.models.image":            `"auto" default 0`,
		"lens.budget.bytes_per_day":    "10 workspace 3",
		"lens.budget.cost_per_day":     "1 user 3",
		"lens.budget.bytes_per_call":   "268435456 default 0",
		"lens.budget.cost_per_call":    "null default 0",
		"lens.providers.openai.apiKey": `"env:A" user 4`,
		"limits.max_frames":            "5 workspace 4",
		"mcp.patience_seconds":         "45 default 0",
		"speech.model":                 `"base" default 0`,
		"models[0].id":                 `"a" user 7`,
		"models[0].base_url":           `"https://api.openai.com/v1" user 7`,
		"models[0].price.input":        "0.5 user 8",
		"agent.kinds":                  `["read"] user 9`,
		"agent.tools":                  `["video.*"] workspace 6`,
		"database":                     "null default 0",
	} {
		if got[key] != want {
			t.Errorf("%s: %s, want %s", key, got[key], want)
		}
	}
	// Nothing of the reference is left out.
	for _, k := range Keys() {
		if _, ok := got[k]; !ok && !strings.Contains(k, "[]") && k != "models" {
			t.Errorf("%s is not shown", k)
		}
	}
	if _, err := Show(File{Path: "u", Text: []byte("a: 1")}, space); err == nil {
		t.Error("a wrong file is shown")
	}
}

// TestSchema: what Check takes the schema takes, and of what Check refuses for its form
// alone, the schema refuses the same.
func TestSchema(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	for _, text := range []string{wholeLens, wholeRule, commented, "{}", "lens: {budget: {cost_per_day: 0.5}}", "database: postgres://me@db/a\ndatabase_password: keyring:mine", "limits: {max_frames: 3}"} {
		text = strings.ReplaceAll(text, "    refine:\n\n", "\n") // a key without a value is null to the schema
		if _, faults := Check([]byte(text)); len(faults) > 0 {
			t.Errorf("%s: %+v", text, faults)
		}
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"lens: {allowUpload: true}", "lens: {allow_upload: 1}", "lens: {cooldownMs: soon}", "lens: {cooldownMs: 1.5}", "models: {id: a}", "models: [{id: a, provider: openai, wire: grpc}]",
		"models: [{id: a, provider: openai, modalities: [smell]}]", "models: [{id: a, provider: openai, key: sk-plain}]", "lens: {providers: {openai: {apiKey: 'env:A,plain'}}}",
		"lens: {budget: {bytes_per_call: ten}}", "lens: {asr: {endpoints: [7]}}", "policy: {rules: [{effect: perhaps}]}", "speech: {model: huge}", "sandbox: {require: none}", "agent: {kinds: [all]}", "lens: []",
	} {
		if _, faults := Check([]byte(text)); len(faults) == 0 {
			t.Errorf("%s: Check takes it", text)
		}
		if err := validate(text); err == nil {
			t.Errorf("%s: the schema takes it", text)
		}
	}
}

// TestReferring lists every key that the schema calls a secret.
func TestReferring(t *testing.T) {
	t.Parallel()
	text := "database: postgres://me@db/a\ndatabase_password: env:A\nspeech: {endpoint: {url: http://127.0.0.1/x, key: env:B}}\nlens:\n  providers: {openai: {baseUrl: https://x, model: m, apiKey: 'env:C,env:D'}}\n  asr: {endpoints: [{url: https://x, key: env:E}]}\nmodels: [{id: a, provider: openai, key: env:F}]\n"
	if _, faults := Check([]byte(text)); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := Referring([]byte(text))
	if n := strings.Count(string(Schema()), `keyring:[^,]+)(`); len(got) != n || n != 5 {
		t.Errorf("%d keys refer to secrets, and %d are known: %+v", n, len(got), got)
	}
	for i, want := range []Refers{{"database_password", "env:A", 2}, {"speech.endpoint.key", "env:B", 3}, {"lens.providers.openai.apiKey", "env:C,env:D", 5}, {"lens.asr.endpoints[0].key", "env:E", 6}, {"models[0].key", "env:F", 7}} {
		if got[i] != want {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
}

func TestRemarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"lens: {inject: {enabled: true}}":                                                "line 1: lens.inject.enabled",
		"lens: {refine: {enabled: true, model: auto}}":                                   "no model is named",
		"lens: {refine: {enabled: true, model: m}}":                                      "has no address or no key",
		"lens:\n  strictLocalOnly: true\n  allow_upload: true":                           "line 3: lens.allow_upload",
		"models: [{id: a, provider: x, base_url: 'http://10.0.0.1/v1', key: env:A}]":     "plain text",
		"lens: {providers: {openai: {baseUrl: 'http://h/v1', model: a, apiKey: env:A}}}": "plain text",
		"models: [{id: a, provider: x, base_url: 'http://127.0.0.1/v1', key: env:A}]":    "",
		"models: [{id: a, provider: x, base_url: 'http://[::1]:9/v1', key: env:A}]":      "",
		"lens: {inject: {enabled: true, families: [\"\"]}}":                              "",
		"lens: {allow_upload: nonsense}":                                                 "",
	} {
		got := ""
		for _, r := range Remarks([]byte(text)) {
			got += r.text()
			if r.Hint == "" {
				t.Errorf("%s: no hint", text)
			}
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestLinesOfAllFaults: more than one thing that is wrong is said at once, each with its
// line.
func TestLinesOfAllFaults(t *testing.T) {
	t.Parallel()
	_, faults := Check([]byte("sandbox: {require: none}\nmcp:\n  patience_seconds: -1\nroots: [relative]\nlimits:\n  max_frames: -2\nlens: {cooldownMs: -1}\n"))
	var lines []int
	for _, f := range faults {
		lines = append(lines, f.Line)
	}
	if fmt.Sprint(lines) != "[1 3 4 6 7]" {
		t.Errorf("%v: %+v", lines, faults)
	}
	_, faults = Check([]byte("limit: {}\nlens:\n  cooldownMs: soon\n  allowUpload: true\n"))
	if len(faults) != 3 || faults[0].Line != 1 || faults[1].Line != 3 || faults[2].Line != 4 {
		t.Errorf("%+v", faults)
	}
	if e := cutroom.AsError(asError(faults)); !strings.Contains(e.Msg, "line 4") {
		t.Error(e)
	}
}
