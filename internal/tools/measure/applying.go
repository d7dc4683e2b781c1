package measure

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/align"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// applying is a call that aligns a file: it measures, encodes, and measures what was
// written.
type applying struct {
	*tool.Aligning
	facts  tool.Facts
	in     SyncApplyInput
	target graph.Target

	found  Alignment
	ratio  ffmpeg.Rational // at which the second is played; 1 when its clock is left
	begins cutroom.Micros  // where on the reference's time the written file begins
	render *graph.Render
	again  *tool.Aligning // of the written file
}

// write is the plan once the match is known: encode, then measure again.
func (st *applying) write() (tool.Plan, error) {
	m := st.Matches[0]
	if st.found = aligned(m, st.in.MaxOffset); !st.found.Matched {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "nothing is written: %s", st.found.Reason).
			WithHint("give recordings of the same event, compare more of them with analyze_seconds, or set the offset by hand with edit.cut")
	}
	g, err := st.graph(m)
	if err != nil {
		return tool.Plan{}, err
	}
	if st.render, err = graph.NewRender(g, st.facts.Abilities); err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(st.render, st, func(tool.Results) (tool.Plan, error) { return st.measureAgain() })
}

// pictured refuses an output that looks like a video and would hold sound alone.
func (st *applying) pictured() error {
	ref, second := st.facts.Inputs[0], st.facts.Inputs[1]
	suffix := strings.ToLower(filepath.Ext(string(st.in.Output)))
	from := second
	if st.in.ReplaceAudio {
		from = ref
	}
	if from.Media.FirstVideo() != nil || !graph.HoldsPicture(st.target.Container) || suffix == ".m4a" || suffix == strings.ToLower(filepath.Ext(from.Name)) {
		return nil
	}
	e := cutroom.Errorf(cutroom.Invalid, "%s has no picture: a %s file of it would hold sound alone", from.Text, suffix)
	if ref.Media.FirstVideo() != nil {
		return e.WithHint("add replace_audio to write the reference's picture with this sound, or give output the suffix of a sound file, such as .wav")
	}
	return e.WithHint("give output the suffix of a sound file, such as .wav")
}

// graph is the edit that puts the match into effect.
func (st *applying) graph(m align.Match) (graph.Graph, error) {
	ref, second := st.facts.Inputs[0], st.facts.Inputs[1]
	st.ratio, st.begins = ffmpeg.Rational{Num: 1, Den: 1}, 0
	if st.in.FixDrift && st.found.Drift != nil {
		st.ratio = graph.ClockRatio(m.Drift)
	}
	keep := graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true}
	if st.in.ReplaceAudio {
		sound, err := second.Media.AudioStream(0)
		if err != nil {
			return graph.Graph{}, err
		}
		// A bed counts from its first sample, which may lie behind the file's zero.
		first := max(0, sound.StartSeconds)
		bed := &graph.Bed{Source: 1, Offset: cutroom.MicrosOf(m.Reference(first.Seconds())), Speed: st.ratio}
		g := graph.Graph{
			Sources: []graph.Source{ref.AsSource(), second.AsSource()}, Clips: []graph.Clip{{}}, Target: st.target, Keep: keep,
			Sound: &graph.Sound{Work: &graph.Work{Replace: bed}},
		}
		if ref.Media.FirstVideo() != nil && graph.HoldsPicture(st.target.Container) {
			g.Picture = &graph.Picture{Copy: true}
		} else {
			g.Sound.Tracks = graph.OneTrack
		}
		return g, nil
	}
	clip := graph.Clip{Speed: st.ratio, Resample: true, Exact: true, Start: cutroom.MicrosOf(max(0, m.Second(0)))}
	switch {
	case st.in.TrimSecond:
		st.begins = cutroom.MicrosOf(max(0, m.Offset))
		if ends := ref.Media.DurationSeconds; ends > 0 {
			clip.End = min(second.Media.DurationSeconds, cutroom.MicrosOf(m.Second(ends.Seconds())))
		}
	case m.Offset > 0:
		clip.Lead = cutroom.MicrosOf(m.Offset)
	}
	g := graph.Graph{Sources: []graph.Source{second.AsSource()}, Clips: []graph.Clip{clip}, Target: st.target, Keep: keep, Sound: &graph.Sound{}}
	if second.Media.FirstVideo() != nil && graph.HoldsPicture(st.target.Container) {
		g.Picture = &graph.Picture{}
	}
	return g, nil
}

// measureAgain is the plan that listens to the written file beside the reference.
func (st *applying) measureAgain() (tool.Plan, error) {
	res, err := st.render.Result()
	if err != nil {
		return tool.Plan{}, err
	}
	demuxer, _, _ := strings.Cut(res.Probe.FormatName, ",")
	written := ffmpeg.Hearing{Format: ffmpeg.MadeFormat(st.target.File, demuxer), Media: res.Probe}
	st.again = st.Again(written)
	return tool.Follow(st.again, st, nil)
}

// mostResidual is how far the written file may lie from the reference.
const mostResidual = 0.010

// verified are the rows about how the written file lies to the reference, or a
// verification error.
func (st *applying) verified() ([]cutroom.Verified, error) {
	m := st.again.Matches[0]
	// The residual at the beginning of the overlap, and at its end where the clock was
	// corrected.
	at := func(reference float64) float64 { return m.Second(reference) - (reference - st.begins.Seconds()) }
	row := func(check string, residual float64) cutroom.Verified {
		return cutroom.Verified{
			Check: check, OK: m.Found && math.Abs(residual) <= mostResidual, Stream: "audio 0", Unit: "s",
			Expected: fmt.Sprintf("0 ± %g", mostResidual), Measured: cutroom.MicrosOf(residual).String(),
		}
	}
	rows := []cutroom.Verified{row("offset_to_reference", at(m.From))}
	if st.in.FixDrift {
		rows = append(rows, row("offset_to_reference_at_end", at(m.To)))
	}
	if !m.Found {
		for i := range rows {
			rows[i].Measured = "no confident match"
		}
	}
	return rows, proof.Failure(rows)
}

// foreseen are the runs that follow the measuring, for a dry run: what depends on the
// offset is not known yet.
func (st *applying) foreseen() ([]argv.Command, error) {
	g, err := st.graph(align.Match{Found: true})
	if err != nil {
		return nil, err
	}
	r, err := graph.NewRender(g, st.facts.Abilities)
	if err != nil {
		return nil, err
	}
	var list []argv.Command
	for _, c := range r.Planned() {
		for i, a := range c.Args {
			if _, is := a.(argv.Graph); is {
				c.Args[i] = argv.Graph("<measured>")
			}
		}
		list = append(list, c)
	}
	return list, nil
}
