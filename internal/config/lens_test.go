package config

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

const wholeLens = `lens:
  strictLocalOnly: false
  cooldownMs: 0
  models: {image: openai/gpt-4.1-mini, audio: "", video: auto}
  providers:
    openai: {baseUrl: https://api.example.com/v1, apiKey: "env:ONE, keyring:two,file:/three", model: gpt-x, structuredOutput: true}
  asr:
    command: whisper-cli -m "base model.bin" --json {input}
    endpoints:
      - other '{input}'
      - http://127.0.0.1:8080/v1/audio/transcriptions
      - {url: https://api.example.com/v1/audio/transcriptions, model: whisper-1, key: env:ASR}
  refine: {enabled: true, model: openai/gpt-x}
  inject: {enabled: true, families: [deepseek, glm], omni: []}
  allow_upload: true
  budget: {bytes_per_call: 1000, cost_per_day: 2.5}
  limits: {video: {full_bytes: 5}}
models:
  - {id: gpt-4.1-mini, provider: openai, key: env:ONE, modalities: [text, image], price: {input: 0.4, output: 1.6}}
  - id: local/vl
    provider: here
    base_url: http://127.0.0.1:9000/v1
    limits: {images: 4}
`

// TestLens: a whole file, value for value, and what is left out is the default.
func TestLens(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(wholeLens))
	if err != nil {
		t.Fatal(err)
	}
	want := Default().Lens
	want.CooldownMs = 0
	want.Models = Readers{Image: "openai/gpt-4.1-mini", Audio: Off, Video: Auto}
	want.Providers.OpenAI = OpenAI{BaseURL: "https://api.example.com/v1", APIKey: "env:ONE, keyring:two,file:/three", Model: "gpt-x", StructuredOutput: true}
	want.ASR = ASR{`whisper-cli -m "base model.bin" --json {input}`, []ASREndpoint{
		{Command: "other '{input}'"},
		{URL: "http://127.0.0.1:8080/v1/audio/transcriptions"},
		{URL: "https://api.example.com/v1/audio/transcriptions", Model: "whisper-1", Key: "env:ASR"},
	}}
	want.Refine = Refine{true, "openai/gpt-x"}
	want.Inject.Enabled, want.Inject.Families, want.Inject.Omni = true, []string{"deepseek", "glm"}, []string{}
	want.AllowUpload = true
	want.Budget.BytesPerCall, want.Budget.CostPerDay = "1000", "2.5"
	want.Limits.Video.FullBytes = 5
	if diff := cmp.Diff(want, c.Lens); diff != "" {
		t.Error(diff)
	}
	models := []Model{
		{ID: "gpt-4.1-mini", Name: "gpt-4.1-mini", Provider: "openai", Wire: "chat", BaseURL: "https://api.openai.com/v1", Key: "env:ONE", Modalities: []string{"text", "image"}, Price: Price{"0.4", "1.6"}, Line: 19},
		{ID: "local/vl", Name: "local/vl", Provider: "here", Wire: "chat", BaseURL: "http://127.0.0.1:9000/v1", Limits: ModelLimits{Images: 4}, Line: 20},
	}
	if diff := cmp.Diff(models, c.Models); diff != "" {
		t.Error(diff)
	}
	if m, ok := c.Model("here/local/vl"); !ok || m.Line != 20 || m.Reads("image") {
		t.Errorf("%+v, %v", m, ok)
	}
	if n, words := len(c.Lens.ASR.All()), c.Lens.ASR.All()[0]; n != 4 {
		t.Errorf("%d endpoints, %v", n, words)
	}
}

// TestLensDefaults: the exact values that hold when no file says anything.
func TestLensDefaults(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "lens:", "lens: {}", "lens: {models: }", "lens: {cooldownMs: , allow_upload: , models: {image: }}"} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		l := c.Lens
		if l.StrictLocalOnly || l.CooldownMs != 600000 || l.Models != (Readers{"auto", "auto", "auto"}) || l.Providers.OpenAI != (OpenAI{}) ||
			l.ASR.Command != "" || len(l.ASR.All()) != 0 || l.Refine != (Refine{}) || l.Inject.Enabled || len(l.Inject.Families) != 0 || l.AllowUpload {
			t.Errorf("%q: %+v", text, l)
		}
		if v := l.Limits.Video; v != (VideoLimits{10_000_000, 19_000_000, 600}) {
			t.Errorf("%q: %+v", text, v)
		}
		if bytes, cost := l.Budget.CallBounds(); bytes == nil || *bytes != 256<<20 || cost != nil {
			t.Errorf("%q: %v, %v", text, bytes, cost)
		}
	}
}

