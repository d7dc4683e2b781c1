package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/review"
	"cutroom/internal/verdict"
)

// checked is a check with its rows by name.
type checked struct {
	*review.CheckOutput
	t *testing.T
}

func (w *workspace) check(t *testing.T, in review.CheckInput) checked {
	t.Helper()
	return checked{must[review.CheckOutput](w, "review.check", in), t}
}

func (c checked) row(name string) verdict.Row {
	c.t.Helper()
	for _, r := range c.Checks {
		if r.Check == name {
			return r
		}
	}
	c.t.Fatalf("no row %s in %v", name, c.Checks)
	return verdict.Row{}
}

// is checks a row's status and value: a number within a hundredth, or a text.
func (c checked) is(name string, status verdict.Status, value any) {
	c.t.Helper()
	r := c.row(name)
	ok := r.Status == status
	switch v := value.(type) {
	case float64:
		ok = ok && r.Value != nil && math.Abs(*r.Value-v) <= 0.01*math.Max(1, math.Abs(v))
	case string:
		ok = ok && r.ValueText == v && r.Value == nil
	}
	if !ok {
		c.t.Errorf("%s; want %s %v", r, status, value)
	}
	if r.Status != verdict.Pass && (r.Fix == "" || r.Reason == "") {
		c.t.Errorf("%s does not say why, or what to do", r)
	}
}

// TestCheckCases are the right values of the built inputs.
func TestCheckCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		in   review.CheckInput
		want func(checked)
	}{
		{"b03_hlg.mp4", review.CheckInput{Platform: "x"}, func(c checked) {
			c.is("dynamic_range", verdict.Fail, "hlg")
			c.is("color_tags", verdict.Pass, "bt2020/arib-std-b67/bt2020nc")
			c.is("pixel_format", verdict.Fail, "yuv420p10le")
			c.is("video_codec", verdict.Fail, "hevc")
		}},
		{"b04_pq.mp4", review.CheckInput{Platform: "youtube"}, func(c checked) {
			c.is("dynamic_range", verdict.Pass, "pq")
			c.is("profile", verdict.Pass, "Main 10")
			c.is("audio", verdict.Warn, 0.0)
		}},
		{"b01_rot90.mp4", review.CheckInput{Platform: "reels"}, func(c checked) {
			c.is("size", verdict.Pass, "240x320")
			c.is("aspect", verdict.Fail, "3:4")
			c.is("short_side", verdict.Warn, 240.0)
		}},
		{"b22_sar.mp4", review.CheckInput{Platform: "youtube"}, func(c checked) {
			c.is("aspect", verdict.Pass, "16:9")
			c.is("pixel_aspect", verdict.Warn, "64:45")
		}},
		{"b02_vfr.mp4", review.CheckInput{}, func(c checked) {
			c.is("constant_rate", verdict.Warn, "variable")
			c.is("decodes", verdict.Pass, 0.0)
			c.is("aspect", verdict.Pass, "4:3")
		}},
		{"b10_editlist.mp4", review.CheckInput{}, func(c checked) { c.is("frames", verdict.Warn, 25.0) }},
		{"b18_trunc_faststart.mp4", review.CheckInput{}, func(c checked) {
			c.is("whole_file", verdict.Fail, "cut off")
			c.is("faststart", verdict.Pass, "first")
			c.is("decodes", verdict.Fail, nil)
		}},
		{"b08_cover.mp3", review.CheckInput{Platform: "podcast"}, func(c checked) {
			c.is("container", verdict.Pass, "mp3")
			c.is("audio_codec", verdict.Pass, "mp3")
			c.is("cover_art", verdict.Pass, 1.0)
			c.is("duration", verdict.Pass, 3.03)
		}},
		{"b20_alpha.webm", review.CheckInput{Platform: "x"}, func(c checked) {
			c.is("transparency", verdict.Warn, "transparent")
			c.is("container", verdict.Warn, "webm")
			c.is("video_codec", verdict.Fail, "vp9")
		}},
		{"b26.gif", review.CheckInput{}, func(c checked) {
			c.is("duration", verdict.Pass, 1.0)
			c.is("video_codec", verdict.Fail, "gif")
		}},
		{"b27_silence.wav", review.CheckInput{Platform: "podcast", Content: true}, func(c checked) {
			c.is("silent_track", verdict.Fail, "silent")
			c.is("silent", verdict.Fail, 100.0)
		}},
		{"b28_short.wav", review.CheckInput{Platform: "podcast"}, func(c checked) { c.is("loudness", verdict.Warn, nil) }},
		{"b29_fullrange.mp4", review.CheckInput{Platform: "facebook"}, func(c checked) {
			c.is("color_range", verdict.Warn, "full")
			c.is("pixel_format", verdict.Pass, "yuvj420p")
		}},
		{"b32_longaudio.mp4", review.CheckInput{Platform: "youtube"}, func(c checked) { c.is("end_skew", verdict.Fail, 3.0) }},
		{"b33_avoffset.mp4", review.CheckInput{}, func(c checked) { c.is("start_skew", verdict.Warn, 0.68) }},
		{"b17_static.mp4", review.CheckInput{Content: true}, func(c checked) {
			c.is("frozen", verdict.Fail, 100.0)
			c.is("black", verdict.Pass, 0.0)
		}},
		{"b23_multi.mp4", review.CheckInput{LUFS: new(-23.0), TP: new(-6.0)}, func(c checked) {
			c.is("audio_tracks", verdict.Pass, 3.0)
			c.is("faststart", verdict.Warn, "last")
			c.is("loudness", verdict.Pass, nil)
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			w, file := made(t, c.file)
			c.in.Input = cutroom.InPath(file)
			got := w.check(t, c.in)
			c.want(got)
			if failed, _ := verdict.Count(got.Checks); got.OK != (failed == 0) || got.Failed() == got.OK || got.Failures != failed {
				t.Errorf("ok is %v with %d failed rows", got.OK, failed)
			}
			if t.Failed() {
				for _, r := range got.Checks {
					t.Log(r)
				}
			}
		})
	}
}

