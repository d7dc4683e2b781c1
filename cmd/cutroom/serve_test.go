package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/docgen"
	"cutroom/internal/mcpserver"
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

// tools lists the tools as the line has them.
func (s *server) tools() (list []json.RawMessage, raw []byte) {
	s.t.Helper()
	raw = s.answer(s.ask("tools/list", map[string]any{})).Result
	var r struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(raw, &r); err != nil {
		s.t.Fatal(err)
	}
	return r.Tools, raw
}

func TestAServerAnswersAtOnce(t *testing.T) {
	dir := t.TempDir()
	var took []time.Duration
	for range 20 {
		cmd := command(t, dir, "mcp")
		began := time.Now()
		s := greet(t, cmd)
		took = append(took, time.Since(began))
		s.in.Close()
		_ = cmd.Wait()
	}
	slices.Sort(took)
	if took[10] > 100*time.Millisecond {
		t.Errorf("half of the servers took longer than %v to answer initialize", took[10])
	}
	t.Logf("initialize answered after %v (median), %v (slowest)", took[10], took[19])
}

// Every list is the translation of the contract, byte for byte, and the same in every
// process.
func TestListsAreTheContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw, err := command(t, dir, "contract", "--json", "--static").Output()
	if err != nil {
		raw, err = command(t, dir, "contract", "--json").Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	var contract docgen.Document
	if err := json.Unmarshal(raw, &contract); err != nil {
		t.Fatal(err)
	}
	translated := map[string]string{}
	var video []string
	for _, e := range contract.Tools {
		b, err := json.Marshal(mcpserver.Translate(e))
		if err != nil {
			t.Fatal(err)
		}
		translated[e.MCPName] = string(b)
		if strings.HasPrefix(e.ToolID, "video.") {
			video = append(video, e.MCPName)
		}
	}
	for _, args := range [][]string{{"mcp"}, {"mcp", "--toolsets", "all"}, {"tool", "serve-mcp"}} {
		var names []string
		first, bytes := serve(t, dir, nil, args...).tools()
		for _, tool := range first {
			var head struct{ Name, Title string }
			if err := json.Unmarshal(tool, &head); err != nil {
				t.Fatal(err)
			}
			names = append(names, head.Name)
			if strings.ReplaceAll(head.Title, ".", "_") != head.Name {
				t.Errorf("%s has the title %q", head.Name, head.Title)
			}
			if diff := cmp.Diff(translated[head.Name], string(tool)); diff != "" {
				t.Errorf("%v: %s is not the contract's (-contract +list):\n%s", args, head.Name, diff)
			}
		}
		for range 2 {
			if _, again := serve(t, dir, nil, args...).tools(); string(again) != string(bytes) {
				t.Errorf("%v: another process lists other bytes", args)
			}
		}
		switch args[len(args)-1] {
		case "mcp":
			if len(first) > 14 || len(bytes) > 24_000 {
				t.Errorf("the default list has %d tools and %d bytes", len(first), len(bytes))
			}
			if want := []string{"media_watch", "media_ask", "measure_probe", "job_get", "job_wait", "job_cancel", "tool_search"}; !slices.Equal(names, want) {
				t.Errorf("the default list is %v", names)
			}
		case "all":
			if len(first) != len(contract.Tools) {
				t.Errorf("all lists %d of %d tools", len(first), len(contract.Tools))
			}
		case "serve-mcp":
			if !slices.Equal(names, video) || len(video) != 8 {
				t.Errorf("serve-mcp lists %v", names)
			}
		}
	}
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

// lengthy is a recording whose speech takes the machine a while.
func lengthy(t *testing.T, dir string) string {
	t.Helper()
	c := exec.Command("ffmpeg", "-v", "error", "-stream_loop", "40", "-i", filepath.Join(testenv.Real(t), "two_cities_16k.wav"), "-c", "copy", "long.wav")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return "long.wav"
}

// descendants are the processes below one, with what was given to each.
func descendants(pid int) map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	parents := map[int]int{}
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[0] != "Z" {
			parents[p], _ = strconv.Atoi(fields[1])
		}
	}
	for p := range parents {
		for up := parents[p]; up > 1; up = parents[up] {
			if up == pid {
				env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p))
				found[p] = string(env)
				break
			}
		}
	}
	return found
}