// TestWrongLens: each fault names its key and line, and says what is right.
func TestWrongLens(t *testing.T) {
	t.Parallel()
	const hush = "sk-hush-hush-0123456789"
	for text, want := range map[string][2]string{
		"lens: {allowUpload: true}":                                                 {`unknown key "lens.allowUpload"`, "did you mean lens.allow_upload?"},
		"lens: {strict_local_only: true}":                                           {`unknown key "lens.strict_local_only"`, "did you mean lens.strictLocalOnly?"},
		"strict_local_only: true":                                                   {`unknown key "strict_local_only"`, "did you mean lens.strictLocalOnly?"},
		"lens:\n  baseUrl: x":                                                       {`line 2: unknown key "lens.baseUrl"`, "did you mean lens.providers.openai.baseUrl?"},
		"models: [{id: a, provider: openai, api_key: 'env:A'}]":                     {`unknown key "models[0].api_key"`, "did you mean models[0].key?"},
		"models: [{id: a, provider: here, url: 'http://a'}]":                        {`unknown key "models[0].url"`, "did you mean models[0].base_url?"},
		"models: [{id: a, provider: openai, cooldownMs: 1}]":                        {`unknown key "models[0].cooldownMs"`, "known keys here: id"},
		"models: [{id: a}]":                                                         {"models[0].provider: the model has no provider", "openai, anthropic or gemini"},
		"models: [{id: a, provider: b, base_url: 'http://a/v1/chat/completions/'}]": {"models[0].base_url: this is the address of one kind of request", "leave /chat/completions out"},
		"lens: {providers: {openai: {baseUrl: 'http://a/v1/models', model: b}}}":    {"lens.providers.openai.baseUrl: this is the address of one kind", "leave /models out"},
		"lens:\n  inject: {enabled: ture, families: all}":                           {"line 2: lens.inject.enabled: the value does not fit: true or false is expected", ""},
		"lens:\n  inject: {families: all}":                                          {"line 2: lens.inject.families: the value does not fit: a list is expected", "in brackets"},
		"lens:\n  limits: {video: 5}":                                               {"line 2: lens.limits.video: the value does not fit: a mapping of keys is expected", ""},
		"models: [gpt]":                                                             {"models[0]: the value does not fit: a mapping of keys is expected", ""},
		"lens:\n\tallow_upload: true":                                               {"line 2: the line is indented with a tab", "spaces alone"},
		"lens:\n  full_bytes: 1":                                                    {`unknown key "lens.full_bytes"`, "known keys here"},
		"lens:\n  asr:\n    endpoint: []":                                           {`line 3: unknown key "lens.asr.endpoint"`, "did you mean lens.asr.endpoints?"},
		"models: [{id: a, provider: openai, modality: [text]}]":                     {`unknown key "models[0].modality"`, "known keys here"},
		"lens: {cooldownMs: -1}":                                                    {"line 1: lens.cooldownMs: -1", "86400000"},
		"lens: {models: {image: gpt}}":                                              {"lens.models.image", "PROVIDER/MODEL"},
		"models: [{id: a, provider: openai}]\nlens: {models: {image: opnai/a}}":     {"line 2: lens.models.image", "did you mean openai/a?"},
		"lens: {providers: {openai: {apiKey: " + hush + "}}}":                       {"lens.providers.openai.apiKey: this is not a reference", "env:NAME"},
		"lens: {providers: {openai: {apiKey: 'env:A," + hush + "'}}}":               {"lens.providers.openai.apiKey: this is not a reference", "keyring:NAME"},
		"lens: {providers: {openai: {baseUrl: 'https://" + hush + "@x'}}}":          {"the address holds", "alone"},
		"lens: {providers: {openai: {baseUrl: 'https://x?key=" + hush + "'}}}":      {"the address holds", "alone"},
		"lens: {providers: {openai: {baseUrl: https://x}}}":                         {"an address and no model", ""},
		"lens: {providers: {openai: {model: x}}}":                                   {"no address", ""},
		"lens: {asr: {command: 'a {input'}}":                                        {"{input} has to occur once", "whisper-cli"},
		"lens: {asr: {command: 'a --x={input}'}}":                                   {"a word of its own", ""},
		"lens: {asr: {command: 'a \"{input}'}}":                                     {"is not closed", ""},
		"lens: {asr: {command: '{input} a'}}":                                       {"the first word is the program", ""},
		"lens:\n  asr:\n    endpoints:\n      - a {input}\n      - {model: x}":      {"line 5: lens.asr.endpoints[1]: an endpoint is either", ""},
		"lens: {asr: {endpoints: [7]}}":                                             {"an endpoint is a text", ""},
		"lens: {asr: {endpoints: [{command: 'a {input}', key: env:A}]}}":            {"a command has no model", ""},
		"lens: {budget: {bytes_per_call: 1.5}}":                                     {"lens.budget.bytes_per_call", "digits"},
		"lens: {budget: {bytes_per_day: ten}}":                                      {"lens.budget.bytes_per_day", ""},
		"lens: {budget: {cost_per_call: -1}}":                                       {"lens.budget.cost_per_call", ""},
		"lens: {budget: {cost_per_day: 999999999999}}":                              {"lens.budget.cost_per_day", ""},
		"lens: {limits: {video: {full_bytes: 0}}}":                                  {"lens.limits.video.full_bytes: 0", ""},
		"lens: {limits: {video: {full_bytes: 20000000}}}":                           {"lens.limits.video.reencode_bytes", ""},
		"lens: {limits: {audio: {overlap_seconds: 200}}}":                           {"lens.limits.audio.overlap_seconds", ""},
		"models: [{provider: openai}]":                                              {"models[0].id: a model has no id", ""},
		"models: [{id: cutroom-vision-a, provider: openai}]":                        {"a name that the gateway makes", ""},
		"models: [{id: a, provider: Open/AI}]":                                      {"is no name of a provider", ""},
		"models: [{id: a, provider: other}]":                                        {"the address of \"other\" is not known", ""},
		"models: [{id: a, provider: openai, wire: grpc}]":                           {`models[0].wire: unknown word "grpc"`, "chat, responses, messages"},
		"models: [{id: a, provider: openai, modalities: [text, pictures]}]":         {`unknown word "pictures"`, "image"},
		"models: [{id: a, provider: openai, key: " + hush + "}]":                    {"models[0].key: this is not a reference", "env:NAME"},
		"models: [{id: a, provider: openai, price: {input: free}}]":                 {"models[0].price.input", ""},
		"models: [{id: a, provider: openai, limits: {images: -1}}]":                 {"a limit is negative", ""},
		"models:\n  - {id: a, provider: openai}\n  - {id: a, provider: openai}":     {"line 3: models[1]: the model \"openai/a\" is there twice", ""},
		"models: [{id: a, provider: x, base_url: 'ftp://x'}]":                       {"this is no http address", ""},
		"models: [{id: a, provider: openai, key: 'file:relative'}]":                 {"not a reference", ""},
		"models: [{id: a, provider: openai, key: 'env:A B'}]":                       {"not a reference", ""},
		"lens: {inject: {omni: ['!']}}":                                             {"a pattern is empty", ""},
		"lens: {asr: {endpoints: ['a {input}','b {input}','c {input}','d {input}','e {input}','f {input}','g {input}','h {input}','i {input}']}}": {"there are 9 endpoints", ""},
	} {
		_, faults := Check([]byte(text))
		found := false
		for _, f := range faults {
			found = found || strings.Contains(f.text(), want[0]) && strings.Contains(f.Hint, want[1]) && f.Hint != ""
			if strings.Contains(f.text()+f.Hint, "hush") {
				t.Errorf("%s: the key is said: %+v", text, f)
			}
		}
		if !found {
			t.Errorf("%s: found %+v, want %q", text, faults, want)
		}
	}
}

