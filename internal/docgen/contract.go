package docgen

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
	"cutroom/internal/host"
	"cutroom/internal/tool"
)

// Version is the version of the contract document: raised when a key of it is renamed,
// removed or given another meaning, never for a new tool, flag or key.
const Version = "1.0"

// Document is the contract: what every tool promises, and how each is called.
type Document struct {
	ContractVersion string                        `json:"contract_version"`
	Skill           Skill                         `json:"skill"`
	Requirements    Requirements                  `json:"requirements"`
	Execution       Execution                     `json:"execution"`
	Invocation      Invocation                    `json:"invocation"`
	Roles           []RoleEntry                   `json:"roles"`
	Hints           []HintEntry                   `json:"idempotency_hints"`
	Verification    []VerificationEntry           `json:"verification_policy"`
	VisualCheck     string                        `json:"visual_check"`
	OutputDocument  *OutputDocument               `json:"output_document,omitempty"`
	ErrorDocument   *ErrorDocument                `json:"error_document,omitempty"`
	Capabilities    Capabilities                  `json:"capabilities"`
	Extensions      []Extension                   `json:"extensions"`
	Hosts           []host.Qualification          `json:"hosts"` // by `make attest`
	Tools           []ToolEntry                   `json:"tools"` // sorted by id
	Defs            map[string]*jsonschema.Schema `json:"$defs"` // what the output schemas refer to, by type
}

// Extension is a member that the 1.2.0 contracts did not have.
type Extension struct {
	ToolID string `json:"tool_id"`
	Part   string `json:"part"` // input or output
	Path   string `json:"path"`
	Since  string `json:"since"`
}

// ContractOptions say what is known of the machine. Without one the contract is
// the static part, equal everywhere.
type ContractOptions struct {
	Machine   tool.Machine // nil: states of needs are left out
	StageRoot string       // relative to the workspace; "" is the default
}

// Contract returns the contract of those tools of a registry that keep leaves, all of
// them when it is nil.
func Contract(r *tool.Registry, o ContractOptions, keep func(*tool.Tool) bool) *Document {
	tools := slices.Clone(r.Tools())
	if keep != nil {
		tools = slices.DeleteFunc(tools, func(t *tool.Tool) bool { return !keep(t) })
	}
	d := &Document{
		ContractVersion: Version, Skill: skill(), Requirements: Requirements{">=5.0", ">=5.0"}, Execution: execution(tools),
		Invocation: invocation(), VisualCheck: visualCheck, ErrorDocument: errorDocument(),
		Extensions: []Extension{}, Hosts: host.Qualified(), Tools: []ToolEntry{}, Defs: map[string]*jsonschema.Schema{},
	}
	d.OutputDocument = outputDocument(tools, d.Defs)
	for _, t := range tools {
		e := Entry(r, t, o)
		if !Promises(t.Name) {
			shape := t.OutputShape(d.Defs)
			if e.Plannable {
				shape = planned(shape, d.Defs)
			}
			e.OutputSchema = schema(shape)
		}
		d.Tools = append(d.Tools, e)
		for _, x := range t.Extensions() {
			d.Extensions = append(d.Extensions, Extension{t.Name, x.Part, x.Path, x.Since})
		}
	}
	d.Roles, d.Hints, d.Verification = roles(d.Tools), hints(d.Tools), verification(d.Tools)
	d.Capabilities = capabilities(d.Tools, ears(tools), o.Machine)
	return d
}

// Promises says whether the answers of a tool have to match the schema that it publishes,
// as the 1.2.0 contracts say: lists for hosts carry the output schemas of these alone.
func Promises(toolID string) bool { return strings.HasPrefix(toolID, promised) }

const promised = "video."

// Skill says what this is as a whole.
type Skill struct {
	ID            string      `json:"id"`
	Version       string      `json:"version"`
	ExecutionMode string      `json:"execution_mode"`
	Kind          string      `json:"kind"`
	Entrypoints   Entrypoints `json:"entrypoints"`
	NotProvided   []string    `json:"not_provided"`
}

// Entrypoints are the commands by which it is reached.
type Entrypoints struct {
	CLI      string `json:"cli"`
	MCP      string `json:"mcp"`
	Contract string `json:"contract"`
	Doctor   string `json:"doctor"`
}

func skill() Skill {
	return Skill{
		ID: "cutroom", Version: cutroom.Version, ExecutionMode: "local", Kind: "execution",
		Entrypoints: Entrypoints{"cutroom <family> <verb>", "cutroom mcp", "cutroom contract --json", "cutroom doctor --json"},
		NotProvided: notProvided,
	}
}

// notProvided is what somebody could expect here and does not find.
var notProvided = []string{
	"text to speech",
	"keys or accounts of any service",
	"description of pictures by a vision model",
	"built-in speech to text in other languages than English",
	"download without an executor that binds it to the approved destination",
	"cards or paste hooks inside a host's chat",
	"calls of other MCP servers",
	"a general shell",
}

// Requirements are the versions of foreign programs without which setup refuses.
type Requirements struct {
	FFmpeg  string `json:"ffmpeg"`
	FFprobe string `json:"ffprobe"`
}

// Execution says what a call can never do, and whether some can reach out.
type Execution struct {
	Shell                bool `json:"shell"`
	ArbitraryExecutables bool `json:"arbitrary_executables"`
	Network              bool `json:"network"` // some tool can, each call by an approval of its destination
	InputMutation        bool `json:"input_mutation"`
}

func execution(tools []*tool.Tool) Execution {
	return Execution{Network: slices.ContainsFunc(tools, func(t *tool.Tool) bool { return t.Network })}
}

// list is a copy that JSON writes as [] when it is empty.
func list(s []string) []string { return append([]string{}, s...) }

func schema(v json.Marshaler) json.RawMessage {
	raw, err := v.MarshalJSON()
	if err != nil {
		panic(err) // a schema is made from types and always encodes
	}
	return raw
}
