package docgen

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/tool"
)

// ToolEntry is one tool of the contract.
type ToolEntry struct {
	ID           string           `json:"id"`   // cutroom/ and the name
	Name         string           `json:"name"` // the tool's own id, as tool_id
	Version      string           `json:"version"`
	Executable   string           `json:"executable"`
	Role         tool.Role        `json:"role"`
	Capabilities ToolCapabilities `json:"capabilities"`
	Inputs       []string         `json:"inputs"`  // what it reads, in words
	Outputs      []string         `json:"outputs"` // what it makes, in words
	// Plannable and what follows are the policy by which an agent plans with the tool.
	Plannable     bool         `json:"supports_dry_run"`
	DryRun        string       `json:"dry_run"`
	JSON          bool         `json:"supports_json"`     // always
	MutatesInput  bool         `json:"mutates_input"`     // never
	Produces      bool         `json:"produces_artifact"` // a file at a path of the caller's
	Verification  Verification `json:"verification"`
	Visual        bool         `json:"requires_visual_verification"` // review.look is in verification.tools
	AudioOnly     bool         `json:"audio_only"`                   // takes a file without pictures
	VideoRequired bool         `json:"video_required"`               // refuses one: "input has no video stream"
	Deterministic bool         `json:"deterministic_inputs"`
	Hint          tool.Exact   `json:"idempotency_hint"`
	MCP           MCPForm      `json:"mcp"`

	ToolID             string          `json:"tool_id"`
	ContractVersion    string          `json:"contract_version"`
	Revision           int             `json:"revision"`
	MCPName            string          `json:"mcp_name"`
	Title              string          `json:"title"`
	Short              string          `json:"short,omitempty"`
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
	Pictures           bool            `json:"pictures"`      // its answer is shown with pictures
	Writes             bool            `json:"writes"`        // it can write a file at a path of the caller's
	State              tool.State      `json:"state,omitempty"`
	Needs              []tool.Need     `json:"needs,omitempty"`
	Rare               []string        `json:"rare"` // members of the input that lists for models leave out
	InputSchema        json.RawMessage `json:"input_schema"`
	OutputSchema       json.RawMessage `json:"output_schema"`
}

// Verification says what to run on the file that was written.
type Verification struct {
	Required bool     `json:"required"`
	Tools    []string `json:"tools"`
}

// MCPForm is the tool over MCP, and where its words on a command line are not those of
// the general mapping.
type MCPForm struct {
	Name       string            `json:"name"`
	Positional []string          `json:"positional"`
	Exceptions map[string]string `json:"argument_exceptions"`
}

const (
	dryRunYes = "prints commands and runs no ffmpeg; writes no file; ffprobe may read the inputs"
	dryRunNo  = "not supported: refused"
)

// lookTool is the one that shows pictures: where it verifies, somebody has to look.
const lookTool = "review.look"

// redaction is what never stands in an answer, a record or a log.
var redaction = []string{"url query and fragment", "credentials, cookies and tokens", "standard error of programs", "environment values", "paths outside the workspace"}

// Entry returns the contract's entry of one tool, its output schema whole.
func Entry(r *tool.Registry, t *tool.Tool, o ContractOptions) ToolEntry {
	media := slices.Contains([]string{"edit", "measure", "review"}, t.Family().Name)
	e := ToolEntry{
		ID: "cutroom/" + t.Name, Name: t.Name, Version: cutroom.Version, Executable: Executable(t), Role: t.Role(), Capabilities: needed(r, t),
		Inputs: reads(t), Outputs: makes(t), Plannable: t.Plannable(), DryRun: dryRunNo, JSON: true, Produces: t.Writes(),
		Verification: Verification{len(t.CheckWith) > 0, list(t.CheckWith)}, Visual: slices.Contains(t.CheckWith, lookTool),
		AudioOnly: media && !t.Video, VideoRequired: t.Video, Deterministic: t.Exact != tool.EnvironmentDependent, Hint: t.Exact, MCP: mcpForm(t),

		ToolID: t.Name, ContractVersion: t.Contract, Revision: t.Revision, MCPName: t.MCPName(),
		Title: t.Name, Short: t.Short, Summary: t.Summary, Description: t.Description,
		Pictures: t.Pictures, Writes: t.Writes(), Rare: t.Rare(), Kind: t.Kind, Risk: t.Risk, Replay: t.Replay, Scope: t.Scope, Exact: t.Exact, SideEffects: t.SideEffects(),
		NetworkAccess: "none", Approval: "none", FilesystemRoots: roots(o.StageRoot),
		TimeoutSeconds: int(t.Timeout.Seconds()), MaxFrames: t.MaxFrames,
		SupportedFormats: list(t.Formats), CLIDependencies: dependencies(t), Calls: list(t.Calls), CheckWith: list(t.CheckWith),
		RedactionPolicy: redaction, ProvenanceFields: provenanceFields(),
		InputSchema: schema(t.PromisedInput()), OutputSchema: schema(t.OutputSchema()),
	}
	if e.Plannable {
		e.DryRun = dryRunYes
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

func mcpForm(t *tool.Tool) MCPForm {
	place, flags := t.Words()
	f := MCPForm{Name: t.MCPName(), Positional: []string{}, Exceptions: map[string]string{}}
	for _, p := range place {
		f.Positional = append(f.Positional, strings.Join(p.Path, "."))
	}
	for _, p := range flags {
		member := strings.Join(p.Path, ".")
		switch {
		case p.Letter() != "":
			f.Exceptions[member] = "-" + p.Letter()
		case "--"+strings.ReplaceAll(member, "_", "-") != "--"+p.Flag:
			f.Exceptions[member] = "--" + p.Flag
		}
	}
	return f
}

// reads says what the tool takes, in words.
func reads(t *tool.Tool) []string {
	words := []string{}
	for _, p := range t.Params() {
		what := map[tool.ParamKind]string{tool.ParamIn: "file", tool.ParamSource: "recording, address or transcript", tool.ParamRef: "recorded result"}[p.Kind]
		if what == "" {
			continue
		}
		if p.Repeat {
			what += "s"
		}
		words = append(words, strings.Join(p.Path, ".")+": "+what)
	}
	if t.Video {
		words = append(words, "the first has to have pictures")
	}
	return words
}

// makes says what the tool leaves behind, in words.
func makes(t *tool.Tool) []string {
	words := []string{"answer: JSON document"}
	for _, p := range t.Params() {
		if p.Kind == tool.ParamOut {
			words = append(words, strings.Join(p.Path, ".")+": file")
		}
	}
	if t.Pictures {
		words = append(words, "pictures")
	}
	return words
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
	return slices.DeleteFunc(list(programs), func(p string) bool { return slices.Contains(own, p) })
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
