package edit

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/rhythm"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/smartcut"
	"cutroom/internal/tool"
)

// cutting is one call of edit.cut while it goes on.
type cutting struct {
	facts  tool.Facts
	in     CutInput
	file   tool.Input
	target graph.Target
	asked  []edl.Range // a zero end is the end of the recording
	parts  []edl.Range // after snapping
	moved  []SnappedEnd
	notes  []string
	job    *smartcut.Job
	render *graph.Render
	why    string // why the cut is encoded as a whole
}

// parts are the parts that are kept, on the public axis, within the recording.
func (in CutInput) parts(d *ffmpeg.Document) ([]edl.Range, error) {
	list := []edl.Range{{}}
	var err error
	if len(in.Segments) > 0 {
		for i, s := range in.Segments {
			if strings.ContainsAny(s, "#\n\r") || strings.TrimSpace(s) == "" {
				return nil, cutroom.Errorf(cutroom.Invalid, "segment %d (%q) is not START-END", i+1, s).WithHint("write it as 10-25.5 or 00:00:10-00:00:25.5")
			}
		}
		if list, err = edl.ParseCuts(strings.Join(in.Segments, "\n"), d.Moment); err != nil {
			e := cutroom.AsError(err)
			return nil, cutroom.Errorf(cutroom.Invalid, "%s", strings.Replace(e.Msg, "line ", "segment ", 1)).WithHint("write each segment as START-END, such as 10-25.5 or 00:00:10-00:00:25.5; each is given for itself: the flag is repeated")
		}
	} else if list[0], err = in.part(d); err != nil {
		return nil, err
	}
	length := d.DurationSeconds
	for i := range list {
		p := &list[i]
		switch {
		case length > 0 && p.Start >= length:
			return nil, cutroom.Errorf(cutroom.Invalid, "the start %s s lies behind the end of the recording, which is %s s long", p.Start, length).
				WithHint("choose a start within the recording")
		case length > 0 && p.End > length+cutroom.Second/10:
			return nil, cutroom.Errorf(cutroom.Invalid, "the end %s s lies behind the end of the recording, which is %s s long", p.End, length).
				WithHint("leave the end out for the end of the recording")
		case length > 0 && p.End >= length:
			p.End = 0
		}
	}
	return list, nil
}

// part is the one that start, end and duration name.
func (in CutInput) part(d *ffmpeg.Document) (r edl.Range, err error) {
	if in.Start != "" {
		if r.Start, err = d.Moment(in.Start); err != nil {
			return r, err
		}
	}
	switch {
	case in.End != "":
		if r.End, err = d.Moment(in.End); err != nil {
			return r, err
		}
	case in.Duration != "":
		length := in.Duration
		if _, plain := length.Plain(); !plain && !strings.Contains(string(length), "@") {
			if v := d.FirstVideo(); v != nil && v.Video.FrameRate.Known() { // counted from zero, not from the recording's own timecode
				length += cutroom.Moment("@" + v.Video.FrameRate.String())
			}
		}
		n, err := d.Moment(length)
		if err != nil {
			return r, err
		}
		r.End = r.Start + n
	default:
		if r.Start < 0 {
			return r, cutroom.Errorf(cutroom.Invalid, "the start %s s lies before the recording", r.Start).WithHint("give a start from 0 on")
		}
		return r, nil
	}
	if r.Start < 0 {
		return r, cutroom.Errorf(cutroom.Invalid, "the start %s s lies before the recording", r.Start).WithHint("give a start from 0 on")
	}
	if r.End <= r.Start {
		return r, cutroom.Errorf(cutroom.Invalid, "the end %s s has to lie behind the start %s s", r.End, r.Start).WithHint("give an end behind the start")
	}
	return r, nil
}

// seen reports whether the output has a picture.
func (c *cutting) seen() bool {
	return c.file.Media.FirstVideo() != nil && !soundAlone(c.in.Output, c.target)
}

// end is where a part ends.
func (c *cutting) end(r edl.Range) cutroom.Micros {
	if r.End > 0 {
		return r.End
	}
	if v := c.file.Media.FirstVideo(); v != nil && v.EndSeconds > 0 && c.seen() {
		return v.EndSeconds
	}
	return c.file.Media.DurationSeconds
}

// plan measures where snapping needs it, then cuts.
func (c *cutting) plan() (tool.Plan, error) {
	m, finish, err := c.measure()
	if err != nil {
		return tool.Plan{}, err
	}
	if m == nil {
		return c.cut()
	}
	p, err := tool.Follow(m, c, func(tool.Results) (tool.Plan, error) {
		if err := c.snap(finish()); err != nil {
			return tool.Plan{}, err
		}
		return c.cut()
	})
	if err != nil {
		return p, err
	}
	later, err := c.later()
	p.Later = append(p.Later, later...)
	return p, err
}

// targets are what to snap to: spans of no length are moments. sure is how sure they
// are where that can be said.
type targets struct {
	spans []edl.Range
	sure  float64 // 0–1
}

