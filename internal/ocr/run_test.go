package ocr

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

// bench runs commands as the sandbox would, without one: the child in this process,
// Tesseract as a program, both with one private folder.
type bench struct {
	folder, models string
	pictures       []string
}

// render turns the atoms into strings.
func (b bench) render(t testing.TB, c argv.Command) []string {
	t.Helper()
	var out []string
	for _, a := range c.Args {
		switch a := a.(type) {
		case argv.Word:
			out = append(out, string(a))
		case argv.Int:
			if a.N < a.Min || a.N > a.Max {
				t.Fatalf("%+v is out of its bounds", a)
			}
			out = append(out, fmt.Sprint(a.N))
		case argv.In:
			out = append(out, b.pictures[c.Inputs[a]])
		case argv.Out:
			out = append(out, filepath.Join(b.folder, string(a)))
		case argv.Data:
			out = append(out, filepath.Join(b.models, filepath.FromSlash(string(a))))
		default:
			t.Fatalf("unexpected atom %T", a)
		}
	}
	return out
}

// run runs c and returns what its consumer made of the output.
func (b bench) run(t testing.TB, c argv.Command) any {
	t.Helper()
	var out, complaints bytes.Buffer
	switch c.Program {
	case "ocr":
		if code := Child(b.render(t, c), nil, &out, &complaints); code != 0 {
			t.Fatalf("child: %d\n%s", code, complaints.Bytes())
		}
	case "tesseract":
		testenv.Needs(t, "tesseract")
		cmd := exec.CommandContext(context.Background(), "tesseract", b.render(t, c)...)
		for k, v := range c.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		cmd.Stdout, cmd.Stderr = &out, &complaints
		if err := cmd.Run(); err != nil {
			t.Fatalf("tesseract: %v\n%s", err, complaints.Bytes())
		}
	default:
		t.Fatalf("program %q", c.Program)
	}
	for _, name := range c.Outputs {
		if _, err := os.Stat(filepath.Join(b.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := c.Consume[0](&out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Step, err, out.Bytes())
	}
	return v
}

// read takes the pictures through both phases.
func read(t testing.TB, o Options, pictures ...string) []Page {
	t.Helper()
	b := bench{folder: t.TempDir(), models: testenv.Models(t), pictures: pictures}
	all := make([]int, len(pictures))
	for i := range all {
		all[i] = i
	}
	frames := b.run(t, First("ocr", all, o)).([]Frame)
	var readings []Reading
	for _, c := range Second("ocr", frames, o) {
		readings = append(readings, b.run(t, c).(Reading))
	}
	pages := Merge(frames, readings, o)
	if len(pages) != len(pictures) {
		t.Fatalf("%d pages of %d pictures", len(pages), len(pictures))
	}
	for i, p := range pages {
		if p.Index != i || p.Language != o.language() {
			t.Errorf("page %d: index %d, language %q", i, p.Index, p.Language)
		}
		for _, l := range p.Lines {
			b := l.Box
			if b.X < 0 || b.Y < 0 || b.W < 1 || b.H < 1 || b.X+b.W > p.Width || b.Y+b.H > p.Height || l.Score < 0 || l.Score > 1 {
				t.Errorf("page %d: line %+v", i, l)
			}
		}
	}
	return pages
}

// text is a block of text that ffmpeg draws.
type text struct {
	font        string // a file
	size        int
	colour      string
	outline     int
	x, y        string // expressions of drawtext
	lines       string
	lineSpacing int
}

const (
	sans = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
	mono = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
	cjk  = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
)

// draw makes a 1920x1080 PNG with the texts over ground: a file, or a lavfi source.
func drawOver(t testing.TB, ground string, texts ...text) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "frame.png")
	filter := "scale=1920:1080:force_original_aspect_ratio=increase,crop=1920:1080"
	for i, x := range texts {
		if _, err := os.Stat(x.font); err != nil {
			t.Fatalf("font: %v; install fonts-dejavu-core and fonts-noto-cjk", err)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.txt", i))
		if err := os.WriteFile(file, []byte(x.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		filter += fmt.Sprintf(",drawtext=fontfile=%s:textfile=%s:expansion=none:fontsize=%d:fontcolor=%s:borderw=%d:bordercolor=black:x=%s:y=%s:line_spacing=%d:tabsize=4",
			x.font, file, x.size, x.colour, x.outline, x.x, x.y, x.lineSpacing)
	}
	args := []string{"-i", ground}
	if strings.Contains(ground, "=") {
		args = []string{"-f", "lavfi", "-i", ground}
	}
	testenv.FFmpeg(t, append(args, "-vf", filter, "-frames:v", "1", out)...)
	return out
}

// subtitles is two white outlined lines at the foot of the picture.
func subtitles(font, first, second string) []text {
	return []text{
		{font: font, size: 56, colour: "white", outline: 4, x: "(w-tw)/2", y: "h-180", lines: first},
		{font: font, size: 56, colour: "white", outline: 4, x: "(w-tw)/2", y: "h-110", lines: second},
	}
}

// photo returns a photograph, where the repository has its neighbour, and else a
// picture with as many shades.
func photo(t testing.TB) string {
	t.Helper()
	return filepath.Join(testenv.Real(t), "dog.jpg")
}
