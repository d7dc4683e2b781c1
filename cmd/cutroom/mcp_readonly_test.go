package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/testenv"
)

// sample puts the sample clip into a workspace.
func sample(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "demo.mp4"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot is everything beneath some folders: kinds, modes, sizes, times, contents.
// Of a folder in which writing is allowed only that it is there is noted.
func snapshot(t *testing.T, allowed []string, roots ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if slices.Contains(allowed, p) {
				all[p] = "may be written"
				return fs.SkipDir
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			all[p] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				all[p] += fmt.Sprintf(" %x", sha256.Sum256(data))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// readOnlyInputs are calls of the tools that say they only look, in an order in which
// each finds what it needs. They are made from what the ones before answered.
func readOnlyInputs() []struct{ tool, input string } {
	return []struct{ tool, input string }{
		{"media_watch", source("demo.mp4", `"mode":"timeline"`)},
		{"media_ask", `{"run":{"run":"RUN"},"question":"what is said?"}`},
		{"measure_probe", `{"inputs":["demo.mp4"]}`},
		{"measure_cropdetect", `{"input":"demo.mp4"}`},
		{"measure_signals", `{"input":"demo.mp4","silence_db":-40}`},
		{"measure_silence", `{"input":"demo.mp4"}`},
		{"measure_loudness", `{"input":"demo.mp4"}`},
		{"measure_sync", `{"reference":"demo.mp4","second":"demo.mp4"}`},
		{"review_check", `{"input":"demo.mp4"}`},
		{"tool_search", `{"query":"silence"}`},
		{"approval_list", `{}`},
		{"audit_query", `{"tool":"edit.cut"}`},
		{"job_list", `{}`},
		{"job_get", `{"id":"JOB"}`},
		{"job_wait", `{"id":"JOB","seconds":2}`},
		{"video_probe", source("demo.mp4", `"detail":"full"`)},
		{"video_extract_audio", source("demo.mp4", "")},
		{"video_extract_frames", source("demo.mp4", `"timestamps_seconds":[1,12.5],"width":640`)},
		{"video_transcript", source("demo.mp4", `"allow":["speech"]`)},
		{"video_ocr_frames", `{"frames":FRAMES}`},
		{"video_inspect_frames", `{"frames":FRAMES}`},
		{"media_objects", `{"frames":FRAMES}`},
		{"media_plan", `{"source":"demo.mp4"}`},
		{"media_prepare", `{"source":"demo.mp4","as":"speech"}`},
		{"media_read_frames", `{"frames":FRAMES}`},
		{"media_read_image", `{"source":"still.png"}`},
		{"media_read_audio", `{"source":"still.wav"}`},
		{"media_read_video", `{"source":"demo.mp4","max_frames":2}`},
		{"video_summarize_timeline", `{"source_identity_sha256":"SOURCE","results":[{"run":"TRANSCRIPT"}]}`},
	}
}

// TestReadOnlyIsTrue calls each tool that says it only looks, twice, and compares the
// workspace, the home and the folder for temporary files before and after: nothing
// but the stage and the state has changed, and the second answer is the first where
// that is promised.
func TestReadOnlyIsTrue(t *testing.T) {
	t.Parallel()
	i := install(t).own(t, os.Getenv("PATH"))
	dir, temporary := t.TempDir(), t.TempDir()
	sample(t, dir)
	still(t, dir)
	i.run(t, dir, "probe", "still.png", "still.wav", "--json") // what is probed once is known
	job := i.madeJob(t, dir)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	allowed := []string{filepath.Join(dir, ".cutroom"), filepath.Join(i.home, "state")}
	before := snapshot(t, allowed, dir, i.home, temporary)
	s := i.serveIn(t, dir, temporary, "mcp", "--toolsets", "all", "--patience", "10m").open("2025-11-25")
	w := s.watch()
	words := strings.NewReplacer("JOB", job)
	tried := []string{"media_transcribe"} // there is no program of the operator's own here
	for _, c := range readOnlyInputs() {
		tried = append(tried, c.tool)
		a := s.good(c.tool, words.Replace(c.input))
		words = learn(t, words, c.tool, a)
		if again := s.good(c.tool, words.Replace(c.input)); c.tool != "job_list" && again.text() != a.text() {
			t.Errorf("%s answers otherwise the second time: %s", c.tool, cmp.Diff(a.text(), again.text()))
		}
		if diff := cmp.Diff(before, snapshot(t, allowed, dir, i.home, temporary)); diff != "" {
			t.Fatalf("%s left behind:\n%s", c.tool, diff)
		}
	}
	i.strangers(s, w.done())
	for _, l := range s.list() {
		if reads := *l.Annotations.ReadOnlyHint; reads != slices.Contains(tried, l.Name) {
			t.Errorf("%s says read-only: %v", l.Name, reads)
		}
	}
}

// still puts a small picture and a second of silence into a folder.
func still(t *testing.T, dir string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 320, 180))); err != nil {
		t.Fatal(err)
	}
	const rate = 16_000
	wave := []byte("RIFF")
	wave = binary.LittleEndian.AppendUint32(wave, 36+2*rate)
	wave = append(wave, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	wave = binary.LittleEndian.AppendUint32(wave, rate)
	wave = binary.LittleEndian.AppendUint32(wave, 2*rate)
	wave = append(wave, "\x02\x00\x10\x00data"...)
	wave = binary.LittleEndian.AppendUint32(wave, 2*rate)
	for name, content := range map[string][]byte{"still.png": b.Bytes(), "still.wav": append(wave, make([]byte, 2*rate)...)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// learn takes from an answer what later calls need.
func learn(t *testing.T, words *strings.Replacer, tool string, a *answer) *strings.Replacer {
	t.Helper()
	var doc struct {
		Frames     json.RawMessage `json:"frames"`
		Provenance struct {
			Invocation string `json:"invocation_sha256"`
			Source     struct {
				SHA256 string `json:"sha256"`
			} `json:"source_identity"`
		} `json:"provenance"`
	}
	if a.Structured != nil {
		decode(t, a.Structured, &doc)
	}
	pairs := []string{}
	switch tool {
	case "media_watch":
		pairs = append(pairs, "RUN", runOf(t, a))
	case "video_extract_frames":
		pairs = append(pairs, "FRAMES", string(doc.Frames))
	case "video_transcript":
		pairs = append(pairs, "SOURCE", doc.Provenance.Source.SHA256, "TRANSCRIPT", doc.Provenance.Invocation)
	}
	for _, word := range []string{"JOB", "RUN", "FRAMES", "SOURCE", "TRANSCRIPT"} {
		if value := words.Replace(word); value != word {
			pairs = append(pairs, word, value)
		}
	}
	return strings.NewReplacer(pairs...)
}

var runID = regexp.MustCompile(`run_id ([0-9a-f]{16})`)

// runOf is the id of a watch.
func runOf(t *testing.T, a *answer) string {
	t.Helper()
	m := runID.FindStringSubmatch(a.text())
	if m == nil {
		t.Fatalf("no run_id in %s", a.text())
	}
	return m[1]
}

// madeJob is the id of a job that is completed.
func (i *installation) madeJob(t *testing.T, dir string) string {
	t.Helper()
	s := i.serve(t, dir, "mcp", "--patience", "1ms").open("2025-11-25")
	var handle struct {
		Status string
		JobID  string `json:"job_id"`
	}
	if a := s.good("media_watch", source("demo.mp4", `"mode":"frames","max_frames":2`)); json.Unmarshal([]byte(a.text()), &handle) != nil || handle.JobID == "" || handle.Status != "running" {
		t.Fatalf("no handle: %s", a.text())
	}
	for range 20 {
		a := s.good("job_wait", `{"id":"`+handle.JobID+`","seconds":50}`)
		if strings.Contains(a.text(), "state: completed") {
			if a.pictures == 0 || !strings.Contains(a.text(), "picture 1") {
				t.Errorf("the result of the job is %s", a.text())
			}
			return handle.JobID
		}
	}
	t.Fatal("the job does not end")
	return ""
}

// strangers checks what the programs of a server were given: nothing of its
// environment, and no network.
func (i *installation) strangers(s *mcpServer, seen []child) {
	s.t.Helper()
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	// The look itself is tried on the server, which does have the secret.
	if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.cmd.Process.Pid)); err != nil || !strings.Contains(string(env), canary) {
		s.t.Fatalf("the environment of a process is not seen: %v", err)
	}
	names := map[string]bool{}
	for _, c := range seen {
		if strings.Contains(c.environment, canary) || strings.Contains(c.environment, "CUTROOM_TEST_SECRET") {
			s.t.Errorf("%s was given the environment of the host", c.command)
		}
		program, _, _ := strings.Cut(c.command, " ")
		names[filepath.Base(program)] = true
		if slices.Contains([]string{"ffmpeg", "ffprobe"}, filepath.Base(program)) && c.net == own {
			s.t.Errorf("%s has the network of the host", c.command)
		}
	}
	s.t.Logf("%d children were seen: %v", len(seen), names)
	if !names["ffmpeg"] {
		s.t.Errorf("ffmpeg was not seen at work, only %v", names)
	}
}
