package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cutroom/internal/testenv"
)

// TestMain lets the test binary be the processes that attest starts itself in.
func TestMain(m *testing.M) { os.Exit(hiddenOr(m.Run)) }

// must says that the hosts have to be there, as on a machine that attests.
func must() bool { return os.Getenv("CUTROOM_HOSTS_REQUIRED") == "1" }

// TestHosts is the fast part of the attestation: Claude Code and Codex, as they are
// pinned, watch the sample clip by the skill that `cutroom install` wrote, unattended, and
// replace a file once the operator has approved that on another terminal.
func TestHosts(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract", "go", "script", "setsid")
	root, models := testenv.Root(t), testenv.Models(t)
	dependOnSource(t, root)
	program := sync.OnceValues(func() (string, error) {
		to := filepath.Join(t.TempDir(), "cutroom")
		return to, build(t.Context(), root, to)
	})
	for _, c := range clients() {
		if c.name == "opencode" {
			continue // takes twice as long to start as both others together
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := pin(t.Context(), root, c.name); errors.Is(err, errNoHost) && !must() {
				unattested(c, err)
				return
			} else if err != nil {
				t.Fatal(err)
			}
			built, err := program()
			if err != nil {
				t.Fatal(err)
			}
			l, err := newLab(t.TempDir(), root, built, models)
			if err != nil {
				t.Fatal(err)
			}
			v, err := l.attest(t.Context(), c, quick, t.Logf)
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Rows) < 12 {
				t.Errorf("only %d rows", len(v.Rows))
			}
			for _, r := range v.Rows {
				if !r.Passed {
					t.Errorf("%s %s: %s: %s", v.Title, v.Version, r.Check, r.Observed)
				}
			}
		})
	}
}

// TestLibraries is the fast part for the services' own libraries for JavaScript; those for
// Go take minutes to compile.
func TestLibraries(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract", "go")
	root, models := testenv.Root(t), testenv.Models(t)
	dependOnSource(t, root)
	testenv.Hosts(t, "node22", "openai-js", "anthropic-js")
	dir := t.TempDir()
	program := filepath.Join(dir, "cutroom")
	if err := build(t.Context(), root, program); err != nil {
		t.Fatal(err)
	}
	lab := func(name string) (*lab, error) { return newLab(filepath.Join(dir, name), root, program, models) }
	list, err := attestLibraries(t.Context(), lab, []string{"openai-js", "anthropic-js"}, true, func(string) func(string, ...any) { return t.Logf })
	if err != nil || len(list) != 2 {
		t.Fatalf("%d libraries: %v", len(list), err)
	}
	for _, v := range list {
		if len(v.Rows) != 13 {
			t.Errorf("%s: %d rows", v.Title, len(v.Rows))
		}
		for _, r := range v.Rows {
			if !r.Passed {
				t.Errorf("%s %s: %s", v.Title, v.Version, r.Check)
			}
		}
	}
}

// unattested reports loudly that a host could not be tried.
func unattested(c client, err error) {
	bar := strings.Repeat("!", 78)
	fmt.Fprintf(os.Stderr, "%s\n!! %s WAS NOT ATTESTED: %v\n!! CUTROOM_HOSTS_REQUIRED=1 makes this a failure.\n%s\n", bar, strings.ToUpper(c.title), err, bar)
}

// dependOnSource makes the test's cached result depend on what the program is built
// from, which another process reads.
func dependOnSource(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{".", "cmd", "internal", "scripts", "attest/testdata"} {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && dir == "." && path != root {
				return fs.SkipDir
			}
			if err == nil && !d.IsDir() {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A clip that the pictures do not come from is told from the one that they do.
func TestSeenKnowsTheClip(t *testing.T) {
	t.Parallel()
	clip := filepath.Join(testenv.Root(t), filepath.FromSlash(clipFile))
	known, err := grounds(t.Context(), clip)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	shot := func(name string, args ...string) []byte {
		t.Helper()
		file := filepath.Join(dir, name)
		testenv.FFmpeg(t, append(args, "-frames:v", "1", "-update", "1", file)...)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	sheet := shot("sheet.jpg", "-i", clip, "-vf", "fps=1/3,scale=320:-2,tile=3x3")
	frame := shot("frame.jpg", "-ss", "8", "-i", clip)
	other := shot("other.jpg", "-f", "lavfi", "-i", "testsrc=s=640x360:d=1")
	tiny := shot("tiny.jpg", "-i", clip, "-vf", "fps=1/3,scale=20:-2,tile=3x3")
	for _, c := range []struct {
		name                 string
		data                 []byte
		least, most, picture int
	}{
		{"contact sheet", sheet, 5, 5, 1},
		{"one frame", frame, 1, 1, 1},
		{"another clip", other, 0, 1, 1},
		{"too small to read", tiny, 0, 0, 0},
		{"no picture", []byte("not a picture"), 0, 0, 0},
		{"cut off", sheet[:len(sheet)/2], 0, 0, 0},
	} {
		shown, pictures := seen(picturesOf(c.data), known)
		if shown < c.least || shown > c.most || pictures != c.picture {
			t.Errorf("%s: %d scenes in %d pictures", c.name, shown, pictures)
		}
	}
	if n := heard("Today we look at the new release. … There was no space left!"); n != 2 {
		t.Errorf("%d sentences heard", n)
	}
}

// The page says what the data says, and the data is what the program carries.
func TestPageIsMadeFromTheData(t *testing.T) {
	t.Parallel()
	root := testenv.Root(t)
	list, err := readVerdicts(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(pageFile)))
	if err != nil {
		t.Fatal(err)
	}
	if page(list) != string(text) {
		t.Errorf("%s is not what `make attest` makes of %s", pageFile, dataFile)
	}
}

func TestOneFailedRowDisqualifies(t *testing.T) {
	t.Parallel()
	v := Verdict{Host: "codex", Title: "Codex", Version: "1|2", Rows: []Row{{Check: "a", Passed: true}, {Check: "b"}}}
	text := page(verdicts{Hosts: replace([]Verdict{{Host: "codex", Version: "0"}, {Host: "claude"}}, v)})
	for _, want := range []string{"| Codex | 1\\|2 |  | not qualified: 1 of 2 rows failed |", "| opencode | – | – | not qualified: never attested |", "| b | **failed** |  |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if v.qualified() || (Verdict{}).qualified() {
		t.Error("qualified by a failed row, or by none")
	}
}
