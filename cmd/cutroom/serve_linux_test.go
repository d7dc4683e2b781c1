package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cutroom/internal/testenv"
)

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
