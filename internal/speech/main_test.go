package speech

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

// childWord as the first argument makes the test program the child.
const childWord = "cutroom-speech"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childWord {
		confine()
		os.Exit(Child(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// render writes a command's arguments as the sandbox does; folder is the private
// folder.
func render(t testing.TB, c argv.Command, folder string) []string {
	t.Helper()
	models := testenv.Models(t)
	data := map[string]string{}
	for _, m := range []Model{Base, Tiny} {
		for _, name := range DataFiles(m) {
			data[name] = filepath.Join(models, name)
		}
	}
	table, grants := argv.Programs()[c.Program], argv.GrantsOf(c, data)
	args, err := argv.Render(c, table, grants)
	if err != nil {
		t.Fatal(err)
	}
	if err := argv.Check(table, args, grants); err != nil {
		t.Fatal(err)
	}
	// The sandbox starts the child in the folder; a test cannot go there.
	for i, a := range c.Args {
		if out, ok := a.(argv.Out); ok {
			args[i] = filepath.Join(folder, string(out))
		}
	}
	return args
}

// transcribe runs the built-in engine over a WAV file, in this process.
func transcribe(t testing.TB, wav string, o Options) Transcript {
	t.Helper()
	c := Command("speech", filepath.Base(wav), o)
	var stdout, stderr bytes.Buffer
	if code := Child(render(t, c, filepath.Dir(wav)), nil, &stdout, &stderr); code != 0 {
		t.Fatalf("%s: exit %d: %s", wav, code, stderr.Bytes())
	}
	v, err := c.Consume[0](&stdout)
	if err != nil {
		t.Fatalf("%s: %v", wav, err)
	}
	got, err := Result(argv.Result{Values: []any{v}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// separate runs the child as a process of its own, and returns the lines it wrote
// and its largest resident memory in bytes.
func separate(t testing.TB, env []string, args ...string) (lines []message, rss int64, code int) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], append([]string{childWord}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if stderr.Len() > 0 {
		t.Logf("child: %s", stderr.Bytes())
	}
	d := json.NewDecoder(&stdout)
	for d.More() {
		var m message
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	return lines, maxResident(cmd.ProcessState), cmd.ProcessState.ExitCode()
}

// convert makes a 16 kHz mono WAV of anything that ffmpeg's arguments describe.
func convert(t testing.TB, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "speech.wav")
	testenv.FFmpeg(t, append(args, "-vn", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", out)...)
	return out
}

// wordErrors returns how many words have to be inserted, deleted or replaced to
// make heard of said, and how many words said has.
func wordErrors(said, heard string) (errors, total int) {
	r, h := plainWords(said), plainWords(heard)
	row := make([]int, len(h)+1)
	for j := range row {
		row[j] = j
	}
	for i, a := range r {
		diagonal := row[0]
		row[0] = i + 1
		for j, b := range h {
			cost := diagonal
			if a != b {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(h)], len(r)
}

// plainWords drops what is a matter of spelling only.
func plainWords(s string) []string {
	s = strings.NewReplacer("12%", "twelve percent", "-", " ", "’", "'").Replace(strings.ToLower(s))
	words := strings.FieldsFunc(s, func(c rune) bool { return c != '\'' && (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	spelled := map[string]string{"mr": "mister", "10": "ten", "12": "twelve"}
	for i, w := range words {
		if s, ok := spelled[w]; ok {
			words[i] = s
		}
	}
	return words
}

// readFile returns the samples of a WAV file.
func readFile(t testing.TB, wav string) []int16 {
	t.Helper()
	f, err := os.Open(wav)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, _, err := readAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}
