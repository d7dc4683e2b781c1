package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestAJobOutlivesItsServer: a job whose server was killed is taken over by the next
// one, and ends once, however many servers there are.
func TestAJobOutlivesItsServer(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	speech(t, filepath.Join(dir, "talk.wav"), 1)
	s := i.serve(t, dir, "mcp", "--patience", "300ms").open("2025-11-25")
	var handle struct {
		Status string
		JobID  string `json:"job_id"`
	}
	text := s.good("media_watch", source("talk.wav", `"mode":"transcript"`)).text()
	if decode(t, json.RawMessage(text), &handle); handle.Status != "running" || handle.JobID == "" {
		t.Fatalf("no handle: %s", text)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	var both sync.WaitGroup
	for range 2 {
		next := i.serve(t, dir, "mcp").open("2025-11-25")
		both.Go(func() {
			for range 3 {
				text := next.good("job_wait", fmt.Sprintf(`{"id":%q,"seconds":50}`, handle.JobID)).text()
				if strings.Contains(text, "state: completed") {
					if !strings.Contains(text, "attempt: 2") || !strings.Contains(text, "no space left") {
						t.Errorf("the result is %s", text)
					}
					return
				}
			}
			t.Error("the job did not end")
		})
	}
	both.Wait()
	results, err := filepath.Glob(filepath.Join(dir, ".cutroom", "stage", "*", "media.watch", "*"))
	if err != nil || len(results) != 1 {
		t.Errorf("recorded: %v, %v", results, err)
	}
}
