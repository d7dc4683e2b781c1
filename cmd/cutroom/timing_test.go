package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// stairs makes a video of 2 s at 25 frames per second whose frame n is grey of 20 + 4·n,
// with a tone of 400 Hz in its first second and of 1200 Hz in its second.
func (w *workspace) stairs(name string, more ...string) cutroom.InPath {
	w.t.Helper()
	args := []string{
		"-f", "lavfi", "-i", `color=black:s=160x90:r=25:d=2,geq=lum='20+4*N':cb=128:cr=128`,
		"-f", "lavfi", "-i", `aevalsrc='0.4*sin(2*PI*(400+800*gte(t\,1))*t)':s=48000:d=2`,
		"-c:v", "libx264", "-crf", "10", "-g", "10", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k",
	}
	testenv.FFmpeg(w.t, append(append(args, more...), filepath.Join(w.dir, name))...)
	return cutroom.InPath(name)
}

// steps are the numbers of the stairs' frames that a video shows; −1 is none of them.
func (w *workspace) steps(name string) string {
	w.t.Helper()
	out := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+name, "-vf", "crop=96:56:32:16,scale=1:1:flags=area,format=yuv420p,extractplanes=y", "-f", "rawvideo", "-")
	var list []int
	for _, y := range out {
		n := (float64(y) - 20) / 4
		if n < -0.6 || math.Abs(n-math.Round(n)) > 0.45 {
			n = -1
		}
		list = append(list, int(math.Round(n)))
	}
	return runs(list)
}

// runs writes a list of numbers as ranges: 0..4 counts up, 4..0 down, 7x3 stays.
func runs(list []int) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		j, step := i+1, 0
		if j < len(list) {
			step = list[j] - list[i]
		}
		for ; step >= -1 && step <= 1 && j < len(list) && list[j]-list[j-1] == step; j++ {
		}
		switch {
		case j == i+1:
			fmt.Fprintf(&b, " %d", list[i])
		case step == 0:
			fmt.Fprintf(&b, " %dx%d", list[i], j-i)
		default:
			fmt.Fprintf(&b, " %d..%d", list[i], list[j-1])
		}
		i = j
	}
	return strings.TrimSpace(b.String())
}

// tones is what is heard in each tenth of a second, as ranges: the frequency in hundreds
// of Hz, 0 for silence.
func (w *workspace) tones(name string) string {
	w.t.Helper()
	sound := w.decoded(name)
	var list []int
	for i := 0; i+4800 <= len(sound); i += 4800 {
		part, cross, sum := sound[i+480:i+4320], 0, 0.0
		for k, v := range part {
			sum += v * v
			if k > 0 && (v < 0) != (part[k-1] < 0) {
				cross++
			}
		}
		if math.Sqrt(sum/float64(len(part))) < 0.01 {
			cross = 0
		}
		list = append(list, int(math.Round(float64(cross)/2/0.08/100)))
	}
	return runs(list)
}

// What shows and what sounds when, frame by frame and tenth by tenth.
func TestTimeMovesExactly(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.stairs("stairs.mp4")
	sec := func(s float64) cutroom.Micros { return cutroom.MicrosOf(s) }
	cases := []struct {
		name, id     string
		in           any
		steps, tones string
	}{
		{"hold", "edit.freeze", edit.FreezeInput{Input: in, At: "1.01", Hold: sec(0.6)}, "0..25 25x15 26..49", "4x10 0x6 12x10"},
		{"hold the first", "edit.freeze", edit.FreezeInput{Input: in, At: "0", Hold: sec(0.2)}, "0x6 1..49", "0x2 4x10 12x10"},
		{"hold the last", "edit.freeze", edit.FreezeInput{Input: in, At: "1.99", Hold: sec(0.2)}, "0..49 49x5", ""},
		{"hold in place", "edit.freeze", edit.FreezeInput{Input: in, At: "0.5", Hold: sec(0.4), Mode: "replace"}, "0..12 12x9 22..49", "4x10 12x10"},
		{"backwards", "edit.reverse", edit.ReverseInput{Input: in}, "49..0", "12x10 4x10"},
		{"thrice", "edit.loop", edit.LoopInput{Input: in, Times: 3}, "0..49 0..49 0..49", "4x10 12x10 4x10 12x10 4x10 12x10"},
		{"for a while", "edit.loop", edit.LoopInput{Input: in, Duration: sec(2.6)}, "0..49 0..14", "4x10 12x10 4x6"},
		{"there and back", "edit.loop", edit.LoopInput{Input: in, Boomerang: true}, "0..49 48..1", "4x10 12x19 9 4x9"},
		{"there and back twice", "edit.loop", edit.LoopInput{Input: in, Boomerang: true, Times: 2, NoAudio: true}, "0..49 48..0 1..49 48..1", ""},
		{"padded", "edit.pad", edit.PadInput{Input: in, Start: sec(0.4), End: sec(1)}, "-1x10 0..49 -1x25", "0x4 4x10 12x10 0x10"},
		{"faster", "edit.speedramp", edit.SpeedrampInput{Input: in, Segments: []string{"1-1.6:0.5"}}, "0..25 25..26 26..27 27..28 28..29 29..30 30..31 31..32 32..33 33..34 34..35 35..36 36..37 37..38 38..39 39..49", ""},
		// Frame m of the source begins at 33.33·ln(1+0.06m) frames of the output.
		{"ever faster", "edit.speedramp", edit.SpeedrampInput{Input: in, Segments: []string{"0-:0.5>2"}}, "0x2 1x2 2x2 3..4 4..6 6..9 9..24 26..28 30..31 33..34 36..37 39 41..42 44 46 48", ""},
		{"ever slower, as of a tape", "edit.speedramp", edit.SpeedrampInput{Input: in, Segments: []string{"0.5-1.5:2>0.5"}, Pitch: "change"}, "", ""},
		{"as of a tape", "edit.speedramp", edit.SpeedrampInput{Input: in, Segments: []string{"1-:0.5"}, Pitch: "change"}, "", "4x10 6x20"},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := w.timed(t, c.id, c.in, fmt.Sprintf("out%d.mp4", i))
			if got := w.steps(*made.File); c.steps != "" && got != c.steps {
				t.Errorf("it shows %s, want %s", got, c.steps)
			}
			if c.tones == "" {
				return
			}
			if got := w.tones(*made.File); got != c.tones {
				t.Errorf("it sounds %s, want %s", got, c.tones)
			}
		})
	}
}

// timed calls a tool that is to write a file, and returns what it made.
func (w *workspace) timed(t *testing.T, id string, in any, out string) *tool.Made {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	if out != "" {
		fields["output"] = json.RawMessage(strconv.Quote(out))
	}
	r, err := w.call(id, fields)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	made := r.Output.(tool.Maker).AsMade()
	for _, v := range made.Verified {
		if !v.OK {
			t.Errorf("%+v", v)
		}
	}
	return made
}
