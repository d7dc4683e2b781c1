//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

// pins are the programs of this machine, pinned once for all tests.
var pins = sync.OnceValues(func() (*Toolchain, error) {
	t := NewToolchain()
	for name, o := range map[string]PinOptions{
		"ffmpeg": {}, "ffprobe": {}, "true": {}, "cat": {}, "sleep": {},
		"tesseract": {Data: map[string]string{"tessdata": "/usr/share/tesseract-ocr/5/tessdata"}},
	} {
		found := Find(name)
		if len(found) == 0 {
			return nil, errors.New(name + " is not installed")
		}
		p, err := PinProgram(name, found[0], o)
		if err != nil {
			return nil, err
		}
		t.Pins[name] = p
	}
	return t, nil
})

var testTables = []argv.Table{
	argv.Plain("true", nil, nil),
	argv.Plain("cat", nil, []argv.Option{{Kind: argv.FromInput}}),
	argv.Plain("sleep", nil, []argv.Option{{Kind: argv.Number}}),
}

// newBox returns a sandbox of this machine's programs.
func newBox(t testing.TB, change func(*Options)) *Sandbox {
	t.Helper()
	tc, err := pins()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Toolchain: tc, Tables: testTables}
	if testing.Verbose() {
		o.Debug = os.Stderr
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// realFile opens a file of the shared cases.
func realFile(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(testenv.Real(t), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func code(err error) cutroom.Code {
	if err == nil {
		return ""
	}
	return cutroom.AsError(err).Code
}

// lines reads an output to its end and returns its lines.
func lines(r io.Reader) (any, error) {
	b, err := io.ReadAll(r)
	return strings.Split(strings.TrimSpace(string(b)), "\n"), err
}

func TestTrueRuns(t *testing.T) {
	t.Parallel()
	box := newBox(t, nil)
	res, err := box.Run(t.Context(), argv.Command{Program: "true"}, Grant{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if res.Exit != 0 || res.Complaints.Lines != 0 {
		t.Errorf("%+v", res)
	}
}

func TestFfprobeReadsAnInput(t *testing.T) {
	t.Parallel()
	box := newBox(t, nil)
	cmd := argv.Command{
		Program: "ffprobe", Inputs: []int{0},
		Args: append(argv.Words("-v", "error", "-protocol_whitelist", "file", "-show_format", "-of", "json"), argv.In(0)),
	}
	res, err := box.Run(t.Context(), cmd, Grant{Dir: t.TempDir(), Inputs: []*os.File{realFile(t, "example.mp4")}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(res.Stdout), `"format_name": "mov,mp4`) {
		t.Errorf("ffprobe printed %s", res.Stdout)
	}
}

func TestFfmpegWritesPipesAndFiles(t *testing.T) {
	t.Parallel()
	box, dir := newBox(t, nil), t.TempDir()
	args := argv.Words("-v", "error", "-nostdin", "-y", "-threads", "1", "-protocol_whitelist", "file", "-i")
	args = append(args, argv.In(0), argv.Word("-filter_complex"),
		argv.Graph(`[0:v:0]trim=end_frame=25,split[a][b];[a]metadata=add:key=f:value=0,metadata=print:file='pipe\:3',scale=160:-2[o];[b]metadata=add:key=g:value=1,metadata=print:file=-[p]`))
	args = append(args, argv.Words("-map", "[o]", "-c:v", "libx264", "-preset", "ultrafast")...)
	args = append(args, argv.Out("o.mp4"))
	args = append(args, argv.Words("-map", "[p]", "-f", "null", "-")...)
	cmd := argv.Command{Program: "ffmpeg", Inputs: []int{0}, Args: args, Consume: []argv.Consumer{lines, lines}, Outputs: []string{"o.mp4"}}
	res, err := box.Run(t.Context(), cmd, Grant{Dir: dir, Inputs: []*os.File{realFile(t, "example.mp4")}})
	if err != nil {
		t.Fatalf("%v %+v", err, res)
	}
	for k, per := range map[int]int{0: 2, 1: 2} {
		if got := res.Values[k].([]string); len(got) < 25*per || !strings.HasPrefix(got[0], "frame:0") {
			t.Errorf("pipe %d: %d lines, first %q", k, len(got), got[0])
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "o.mp4")); err != nil || st.Size() < 1000 || st.Mode().Perm() != 0o600 {
		t.Errorf("o.mp4: %v %v", st, err)
	}
}
