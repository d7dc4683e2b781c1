package modeltest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jpeg is no picture, but bytes are bytes on a wire.
var jpeg = []byte{0xff, 0xd8, 0xff, 0xd9}

func b64() string { return base64.StdEncoding.EncodeToString(jpeg) }

func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(raw)
}

// event is one server-sent event.
type event struct{ name, data string }

func events(t *testing.T, text string) []event {
	t.Helper()
	var list []event
	var e event
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "":
			list = append(list, e)
			e = event{}
		case strings.HasPrefix(line, "event: "):
			e.name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			e.data = line[len("data: "):]
		default:
			t.Fatalf("not a line of an event stream: %q", line)
		}
	}
	return list
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

var jobID = regexp.MustCompile(`"job_id":"([a-z0-9-]+)"`)

// following is a script that needs the results of its own calls.
func following() Script {
	return Script{
		Use(With("media_watch", map[string]string{"file": "a.mp4"}), With("measure_probe", map[string]string{"file": "a.mp4"})),
		{
			Do: func(p Past) Turn {
				return Turn{Text: "waiting", Calls: []Call{With("job_wait", map[string]string{"id": p.Find(jobID)})}}
			},
			Again: func(p Past) bool { return strings.Contains(p.Last().Text, "running") },
		},
		{Do: func(p Past) Turn { return Turn{Text: "I saw " + p.Last().Text} }},
	}
}

// What hosts send, cut to the members that are read (Claude Code 2.1, Codex 0.171,
// opencode 1.18).
func messagesBody(stream bool, more string) string {
	return `{"model":"claude-x","max_tokens":9,"stream":` + text(stream) + `,"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],
	"messages":[{"role":"user","content":"/watch a.mp4"}` + more + `],
	"tools":[{"name":"Bash","input_schema":{}},{"name":"mcp__cutroom__media_watch","description":"sees","input_schema":{"type":"object"}},{"name":"mcp__cutroom__measure_probe","input_schema":{}},{"name":"mcp__cutroom__job_wait","input_schema":{}}]}`
}

func responsesBody(stream bool, more string) string {
	return `{"model":"gpt-x","instructions":"be brief","stream":` + text(stream) + `,
	"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"$watch a.mp4"}]}` + more + `],
	"tools":[{"type":"function","name":"shell","parameters":{}},{"type":"web_search"},{"type":"namespace","name":"mcp__cutroom","tools":[{"type":"function","name":"media_watch","description":"sees","parameters":{"type":"object"}},{"type":"function","name":"measure_probe","parameters":{}},{"type":"function","name":"job_wait","parameters":{}}]}]}`
}

func chatBody(stream bool, more string) string {
	return `{"model":"m","stream":` + text(stream) + `,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"watch a.mp4"}]}` + more + `],
	"tools":[{"type":"function","function":{"name":"bash","parameters":{}}},{"type":"function","function":{"name":"cutroom_media_watch","description":"sees","parameters":{"type":"object"}}},{"type":"function","function":{"name":"cutroom_measure_probe","parameters":{}}},{"type":"function","function":{"name":"cutroom_job_wait","parameters":{}}}]}`
}