// moments are targets without length.
func moments(times []cutroom.Micros, sure float64) targets {
	t := targets{sure: sure}
	for _, at := range times {
		t.spans = append(t.spans, edl.Range{Start: at, End: at})
	}
	return t
}

// around are the places of the targets that are nearest to at: at itself inside of one.
func (t targets) around(at cutroom.Micros) []cutroom.Micros {
	var list []cutroom.Micros
	for _, s := range t.spans {
		list = append(list, min(max(at, s.Start), s.End))
	}
	slices.Sort(list)
	return list
}

// measure is the run that finds what to snap to, and what it found; nil without snap.
func (c *cutting) measure() (m *ffmpeg.Measure, finish func() targets, err error) {
	o := ffmpeg.MeasureOptions{Abilities: &c.facts.Abilities}
	switch c.in.Snap {
	case "scenes":
		o.Scenes = true
		finish = func() targets {
			var times []cutroom.Micros
			for _, s := range m.Signals().Video.Changes {
				times = append(times, s.Seconds)
			}
			return moments(times, 1)
		}
	case "silence":
		o.Silence = true
		finish = func() targets {
			t := targets{sure: 1}
			for _, s := range m.Signals().Audio.Silence {
				t.spans = append(t.spans, edl.Range{Start: s.StartSeconds, End: s.EndSeconds})
			}
			return t
		}
	case "beats":
		a, err := c.file.Media.AudioStream(0)
		if err != nil {
			return nil, nil, err
		}
		on := rhythm.NewOnsets(a.Audio.SampleRate, 0)
		o.Hear = on.Add
		finish = func() targets {
			b := rhythm.FindBeats(on.Envelope(m.Signals().StartSeconds), rhythm.BeatOptions{})
			return moments(b.Times, b.Confidence)
		}
	default:
		return nil, nil, nil
	}
	m, err = ffmpeg.NewMeasure(c.file.Index, c.file.Format, c.file.Media, o)
	return m, finish, err
}

// snap moves the ends of the parts, but for the recording's own.
func (c *cutting) snap(t targets) error {
	floor := 0.5
	if c.in.MinConfidence != nil {
		floor = *c.in.MinConfidence
	}
	if c.in.Snap == "beats" && t.sure < floor {
		return cutroom.Errorf(cutroom.Precondition, "the beat is not sure enough to snap to: confidence %.2f, at least %.2f is wanted", t.sure, floor).
			WithHint("cut without snap, or lower min_confidence")
	}
	within := c.in.SnapTolerance
	if within == 0 {
		within = 500_000
		if c.in.Snap == "beats" {
			within = 120_000
		}
	}
	for i := range c.parts {
		p := c.parts[i]
		n := len(c.moved)
		p.Start, p.End = c.move(p.Start, t, within), c.move(p.End, t, within)
		if p.End > 0 && p.End <= p.Start { // both went to one place
			c.moved = c.moved[:n]
			c.notes = append(c.notes, fmt.Sprintf("part %d was not moved: snap would leave nothing of it", i+1))
			continue
		}
		c.parts[i] = p
	}
	return nil
}

// move is where an end comes to lie; one that stays is a note. The recording's own ends
// are 0, and stay.
func (c *cutting) move(at cutroom.Micros, t targets, within cutroom.Micros) cutroom.Micros {
	if at == 0 {
		return at
	}
	what := map[string]string{"silence": "silence", "scenes": "change of scene", "beats": "beat"}[c.in.Snap]
	s := rhythm.Snap([]cutroom.Micros{at}, t.around(at), within)[0]
	switch {
	case s.To != at:
		c.moved = append(c.moved, SnappedEnd{at, s.To})
	case s.Moved:
		c.notes = append(c.notes, fmt.Sprintf("%s s was not moved: a %s is there already", at, what))
	default:
		c.notes = append(c.notes, fmt.Sprintf("%s s was not moved: no %s lies within %s s (snap_tolerance)", at, what, within))
	}
	return s.To
}

// cut plans the cut itself: by packets, and by encoding everything where that is asked
// for or packets will not do.
func (c *cutting) cut() (tool.Plan, error) {
	if c.in.Mode == "accurate" || !c.seen() {
		return c.encode()
	}
	if err := c.begin(); err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(c.job, c, func(tool.Results) (tool.Plan, error) { return c.after() })
	p.Later = append(p.Later, c.job.Planned()...)
	return p, err
}

func (c *cutting) begin() error {
	src := smartcut.Source{Input: c.file.Index, Format: c.file.Format, Media: c.file.Media, Name: c.file.Name, SHA256: c.file.Source}
	var spans []smartcut.Span
	for _, p := range c.parts {
		spans = append(spans, smartcut.Span{Start: p.Start, End: p.End})
	}
	var err error
	c.job, err = smartcut.New(src, spans, smartcut.Target{File: c.target.File, Container: c.target.Container}, smartcut.Options{Copy: c.in.Mode == "copy"}, c.facts.Abilities)
	return err
}

