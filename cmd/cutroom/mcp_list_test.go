package main_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/docgen"
	"cutroom/internal/mcpserver"
	"cutroom/internal/tool"
)

// versions are those with a handshake.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// TestFirstAnswerIsQuick: hosts drop the tools of a server that lets them wait, and
// say nothing.
func TestFirstAnswerIsQuick(t *testing.T) {
	i := install(t)
	const bound = 100 * time.Millisecond
	dir := t.TempDir()
	for method, params := range map[string]string{
		"initialize":      `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`,
		"server/discover": `{"_meta":` + (&mcpServer{}).modern().meta + `}`,
	} {
		var median time.Duration
		for range 5 { // a machine that others keep busy gets another try
			var all []time.Duration
			for range 20 {
				started := time.Now()
				s := i.serve(t, dir)
				m := s.ask(method, params)
				all = append(all, m.at.Sub(started))
				if m.Error != nil {
					t.Fatal(m.line)
				}
				s.end()
			}
			slices.Sort(all)
			if median = all[10]; median <= bound {
				break
			}
		}
		t.Logf("%s is answered %v after the start", method, median)
		if median > bound {
			t.Errorf("%s is answered %v after the start", method, median)
		}
	}
}

// toolsOf is the array of tools as it stands in an answer.
func (s *mcpServer) toolsOf() json.RawMessage {
	s.t.Helper()
	var list struct {
		Tools      json.RawMessage `json:"tools"`
		NextCursor string          `json:"nextCursor"`
	}
	decode(s.t, s.must("tools/list", "{}"), &list)
	if list.NextCursor != "" {
		s.t.Error("the list has pages")
	}
	return list.Tools
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v: %.300s", err, raw)
	}
}

// defaultTools are the first set, in its order: the whole jobs, what follows a long
// one, and the way to the rest.
var defaultTools = []string{
	"media.watch", "media.ask", "measure.probe", "job.get", "job.wait", "job.cancel", "tool.search",
	"edit.cut", "edit.fit", "edit.caption", "measure.silence_apply", "measure.loudness_apply", "review.look", "review.check",
}

// TestLists: each list is the translation of the contract's entries, byte for byte,
// whatever the process and the era.
func TestLists(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	var contract docgen.Document
	decode(t, i.run(t, dir, "contract", "--json"), &contract)
	all, sorted := []string{}, true
	for n, e := range contract.Tools {
		if e.Kind != cutroom.Approve { // no host's model is offered what decides
			all = append(all, e.ToolID)
		}
		sorted = sorted && (n == 0 || contract.Tools[n-1].ToolID < e.ToolID)
	}
	if !sorted || len(all) == 0 {
		t.Errorf("the contract lists %v", all)
	}
	first := slices.DeleteFunc(slices.Clone(defaultTools), func(id string) bool { return !slices.Contains(all, id) })
	family := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(id string) bool {
			f, _, _ := strings.Cut(id, ".")
			return !slices.Contains(names, f)
		})
	}
	video := family("video")
	if len(video) != 8 {
		t.Errorf("the video family is %v", video)
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(first, id) })
	for _, row := range []struct {
		args []string
		want []string
	}{
		{[]string{"mcp"}, first},
		{[]string{"mcp", "--toolsets", "default"}, first},
		{[]string{"tool", "serve-mcp"}, video},
		{[]string{"mcp", "--toolsets", "video"}, video},
		{[]string{"mcp", "--toolsets", "measure,job"}, family("measure", "job")},
		{[]string{"mcp", "--toolsets", "all"}, slices.Concat(first, rest)},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			want := translated(t, &contract, row.want)
			for _, version := range append([]string{"2026-07-28"}, versions...) {
				s := i.serve(t, dir, row.args...)
				if version == "2026-07-28" {
					s.modern()
				} else {
					s.open(version)
				}
				if got := s.toolsOf(); !bytes.Equal(got, want) {
					t.Errorf("%s: the list is\n%.2000s\nnot\n%.2000s", version, got, want)
				}
				s.end()
			}
			t.Logf("%d tools, %d bytes", len(row.want), len(want))
			if row.args[len(row.args)-1] == "default" && (len(row.want) > 14 || len(want) > 24_000) {
				t.Errorf("%d tools in %d bytes", len(row.want), len(want))
			}
		})
	}
}