func text(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// TestMessages follows a script through a whole conversation, streamed and not.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := Start(t, following()...)
	url := s.URL + "/v1/messages?beta=true"
	_, raw := post(t, url, messagesBody(false, ""))
	first := decode[messagesAnswer](t, raw)
	if *first.StopReason != "tool_use" || len(first.Content) != 2 || first.Content[0].Name != "mcp__cutroom__media_watch" ||
		first.Content[1].Name != "mcp__cutroom__measure_probe" || string(first.Content[0].Input) != `{"file":"a.mp4"}` {
		t.Fatalf("first turn: %s", raw)
	}
	// Claude Code sends the calls of one turn back as messages of their own.
	more := `,{"role":"assistant","content":[{"type":"tool_use","id":"` + first.Content[0].ID + `","name":"mcp__cutroom__media_watch","input":{}}]},
	 {"role":"user","content":[{"type":"tool_result","tool_use_id":"` + first.Content[0].ID + `","content":[{"type":"text","text":"{\"job_id\":\"j-1\"}"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + b64() + `"}}]}]},
	 {"role":"assistant","content":[{"type":"tool_use","id":"` + first.Content[1].ID + `","name":"mcp__cutroom__measure_probe","input":{}}]},
	 {"role":"user","content":[{"type":"tool_result","tool_use_id":"` + first.Content[1].ID + `","content":"a plain text"}]}`
	_, raw = post(t, url, messagesBody(true, more))
	list := events(t, raw)
	var names []string
	arguments, id := "", ""
	for _, e := range list {
		names = append(names, e.name)
		m := decode[messagesEvent](t, e.data)
		if m.Type != e.name {
			t.Errorf("event %s holds type %s", e.name, m.Type)
		}
		if m.Block != nil && m.Block.ID != "" {
			id = m.Block.ID
		}
		if m.Delta != nil {
			arguments += m.Delta.PartialJSON
		}
	}
	want := strings.Fields("message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop")
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if arguments != `{"id":"j-1"}` {
		t.Errorf("arguments %s", arguments)
	}
	again := func(id, result string) string {
		return `,{"role":"assistant","content":[{"type":"text","text":"waiting"},{"type":"tool_use","id":"` + id + `","name":"mcp__cutroom__job_wait","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + result + `"}]}`
	}
	more += again(id, "running")
	_, raw = post(t, url, messagesBody(false, more))
	second := decode[messagesAnswer](t, raw)
	if len(second.Content) != 2 || !strings.HasPrefix(second.Content[1].ID, "toolu_t2_") {
		t.Fatalf("a running job is not waited for again: %s", raw)
	}
	more += again(second.Content[1].ID, "a cat")
	if _, raw = post(t, url, messagesBody(false, more)); *decode[messagesAnswer](t, raw).Content[0].Text != "I saw a cat" {
		t.Errorf("last turn: %s", raw)
	}
	r := s.Requests()[3]
	if d := cmp.Diff([]string{"be brief", "/watch a.mp4", "{\"job_id\":\"j-1\"}", "a plain text", "waiting", "running", "waiting", "a cat"}, r.Texts()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Image{{Media: "image/jpeg", Data: jpeg}}, r.Images()); d != "" {
		t.Error(d)
	}
	if p := r.Past(); r.Turn != 3 || len(p.Turns) != 3 || len(p.Turns[0]) != 2 || p.Turns[0][1].Tool != "mcp__cutroom__measure_probe" {
		t.Errorf("turn %d, past %+v", r.Turn, p)
	}
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	s := Start(t)
	count := func(more string) int {
		status, raw := post(t, s.URL+"/v1/messages/count_tokens", messagesBody(false, more))
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, raw)
		}
		return decode[messagesUsage](t, raw).Input
	}
	picture := `,{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + b64() + `"}}]}`
	if a, b := count(""), count(picture); a < 1 || b-a != imageTokens {
		t.Errorf("%d tokens, %d with a picture", a, b)
	}
	if s.Requests()[0].IsTurn {
		t.Error("counting tokens is a turn")
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	s := Start(t, following()...)
	url := s.URL + "/v1/responses"
	_, raw := post(t, url, responsesBody(false, ""))
	first := decode[responsesAnswer](t, raw)
	if len(first.Output) != 2 || first.Output[0].Namespace != "mcp__cutroom" || first.Output[0].Name != "media_watch" || first.Output[0].Arguments != `{"file":"a.mp4"}` {
		t.Fatalf("first turn: %s", raw)
	}
	more := `,{"type":"reasoning","summary":[]},{"type":"function_call","name":"media_watch","namespace":"mcp__cutroom","arguments":"{\"file\":\"a.mp4\"}","call_id":"` + first.Output[0].CallID + `"},
	{"type":"function_call","name":"measure_probe","arguments":"{}","call_id":"` + first.Output[1].CallID + `"},
	{"type":"function_call_output","call_id":"` + first.Output[0].CallID + `","output":[{"type":"input_text","text":"{\"job_id\":\"j-1\"}"},{"type":"input_image","image_url":"data:image/jpeg;base64,` + b64() + `","detail":"high"}]},
	{"type":"function_call_output","call_id":"` + first.Output[1].CallID + `","output":"a plain text"}`
	_, raw = post(t, url, responsesBody(true, more))
	var names []string
	list := events(t, raw)
	for i, e := range list {
		names = append(names, e.name)
		if v := decode[responsesEvent](t, e.data); v.Type != e.name || v.Sequence != i {
			t.Errorf("event %d: %s", i, e.data)
		}
	}
	want := strings.Fields(`response.created
		response.output_item.added response.content_part.added response.output_text.delta response.output_text.done response.content_part.done response.output_item.done
		response.output_item.added response.function_call_arguments.delta response.function_call_arguments.done response.output_item.done
		response.completed`)
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	done := decode[responsesEvent](t, list[len(list)-1].data).Response
	call := done.Output[1]
	if done.Status != "completed" || call.Arguments != `{"id":"j-1"}` || call.Namespace != "mcp__cutroom" || done.Usage.Total == 0 {
		t.Errorf("%s", list[len(list)-1].data)
	}
	more += `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"waiting"}]},{"type":"function_call","name":"job_wait","arguments":"{}","call_id":"` + call.CallID + `"},
	{"type":"function_call_output","call_id":"` + call.CallID + `","output":"a cat"}`
	_, raw = post(t, url, responsesBody(false, more))
	if o := decode[responsesAnswer](t, raw).Output; len(o) != 1 || (*o[0].Content)[0].Text != "I saw a cat" {
		t.Errorf("last turn: %s", raw)
	}
	r := s.Requests()[2]
	if d := cmp.Diff([]Image{{Media: "image/jpeg", Data: jpeg}}, r.Images()); d != "" {
		t.Error(d)
	}
	if texts := r.Texts(); texts[0] != "be brief" || texts[1] != "rules" || len(r.Tools()) != 4 || r.Tools()[1].Namespace != "mcp__cutroom" {
		t.Errorf("texts %q, tools %v", texts, r.Tools())
	}
}

// Codex with a model that it knows gets the tools of a server by a search only.
func TestResponsesToolsFoundBySearch(t *testing.T) {
	t.Parallel()
	s := Start(t, Step{Do: func(Past) Turn { return Turn{Search: "watch a video"} }}, Use(With("media_watch", struct{}{})))
	const asked = `{"model":"m","input":[{"role":"user","content":"hi"}`
	_, raw := post(t, s.URL+"/v1/responses", asked+`],"tools":[{"type":"function","name":"shell"}]}`)
	first := decode[responsesAnswer](t, raw).Output
	if len(first) != 1 || first[0].Type != "tool_search_call" || first[0].Execution != "client" || !strings.Contains(raw, `"arguments":{"query":"watch a video"}`) {
		t.Fatal(raw)
	}
	_, raw = post(t, s.URL+"/v1/responses", asked+`,{"type":"tool_search_call","call_id":"`+first[0].CallID+`","arguments":{"query":"watch a video"}},
	{"type":"tool_search_output","call_id":"`+first[0].CallID+`","tools":[{"type":"namespace","name":"mcp__cutroom","tools":[{"type":"function","name":"media_watch"}]}]}],"tools":[{"type":"function","name":"shell"}]}`)
	if o := decode[responsesAnswer](t, raw).Output; len(o) != 1 || o[0].Namespace != "mcp__cutroom" {
		t.Errorf("%s", raw)
	}
}

func TestChat(t *testing.T) {
	t.Parallel()
	s := Start(t, following()...)
	url := s.URL + "/v1/chat/completions"
	_, raw := post(t, url, chatBody(false, ""))
	first := decode[chatAnswer](t, raw).Choices[0]
	if *first.Finish != "tool_calls" || len(first.Message.ToolCalls) != 2 || first.Message.ToolCalls[0].Function.Name != "cutroom_media_watch" {
		t.Fatalf("first turn: %s", raw)
	}
	calls := first.Message.ToolCalls
	more := `,{"role":"assistant","content":"","tool_calls":[{"id":"` + calls[0].ID + `","type":"function","function":{"name":"cutroom_media_watch","arguments":"{}"}},{"id":"` + calls[1].ID + `","type":"function","function":{"name":"cutroom_measure_probe","arguments":"{}"}}]},
	{"role":"tool","tool_call_id":"` + calls[0].ID + `","content":"{\"job_id\":\"j-1\"}"},{"role":"tool","tool_call_id":"` + calls[1].ID + `","content":"a plain text"},
	{"role":"user","content":[{"type":"text","text":"Attached media"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + b64() + `"}}]}`
	_, raw = post(t, url, chatBody(true, more))
	var name, arguments, id, said string
	list := events(t, raw)
	if list[len(list)-1].data != "[DONE]" {
		t.Errorf("the stream ends with %s", list[len(list)-1].data)
	}
	for _, e := range list[:len(list)-1] {
		for _, c := range decode[chatAnswer](t, e.data).Choices {
			if c.Delta.Content != nil {
				said += *c.Delta.Content
			}
			for _, call := range c.Delta.ToolCalls {
				name, arguments, id = name+call.Function.Name, arguments+call.Function.Arguments, id+call.ID
			}
		}
	}
	if name != "cutroom_job_wait" || arguments != `{"id":"j-1"}` || said != "waiting" {
		t.Errorf("streamed %s %s %q", name, arguments, said)
	}
	more += `,{"role":"assistant","content":"waiting","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"cutroom_job_wait","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"a cat"}`
	_, raw = post(t, url, chatBody(false, more))
	if c := decode[chatAnswer](t, raw).Choices[0].Message.Content; c == nil || *c != "I saw a cat" {
		t.Errorf("last turn: %s", raw)
	}
	if d := cmp.Diff([]Image{{Media: "image/jpeg", Data: jpeg}}, s.Requests()[2].Images()); d != "" {
		t.Error(d)
	}
}

// A host asks for titles and summaries beside the work: no turn of the script.
func TestQuestionsWithoutToolsAreNoTurn(t *testing.T) {
	t.Parallel()
	s := Start(t, Say("first"))
	if _, raw := post(t, s.URL+"/messages", `{"model":"m","messages":[{"role":"user","content":"a title, please"}]}`); !strings.Contains(raw, `"text":"ok"`) {
		t.Error(raw)
	}
	if _, raw := post(t, s.URL+"/messages", messagesBody(false, "")); !strings.Contains(raw, `"text":"first"`) {
		t.Error(raw)
	}
	if _, raw := post(t, s.URL+"/messages", messagesBody(false, `,{"role":"assistant","content":"first"},{"role":"user","content":"go on"}`)); !strings.Contains(raw, over) {
		t.Error(raw)
	}
}

func TestKeyFaultsAndOddRequests(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Key: "right", Fault: func(n int, r Request) *Fault {
		switch n {
		case 0:
			return &Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}, Message: "slower"}
		case 1:
			return &Fault{}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	do := func(method, path, key string, body []byte, header ...string) (*http.Response, string, error) {
		req, err := http.NewRequest(method, s.URL+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", key)
		if len(header) == 2 {
			req.Header.Set(header[0], header[1])
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		raw, err := io.ReadAll(r.Body)
		return r, string(raw), err
	}
	good := []byte(messagesBody(true, ""))
	if r, raw, _ := do("POST", "/v1/messages", "right", good); r.StatusCode != 429 || r.Header.Get("Retry-After") != "1" || !strings.Contains(raw, "rate_limit_error") {
		t.Errorf("%d %s", r.StatusCode, raw)
	}
	if _, raw, err := do("POST", "/v1/messages", "right", good); err == nil {
		t.Errorf("a broken connection ends well: %q", raw)
	}
	if r, _, _ := do("POST", "/v1/messages", "wrong", good); r.StatusCode != 401 {
		t.Errorf("a wrong key: %d", r.StatusCode)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(good)
	_ = z.Close()
	if r, raw, _ := do("POST", "/v1/messages", "right", packed.Bytes(), "Content-Encoding", "gzip"); r.StatusCode != 200 || !strings.Contains(raw, over) {
		t.Errorf("packed: %d %s", r.StatusCode, raw)
	}
	for _, odd := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v1/messages", "{", 400},
		{"POST", "/v1/messages", `{"messages":"no"}`, 400},
		{"POST", "/v1/responses", `{}`, 400},
		{"POST", "/v1/chat/completions", `null`, 400},
		{"GET", "/v1/models", "", 200},
		{"GET", "/v1/files", "", 404},
		{"HEAD", "/api/hello", "", 404},
	} {
		if r, raw, _ := do(odd.method, odd.path, "right", []byte(odd.body)); r.StatusCode != odd.status {
			t.Errorf("%s %s %s: %d %s", odd.method, odd.path, odd.body, r.StatusCode, raw)
		}
	}
	if _, err := s.Wait(t.Context(), func(r Request) bool { return r.Wire == Models }); err != nil {
		t.Error(err)
	}
}
