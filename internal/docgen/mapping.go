package docgen

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
	"cutroom/internal/tool"
)

// Invocation says how a tool is called. Structured arguments are the canonical way.
type Invocation struct {
	Structured Structured `json:"structured"`
	Argv       ArgvForm   `json:"argv"`
	MCP        string     `json:"mcp"`
	DryRun     string     `json:"dry_run"`
}

// Structured is the canonical form and its way to a command line.
type Structured struct {
	Canonical bool    `json:"canonical"`
	Mapping   Mapping `json:"argument_mapping"`
}

// Mapping is the grammar of every command.
type Mapping struct {
	Command    string            `json:"command"`
	Positional string            `json:"positional"`
	Key        string            `json:"key"`
	Boolean    string            `json:"boolean"`
	Array      string            `json:"array"`
	Nested     string            `json:"nested"`
	Structure  string            `json:"structure"`
	Time       string            `json:"time"`
	JSON       string            `json:"json"`
	Exceptions map[string]string `json:"exceptions"`
}

// ArgvForm is the other form: a tool's own command-line words.
type ArgvForm struct {
	Canonical bool   `json:"canonical"`
	Meaning   string `json:"meaning"`
}

func invocation() Invocation {
	return Invocation{
		Structured: Structured{Canonical: true, Mapping: Mapping{
			Command:    "executable, then positionals, then flags, in any order; short commands where a tool has `short`",
			Positional: "the members of input_schema.positional, in that order; all words that are left when the last one is a list",
			Key:        "--key VALUE with _ as -; each property's cli says how it is spelled",
			Boolean:    "a bare flag",
			Array:      "the flag once for each element",
			Nested:     "members of an object have flags of their own",
			Structure:  "a list of objects is one flag that takes JSON, or @FILE",
			Time:       "seconds, hh:mm:ss.mmm, or a timecode where the member takes a place in a recording",
			JSON:       "--json gives one document on standard output; measure.probe prints JSON without it",
			Exceptions: map[string]string{"output": "-o", "measure.loudness.lufs": "-I", "measure.loudness_apply.lufs": "-I"},
		}},
		Argv:   ArgvForm{false, "tools of measure, edit and review take argv, a list of their own command-line words, alone in place of every other key; it starts no shell and no other program"},
		MCP:    "tools/list is made of these entries: mcp.name, description, and input_schema without cli, common, positional and groups; positional members say (positional N)",
		DryRun: "--dry-run, or dry_run: the commands that would run, with <measured> where a measurement supplies a value; no ffmpeg runs, no file is written",
	}
}

// RoleEntry is a role with the tools that have it.
type RoleEntry struct {
	Role    tool.Role `json:"role"`
	Meaning string    `json:"meaning"`
	Tools   []string  `json:"tools"`
}

func roles(entries []ToolEntry) []RoleEntry {
	meaning := map[tool.Role]string{
		tool.Analysis: "measures or tells, writes no media", tool.AnalysisAndExecution: "writes what the tool of the same name without _apply measures",
		tool.Execution: "makes a new file or changes a record", tool.Verification: "checks or shows a file",
	}
	var all []RoleEntry
	for _, r := range tool.Roles {
		all = append(all, RoleEntry{r, meaning[r], named(entries, func(e ToolEntry) bool { return e.Role == r })})
	}
	return all
}

// HintEntry is a grade of repeatability with the tools that have it.
type HintEntry struct {
	Hint    tool.Exact `json:"hint"`
	Meaning string     `json:"meaning"`
	Tools   []string   `json:"tools"`
}

func hints(entries []ToolEntry) []HintEntry {
	meaning := map[tool.Exact]string{
		tool.BitExact: "same inputs, same bytes", tool.ContentEquivalent: "same inputs, same content; bytes may differ between builds of the encoder",
		tool.Cached: "same inputs, the first answer again", tool.EnvironmentDependent: "depends on the machine",
	}
	var all []HintEntry
	for _, h := range []tool.Exact{tool.BitExact, tool.ContentEquivalent, tool.Cached, tool.EnvironmentDependent} {
		all = append(all, HintEntry{h, meaning[h], named(entries, func(e ToolEntry) bool { return e.Hint == h })})
	}
	return all
}

// VerificationEntry says what to run after some tools.
type VerificationEntry struct {
	After []string `json:"after"`
	Run   []string `json:"run"`
}

const visualCheck = "requires_visual_verification is true exactly where review.look is in verification.tools; a file without pictures needs none: Look: not needed. Rows of review.check of kind format are to be mended, those of kind judgement are the user's to decide."

func verification(entries []ToolEntry) []VerificationEntry {
	all := []VerificationEntry{}
	for _, e := range entries {
		at := slices.IndexFunc(all, func(v VerificationEntry) bool { return slices.Equal(v.Run, e.Verification.Tools) })
		if at < 0 {
			at, all = len(all), append(all, VerificationEntry{Run: e.Verification.Tools})
		}
		all[at].After = append(all[at].After, e.ToolID)
	}
	return all
}

func named(entries []ToolEntry, is func(ToolEntry) bool) []string {
	names := []string{}
	for _, e := range entries {
		if is(e) {
			names = append(names, e.ToolID)
		}
	}
	return names
}

// OutputDocument is what every tool that measures, edits or reviews answers under --json.
type OutputDocument struct {
	Statuses []cutroom.Status   `json:"statuses"`
	Shared   *jsonschema.Schema `json:"shared"`
	Bare     []string           `json:"bare"` // tools whose command prints a part of it alone
}

func outputDocument(tools []*tool.Tool, defs map[string]*jsonschema.Schema) *OutputDocument {
	d := &OutputDocument{Statuses: []cutroom.Status{cutroom.Completed, cutroom.Partial, cutroom.Blocked}, Shared: tool.MadeShape(defs), Bare: []string{}}
	for _, t := range tools {
		if _, ok := t.NewOutput().(tool.Bare); ok {
			d.Bare = append(d.Bare, t.Name)
		}
	}
	return d
}

// ErrorDocument is every failure.
type ErrorDocument struct {
	Shape string      `json:"shape"`
	Codes []ErrorCode `json:"codes"`
	Exits []ExitCode  `json:"exit_codes"`
}

// ErrorCode is one code.
type ErrorCode struct {
	Code    cutroom.Code `json:"code"`
	Kind    string       `json:"kind"`
	Exit    int          `json:"exit"`
	HTTP    int          `json:"http"`
	Retry   bool         `json:"retry"` // another try of the same call can help
	Meaning string       `json:"meaning"`
}

// ExitCode is an exit code that is none of an error's.
type ExitCode struct {
	Exit    int    `json:"exit"`
	Meaning string `json:"meaning"`
}

func errorDocument() *ErrorDocument {
	d := &ErrorDocument{
		Shape: `{"status":"failed","error":{"kind","code","message","hint"}}`,
		Exits: []ExitCode{{0, "success"}, {3, "a partial result"}, {143, "ended by SIGTERM"}},
	}
	for _, f := range cutroom.Codes {
		d.Codes = append(d.Codes, ErrorCode{f.Code, f.Group, f.Exit, f.HTTP, f.Retry, f.Meaning})
	}
	return d
}
