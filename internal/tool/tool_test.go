package tool

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

type nested struct {
	Most int `json:"most,omitzero" min:"1" max:"10" default:"3" doc:"Most of them."`
}

type request struct {
	Source  cutroom.Source   `json:"source" doc:"The source."`
	Mode    string           `json:"mode,omitempty" enum:"fast,slow" default:"fast" doc:"How."`
	At      []cutroom.Micros `json:"at,omitempty" min:"0" items:"..3" doc:"When."`
	Width   int              `json:"width,omitzero" min:"160" max:"1920" default:"1280" doc:"How wide."`
	Ratio   float64          `json:"ratio,omitzero" min:"0" max:"1" doc:"How much."`
	Flag    bool             `json:"flag,omitzero" doc:"Whether."`
	Nested  nested           `json:"nested,omitzero" doc:"More."`
	Pointer *cutroom.Micros  `json:"pointer,omitempty" min:"0" max:"100" doc:"Perhaps when."`
}

func (r request) Validate() error {
	if r.Mode == "slow" && r.Flag {
		return cutroom.Errorf(cutroom.Invalid, "slow and flag exclude each other")
	}
	return nil
}

type answer struct {
	cutroom.Output
	Text string `json:"text" doc:"The text."`
}

func testTool(t *testing.T) *Tool {
	t.Helper()
	f := NewFamily("tool", "tests", "1.0.0")
	return Add(f, Spec[request, answer]{
		Name: "tool.tool_test", Summary: "Test", Description: "Tests.", Kind: cutroom.Read, Exact: BitExact, Revision: 1, Timeout: time.Second,
		Examples:  []request{{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: "a.mp4"}, Mode: "fast", Width: 1280}},
		Plan:      func(Facts, request) (Plan, error) { return Plan{}, nil },
		Interpret: func(Facts, request, Results) (answer, error) { return answer{}, nil },
	})
}

