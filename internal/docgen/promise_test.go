package docgen_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/docgen"
	"cutroom/internal/tool"
)

var update = flag.Bool("update", false, "write the golden of the contract's keys anew")

// machine has what its fields say.
type machine struct{ program, part bool }

func (m machine) HasProgram(string) bool { return m.program }
func (m machine) HasFilter(string) bool  { return m.part }
func (m machine) HasEncoder(string) bool { return m.part }
func (m machine) HasDecoder(string) bool { return m.part }
func (m machine) HasLayer(string) bool   { return m.program }

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keys collects the keys of a document by their path; what stands beneath names of
// members, types and exceptions is data.
func keys(v any, at string, into map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			keys(x, at+"[]", into)
		}
	case map[string]any:
		for k, x := range v {
			if path := at + "." + k; !strings.HasSuffix(at, "argument_exceptions") && !strings.HasSuffix(at, "exceptions") && !strings.HasSuffix(at, "$defs") {
				into[path] = true
				if k != "input_schema" && k != "output_schema" && k != "shared" {
					keys(x, path, into)
				}
			}
		}
	}
}

// TestKeysOfTheContract: a key that goes or is renamed needs another contract_version; a
// new one only a new golden (go test ./internal/docgen -update).
func TestKeysOfTheContract(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, v := range []any{
		docgen.Contract(registry(t), docgen.ContractOptions{Machine: machine{true, false}}, nil), docgen.Contract(registry(t), docgen.ContractOptions{}, nil),
	} {
		var doc any
		if err := json.Unmarshal(encoded(t, v), &doc); err != nil {
			t.Fatal(err)
		}
		keys(doc, docgen.Version, found)
	}
	var list []string
	for k := range found {
		list = append(list, k)
	}
	slices.Sort(list)
	got := strings.Join(list, "\n") + "\n"
	golden := filepath.Join("testdata", "keys.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the keys are others (-golden +now):\n%s", diff)
	}
	for _, k := range strings.Fields(`contract_version skill.id skill.version skill.execution_mode skill.kind skill.entrypoints.cli skill.entrypoints.mcp skill.entrypoints.contract
		skill.entrypoints.doctor skill.not_provided requirements.ffmpeg requirements.ffprobe execution.shell execution.arbitrary_executables execution.network
		execution.input_mutation invocation.structured.argument_mapping capabilities.required capabilities.optional capabilities.available capabilities.missing
		capabilities.missing_optional capabilities.unknown tools[].id tools[].name tools[].version tools[].executable tools[].role tools[].capabilities.required
		tools[].capabilities.optional[].capability tools[].capabilities.optional[].when tools[].inputs tools[].outputs tools[].input_schema tools[].output_schema
		tools[].supports_dry_run tools[].dry_run tools[].supports_json tools[].mutates_input tools[].produces_artifact tools[].verification.required
		tools[].verification.tools tools[].requires_visual_verification tools[].audio_only tools[].video_required tools[].deterministic_inputs
		tools[].idempotency_hint tools[].mcp.name tools[].mcp.positional tools[].mcp.argument_exceptions tools[].tool_id tools[].side_effects tools[].network_access
		tools[].approval tools[].filesystem_roots tools[].timeout_seconds tools[].max_file_bytes tools[].max_duration_seconds tools[].max_frames
		tools[].supported_formats tools[].cli_dependencies tools[].redaction_policy tools[].provenance_fields tools[].generic_shell`) {
		if !found[docgen.Version+"."+k] {
			t.Errorf("the contract has no %s", k)
		}
	}
}

