package docgen_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/docgen"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

func registry(t *testing.T) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestContractIsSortedAndTheSameEveryTime(t *testing.T) {
	t.Parallel()
	encode := func() []byte {
		b, err := json.Marshal(docgen.Contract(registry(t), docgen.ContractOptions{}, nil))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := encode()
	for range 3 {
		if diff := cmp.Diff(string(first), string(encode())); diff != "" {
			t.Fatal(diff)
		}
	}
	var ids []string
	for _, e := range docgen.Contract(registry(t), docgen.ContractOptions{}, nil).Tools {
		ids = append(ids, e.ToolID)
		if e.Title != e.ToolID || e.GenericShell || e.MutatesInput || len(e.Needs) > 0 {
			t.Errorf("%s: title %q, shell %v, mutates %v, needs %v in the static contract", e.ToolID, e.Title, e.GenericShell, e.MutatesInput, e.Needs)
		}
	}
	if !slices.IsSorted(ids) || len(ids) == 0 {
		t.Errorf("ids are not sorted: %v", ids)
	}
}

// facts are the members of a 1.2.0 contract besides its schemas.
type facts struct {
	ToolID             string   `json:"tool_id"`
	ContractVersion    string   `json:"contract_version"`
	MCPName            string   `json:"mcp_name"`
	SideEffects        []string `json:"side_effects"`
	NetworkAccess      string   `json:"network_access"`
	Approval           string   `json:"approval"`
	FilesystemRoots    []string `json:"filesystem_roots"`
	TimeoutSeconds     int      `json:"timeout_seconds"`
	MaxFileBytes       int64    `json:"max_file_bytes"`
	MaxDurationSeconds int64    `json:"max_duration_seconds"`
	MaxFrames          int      `json:"max_frames"`
	SupportedFormats   []string `json:"supported_formats"`
	CLIDependencies    []string `json:"cli_dependencies"`
	ProvenanceFields   []string `json:"provenance_fields"`
	GenericShell       bool     `json:"generic_shell"`
}

// The facts of the eight video.* tools are those of 1.2.0.
func TestFactsAreThoseOfTheOldContract(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(testenv.Shared(t), "sources", "video-1.2.0-schemas.json"))
	if err != nil {
		t.Fatal(err)
	}
	var old struct{ Tools []facts }
	if err := json.Unmarshal(raw, &old); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(old.Tools, func(a, b facts) int {
		if a.ToolID < b.ToolID {
			return -1
		}
		return 1
	})
	encoded, err := json.Marshal(docgen.Contract(registry(t), docgen.ContractOptions{StageRoot: "ops/staging/watch"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	var now struct{ Tools []facts }
	if err := json.Unmarshal(encoded, &now); err != nil {
		t.Fatal(err)
	}
	now.Tools = slices.DeleteFunc(now.Tools, func(f facts) bool { return f.ToolID[:6] != "video." })
	for _, list := range [][]facts{old.Tools, now.Tools} {
		for i := range list { // a set: the order of the members is not part of the contract
			slices.Sort(list[i].ProvenanceFields)
			slices.Sort(list[i].CLIDependencies)
		}
	}
	if diff := cmp.Diff(old.Tools, now.Tools); diff != "" {
		t.Errorf("facts differ (-1.2.0 +now):\n%s", diff)
	}
}

func TestReadmeKeepsWhatIsOutsideTheMarks(t *testing.T) {
	t.Parallel()
	r := registry(t)
	text := []byte("# a\n<!-- tools: begin, made by `make generate` -->\nold\n<!-- tools: end -->\nb\n")
	got, err := docgen.Readme(text, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := docgen.Readme(got, r)
	if err != nil || string(again) != string(got) {
		t.Errorf("a second run changes the text (%v)", err)
	}
	if want := "# a\n<!-- tools: begin"; string(got[:len(want)]) != want {
		t.Errorf("got %.60q", got)
	}
	if _, err := docgen.Readme([]byte("# no marks\n"), r); err == nil {
		t.Error("a README without marks was accepted")
	}
}
