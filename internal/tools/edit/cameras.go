package edit

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/align"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/proof"
	"cutroom/internal/rhythm"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// cameras is one multicam edit being planned.
type cameras struct {
	in      MulticamInput
	facts   tool.Facts
	files   []tool.Input
	shown   []int // the inputs with a picture
	length  cutroom.Micros
	rate    ffmpeg.Rational
	target  graph.Target
	heard   *tool.Aligning
	matches []align.Match // how each lies to the reference, which lies at zero
	levels  map[int][]float64
	shots   []shot
	notes   []string
	render  *graph.Render
	again   *tool.Aligning
}

// open finds the inputs and names all that cannot be used at once.
func (m *cameras) open() error {
	var problems []string
	for i, p := range m.in.Inputs {
		file, err := m.facts.Named(p)
		if err != nil {
			return err
		}
		m.files = append(m.files, file)
		if _, err := moving(file.Media); err == nil {
			m.shown = append(m.shown, i)
		} else if i == 0 {
			problems = append(problems, fmt.Sprintf("%s, the reference, has no picture", p))
		}
		if len(file.Media.AudioStreams()) == 0 && (len(m.in.Offsets) == 0 || i == m.in.Audio) {
			problems = append(problems, fmt.Sprintf("%s has no sound", p))
		}
	}
	for _, s := range m.in.Switch {
		if _, _, c, err := parseShot(s); err == nil && !slices.Contains(m.shown, c) {
			problems = append(problems, fmt.Sprintf("%q names %s, which has no picture", s, m.in.Inputs[c]))
		}
	}
	if len(problems) > 0 {
		return cutroom.Errorf(cutroom.Invalid, "%s", strings.Join(problems, "; ")).WithHint("give recordings with sound, the first one a video; give offsets for cameras without sound")
	}
	return m.form()
}

// form decides rate, length and file.
func (m *cameras) form() (err error) {
	v := m.files[0].Media.FirstVideo()
	if m.length = v.EndSeconds; m.length <= 0 {
		m.length = m.files[0].Media.DurationSeconds
	}
	if m.rate, err = rate(m.in.FPS); err != nil {
		return err
	}
	if !m.rate.Known() {
		if m.rate = graph.EvenRate(v.Video); !m.rate.Known() {
			return cutroom.Errorf(cutroom.Invalid, "the reference states no frame rate").WithHint("give fps")
		}
	}
	if m.in.OffsetsOnly {
		return nil
	}
	m.target, err = m.in.target(m.in.Output)
	return err
}

// plan listens, where offsets are not given, then goes on.
func (m *cameras) plan() (tool.Plan, error) {
	if len(m.in.Offsets) > 0 {
		m.matches = []align.Match{{Found: true, Confidence: 1}}
		for _, o := range m.in.Offsets {
			m.matches = append(m.matches, align.Match{Found: true, Confidence: 1, Offset: o})
		}
		return m.weigh(0)
	}
	length := m.in.Analyze
	if length == 0 {
		length = 240 * cutroom.Second
	}
	var err error
	if m.heard, err = tool.NewAligning(m.files, length); err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(m.heard, m, func(tool.Results) (tool.Plan, error) { return m.aligned() })
	if err != nil {
		return p, err
	}
	list, err := m.heard.Planned()
	if err != nil || m.in.OffsetsOnly {
		return p, err
	}
	p.Later = append(slices.Clone(list[1:]), m.foreseen()...)
	return p, nil
}

// aligned takes what was heard: every recording has to fit.
func (m *cameras) aligned() (tool.Plan, error) {
	m.matches = append([]align.Match{{Found: true, Confidence: 1}}, m.heard.Matches...)
	if m.in.OffsetsOnly {
		for i, k := range m.matches {
			if !k.Found {
				m.notes = append(m.notes, fmt.Sprintf("%s: no confident match (%s)", m.in.Inputs[i], k.Reason))
			}
		}
		return tool.Plan{State: m}, nil
	}
	for i, k := range m.matches {
		over := m.in.MaxOffset > 0 && math.Abs(k.Offset) > m.in.MaxOffset.Seconds()
		if k.Found && !over {
			continue
		}
		reason := k.Reason
		if over && k.Found {
			reason = fmt.Sprintf("the best answer, %s s, lies beyond the accepted %s s", cutroom.MicrosOf(k.Offset), m.in.MaxOffset)
		}
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "nothing is written: %s does not fit %s: %s", m.in.Inputs[i], m.in.Inputs[0], reason).
			WithHint("leave it out, compare more with analyze_seconds, or give offsets by hand")
	}
	return m.weigh(0)
}

// weigh measures the levels of camera k and those behind it, for energy.
func (m *cameras) weigh(k int) (tool.Plan, error) {
	if !m.in.Energy || k == len(m.shown) {
		return m.edit()
	}
	i := m.shown[k]
	f := m.files[i]
	run, err := ffmpeg.NewMeasure(f.Index, f.Format, f.Media, ffmpeg.MeasureOptions{Envelope: true, Abilities: &m.facts.Abilities})
	if err != nil {
		return tool.Plan{}, fmt.Errorf("%s: %w", m.in.Inputs[i], err)
	}
	return tool.Follow(&renamed{run, fmt.Sprintf("levels-%d", i)}, m, func(tool.Results) (tool.Plan, error) {
		m.level(i, run.Signals().Audio)
		return m.weigh(k + 1)
	})
}