// TestLensOfAWorkspace: a workspace sets what narrows, and nothing else.
func TestLensOfAWorkspace(t *testing.T) {
	t.Parallel()
	user := File{Path: "mine", Text: []byte("lens: {allow_upload: true, budget: {bytes_per_call: 1000, cost_per_day: 5}}")}
	for text, part := range map[string]string{
		"lens: {allow_upload: true}":                            "line 1: lens.allow_upload",
		"lens:\n  cooldownMs: 1":                                "line 2: lens.cooldownMs",
		"lens: {models: {image: auto}}":                         "lens.models",
		"lens: {providers: {openai: {structuredOutput: true}}}": "lens.providers",
		"lens: {asr: {command: 'a {input}'}}":                   "lens.asr",
		"lens: {refine: {enabled: true}}":                       "lens.refine",
		"lens: {inject: {enabled: true}}":                       "lens.inject",
		"lens: {limits: {image: {full_side: 9}}}":               "lens.limits",
		"models: []":                          "models",
		"models: [{id: a, provider: openai}]": "models",
	} {
		_, _, err := Load(user, File{Path: "theirs", Text: []byte(text)})
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Denied || !strings.Contains(e.Msg, part) {
			t.Errorf("%s: %v", text, err)
		}
	}
	c, _, err := Load(user, File{Path: "theirs", Text: []byte("lens: {strictLocalOnly: true, allow_upload: false, budget: {bytes_per_call: 10, bytes_per_day: 20, cost_per_day: 6}}")})
	if err != nil || !c.Lens.StrictLocalOnly || c.Lens.AllowUpload || c.Lens.Budget != (Budget{"10", "", "20", "5"}) {
		t.Errorf("%+v, %v", c.Lens, err)
	}
	c, _, err = Load(user, File{Path: "theirs", Text: []byte("lens: {strictLocalOnly: false}")})
	if err != nil || !c.Lens.AllowUpload || c.Lens.Budget.BytesPerCall != "1000" {
		t.Errorf("a workspace that says nothing changes something: %+v, %v", c.Lens, err)
	}
}

