package main

import (
	"encoding/base64"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/review"
)

// TestReport: one page that opens without a network, holds its pictures, and shows what
// files and people wrote as text.
func TestReport(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "chromium")
	w := open(t, "")
	clip := func(name, picture string) {
		testenv.FFmpeg(t, "-f", "lavfi", "-i", picture+"=s=320x180:r=10,trim=duration=2", "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, name))
	}
	const odd = `after <img src=x onerror=alert(1)>.mp4`
	clip("before.mp4", "testsrc2")
	clip(odd, "mandelbrot")
	const words = `100% it's: {ok} "</pre><script>alert(1)</script> 😀 שלום مرحبا`
	out := must[review.ReportOutput](w, "review.report", review.ReportInput{
		Input: odd, Before: "before.mp4", Platform: "youtube", Title: words, Notes: words, Commands: []string{words}, Writing: tool.Writing{Output: "report.html"},
	})
	page, err := os.ReadFile(filepath.Join(w.dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if strings.Contains(text, "<script") || strings.Contains(text, "<img src=x") || regexp.MustCompile(`(?i)(src|href|url)\s*[=(]\s*["']?(https?:|//|file:)`).MatchString(text) || strings.Contains(text, w.dir) {
		t.Error("the page has markup of others, an address or a path of this machine")
	}
	if n := strings.Count(text, `src="data:image/`); n != 3 {
		t.Errorf("%d pictures, not two sheets and the sound", n)
	}
	for _, m := range regexp.MustCompile(`base64,([A-Za-z0-9+/=]+)"`).FindAllStringSubmatch(text, -1) {
		if raw, err := base64.StdEncoding.DecodeString(m[1]); err != nil || len(raw) < 1000 {
			t.Errorf("a picture of %d bytes, %v", len(raw), err)
		}
	}
	for _, want := range []string{"Before", "After", "prefers-color-scheme:dark", "default-src 'none'", "SHA-256", "100% it", "😀", "שלום", "مرحبا"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if len(out.Checks) == 0 || out.Ready != (out.Failures == 0) {
		t.Errorf("checks: %+v", out.Checks)
	}
	// the run that made a file is shown; a file that is named by its whole path by its name alone
	cut := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "before.mp4", Start: "0.5", Writing: to("cut.mp4")})
	run := cutroom.Ref{Run: string(cut.Provenance.InvocationSHA256)}
	must[review.ReportOutput](w, "review.report", review.ReportInput{Input: cutroom.InPath(filepath.Join(w.dir, "cut.mp4")), Edit: run, NoSheets: true, Writing: tool.Writing{Output: "made.html"}})
	if page, err = os.ReadFile(filepath.Join(w.dir, "made.html")); err != nil {
		t.Fatal(err)
	}
	text = string(page)
	if n := strings.Count(text, `src="data:image/`); n != 1 || strings.Contains(text, w.dir) || strings.Contains(text, "<h2>Before") {
		t.Errorf("%d pictures besides the sound's, or a path of this machine", n-1)
	}
	for _, want := range []string{"Measured when it was made", "<td>decodes", "<h2>Commands", "ffmpeg", "edit.cut", run.Run} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of a run lacks %q", want)
		}
	}
	probe, err := w.call("measure.probe", map[string]any{"inputs": []string{"cut.mp4"}})
	if err != nil {
		t.Fatal(err)
	}
	w.fails("review.report", review.ReportInput{Input: "cut.mp4", Edit: cutroom.Ref{Run: string(probe.Run)}, NoSheets: true, Writing: tool.Writing{Output: "no.html"}}, cutroom.Invalid)
	light, dark := shot(t, w.dir, "report.html", false), shot(t, w.dir, "report.html", true)
	if light[0] < 240 || dark[0] > 60 {
		t.Errorf("the background is %d in light and %d in dark", light[0], dark[0])
	}
	if light[1] < 2000 || dark[1] < 2000 {
		t.Errorf("%d and %d colours: the pictures are not shown", light[1], dark[1])
	}
}

// shot is what Chromium shows of a page: how bright its corner is, and how many colours.
func shot(t *testing.T, dir, page string, dark bool) [2]int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shot.png")
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(), "--window-size=1000,1400", "--screenshot=" + file}
	if dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	} else {
		args = append(args, "--blink-settings=preferredColorScheme=1")
	}
	if out, err := exec.CommandContext(t.Context(), "chromium", append(args, "file://"+filepath.Join(dir, page))...).CombinedOutput(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]bool{}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			r, g, b, _ := m.At(x, y).RGBA()
			colours[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	r, _, _, _ := m.At(4, 4).RGBA()
	return [2]int{int(r >> 8), len(colours)}
}

// TestVerifyRunsTheTools: its steps really run, what fails is named, and the table is
// written.
func TestVerifyRunsTheTools(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=3:s=320x180:r=10", "-f", "lavfi", "-i", "sine=d=3", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "clip.mp4"))
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "sine=d=1", filepath.Join(w.dir, "tone.wav"))
	in := review.VerifyInput{Inputs: []cutroom.InPath{"clip.mp4", "tone.wav"}, Out: "verified", Keep: true, Quick: true, Seconds: 2 * cutroom.Second, Output: "verify.md"}
	out := must[review.VerifyOutput](w, "review.verify", in)
	if out.Failures != 0 || len(out.Files) != 2 || len(out.Files[0].Steps) != 6 || len(out.Files[1].Steps) != 3 {
		t.Errorf("%d of %d failed: %+v", out.Failures, out.Total, out.Files)
	}
	made, err := filepath.Glob(filepath.Join(w.dir, "verified", "*"))
	if err != nil || len(made) < 7 {
		t.Errorf("the steps wrote %v", made)
	}
	put(t, filepath.Join(w.dir, "verified", "mine.txt"), "of somebody")
	in.Keep, in.Output = false, ""
	if again := must[review.VerifyOutput](w, "review.verify", in); again.Failures != 0 || len(again.Notes) != 0 {
		t.Errorf("again: %+v", again)
	}
	if left := files(t, filepath.Join(w.dir, "verified")); len(left) != 1 || left[0] != "mine.txt" {
		t.Errorf("without keep there is %v", left)
	}
	in.Out = "for a while"
	must[review.VerifyOutput](w, "review.verify", in)
	if _, err := os.Stat(filepath.Join(w.dir, "for a while")); err == nil {
		t.Error("its folder stays")
	}
	table, err := os.ReadFile(filepath.Join(w.dir, "verify.md"))
	if err != nil || strings.Count(string(table), "| PASS |") != out.Total {
		t.Errorf("%v: %s", err, table)
	}
}
