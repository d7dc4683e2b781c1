package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

// places are the texts that say where on this machine things lie.
func (i *installation) places(dir string) []string {
	list := []string{dir, i.home, filepath.Dir(i.bin), os.TempDir() + "/", "/usr/", "/proc/", ".pending", ".building"}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		list = append(list, home)
	}
	return list
}

// hides checks that a text does not tell of this machine, but for what was sent.
func (i *installation) hides(s *mcpServer, dir, text string, sent ...string) {
	s.t.Helper()
	for _, word := range sent {
		text = strings.ReplaceAll(text, word, "")
	}
	for _, place := range i.places(dir) {
		if strings.Contains(text, place) {
			s.t.Errorf("%q is told in %.600s", place, text)
		}
	}
}

// refusal is a call that has to fail.
type refusal struct {
	tool, input string
	code        string   // more than one is parted by |
	says        []string // in the message or the hint
	sent        string   // path of this machine that the caller named, which may be repeated
}

func refusals(outside string) []refusal {
	return []refusal{
		{tool: "media_watch", input: source("talks/gone.mp4", ""), code: "not_found", says: []string{"talks/gone.mp4"}},
		{tool: "measure_probe", input: `{"inputs":["demo.mp4","gone.mp4"]}`, code: "not_found", says: []string{"gone.mp4"}},
		{tool: "media_watch", input: source("text.mp4", ""), code: "unreadable_media", says: []string{"text"}},
		{tool: "video_probe", input: source("half.mp4", ""), code: "unreadable_media"},
		{tool: "measure_signals", input: `{"input":"empty.mp4"}`, code: "unreadable_media"},
		{tool: "media_watch", input: source("secret.mp4", ""), code: "denied|not_found", says: []string{"secret.mp4"}},
		{tool: "media_watch", input: source("/etc/passwd", ""), code: "denied", says: []string{"/etc/passwd"}},
		{tool: "media_watch", input: source("../x", ""), code: "denied", says: []string{"../x"}},
		{tool: "media_watch", input: source("link.mp4", ""), code: "denied", says: []string{"link.mp4"}},
		{tool: "media_watch", input: source("folder/clip.mp4", ""), code: "denied", says: []string{"folder/clip.mp4"}},
		{tool: "media_watch", input: source(outside, ""), code: "denied", sent: outside},
		{tool: "media_watch", input: source("/proc/self/environ", ""), code: "denied", sent: "/proc/self/environ"},
		{tool: "measure_probe", input: `{"inputs":["fifo.mp4"]}`, code: "invalid", says: []string{"fifo.mp4"}},
		{tool: "media_watch", input: strings.Replace(source("a b.mp4", ""), " b", `\u0000b`, 1), code: "invalid"},
		{tool: "media_watch", input: `{"sorce":{"kind":"local_file","value":"demo.mp4"}}`, code: "invalid", says: []string{"sorce", "source"}},
		{tool: "media_watch", input: source("demo.mp4", `"mod":"frames"`), code: "invalid", says: []string{`\"mod\"`, "mode"}},
		{tool: "media_watch", input: source("demo.mp4", `"mode":"sumary"`), code: "invalid", says: []string{"sumary", "summary"}},
		{tool: "media_watch", input: source("demo.mp4", `"width":100000`), code: "invalid", says: []string{"width", "1920"}},
		{tool: "media_watch", input: `{"source":{"kind":"file","value":"demo.mp4"}}`, code: "invalid", says: []string{"local_file"}},
		{tool: "media_watch", input: source("demo.mp4", `"question":"`+strings.Repeat("why ", 1_000_000)+`"`), code: "invalid", says: []string{"question"}},
		{tool: "media_watch", input: `{"source":{"kind":"transcript","value":"` + strings.Repeat("x ", 5_000_000) + `"}}`, code: "invalid|limit", says: []string{"value"}},
		{tool: "measure_probe", input: `{"inputs":[` + strings.Repeat(`"demo.mp4",`, 40) + `"demo.mp4"]}`, code: "invalid", says: []string{"inputs", "32"}},
		{tool: "media_ask", input: `{"run":{"run":"0123456789abcdef"}}`, code: "not_found"},
		{tool: "media_ask", input: `{"run":{"run":"` + strings.Repeat("../", 20) + `etc/passwd"}}`, code: "invalid|not_found"},
		{tool: "job_get", input: `{"id":"k3v5q7x2m4n6p8r0s1t9"}`, code: "not_found"},
		{tool: "job_cancel", input: `{"id":"../../state"}`, code: "invalid|not_found"},
		{tool: "media_watch", input: `{"source":{"kind":"url","value":"file:///etc/passwd"}}`, code: "invalid"},
		{tool: "media_watch", input: `{"source":{"kind":"url","value":"https://user:hunter2@media.example.com/a.mp4?token=hunter2"}}`, code: "invalid"},
		{tool: "video_download", input: `{"source":{"kind":"url","value":"https://media.example.com/a.mp4"}}`, code: "needs_approval"},
	}
}

