package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// testServer has a tool that answers, one that waits for its context, and two whose
// answers are long.
func testServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
	object := json.RawMessage(`{"type":"object"}`)
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
	}
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: object}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: object}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for name, size := range map[string]int{"middle": 64 << 10, "large": 2 << 20} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(strings.Repeat("x", size)), nil
		})
	}
	return s
}

// client is the other end of a session, byte by byte.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
}

func dial(t *testing.T, o StdioOptions) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, lines: make(chan string, 4096), ended: make(chan error, 1)}
	go func() {
		err := Stdio(t.Context(), testServer(), inR, outW, o)
		inR.Close()
		outW.Close()
		c.ended <- err
	}()
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	t.Cleanup(func() { inW.Close() })
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatalf("the server does not read %.80q: %v", l, err)
		}
	}
}

// answer is one line of the server.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (c *client) next() answer {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		var a answer
		if !ok {
			c.t.Fatal("the server ended")
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			c.t.Fatalf("%v: %.200q", err, line)
		}
		return a
	case <-time.After(30 * time.Second):
		c.t.Fatal("no answer")
		return answer{}
	}
}

// open makes the handshake.
func (c *client) open() *client {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if a := c.next(); a.Error != nil {
		c.t.Fatal(a.Error.Message)
	}
	return c
}

// alive pings, and fails unless the next answer is the ping's.
func (c *client) alive(n int) {
	c.t.Helper()
	id := fmt.Sprintf(`"alive %d"`, n)
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	if a := c.next(); string(a.ID) != id || a.Error != nil {
		c.t.Fatalf("asked %s, answered %s %+v", id, a.ID, a.Error)
	}
}

const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{}}}`

func TestBadMessagesAreAnsweredAndSurvived(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)
	rows := []struct {
		name, line string
		code       int // 0: ignored
		id         string
	}{
		{"no JSON", `hello`, -32700, "null"},
		{"half", `{"jsonrpc":"2.0","id":1`, -32700, "null"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, "null"},
		{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, -32601, "1"},
		{"NUL", "\x00", -32700, "null"},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + deep + `}}`, -32600, "1"},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, -32600, "null"},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, -32600, "1"},
		{"a member twice, escaped", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"\u0061":2}}`, -32600, "1"},
		{"request and response", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, -32600, "1"},
		{"nothing but an id", `{"jsonrpc":"2.0","id":1}`, -32600, "1"},
		{"two on one line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
		{"the SDK quotes params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, -32602, "1"},
		{"initialize again", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, -32600, "1"},
		{"cancel with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}`, -32600, "1"},
		{"initialized with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, -32600, "1"},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32600, "1"},
		{"notification with a number for method", `{"jsonrpc":"2.0","method":7}`, -32600, "null"},
		{"initialized again", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0, ""},
		{"a call without id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, 0, ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
		{"empty batch", `[]`, -32600, "null"},
		{"number", `42`, -32600, "null"},
		{"null", `null`, -32600, "null"},
		{"empty object", `{}`, -32600, "null"},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "1"},
		{"wrong case", `{"JSONRPC":"2.0","ID":1,"Method":"ping"}`, -32600, "null"},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, -32600, "1"},
		{"method is empty", `{"jsonrpc":"2.0","id":1,"method":""}`, -32600, "1"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
		{"id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "1.5"},
		{"id huge", `{"jsonrpc":"2.0","id":1e999999,"method":"ping"}`, -32600, "1e999999"},
		{"params a list", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, -32602, "1"},
		{"params a text", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}`, -32602, "1"},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, -32601, "1"},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no_such","params":{"a":1}}`, 0, ""},
		{"notification with a list", `{"jsonrpc":"2.0","method":"notifications/progress","params":[]}`, 0, ""},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, 0, ""},
		{"cancel of an object", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, 0, ""},
		{"cancel without params", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 0, ""},
		{"stray response", `{"jsonrpc":"2.0","id":77,"result":{}}`, 0, ""},
		{"stray error", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, 0, ""},
		{"broken error", `{"jsonrpc":"2.0","id":3,"error":7}`, 0, ""},
		{"empty line", ``, 0, ""},
		{"white space", " \t ", 0, ""},
		{"only a BOM", "\ufeff", 0, ""},
	}
	c := dial(t, StdioOptions{}).open()
	for i, r := range rows {
		c.send(r.line)
		if r.code != 0 {
			if a := c.next(); a.Error == nil || a.Error.Code != r.code || string(a.ID) != r.id || a.Error.Message == "" {
				t.Errorf("%s: answered %s %+v, want %d for %s", r.name, a.ID, a.Error, r.code, r.id)
			}
		}
		c.alive(i)
	}
}

func TestGoodMessagesInOddForms(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{}).open()
	for line, id := range map[string]string{
		"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`:                              "1",
		`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\r":                                  "2",
		` { "method" : "ping" , "id" : 3 , "jsonrpc" : "2.0" } `:                           "3",
		`{"jsonrpc":"2.0","id":"a\u0062\"😀","method":"ping"}`:                              `"a\u0062\"😀"`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                          "9007199254740993",
		`{"jsonrpc":"2.0","id":1764480000000000001,"method":"ping"}`:                       "1764480000000000001",
		`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`:            "123456789012345678901234567890",
		`{"jsonrpc":"2.0","id":7.0,"method":"ping"}`:                                       "7.0",
		`{"jsonrpc":"2.0","id":"\u0000number 7","method":"ping"}`:                          `"\u0000number 7"`,
		`{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}`:                                  `"\ud83d"`,
		`{"jsonrpc":"2.0","id":-5,"method":"ping","params":null}`:                          "-5",
		`{"jsonrpc":"2.0","id":6,"method":"ping","params":{"_meta":{"x":[1,{"y":null}]}}}`: "6",
		`{"jsonrpc":"2.0","id":"","method":"ping","more":true}`:                            `""`,
		`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`:                          "9007199254740992",
	} {
		c.send(line)
		if a := c.next(); a.Error != nil || string(a.ID) != id {
			t.Errorf("%s: answered %s %+v", line, a.ID, a.Error)
		}
	}
}

func TestNothingIsServedBeforeTheHandshake(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{})
	c.alive(0)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if a := c.next(); a.Error == nil || a.Error.Code != notInitialized || a.Error.Message != "Server is not initialized" {
		t.Errorf("answered %+v", a.Error)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if a := c.next(); a.Error != nil || !strings.Contains(string(a.Result), `"2025-06-18"`) {
		t.Errorf("answered %s %+v", a.Result, a.Error)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	if a := c.next(); a.Error == nil || a.Error.Code != notInitialized {
		t.Errorf("before notifications/initialized: %s %+v", a.Result, a.Error)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
	if a := c.next(); a.Error != nil {
		t.Errorf("after the handshake: %+v", a.Error)
	}
}

func TestStatelessNeedsNoHandshake(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	if a := c.next(); a.Error != nil || !strings.Contains(string(a.Result), "2026-07-28") {
		t.Fatalf("discover: %s %+v", a.Result, a.Error)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},` + meta + `}}`)
	if a := c.next(); a.Error != nil || !strings.Contains(string(a.Result), `{\"a\":1}`) {
		t.Errorf("call: %s %+v", a.Result, a.Error)
	}
}

