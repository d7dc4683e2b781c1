package edit

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// looking is an edit of the picture alone: sound, length and the other streams stay, and
// some frames of what was written are laid beside the input's.
type looking struct {
	facts  tool.Facts
	file   tool.Input
	video  *ffmpeg.Stream
	graph  graph.Graph
	render *graph.Render
	result graph.Result
	beside ffmpeg.Beside
	rows   []cutroom.Verified
	call   any // the tool's own state
	// moments are compared, in the edit's time; nil: some evenly spread.
	moments []cutroom.Micros
	after   func() (tool.Plan, error) // what is proved once the frames were compared
}

// newLooking opens the edit of one file's picture; what is done with it is set in
// graph.Picture.
func newLooking(f tool.Facts, in cutroom.InPath, out cutroom.OutPath, e Encoding, audio *int) (*looking, error) {
	l := &looking{facts: f}
	var err error
	if l.file, err = f.Named(in); err != nil {
		return nil, err
	}
	if l.video, err = moving(l.file.Media); err != nil {
		return nil, err
	}
	t, err := e.target(out)
	if err != nil {
		return nil, err
	}
	l.graph = graph.Graph{
		Sources: []graph.Source{l.file.AsSource()}, Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: t,
		Keep: graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
	}
	l.graph.Sound, err = keptSound(l.file.Media, t, audio, true)
	return l, err
}

// keptSound keeps the sound, or one track of it: copied where nothing moves in time and
// the output holds it.
func keptSound(d *ffmpeg.Document, t graph.Target, track *int, still bool) (*graph.Sound, error) {
	list := d.AudioStreams()
	s := &graph.Sound{}
	if track != nil {
		if _, err := d.AudioStream(*track); err != nil {
			return nil, err
		}
		s.Tracks, s.Stream = graph.OneTrack, *track
		list = list[*track : *track+1]
	}
	if len(list) == 0 || !graph.HoldsSound(t.Container) {
		return nil, nil
	}
	s.Copy = still
	for _, a := range list {
		s.Copy = s.Copy && graph.Holds(t.Container, a.CodecName)
	}
	return s, nil
}

// besides is how many moments are compared.
const besides = 5

// plan renders, then compares: o says how, judge what has to be so.
func (l *looking) plan(o ffmpeg.BesideOptions, judge func() []cutroom.Verified) (tool.Plan, error) {
	var err error
	if l.render, err = graph.NewRender(l.graph, l.facts.Abilities); err != nil {
		return tool.Plan{}, err
	}
	plan, err := tool.Follow(l.render, l, func(tool.Results) (tool.Plan, error) {
		if l.result, err = l.render.Result(); err != nil {
			return tool.Plan{State: l}, err
		}
		cmd, err := ffmpeg.NewBeside(l.compared(o))
		if err != nil {
			return tool.Plan{State: l}, err
		}
		return tool.Plan{State: l, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
			step, _ := r.Step(cmd.Step)
			l.beside, _ = argv.Value[ffmpeg.Beside](step)
			l.rows = judge()
			if err := proof.Failure(l.rows); err != nil || l.after == nil {
				return tool.Plan{State: l}, err
			}
			return l.after()
		}}, nil
	})
	if err == nil {
		plan.Later = append(plan.Later, l.besideCommand())
	}
	return plan, err
}

// compared fills in which frames are compared: evenly spread, between frames.
func (l *looking) compared(o ffmpeg.BesideOptions) ffmpeg.BesideOptions {
	o.Source, o.SourceDoc, o.Input = l.file.Format, l.file.Media, l.file.Index
	o.Made, o.MadeDoc = ffmpeg.MadeFormat(l.graph.Target.File, madeBy(l.graph.Target.Container)), l.result.Probe
	o.Abilities = &l.facts.Abilities
	m := l.render.Map()
	moments := l.moments
	if moments == nil {
		for i := range cutroom.Micros(besides) {
			moments = append(moments, m.Seconds*(2*i+1)/(2*besides))
		}
	}
	for _, t := range moments {
		at := l.render.Ahead(t)
		from := at
		if _, was, ok := m.ToSource(at); ok {
			from = was
		}
		o.Samples = append(o.Samples, ffmpeg.BesideAt{From: from, At: at + max(0, l.result.Probe.FirstVideo().StartSeconds)})
	}
	return o
}

// besideCommand is the comparison as a dry run shows it: what was written is not known
// yet.
func (l *looking) besideCommand() argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts", "-ss")
	args = append(args, argv.Hole("a moment of the recording"))
	args = append(args, l.file.Format.Input(0)...)
	args = append(args, ffmpeg.MadeFormat(l.graph.Target.File, madeBy(l.graph.Target.Container)).Input(0)...)
	args = append(args, argv.Word("-filter_complex"), argv.Graph("[0:v:0][1:v:0]vstack=inputs=2"), argv.Word("-f"), argv.Word("rawvideo"), argv.Pipe(0))
	return argv.Command{Step: "beside", Program: "ffmpeg", Inputs: []int{l.file.Index}, Args: args, Stage: "comparing with the input"}
}

// rendered fills in what is answered of every such edit, and delivers the file.
func (l *looking) rendered(m *tool.Made, r tool.Results) error {
	err := m.Rendered(r, l.render, l.graph.Target)
	m.Verified = append(m.Verified, l.rows...)
	return err
}