// spoiled is a workspace with everything in it that cannot be read.
func spoiled(t *testing.T) (dir, outside string) {
	t.Helper()
	dir, outside = t.TempDir(), filepath.Join(t.TempDir(), "clip.mp4")
	sample(t, dir)
	demo, err := os.ReadFile(filepath.Join(dir, "demo.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"text.mp4": []byte("these are words\n"), "empty.mp4": nil, "half.mp4": demo[len(demo)/2:], "secret.mp4": demo} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, demo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.mp4": outside, "folder": filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Run(t, dir, "mkfifo", "fifo.mp4")
	return dir, outside
}

// TestRefusals: each failure says what it is, which of the caller's words is wrong
// and what helps, and nothing of this machine.
func TestRefusals(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir, outside := spoiled(t)
	if err := os.Chmod(filepath.Join(dir, "secret.mp4"), 0); err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		s := i.serve(t, dir, "mcp", "--toolsets", "all").modern()
		if era != "2026-07-28" {
			s.meta = ""
			s.open(era)
		}
		for _, r := range refusals(outside) {
			if os.Geteuid() == 0 && strings.Contains(r.input, "secret.mp4") {
				continue // who may read everything is refused nothing
			}
			m := s.ask("tools/call", callParams(r.tool, r.input))
			i.hides(s, dir, m.line, r.sent, "/proc/self/environ")
			f := s.failed(m)
			if !slices.Contains(strings.Split(r.code, "|"), f.Error.Code) {
				t.Errorf("%s %.200s: %s, want %s: %+v", r.tool, r.input, f.Error.Code, r.code, f.Error)
			}
			said, _ := json.Marshal(f.Error.Message + " " + f.Error.Hint)
			for _, word := range r.says {
				if !strings.Contains(string(said), word) {
					t.Errorf("%s %.200s: nothing says %q: %s", r.tool, r.input, word, said)
				}
			}
			if strings.Contains(m.line, "hunter2") || len(m.line) > 4000 {
				t.Errorf("%s %.200s: the answer is %.600s", r.tool, r.input, m.line)
			}
		}
		s.good("measure_probe", `{"inputs":["demo.mp4"]}`)
		s.end()
		if said := s.said.String(); strings.Contains(said, canary) || strings.Contains(said, "hunter2") {
			t.Errorf("standard error tells a secret: %.2000s", said)
		}
	}
}

// TestUnknownNames: who calls what is not there is told what is.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	s := i.serve(t, dir).open("2025-11-25")
	for name, near := range map[string]string{
		"media_wach": "media_watch", "media.watch": "media_watch", "video_extractframes": "video_extract_frames", "tool_serch": "tool_search",
		"quite_something_else": "tool_search", strings.Repeat("x", 100_000): "tool_search", "": "", "../media_watch": "media_watch", "mcp__cutroom__media_watch": "",
	} {
		m := s.ask("tools/call", callParams(name, "{}"))
		if m.Error == nil || m.Error.Code != -32602 || len(m.line) > 2000 {
			t.Errorf("%.100q: %.300s", name, m.line)
			continue
		}
		f := s.failed(m)
		if f.Error.Code != "not_found" || !strings.Contains(f.Error.Hint, near) {
			t.Errorf("%.100q: %+v, want %s named", name, f.Error, near)
		}
	}
}

