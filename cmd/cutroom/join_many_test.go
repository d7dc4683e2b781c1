package main

import (
	"math"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// More clips than one run opens are encoded in pieces: every clip has its frames, its
// place, its sound or silence, whatever its shape, and nothing adds up over the seams.
func TestJoinOfManyClips(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours := [][3]int{{255, 0, 0}, {0, 0, 255}, {255, 255, 255}}
	names := []cutroom.InPath{
		w.plain("a.mp4", "red", 128, 96, 0.2, "-f", "lavfi", "-i", "sine=f=440:r=48000:d=0.2,volume=4", "-c:a", "pcm_s16le", "-f", "mov"),
		w.plain("b.mp4", "blue", 128, 96, 0.2), w.plain("c.mp4", "white", 96, 96, 0.2),
	}
	var inputs []cutroom.InPath
	for i := range 43 {
		inputs = append(inputs, names[i%3])
	}
	for _, in := range some(1, []edit.JoinInput{{PadColor: "#20c0a0", Writing: to("bars.mkv")}, {Writing: to("many.mp4")}}) {
		in.Inputs = inputs
		r := must[edit.JoinOutput](w, "edit.join", in)
		w.proved(r.Verified)
		file := *r.File
		if r.Expected != 43*200_000 || len(r.EditMap.Segments) != 43 || encodes(r.Commands) != 2 || len(r.Notes) != 6 {
			t.Errorf("%s: %v s, %d encodes, %+v", file, r.Expected, encodes(r.Commands), r.Notes)
		}
		frames := testenv.Run(t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+file, "-vf", "scale=16:12:flags=neighbor", "-pix_fmt", "rgb24", "-f", "rawvideo", "-")
		if len(frames) != 43*5*3*16*12 {
			t.Fatalf("%s has %d bytes of frames", file, len(frames))
		}
		for i := range 43 * 5 {
			p := frames[i*3*16*12:]
			if got := rgbAt(p, 16, 8, 6); !likeColour(got, colours[i/5%3], 14) {
				t.Errorf("%s: frame %d is %v", file, i, got)
			}
			if got := rgbAt(p, 16, 0, 6); i/5%3 == 2 && in.PadColor != "" && !likeColour(got, [3]int{32, 192, 160}, 8) {
				t.Errorf("%s: beside frame %d it is %v", file, i, got)
			}
		}
		sound := w.decoded(file)
		if math.Abs(float64(len(sound))-43*9600) > 2048 {
			t.Errorf("%s has %d samples", file, len(sound))
		}
		for i := 0; i < 43; i++ {
			l := level(sound, float64(i)*0.2+0.05, float64(i)*0.2+0.15)
			if loud := i%3 == 0; loud && l < -20 || !loud && l > -50 {
				t.Errorf("%s: clip %d sounds at %.1f dBFS", file, i, l)
			}
		}
	}
}
