package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// stubborn is a server with a tool that takes so long to end once it is cancelled, and
// says when it began, unless nobody asks, and when it was cancelled.
func stubborn(takes time.Duration, began chan<- struct{}, cancelled chan<- time.Time) *mcp.Server {
	s := testServer()
	s.AddTool(&mcp.Tool{Name: "stubborn", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if began != nil {
			began <- struct{}{}
		}
		<-ctx.Done()
		cancelled <- time.Now()
		<-time.After(takes)
		return nil, ctx.Err()
	})
	return s
}

// script gives a text, then what the channel says.
type script struct {
	io.Reader
	end <-chan error
}

func (s *script) Read(b []byte) (int, error) {
	if n, err := s.Reader.Read(b); err != io.EOF {
		return n, err
	}
	return 0, <-s.end
}

// TestTheEndHasItsTimes runs in a bubble whose clock moves only when all wait.
func TestTheEndHasItsTimes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name             string
		takes            time.Duration // of the call, to end
		signal           bool          // the server is stopped; otherwise input ends
		cancelled, ended time.Duration
	}{
		{"input ends", 0, false, answerGrace, answerGrace},
		{"input ends, the call takes its time", time.Second, false, answerGrace, answerGrace + time.Second},
		{"input ends, the call takes too long", time.Hour, false, answerGrace, answerGrace + stopGrace},
		{"a signal", 0, true, 0, 0},
		{"a signal, the call takes too long", time.Hour, true, 0, stopGrace},
	} {
		synctest.Test(t, func(t *testing.T) {
			cancelled := make(chan time.Time, 1)
			end := make(chan error, 1)
			var out lockedBuffer
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			in := &script{strings.NewReader(fmt.Sprintf(handshake, "2025-11-25") + fmt.Sprintf(call, "1", "stubborn") + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}`), end}
			go func() { ended <- Stdio(ctx, stubborn(row.takes, nil, cancelled), in, &out, StdioOptions{}) }()
			synctest.Wait()
			start := time.Now()
			if row.signal {
				stop()
			} else {
				end <- io.EOF
			}
			if at := (<-cancelled).Sub(start); at != row.cancelled {
				t.Errorf("%s: cancelled after %s, want %s", row.name, at, row.cancelled)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if at := time.Since(start); at != row.ended {
				t.Errorf("%s: ended after %s, want %s", row.name, at, row.ended)
			}
			if answered := strings.Contains(out.String(), `"id":2`); answered == row.signal {
				t.Errorf("%s: the ping without a line's end was answered: %v", row.name, answered)
			}
			close(end) // lets the reader go, which takes no deadline
			<-time.After(2 * time.Hour)
		})
	}
}

// lockedBuffer is a buffer that a test may look into meanwhile.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestAScriptIsAnswered pipes a whole session into the server, as people do.
func TestAScriptIsAnswered(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := fmt.Sprintf(handshake, "2025-06-18") + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if err := Stdio(t.Context(), testServer(), strings.NewReader(in), &out, StdioOptions{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], `"name":"echo"`) {
		t.Errorf("answered %q", out.String())
	}
}

// TestAClientThatNeverReads lets a client send without reading: the server stops
// taking more, and ends when it is told to, or by itself, whoever is blocked.
func TestAClientThatNeverReads(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		end  func(in io.Closer, stop func())
		want time.Duration
	}{
		{"a signal", func(_ io.Closer, stop func()) { stop() }, flushGrace},
		{"input ends", func(in io.Closer, _ func()) { in.Close() }, readTime + flushGrace},
		{"nothing happens", func(io.Closer, func()) {}, readTime + flushGrace},
	} {
		synctest.Test(t, func(t *testing.T) {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe() // nobody reads
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- Stdio(ctx, testServer(), inR, outW, StdioOptions{MaxOut: 128 << 10}) }()
			taken := make(chan int, 1)
			go func() {
				n := 0
				_, err := io.WriteString(inW, fmt.Sprintf(handshake, "2025-11-25"))
				for ; err == nil && n < 10_000; n++ {
					_, err = io.WriteString(inW, fmt.Sprintf(call, fmt.Sprint(n+10), "middle")+"\n")
				}
				taken <- n
			}()
			synctest.Wait()
			start := time.Now()
			row.end(inW, stop)
			<-ended
			if d := time.Since(start); d != row.want {
				t.Errorf("%s: ended after %s, want %s", row.name, d, row.want)
			}
			outR.Close() // lets go who writes and who reads: pipes without deadlines
			inR.Close()
			if n := <-taken; n == 10_000 {
				t.Errorf("%s: %d calls were taken, and no answer read", row.name, n)
			}
			<-time.After(time.Hour)
		})
	}
}

// TestNothingRunsOnBehindASession counts goroutines where both ends take deadlines.
func TestNothingRunsOnBehindASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a bubble fails when a goroutine is left
		client, server := net.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Stdio(ctx, testServer(), server, server, StdioOptions{}) }()
		r := bufio.NewReader(client)
		if _, err := io.WriteString(client, fmt.Sprintf(handshake, "2025-11-25")+fmt.Sprintf(call, "1", "wait")+"\n"+fmt.Sprintf(call, "2", "echo")+"\n"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestSubscriptionsEndWithAWord(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		_ = Stdio(ctx, listeningServer(), inR, outW, StdioOptions{})
		outW.Close()
		inR.Close()
	}()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta+`}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(outR)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":"s"`) {
		t.Fatalf("%q, %v", line, err)
	}
	stop()
	if line, err := r.ReadString('\n'); err != nil || line != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`+"\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// listeningServer tells when its tools change.
func listeningServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	return s
}

func TestBatchesOfTheVersionThatHasThem(t *testing.T) {
	t.Parallel()
	c := dial(t, StdioOptions{MaxOut: 3 << 20})
	c.send(strings.Split(strings.TrimSpace(fmt.Sprintf(handshake, "2025-03-26")), "\n")...)
	c.next()
	for _, row := range []struct{ name, text, want string }{
		{"calls", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`, `"b" ok,1 ok`},
		{"one", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `1 ok`},
		{"with notifications and rubbish", `[{"jsonrpc":"2.0","method":"x"},7,{"jsonrpc":"2.0","id":1,"method":"ping"},[],{"id":2}]`, `1 ok,2 -32600,null -32600,null -32600`},
		{"the same id twice", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `1 ok,null -32600`},
		{"initialize", `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]`, `1 -32600`},
		{"too large together", `[` + fmt.Sprintf(call, "1", "large") + `,` + fmt.Sprintf(call, "2", "large") + `]`, `1 ?,2 ?`},
		{"a cancel of its own call", `[` + fmt.Sprintf(call, "1", "wait") + `,{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`, `2 ok`},
	} {
		c.send(row.text)
		if got := summary(t, <-c.lines, strings.Contains(row.want, "?")); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	// Nothing but notifications has no answer; an empty array one, that is no array.
	c.send(`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":9,"result":{}}]`, `[]`)
	if a := c.next(); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("answered %+v", a)
	}
	c.alive(1)
}

// summary tells ids and codes of a batch's answer, sorted.
func summary(t *testing.T, line string, oneFails bool) string {
	t.Helper()
	var all []answer
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		t.Fatalf("%v: %.200q", err, line)
	}
	var got []string
	failed := 0
	for _, a := range all {
		word := "ok"
		if a.Error != nil {
			failed++
			word = fmt.Sprint(a.Error.Code)
		}
		if oneFails {
			word = "?"
		}
		got = append(got, string(a.ID)+" "+word)
	}
	if oneFails && failed != 1 {
		t.Errorf("%d of %d failed", failed, len(all))
	}
	return strings.Join(slices.Sorted(slices.Values(got)), ",")
}