// TestWrongTypes gives every tool arguments of every wrong kind. None is a fault of
// ours, none ends the server, and none is taken for right.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	s := i.serve(t, dir, "mcp", "--toolsets", "all").open("2025-11-25")
	values := []string{`7`, `-1`, `1e99`, `true`, `null`, `"x"`, `""`, `[]`, `[[]]`, `{}`, `{"a":1}`, `"\u0000"`, `9007199254740993`, `0.1`}
	r := rand.New(rand.NewPCG(3, 4))
	wrong := 0
	for _, l := range s.list() {
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		decode(t, l.InputSchema, &schema)
		inputs := []string{`[]`, `"x"`, `7`, `{"` + strings.Repeat("k", 5000) + `":1}`, strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)}
		for name := range schema.Properties {
			for range 3 {
				members := []string{fmt.Sprintf("%q:%s", name, values[r.IntN(len(values))])}
				for _, other := range schema.Required {
					if other != name {
						members = append(members, fmt.Sprintf("%q:%s", other, values[r.IntN(len(values))]))
					}
				}
				inputs = append(inputs, "{"+strings.Join(members, ",")+"}")
			}
		}
		for _, in := range inputs {
			m := s.ask("tools/call", callParams(l.Name, in))
			i.hides(s, dir, m.line)
			if strings.Contains(m.line, `"isError":true`) || m.Error != nil {
				wrong++
				if f := s.failed(m); f.Error.Code == "internal" || f.Error.Code == "timeout" {
					t.Errorf("%s %.200s: %+v", l.Name, in, f.Error)
				}
			} else if len(schema.Required) > 0 {
				t.Errorf("%s takes %.200s: %.300s", l.Name, in, m.line)
			}
		}
	}
	s.must("ping", "")
	t.Logf("%d wrong calls", wrong)
	// No arguments at all are none, not a wrong type.
	for _, params := range []string{`{"name":"tool_search"}`, `{"name":"job_list","arguments":null}`, `{"name":"job_list","arguments":{}}`} {
		if m := s.ask("tools/call", params); m.Error != nil {
			t.Errorf("%s: %s", params, m.line)
		}
	}
}

// TestMissingPrograms: what was not set up, or is not there any more, or is another
// file now, is named with what to do; what needs none of them works.
func TestMissingPrograms(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir, programs := t.TempDir(), t.TempDir()
	sample(t, dir)
	for _, p := range []string{"ffmpeg", "ffprobe", "tesseract"} {
		real, err := exec.LookPath(p)
		if err != nil {
			t.Fatal(err)
		}
		testenv.Run(t, "", "cp", "-L", real, programs)
	}
	o := &installation{bin: i.bin, home: filepath.Join(t.TempDir(), "home")}
	for _, folder := range []string{"data", "config"} {
		if err := os.MkdirAll(filepath.Join(o.home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(o.home, "config", "cutroom.yaml"), fmt.Appendf(nil, "programs: [%q]\n", programs), 0o600); err != nil {
		t.Fatal(err)
	}
	lacks := func(s *mcpServer, tool, input, code, program string) {
		t.Helper()
		m := s.ask("tools/call", callParams(tool, input))
		o.hides(s, dir, m.line)
		f := s.failed(m)
		if f.Error.Code != code || !strings.Contains(f.Error.Message, program) || !strings.Contains(f.Error.Hint, "cutroom ") || strings.Contains(m.line, programs) {
			t.Errorf("%s: %+v", tool, f.Error)
		}
	}
	probe := `{"inputs":["demo.mp4"]}`
	s := o.serve(t, dir, "mcp", "--toolsets", "all").open("2025-11-25")
	lacks(s, "measure_probe", probe, "missing_dependency", "ffprobe") // nothing was set up
	lacks(s, "media_watch", source("demo.mp4", ""), "missing_dependency", "ff")
	s.good("video_transcript", `{"source":{"kind":"transcript","value":"00:01 --> 00:03\nHello"}}`)
	s.good("tool_search", `{"query":"frames"}`)

	o.setUp(t, os.Getenv("PATH"))
	s = o.serve(t, dir, "mcp", "--toolsets", "all").open("2025-11-25")
	var taken struct{ Frames json.RawMessage }
	decode(t, s.good("video_extract_frames", source("demo.mp4", `"timestamps_seconds":[1]`)).Structured, &taken)
	if err := os.Remove(filepath.Join(programs, "tesseract")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(programs, "ffmpeg"), []byte("#!/bin/sh\necho owned\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	read := `{"frames":` + string(taken.Frames) + `}`
	lacks(s, "video_ocr_frames", read, "missing_dependency", "tesseract") // in the server that saw it
	fresh := o.serve(t, dir, "mcp", "--toolsets", "all").open("2025-11-25")
	lacks(fresh, "video_ocr_frames", read, "missing_dependency", "tesseract")
	lacks(fresh, "video_extract_audio", source("demo.mp4", ""), "missing_dependency", "ffmpeg")
	fresh.good("measure_probe", probe)
}