// TestCheckMeasuresOnce: what was measured is not measured again, and a check says what
// ran.
func TestCheckMeasuresOnce(t *testing.T) {
	t.Parallel()
	w, file := made(t, "base.mp4")
	first := w.check(t, review.CheckInput{Input: cutroom.InPath(file)})
	if len(first.Commands) != 1 || !strings.HasPrefix(first.Commands[0], "ffmpeg ") {
		t.Errorf("it ran %q", first.Commands)
	}
	second := w.check(t, review.CheckInput{Input: cutroom.InPath(file), Platform: "tiktok", Content: true})
	if len(second.Commands) != 0 {
		t.Errorf("the same file was measured again: %q", second.Commands)
	}
	if first.OK == false || !first.Assumed || second.Assumed || second.OK {
		t.Errorf("assumed %v ok %v, then assumed %v ok %v", first.Assumed, first.OK, second.Assumed, second.OK)
	}
}

// TestCheckTwoGenerations: a file that passes is what a careful export makes; the naive
// conversion of an HDR recording fails by its tags.
func TestCheckTwoGenerations(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	at := func(name string) string { return filepath.Join(w.dir, name) }
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=1080x1920:rate=30:duration=2", "-f", "lavfi", "-i", "aevalsrc=0.35*sin(440*2*PI*t)|0.35*sin(440*2*PI*t):s=48000:d=2",
		"-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "high", "-pix_fmt", "yuv420p", "-color_range", "tv", "-colorspace", "bt709", "-color_trc", "bt709", "-color_primaries", "bt709",
		"-c:a", "aac", "-movflags", "+faststart", at("good.mp4"))
	good := w.check(t, review.CheckInput{Input: "good.mp4", Platform: "reels", Content: true})
	good.is("aspect", verdict.Pass, "9:16")
	good.is("frame_rate", verdict.Pass, 30.0)
	good.is("frames", verdict.Pass, 60.0)
	good.is("faststart", verdict.Pass, "first")
	good.is("color_tags", verdict.Pass, "bt709/bt709/bt709")
	if good.Failures != 0 || good.Warnings != 0 {
		for _, r := range good.Checks {
			t.Log(r)
		}
	}
	testenv.FFmpeg(t, "-i", filepath.Join(testenv.Cases(t), "b03_hlg.mp4"), "-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1", at("washed.mp4"))
	washed := w.check(t, review.CheckInput{Input: "washed.mp4"})
	washed.is("color_tags", verdict.Fail, nil)
	testenv.FFmpeg(t, "-i", filepath.Join(testenv.Cases(t), "b04_pq.mp4"), "-c:v", "libx264", at("high10.mp4"))
	high10 := w.check(t, review.CheckInput{Input: "high10.mp4", Platform: "x"})
	high10.is("profile", verdict.Fail, "High 10")
}

