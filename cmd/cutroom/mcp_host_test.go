package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"cutroom/internal/testenv"
)

// patience is how long these tests wait for what has to come: a machine may be busy.
const patience = 8 * time.Minute

// canary is in the environment of every server, under a name that nothing asks for.
const canary = "canary-7d1f0c52-never-to-be-seen"

// installed is the binary, made as `make build` does, with a home set up for it: once
// for all these tests.
var installed = sync.OnceValues(func() (*installation, error) {
	dir := os.Getenv("CUTROOM_HOME") // of this test process; it goes with it
	i := &installation{bin: filepath.Join(dir, "mcp-bin", "cutroom"), home: filepath.Join(dir, "mcp-home")}
	cmd := exec.Command("go", "build", "-trimpath", "-o", i.bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return i, os.MkdirAll(filepath.Join(i.home, "data"), 0o700)
})

type installation struct{ bin, home string }

var setUp sync.Once

// install returns the binary and a home that is shared by the tests, as by the calls
// of one user.
func install(t *testing.T) *installation {
	t.Helper()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract", "go")
	i, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	setUp.Do(func() { i.setUp(t, os.Getenv("PATH")) })
	return i
}

// own is the same binary with a home of its own, whose programs are those on path.
func (i *installation) own(t *testing.T, path string) *installation {
	t.Helper()
	o := &installation{bin: i.bin, home: filepath.Join(t.TempDir(), "home")}
	if err := os.MkdirAll(filepath.Join(o.home, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	o.setUp(t, path)
	return o
}

func (i *installation) setUp(t *testing.T, path string) {
	t.Helper()
	if err := os.Symlink(testenv.Models(t), filepath.Join(i.home, "data", "models")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), i.bin, "setup", "--json")
	cmd.Env, cmd.Dir = []string{"PATH=" + path, "HOME=" + i.home, "CUTROOM_HOME=" + i.home}, i.home
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), `"programs"`) {
		t.Fatalf("setup: %v\n%s", err, out)
	}
}

// environ is what a host gives its server.
func (i *installation) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + i.home, "CUTROOM_HOME=" + i.home, "CUTROOM_TEST_SECRET=" + canary, "AWS_SECRET_ACCESS_KEY=" + canary}
}

// run is the output of a command of the binary.
func (i *installation) run(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), i.bin, args...)
	cmd.Dir, cmd.Env = dir, i.environ()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cutroom %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// message is a line of JSON-RPC.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`

	line string
	at   time.Time
}

// mcpServer is a running `cutroom mcp` and a client that speaks to it line by line.
type mcpServer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser

	mu   sync.Mutex
	news *sync.Cond
	all  []message
	last int // id
	gone bool
	meta string // what every request of the stateless era carries

	ended chan error
	said  strings.Builder // standard error
}

// serve starts a server in dir.
func (i *installation) serve(t *testing.T, dir string, args ...string) *mcpServer {
	t.Helper()
	return i.serveIn(t, dir, os.TempDir(), args...)
}

// serveIn starts a server whose folder for temporary files is the given one.
func (i *installation) serveIn(t *testing.T, dir, temporary string, args ...string) *mcpServer {
	t.Helper()
	if len(args) == 0 {
		args = []string{"mcp"}
	}
	s := &mcpServer{t: t, cmd: exec.Command(i.bin, args...), ended: make(chan error, 1)}
	s.news = sync.NewCond(&s.mu)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, append(i.environ(), "TMPDIR="+temporary), &s.said
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.in = in
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(out)
	}()
	go func() {
		<-read // Wait closes the pipe
		s.ended <- s.cmd.Wait()
	}()
	t.Cleanup(s.end)
	return s
}

// read takes what the server writes: nothing but messages, one a line.
func (s *mcpServer) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		m := message{line: strings.TrimSuffix(line, "\n"), at: time.Now()}
		s.mu.Lock()
		switch {
		case err != nil && line == "":
			s.gone = true
		case json.Unmarshal([]byte(line), &m) != nil || m.JSONRPC != "2.0" || !utf8.ValidString(line):
			s.t.Errorf("no message of JSON-RPC: %.300q", line)
		case strings.Contains(line, canary):
			s.t.Errorf("a value of the environment is in %.300q", line)
		default:
			s.all = append(s.all, m)
		}
		s.news.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// end closes the input and waits for the process.
func (s *mcpServer) end() {
	_ = s.in.Close()
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(time.Minute):
		s.t.Errorf("the server does not end with its input")
		_ = s.cmd.Process.Kill()
	}
}

// write sends a line.
func (s *mcpServer) write(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatalf("the server does not read: %v", err)
	}
}

// send asks, and returns the id of the request. params is JSON text: "" is none.
func (s *mcpServer) send(method, params string) int {
	s.t.Helper()
	s.last++
	if s.meta != "" {
		rest := strings.TrimPrefix(params, "{")
		if rest != "" && rest != "}" {
			rest = "," + rest
		} else {
			rest = "}"
		}
		params = `{"_meta":` + s.meta + rest
	}
	if params != "" {
		params = `,"params":` + params
	}
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, s.last, method, params))
	return s.last
}

// find waits until a message is there that is wanted.
func (s *mcpServer) find(what string, wanted func(message) bool) message {
	s.t.Helper()
	late := time.AfterFunc(patience, func() {
		s.mu.Lock()
		s.gone = true
		s.news.Broadcast()
		s.mu.Unlock()
	})
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for seen := 0; ; {
		for ; seen < len(s.all); seen++ {
			if wanted(s.all[seen]) {
				return s.all[seen]
			}
		}
		if s.gone {
			s.t.Fatalf("%s does not come; standard error: %s", what, s.said.String())
		}
		s.news.Wait()
	}
}

// answer waits for the answer of a request.
func (s *mcpServer) answer(id int) message {
	s.t.Helper()
	text := fmt.Sprint(id)
	return s.find("the answer to request "+text, func(m message) bool {
		if string(m.ID) == "null" && m.Error != nil {
			s.t.Fatalf("a request was not understood: %s", m.line)
		}
		return string(m.ID) == text && m.Method == ""
	})
}

// ask sends and waits.
func (s *mcpServer) ask(method, params string) message {
	s.t.Helper()
	return s.answer(s.send(method, params))
}

// must asks for what has to succeed.
func (s *mcpServer) must(method, params string) json.RawMessage {
	s.t.Helper()
	m := s.ask(method, params)
	if m.Error != nil {
		s.t.Fatalf("%s %s: %s", method, params, m.line)
	}
	return m.Result
}

// seen are the messages so far.
func (s *mcpServer) seen() []message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[:len(s.all):len(s.all)]
}

// open makes the handshake of a session era.
func (s *mcpServer) open(version string) *mcpServer {
	s.t.Helper()
	r := s.must("initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	if !strings.Contains(string(r), `"protocolVersion":"`+version+`"`) {
		s.t.Fatalf("asked for %s: %s", version, r)
	}
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

// modern makes the requests those of the stateless era.
func (s *mcpServer) modern() *mcpServer {
	s.meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	return s
}

// callParams are those of tools/call.
func callParams(tool, arguments string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)
}

// call calls a tool, whose answer has to be one that a host takes.
func (s *mcpServer) call(tool, arguments string) *answer {
	s.t.Helper()
	return s.took(tool, s.ask("tools/call", callParams(tool, arguments)))
}

// good calls a tool that has to succeed.
func (s *mcpServer) good(tool, arguments string) *answer {
	s.t.Helper()
	a := s.call(tool, arguments)
	if a.IsError {
		s.t.Fatalf("%s %.300s: %s", tool, arguments, a.text())
	}
	return a
}
