package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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

// TestOwnSpeechService: a service on this machine listens where the operator named
// one; an address elsewhere is refused before anything is sent.
func TestOwnSpeechService(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, header, err := r.FormFile("file")
		if err != nil || header.Size < 16000 || r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("%v, %v", err, r.Header)
			return
		}
		file.Close()
		_, _ = io.WriteString(w, `{"language":"spanish","duration":3,"segments":[{"start":0.25,"end":1,"text":"buenos días"}]}`)
	}))
	defer srv.Close()
	home, dir := t.TempDir(), t.TempDir()
	clip(t, filepath.Join(dir, "clip.mp4"))
	configure := func(url string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(home, "config"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("speech:\n  endpoint:\n    url: %s/v1/audio/transcriptions\n    key: env:SPEECH_TOKEN\n", url)
		if err := os.WriteFile(filepath.Join(home, "config", "cutroom.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(args ...string) []byte {
		c := command(t, dir, args...)
		c.Env = append(c.Env, "CUTROOM_HOME="+home, "SPEECH_TOKEN=token")
		out, _ := c.Output()
		return out
	}
	configure(srv.URL)
	in("setup", "--json")
	var r media.WatchResult
	if err := json.Unmarshal(in("watch", "clip.mp4", "--mode", "transcript", "--json", "--quiet"), &r); err != nil {
		t.Fatal(err)
	}
	said := kinds(r.Timeline, evidence.Spoken)
	if len(said) != 1 || said[0].Text != "buenos días" || said[0].TimestampSeconds != 250_000 {
		t.Errorf("%+v", r)
	}
	configure("https://api.example.com")
	if err := json.Unmarshal(in("watch", "clip.mp4", "--mode", "transcript", "--json", "--quiet"), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.PartialReasons) != 1 || !strings.Contains(r.PartialReasons[0], "another machine") {
		t.Errorf("an address elsewhere is answered with %q", r.PartialReasons)
	}
}
