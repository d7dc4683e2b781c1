package docgen

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
	"cutroom/internal/tool"
)

// Budget is how many bytes the contract of one tool has at most, so that it fits into
// what an agent reads at once.
const Budget = 8000

// Short is the contract of one tool in few words: the same keys with the same meaning,
// those left out that are equal for all tools or follow from another.
type Short struct {
	ContractVersion string        `json:"contract_version"`
	Skill           ShortSkill    `json:"skill"`
	Tools           []*ShortEntry `json:"tools"`
	Abridged        []string      `json:"abridged"` // what was cut to fit, and where all of it is
}

// ShortSkill names what the tool is of.
type ShortSkill struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

// ShortEntry is what an agent plans and calls with.
type ShortEntry struct {
	ID              string             `json:"id"`
	ToolID          string             `json:"tool_id"`
	Executable      string             `json:"executable"`
	Short           string             `json:"short,omitempty"`
	MCP             MCPForm            `json:"mcp"`
	ContractVersion string             `json:"contract_version"`
	Revision        int                `json:"revision"`
	Description     string             `json:"description"`
	Role            tool.Role          `json:"role"`
	Kind            cutroom.Kind       `json:"kind"`
	Risk            tool.Risk          `json:"risk"`
	Replay          tool.Replay        `json:"replay"`
	NetworkAccess   string             `json:"network_access"`
	Approval        string             `json:"approval"`
	FilesystemRoots []string           `json:"filesystem_roots"`
	TimeoutSeconds  int                `json:"timeout_seconds"`
	MaxFrames       int                `json:"max_frames,omitempty"`
	State           tool.State         `json:"state,omitempty"`
	Needs           []tool.Need        `json:"needs,omitempty"`
	Capabilities    ToolCapabilities   `json:"capabilities"`
	Calls           []string           `json:"calls,omitempty"`
	Plannable       bool               `json:"supports_dry_run"`
	MutatesInput    bool               `json:"mutates_input"`
	Produces        bool               `json:"produces_artifact"`
	Verification    Verification       `json:"verification"`
	Visual          bool               `json:"requires_visual_verification"`
	AudioOnly       bool               `json:"audio_only"`
	VideoRequired   bool               `json:"video_required"`
	Deterministic   bool               `json:"deterministic_inputs"`
	Hint            tool.Exact         `json:"idempotency_hint"`
	InputSchema     *jsonschema.Schema `json:"input_schema"`
	OutputSchema    *jsonschema.Schema `json:"output_schema"`
}

// ShortContract returns the contract of t within [Budget]. What does not fit is cut step by
// step, the least needed first: what the output holds inside, the words about rarely
// wanted options, then about all; never a member's name, type, values or flag, nor what is
// required. The same registry gives the same bytes.
func ShortContract(r *tool.Registry, t *tool.Tool, o ContractOptions) *Short {
	e := Entry(r, t, o)
	s := &Short{ContractVersion: Version, Skill: ShortSkill{"cutroom", cutroom.Version}, Abridged: []string{}}
	x := &ShortEntry{
		ID: e.ID, ToolID: e.ToolID, Executable: e.Executable, Short: e.Short, MCP: e.MCP, ContractVersion: e.ContractVersion, Revision: e.Revision, Description: e.Description,
		Role: e.Role, Kind: e.Kind, Risk: e.Risk, Replay: e.Replay, NetworkAccess: e.NetworkAccess, Approval: e.Approval, FilesystemRoots: e.FilesystemRoots,
		TimeoutSeconds: e.TimeoutSeconds, MaxFrames: e.MaxFrames, State: e.State, Needs: e.Needs, Capabilities: e.Capabilities, Calls: e.Calls,
		Plannable: e.Plannable, Produces: e.Produces, Verification: e.Verification, Visual: e.Visual, AudioOnly: e.AudioOnly,
		VideoRequired: e.VideoRequired, Deterministic: e.Deterministic, Hint: e.Hint,
		InputSchema: t.PromisedInput(), OutputSchema: t.OutputSchema(),
	}
	s.Tools = []*ShortEntry{x}
	for _, step := range cuts(t) {
		if s.size() <= Budget {
			return s
		}
		s.Abridged = append(slices.DeleteFunc(s.Abridged, func(w string) bool { return w == whole(t) || w == step.what }), step.what, whole(t))
		step.cut(x)
	}
	return s
}

func whole(t *tool.Tool) string {
	return "all of it: cutroom contract --static --full --tool " + t.Name
}

func (s *Short) size() int {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // made from types
	}
	return len(raw) + 1
}

// step is one cut.
type step struct {
	what string
	cut  func(*ShortEntry)
}

