//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/sandbox/argv"
)

// TestEncodersRun takes the encoders through the list of system calls.
func TestEncodersRun(t *testing.T) {
	t.Parallel()
	for out, codec := range map[string]string{
		"a.mp4": "-c:v libx264 -preset ultrafast -c:a aac", "b.mp4": "-c:v libx265 -preset ultrafast -x265-params log-level=error -an",
		"c.webm": "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus", "d.mkv": "-c:v ffv1 -c:a flac", "e.png": "-frames:v 1 -update 1",
		"f.mp3": "-vn -c:a libmp3lame", "g.mp4": "-c:v libsvtav1 -preset 12 -an", "h.gif": "-an", "i.ogg": "-vn -c:a libvorbis",
	} {
		t.Run(out, func(t *testing.T) {
			t.Parallel()
			args := argv.Words("-v", "error", "-nostdin", "-y", "-protocol_whitelist", "file", "-t", "0.4", "-i")
			args = append(args, argv.In(0), argv.Word("-s"), argv.Word("160x90"))
			args = append(append(args, argv.Words(strings.Fields(codec)...)...), argv.Out(out))
			cmd := argv.Command{Program: "ffmpeg", Inputs: []int{0}, Args: args, Outputs: []string{out}}
			res, err := newBox(t, nil).Run(t.Context(), cmd, Grant{Dir: t.TempDir(), Inputs: []*os.File{realFile(t, "sample_shorter_audio.mp4")}})
			if err != nil || res.Complaints.Kinds["permission"] > 0 {
				t.Errorf("%v %+v", err, res)
			}
		})
	}
}

func TestTesseractReadsText(t *testing.T) {
	t.Parallel()
	box, dir := newBox(t, nil), t.TempDir()
	args := argv.Words("-v", "error", "-nostdin", "-y", "-protocol_whitelist", "file", "-ss", "40", "-i")
	args = append(args, argv.In(0), argv.Word("-frames:v"), argv.Word("1"), argv.Word("-update"), argv.Word("1"), argv.Out("f.png"))
	grant := Grant{Dir: dir, Inputs: []*os.File{realFile(t, "example.mp4")}}
	if _, err := box.Run(t.Context(), argv.Command{Program: "ffmpeg", Inputs: []int{0}, Args: args, Outputs: []string{"f.png"}}, grant); err != nil {
		t.Fatal(err)
	}
	ocr := argv.Command{
		Program: "tesseract", Env: map[string]string{"OMP_THREAD_LIMIT": "1"},
		Args: append([]argv.Atom{argv.Out("f.png"), argv.Word("stdout"), argv.Word("--tessdata-dir"), argv.Data("tessdata")}, argv.Words("-l", "eng", "--psm", "11")...),
	}
	res, err := box.Run(t.Context(), ocr, Grant{Dir: dir})
	if err != nil {
		t.Fatalf("%v %+v", err, res)
	}
	if !strings.Contains(string(res.Stdout), "01:00:40") {
		t.Errorf("tesseract read %q", res.Stdout)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestRootReadsAnotherUsersInput: root without any capability could not open a file
// that only its owner may read, so for such an input one capability stays.
func TestRootReadsAnotherUsersInput(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("for root only")
		return
	}
	path := filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(path, []byte("of nobody"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, off := range []bool{false, true} {
		box := newBox(t, func(o *Options) { o.NoNamespaces = off })
		cmd := argv.Command{Program: "cat", Inputs: []int{0}, Args: []argv.Atom{argv.In(0)}}
		res, err := box.Run(t.Context(), cmd, Grant{Dir: t.TempDir(), Inputs: []*os.File{f}})
		if err != nil || string(res.Stdout) != "of nobody" {
			t.Errorf("no namespaces %v: %v %q", off, err, res.Stdout)
		}
	}
}