func TestDecode(t *testing.T) {
	t.Parallel()
	tl := testTool(t)
	got, err := tl.Decode([]byte(`{"source":{"kind":"local_file","value":"a.mp4"},"at":[1.5,"0:02",3e0],"width":160.0,"pointer":null}`))
	if err != nil {
		t.Fatal(err)
	}
	want := request{
		Source: cutroom.Source{Kind: cutroom.LocalFile, Value: "a.mp4"}, Mode: "fast",
		At: []cutroom.Micros{1_500_000, 2_000_000, 3_000_000}, Width: 160, Nested: nested{Most: 3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	const ok = `"source":{"kind":"local_file","value":"a"}`
	rows := map[string]string{
		`{` + ok + `,"wdith":200}`:                                 `unknown key "wdith"; did you mean "width"?`,
		`{` + ok + `,"Width":200}`:                                 `unknown key "Width"; did you mean "width"?`,
		`{` + ok + `,"width":200,"width":300}`:                     `twice`,
		`{"sorce":{}}`:                                             `did you mean "source"?`,
		`{}`:                                                       `key "source" is missing`,
		`{"source":{"kind":"local_file"}}`:                         `key "value" is missing`,
		`{"source":{"kind":"locl_file","value":"a"}}`:              `did you mean "local_file"?`,
		`{"source":{"kind":"local_file","value":""}}`:              `it is empty`,
		`{"source":{"kind":"local_file","value":"a\u0000b"}}`:      `NUL`,
		`{` + ok + `,"width":159}`:                                 `159 is less than 160`,
		`{` + ok + `,"width":1.5}`:                                 `whole number`,
		`{` + ok + `,"width":9007199254740993}`:                    `±9007199254740991`,
		`{` + ok + `,"width":"200"}`:                               `whole number, not a string`,
		`{` + ok + `,"at":[1,2,3,4]}`:                              `4 items`,
		`{` + ok + `,"at":[-1]}`:                                   `less than 0`,
		`{` + ok + `,"at":["1:99"]}`:                               `not a time`,
		`{` + ok + `,"at":1}`:                                      `a list, not 1`,
		`{` + ok + `,"pointer":101}`:                               `more than 100`,
		`{` + ok + `,"ratio":2}`:                                   `more than 1`,
		`{` + ok + `,"mode":"slow","flag":true}`:                   `exclude each other`,
		`{` + ok + `,"nested":{"most":11}}`:                        `nested/most: 11 is more than 10`,
		`{` + ok + `} x`:                                           `not one JSON document`,
		`[]`:                                                       `an object, not a list`,
		`{` + ok:                                                   `not one JSON document`,
		strings.Repeat(`{"source":`, 40) + strings.Repeat(`}`, 40): `nested deeper`,
		`{` + ok + `,"width":159,"ratio":2,"mode":"x"}`:            `ratio: 2 is more than 1`,
	}
	tl := testTool(t)
	for in, want := range rows {
		_, err := tl.Decode([]byte(in))
		if e := cutroom.AsError(err); err != nil && e.Hint == "" {
			t.Errorf("%s: no hint: %v", in, err)
		}
		if err == nil {
			t.Errorf("%s passed", in)
			continue
		}
		if e := cutroom.AsError(err); e.Code != cutroom.Invalid || !strings.Contains(e.Msg+e.Hint, want) {
			t.Errorf("%s: %q does not say %q", in, e.Msg, want)
		}
	}
}

// What is refused costs no more memory than what is accepted, and its refusal no
// more text than a person reads.
func TestDecodeIsBounded(t *testing.T) {
	t.Parallel()
	const ok = `{"source":{"kind":"local_file","value":"a"}`
	tl := testTool(t)
	for in, code := range map[string]cutroom.Code{
		ok + `,"at":[` + strings.Repeat("0,", maxValues) + `0]}`: cutroom.Limit,
		ok + `,"x":[` + strings.Repeat("[],", maxValues) + `0]}`: cutroom.Limit,
		ok + `,"at":[` + strings.Repeat(`"",`, 50000) + `""]}`:   cutroom.Invalid,
		ok + `,"at":["` + strings.Repeat("é", 1<<20) + `"]}`:     cutroom.Invalid,
		ok + `,"at":[` + strings.Repeat("9", 1<<20) + `]}`:       cutroom.Invalid,
		ok + `,"width":` + strings.Repeat("9", 1<<20) + `}`:      cutroom.Invalid,
		ok + `,"mode":` + strings.Repeat("9", 1<<20) + `}`:       cutroom.Invalid,
		ok + `,"` + strings.Repeat("k", 1<<20) + `":1}`:          cutroom.Invalid,
	} {
		_, err := tl.Decode([]byte(in))
		if err == nil {
			t.Errorf("%.80s… passed", in)
			continue
		}
		if e := cutroom.AsError(err); e.Code != code || len(e.Msg) > 2000 {
			t.Errorf("%.80s…: %s with %d bytes of text, want %s: %.300s", in, e.Code, len(e.Msg), code, e.Msg)
		}
	}
	_, err := tl.Decode([]byte(ok + `,"width":"wide"}`))
	if e := cutroom.AsError(err); strings.Contains(e.Msg, "less than") {
		t.Errorf("a value that could not be read is compared all the same: %s", e.Msg)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(testTool(t).InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"additionalProperties":false`, `"required":["source"]`, `"default":1280`, `"minimum":160`, `"enum":["fast","slow"]`, `"maxItems":3`} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("the schema lacks %s: %s", part, raw)
		}
	}
	for _, part := range []string{"$schema", "anyOf", "oneOf", "allOf", "$ref"} {
		if strings.Contains(string(raw), part) {
			t.Errorf("the schema holds %s", part)
		}
	}
}

func TestCanonicalKeepsTimesApart(t *testing.T) {
	t.Parallel()
	type times struct {
		At cutroom.Micros `json:"at"`
	}
	a, err := Canonical(times{cutroom.MaxMicros})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Canonical(times{cutroom.MaxMicros - 1})
	if err != nil {
		t.Fatal(err)
	}
	if string(a) == string(b) || string(a) != `{"at":9007199254740991}` {
		t.Errorf("%s and %s", a, b)
	}
}

func TestRegistryNamesFaults(t *testing.T) {
	t.Parallel()
	f := NewFamily("broken", "tests", "1.0.0")
	type bad struct {
		Any any `json:"any" doc:"Anything."`
	}
	Add(f, Spec[bad, answer]{Name: "broken.other", Summary: "Bad.", Kind: "sing", Calls: []string{"no.tool"}})
	_, err := NewRegistry(f)
	if err == nil {
		t.Fatal("a broken spec passed")
	}
	for _, want := range []string{"tool_test.go", "exactly one body", "no.tool, which does not exist"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"source":{"kind":"local_file","value":"a.mp4"},"at":[1.5,"0:02"],"width":160.0}`))
	f.Add([]byte(`{"source":null,"x":[[[]]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fam := NewFamily("tool", "tests", "1.0.0")
		tl := Add(fam, Spec[request, answer]{Name: "tool.tool_test", Plan: func(Facts, request) (Plan, error) { return Plan{}, nil }, Interpret: func(Facts, request, Results) (answer, error) { return answer{}, nil }})
		in, err := tl.Decode(raw)
		if err != nil {
			if cutroom.AsError(err).Code == cutroom.Internal {
				t.Errorf("%q gives an internal error: %v", raw, err)
			}
			return
		}
		// What was accepted is accepted again, and means the same.
		again, err := Encode(in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := tl.Decode(again)
		if err != nil {
			t.Fatalf("%s was accepted, %s is not: %v", raw, again, err)
		}
		if d := cmp.Diff(in, back); d != "" {
			t.Error(d)
		}
	})
}

// What a tool may do says how a call of it is treated; what its author says wins.
func TestAuthorityIsDerived(t *testing.T) {
	t.Parallel()
	rows := []struct {
		kind          cutroom.Kind
		network, live bool
		said          Risk
		risk          Risk
		replay        Replay
	}{
		{kind: cutroom.Read, risk: LowRisk, replay: ReplaySafe},
		{kind: cutroom.Read, live: true, risk: LowRisk, replay: ReplaySafe},
		{kind: cutroom.Read, network: true, risk: HighRisk, replay: ReplaySafe},
		{kind: cutroom.Preview, risk: LowRisk, replay: ReplaySafe},
		{kind: cutroom.Propose, risk: LowRisk, replay: ReplaySafe},
		{kind: cutroom.Propose, live: true, risk: LowRisk, replay: ReplayNever},
		{kind: cutroom.Approve, risk: HighRisk, replay: ReplayNever},
		{kind: cutroom.Execute, risk: MediumRisk, replay: ReplaySafe},
		{kind: cutroom.Execute, live: true, risk: MediumRisk, replay: ReplayNever},
		{kind: cutroom.Execute, network: true, risk: HighRisk, replay: ReplayNever},
		{kind: cutroom.Execute, network: true, said: MediumRisk, risk: MediumRisk, replay: ReplayNever},
	}
	for _, r := range rows {
		f := NewFamily("tool", "Tools", "1.0.0")
		got := Add(f, Spec[request, answer]{Name: "tool.tool_test", Kind: r.kind, Network: r.network, Live: r.live, Risk: r.said})
		if got.Risk != r.risk || got.Replay != r.replay || got.Scope != "tool:tool.tool_test" {
			t.Errorf("%+v: got %s, %s, %s", r, got.Risk, got.Replay, got.Scope)
		}
	}
}