// TestCheckDamage: a file whose bytes were spoilt in the middle probes well and fails to
// decode; case 16, the join of copies that claims the right length, fails by its frames.
func TestCheckDamage(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	data, err := os.ReadFile(filepath.Join(testenv.Cases(t), "base.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 3; i < len(data)/3+3000; i++ {
		data[i] ^= 0x55
	}
	if err := os.WriteFile(filepath.Join(w.dir, "spoilt.mp4"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.check(t, review.CheckInput{Input: "spoilt.mp4"})
	c.is("decodes", verdict.Fail, nil)
	if c.OK {
		t.Error("a damaged file is ok")
	}
	sparse := filepath.Join(testenv.Cases(t), "b34_sparsekf.mkv")
	list := "ffconcat version 1.0\n"
	for i := range 5 {
		part := filepath.Join(w.dir, fmt.Sprintf("part%d.mp4", i))
		testenv.FFmpeg(t, "-ss", fmt.Sprint(6*i), "-t", "3", "-i", sparse, "-c", "copy", part)
		list += "file " + filepath.Base(part) + "\n"
	}
	if err := os.WriteFile(filepath.Join(w.dir, "list"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.FFmpeg(t, "-f", "concat", "-i", filepath.Join(w.dir, "list"), "-c", "copy", filepath.Join(w.dir, "joined.mp4"))
	c = w.check(t, review.CheckInput{Input: "joined.mp4"})
	for _, r := range c.Checks {
		t.Log(r)
	}
	if c.OK {
		t.Error("case 16 is ok")
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	w, file := made(t, "base.mp4")
	in := cutroom.InPath(file)
	for _, c := range []struct {
		in   review.CheckInput
		want string
	}{
		{review.CheckInput{Input: in, Platform: "tiktak"}, "tiktok"},
		{review.CheckInput{Input: in, Aspect: []string{"wide"}}, "not a ratio"},
	} {
		if e := w.fails("review.check", c.in, cutroom.Invalid); !strings.Contains(e.Error(), c.want) {
			t.Errorf("%v: no %q", e, c.want)
		}
	}
	w.copy(filepath.Join(testenv.Cases(t), "cover.jpg"), "cover.jpg")
	w.fails("review.check", review.CheckInput{Input: "cover.jpg"}, cutroom.Invalid)
}

// TestCheckCaptions: text that is burned in is read, and where it lies judged against what
// the platform covers.
func TestCheckCaptions(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for y, want := range map[int]verdict.Status{800: verdict.Pass, 1100: verdict.Fail} { // 78 % of 1280 is 998
		name := fmt.Sprintf("at%d.mp4", y)
		testenv.FFmpeg(t, "-f", "lavfi", "-i", fmt.Sprintf("color=0x204060:size=720x1280:rate=5:duration=0.4,drawtext=text='the release is ready':fontsize=48:fontcolor=white:x=(w-tw)/2:y=%d", y),
			"-c:v", "libx264", "-pix_fmt", "yuv420p", filepath.Join(w.dir, name))
		c := w.check(t, review.CheckInput{Input: cutroom.InPath(name), Platform: "tiktok", Captions: true})
		outside := 0.0
		if want == verdict.Fail {
			outside = 2 // the clip has two frames, each with one line
		}
		c.is("captions_safe", want, outside)
	}
}

// TestCheckReachesAHost: numbers stay numbers, and the text says what failed first.
func TestCheckReachesAHost(t *testing.T) {
	t.Parallel()
	w, file := made(t, "base.mp4")
	r, err := w.host().CallTool(w.ctx(), &mcp.CallToolParams{Name: "review_check", Arguments: map[string]any{"input": file, "platform": "x"}})
	if err != nil || r.IsError {
		t.Fatalf("%v, %+v", err, r)
	}
	doc, _ := r.StructuredContent.(map[string]any)
	rows, _ := doc["checks"].([]any)
	found := false
	for _, row := range rows {
		if m, _ := row.(map[string]any); m["check"] == "frame_rate" {
			found = m["value"] == 25.0 && m["limit"] == 60.0
		}
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if !found || doc["ok"] != false || !strings.HasPrefix(text, "x: NOT OK, ") || !strings.HasPrefix(strings.Split(text, "\n")[1], "FAIL ") {
		t.Errorf("%v\n%s", doc, text)
	}
}
