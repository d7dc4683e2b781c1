package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// steps are the shares of the signal that a wedge shows, from left to right.
var steps = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 1}

// wedge makes a video of grey steps, of ten bits and a transfer curve; the mastering of
// HDR10 goes with params.
func (w *workspace) wedge(name, transfer, params string) cutroom.InPath {
	w.t.Helper()
	x := fmt.Sprint(steps[0])
	for i, s := range steps[1:] {
		x = fmt.Sprintf("if(lt(X\\,%d)\\,%s\\,%g)", 32*(i+1), x, s)
	}
	testenv.FFmpeg(w.t, "-f", "lavfi", "-i", "nullsrc=s=384x64:r=25:d=0.4,format=yuv420p10le,geq=lum='64+876*"+wedged()+"':cb=512:cr=512", "-c:v", "libx265", "-preset", "ultrafast",
		"-x265-params", "log-level=none:lossless=1"+params, "-color_range", "tv", "-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc", "-tag:v", "hvc1", filepath.Join(w.dir, name))
	return cutroom.InPath(name)
}

func wedged() string {
	x := fmt.Sprint(steps[len(steps)-1])
	for i := len(steps) - 2; i >= 0; i-- {
		x = fmt.Sprintf("if(lt(X\\,%d)\\,%g\\,%s)", 32*(i+1), steps[i], x)
	}
	return x
}

// luma returns the luma of the middle of each step, as it is coded.
func (w *workspace) luma(name string, filters string) []int {
	w.t.Helper()
	out := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+name, "-frames:v", "1", "-vf", filters+"format=yuv420p,extractplanes=y", "-pix_fmt", "gray", "-f", "rawvideo", "-")
	list := make([]int, len(steps))
	for i := range list {
		list[i] = int(out[32*384+32*i+16])
	}
	return list
}

// TestToneMapsLikeTheReference: each way to tone-map gives what the plain chain of
// filters gives, within two code values at every grey.
func TestToneMapsLikeTheReference(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	chain := func(curve, peak string) string {
		return "zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=" + curve + ":desat=0" + peak + ",zscale=t=bt709:m=bt709:r=tv,"
	}
	for name, transfer := range map[string]string{"pq.mp4": "smpte2084", "hlg.mp4": "arib-std-b67"} {
		in := w.wedge(name, transfer, "")
		curves := some(2, []string{"", "mobius", "reinhard", "clip", "linear", "gamma"})
		if transfer != "smpte2084" {
			curves = curves[:2]
		}
		for _, curve := range curves {
			out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, ToSDR: true, Tonemap: curve, Peak: 1000, Encoding: edit.Encoding{Quality: 4}, Writing: to(curve + "-" + name)})
			w.want(*out.File, "pix_fmt", "yuv420p", "codec_name", "h264", "color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709", "color_range", "tv")
			if out.Path != "tone_mapped" || !out.Reencoded || encodes(out.Commands) != 1 {
				t.Errorf("%+v", out)
			}
			if curve == "" {
				curve = "hable"
			}
			want, got := w.luma(name, chain(curve, ":peak=10")), w.luma(*out.File, "")
			for i := range want {
				// What the chain leaves above white is white.
				if d := got[i] - min(want[i], 235); d > 2 || d < -2 {
					t.Errorf("%s %s at %g: %d, the reference %d", name, curve, steps[i], got[i], want[i])
				}
			}
		}
	}
}

// encodes counts the video encoders of the runs: what stands before an input decodes it.
func encodes(commands []string) int {
	n := 0
	for _, c := range commands {
		n += strings.Count(c[strings.LastIndex(c, " -i ")+1:], "-c:v lib")
	}
	return n
}

// TestToneMapBT2390: the curve of the report: darks stay as they are, what is bright is
// bent, the peak becomes white.
func TestToneMapBT2390(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.wedge("pq.mp4", "smpte2084", "")
	out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, ToSDR: true, Tonemap: "bt2390", Peak: 1000, Encoding: edit.Encoding{Quality: 4}})
	got := w.luma(*out.File, "")
	pq := func(x float64) float64 { // cd/m²
		p := math.Pow(x, 1/78.84375)
		return 10000 * math.Pow(max(p-0.8359375, 0)/(18.8515625-18.6875*p), 1/0.1593017578125)
	}
	for i, s := range steps {
		// What lies below the knee keeps its light, of which 100 cd/m² are white.
		l := pq(s) / 100
		want := 16 + 219*math.Pow(l, 1/2.4)
		switch {
		case s <= 0.3 && math.Abs(float64(got[i])-want) > 2:
			t.Errorf("at %g (%.1f cd/m²): %d, want %.1f", s, pq(s), got[i], want)
		case s >= 0.8 && got[i] < 234:
			t.Errorf("the peak at %g: %d", s, got[i])
		case i > 0 && got[i] < got[i-1]:
			t.Errorf("it falls at %g: %v", s, got)
		}
	}
}

