package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

// workspace makes a folder with a clip in it and one in a folder beneath.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clip.mp4", "sub/a b.mp4", "plain words here", "notes"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSourceKindIsNeverGuessed(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	for _, tt := range []struct {
		name, text, kind string
		loose            bool
		want             sourceJSON
		code             cutroom.Code
		message          string
	}{
		{name: "an existing file", text: "clip.mp4", want: sourceJSON{Kind: "local_file", Value: "clip.mp4"}},
		{name: "a file without suffix", text: "notes", want: sourceJSON{Kind: "local_file", Value: "notes"}},
		{name: "a file whose name is words", text: "plain words here", loose: true, want: sourceJSON{Kind: "local_file", Value: "plain words here"}},
		{name: "an absolute path inside", text: filepath.Join(dir, "sub", "a b.mp4"), want: sourceJSON{Kind: "local_file", Value: "sub/a b.mp4"}},
		{name: "an address", text: "https://example.com/a.mp4", want: sourceJSON{Kind: "url", Value: "https://example.com/a.mp4"}},
		{name: "an address in capitals", text: "HTTPS://example.com/a", want: sourceJSON{Kind: "url", Value: "HTTPS://example.com/a"}},
		{name: "a missing file by suffix", text: "gone.MP4", code: cutroom.NotFound, message: `no such file: "gone.MP4"`},
		{name: "a missing file by separator", text: "gone/away", code: cutroom.NotFound, message: `"gone/away"`},
		{name: "a missing file in the loose form", text: "my talk.mp4", loose: true, code: cutroom.NotFound, message: `"my talk.mp4"`},
		{name: "an address, called a file", text: "https://example.com/a.mp4", kind: "local_file", code: cutroom.Invalid, message: "is an address, not a file"},
		{name: "another scheme", text: "ftp://example.com/a", loose: true, code: cutroom.NotFound, message: "ftp"},
		{name: "words are not evidence", text: "ready text of a transcript", code: cutroom.NotFound, message: "no such file"},
		{name: "words in the loose form", text: "ready text of a transcript", loose: true, want: sourceJSON{Kind: "transcript", Value: "ready text of a transcript"}},
		{name: "lines in the loose form", text: "00:01 --> 00:03\nhello", loose: true, want: sourceJSON{Kind: "transcript", Value: "00:01 --> 00:03\nhello"}},
		{name: "one word in the loose form", text: "hello", loose: true, code: cutroom.NotFound, message: `"hello"`},
		{name: "words, called a transcript", text: "hello there", kind: "transcript", want: sourceJSON{Kind: "transcript", Value: "hello there"}},
		{name: "a file's name, called a transcript", text: "clip.mp4", kind: "transcript", want: sourceJSON{Kind: "transcript", Value: "clip.mp4"}},
		{name: "a missing file, called a file", text: "gone", kind: "local_file", want: sourceJSON{Kind: "local_file", Value: "gone"}},
		{name: "standard input", text: "-", want: sourceJSON{Kind: "transcript", Value: "from a pipe"}},
		{name: "an unknown kind", text: "clip.mp4", kind: "file", code: cutroom.Invalid, message: "--source-kind"},
		{name: "nothing", text: "", code: cutroom.Invalid, message: "empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := reader{paths: paths{dir: dir, root: dir}, stdin: strings.NewReader("from a pipe"), loose: tt.loose}
			kind := tt.kind
			if kind == "" {
				kind = "auto"
			}
			got, err := r.source(tt.text, kind, "")
			if tt.code != "" {
				e := (&App{}).failure(err)
				if e == nil || e.Code != tt.code || !strings.Contains(e.Msg, tt.message) {
					t.Fatalf("got %+v, %v; want %s with %q", got, err, tt.code, tt.message)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPathsBecomeRelativeToTheWorkspace(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	other := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, from, text string
		want             string // "" is denied for an agent, and absolute for the operator
	}{
		{"from the root", dir, "clip.mp4", "clip.mp4"},
		{"from a folder beneath", filepath.Join(dir, "sub"), "a b.mp4", "sub/a b.mp4"},
		{"upwards, still inside", filepath.Join(dir, "sub"), "../clip.mp4", "clip.mp4"},
		{"through a link to the root", link, "clip.mp4", "clip.mp4"},
		{"a dash in front", dir, "-odd.mp4", "-odd.mp4"},
		{"outside", dir, filepath.Join(other, "x.mp4"), ""},
		{"outside by dots", dir, "../x.mp4", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := paths{dir: tt.from, root: dir, agent: true}.convert(tt.text)
			if tt.want == "" {
				if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Denied || !strings.Contains(e.Msg, tt.text) {
					t.Errorf("agent: %q, %v; want denied, naming what was typed", got, err)
				}
				got, err = paths{dir: tt.from, root: dir}.convert(tt.text)
				if err != nil || !filepath.IsAbs(got) {
					t.Errorf("operator: %q, %v; want an absolute path", got, err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