// What is cut, in words.
const (
	ofParts   = "capabilities.optional: encoders and layers of the sandbox"
	ofShared  = "output_schema: members that all answers share, see output_document"
	ofInside  = "output_schema: what its members hold"
	ofOutputs = "output_schema: descriptions"
	ofBounds  = "input_schema: bounds of limits"
	ofRare    = "input_schema: words about rarely wanted members"
	ofWords   = "input_schema: descriptions after their first words"
	ofNeeds   = "needs: those that are present"
)

func cuts(t *tool.Tool) []step {
	rare := t.Rare()
	output := func(deep int, words bool) func(*ShortEntry) {
		return func(e *ShortEntry) { flatten(e.OutputSchema, deep, words) }
	}
	return []step{
		{ofParts, func(e *ShortEntry) { e.Capabilities.withoutParts() }},
		{ofShared, func(e *ShortEntry) { e.OutputSchema = withoutShared(e.OutputSchema) }},
		{ofInside, output(3, true)},
		{ofInside, output(2, true)},
		{ofInside, output(1, true)},
		{ofBounds, func(e *ShortEntry) { flatten(e.InputSchema.Properties["limits"], 0, true) }},
		{ofOutputs, output(1, false)},
		{ofRare, func(e *ShortEntry) { shorten(e.InputSchema, rare, 52) }},
		{ofWords, func(e *ShortEntry) { shorten(e.InputSchema, nil, 120) }},
		{ofInside, output(0, false)},
		{ofRare, func(e *ShortEntry) { shorten(e.InputSchema, rare, 0) }},
		{ofNeeds, func(e *ShortEntry) {
			e.Needs = slices.DeleteFunc(e.Needs, func(n tool.Need) bool { return n.State == tool.Present })
		}},
		{ofWords, func(e *ShortEntry) { shorten(e.InputSchema, nil, 80) }},
		{ofWords, func(e *ShortEntry) { shorten(e.InputSchema, nil, 52) }},
		{ofWords, func(e *ShortEntry) { shorten(e.InputSchema, nil, 36) }},
		{ofWords, func(e *ShortEntry) { shorten(e.InputSchema, nil, 24) }},
		{ofWords, func(e *ShortEntry) { shorten(e.InputSchema, nil, 0) }},
	}
}

// withoutShared leaves the members out that every answer has.
func withoutShared(s *jsonschema.Schema) *jsonschema.Schema {
	shared := tool.MadeShape(map[string]*jsonschema.Schema{})
	maps.DeleteFunc(s.Properties, func(name string, _ *jsonschema.Schema) bool { return shared.Properties[name] != nil })
	kept := func(names []string) []string {
		return slices.DeleteFunc(names, func(n string) bool { return s.Properties[n] == nil })
	}
	s.Required, s.PropertyOrder = kept(s.Required), kept(s.PropertyOrder)
	return s
}

// flatten leaves deep levels of members, without words where they are not wanted.
func flatten(s *jsonschema.Schema, deep int, words bool) {
	if s == nil {
		return
	}
	s.MinLength, s.MaxLength, s.Minimum, s.Maximum, s.MinItems, s.MaxItems, s.Pattern = nil, nil, nil, nil, nil, nil, ""
	for _, p := range s.Properties {
		if !words {
			p.Description = ""
		}
	}
	if deep == 0 && s.Properties != nil {
		s.Required, s.AdditionalProperties = nil, nil
		for name, p := range s.Properties {
			s.Properties[name] = &jsonschema.Schema{Type: p.Type, Enum: p.Enum, Description: p.Description, Extra: p.Extra}
		}
		return
	}
	for _, p := range s.Properties {
		flatten(p, deep-1, words)
	}
	flatten(s.Items, deep, words)
}

// shorten cuts the descriptions of optional members (of the named ones only, where some
// are named), those inside them included.
func shorten(s *jsonschema.Schema, only []string, longest int) {
	for name, p := range s.Properties {
		if (only == nil || slices.Contains(only, name)) && !slices.Contains(s.Required, name) {
			p.Description = firstWords(p.Description, longest)
			shortenAll(p, min(longest, 52))
		}
	}
}

func shortenAll(s *jsonschema.Schema, longest int) {
	for _, p := range s.Properties {
		p.Description = firstWords(p.Description, longest)
		shortenAll(p, longest)
	}
	if s.Items != nil {
		shortenAll(s.Items, longest)
	}
}

func firstWords(s string, longest int) string {
	if longest == 0 {
		return ""
	}
	if first, _, ok := strings.Cut(s, ". "); ok && utf8.RuneCountInString(s) > longest {
		s = first + "."
	}
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	cut := string([]rune(s)[:longest])
	if i := strings.LastIndexAny(cut, " ,;:"); i > longest/2 {
		cut = strings.TrimRight(cut[:i], " ,;:")
	}
	return cut + "…"
}
