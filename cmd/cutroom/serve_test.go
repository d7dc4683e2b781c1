package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/testenv"
)

// server is `cutroom mcp` in a process of its own, and a client of it, line by line.
type server struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan message
	next  int
	kept  []message // answers that were read while another was waited for
}

// message is a line of the server.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	at time.Time
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// serve starts a server and makes the handshake.
func serve(t testing.TB, dir string, env []string, args ...string) *server {
	t.Helper()
	cmd := command(t, dir, args...)
	cmd.Env = append(cmd.Env, env...)
	return greet(t, cmd)
}

func greet(t testing.TB, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, lines: make(chan message, 1024)}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, cmd.Stderr = in, os.Stderr // what it says there is for whoever reads the test
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			m := message{ID: -1, at: time.Now()}
			if json.Unmarshal(line, &m) != nil {
				m.Method = "not JSON: " + string(line)
			}
			s.lines <- m
		}
	}()
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s.write(hello)
	s.answer(0)
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *server) write(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// ask sends a request and returns its id.
func (s *server) ask(method string, params any) int {
	s.t.Helper()
	s.next++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(string(raw))
	return s.next
}

// answer waits for the answer to a request; what comes before it is kept.
func (s *server) answer(id int) message {
	s.t.Helper()
	for i, m := range s.kept {
		if m.ID == id && m.Method == "" {
			s.kept = slices.Delete(s.kept, i, i+1)
			return m
		}
	}
	for {
		m := s.read(time.Minute)
		if m.ID == id && m.Method == "" {
			return m
		}
		s.kept = append(s.kept, m)
	}
}

func (s *server) read(d time.Duration) message {
	s.t.Helper()
	select {
	case m, ok := <-s.lines:
		if !ok {
			s.t.Fatal("the server ended")
		}
		return m
	case <-time.After(d):
		s.t.Fatal("no answer")
		return message{}
	}
}

// call calls a tool and returns its text, its structured content and whether it failed.
func (s *server) call(name string, arguments any) (text string, structured json.RawMessage, failed bool) {
	s.t.Helper()
	m := s.answer(s.ask("tools/call", map[string]any{"name": name, "arguments": arguments}))
	if m.Error != nil {
		return m.Error.Message + string(m.Error.Data), nil, true
	}
	var r struct {
		Content []struct{ Type, Text string }
		IsError bool            `json:"isError"`
		Doc     json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Content) == 0 {
		s.t.Fatalf("%s: %v %s", name, err, m.Result)
	}
	return r.Content[0].Text, r.Doc, r.IsError
}

func file(name string) map[string]any {
	return map[string]any{"source": map[string]any{"kind": "local_file", "value": name}}
}

// leaks are the places of this machine that no answer may name.
func leaks(dir string) []string {
	home, _ := os.UserHomeDir()
	return []string{dir, os.Getenv("CUTROOM_HOME"), home + "/", "/tmp/", "/usr/", "/proc/", "canary-7341", "Traceback", "ffmpeg version", "[mov,"}
}

func TestFailuresOverMCP(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.link(filepath.Join(testenv.Real(t), "jfk.wav"), "jfk.wav")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("text.mp4", "this is no video")
	put("broken.mp4", "\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41\x00\x00\x10\x00moov")
	if err := os.Symlink("/etc/passwd", filepath.Join(w.dir, "link.mp4")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w.dir, []string{"CUTROOM_CANARY=canary-7341"}, "mcp", "--toolsets", "all")
	rows := []struct {
		tool      string
		arguments any
		code      cutroom.Code
		says      string
	}{
		{"media_watch", file("gone.mp4"), cutroom.NotFound, `\"gone.mp4\"`},
		{"media_watch", file("text.mp4"), cutroom.UnreadableMedia, ""},
		{"measure_probe", map[string]any{"inputs": []string{"broken.mp4"}}, cutroom.UnreadableMedia, ""},
		{"media_watch", file("/etc/passwd"), cutroom.Denied, `\"/etc/passwd\"`},
		{"media_watch", file("../x.mp4"), cutroom.Denied, ""},
		{"media_watch", file("link.mp4"), cutroom.Denied, ""},
		{"media_watch", map[string]any{"sorce": 1}, cutroom.Invalid, `\"source\"`},
		{"media_watch", map[string]any{"source": "clip.mp4"}, cutroom.Invalid, ""},
		{"media_watch", []int{1}, "", ""},
		{"media_ask", map[string]any{"run": map[string]any{"run": "0123456789abcdef"}}, cutroom.NotFound, ""},
		{"media_wach", map[string]any{}, cutroom.NotFound, "media_watch"},
		{"job_wait", map[string]any{"id": "nosuchjob"}, cutroom.NotFound, ""},
		{"video_download", map[string]any{"source": map[string]any{"kind": "url", "value": "https://example.com/a.mp4"}}, cutroom.NeedsApproval, ""},
		{"measure_probe", map[string]any{"inputs": []string{strings.Repeat("x", 100_000)}}, cutroom.Invalid, ""},
		{"job_get", map[string]any{"id": strings.Repeat("j", 500)}, cutroom.Invalid, ""},
	}
	for _, r := range rows {
		text, _, failed := s.call(r.tool, r.arguments)
		if !failed {
			t.Errorf("%s %v succeeded: %.200s", r.tool, r.arguments, text)
			continue
		}
		for _, leak := range leaks(w.dir) {
			if strings.Contains(text, leak) && leak != "" {
				t.Errorf("%s: %q names %q", r.tool, text, leak)
			}
		}
		if r.code == "" {
			continue
		}
		from := strings.Index(text, `{"status":"failed"`)
		var doc cutroom.Failure
		if from < 0 || json.Unmarshal([]byte(text[from:]), &doc) != nil {
			t.Errorf("%s: no failure document in %q", r.tool, text)
			continue
		}
		if doc.Error.Code != r.code || doc.Error.Kind != r.code.Facts().Group || doc.Error.Message == "" || doc.Error.Hint == "" || !strings.Contains(text, r.says) {
			t.Errorf("%s %.80v: %+v, want %s naming %s", r.tool, r.arguments, doc.Error, r.code, r.says)
		}
	}
	if text, _, failed := s.call("measure_probe", map[string]any{"inputs": []string{"jfk.wav"}}); failed || !strings.Contains(text, "jfk.wav") {
		t.Errorf("after all that: %s", text)
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir() // nothing is set up here
	text, _, failed := serve(t, dir, []string{"CUTROOM_HOME=" + home}, "mcp").call("measure_probe", map[string]any{"inputs": []string{"x.mp4"}})
	if !failed || strings.Contains(text, home) {
		t.Errorf("got %s", text)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.mp4"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, _, failed = serve(t, dir, []string{"CUTROOM_HOME=" + home}, "mcp").call("measure_probe", map[string]any{"inputs": []string{"x.mp4"}})
	if !failed || !strings.Contains(text, `"missing_dependency"`) || !strings.Contains(text, "ffprobe") || !strings.Contains(text, "cutroom setup") {
		t.Errorf("got %s", text)
	}
}