// TestShortContractsFit: the contract of one tool fits into what an agent reads at once,
// on any machine, and still says how to call it.
func TestShortContractsFit(t *testing.T) {
	t.Parallel()
	r := registry(t)
	for _, x := range r.Tools() {
		for _, m := range []tool.Machine{nil, machine{true, true}} {
			s := docgen.ShortContract(r, x, docgen.ContractOptions{Machine: m, StageRoot: "ops/staging/watch"})
			raw := encoded(t, s)
			if len(raw) > docgen.Budget {
				t.Errorf("%s: %d bytes, after %v", x.Name, len(raw), s.Abridged)
			}
			whole, short := x.PromisedInput(), s.Tools[0].InputSchema
			if !slices.Equal(whole.Required, short.Required) || len(whole.Properties) != len(short.Properties) {
				t.Errorf("%s: members are lost", x.Name)
			}
			for name, p := range whole.Properties {
				q := short.Properties[name]
				if q == nil || q.Type != p.Type || !cmp.Equal(q.Enum, p.Enum) || !cmp.Equal(q.Extra, p.Extra) || slices.Contains(whole.Required, name) && q.Description != p.Description {
					t.Errorf("%s: %s is cut to %s", x.Name, name, encoded(t, q))
				}
			}
			if len(s.Abridged) > 0 && !strings.Contains(s.Abridged[len(s.Abridged)-1], "--full --tool "+x.Name) {
				t.Errorf("%s: cut without saying where all is: %v", x.Name, s.Abridged)
			}
			var back docgen.Short
			if err := json.Unmarshal(raw, &back); err != nil {
				t.Errorf("%s: %v", x.Name, err)
			}
		}
	}
}

// TestCapabilities: the lists are the union over the tools, each name once, and each in
// exactly one of the four states.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	for _, m := range []machine{{true, true}, {true, false}, {false, false}} {
		d := docgen.Contract(registry(t), docgen.ContractOptions{Machine: m}, nil)
		required, all := map[string]bool{}, map[string]bool{}
		for _, e := range d.Tools {
			for _, c := range e.Capabilities.Required {
				required[c], all[c] = true, true
			}
			for _, o := range e.Capabilities.Optional {
				all[o.Capability] = true
				if o.When == "" || slices.Contains(e.Capabilities.Required, o.Capability) {
					t.Errorf("%s: optional %+v", e.ToolID, o)
				}
			}
		}
		c := d.Capabilities
		states := slices.Concat(c.Available, c.Missing, c.MissingOptional, c.Unknown)
		slices.Sort(states)
		if len(slices.Compact(slices.Clone(states))) != len(states) || len(states) != len(all) || len(c.Required) != len(required) {
			t.Errorf("%+v: %d states of %d capabilities, %d of %d required", m, len(states), len(all), len(c.Required), len(required))
		}
		for _, name := range c.Missing {
			if !required[name] {
				t.Errorf("%s is missing and nobody requires it", name)
			}
		}
		if m.program && m.part && len(states) != len(c.Available) || !m.program && (len(c.Available) > 0 || !slices.Contains(c.Unknown, "filter:ass") || !slices.Contains(c.Missing, "ffmpeg")) {
			t.Errorf("%+v: %+v", m, c)
		}
		if !m.part && m.program && !slices.Contains(c.Missing, "filter:ass") {
			t.Errorf("%+v: missing %v", m, c.Missing)
		}
	}
	if c := docgen.Contract(registry(t), docgen.ContractOptions{}, nil).Capabilities; c.Available != nil || c.Unknown != nil || len(c.Required) == 0 {
		t.Errorf("static: %+v", c)
	}
}