// TestBudgetsOnlyNarrow: whatever a workspace bounds, no bound of the result is wider
// than the user's.
func TestBudgetsOnlyNarrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Just(Scalar("")), rapid.Custom(func(t *rapid.T) Scalar {
			return Scalar(rapid.StringMatching(`(0|[1-9][0-9]{0,8})`).Draw(t, "amount"))
		}))
		budget := rapid.Custom(func(t *rapid.T) Budget {
			return Budget{amount.Draw(t, "a"), amount.Draw(t, "b"), amount.Draw(t, "c"), amount.Draw(t, "d")}
		})
		user, space := budget.Draw(t, "user"), budget.Draw(t, "workspace")
		got := user.narrow(space)
		for i, s := range []Scalar{got.BytesPerCall, got.CostPerCall, got.BytesPerDay, got.CostPerDay} {
			for _, b := range []Budget{user, space} {
				bound := []Scalar{b.BytesPerCall, b.CostPerCall, b.BytesPerDay, b.CostPerDay}[i]
				if bound != "" && (s == "" || *s.Micros() > *bound.Micros()) {
					t.Fatalf("%+v and %+v make %+v", user, space, got)
				}
			}
		}
	})
}

// TestBudgetOfManyBytes: more bytes than a length of time may have are compared all the same.
func TestBudgetOfManyBytes(t *testing.T) {
	t.Parallel()
	a, b := Budget{BytesPerDay: "999999999999999999"}, Budget{BytesPerDay: "999999999999999998"}
	if got := a.narrow(b); got.BytesPerDay != b.BytesPerDay {
		t.Errorf("%+v", got)
	}
	if got := b.narrow(a); got.BytesPerDay != b.BytesPerDay {
		t.Errorf("%+v", got)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`a {input}`: {"a", "{input}"},
		`  python "C:\tools\sense voice.py" --input "{input}" --json `: {"python", `C:\tools\sense voice.py`, "--input", "{input}", "--json"},
		`a 'it''s' "x 'y'" {input}; $HOME | rm`:                        {"a", "its", "x 'y'", "{input};", "$HOME", "|", "rm"},
		"a\t{language} {input}":                                        {"a", "{language}", "{input}"},
		`a "" {input}`:                                                 nil,
		"a\n{input}":                                                   nil,
		`a "{input}`:                                                   nil,
		`a {input} {input}`:                                            nil,
		`{input}`:                                                      nil,
		``:                                                             nil,
	} {
		got, err := (ASREndpoint{Command: line}).Words()
		if strings.Contains(line, ";") { // no shell: what follows is a word, so {input} is none
			if err == nil {
				t.Errorf("%s: %q", line, got)
			}
			if got, err = split(line); err != nil {
				t.Error(err)
			}
		}
		if (err == nil) != (want != nil) || !cmp.Equal(got, want) && want != nil {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}

// FuzzSplit: words come out as they went in, whatever is in them.
func FuzzSplit(f *testing.F) {
	f.Add("a b", "c'd")
	f.Add("", "\x00")
	f.Add("\xca", "\x80")
	f.Add("\ufffd", "b")
	f.Fuzz(func(t *testing.T, one, two string) {
		got, err := split(one + " " + two)
		if err == nil && len(got) > maxWords {
			t.Fatal(len(got))
		}
		if !utf8.ValidString(one) || !utf8.ValidString(two) {
			if got, err := split(`"` + one + `" "` + two + `"`); err == nil {
				t.Fatalf("%q and %q become %q", one, two, got)
			}
			return
		}
		if strings.ContainsAny(one+two, "\"") || strings.ContainsFunc(one+two, func(c rune) bool { return c < ' ' || c == 0x7f }) || one == "" || two == "" {
			return
		}
		got, err = split(`"` + one + `" "` + two + `"`)
		if err != nil || len(got) != 2 || got[0] != one || got[1] != two {
			t.Fatalf("%q and %q become %q, %v", one, two, got, err)
		}
	})
}

func TestWraps(t *testing.T) {
	t.Parallel()
	i := Default().Lens.Inject
	i.Enabled, i.Families = true, []string{""}
	for id, want := range map[string]bool{
		"deepseek-chat": true, "deepseek-v4.1": true, "DeepSeek-VL2": false, "deepseek-ai/deepseek-vl2": false, "glm-4.6": true, "glm-4v-plus": false,
		"MiMo-7B": false, "mimo-v2-pro": true, "mimo-v2-pro-0901": true, "mimo-provider": false, "gpt-4-vision-preview": false, "qwen3-omni": false, "gemini-2.5-flash": false,
		"qwen2.5-vl": false, "qwen2.5-vl-7b": false, "gpt-oss-120b": true,
	} {
		if why, ok := i.Wraps(id); ok != want || ok != (why == "") {
			t.Errorf("%s: %v, %s", id, ok, why)
		}
	}
	i.Families = []string{"deepseek", "GLM"}
	for id, want := range map[string]bool{"deepseek-chat": true, "glm-4.6": true, "gpt-oss-120b": false, "my-deepseek": false} {
		if _, ok := i.Wraps(id); ok != want {
			t.Errorf("%s: %v", id, ok)
		}
	}
	i.Families = nil
	if _, ok := i.Wraps("deepseek-chat"); ok {
		t.Error("no family is all families")
	}
	i.Enabled, i.Families = false, []string{""}
	if _, ok := i.Wraps("deepseek-chat"); ok {
		t.Error("what is off wraps")
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[ab/-]{0,3}`), 1, 5).Draw(t, "parts")
		var name strings.Builder
		for i, p := range parts {
			if i > 0 {
				name.WriteString(rapid.StringMatching(`[ab/-]{0,3}`).Draw(t, "between"))
			}
			name.WriteString(p)
		}
		if !fits(strings.Join(parts, "*"), name.String()) {
			t.Fatalf("%q does not fit %q", name.String(), parts)
		}
		if fits(strings.Join(parts, "*")+"c", name.String()) || fits("c"+strings.Join(parts, "*"), name.String()) {
			t.Fatalf("%q fits what it has not", name.String())
		}
	})
}