// TestStandardRangeIsNotToneMapped: BT.2020 primaries make no high dynamic range. What is
// forced has its primaries brought over, and its greys stay.
func TestStandardRangeIsNotToneMapped(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.wedge("wide.mp4", "bt2020-10", "")
	if e := w.fails("edit.color", edit.ColorInput{Input: in, ToSDR: true}, cutroom.Invalid); !strings.Contains(e.Msg, "standard range") || !strings.Contains(e.Hint, "force") {
		t.Errorf("%v", e)
	}
	out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, ToSDR: true, Force: true, Encoding: edit.Encoding{Quality: 4}})
	w.want(*out.File, "pix_fmt", "yuv420p", "color_space", "bt709", "color_primaries", "bt709", "color_transfer", "bt709")
	if out.Path != "primaries" || strings.Contains(strings.Join(out.Notes, " "), "tone-mapped") {
		t.Errorf("%s %q", out.Path, out.Notes)
	}
	before, after := w.luma("wide.mp4", ""), w.luma(*out.File, "")
	for i := range before {
		if d := before[i] - after[i]; d > 1 || d < -1 {
			t.Errorf("grey %g: %d became %d", steps[i], before[i], after[i])
		}
	}
	// A colour: what zscale makes of it.
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x3C9A50:s=320x180:r=25:d=0.4", "-vf", "scale=out_color_matrix=bt2020,format=yuv420p10le", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "0",
		"-color_primaries", "bt2020", "-color_trc", "bt2020-10", "-colorspace", "bt2020nc", filepath.Join(w.dir, "green.mp4"))
	green := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: "green.mp4", ToSDR: true, Force: true})
	want, got := w.mean("green.mp4", "zscale=pin=2020:min=2020_ncl:tin=709:p=709:t=709:m=709:r=limited,format=yuv420p"), w.mean(*green.File)
	if !alike(want, got, 2) || alike(w.mean("green.mp4", "format=yuv420p"), got, 2) {
		t.Errorf("green: %.1f, want %.1f", got, want)
	}
}

// TestCorrectedHighDynamicRange keeps its tags, its ten bits and what it says of its
// mastering; a stop is a stop of light.
func TestCorrectedHighDynamicRange(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.wedge("hdr10.mp4", "smpte2084", ":hdr10=1:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400")
	out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, Correct: edit.Correction{Exposure: -1}})
	w.want(*out.File, "codec_name", "hevc", "pix_fmt", "yuv420p10le", "color_space", "bt2020nc", "color_transfer", "smpte2084", "color_primaries", "bt2020")
	if v := out.Probe.FirstVideo().Video; v.MasterDisplay != "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)" || v.LightLevel != "1000,400" {
		t.Errorf("mastering %q, light %q", v.MasterDisplay, v.LightLevel)
	}
	for _, check := range []string{"mastering_display", "content_light_level", "colors"} {
		if !slices.ContainsFunc(out.Verified, func(v cutroom.Verified) bool { return v.Check == check && v.OK }) {
			t.Errorf("%s was not verified", check)
		}
	}
}

// cube writes a table of three dimensions.
func (w *workspace) cube(name string, size int, f func(r, g, b float64) [3]float64) cutroom.InPath {
	w.t.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "\xef\xbb\xbfTITLE \"it's: {ok} 100%%\"\r\n# made\r\nLUT_3D_SIZE %d\r\n", size)
	for i := range size * size * size {
		n := float64(size - 1)
		v := f(float64(i%size)/n, float64(i/size%size)/n, float64(i/size/size)/n)
		fmt.Fprintf(&s, "%.6f %.6f %.6f\r\n", v[0], v[1], v[2])
	}
	w.write(name, s.String())
	return cutroom.InPath(name)
}