// until polls a condition, and says how long it took.
func until(t *testing.T, what string, d time.Duration, is func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > d {
			t.Fatalf("after %v still not: %s", d, what)
		}
		runtime.Gosched()
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began)
}

// A long call tells how far it is, leaves room for others, keeps the host's
// environment from its programs, and is gone soon after it was cancelled.
func TestALongCall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	w := open(t, "")
	recording := lengthy(t, w.dir)
	w.link(filepath.Join(testenv.Real(t), "jfk.wav"), "jfk.wav")
	s := serve(t, w.dir, []string{"CUTROOM_CANARY=canary-7341"}, "mcp", "--patience", "10m")
	began := time.Now()
	watch := s.ask("tools/call", map[string]any{
		"name": "media_watch", "arguments": map[string]any{"source": map[string]any{"kind": "local_file", "value": recording}, "mode": "transcript"},
		"_meta": map[string]any{"progressToken": "p-1", "com.example/more": []any{1, nil}},
	})
	until(t, "a program runs", 30*time.Second, func() bool {
		for _, env := range descendants(s.cmd.Process.Pid) {
			if env != "" {
				return true
			}
		}
		return false
	})
	for pid, env := range descendants(s.cmd.Process.Pid) {
		if strings.Contains(env, "canary-7341") || strings.Contains(env, "CUTROOM_CANARY") {
			t.Errorf("the program %d was given %q", pid, env)
		}
	}
	var ids []int
	for range 4 {
		ids = append(ids, s.ask("tools/call", map[string]any{"name": "measure_probe", "arguments": map[string]any{"inputs": []string{"jfk.wav"}}}))
	}
	ids = append(ids, s.ask("ping", map[string]any{}))
	for _, id := range ids {
		if m := s.answer(id); m.Error != nil {
			t.Errorf("beside a long call: %+v", m.Error)
		}
	}
	s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4242}}`)
	for time.Since(began) < 11*time.Second {
		s.kept = append(s.kept, s.read(time.Minute))
	}
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, watch))
	gone := until(t, "no program runs after the cancel", 10*time.Second, func() bool { return len(descendants(s.cmd.Process.Pid)) == 0 })
	if gone > time.Second {
		t.Errorf("the programs ended %v after the cancel", gone)
	}
	s.answer(s.ask("ping", map[string]any{}))
	told, last, number := 0, began, 0.0
	for _, m := range s.kept {
		if m.ID == watch {
			t.Errorf("the cancelled call was answered: %s %+v", m.Result, m.Error)
		}
		var p struct {
			Token    string  `json:"progressToken"`
			Progress float64 `json:"progress"`
			Message  string  `json:"message"`
		}
		if m.Method != "notifications/progress" || json.Unmarshal(m.Params, &p) != nil || p.Token != "p-1" {
			continue
		}
		if p.Progress <= number || p.Message == "" || m.at.Sub(last) > 5*time.Second {
			t.Errorf("progress %v after %v, %v after the one before: %s", p.Progress, number, m.at.Sub(last), p.Message)
		}
		told, last, number = told+1, m.at, p.Progress
	}
	if told < 3 {
		t.Errorf("progress was told %d times in 11 s", told)
	}
	t.Logf("progress was told %d times; the programs ended %v after the cancel", told, gone)

	// The host goes away in the middle of a call.
	s.ask("tools/call", map[string]any{"name": "media_watch", "arguments": map[string]any{"source": map[string]any{"kind": "local_file", "value": recording}, "mode": "transcript"}})
	until(t, "a program runs", 30*time.Second, func() bool { return len(descendants(s.cmd.Process.Pid)) > 0 })
	pid := s.cmd.Process.Pid
	s.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server goes on without its host")
	}
	if left := descendants(pid); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A job whose server was killed is taken over by the next one, and ends once.
func TestAJobOutlivesItsServer(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.link(filepath.Join(testenv.Real(t), "two_cities_16k.wav"), "talk.wav")
	env := []string{"CUTROOM_HOME=" + homeOf(t)}
	s := serve(t, w.dir, env, "mcp", "--patience", "300ms")
	text, _, failed := s.call("media_watch", map[string]any{"source": map[string]any{"kind": "local_file", "value": "talk.wav"}, "mode": "transcript"})
	var handle struct {
		Status string
		JobID  string `json:"job_id"`
	}
	if failed || json.Unmarshal([]byte(text), &handle) != nil || handle.Status != "running" || handle.JobID == "" {
		t.Fatalf("no handle: %s", text)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	var both sync.WaitGroup
	for range 2 { // two servers at once: one takes it
		next := serve(t, w.dir, env, "mcp")
		both.Go(func() {
			for range 3 {
				text, _, failed := next.call("job_wait", map[string]any{"id": handle.JobID, "seconds": 50})
				if failed {
					t.Errorf("job_wait: %s", text)
					return
				}
				if strings.Contains(text, "state: completed") {
					if !strings.Contains(text, "attempt: 2") || !strings.Contains(text, "best of times") {
						t.Errorf("the result is %s", text)
					}
					return
				}
			}
			t.Error("the job did not end")
		})
	}
	both.Wait()
}

// homeOf is the test's home once more, with a state of its own, so that jobs of other
// tests do not count.
func homeOf(t *testing.T) string {
	t.Helper()
	pin(t)
	home, shared := t.TempDir(), os.Getenv("CUTROOM_HOME")
	if err := os.Symlink(filepath.Join(shared, "data"), filepath.Join(home, "data")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, "state"), os.DirFS(filepath.Join(shared, "state"))); err != nil {
		t.Fatal(err)
	}
	// A copy has the modes of the umask, and keys are refused that others may read.
	err := filepath.WalkDir(home, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.Type()&fs.ModeSymlink != 0:
			return err
		case d.IsDir():
			return os.Chmod(p, 0o700)
		}
		return os.Chmod(p, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// What every tool that calls itself read-only leaves behind lies in the stage alone.
func TestReadOnlyToolsWriteNothingElse(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	demo(w)
	s := serve(t, w.dir, nil, "mcp", "--toolsets", "all")
	before := leavings(t, w.dir)
	text, _, failed := s.call("media_watch", file("clip.mp4"))
	if failed {
		t.Fatal(text)
	}
	_, rest, _ := strings.Cut(text, "run_id ")
	run := rest[:16]
	calls := map[string]any{
		"media_ask": map[string]any{"run": map[string]any{"run": run}}, "measure_probe": map[string]any{"inputs": []string{"clip.mp4"}},
		"measure_signals": map[string]any{"input": "clip.mp4"}, "tool_search": map[string]any{"query": "frames"},
		"job_get": map[string]any{"id": "none"}, "job_wait": map[string]any{"id": "none", "seconds": 1}, "job_list": map[string]any{},
		"video_probe": file("clip.mp4"), "video_transcript": file("clip.mp4"), "video_extract_audio": file("clip.mp4"), "video_extract_frames": file("clip.mp4"),
		"video_summarize_timeline": nil, "video_ocr_frames": nil, "video_inspect_frames": nil, "media_watch": file("clip.mp4"),
	}
	_, doc, failed := s.call("video_extract_frames", file("clip.mp4"))
	var out struct {
		Frames []struct {
			Frame json.RawMessage `json:"frame"`
		} `json:"frames"`
		Artifacts  []json.RawMessage `json:"artifacts"`
		Provenance struct {
			Invocation string `json:"invocation_sha256"`
			Source     struct {
				SHA256 string `json:"sha256"`
			} `json:"source_identity"`
		} `json:"provenance"`
	}
	if failed || json.Unmarshal(doc, &out) != nil || len(out.Artifacts) == 0 {
		t.Fatalf("no frames: %s", doc)
	}
	calls["video_ocr_frames"] = map[string]any{"frames": out.Artifacts[:1]}
	calls["video_inspect_frames"] = map[string]any{"frames": out.Artifacts[:1]}
	calls["video_summarize_timeline"] = map[string]any{"source_identity_sha256": out.Provenance.Source.SHA256, "results": []any{map[string]any{"run": run}}}
	list, _ := s.tools()
	for _, raw := range list {
		var tool mcp.Tool
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		a := tool.Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.DestructiveHint || *a.OpenWorldHint != (tool.Name == "video_download") {
			t.Errorf("%s: annotations %+v", tool.Name, a)
			continue
		}
		if a.ReadOnlyHint == (tool.Name == "video_download" || tool.Name == "job_cancel") {
			t.Errorf("%s: readOnly %v", tool.Name, a.ReadOnlyHint)
		}
		if !a.ReadOnlyHint {
			continue
		}
		arguments, known := calls[tool.Name]
		if !known {
			t.Errorf("%s is read-only and was not tried", tool.Name)
			continue
		}
		s.call(tool.Name, arguments)
		if diff := cmp.Diff(before, leavings(t, w.dir)); diff != "" {
			t.Errorf("%s changed the workspace outside the stage:\n%s", tool.Name, diff)
		}
	}
}

// demo copies the sample clip into a workspace: a link would change it for others.
func demo(w *workspace) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "media", "demo.mp4"))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, "clip.mp4"), data, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// leavings is every file of a workspace but those of the stage.
func leavings(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if rel == ".cutroom" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || rel == "." { // the folder's own time changes with .cutroom in it
			return err
		}
		found[rel] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPromptsAndResourcesOverMCP(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	demo(w)
	s := serve(t, w.dir, nil, "mcp")
	var prompts struct {
		Prompts []struct{ Name, Description string }
	}
	if err := json.Unmarshal(s.answer(s.ask("prompts/list", map[string]any{})).Result, &prompts); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range prompts.Prompts {
		names = append(names, p.Name)
		m := s.answer(s.ask("prompts/get", map[string]any{"name": p.Name, "arguments": map[string]any{"file": "a \"b\".mp4"}}))
		if m.Error != nil || strings.Contains(string(m.Result), "{") == false || strings.Contains(string(m.Result), "{file}") || !strings.Contains(string(m.Result), "never an instruction") {
			t.Errorf("%s: %s %+v", p.Name, m.Result, m.Error)
		}
		if m := s.answer(s.ask("prompts/get", map[string]any{"name": p.Name})); m.Error == nil || !strings.Contains(m.Error.Message, "file") {
			t.Errorf("%s without a file: %s", p.Name, m.Result)
		}
		if m := s.answer(s.ask("prompts/get", map[string]any{"name": p.Name, "arguments": map[string]any{"file": "x", "fiel": "y"}})); m.Error == nil || !strings.Contains(m.Error.Message, "did you mean file?") {
			t.Errorf("%s with a wrong argument: %s %+v", p.Name, m.Result, m.Error)
		}
	}
	if want := []string{"caption-vertical", "check-delivery", "cut-silence", "watch"}; !slices.Equal(names, want) {
		t.Errorf("the prompts are %v", names)
	}

	text, _, failed := s.call("media_watch", file("clip.mp4"))
	if failed {
		t.Fatal(text)
	}
	_, rest, _ := strings.Cut(text, "run_id ")
	uri := "cutroom://run/" + rest[:16]
	for _, u := range []string{uri, uri + "/timeline.json", uri + "/timeline.md"} {
		if m := s.answer(s.ask("resources/read", map[string]any{"uri": u})); m.Error != nil || !strings.Contains(string(m.Result), "no space left on disk") {
			t.Errorf("%s: %.200s %+v", u, m.Result, m.Error)
		}
	}
	if m := s.answer(s.ask("resources/read", map[string]any{"uri": uri + "/sheet-01.jpg"})); m.Error != nil || !strings.Contains(string(m.Result), `"blob"`) {
		t.Errorf("the sheet: %.200s %+v", m.Result, m.Error)
	}
	if m := s.answer(s.ask("resources/list", map[string]any{})); !strings.Contains(string(m.Result), uri) {
		t.Errorf("the list has no %s: %s", uri, m.Result)
	}
	for _, u := range []string{uri + "/../x", uri + "?page=99", "cutroom://run/ffffffffffffffff", "file:///etc/passwd", uri + "/result.json%00"} {
		if m := s.answer(s.ask("resources/read", map[string]any{"uri": u})); m.Error == nil || strings.Contains(m.Error.Message, w.dir) {
			t.Errorf("%s: %.200s", u, m.Result)
		}
	}
	// An id is not a permission.
	if err := os.Remove(filepath.Join(w.dir, "clip.mp4")); err != nil {
		t.Fatal(err)
	}
	if m := s.answer(s.ask("resources/read", map[string]any{"uri": uri})); m.Error == nil {
		t.Errorf("the source is gone, and its evidence is read: %.100s", m.Result)
	}
}
