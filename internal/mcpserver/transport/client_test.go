package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// busyServer has tools that tell what happens to their calls.
func busyServer(cancelled chan<- struct{}) *mcp.Server {
	s := testServer()
	object := json.RawMessage(`{"type":"object"}`)
	s.AddTool(&mcp.Tool{Name: "progress", InputSchema: object}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 5}); err != nil {
				return nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "until cancelled", InputSchema: object}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1}); err != nil {
			return nil, err
		}
		<-ctx.Done()
		cancelled <- struct{}{}
		return nil, ctx.Err()
	})
	// All four have to be at work at once before any of them answers.
	var four sync.WaitGroup
	four.Add(4)
	s.AddTool(&mcp.Tool{Name: "one of four", InputSchema: object}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		four.Done()
		all := make(chan struct{})
		go func() {
			four.Wait()
			close(all)
		}()
		select {
		case <-all:
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "four"}}}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return s
}

// bearer adds the token to a client's requests.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(r)
}

// TestTheOfficialClient drives the SDK's client through both transports, in every
// version of the protocol.
func TestTheOfficialClient(t *testing.T) {
	t.Parallel()
	carriers := map[string]func(t *testing.T, s *mcp.Server) mcp.Transport{
		"stdio": func(t *testing.T, s *mcp.Server) mcp.Transport {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				ended <- Stdio(context.WithoutCancel(t.Context()), s, inR, outW, StdioOptions{})
				inR.Close()
				outW.Close()
			}()
			t.Cleanup(func() {
				inW.Close()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
			return &mcp.IOTransport{Reader: outR, Writer: inW}
		},
		"HTTP": func(t *testing.T, s *mcp.Server) mcp.Transport {
			h, err := HTTP(s, HTTPOptions{Token: token})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			address, ended := make(chan net.Addr, 1), make(chan error, 1)
			go func() { ended <- serveAt(ctx, h, address) }()
			t.Cleanup(func() {
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
			return &mcp.StreamableClientTransport{Endpoint: "http://" + (<-address).String() + "/mcp", HTTPClient: &http.Client{Transport: bearer{http.DefaultTransport}}}
		},
	}
	for carrier, connect := range carriers {
		for _, version := range mcp.SupportedProtocolVersions() {
			t.Run(carrier+" "+version, func(t *testing.T) {
				t.Parallel()
				cancelled := make(chan struct{}, 1)
				useClient(t, connect(t, busyServer(cancelled)), version, cancelled)
			})
		}
	}
}

func useClient(t *testing.T, transport mcp.Transport, version string, cancelled <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	progress := make(chan float64, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		Logger: slog.New(slog.DiscardHandler),
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress <- r.Params.Progress
		},
	})
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("speaks %s, asked %s", got, version)
	}
	if list, err := session.ListTools(ctx, nil); err != nil || len(list.Tools) != 7 {
		t.Errorf("tools %+v, %v", list, err)
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "no such tool"}); err == nil {
		t.Error("an unknown tool was called")
	}

	params := &mcp.CallToolParams{Name: "progress"}
	params.SetProgressToken("token")
	if r, err := session.CallTool(ctx, params); err != nil || r.Content[0].(*mcp.TextContent).Text != "done" {
		t.Errorf("progress: %+v, %v", r, err)
	}
	seen := map[float64]bool{}
	for range 5 {
		seen[<-progress] = true
	}
	if len(seen) != 5 {
		t.Errorf("progress %v", seen)
	}

	// A ping is answered while a call runs; the stateless protocol has none.
	running, hangUp := context.WithCancel(ctx)
	called := make(chan error, 1)
	params = &mcp.CallToolParams{Name: "until cancelled"}
	params.SetProgressToken("begun")
	go func() {
		_, err := session.CallTool(running, params)
		called <- err
	}()
	// Over HTTP the client tells of a cancel only once the answer has begun; what it gives
	// up before that is, to a server of sessions, a connection that broke.
	<-progress
	if version < modern {
		if err := session.Ping(ctx, nil); err != nil {
			t.Errorf("ping: %v", err)
		}
	}
	results := make(chan error, 4)
	for range 4 {
		go func() {
			r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "one of four"})
			if err == nil && r.IsError {
				err = fmt.Errorf("%+v", r.Content[0])
			}
			results <- err
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Errorf("four at once: %v", err)
		}
	}
	hangUp()
	if err := <-called; err == nil {
		t.Error("a cancelled call was answered")
	}
	select {
	case <-cancelled:
	case <-ctx.Done():
		t.Error("the call did not hear of its cancel")
	}
	if r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "large"}); err != nil || len(r.Content[0].(*mcp.TextContent).Text) != 2<<20 {
		t.Errorf("a large answer: %v", err)
	}
}

// BenchmarkCall is the time of one call of a trivial tool over pipes of the system, on
// our transport and on the SDK's, and of one with 100 kB in its answer.
func BenchmarkCall(b *testing.B) {
	s := testServer()
	s.AddTool(&mcp.Tool{Name: "100 kB", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 100_000)}}}, nil
	})
	for _, tool := range []string{"echo", "100 kB"} {
		b.Run(tool+"/ours", func(b *testing.B) {
			inR, inW, outR, outW := systemPipes(b)
			go func() { _ = Stdio(b.Context(), s, inR, outW, StdioOptions{}) }()
			callAgain(b, inW, outR, tool)
		})
		b.Run(tool+"/sdk", func(b *testing.B) {
			inR, inW, outR, outW := systemPipes(b)
			go func() { _ = s.Run(b.Context(), &mcp.IOTransport{Reader: inR, Writer: outW}) }()
			callAgain(b, inW, outR, tool)
		})
	}
}

// BenchmarkInitialize is the time from the first byte to a session's first answer.
func BenchmarkInitialize(b *testing.B) {
	s := testServer()
	line := strings.Split(fmt.Sprintf(handshake, "2025-11-25"), "\n")[0] + "\n"
	b.ReportAllocs()
	for b.Loop() {
		client, server := net.Pipe()
		go func() { _ = Stdio(b.Context(), s, server, server, StdioOptions{}) }()
		if _, err := io.WriteString(client, line); err != nil {
			b.Fatal(err)
		}
		if _, err := bufio.NewReader(client).ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		client.Close()
	}
}

func callAgain(b *testing.B, in io.Writer, out io.Reader, tool string) {
	b.Helper()
	r := bufio.NewReaderSize(out, 256<<10)
	exchange := func(text string) {
		if _, err := io.WriteString(in, text); err != nil {
			b.Fatal(err)
		}
		if line, err := r.ReadString('\n'); err != nil || strings.Contains(line, `"error"`) {
			b.Fatalf("%.200s, %v", line, err)
		}
	}
	exchange(fmt.Sprintf(handshake, "2025-11-25"))
	text := fmt.Sprintf(call, "1", tool) + "\n"
	b.ReportAllocs()
	for b.Loop() {
		exchange(text)
	}
}

// BenchmarkRead is the time to take a message of 100 kB apart.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		text := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":"` + strings.Repeat("x", size) + `"}}}`)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, f := read(text); f != nil {
					b.Fatal(f.text)
				}
			}
		})
	}
}

func systemPipes(b *testing.B) (inR, inW, outR, outW *os.File) {
	b.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	if outR, outW, err = os.Pipe(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, f := range []*os.File{inW, inR, outR, outW} {
			f.Close()
		}
	})
	return inR, inW, outR, outW
}
