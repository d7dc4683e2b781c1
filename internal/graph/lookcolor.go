package graph

import (
	"cmp"
	"fmt"
	"strings"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/grade"
	"cutroom/internal/sandbox/argv"
)

// Tone is how high dynamic range becomes standard range. The zero value is hable with
// what the picture says of its peak.
type Tone struct {
	Curve string  // hable, mobius, reinhard, bt2390, clip, linear, gamma; default hable
	Peak  float64 // cd/m² of the brightest light; 0: what the picture says, else 1000
	Desat float64 // how bright light loses its colour, as of ffmpeg's tonemap
}

// LUT is a look-up table for colours.
type LUT struct {
	shapeless
	File  string      // name in the private folder
	Cube  *grade.Cube // its content; nil while it is not known, for a dry run
	Lines bool        // of one dimension
	// Standard says that the table makes BT.709 of whatever the picture is: high dynamic
	// range goes in as it is, and nothing is tone-mapped.
	Standard bool
}

func (LUT) colouring() bool { return true }

func (l LUT) needs() []string { return []string{l.filter()} }

func (l LUT) filter() string {
	if l.Lines {
		return "lut1d"
	}
	return "lut3d"
}

func (l LUT) files(c *compiler) {
	if l.Cube != nil {
		c.files = append(c.files, argv.File{Name: l.File, Data: l.Cube.Text()})
	}
}

func (l LUT) draw(p *painter) {
	if l.Lines {
		p.add("lut1d=file=%s:interp=linear", l.File)
		return
	}
	p.add("lut3d=file=%s:interp=tetrahedral", l.File)
}

// Correct is a primary correction.
type Correct struct {
	shapeless
	File  string // begins the names of its tables in the private folder
	Grade grade.Grade
	Curve string // a preset of ffmpeg's curves, after all else; "" is none
}

func (Correct) colouring() bool { return true }

func (k Correct) needs() []string {
	list := []string{"lut1d"}
	if k.Grade.Mix != nil {
		list = append(list, "colorchannelmixer")
	}
	if k.Curve != "" {
		list = append(list, "curves")
	}
	return list
}

func (k Correct) names() (before, after string) { return k.File + "-a.cube", k.File + "-b.cube" }

func (k Correct) files(c *compiler) {
	a, b := k.names()
	c.files = append(c.files, argv.File{Name: a, Data: k.Grade.Before.Text()}, argv.File{Name: b, Data: k.Grade.After.Text()})
}

func (k Correct) draw(p *painter) {
	a, b := k.names()
	p.add("lut1d=file=%s:interp=linear", a)
	if m := k.Grade.Mix; m != nil {
		var s strings.Builder
		for i, to := range []string{"r", "g", "b"} {
			for j, from := range []string{"r", "g", "b"} {
				fmt.Fprintf(&s, ":%s%s=%.6f", to, from, m[i][j])
			}
		}
		p.add("colorchannelmixer=%s", s.String()[1:])
	}
	p.add("lut1d=file=%s:interp=linear", b)
	if k.Curve != "" {
		p.add("curves=preset=%s", k.Curve)
	}
}

// standard reports whether a table of the edit makes standard range.
func (c *compiler) standard() bool {
	for _, l := range c.g.Picture.Looks {
		if lut, ok := l.(LUT); ok && lut.Standard {
			return true
		}
	}
	return false
}

// mapped reports whether a picture is tone-mapped.
func (c *compiler) mapped(v *ffmpeg.VideoFacts, f frame) bool {
	return v.HDR != "" && !f.hdr && !c.standard()
}

// peakless is how much light a picture is taken to reach that does not say so.
const peakless = 1000.0

// toneMap brings high dynamic range to BT.709 in linear light, at 10 bits or more until
// it is done, and ends in that format.
func (c *compiler) toneMap(v *ffmpeg.VideoFacts, format string) []string {
	in := ""
	if v.Primaries == "" {
		in += ":pin=2020"
	}
	if v.Matrix == "" {
		in += ":min=2020_ncl"
	}
	t := c.g.Picture.Tone
	if t.Curve == "bt2390" {
		return c.bt2390(v, in, format)
	}
	peak := ""
	if t.Peak > 0 {
		peak = fmt.Sprintf(":peak=%g", t.Peak/100)
	}
	return []string{
		"zscale=t=linear:npl=100" + in, "format=gbrpf32le", "zscale=p=709",
		fmt.Sprintf("tonemap=tonemap=%s:desat=%g%s", cmp.Or(t.Curve, "hable"), t.Desat, peak), "zscale=t=709", "format=" + format,
	}
}

// toneFile is the table of the tone curve of BT.2390.
const toneFile = "tone.cube"

// bt2390 applies that curve to red, green and blue as they are in PQ.
func (c *compiler) bt2390(v *ffmpeg.VideoFacts, in, format string) []string {
	c.bent = cmp.Or(c.g.Picture.Tone.Peak, v.PeakLight(), peakless)
	return []string{
		"zscale=m=gbr:r=full:p=2020:t=smpte2084:npl=100" + in, "format=gbrp16le", "lut1d=file=" + toneFile + ":interp=linear",
		"zscale=pin=2020:tin=smpte2084:t=linear:npl=100", "format=gbrpf32le", "zscale=p=709", "zscale=t=709", "format=" + format,
	}
}

// toneTable is the file of the tone curve, where it is used.
func (c *compiler) toneTable() {
	if c.bent > 0 {
		c.files = append(c.files, argv.File{Name: toneFile, Data: grade.BT2390(c.bent, 100).Text()})
	}
}

// wide reports whether a picture of standard range has primaries that the frame does not
// state, so that its colours have to be brought over.
func wide(v *ffmpeg.VideoFacts, f frame) bool {
	return v.HDR == "" && !f.hdr && !v.RGB() && v.Primaries == "bt2020" && f.color.primaries != "bt2020" && f.color.primaries != ""
}

// gamut names primaries in zscale's words.
func gamut(wide bool) string {
	if wide {
		return "2020"
	}
	return "709"
}
