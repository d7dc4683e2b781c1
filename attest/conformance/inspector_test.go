package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/testenv"
)

// eras are the two ways of the protocol: with a handshake, and stateless.
var eras = []string{"legacy", "modern"}

// inspector is the official inspector's command line.
type inspector struct {
	jail
	cutroom string
}

// answer is what the inspector prints with --format json.
type answer struct {
	Result struct {
		Tools []struct {
			Name         string
			InputSchema  json.RawMessage
			OutputSchema json.RawMessage
			Annotations  json.RawMessage
		}
		Content []struct {
			Type, Text, MIMEType, URI string
			Data                      []byte
		}
		StructuredContent json.RawMessage
		IsError           bool
	}
	SchemaFindings []json.RawMessage
}

// TestInspector has the official inspector list, lint and call the tools of one build.
func TestInspector(t *testing.T) {
	t.Parallel()
	folders := testenv.Hosts(t, "node22", "inspector")
	cutroom := build(t, "cmd/cutroom")
	for name, test := range map[string]func(*testing.T, inspector){
		"ToolsListStrict": toolsListStrict,
		"ToolsCall":       toolsCall,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, inspector{newJail(t, folders...), cutroom})
		})
	}
}

// prepare puts the sample clip into the folder that programs start in, and sets cutroom
// up there.
func (i inspector) prepare(t *testing.T) {
	t.Helper()
	data := filepath.Join(i.home, ".local", "share", "cutroom")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testenv.Models(t), filepath.Join(data, "models")); err != nil {
		t.Fatal(err)
	}
	clip, err := os.ReadFile(filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(i.home, "demo.mp4"), clip, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := i.run(t, i.cutroom, "setup"); code != 0 {
		t.Fatalf("setup: exit code %d\n%s", code, complaints)
	}
}

// inspect runs the inspector, after the words of wrap, and reads its answer.
func (i inspector) inspect(t *testing.T, wrap []string, options ...string) (int, answer, string) {
	t.Helper()
	code, out, complaints := i.run(t, slices.Concat(wrap, []string{"mcp-inspector", "--cli", "--format", "json"}, options)...)
	var a answer
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&a); err != nil {
		t.Fatalf("%q: exit code %d, %v\n%s\n%s", options, code, err, out, complaints)
	}
	return code, a, complaints
}

// toolsListStrict has the schemas linted that hosts get to see.
func toolsListStrict(t *testing.T, i inspector) {
	for _, toolsets := range []string{"default", "video", "all"} {
		var first answer
		for _, era := range eras {
			code, a, complaints := i.inspect(t, nil, "--method", "tools/list", "--strict", "--protocol-era", era, "--", i.cutroom, "mcp", "--toolsets", toolsets)
			if code != 0 || complaints != "" {
				t.Errorf("%s, %s: exit code %d: %s", toolsets, era, code, complaints)
			}
			for _, f := range a.SchemaFindings {
				t.Errorf("%s, %s: %s", toolsets, era, f)
			}
			if len(a.Result.Tools) == 0 {
				t.Errorf("%s, %s: no tools", toolsets, era)
			}
			if era == eras[0] {
				first = a
			} else if d := cmp.Diff(first.Result.Tools, a.Result.Tools); d != "" {
				t.Errorf("%s: the eras list different tools: %s", toolsets, d)
			}
		}
		t.Logf("%s: %d tools", toolsets, len(first.Result.Tools))
	}
}

// The lint would say so if there were something: the fixture has a schema that is legal
// and not portable.
func TestStrictLintFinds(t *testing.T) {
	t.Parallel()
	i := inspector{jail: newJail(t, testenv.Hosts(t, "node22", "inspector")...)}
	fixture := build(t, "attest/conformance/fixture")
	for _, era := range eras {
		_, a, complaints := i.inspect(t, []string{fixture}, "--method", "tools/list", "--strict", "--protocol-era", era, "--transport", "http", "--server-url", "{url}")
		if len(a.SchemaFindings) != 1 || !bytes.Contains(a.SchemaFindings[0], []byte("test_nullable_argument")) {
			t.Errorf("%s: findings %s: %s", era, a.SchemaFindings, complaints)
		}
	}
}

// call calls a tool over standard input and output, requires that it succeeds, and
// returns its texts and the answer.
func (i inspector) call(t *testing.T, era, tool, arguments string, options ...string) (string, answer) {
	t.Helper()
	code, a, complaints := i.inspect(t, nil, slices.Concat(
		[]string{"--method", "tools/call", "--protocol-era", era, "--tool-name", tool, "--tool-args-json", arguments, "--", i.cutroom, "mcp"}, options)...)
	var said strings.Builder
	for _, c := range a.Result.Content {
		said.WriteString(c.Text)
	}
	if code != 0 || a.Result.IsError {
		t.Fatalf("%s, %s %s: exit code %d: %s\n%s", era, tool, arguments, code, said.String(), complaints)
	}
	return said.String(), a
}

