package edit

import (
	"fmt"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// match is a place of the written file that shows a part of another one, and is compared
// with it.
type match struct {
	file tool.Input
	name string    // of the place, for the answer
	box  graph.Box // of the frame
	mask graph.Box // of the place: something is drawn over it there
	fit  graph.Fit
	// When it shows in the edit, and from which time of the file on.
	start, end, from cutroom.Micros
	// The edit's own frames: when the one at a time of the edit begins.
	frame func(cutroom.Micros) cutroom.Micros
}

// mostUnlike is the largest share of a place that may differ from where it comes from:
// what scaling in one step or in two, and encoding, do to hard edges.
const mostUnlike = 0.02

// compare looks at the places that show other files.
func (d *drawing) compare(state any, res graph.Result) (tool.Plan, error) {
	var steps []argv.Command
	for i := range d.matches {
		m := &d.matches[i]
		if !m.comparable(res) {
			continue
		}
		cmd, err := ffmpeg.NewInk(d.matchOptions(m, res))
		if err != nil {
			return tool.Plan{State: state}, err
		}
		cmd.Step = fmt.Sprintf("match-%d", i)
		steps = append(steps, cmd)
	}
	if len(steps) == 0 {
		return tool.Plan{State: state}, nil
	}
	return tool.Plan{State: state, Steps: steps, Then: func(r tool.Results) (tool.Plan, error) {
		return tool.Plan{State: state}, d.judgeMatches(r)
	}}, nil
}

// comparable reports whether a place can be compared with its source: frames at even
// distances, no transparency, and colours that were kept.
func (m *match) comparable(res graph.Result) bool {
	v, made := m.file.Media.FirstVideo().Video, res.Probe.FirstVideo()
	return !v.Alpha && made != nil && v.HDR == made.Video.HDR && (v.StillImage || v.FrameRate.Known() && !v.VFR.Variable) && m.end-m.start > cutroom.Second/5
}

// matchOptions are three moments of a place.
func (d *drawing) matchOptions(m *match, res graph.Result) ffmpeg.InkOptions {
	v := m.file.Media.FirstVideo().Video
	made := res.Probe.FirstVideo()
	w, h := m.box.Width, m.box.Height
	o := ffmpeg.InkOptions{
		Source: m.file.Format, SourceDoc: m.file.Media, Input: m.file.Index, Made: ffmpeg.MadeFormat(d.target.File, madeBy(d.target.Container)), MadeDoc: res.Probe,
		Width: w, Height: h, Safe: ffmpeg.InkAt{X: m.mask.X, Y: m.mask.Y, Width: m.mask.Width, Height: m.mask.Height}, Abilities: &d.f.Abilities, Colors: true, Least: 48, Stage: "comparing what is shown with where it comes from",
		MadeLook: []string{fmt.Sprintf("crop=%d:%d:%d:%d:exact=1", w, h, m.box.X, m.box.Y)},
	}
	in, out := scaleName(v.MatrixOr()), scaleName(made.Video.MatrixOr())
	switch {
	case v.RGB():
		o.SourceLook = append(o.SourceLook, "scale=iw:ih:out_color_matrix="+out+":out_range=limited:flags=accurate_rnd+full_chroma_int,format=yuv444p")
	case in != out || v.FullRange():
		rng := "limited"
		if v.FullRange() {
			rng = "full"
		}
		o.SourceLook = append(o.SourceLook, "scale=iw:ih:in_color_matrix="+in+":in_range="+rng+":out_color_matrix="+out+":out_range=limited:flags=accurate_rnd+full_chroma_int,format=yuv444p")
	}
	o.SourceLook = append(o.SourceLook, graph.Framed(m.fit, v.DisplayWidth, v.DisplayHeight, w, h)...)
	for k := range 3 {
		at := m.start + (m.end-m.start)*cutroom.Micros(2*k+1)/6
		shown := m.frame(at) // when the frame that is on screen at that time began
		from := cutroom.Micros(0)
		if !v.StillImage {
			from = max(0, graph.OnFrame(m.file.Media, m.from+max(0, shown-m.start))-cutroom.Second/500)
		}
		o.Samples = append(o.Samples, ffmpeg.InkAt{At: max(0, shown-cutroom.Second/500) + made.StartSeconds, From: from, X: m.mask.X, Y: m.mask.Y, Width: m.mask.Width, Height: m.mask.Height})
	}
	return o
}

// scaleName is a matrix as the scale filter calls it.
func scaleName(matrix string) string {
	switch matrix {
	case "smpte170m", "bt470bg":
		return "bt601"
	case "bt2020nc":
		return "bt2020"
	}
	return "bt709"
}

// judgeMatches says how much the places differ from where they come from.
func (d *drawing) judgeMatches(r tool.Results) error {
	for i, m := range d.matches {
		step, ok := r.Step(fmt.Sprintf("match-%d", i))
		if !ok || len(step.Values) == 0 {
			continue
		}
		list, _ := step.Values[0].([]ffmpeg.Ink)
		most, drawn := 0.0, true
		for _, ink := range list {
			most = max(most, float64(ink.Outside)/float64(max(1, ink.Pixels)))
			drawn = drawn && (m.mask.Width == 0 || ink.Share >= leastInk)
		}
		row := cutroom.Verified{
			Check: "shows_its_source", OK: len(list) == 3 && most <= mostUnlike, Expected: fmt.Sprintf("%s as it is in its file, but for %.0f %% of its pixels", m.name, 100*mostUnlike),
			Measured: fmt.Sprintf("%.2f %% differ, at %d moments", 100*most, len(list)), Stream: "video",
		}
		d.made.Verified = append(d.made.Verified, row)
		if m.mask.Width > 0 {
			d.made.Verified = append(d.made.Verified, cutroom.Verified{Check: "drawn_visible", OK: drawn, Expected: "the label of " + m.name + " in its place", Measured: fmt.Sprintf("seen: %t", drawn), Stream: "video"})
		}
		if row.OK {
			row = d.made.Verified[len(d.made.Verified)-1]
		}
		if !row.OK {
			return cutroom.Errorf(cutroom.Verification, "%s: expected %s, measured %s", row.Check, row.Expected, row.Measured).WithHint("`cutroom look` shows the frames")
		}
	}
	return nil
}