// after goes on when the job ended: with nothing, or with encoding.
func (c *cutting) after() (tool.Plan, error) {
	why := c.job.Reason()
	if why == "" {
		return tool.Plan{State: c}, c.near()
	}
	if c.in.Mode == "copy" {
		return tool.Plan{}, cutroom.Errorf(cutroom.Precondition, "the part cannot be copied: %s", why).WithHint("use mode smart or accurate")
	}
	c.why = why
	return c.encode()
}

// near refuses a copy that begins too far from where it was asked to.
func (c *cutting) near() error {
	most := 0.5
	if c.in.Tolerance != nil {
		most = *c.in.Tolerance
	}
	if c.in.Mode != "copy" || most < 0 {
		return nil
	}
	res, err := c.job.Result()
	if err != nil {
		return err
	}
	for i, s := range res.Segments {
		if early := s.Asked - s.Start; early.Seconds() > most {
			hint := fmt.Sprintf("use mode smart, or tolerance -1; a key frame lies at %s", s.Start)
			if s.Nearest.After != nil {
				hint += fmt.Sprintf(", the next at %s", *s.Nearest.After)
			}
			return cutroom.Errorf(cutroom.Precondition, "part %d would begin %s s early, with its key frame: more than the tolerance of %g s", i+1, early, most).WithHint("%s", hint)
		}
	}
	return nil
}

// encode plans the cut through the graph, which encodes everything.
func (c *cutting) encode() (tool.Plan, error) {
	var err error
	if c.render, err = graph.NewRender(c.graph(), c.facts.Abilities); err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(c.render, c, nil)
	if all := c.render.Planned(); len(all) > 1 {
		p.Later = append(p.Later, all[1:]...)
	}
	return p, err
}

func (c *cutting) graph() graph.Graph {
	g := graph.Graph{Sources: []graph.Source{c.file.AsSource()}, Target: c.target, Keep: graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true}}
	g.Target.Video.Quality = c.in.Quality
	for _, p := range c.parts {
		g.Clips = append(g.Clips, graph.Clip{Start: p.Start, End: p.End})
	}
	if len(c.file.Media.AudioStreams()) > 0 {
		g.Sound = &graph.Sound{}
	}
	if c.seen() {
		g.Picture = &graph.Picture{}
	}
	return g
}

// later are the runs of the cut, for a dry run that has not measured.
func (c *cutting) later() ([]argv.Command, error) {
	probe := *c
	p, err := probe.cut()
	return slices.Concat(p.Steps, p.Later), err
}

// encoded answers a cut that was encoded as a whole.
func (c *cutting) encoded(out *CutOutput) error {
	res, err := c.render.Result()
	if err != nil {
		return err
	}
	out.Mode, out.Reencoded = "accurate", true
	if c.graph().Picture == nil {
		out.Precision = "sample"
	}
	out.Verified, out.Probe, out.EditMap, out.Dropped, out.Notes = res.Verified, res.Probe, res.Map, res.Dropped, res.Notes
	for i, s := range res.Map.Segments {
		part := CutSegment{Start: s.SourceStart, End: s.SourceEnd, Reason: c.why}
		if i < len(c.parts) {
			part.RequestedStart, part.RequestedEnd = c.asked[i].Start, c.end(c.asked[i])
		}
		out.Segments = append(out.Segments, part)
	}
	return nil
}

// copied answers a cut by packets.
func (c *cutting) copied(out *CutOutput) error {
	res, err := c.job.Result()
	if err != nil {
		return err
	}
	out.Verified, out.Probe, out.EditMap, out.Dropped, out.Notes = res.Verified, res.Probe, res.Map, res.Dropped, res.Notes
	if c.in.Mode == "copy" {
		out.Precision = "packet"
	}
	merged := len(res.Segments) != len(c.parts)
	for i, s := range res.Segments {
		part := CutSegment{RequestedStart: s.Asked, RequestedEnd: s.End, Start: s.Start, End: s.End, Frames: s.Frames, Copied: s.Copied, Encoded: s.Encoded, Reason: s.Why}
		if !merged {
			part.RequestedStart, part.RequestedEnd = c.asked[i].Start, c.end(c.asked[i])
		}
		out.Segments = append(out.Segments, part)
		out.KeyframeSnapped = out.KeyframeSnapped || s.Start < s.Asked
		out.NearestKeyframes = append(out.NearestKeyframes, KeyframePair{s.Nearest.Before, s.Nearest.After})
		if s.Why != "" {
			out.ReencodeReason = s.Why
		}
		if b := s.Nearest.Before; c.in.Mode == "smart" && s.Encoded > 0 && b != nil && out.Lossless == "" && *b < s.Start {
			out.Lossless = fmt.Sprintf("mode copy begins at %s s", *b)
		}
	}
	return nil
}