func (w *workspace) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// TestTables: what a table says comes out, at any strength, from a file of any name; one
// that is damaged is refused with its line.
func TestTables(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.flag("flag.mp4", 320, 180)
	swap := w.cube("it's: [x] 100% {ok} 日本.cube", 5, func(r, g, b float64) [3]float64 { return [3]float64{g, r, 1 - b} })
	for _, c := range []struct {
		name     string
		in       edit.ColorInput
		at       map[[2]int]string // colours above 140
		strength float64
	}{
		{"whole", edit.ColorInput{LUT: swap}, map[[2]int]string{{80, 60}: "gb", {240, 60}: "rb", {80, 150}: "", {240, 150}: "rg"}, 1},
		{"none", edit.ColorInput{LUT: swap, LUTStrength: ptr(0.0)}, map[[2]int]string{{80, 60}: "r", {240, 60}: "g", {80, 150}: "b", {240, 150}: "rgb"}, 0},
	} {
		c.in.Input, c.in.Output = in, cutroom.OutPath(c.name+".mp4")
		out := must[edit.ColorOutput](w, "edit.color", c.in)
		p := w.pixels(*out.File, "1", 320, 180)
		for xy, want := range c.at {
			if got := colorAt(p, 320, xy[0], xy[1]); got != want {
				t.Errorf("%s: at %v it is %q, want %q", c.name, xy, got, want)
			}
		}
		if out.Measurements.Input.RGB[0] == 0 || len(out.Probe.AudioStreams()) != 1 || encodes(out.Commands) != 1 {
			t.Errorf("%+v", out.Measurements)
		}
	}
	half := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, LUT: swap, LUTStrength: ptr(0.5), Writing: to("half.mp4")})
	p := w.pixels(*half.File, "1", 320, 180)
	for k, want := range []float64{127, 127, 127} { // red: half red, half green, half blue
		if got := float64(p[3*(60*320+80)+k]); math.Abs(got-want) > 4 {
			t.Errorf("half of it: channel %d is %g, want %g", k, got, want)
		}
	}
	w.write("line.cube", "LUT_1D_SIZE 2\n1 1 1\n0 0 0\n")
	lines := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, LUT: "line.cube", Writing: to("negative.mp4")})
	if got := colorAt(w.pixels(*lines.File, "1", 320, 180), 320, 80, 60); got != "gb" {
		t.Errorf("the negative of red is %q", got)
	}
	for name, text := range map[string]string{
		"empty.cube": "", "cut.cube": "LUT_3D_SIZE 2\n0 0 0\n1 1 1\n", "word.cube": "LUT_1D_SIZE 2\n0 0 0\nmovie=/etc/passwd\n", "nan.cube": "LUT_1D_SIZE 2\n0 0 nan\n1 1 1\n",
		"huge.cube": "LUT_3D_SIZE 4000\n", "many.cube": "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1\n", "domain.cube": "LUT_1D_SIZE 2\nDOMAIN_MIN 1 1 1\nDOMAIN_MAX 0 0 0\n0 0 0\n1 1 1\n",
	} {
		w.write(name, text)
		if e := w.fails("edit.color", edit.ColorInput{Input: in, LUT: cutroom.InPath(name)}, cutroom.Invalid); e.Hint == "" || strings.Contains(e.Msg, "passwd") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// TestCorrections: each value does what its name says, and the file is what the
// arithmetic says; what changes nothing changes nothing.
func TestCorrections(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1", "-vf", "lutrgb=r=40+val*0.6:g=40+val*0.6:b=40+val*0.6,scale=out_color_matrix=bt709,format=yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "4",
		"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", filepath.Join(w.dir, "in.mp4"))
	for i, c := range some(5, []struct {
		k  edit.Correction
		is func(a, b edit.ColorMeasurements) bool
	}{
		{edit.Correction{Exposure: 0.5}, func(a, _ edit.ColorMeasurements) bool { return a.Output.Luma > a.Input.Luma+3 }},
		{edit.Correction{Contrast: ptr(0.5)}, func(a, _ edit.ColorMeasurements) bool {
			return a.Output.High-a.Output.Low < 0.6*(a.Input.High-a.Input.Low)
		}},
		{edit.Correction{Saturation: ptr(0.0)}, func(a, _ edit.ColorMeasurements) bool {
			return a.Output.Saturation < 1 && math.Abs(a.Output.Luma-a.Input.Luma) < 1
		}},
		{edit.Correction{Temperature: 3200}, func(a, _ edit.ColorMeasurements) bool {
			return a.Output.RGB[0] > a.Input.RGB[0] && a.Output.RGB[2] < a.Input.RGB[2]-5
		}},
		{edit.Correction{Temperature: 11000}, func(a, _ edit.ColorMeasurements) bool {
			return a.Output.RGB[0] < a.Input.RGB[0] && a.Output.RGB[2] > a.Input.RGB[2]
		}},
		{edit.Correction{Tint: 1}, func(a, _ edit.ColorMeasurements) bool { return a.Output.RGB[1] < a.Input.RGB[1] }},
		{edit.Correction{Gamma: 1.5, Lift: 0.1, Gain: -0.2}, func(a, _ edit.ColorMeasurements) bool {
			return a.Output.Low > a.Input.Low && a.Output.High < a.Input.High
		}},
		{edit.Correction{InBlack: 30, InWhite: ptr(220), OutBlack: 10}, func(a, _ edit.ColorMeasurements) bool { return a.Output.High > a.Input.High }},
		{edit.Correction{Curves: "negative"}, func(a, _ edit.ColorMeasurements) bool {
			return math.Abs(a.Output.Luma+a.Input.Luma-100) < 2
		}},
	}) {
		out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: "in.mp4", Correct: c.k, Writing: to(fmt.Sprintf("out%d.mp4", i))})
		if !c.is(out.Measurements, out.Measurements) {
			t.Errorf("%+v: %+v", c.k, out.Measurements)
		}
	}
	same := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: "in.mp4", Correct: edit.Correction{Contrast: ptr(1.0)}, Writing: to("same.mp4"), Encoding: edit.Encoding{Quality: 4}})
	if d := apart(w.pixels("in.mp4", "0.5", 320, 180), w.pixels(*same.File, "0.5", 320, 180)); d > 2 {
		t.Errorf("a correction that changes nothing changes %.2f of 255", d)
	}
	if e := w.fails("edit.color", edit.ColorInput{Input: "in.mp4", Correct: edit.Correction{InBlack: 200, InWhite: ptr(100)}}, cutroom.Invalid); !strings.Contains(e.Msg, "black level") {
		t.Errorf("%v", e)
	}
}