func TestVersionsAreAnsweredAsAsked(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		c := dial(t, StdioOptions{})
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + asked + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if a := c.next(); !strings.Contains(string(a.Result), `"protocolVersion":"`+want+`"`) {
			t.Errorf("%s: %s", asked, a.Result)
		}
	}
}

func TestLongLinesAreSkipped(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{MaxIn: 1000}).open()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("x", 300_000) + `"}}`)
	if a := c.next(); a.Error == nil || string(a.ID) != "1" || !strings.Contains(a.Error.Message, "1000 bytes") {
		t.Errorf("answered %+v", a)
	}
	c.alive(1)
}

func TestLongAnswersAreReplaced(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{MaxOut: 1 << 20}).open()
	c.send(fmt.Sprintf(call, "5", "large"))
	if a := c.next(); string(a.ID) != "5" || a.Error == nil || !strings.Contains(a.Error.Message, "bytes") {
		t.Errorf("answered %s %+v", a.ID, a.Error)
	}
	c.alive(1)
}

func TestCancelledCallsAreNotAnswered(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{}).open()
	c.send(fmt.Sprintf(call, `"w"`, "wait"))
	c.send(fmt.Sprintf(call, `"w"`, "echo"))
	if a := c.next(); a.Error == nil || a.Error.Code != -32600 || string(a.ID) != "null" {
		t.Fatalf("the same id twice: %+v", a)
	}
	c.alive(0)
	for range 3 {
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w","reason":"enough"}}`)
	}
	c.alive(1)
	// The id is free again once the call has ended.
	for range 200 {
		c.send(fmt.Sprintf(call, `"w"`, "echo"))
		if a := c.next(); a.Error == nil {
			return
		}
		runtime.Gosched()
	}
	t.Error("the cancelled call did not end")
}

func TestTheEndOfInput(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{}).open()
	c.send(fmt.Sprintf(call, "1", "wait"))
	if _, err := io.WriteString(c.in, fmt.Sprintf(call, "2", "echo")); err != nil { // no line's end
		t.Fatal(err)
	}
	c.in.Close()
	if a := c.next(); string(a.ID) != "2" || a.Error != nil {
		t.Errorf("the last message was answered %s %+v", a.ID, a.Error)
	}
	select {
	case err := <-c.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server goes on after the end of input")
	}
}

func TestAClientThatDoesNotReadHoldsNothingUp(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	_, outW := io.Pipe() // nobody reads
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Stdio(ctx, testServer(), inR, outW, StdioOptions{}) }()
	go func() {
		for range 1000 {
			if _, err := io.WriteString(inW, "garbage\n"); err != nil {
				return
			}
		}
	}()
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("shutdown waits for a reader that is not there")
	}
}

func TestABrokenPipeEndsTheSession(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Stdio(t.Context(), testServer(), inR, broken{}, StdioOptions{}) }()
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the session goes on without a client")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
