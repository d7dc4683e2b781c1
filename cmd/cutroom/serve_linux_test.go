package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/testenv"
)

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
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !is() {
		if <-look.C; time.Since(began) > d {
			t.Fatalf("after %v still not: %s", d, what)
		}
	}
	return time.Since(began)
}

// A long call tells how far it is, leaves room for others, keeps the host's
// environment from its programs, and is gone soon after it was cancelled.
func TestALongCall(t *testing.T) {
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
