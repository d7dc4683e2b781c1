package tools_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

var update = flag.Bool("update", false, "write the snapshots of the schemas anew")

func registry(t *testing.T) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A folder under internal/tools that is not in the list would be tools that nobody
// can call.
func TestEveryFolderIsAFamily(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders, families []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" {
			folders = append(folders, e.Name())
		}
	}
	for _, f := range tools.Families() {
		families = append(families, f.Name)
		if len(f.Tools())+len(f.Inner()) == 0 {
			t.Errorf("family %s has no tool", f.Name)
		}
	}
	slices.Sort(families)
	if diff := cmp.Diff(folders, families); diff != "" {
		t.Errorf("folders and families differ (-folders +families):\n%s", diff)
	}
}

func TestToolsAreSortedAndUnlike(t *testing.T) {
	t.Parallel()
	r := registry(t)
	var ids []string
	mcp, summaries := map[string]string{}, map[string]string{}
	for _, x := range r.Tools() {
		ids = append(ids, x.Name)
		if other, ok := mcp[x.MCPName()]; ok {
			t.Errorf("%s and %s have one name over MCP", x.Name, other)
		}
		if other, ok := summaries[x.Summary]; ok {
			t.Errorf("%s and %s have one summary", x.Name, other)
		}
		mcp[x.MCPName()], summaries[x.Summary] = x.Name, x.Name
		if len(x.Summary) > 100 || strings.ContainsAny(x.Summary, "\n|") {
			t.Errorf("%s: the summary does not fit one line", x.Name)
		}
	}
	if !slices.IsSorted(ids) {
		t.Errorf("not sorted: %v", ids)
	}
}

// schemas returns the two schemas of a tool as JSON.
func schemas(t *testing.T, x *tool.Tool) map[string][]byte {
	t.Helper()
	in, err := json.Marshal(x.InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(x.OutputSchema())
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"input_schema": in, "output_schema": out}
}

// Hosts drop a tool, or the whole list, for one of these: a $schema, a union, a list
// of types, a schema that is no object.
func TestSchemasSuitEveryHost(t *testing.T) {
	t.Parallel()
	for _, x := range registry(t).Tools() {
		for part, raw := range schemas(t, x) {
			var doc any
			if err := json.Unmarshal(raw, &doc); err != nil {
				t.Fatal(err)
			}
			if doc.(map[string]any)["type"] != "object" {
				t.Errorf("%s %s: the top is no object", x.Name, part)
			}
			for _, fault := range unsuited(doc, "", "") {
				t.Errorf("%s %s%s", x.Name, part, fault)
			}
		}
	}
}

// unsuited lists what hosts refuse, under the schema at path. named is the keyword
// that the value stands under: the names of properties are no keywords.
func unsuited(v any, path, named string) []string {
	var faults []string
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if named != "properties" && named != "default" {
				faults = append(faults, unsuitedKeyword(v, key, path)...)
			}
			under := key
			if named == "properties" {
				under = ""
			}
			faults = append(faults, unsuited(v[key], path+"/"+key, under)...)
		}
	case []any:
		for i, e := range v {
			faults = append(faults, unsuited(e, fmt.Sprintf("%s/%d", path, i), "")...)
		}
	}
	return faults
}

func unsuitedKeyword(schema map[string]any, key, path string) []string {
	switch key {
	case "$schema", "$ref", "$defs", "anyOf", "oneOf", "allOf", "if", "patternProperties":
		return []string{fmt.Sprintf("%s: has %s", path, key)}
	case "type":
		if _, ok := schema[key].(string); !ok {
			return []string{fmt.Sprintf("%s: the type is %v", path, schema[key])}
		}
	case "properties":
		for name, p := range schema[key].(map[string]any) {
			if d, ok := p.(map[string]any)["description"].(string); !ok || d == "" {
				return []string{fmt.Sprintf("%s: %s has no description", path, name)}
			}
		}
	}
	return nil
}

// A library that is not ours has to accept the schemas, and the examples by them.
func TestAnotherLibraryAgrees(t *testing.T) {
	t.Parallel()
	for _, x := range registry(t).Tools() {
		compiled := map[string]*jsonschema.Schema{}
		for part, raw := range schemas(t, x) {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			c.DefaultDraft(jsonschema.Draft2020)
			if err := c.AddResource("mem:///"+part, doc); err != nil {
				t.Fatal(err)
			}
			if compiled[part], err = c.Compile("mem:///" + part); err != nil {
				t.Errorf("%s %s: %v", x.Name, part, err)
			}
		}
		for i, e := range x.Examples {
			raw, err := tool.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if err := compiled["input_schema"].Validate(doc); err != nil {
				t.Errorf("%s: example %d does not fit its schema: %v", x.Name, i+1, err)
			}
			if _, err := x.Decode(raw); err != nil {
				t.Errorf("%s: example %d is refused: %v", x.Name, i+1, err)
			}
			wrong := bytes.Replace(raw, []byte("{"), []byte(`{"no_such_member":1,`), 1)
			if bad, err := jsonschema.UnmarshalJSON(bytes.NewReader(wrong)); err != nil || compiled["input_schema"].Validate(bad) == nil {
				t.Errorf("%s: the schema lets an unknown member through (%v)", x.Name, err)
			}
		}
	}
}

// A change of a schema is a change of the contract: it has to be seen in a diff.
func TestSchemasAreTheSnapshots(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testenv.Root(t), "testdata", "schema")
	known := map[string]bool{}
	for _, x := range registry(t).Tools() {
		now, err := x.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, x.Name+".json")
		known[x.Name+".json"] = true
		if *update {
			if err := os.WriteFile(file, now, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v; run `make generate`", err)
			continue
		}
		if diff := cmp.Diff(string(want), string(now)); diff != "" {
			t.Errorf("%s changed; if that is meant, run `go test ./internal/tools -update` (-snapshot +now):\n%s", x.Name, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); !known[name] && !strings.HasPrefix(name, "video-1.2.0") {
			t.Errorf("%s is of no tool", name)
		}
	}
}
