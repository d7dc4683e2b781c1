package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"cutroom/internal/testenv"
)

// A session in which nothing happened passes no row.
func TestNothingSeenPassesNothing(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, c := range clients() {
		a := &attestation{lab: &lab{home: project, pinned: "1"}, client: c, say: t.Logf}
		if err := write(filepath.Join(project, c.skill), "---\nname: watch\n---\n\nA first line that is long enough to be looked for in a request.\n"); err != nil {
			t.Fatal(err)
		}
		s := &session{}
		rows := append(a.watchRows(s, project), a.readRow(s, []string{"media_ask"}), a.secretRow(s), a.failureRow("missing", s.results(), "not_found", "missing.mp4"),
			a.ceilingRow(s), question{}.row(), question{announced: s.hasDialogs(), dialogs: s.dialogs()}.row())
		rows = append(rows, a.authorityRows(&ordeal{})...)
		rows = append(rows, a.plainRow(&look{}), a.wrappedRow(&look{}), a.wrappedRow(&look{asked: 1, keyed: true, told: true, evidence: []string{marker + "an image] nothing"}}))
		for _, r := range rows {
			if r.Passed {
				t.Errorf("%s: %q passed", c.title, r.Check)
			}
		}
		if _, ok := s.cancelled("media_watch"); ok {
			t.Error("a cancel was seen")
		}
		if _, ok := s.watched(); ok {
			t.Error("a watch was seen")
		}
	}
}

// A failure is taken from the document alone: with its code, what it names, and a hint.
func TestFailureRow(t *testing.T) {
	t.Parallel()
	a := &attestation{}
	const good = `Error: {"status":"failed","error":{"kind":"input","code":"not_found","message":"no such file: \"missing.mp4\"","hint":"look"}}`
	for text, want := range map[string]bool{
		good:                             true,
		"before\n" + good + " and after": true,
		`{"status":"failed","error":{"code":"not_found","message":"missing.mp4"}}`:              false,
		`{"status":"failed","error":{"code":"internal","message":"missing.mp4","hint":"look"}}`: false,
		`{"status":"failed","error":{"code":"not_found","message":"other.mp4","hint":"look"}}`:  false,
		`{"status":"failed","error":{"code":"not_found","message":"missing.mp4","hint":"look"`:  false,
		`not_found missing.mp4 hint`: false,
	} {
		if got := a.failureRow("x", text, "not_found", "missing.mp4").Passed; got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// Programs beneath a server are seen, with what they were given and when they ended.
func TestWatcherSeesWhatAServerStarts(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "sh", "sleep")
	dir := t.TempDir()
	// A server by its command line: "SERVER mcp …", where sh takes mcp for its script.
	given, bare := strconv.Itoa(200_000+os.Getpid()), strconv.Itoa(300_000+os.Getpid())
	script := "ATTEST_CANARY=" + canary + " sleep " + given + " & env -i sleep " + bare + " & wait\n"
	if err := os.WriteFile(filepath.Join(dir, "mcp"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), "/bin/sh")
	server.Args, server.Dir = []string{"/the/server", "mcp", "-"}, dir
	ownGroup(server)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	w := watchPrograms(os.Getpid(), "/the/server")
	for range 10_000 { // some seconds
		if running(t, given)+running(t, bare) == 2 {
			break
		}
	}
	list := w.stop()
	killGroup(server)
	_ = server.Wait()
	leaked := 0
	for _, s := range list {
		if s.leaked {
			leaked++
		}
		if !s.read || s.name == "" || s.last.Before(s.first) {
			t.Errorf("%+v", s)
		}
	}
	if len(list) != 2 || leaked != 1 {
		t.Errorf("%d programs seen, %d of them with the secret", len(list), leaked)
	}
}
