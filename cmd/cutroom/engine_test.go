package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/media"
)

// ownEngine is a speech engine of an operator's own: it hears Spanish in anything,
// and tries to read what it was not given.
const ownEngine = `package main

import (
	"fmt"
	"os"
)

func main() {
	text := "hola mundo"
	if _, err := os.ReadFile("/etc/passwd"); err == nil {
		text = "the sandbox leaks"
	}
	if info, err := os.Stat(os.Args[2]); err != nil || info.Size() < 16000 || os.Args[4] != "es" {
		text = fmt.Sprint("bad arguments ", os.Args)
	}
	fmt.Printf("[{\"start\":0.5,\"end\":1.5,\"text\":%q}]\n", text)
}
`

// TestOwnSpeechEngine: an engine that the operator names is pinned, runs in the
// sandbox, and speaks where the built-in one does not.
func TestOwnSpeechEngine(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "go")
	home, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source, program := filepath.Join(home, "engine", "main.go"), filepath.Join(home, "engine", "oidor")
	write(source, ownEngine)
	testenv.Run(t, filepath.Dir(source), "go", "build", "-o", program, "main.go")
	write(filepath.Join(home, "config", "cutroom.yaml"), fmt.Sprintf("speech:\n  engine:\n    program: %s\n    args: [\"-f\", \"{input}\", \"-l\", \"{language}\"]\n    speaks: [es]\n", program))
	clip(t, filepath.Join(dir, "clip.mp4"))
	cutroomIn := func(args ...string) []byte {
		t.Helper()
		c := command(t, dir, args...)
		c.Env = append(c.Env, "CUTROOM_HOME="+home)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return out
	}
	setUp := command(t, dir, "setup", "--json")
	setUp.Env = append(setUp.Env, "CUTROOM_HOME="+home)
	_ = setUp.Run() // the models are missing in this home, which it says by its exit code
	var r media.WatchResult
	if err := json.Unmarshal(cutroomIn("watch", "clip.mp4", "--mode", "transcript", "--language", "es", "--json", "--quiet"), &r); err != nil {
		t.Fatal(err)
	}
	said := kinds(r.Timeline, evidence.Spoken)
	if len(said) != 1 || said[0].Text != "hola mundo" || said[0].TimestampSeconds != cutroom.Micros(500_000) || r.TranscriptMethod != "speech" {
		t.Errorf("%+v", r)
	}
}
