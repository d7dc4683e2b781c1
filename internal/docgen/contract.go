package docgen

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/host"
	"cutroom/internal/tool"
)

// Document is the contract: what every tool promises.
type Document struct {
	ContractVersion string               `json:"contract_version"`
	Product         string               `json:"product"`
	Version         string               `json:"version"`
	Extensions      []Extension          `json:"extensions"`
	NotProvided     []string             `json:"not_provided"`
	Hosts           []host.Qualification `json:"hosts"` // by `make attest`
	Tools           []ToolEntry          `json:"tools"` // sorted by id
}

// Extension is a member that the 1.2.0 contracts did not have.
type Extension struct {
	ToolID string `json:"tool_id"`
	Part   string `json:"part"` // input or output
	Path   string `json:"path"`
	Since  string `json:"since"`
}

// ToolEntry is one tool of the contract.
type ToolEntry struct {
	ToolID             string          `json:"tool_id"`
	ContractVersion    string          `json:"contract_version"`
	Revision           int             `json:"revision"`
	MCPName            string          `json:"mcp_name"`
	Executable         string          `json:"executable"`
	Title              string          `json:"title"`
	Summary            string          `json:"summary"`
	Description        string          `json:"description"`
	Kind               cutroom.Kind    `json:"kind"`
	Risk               tool.Risk       `json:"risk"`
	Replay             tool.Replay     `json:"replay"` // never: an unknown outcome is queried, not tried again
	Scope              string          `json:"scope"`  // what an API token has to hold
	Exact              tool.Exact      `json:"exact"`
	SideEffects        []string        `json:"side_effects"`
	NetworkAccess      string          `json:"network_access"`
	Approval           string          `json:"approval"`
	FilesystemRoots    []string        `json:"filesystem_roots"`
	TimeoutSeconds     int             `json:"timeout_seconds"`
	MaxFileBytes       int64           `json:"max_file_bytes"`
	MaxDurationSeconds int64           `json:"max_duration_seconds"`
	MaxFrames          int             `json:"max_frames"`
	SupportedFormats   []string        `json:"supported_formats"`
	CLIDependencies    []string        `json:"cli_dependencies"`
	Calls              []string        `json:"calls"`
	CheckWith          []string        `json:"check_with"`
	RedactionPolicy    []string        `json:"redaction_policy"`
	ProvenanceFields   []string        `json:"provenance_fields"`
	GenericShell       bool            `json:"generic_shell"` // always false
	MutatesInput       bool            `json:"mutates_input"` // always false
	Pictures           bool            `json:"pictures"`      // its answer is shown with pictures
	Writes             bool            `json:"writes"`        // it can write a file at a path of the caller's
	State              tool.State      `json:"state,omitempty"`
	Needs              []tool.Need     `json:"needs,omitempty"`
	Rare               []string        `json:"rare"` // members of the input that lists for models leave out
	InputSchema        json.RawMessage `json:"input_schema"`
	OutputSchema       json.RawMessage `json:"output_schema"`
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

// redaction is what never stands in an answer, a record or a log.
var redaction = []string{"url query and fragment", "credentials, cookies and tokens", "standard error of programs", "environment values", "paths outside the workspace"}

// ContractOptions say what is known of the machine. Without one the contract is
// the static part, equal everywhere.
type ContractOptions struct {
	Machine   tool.Machine // nil: states of needs are left out
	StageRoot string       // relative to the workspace; "" is the default
}

// Contract returns the contract of a registry.
func Contract(r *tool.Registry, o ContractOptions) *Document {
	d := &Document{
		ContractVersion: cutroom.ContractVersion, Product: "cutroom", Version: cutroom.Version,
		Extensions: []Extension{}, NotProvided: notProvided, Hosts: host.Qualified(), Tools: []ToolEntry{},
	}
	for _, t := range r.Tools() {
		d.Tools = append(d.Tools, Entry(r, t, o))
		for _, x := range t.Extensions() {
			d.Extensions = append(d.Extensions, Extension{t.Name, x.Part, x.Path, x.Since})
		}
	}
	return d
}

// Keep leaves only the given tools in the contract.
func (d *Document) Keep(tools []*tool.Tool) {
	listed := func(id string) bool {
		return slices.ContainsFunc(tools, func(t *tool.Tool) bool { return t.Name == id })
	}
	d.Tools = slices.DeleteFunc(d.Tools, func(e ToolEntry) bool { return !listed(e.ToolID) })
	d.Extensions = slices.DeleteFunc(d.Extensions, func(x Extension) bool { return !listed(x.ToolID) })
}

// Entry returns the contract's entry of one tool.
func Entry(r *tool.Registry, t *tool.Tool, o ContractOptions) ToolEntry {
	e := ToolEntry{
		ToolID: t.Name, ContractVersion: t.Contract, Revision: t.Revision, MCPName: t.MCPName(), Executable: Executable(t),
		Title: t.Name, Summary: t.Summary, Description: t.Description,
		Pictures: t.Pictures, Writes: t.Writes(), Rare: t.Rare(), Kind: t.Kind, Risk: t.Risk, Replay: t.Replay, Scope: t.Scope, Exact: t.Exact, SideEffects: t.SideEffects(),
		NetworkAccess: "none", Approval: "none", FilesystemRoots: roots(o.StageRoot),
		TimeoutSeconds: int(t.Timeout.Seconds()), MaxFrames: t.MaxFrames,
		SupportedFormats: list(t.Formats), CLIDependencies: dependencies(t), Calls: list(t.Calls), CheckWith: list(t.CheckWith),
		RedactionPolicy: redaction, ProvenanceFields: provenanceFields(),
		InputSchema: schema(t.InputSchema()), OutputSchema: schema(t.OutputSchema()),
	}
	if t.Network {
		e.NetworkAccess, e.Approval = "destination_bound_approval", "destination_bound_network"
	}
	e.MaxFileBytes = budget(t, "max_file_bytes", operatingBytes)
	e.MaxDurationSeconds = budget(t, "max_duration_seconds", operatingSeconds)
	if o.Machine != nil {
		e.Needs, e.State = t.Needs.Check(o.Machine)
	}
	return e
}

// Executable is how a tool is called from a shell.
func Executable(t *tool.Tool) string {
	return "cutroom " + t.Family().Name + " " + strings.ReplaceAll(t.Verb(), "_", "-")
}

func roots(stage string) []string {
	if stage == "" {
		stage = ".cutroom/stage"
	}
	return []string{"workspace:read", stage + ":write", "launcher-pinned-runtime:read"}
}

// dependencies are the foreign programs that a tool runs: those it cannot do
// without and, for one that reaches out, the ones that some addresses take.
func dependencies(t *tool.Tool) []string {
	programs := t.Needs.Programs
	if t.Network {
		programs = t.Needs.AllPrograms()
	}
	return slices.DeleteFunc(list(programs), func(p string) bool { return p == "speech" || p == "ocr" || p == "object" })
}

// The operating budget of every tool, which an input with limits of its own states
// as their defaults.
const (
	operatingBytes   = 2 << 30
	operatingSeconds = 4 * 60 * 60
)

// budget is the default of one of the limits that the input names, else the general
// one.
func budget(t *tool.Tool, name string, general int64) int64 {
	for _, p := range t.Params() {
		var n int64
		if p.Path[len(p.Path)-1] == name && json.Unmarshal([]byte(p.Default), &n) == nil {
			return n
		}
	}
	return general
}

// provenanceFields are the members of a provenance but the tool's own name.
func provenanceFields() []string {
	var names []string
	for f := range reflect.TypeFor[cutroom.Provenance]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "tool_id" {
			names = append(names, name)
		}
	}
	return names
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