// TestPartsAreNamed: what encodes names the encoders that it may use, what runs a program
// the layers that hold it, and who listens by programs of the operator's own says so.
func TestPartsAreNamed(t *testing.T) {
	t.Parallel()
	optional := func(e docgen.ToolEntry, name string) bool {
		return slices.ContainsFunc(e.Capabilities.Optional, func(o docgen.Optional) bool { return o.Capability == name && o.When != "" })
	}
	seen := 0
	for _, e := range docgen.Contract(registry(t), docgen.ContractOptions{}, nil).Tools {
		runs := slices.Contains(e.Capabilities.Required, "ffmpeg") || slices.Contains(e.Capabilities.Required, "ffprobe")
		if runs && !slices.Contains(e.Capabilities.Required, "sandbox:landlock") {
			t.Errorf("%s runs programs, and requires %v", e.ToolID, e.Capabilities.Required)
		}
		encodes, ok := map[string]bool{
			"edit.export": true, "edit.cut": true, "edit.render": true, "measure.loudness_apply": true,
			"edit.metadata": false, "measure.loudness": false, "review.look": false, "media.watch": false,
		}[e.ToolID]
		if !ok {
			continue
		}
		seen++
		for _, name := range []string{"encoder:libx264", "encoder:aac", "encoder:libvpx-vp9", "encoder:prores_ks"} {
			if optional(e, name) != encodes {
				t.Errorf("%s: %s is named: %v", e.ToolID, name, !encodes)
			}
		}
		if e.ToolID == "media.watch" && !optional(e, "external:whisper") {
			t.Errorf("%s: %+v", e.ToolID, e.Capabilities.Optional)
		}
	}
	if seen != 8 {
		t.Errorf("%d of 8 tools exist", seen)
	}
}

// TestPolicyOfVerification is the table of what to run after what.
func TestPolicyOfVerification(t *testing.T) {
	t.Parallel()
	after := map[string]string{
		"edit.cut": "probe", "measure.silence_apply": "probe", "edit.audio": "probe", "measure.sync_apply": "probe", "edit.batch": "probe",
		"measure.loudness_apply": "probe check", "edit.export": "probe check",
		"edit.fit": "probe look", "edit.caption": "probe look", "edit.overlay": "probe look", "edit.graphics": "probe look", "edit.color": "probe look",
		"edit.join": "probe look", "edit.multicam": "probe look", "edit.render": "probe check look",
		"measure.probe": "", "measure.scenes": "", "review.check": "", "review.look": "", "review.verify": "", "review.report": "",
	}
	checked := 0
	for _, e := range docgen.Contract(registry(t), docgen.ContractOptions{}, nil).Tools {
		if want, ok := after[e.ToolID]; ok {
			checked++
			for w := range strings.FieldsSeq(want) {
				if !slices.ContainsFunc(e.Verification.Tools, func(id string) bool { return strings.HasSuffix(id, "."+w) }) {
					t.Errorf("%s is verified by %v, without %s", e.ToolID, e.Verification.Tools, w)
				}
			}
			if looks := strings.Contains(want, "look"); looks != e.Visual || (want == "") == e.Verification.Required {
				t.Errorf("%s: visual %v, required %v", e.ToolID, e.Visual, e.Verification.Required)
			}
		}
		if family, _, _ := strings.Cut(e.ToolID, "."); slices.Contains([]string{"measure", "edit", "review"}, family) && e.Deterministic == (e.ToolID == "review.verify") {
			t.Errorf("%s: deterministic %v", e.ToolID, e.Deterministic)
		}
		if e.Visual != slices.Contains(e.Verification.Tools, "review.look") || e.MutatesInput || e.GenericShell {
			t.Errorf("%s: visual %v, mutates %v, shell %v", e.ToolID, e.Visual, e.MutatesInput, e.GenericShell)
		}
	}
	if checked < 12 {
		t.Errorf("%d tools of the table exist", checked)
	}
}

// unescaped are the letters that encoding/json spells by their number.
var unescaped = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// TestHostInput: what a host gets is the schema without a contract's own words; what
// stands by position says its place.
func TestHostInput(t *testing.T) {
	t.Parallel()
	r := registry(t)
	for _, x := range r.Tools() {
		e := docgen.Entry(r, x, docgen.ContractOptions{})
		plain := x.InputSchema()
		for i, name := range e.MCP.Positional {
			p := plain.Properties[name]
			p.Description = "(positional " + string(rune('1'+i)) + ") " + p.Description
		}
		if diff := cmp.Diff(unescaped.Replace(string(encoded(t, plain))), string(docgen.HostInput(e.InputSchema, e.MCP.Positional))); diff != "" {
			t.Errorf("%s (-schema +host's):\n%s", x.Name, diff)
		}
	}
}