// TestRetag: other tags on the same samples, by copying where the packets can be told.
func TestRetag(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, c := range []struct {
		name, retag, rng string
		args             []string
		want             []string
		copied           bool
	}{
		{"a.mp4", "bt709", "", []string{"-c:v", "libx264", "-preset", "ultrafast"}, []string{"color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709"}, true},
		{"b.mkv", "bt2020-hlg", "", []string{"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le"}, []string{"color_space", "bt2020nc", "color_transfer", "arib-std-b67", "color_primaries", "bt2020"}, true},
		{"c.mov", "bt2020-pq", "", []string{"-c:v", "prores_ks"}, []string{"color_space", "bt2020nc", "color_transfer", "smpte2084", "color_primaries", "bt2020"}, true},
		{"d.mp4", "bt601", "full", []string{"-c:v", "libx264", "-preset", "ultrafast"}, []string{"color_space", "smpte170m", "color_range", "pc"}, true},
		{"e.webm", "bt709", "", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"}, []string{"color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709"}, false},
	} {
		args := append([]string{"-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1"}, c.args...)
		testenv.FFmpeg(t, append(args, filepath.Join(w.dir, c.name))...)
		out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: cutroom.InPath(c.name), Retag: c.retag, RetagRange: c.rng})
		w.want(*out.File, c.want...)
		if out.Reencoded == c.copied {
			t.Errorf("%s: encoded anew: %v", c.name, out.Reencoded)
		}
		if c.copied && (encodes(out.Commands) != 0 || w.frameHashes(c.name) != w.frameHashes(*out.File)) {
			t.Errorf("%s: the samples changed", c.name)
		}
		if !c.copied && !strings.Contains(strings.Join(out.Notes, " "), "encoded anew") {
			t.Errorf("%s: %q", c.name, out.Notes)
		}
	}
}

// TestStripDolbyVision: the layer goes, every sample stays, and where there is none it is
// said.
func TestStripDolbyVision(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	// Its edit list hides a frame, which a copy cannot.
	testenv.FFmpeg(t, "-ignore_editlist", "1", "-i", filepath.Join(testenv.Real(t), "sample_edit_list.mp4"), "-map", "0:v:0", "-c", "copy", "-strict", "unofficial", filepath.Join(w.dir, "phone.mp4"))
	in := cutroom.InPath("phone.mp4")
	if v := describe(w, "phone.mp4").FirstVideo().Video; v.DolbyVision == 0 {
		t.Fatalf("no Dolby Vision in %+v", v)
	}
	out := must[edit.ColorOutput](w, "edit.color", edit.ColorInput{Input: in, StripDovi: true, Writing: to("plain.mp4")})
	w.held(out.Verified, "samples", "dolby_vision")
	if v := out.Probe.FirstVideo().Video; out.Reencoded || encodes(out.Commands) != 0 || v.DolbyVision != 0 || v.HDR != "hlg" || v.BitDepth != 10 {
		t.Errorf("%+v", v)
	}
	units := testenv.Run(t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:plain.mp4", "-map", "0:v:0", "-c", "copy", "-bsf:v", "filter_units=pass_types=62-63", "-f", "rawvideo", "-")
	if len(units) > 200 { // the parameter sets that are written ahead of them
		t.Errorf("%d bytes of the layer are left", len(units))
	}
	if e := w.fails("edit.color", edit.ColorInput{Input: "plain.mp4", StripDovi: true, Writing: to("again.mp4")}, cutroom.Invalid); !strings.Contains(e.Msg, "no Dolby Vision") {
		t.Errorf("%v", e)
	}
}
