package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"cutroom/internal/docgen"
	"cutroom/internal/testenv"
)

const cues = 3000

// twoHours makes a recording of two hours with captions beside it, several of them at
// one time.
func twoHours(t *testing.T, dir string) {
	t.Helper()
	part := filepath.Join(t.TempDir(), "part.mp4")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=1:duration=120", "-g", "30", "-c:v", "libx264", "-preset", "ultrafast", part)
	testenv.FFmpeg(t, "-stream_loop", "59", "-i", part, "-c", "copy", filepath.Join(dir, "long.mp4"))
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	clock := func(s int) string { return fmt.Sprintf("%02d:%02d:%02d.000", s/3600, s/60%60, s%60) }
	for n := range cues {
		at := n/3*7 + 1
		fmt.Fprintf(&b, "\n%s --> %s\ncue number %d speaks «so» of topic%d\n", clock(at), clock(at+2), n, n%97)
	}
	if err := os.WriteFile(filepath.Join(dir, "long.vtt"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

var cue = regexp.MustCompile(`cue number (\d+) speaks`)

// eachOnce checks that some texts hold every cue once.
func eachOnce(t *testing.T, where string, texts ...string) {
	t.Helper()
	seen := map[string]int{}
	for _, text := range texts {
		for _, m := range cue.FindAllStringSubmatch(text, -1) {
			seen[m[1]]++
		}
	}
	wrong := 0
	for n := range cues {
		if seen[fmt.Sprint(n)] != 1 {
			wrong++
		}
	}
	if wrong > 0 || len(seen) != cues {
		t.Errorf("%s: %d of %d cues are not there once", where, wrong, cues)
	}
}

// TestTwoHours: whatever the mode and the era, an answer fits a host; what it leaves
// out is reached by the calls and the resources that it names, every cue once.
func TestTwoHours(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	twoHours(t, dir)
	s := i.serve(t, dir, "mcp", "--patience", "1h").open("2025-11-25")
	modern := i.serve(t, dir, "mcp", "--patience", "1h").modern()
	runs := map[string]string{}
	for _, mode := range []string{"timeline", "summary", "automation", "frames", "transcript"} {
		input := source("long.mp4", `"mode":"`+mode+`","max_frames":14`)
		a := s.good("media_watch", input)
		if (a.pictures > 0) != (mode != "transcript") || a.Structured != nil {
			t.Errorf("%s: %d pictures, structured content %v", mode, a.pictures, a.Structured != nil)
		}
		if b := modern.good("media_watch", input); b.text() != a.text() || b.pictures != a.pictures {
			t.Errorf("%s: the stateless era is answered otherwise", mode)
		}
		t.Logf("%s: %d characters, %d pictures, %d links", mode, len([]rune(a.text())), a.pictures, a.links())
		s.reads(a)
		runs[mode] = runOf(t, a)
	}
	s.pagesByAsking(runs["timeline"])
	s.pagesByResource("cutroom://run/" + runs["timeline"] + "/timeline.json")
	s.pagesByResource("cutroom://run/" + runs["summary"] + "/timeline.md")
	modern.pagesByResource("cutroom://run/" + runs["transcript"])
}

func (a *answer) links() (n int) {
	for _, c := range a.Content {
		if c.Type == "resource_link" {
			n++
		}
	}
	return n
}

// reads checks that what an answer links to is there.
func (s *mcpServer) reads(a *answer) {
	s.t.Helper()
	for _, c := range a.Content {
		if c.Type != "resource_link" {
			continue
		}
		if m := s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, c.URI)); m.Error != nil {
			s.t.Errorf("%s: %s", c.URI, m.line)
		}
	}
}

// pagesByAsking follows the calls that the answers name.
func (s *mcpServer) pagesByAsking(run string) {
	s.t.Helper()
	next := regexp.MustCompile(`media_ask (\{.*?\}) goes on|"from":(\d+) goes on`)
	var texts []string
	from := 0
	for {
		a := s.good("media_ask", fmt.Sprintf(`{"run":{"run":%q},"from":%d}`, run, from))
		texts = append(texts, a.text())
		m := next.FindStringSubmatch(a.text())
		if m == nil {
			break
		}
		before := from
		var input struct{ From int }
		if m[2] != "" {
			decode(s.t, []byte(`{"from":`+m[2]+`}`), &input)
		} else {
			decode(s.t, []byte(m[1]), &input)
		}
		if from = input.From; from <= before {
			s.t.Fatalf("from %d it goes on from %d", before, from)
		}
	}
	s.t.Logf("media_ask: %d calls", len(texts))
	eachOnce(s.t, "media_ask", texts...)
}

// pagesByResource reads a resource that holds the cues.
func (s *mcpServer) pagesByResource(uri string) {
	s.t.Helper()
	whole := s.whole(uri)
	if !strings.HasSuffix(uri, ".md") && !json.Valid([]byte(whole)) {
		s.t.Errorf("%s: the pages together are no JSON", uri)
	}
	eachOnce(s.t, uri, whole)
}

var morePages = regexp.MustCompile(`\n\[page \d+ of (\d+); the next is \?page=(\d+)\]$`)

// whole reads a resource page by page, as the pages say. Without the lines that name
// the next one they are the text.
func (s *mcpServer) whole(uri string) string {
	s.t.Helper()
	var whole strings.Builder
	pages, at := 0, uri
	for at != "" {
		var r struct {
			Contents []struct {
				URI, Text, MIMEType string
				Meta                struct{ Page, Pages int } `json:"_meta"`
			}
		}
		decode(s.t, s.must("resources/read", fmt.Sprintf(`{"uri":%q}`, at)), &r)
		if len(r.Contents) != 1 || r.Contents[0].URI != at || len([]rune(r.Contents[0].Text)) > 33_000 {
			s.t.Fatalf("%s: %d pieces", at, len(r.Contents))
		}
		c := r.Contents[0]
		pages++
		m := morePages.FindStringSubmatch(c.Text)
		whole.WriteString(morePages.ReplaceAllString(c.Text, ""))
		if at = ""; m != nil {
			at = uri + "?page=" + m[2]
		}
		if (m == nil) != (c.Meta.Page == c.Meta.Pages) || (pages > 1 || m != nil) && c.Meta.Page != pages {
			s.t.Errorf("page %d says that it is %d of %d, and names a next one: %v", pages, c.Meta.Page, c.Meta.Pages, m != nil)
		}
	}
	s.t.Logf("%s: %d pages", uri, pages)
	if m := s.ask("resources/read", fmt.Sprintf(`{"uri":"%s?page=%d"}`, uri, pages+1)); m.Error == nil {
		s.t.Errorf("there is a page %d of %d", pages+1, pages)
	}
	return whole.String()
}

// TestStructuredContentKeepsItsPromise calls every tool that answers structured
// content, with answers that fit and answers that had to be shortened, and checks
// each by another library than our own: against the schema in the list, or where none
// is listed the contract's.
func TestStructuredContentKeepsItsPromise(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	twoHours(t, dir)
	sample(t, dir)
	still(t, dir)
	s := i.serve(t, dir, "mcp", "--toolsets", "all", "--patience", "1h").open("2025-11-25")
	c := &promise{mcpServer: s, schemas: s.schemas(i, dir), shortened: map[string]int{}}
	c.tools()
	t.Logf("shortened: %v", c.shortened)
	for name := range c.schemas {
		// What an edit answers is one shape; TestExamplesWorkAndLeaveInputsAlone holds each
		// tool's to its schema. Here some stand for all of them.
		if strings.HasPrefix(name, "edit_") || strings.HasPrefix(name, "review_") {
			continue
		}
		// video_download has nobody to ask here, media_transcribe no program of the operator's
		// own, and no model decides.
		if _, called := c.shortened[name]; !called && !slices.Contains([]string{"video_download", "media_transcribe", "approval_decide"}, name) {
			t.Errorf("%s was not called", name)
		}
	}
	for _, tool := range []string{"video_transcript", "video_extract_frames", "video_ocr_frames", "video_inspect_frames", "video_summarize_timeline", "measure_signals"} {
		if c.shortened[tool] == 0 {
			t.Errorf("%s was not shortened: the test says nothing of it", tool)
		}
	}
	if m := s.ask("tools/call", callParams("video_download", `{"source":{"kind":"url","value":"https://media.example.com/a.mp4"}}`)); s.failed(m).Error.Code != "needs_approval" {
		t.Errorf("%s", m.line)
	}
}

// schemas are those of the answers without pictures, by the tool's name.
func (s *mcpServer) schemas(i *installation, dir string) map[string]*jsonschema.Schema {
	s.t.Helper()
	raw := i.run(s.t, dir, "contract", "--json")
	var contract docgen.Document
	decode(s.t, raw, &contract)
	all := map[string]*jsonschema.Schema{}
	for n, e := range contract.Tools {
		if !e.Pictures {
			all[e.MCPName] = compile(s.t, raw, fmt.Sprintf("#/tools/%d/output_schema", n))
		}
	}
	for _, l := range s.list() {
		if l.OutputSchema != nil {
			all[l.Name] = compile(s.t, l.OutputSchema, "")
		}
	}
	return all
}

// compile makes a schema of the place in a document that a JSON pointer names.
func compile(t *testing.T, raw json.RawMessage, at string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mem:schema" + at)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// promise is a server whose answers are checked against their schemas.
type promise struct {
	*mcpServer
	schemas   map[string]*jsonschema.Schema
	shortened map[string]int // answers by the tool's name
}

// check calls a tool and returns its structured content.
func (c *promise) check(tool, input string) json.RawMessage {
	c.t.Helper()
	a := c.good(tool, input)
	if a.Structured == nil || a.pictures > 0 {
		c.t.Fatalf("%s: structured content %v, %d pictures", tool, a.Structured != nil, a.pictures)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Structured))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.schemas[tool].Validate(v); err != nil {
		c.t.Errorf("%s: %v\n%.1000s", tool, err, a.Structured)
	}
	c.shortened[tool] += 0
	if bytes.Contains(a.Structured, []byte("shortened to fit")) {
		c.shortened[tool]++
		if !bytes.Contains(a.Structured, []byte(`"status":"partial"`)) || !bytes.Contains(a.Structured, []byte("cutroom://run/")) {
			c.t.Errorf("%s does not say where the rest is: %.500s", tool, a.Structured)
		}
	}
	return a.Structured
}

// full is the answer of a call that was recorded, without anything left out, read
// the way that a shortened one names.
func (c *promise) full(answer json.RawMessage) json.RawMessage {
	c.t.Helper()
	uri := regexp.MustCompile(`cutroom://run/[0-9a-f]{16}`).Find(answer)
	if uri == nil {
		return answer
	}
	return json.RawMessage(c.whole(string(uri)))
}

// tools calls each tool with an answer that fits and one that does not.
// edits calls the tools that measure, edit and review.
func (c *promise) edits() {
	c.t.Helper()
	c.check("edit_cut", `{"input":"demo.mp4","start":"2","end":"5","output":"cut.mp4"}`)
	for tool, input := range map[string]string{ // a dry run answers the plan
		"edit_cut":   `{"input":"demo.mp4","start":"2","end":"5","dry_run":true}`,
		"edit_batch": `{"folder":".","text":"steps: [{tool: edit.cut, with: {start: 1}}]","dry_run":true}`,
	} {
		c.check(tool, input)
	}
	c.check("edit_fit", `{"input":"cut.mp4","aspect":"1:1","output":"fit.mp4"}`)
	c.check("edit_caption", `{"input":"cut.mp4","cues":[{"start":"0.5","end":"2","text":"Said"}],"output":"caption.mp4"}`)
	c.check("edit_join", `{"inputs":["cut.mp4","fit.mp4"],"output":"join.mp4"}`)
	c.check("edit_audio", `{"input":"cut.mp4","gain":-3,"output":"audio.mp4"}`)
	c.check("edit_export", `{"input":"cut.mp4","preset":"x","output":"export.mp4"}`)
	for _, tool := range []string{"measure_silence", "measure_loudness", "measure_scenes", "review_check"} {
		c.check(tool, `{"input":"demo.mp4"}`)
	}
	c.check("measure_silence_apply", `{"input":"demo.mp4","output":"tight.mp4"}`)
	c.check("measure_loudness_apply", `{"input":"demo.mp4","output":"loud.mp4"}`)
	c.check("measure_sync", `{"reference":"demo.mp4","second":"cut.mp4"}`)
	c.check("measure_sync_apply", `{"reference":"demo.mp4","second":"demo.mp4","output":"aligned.mp4"}`)
	c.check("measure_cropdetect", `{"input":"cut.mp4"}`)
	c.check("edit_metadata", `{"input":"cut.mp4","title":"Said","output":"named.mp4"}`)
	c.check("edit_background", `{"colors":["navy"],"duration":1,"width":320,"height":180,"output":"navy.mp4"}`)
	c.check("edit_freeze", `{"input":"navy.mp4","at":"0.5","output":"frozen.mp4"}`)
	c.check("edit_overlay", `{"input":"navy.mp4","image":"still.png","output":"over.mp4"}`)
}

func (c *promise) tools() {
	c.t.Helper()
	for _, file := range []string{"demo.mp4", "long.mp4"} {
		c.check("video_probe", source(file, `"detail":"full"`))
		c.check("measure_probe", `{"inputs":["`+file+`"]}`)
		c.check("measure_signals", `{"input":"`+file+`"}`)
		frames := `"interval_seconds":600,"width":160`
		if file == "long.mp4" {
			frames = `"interval_seconds":150,"width":160,"detail":"full"`
		}
		var taken struct{ Frames json.RawMessage }
		decode(c.t, c.full(c.check("video_extract_frames", source(file, frames))), &taken)
		var read struct{ Items json.RawMessage }
		decode(c.t, c.full(c.check("video_ocr_frames", `{"frames":`+string(taken.Frames)+`,"detail":"full"}`)), &read)
		c.check("video_inspect_frames", `{"frames":`+string(taken.Frames)+`}`)
		if file == "demo.mp4" {
			c.check("media_objects", `{"frames":`+string(taken.Frames)+`}`)
			c.check("media_read_frames", `{"frames":`+string(taken.Frames)+`}`)
		}
		c.check("media_plan", `{"source":"`+file+`"}`)
		c.check("video_transcript", source(file, ""))
		said := c.check("video_transcript", source(file, `"detail":"full","allow":["embedded","speech"]`))
		var from struct {
			Provenance struct {
				Invocation string `json:"invocation_sha256"`
				Source     struct {
					SHA256 string `json:"sha256"`
				} `json:"source_identity"`
			} `json:"provenance"`
		}
		decode(c.t, said, &from)
		c.check("video_summarize_timeline", fmt.Sprintf(`{"source_identity_sha256":%q,"results":[{"run":%q}]}`, from.Provenance.Source.SHA256, from.Provenance.Invocation))
	}
	c.check("video_extract_audio", source("demo.mp4", `"detail":"full"`))
	c.check("media_prepare", `{"source":"demo.mp4","as":"speech"}`)
	c.check("media_read_audio", `{"source":"still.wav"}`)
	c.check("media_read_image", `{"source":"still.png"}`)
	c.check("media_read_video", `{"source":"demo.mp4","max_frames":2}`)
	c.edits()
	c.check("job_list", `{}`)
	c.check("approval_request", `{"tool_id":"edit.cut","request":"{\"input\":\"demo.mp4\",\"start\":0,\"end\":1,\"output\":\"demo_cut.mp4\",\"overwrite\":true}"}`)
	c.check("approval_list", `{}`)
	c.check("audit_query", `{}`)
	c.check("tool_search", `{"query":"frames","max":1}`)
	c.check("tool_search", `{"query":"video","max":10}`)
}
