package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"cutroom/internal/docgen"
	"cutroom/internal/tool"
)

// Question is something that an agent has to know before it calls a tool.
type Question struct {
	ID   string
	Ask  string
	Tool string // whose contract is given beside the overview; "" for none
	// Path is where the answer stands: from the document's top, or, where Tool is given,
	// from the tool's entry. See find.
	Path string
}

// questions are about the whole first, then about single tools.
var questions = []Question{
	{"version", "Which version of the contract document is this?", "", "contract_version"},
	{"skill", "What is the id of the skill?", "", "skill/id"},
	{"mode", "Where does it execute: local or remote? Give execution_mode.", "", "skill/execution_mode"},
	{"mcp-command", "Which command serves the tools over MCP?", "", "skill/entrypoints/mcp"},
	{"doctor", "Which command says what is missing on this machine?", "", "skill/entrypoints/doctor"},
	{"speech", "Does the list of what is not provided name text to speech?", "", "skill/not_provided/?text to speech"},
	{"shell", "Can a call run a shell?", "", "execution/shell"},
	{"mutation", "Can a call change its input file?", "", "execution/input_mutation"},
	{"network", "Is there a tool that can reach the network?", "", "execution/network"},
	{"ffmpeg", "Which version of ffmpeg is required?", "", "requirements/ffmpeg"},
	{"required", "Which capabilities does some tool always need? List their names.", "", "capabilities/required"},
	{"canonical", "Is argv the canonical way to call a tool?", "", "invocation/argv/canonical"},
	{"structured", "Are structured arguments the canonical way to call a tool?", "", "invocation/structured/canonical"},
	{"output-flag", "Which short flag stands for the argument output on a command line?", "", "invocation/structured/argument_mapping/exceptions/output"},
	{"verifiers", "Which tools have the role verification?", "", "roles/role=verification/tools"},
	{"applying", "Which tools have the role analysis_and_execution?", "", "roles/role=analysis_and_execution/tools"},
	{"looked-at", "After which tools does somebody have to look at the picture?", "", "tools/*requires_visual_verification=true/@tool_id"},
	{"reach-out", "Which tools have network access by an approval that is bound to the destination?", "", "tools/*network_access=destination_bound_approval/@tool_id"},
	{"pictures", "Which tools refuse an input without pictures?", "", "tools/*video_required=true/@tool_id"},
	{"never-again", "Which tools must not be called again while the outcome of a call is unknown?", "", "tools/*replay=never/@tool_id"},
	{"deciding", "Which tools have the kind approve?", "", "tools/*kind=approve/@tool_id"},
	{"bare", "Which tools print a bare document under --json?", "", "output_document/bare"},
	{"exit-missing", "Which exit code has an error with the code missing_dependency?", "", "error_document/codes/code=missing_dependency/exit"},
	{"exit-denied", "Which exit code has an error with the code denied?", "", "error_document/codes/code=denied/exit"},
	{"retry-timeout", "Can it help to make the same call again after an error with the code timeout?", "", "error_document/codes/code=timeout/retry"},
	{"retry-invalid", "Can it help to make the same call again after an error with the code invalid?", "", "error_document/codes/code=invalid/retry"},
	{"kind-verification", "Which kind does an error with the code verification carry?", "", "error_document/codes/code=verification/kind"},
	{"http-approval", "Which HTTP status has an error with the code needs_approval?", "", "error_document/codes/code=needs_approval/http"},
	{"partial", "What does exit code 3 mean?", "", "error_document/exit_codes/exit=3/meaning"},
	{"download-effects", "Which side effects does video.download have?", "", "tools/tool_id=video.download/side_effects"},
	{"scope", "Which scope does an API token need to call edit.cut?", "", "tools/tool_id=edit.cut/scope"},
	{"by-short", "Which tool does the short command `cutroom scenes` call?", "", "tools/short=scenes/tool_id"},
	{"ocr-programs", "Which foreign programs does video.ocr_frames depend on?", "", "tools/tool_id=video.ocr_frames/cli_dependencies"},

	{"fit-check", "Which tools are to be run on a file that edit.fit wrote?", "edit.fit", "verification/tools"},
	{"fit-crop", "What is the greatest value that edit.fit takes for crop_x?", "edit.fit", "input_schema/properties/crop_x/maximum"},
	{"fit-smooth", "When does edit.fit need the filter minterpolate?", "edit.fit", "capabilities/optional/capability=filter:minterpolate/when"},
	{"caption-needs", "Which capabilities does edit.caption always need?", "edit.caption", "capabilities/required"},
	{"caption-sources", "Of which members does edit.caption need one, and takes no more than one?", "edit.caption", "input_schema/one_of_required"},
	{"caption-place", "Where do captions of edit.caption stand when nothing is said? Give the default of position.", "edit.caption", "input_schema/properties/style/properties/position/default"},
	{"caption-places", "Which values does edit.caption take for position?", "edit.caption", "input_schema/properties/style/properties/position/enum"},
	{"join-words", "Which members does edit.join take by position, in order?", "edit.join", "input_schema/positional"},
	{"loop-groups", "Which members of edit.loop exclude each other?", "edit.loop", "input_schema/mutually_exclusive"},
	{"cut-output", "How is the member output of edit.cut spelled on a command line?", "edit.cut", "input_schema/properties/output/cli"},
	{"cut-dry", "Does edit.cut support a dry run?", "edit.cut", "supports_dry_run"},
	{"ramp-required", "Which members of edit.speedramp are required?", "edit.speedramp", "input_schema/required"},
	{"audio-only", "Does edit.audio take a file without pictures?", "edit.audio", "audio_only"},
	{"loudness-flag", "Which flag stands for lufs of measure.loudness_apply, other than the general mapping says?", "measure.loudness_apply", "mcp/argument_exceptions/lufs"},
	{"loudness-check", "Which tools are to be run on a file that measure.loudness_apply wrote?", "measure.loudness_apply", "verification/tools"},
	{"silence-mcp", "What is measure.silence_apply called over MCP?", "measure.silence_apply", "mcp/name"},
	{"apply-command", "Which command calls measure.loudness_apply?", "measure.loudness_apply", "executable"},
	{"check-hint", "What do two calls of review.check with the same input have in common? Give the idempotency hint.", "review.check", "idempotency_hint"},
	{"check-calls", "Which tools does review.check call?", "review.check", "calls"},
	{"look-kind", "Of which kind is review.look?", "review.look", "kind"},
	{"look-groups", "How many pairs or groups of members of review.look exclude each other?", "review.look", "input_schema/mutually_exclusive/#"},
	{"probe-time", "How many seconds may a call of video.probe take?", "video.probe", "timeout_seconds"},
	{"probe-version", "Which contract version has video.probe?", "video.probe", "contract_version"},
	{"frames", "At most how many frames does video.extract_frames take?", "video.extract_frames", "max_frames"},
	{"sync-writes", "Does measure.sync write a file at a path of the caller's?", "measure.sync", "produces_artifact"},
}