// level puts a camera's levels on the reference's time and on a scale of its own: a
// twentieth of it is louder than 0.
func (m *cameras) level(i int, a *ffmpeg.AudioSignals) {
	if m.levels == nil {
		m.levels = map[int][]float64{}
	}
	if a == nil || a.Envelope == nil {
		return
	}
	e := a.Envelope
	l := rhythm.Levels{Start: e.Start, Step: e.Step, RMS: e.RMS, Peak: e.Peak}
	var list []float64
	k := m.matches[i]
	for at := cutroom.Micros(0); at < m.length; at += energyStep {
		from, to := cutroom.MicrosOf(k.Second(at.Seconds())), cutroom.MicrosOf(k.Second((at + energyStep).Seconds()))
		v := math.Inf(-1)
		if from >= e.Start && from < e.Start+e.Step*cutroom.Micros(len(e.RMS)) {
			v, _ = l.Between(from, to)
		}
		list = append(list, v)
	}
	sorted := slices.DeleteFunc(slices.Clone(list), func(v float64) bool { return math.IsInf(v, -1) })
	if len(sorted) == 0 {
		return
	}
	slices.Sort(sorted)
	top := sorted[len(sorted)*19/20]
	for i := range list {
		list[i] -= top
	}
	m.levels[i] = list
}

// asked are the shots that the call asks for.
func (m *cameras) asked() (list []shot, err error) {
	switch {
	case m.in.Energy:
		return loudest(m.levels, m.shown, m.length, m.least()), nil
	case m.in.Auto > 0:
		return alternate(m.shown, m.length, m.in.Auto), nil
	}
	ref := m.files[0].Media
	var last cutroom.Micros
	for _, text := range m.in.Switch {
		start, end, camera, err := parseShot(text)
		if err != nil {
			return nil, err
		}
		s := shot{to: m.length, camera: camera}
		if s.from, err = ref.Moment(cutroom.Moment(start)); err != nil {
			return nil, err
		}
		if end != "" {
			if s.to, err = ref.Moment(cutroom.Moment(end)); err != nil {
				return nil, err
			}
		}
		switch {
		case s.to <= s.from || s.from < 0 || s.from >= m.length:
			return nil, cutroom.Errorf(cutroom.Invalid, "%q is no part of the reference, which is %s s long", text, m.length).WithHint("give START-END:CAMERA with an END behind START")
		case s.from < last:
			return nil, cutroom.Errorf(cutroom.Invalid, "%q begins before the one ahead of it ends", text).WithHint("give the shots in order, without overlaps")
		}
		last = s.to
		list = append(list, s)
	}
	return list, nil
}

// onGrid moves the ends of shots to the frames of the edit: no length is rounded then.
func (m *cameras) onGrid(list []shot) []shot {
	at := func(t cutroom.Micros) cutroom.Micros {
		if t >= m.length {
			return m.length
		}
		n := (int64(t)*m.rate.Num + m.rate.Den*500_000) / (m.rate.Den * 1_000_000)
		return cutroom.Micros((n*m.rate.Den*1_000_000 + m.rate.Num/2) / m.rate.Num)
	}
	for i := range list {
		list[i].from, list[i].to = at(list[i].from), at(list[i].to)
	}
	return joined(list)
}

// running is from when to when a camera has pictures, on the reference's time; what is
// less than a frame does not count.
func (m *cameras) running(i int) (from, to cutroom.Micros) {
	if i == 0 {
		return 0, m.length
	}
	v, k := m.files[i].Media.FirstVideo(), m.matches[i]
	end := v.EndSeconds
	if end <= 0 {
		end = m.files[i].Media.DurationSeconds
	}
	frame := cutroom.Micros(1_000_000 * m.rate.Den / m.rate.Num)
	return cutroom.MicrosOf(k.Reference(max(0, v.StartSeconds).Seconds())) + frame/2, cutroom.MicrosOf(k.Reference(end.Seconds())) - frame/2
}

// edit is the plan that switches and encodes.
func (m *cameras) edit() (tool.Plan, error) {
	asked, err := m.asked()
	if err != nil {
		return tool.Plan{}, err
	}
	list, lost := covered(asked, m.length, m.running)
	if lost >= cutroom.Second/10 {
		m.notes = append(m.notes, fmt.Sprintf("for %s s a camera was asked for that was not running: camera 0 shows there", lost))
	}
	m.shots = m.onGrid(list)
	if m.render, err = graph.NewRender(m.graph(), m.facts.Abilities); err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(m.render, m, func(tool.Results) (tool.Plan, error) { return m.listenAgain() })
}

