package edit

import (
	"bytes"
	"cmp"
	"fmt"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/grade"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// coloring is one call while it is worked on.
type coloring struct {
	in     ColorInput
	l      *looking
	table  graph.LUT
	grade  grade.Grade
	output ColorOutput
}

// The files of the private folder.
const (
	lutFile     = "look.cube"
	correctFile = "correct"
)

func planColor(f tool.Facts, in ColorInput) (tool.Plan, error) {
	c, err := newColoring(f, in)
	if err != nil {
		return tool.Plan{}, err
	}
	if in.LUT == "" {
		return c.plan()
	}
	return c.planTable(f)
}

// planTable reads the table first. That everything else fits is known before.
func (c *coloring) planTable(f tool.Facts) (tool.Plan, error) {
	file, err := f.Named(c.in.LUT)
	if err != nil {
		return tool.Plan{}, err
	}
	c.table = graph.LUT{File: lutFile, Lines: bytes.Contains(file.Head, []byte("LUT_1D_SIZE")), Standard: c.in.LUTMakes == "bt709"}
	shown, err := c.plan()
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Later: append(shown.Steps, shown.Later...), Then: func(r tool.Results) (tool.Plan, error) {
		data := file.Head
		if int64(len(data)) < file.Size {
			if data, err = r.ReadInput(file.Index, grade.MaxCubeBytes); err != nil {
				return tool.Plan{}, err
			}
		}
		cube, err := grade.ParseCube(data)
		if err != nil {
			return tool.Plan{}, err
		}
		if c.in.LUTStrength != nil {
			cube = cube.Mixed(*c.in.LUTStrength)
		}
		c.table.Cube, c.table.Lines = cube, cube.Lines
		return c.plan()
	}}, nil
}

// newColoring checks what is asked for against the file.
func newColoring(f tool.Facts, in ColorInput) (*coloring, error) {
	l, err := newLooking(f, in.Input, in.Output, in.Encoding, in.AudioStream)
	if err != nil {
		return nil, err
	}
	c := &coloring{in: in, l: l}
	l.call = c
	c.output.Reencoded = true
	v := l.video.Video
	switch {
	case in.ToSDR && v.DolbyVision == 5:
		return nil, noBase("to_sdr")
	case in.ToSDR && v.HDR == "" && !in.Force:
		return nil, cutroom.Errorf(cutroom.Invalid, "the picture is of standard range already: its transfer curve is %s", cmp.Or(v.Transfer, "not stated")).
			WithHint("nothing needs tone-mapping; add force to bring it to BT.709 all the same, or state its real curve with retag first")
	case in.ToSDR:
		l.graph.Target.Color = graph.ToSDR
		l.graph.Picture.Tone = graph.Tone{Curve: in.Tonemap, Peak: in.Peak, Desat: in.Desat}
		c.output.Path = "primaries"
		if v.HDR != "" {
			c.output.Path = "tone_mapped"
		}
	case in.LUTMakes == "bt709":
		l.graph.Target.Color, c.output.Path = graph.ToSDR, "table"
	}
	if (in.Correct != Correction{}) {
		t := grade.Transfer(v.HDR)
		matrix := v.MatrixOr()
		if l.graph.Target.Color == graph.ToSDR {
			t, matrix = grade.SDR, "bt709"
		}
		c.grade = in.Correct.grade().For(t, grade.LumaOf(matrix))
	}
	if in.Retag != "" || in.RetagRange != "" || in.StripDovi {
		err = c.copy(v)
	}
	return c, err
}

func noBase(what string) error {
	return cutroom.Errorf(cutroom.Invalid, "the picture is Dolby Vision of profile 5: without that layer its colours mean something else, so that %s would give wrong ones", what).
		WithHint("ask for the recording in profile 8, or in HDR10")
}

// plan plans the edit with what is known by now.
func (c *coloring) plan() (tool.Plan, error) {
	p := c.l.graph.Picture
	p.Looks = nil
	if c.table.File != "" {
		p.Looks = append(p.Looks, c.table)
	}
	if (c.in.Correct != Correction{}) {
		p.Looks = append(p.Looks, graph.Correct{File: correctFile, Grade: c.grade, Curve: c.in.Correct.Curves})
	}
	return c.l.plan(ffmpeg.BesideOptions{Raw: p.Copy}, c.judge)
}

// retagged reports whether tags are all that changes though the picture is encoded anew.
func (c *coloring) retagged() bool { return c.in.Retag != "" || c.in.RetagRange != "" }

// judge measures both sides and holds what was asked for against what came out.
func (c *coloring) judge() []cutroom.Verified {
	b, m := c.l.beside, &c.output.Measurements
	before, after := c.l.video.Video, c.l.result.Probe.FirstVideo().Video
	m.Input = ffmpeg.LevelsOf(b.Source, grade.LumaOf(before.MatrixOr()))
	m.Output = ffmpeg.LevelsOf(b.Made, grade.LumaOf(after.MatrixOr()))
	switch {
	case c.l.graph.Picture.Copy:
		return c.judgeCopy(b, after)
	case c.in.ToSDR:
		ok := after.HDR == "" && after.Transfer == "bt709" && after.Matrix == "bt709" && after.Primaries == "bt709"
		rows := []cutroom.Verified{{Check: "standard_range", Stream: "video", OK: ok, Expected: "BT.709, no high dynamic range", Measured: fmt.Sprintf("%s, %s, %s", after.Transfer, after.Primaries, after.Matrix)}}
		dark := m.Output.High < 5 && m.Input.High >= 15
		return append(rows, cutroom.Verified{Check: "brightness", Stream: "video", OK: !dark, Expected: "not black where the input is not", Measured: fmt.Sprintf("bright parts at %.1f %%", m.Output.High), Unit: "%"})
	case c.in.Correct.Curves != "":
		return nil // what ffmpeg's curve makes is not told here; the proof compared every frame with what was encoded
	}
	mean, worst := b.Apart(c.expected)
	return []cutroom.Verified{{
		Check: "colors", Stream: "video", OK: mean <= colorsApart && worst <= 2*colorsApart, Expected: fmt.Sprintf("what the request makes of the input, within %g of 255", colorsApart),
		Measured: fmt.Sprintf("%.2f apart in the mean, %.2f in the worst frame", mean, worst),
	}}
}