// reading is what a reader is given: an overview of all tools and, for a question about
// one tool, its own contract.
type reading struct {
	overview []byte
	tools    map[string][]byte
}

// read makes the texts out of a registry.
func read(r *tool.Registry) (reading, error) {
	d := docgen.Contract(r, docgen.ContractOptions{}, nil)
	d.Defs, d.Extensions = nil, nil
	for i := range d.Tools {
		e := &d.Tools[i]
		e.InputSchema, e.OutputSchema, e.Description = nil, nil, ""
		e.RedactionPolicy, e.ProvenanceFields, e.Capabilities = nil, nil, docgen.ToolCapabilities{}
	}
	over, err := json.Marshal(d)
	if err != nil {
		return reading{}, fmt.Errorf("overview: %w", err)
	}
	given := reading{over, map[string][]byte{}}
	for _, q := range questions {
		if q.Tool == "" || given.tools[q.Tool] != nil {
			continue
		}
		t, ok := r.Find(q.Tool)
		if !ok {
			return reading{}, fmt.Errorf("%s: there is no %s", q.ID, q.Tool)
		}
		if given.tools[q.Tool], err = json.Marshal(docgen.ShortContract(r, t, docgen.ContractOptions{})); err != nil {
			return reading{}, fmt.Errorf("%s: %w", q.Tool, err)
		}
	}
	return given, nil
}

// text is what a reader of one question sees.
func (g reading) text(q Question) string {
	if q.Tool == "" {
		return string(g.overview)
	}
	return string(g.tools[q.Tool])
}

// answer computes the answer from the whole contract, which the reader does not see.
func answer(whole any, q Question) (any, error) {
	at := whole
	if q.Tool != "" {
		var err error
		if at, err = find(whole, "tools/tool_id="+q.Tool); err != nil {
			return nil, err
		}
	}
	return find(at, q.Path)
}

// answers computes those of all questions.
func answers(r *tool.Registry) (map[string]any, error) {
	raw, err := json.Marshal(docgen.Contract(r, docgen.ContractOptions{}, nil))
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	var whole any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	all := map[string]any{}
	for _, q := range questions {
		if all[q.ID], err = answer(whole, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q.ID, err)
		}
	}
	if len(all) != len(questions) {
		return nil, fmt.Errorf("%d questions have %d ids: %v", len(questions), len(all), slices.Sorted(maps.Keys(all)))
	}
	return all, nil
}
