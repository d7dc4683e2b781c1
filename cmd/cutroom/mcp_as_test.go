package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostsAreWhoTheyAreStartedAs: with --as a host is offered and may do what that
// principal may, by every method, and its rows carry the name.
func TestHostsAreWhoTheyAreStartedAs(t *testing.T) {
	t.Parallel()
	i := install(t).own(t, os.Getenv("PATH"))
	if err := os.MkdirAll(filepath.Join(i.home, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := "principals:\n  - {name: reader, role: agent, kinds: [read], tools: [measure.probe, edit.fit]}\n"
	if err := os.WriteFile(filepath.Join(i.home, "config", "cutroom.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sample(t, dir)
	for _, s := range []*mcpServer{i.serve(t, dir, "mcp", "--toolsets", "all", "--as", "reader").open("2025-06-18"), i.serve(t, dir, "mcp", "--as", "reader").modern()} {
		names := []string{}
		for _, l := range s.list() {
			names = append(names, l.Name)
		}
		if got := strings.Join(names, " "); got != "measure_probe" {
			t.Errorf("a reader is offered %s", got)
		}
		if m := s.ask("tools/call", callParams("edit_cut", `{"input":"demo.mp4","end":1,"output":"x.mp4"}`)); m.Error == nil || !strings.Contains(m.line, "there is no tool") {
			t.Errorf("what is not in its list: %s", m.line)
		}
		if m := s.ask("tools/call", callParams("edit_fit", `{"input":"demo.mp4","output":"x.mp4"}`)); !strings.Contains(m.line, "denied") {
			t.Errorf("what is above its ceiling: %s", m.line)
		}
		s.good("measure_probe", `{"inputs":["demo.mp4"]}`)
	}
	if _, err := os.Lstat(filepath.Join(dir, "x.mp4")); err == nil {
		t.Error("a reader wrote a file")
	}
	if rows := string(i.run(t, dir, "audit", "show", "--tool", "measure.probe", "--json")); strings.Count(rows, `"reader"`) < 2 || strings.Contains(rows, `"principal":"agent"`) {
		t.Errorf("the rows say %s", rows)
	}
}