// translated is what a host is to see of some entries of the contract.
func translated(t *testing.T, d *docgen.Document, ids []string) []byte {
	t.Helper()
	list := []*mcp.Tool{}
	for _, id := range ids {
		n := slices.IndexFunc(d.Tools, func(e docgen.ToolEntry) bool { return e.ToolID == id })
		list = append(list, mcpserver.Translate(d.Tools[n]))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(list); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// listed is a tool as a host sees it.
type listed struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               struct {
		Title                                                        string
		ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool
	}
}

func (s *mcpServer) list() []listed {
	s.t.Helper()
	var all []listed
	decode(s.t, s.toolsOf(), &all)
	return all
}

// TestEveryToolSaysWhatItMayDo: a host that nobody watches decides by the hints, and
// by what is missing it assumes the worst.
func TestEveryToolSaysWhatItMayDo(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	var contract docgen.Document
	decode(t, i.run(t, dir, "contract", "--json"), &contract)
	tools := i.serve(t, dir, "mcp", "--toolsets", "all").open("2025-11-25").list()
	if len(tools) != len(contract.Tools)-1 || slices.ContainsFunc(tools, func(l listed) bool { return l.Name == "approval_decide" }) { // which is never a model's
		t.Errorf("%d tools of %d", len(tools), len(contract.Tools))
	}
	for _, l := range tools {
		n := slices.IndexFunc(contract.Tools, func(e docgen.ToolEntry) bool { return e.MCPName == l.Name })
		if n < 0 {
			t.Errorf("%s is not in the contract", l.Name)
			continue
		}
		e, a := contract.Tools[n], l.Annotations
		if l.Title != e.ToolID || a.Title != e.ToolID || strings.ReplaceAll(e.ToolID, ".", "_") != l.Name || len(l.Description) < 40 {
			t.Errorf("%s: titles %q and %q, %q", l.Name, l.Title, a.Title, l.Description)
		}
		if a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.DestructiveHint != (e.Risk == tool.HighRisk) {
			t.Errorf("%s: %+v", l.Name, a)
			continue
		}
		reads, twice := a.ReadOnlyHint != nil && *a.ReadOnlyHint, a.IdempotentHint != nil && *a.IdempotentHint
		if reads != ((e.Kind == "read" || e.Kind == "preview") && !e.Writes) || *a.OpenWorldHint != (e.NetworkAccess != "none") || twice != (e.Replay == tool.ReplaySafe) {
			t.Errorf("%s: %+v, though kind %s, network %s, replay %s", l.Name, a, e.Kind, e.NetworkAccess, e.Replay)
		}
		if family, _, _ := strings.Cut(e.ToolID, "."); (family == "video") != (l.OutputSchema != nil) {
			t.Errorf("%s: output schema %v", l.Name, l.OutputSchema != nil)
		}
		var input struct{ Type string }
		if decode(t, l.InputSchema, &input); input.Type != "object" {
			t.Errorf("%s takes %s", l.Name, input.Type)
		}
	}
}

// TestTheLibrarysClient talks as a host that is built on the library does: it begins
// in the stateless era by itself.
func TestTheLibrarysClient(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	for _, version := range []string{"", "2026-07-28", "2025-11-25", "2025-06-18"} {
		cmd := exec.Command(i.bin, "mcp")
		cmd.Dir, cmd.Env = dir, i.environ()
		var o *mcp.ClientSessionOptions
		if version != "" {
			o = &mcp.ClientSessionOptions{ProtocolVersion: version}
		}
		c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, o)
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		tools, err := c.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) < 7 || tools.Tools[0].Name != "media_watch" {
			t.Errorf("%s: %v, %v", version, tools, err)
		}
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "tool_search", Arguments: map[string]any{"query": "extract frames"}})
		if err != nil || r.IsError || r.StructuredContent == nil {
			t.Errorf("%s: %+v, %v", version, r, err)
		}
		if err := c.Ping(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		if got := c.InitializeResult(); version != "" && got.ProtocolVersion != version || !strings.Contains(got.Instructions, "media_watch") {
			t.Errorf("%s: %+v", version, got)
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: the server ends with %v", version, err)
		}
	}
}
