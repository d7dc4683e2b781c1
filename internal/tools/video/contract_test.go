package video

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/tool"
)

// shape is the part of a JSON Schema that the 1.2.0 contracts use.
type shape struct {
	Ref        string            `json:"$ref"`
	Defs       map[string]*shape `json:"$defs"`
	Type       string            `json:"type"`
	AnyOf      []*shape          `json:"anyOf"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	Items      *shape            `json:"items"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Default    any               `json:"default"`
	Minimum    *float64          `json:"minimum"`
	ExclMin    *float64          `json:"exclusiveMinimum"`
	Maximum    *float64          `json:"maximum"`
	MinLength  *int              `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Pattern    string            `json:"pattern"`
	Additional any               `json:"additionalProperties"`
	Desc       string            `json:"description"`
}

// plain follows references and drops the null and the decimal-string forms: what
// is left is what a value of the contract is.
func (s *shape) plain(defs map[string]*shape) *shape {
	if s.Ref != "" {
		return defs[strings.TrimPrefix(s.Ref, "#/$defs/")].plain(defs)
	}
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].plain(defs)
	}
	return s
}

type contract struct {
	ToolID      string   `json:"tool_id"`
	Input       *shape   `json:"input_schema"`
	Output      *shape   `json:"output_schema"`
	SideEffects []string `json:"side_effects"`
	Timeout     int      `json:"timeout_seconds"`
	MaxFrames   int      `json:"max_frames"`
	Formats     []string `json:"supported_formats"`
	MCPName     string   `json:"mcp_name"`
}

// TestContract120 holds every request of 1.2.0 to be a request of ours with the
// same meaning, and every answer to one an answer of 1.2.0: our schemas have every
// member of the old ones with its type, bounds and default, ask for no more, and
// mark what they add.
func TestContract120(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../testdata/schema/video-1.2.0.json")
	if err != nil {
		t.Fatal(err)
	}
	var old struct {
		Tools []contract `json:"tools"`
	}
	if err := json.Unmarshal(raw, &old); err != nil {
		t.Fatal(err)
	}
	var ids, ours []string
	byID := map[string]*tool.Tool{}
	for _, tl := range Family.Tools() {
		byID[tl.Name] = tl
		ours = append(ours, tl.Name)
	}
	for _, c := range old.Tools {
		ids = append(ids, c.ToolID)
		tl := byID[c.ToolID]
		if tl == nil {
			t.Errorf("there is no %s", c.ToolID)
			continue
		}
		compare(t, c.ToolID+" input", c.Input, c.Input.Defs, ourShape(t, tl.InputSchema()), true)
		compare(t, c.ToolID+" output", c.Output, c.Output.Defs, ourShape(t, tl.OutputSchema()), false)
		if int(tl.Timeout.Seconds()) != c.Timeout || tl.MaxFrames != c.MaxFrames || tl.MCPName() != c.MCPName || tl.Contract != "1.2.0" {
			t.Errorf("%s: time-out, frames, name or version differ", c.ToolID)
		}
		if !reflect.DeepEqual(tl.Formats, c.Formats) || !reflect.DeepEqual(tl.SideEffects(), c.SideEffects) {
			t.Errorf("%s: formats %v or side effects %v differ", c.ToolID, tl.Formats, tl.SideEffects())
		}
	}
	slices.Sort(ids)
	if !slices.Equal(ids, ours) {
		t.Errorf("the family holds %v, not exactly %v", ours, ids)
	}
}

func ourShape(t *testing.T, schema any) *shape {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	s := &shape{}
	if err := json.Unmarshal(raw, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func compare(t *testing.T, at string, old *shape, defs map[string]*shape, our *shape, input bool) {
	t.Helper()
	bare := old.plain(defs)
	if our == nil {
		t.Errorf("%s: missing", at)
		return
	}
	want := bare.Type
	if want == "" && bare.Const != nil {
		want = our.Type
	}
	if our.Type != want {
		t.Errorf("%s: type %s, not %s", at, our.Type, want)
		return
	}
	switch want {
	case "object":
		compareObject(t, at, bare, defs, our, input)
	case "array":
		compare(t, at+"[]", bare.Items, defs, our.Items, input)
	default:
		compareLeaf(t, at, bare, our, input)
	}
	if input && old.Default != nil && want != "array" && !reflect.DeepEqual(old.Default, our.Default) {
		t.Errorf("%s: default %v, not %v", at, our.Default, old.Default)
	}
}

func compareObject(t *testing.T, at string, old *shape, defs map[string]*shape, our *shape, input bool) {
	t.Helper()
	for name, p := range old.Properties {
		compare(t, at+"."+name, p, defs, our.Properties[name], input)
	}
	for name, p := range our.Properties {
		if _, known := old.Properties[name]; known || len(old.Properties) == 0 {
			continue
		}
		if !strings.Contains(p.Desc, "Since ") || slices.Contains(our.Required, name) {
			t.Errorf("%s.%s is new: it has to be optional and marked since", at, name)
		}
	}
	if input {
		for _, name := range our.Required {
			if !slices.Contains(old.Required, name) {
				t.Errorf("%s.%s is required now", at, name)
			}
		}
		return
	}
	for _, name := range old.Required {
		if !slices.Contains(our.Required, name) {
			t.Errorf("%s.%s is not always there any more", at, name)
		}
	}
}

func compareLeaf(t *testing.T, at string, old, our *shape, input bool) {
	t.Helper()
	for _, v := range old.Enum {
		if len(our.Enum) > 0 && !slices.Contains(our.Enum, v) {
			t.Errorf("%s: value %v is gone", at, v)
		}
	}
	lo := old.Minimum
	if old.ExclMin != nil {
		one := *old.ExclMin + 1
		lo = &one
	}
	if lo != nil && (our.Minimum == nil || *our.Minimum != *lo) {
		t.Errorf("%s: the minimum is not %v", at, *lo)
	}
	if old.Maximum != nil && (our.Maximum == nil || *our.Maximum != *old.Maximum) {
		t.Errorf("%s: the maximum is not %v", at, *old.Maximum)
	}
	if input && old.MaxLength != nil && (our.MaxLength == nil || *our.MaxLength > *old.MaxLength) && old.Pattern == "" {
		t.Errorf("%s: the longest is not %d", at, *old.MaxLength)
	}
}