// graph is the edit: one clip for each shot, one recording's sound under them all.
func (m *cameras) graph() graph.Graph {
	g := graph.Graph{Target: m.target, Keep: graph.Keep{Chapters: true, Timecode: true}}
	for _, f := range m.files {
		g.Sources = append(g.Sources, f.AsSource())
	}
	for _, s := range m.shots {
		k := m.matches[s.camera]
		c := graph.Clip{Source: s.camera, Exact: true, Start: max(0, cutroom.MicrosOf(k.Second(s.from.Seconds()))), End: cutroom.MicrosOf(k.Second(s.to.Seconds()))}
		if k.Drift != 0 { // a clock that runs fast would add frames to a long shot
			c.Speed = ffmpeg.Rational{Num: int64(c.End - c.Start), Den: int64(s.to - s.from)}.Reduced()
		}
		g.Clips = append(g.Clips, c)
	}
	first := m.files[0].Media.FirstVideo().Video
	g.Picture = &graph.Picture{Rate: m.rate, Fit: graph.Fit(m.in.Fit), Width: m.in.Width &^ 1, Height: m.in.Height &^ 1}
	if g.Picture.Width == 0 || g.Picture.Height == 0 {
		g.Picture.Width, g.Picture.Height = Generated{Width: m.in.Width, Height: m.in.Height}.size(first.DisplayWidth, first.DisplayHeight, 16384)
	}
	if len(m.files[m.in.Audio].Media.AudioStreams()) == 0 || !graph.HoldsSound(m.target.Container) {
		return g
	}
	k := m.matches[m.in.Audio]
	bed := &graph.Bed{Source: m.in.Audio, Offset: cutroom.MicrosOf(k.Reference(m.soundStart()))}
	if m.in.FixDrift {
		bed.Speed = graph.ClockRatio(k.Drift)
	}
	g.Sound = &graph.Sound{Tracks: graph.OneTrack, Work: &graph.Work{Replace: bed}}
	return g
}

// soundStart is where the first sample of the sound that is heard lies in its file: a bed
// counts from there.
func (m *cameras) soundStart() float64 {
	a, err := m.files[m.in.Audio].Media.AudioStream(0)
	if err != nil {
		return 0
	}
	return max(0, a.StartSeconds).Seconds()
}

// listenAgain measures the written sound against the reference, where it is another's.
func (m *cameras) listenAgain() (tool.Plan, error) {
	if m.in.Audio == 0 || m.heard == nil {
		return tool.Plan{State: m}, nil
	}
	res, err := m.render.Result()
	if err != nil {
		return tool.Plan{}, err
	}
	demuxer, _, _ := strings.Cut(res.Probe.FormatName, ",")
	m.again = m.heard.Again(ffmpeg.Hearing{Format: ffmpeg.MadeFormat(m.target.File, demuxer), Media: res.Probe})
	return tool.Follow(m.again, m, nil)
}

// mostApart is how far the written sound may lie from the reference's, in seconds.
const mostApart = 0.010

// verified is how the written sound lies to the reference.
func (m *cameras) verified() ([]cutroom.Verified, error) {
	if m.again == nil {
		return nil, nil
	}
	k := m.again.Matches[0]
	row := func(check string, residual float64) cutroom.Verified {
		v := cutroom.Verified{
			Check: check, OK: k.Found && math.Abs(residual) <= mostApart, Stream: "audio 0", Unit: "s",
			Expected: fmt.Sprintf("0 ± %g", mostApart), Measured: cutroom.MicrosOf(residual).String(),
		}
		if !k.Found {
			v.Measured = "no confident match"
		}
		return v
	}
	rows := []cutroom.Verified{row("offset_to_reference", k.Second(k.From)-k.From)}
	if m.in.FixDrift {
		rows = append(rows, row("offset_to_reference_at_end", k.Second(k.To)-k.To))
	}
	return rows, proof.Failure(rows)
}

// foreseen are the runs behind the listening, for a dry run: what depends on the offsets
// is not known yet.
func (m *cameras) foreseen() []argv.Command {
	guess := *m
	guess.matches = slices.Repeat([]align.Match{{Found: true}}, len(m.files))
	guess.levels = map[int][]float64{}
	p, err := guess.edit()
	if err != nil {
		return nil // whatever it is depends on what is heard
	}
	var list []argv.Command
	for _, c := range append(p.Steps, p.Later...) {
		c.Args = slices.Clone(c.Args)
		for i, a := range c.Args {
			if _, is := a.(argv.Graph); is {
				c.Args[i] = argv.Graph("<measured>")
			}
		}
		list = append(list, c)
	}
	return list
}

// list are the cuts as lines.
func (m *cameras) list() []byte {
	var b strings.Builder
	for _, s := range m.shots {
		fmt.Fprintf(&b, "%s-%s # camera %d, %s\n", s.from, s.to, s.camera, strings.ReplaceAll(path.Base(string(m.in.Inputs[s.camera])), "\n", " "))
	}
	return []byte(b.String())
}

func thousandth(v float64) float64 { return math.Round(v*1000) / 1000 }