// colorsApart is how far the means of small blocks may lie from what was asked for: what
// encoding and colour at half resolution change.
const colorsApart = 4.0

// expected is what the request makes of a colour of the input.
func (c *coloring) expected(p [3]float64) [3]float64 {
	if t := c.table.Cube; t != nil {
		p = t.At(p)
	}
	if (c.in.Correct != Correction{}) {
		p = c.grade.At(p)
	}
	return p
}

// judgeCopy demands that no sample changed.
func (c *coloring) judgeCopy(b ffmpeg.Beside, after *ffmpeg.VideoFacts) []cutroom.Verified {
	same := b.Identical()
	rows := []cutroom.Verified{{Check: "samples", Stream: "video", OK: same, Expected: fmt.Sprintf("%d frames as in the input", besides), Measured: map[bool]string{true: "the same", false: "others"}[same]}}
	if c.in.StripDovi {
		rows = append(rows, cutroom.Verified{Check: "dolby_vision", Stream: "video", OK: after.DolbyVision == 0, Expected: "none", Measured: map[bool]string{true: "none", false: fmt.Sprintf("profile %d", after.DolbyVision)}[after.DolbyVision == 0]})
	}
	return rows
}

// retags are what each choice states.
var retags = map[string]graph.Retag{
	"bt709":      {Matrix: "bt709", Primaries: "bt709", Transfer: "bt709"},
	"bt601":      {Matrix: "smpte170m", Primaries: "smpte170m", Transfer: "smpte170m"},
	"bt2020":     {Matrix: "bt2020nc", Primaries: "bt2020", Transfer: "bt2020-10"},
	"bt2020-pq":  {Matrix: "bt2020nc", Primaries: "bt2020", Transfer: "smpte2084"},
	"bt2020-hlg": {Matrix: "bt2020nc", Primaries: "bt2020", Transfer: "arib-std-b67"},
}

// copy plans a copy of the packets that states other colours, or leaves a layer out.
func (c *coloring) copy(v *ffmpeg.VideoFacts) error {
	p := c.l.graph.Picture
	t := retags[c.in.Retag]
	if c.in.Retag == "bt601" && v.Height == 576 {
		t.Matrix, t.Primaries = "bt470bg", "bt470bg"
	}
	t.Range = map[string]string{"limited": "tv", "full": "pc"}[c.in.RetagRange]
	if c.in.StripDovi {
		switch {
		case v.DolbyVision == 5:
			return noBase("strip_dovi")
		case v.DolbyVision == 0 && !c.in.Force:
			return cutroom.Errorf(cutroom.Invalid, "the file states no Dolby Vision").WithHint("nothing is to be taken out; add force to look for it in the packets all the same")
		}
		p.StripDolby = true
	}
	if c.retagged() && !graph.CanRetag(&c.l.facts.Abilities, c.l.video.CodecName, t) {
		return c.recode(t)
	}
	if c.retagged() {
		p.Retag = &t
	}
	p.Copy, c.output.Reencoded = true, false
	if c.in.Codec != "" || c.in.Quality > 0 {
		return cutroom.Errorf(cutroom.Invalid, "the picture is copied: codec and quality count for nothing").WithHint("leave them out")
	}
	return nil
}

// recode encodes the picture anew as if it had stated those colours.
func (c *coloring) recode(t graph.Retag) error {
	if c.in.StripDovi {
		return cutroom.Errorf(cutroom.Invalid, "the picture is %s: a layer of Dolby Vision can be taken out of HEVC only", c.l.video.CodecName).WithHint("leave strip_dovi out")
	}
	d := *c.l.file.Media
	d.Streams = append([]ffmpeg.Stream(nil), d.Streams...)
	for i := range d.Streams {
		if s := &d.Streams[i]; s.Index == c.l.video.Index {
			v := *s.Video
			v.Range, v.Matrix, v.Primaries, v.Transfer = cmp.Or(t.Range, v.Range), cmp.Or(t.Matrix, v.Matrix), cmp.Or(t.Primaries, v.Primaries), cmp.Or(t.Transfer, v.Transfer)
			v.HDR = ffmpeg.RangeOf(v.Transfer)
			s.Video = &v
		}
	}
	c.l.graph.Sources[0].Media, c.l.file.Media = &d, &d
	c.output.Notes = append(c.output.Notes, fmt.Sprintf("the packets of %s cannot be told other colours: the picture was encoded anew", c.l.video.CodecName))
	return nil
}

func colored(_ tool.Facts, _ ColorInput, r tool.Results) (ColorOutput, error) {
	l, ok := r.State().(*looking)
	if !ok {
		return ColorOutput{}, fmt.Errorf("the picture was not rendered")
	}
	c, ok := l.call.(*coloring)
	if !ok {
		return ColorOutput{}, fmt.Errorf("another call's state")
	}
	err := l.rendered(&c.output.Made, r)
	return c.output, err
}