var (
	runID = regexp.MustCompile(`run_id ([0-9a-f]{16})`)
	jobID = regexp.MustCompile(`"job_id":"([0-9a-z]+)"`)
)

// contains requires a part of a text and returns what the expression's group matched.
func contains(t *testing.T, what, said string, part *regexp.Regexp) string {
	t.Helper()
	found := part.FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("%s: no %s in: %s", what, part, said)
	}
	return found[len(found)-1]
}

// toolsCall has each tool called that hosts see, on a real clip. Every call is a server
// of its own: what one started, the next goes on with.
func toolsCall(t *testing.T, i inspector) {
	i.prepare(t)
	_, listed, _ := i.inspect(t, nil, "--method", "tools/list", "--", i.cutroom, "mcp")
	for n, era := range eras {
		called := map[string]bool{}
		call := func(tool, arguments string, options ...string) (string, answer) {
			called[tool] = true
			return i.call(t, era, tool, arguments, options...)
		}
		said, watched := call("media_watch", `{"source":{"kind":"local_file","value":"demo.mp4"}}`)
		contains(t, "spoken", said, regexp.MustCompile(`no space left`))
		contains(t, "on screen", said, regexp.MustCompile(`Weekly release review`))
		run := contains(t, "media_watch", said, runID)
		requirePictures(t, watched)
		said, _ = call("media_ask", `{"run":{"run":"`+run+`"},"question":"why was the file not saved?"}`)
		contains(t, "media_ask", said, regexp.MustCompile(`no space left`))
		said, _ = call("measure_probe", `{"inputs":["demo.mp4"]}`)
		contains(t, "measure_probe", said, regexp.MustCompile(`h264`))
		said, _ = call("tool_search", `{"query":"extract frames"}`)
		contains(t, "tool_search", said, regexp.MustCompile(`video_extract_frames`))
		callEdits(call, fmt.Sprint(n))
		// Another mode in each era, or the second would find the first's result.
		callJobs(t, call, []string{"automation", "timeline"}[n])
		for _, tool := range listed.Result.Tools {
			if !called[tool.Name] {
				t.Errorf("%s is listed and was never called", tool.Name)
			}
		}
	}
}

// callEdits has the tools called that write and judge files; each names a file of its
// own.
func callEdits(call func(tool, arguments string, options ...string) (string, answer), n string) {
	call("edit_cut", `{"input":"demo.mp4","start":"2","end":"5","output":"cut`+n+`.mp4"}`)
	call("edit_fit", `{"input":"cut`+n+`.mp4","aspect":"1:1","output":"fit`+n+`.mp4"}`)
	call("edit_caption", `{"input":"cut`+n+`.mp4","cues":[{"start":"0.5","end":"2","text":"Said"}],"output":"caption`+n+`.mp4"}`)
	call("measure_silence_apply", `{"input":"demo.mp4","output":"tight`+n+`.mp4"}`)
	call("measure_loudness_apply", `{"input":"demo.mp4","output":"loud`+n+`.mp4"}`)
	call("review_look", `{"input":"demo.mp4"}`)
	call("review_check", `{"input":"demo.mp4"}`)
}

// callJobs lets a watch outlast its call, and follows the job from other servers.
func callJobs(t *testing.T, call func(tool, arguments string, options ...string) (string, answer), mode string) {
	t.Helper()
	said, _ := call("media_watch", `{"source":{"kind":"local_file","value":"demo.mp4"},"mode":"`+mode+`"}`, "--patience", "1ms")
	job := contains(t, "a call beyond its patience", said, jobID)
	said, _ = call("job_wait", `{"id":"`+job+`"}`)
	contains(t, "job_wait", said, regexp.MustCompile(`state: completed`))
	contains(t, "job_wait", said, regexp.MustCompile(`no space left`))
	for _, tool := range []string{"job_get", "job_cancel"} { // what has ended is not cancelled
		said, _ = call(tool, `{"id":"`+job+`"}`)
		contains(t, tool, said, regexp.MustCompile(`state: completed`))
	}
}

// requirePictures requires pictures that decode, and nothing beside them that makes
// hosts drop them.
func requirePictures(t *testing.T, a answer) {
	t.Helper()
	pictures := 0
	for _, c := range a.Result.Content {
		if c.Type != "image" {
			continue
		}
		pictures++
		if _, err := jpeg.Decode(bytes.NewReader(c.Data)); err != nil || c.MIMEType != "image/jpeg" {
			t.Errorf("picture %d, %s: %v", pictures, c.MIMEType, err)
		}
	}
	if pictures == 0 || pictures > 12 || a.Result.StructuredContent != nil {
		t.Errorf("%d pictures, structured content %s", pictures, a.Result.StructuredContent)
	}
}
