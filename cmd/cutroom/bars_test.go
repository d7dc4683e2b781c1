package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// Bars and corners have the colour that was asked for, to what eight bits can say of it,
// whatever matrix the picture has, and the picture beside them keeps its frames.
func TestColourOfBars(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for matrix, tag := range map[string]string{"bt709": "bt709", "bt601": "smpte170m"} {
		in := cutroom.InPath(matrix + ".mp4")
		testenv.FFmpeg(t, "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=160x90:r=25:d=0.4,format=gbrp,scale=out_color_matrix=%s:out_range=limited,format=yuv420p,setparams=colorspace=%s:color_primaries=%s:color_trc=%s:range=tv", matrix, tag, tag, tag),
			"-c:v", "libx264", "-preset", "ultrafast", "-color_range", "tv", "-colorspace", tag, "-color_primaries", tag, "-color_trc", tag, filepath.Join(w.dir, string(in)))
		for name, rgb := range map[string][3]int{"red": {255, 0, 0}, "#20c0a0": {32, 192, 160}} {
			files := map[string][2]int{} // and where a bar is
			r := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Width: 160, Height: 160, Fit: "pad", PadColor: name, Writing: to("fit-" + matrix + name[1:] + ".mp4")})
			w.proved(r.Verified)
			files[*r.File] = [2]int{80, 10}
			if name == "#20c0a0" {
				b := must[edit.BrollOutput](w, "edit.broll", edit.BrollInput{Input: "fit-" + cutroom.InPath(matrix+name[1:]+".mp4"), Insert: in, At: "0", End: "0.4", Fit: "pad", PadColor: name, Writing: to("broll-" + matrix + ".mp4")})
				w.proved(b.Verified)
				files[*b.File] = [2]int{80, 10}
				s := must[edit.StraightenOutput](w, "edit.straighten", edit.StraightenInput{Picturing: edit.Picturing{Input: in, Writing: to("turn-" + matrix + ".mp4")}, Degrees: 20, Fit: "expand", FillColor: name})
				w.proved(s.Verified)
				files[*s.File] = [2]int{4, 4}
			}
			for file, at := range files {
				m := describe(w, file).FirstVideo().Video
				p := w.pixels(file, "0.2", m.Width, m.Height)
				for _, y := range []int{at[1], m.Height - 1 - at[1]} {
					x := at[0]
					if y != at[1] {
						x = m.Width - 1 - x
					}
					if got := rgbAt(p, m.Width, x, y); !likeColour(got, rgb, 4) {
						t.Errorf("%s: at %d,%d it is %v, not %v", file, x, y, got, rgb)
					}
				}
			}
		}
	}
}
