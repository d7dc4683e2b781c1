package edit

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// retiming is an edit of one recording in which time moves.
type retiming struct {
	file   tool.Input
	video  *ffmpeg.Stream // nil: sound alone
	length cutroom.Micros // of the picture, or of the sound where there is none
	graph  graph.Graph
	render *graph.Render
	notes  []string
}

// retime begins such an edit: the whole of the input, with all that it has. A tool for
// pictures alone refuses sound.
func retime(f tool.Facts, in cutroom.InPath, out cutroom.OutPath, e Encoding, pictured bool) (*retiming, error) {
	r := &retiming{}
	var err error
	if r.file, err = f.Named(in); err != nil {
		return nil, err
	}
	d := r.file.Media
	r.length = d.DurationSeconds
	target, err := tool.Target(out)
	if err != nil {
		return nil, err
	}
	if pictured || d.FirstVideo() != nil && !soundAlone(out, target) {
		if r.video, err = moving(d); err != nil {
			return nil, err
		}
		if target, err = e.target(out); err != nil {
			return nil, err
		}
		r.graph.Picture = &graph.Picture{}
		if r.video.EndSeconds > 0 {
			r.length = r.video.EndSeconds
		}
	}
	if len(d.AudioStreams()) > 0 && graph.HoldsSound(target.Container) {
		r.graph.Sound = &graph.Sound{}
	}
	switch {
	case r.graph.Sound == nil && r.graph.Picture == nil:
		_, err := d.AudioStream(0)
		return nil, err
	case r.length <= 0:
		return nil, cutroom.Errorf(cutroom.UnreadableMedia, "the length of the input is unknown").WithHint("cut or convert it first")
	}
	r.graph.Sources = []graph.Source{r.file.AsSource()}
	r.graph.Target = target
	r.graph.Keep = graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true}
	return r, nil
}

// moment reads a time of the recording: one that lies in it.
func (r *retiming) moment(name string, m cutroom.Moment) (cutroom.Micros, error) {
	at, err := r.file.Media.Moment(m)
	if err != nil {
		return 0, err
	}
	if at < 0 || at >= r.length {
		return 0, cutroom.Errorf(cutroom.Invalid, "%s is %s s, and the recording is %s s long", name, at, r.length).WithHint("choose a time within it")
	}
	if r.video != nil {
		at = graph.OnFrame(r.file.Media, at)
	}
	return at, nil
}

// plan renders the edit; its state is the retiming.
func (r *retiming) plan(f tool.Facts) (tool.Plan, error) {
	var err error
	if r.render, err = graph.NewRender(r.graph, f.Abilities); err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(r.render, r, nil)
}

// answered fills in what the edit ended with.
func answered(m *tool.Made, res tool.Results) (*retiming, error) {
	r := res.State().(*retiming)
	m.Notes = append(m.Notes, r.notes...)
	return r, m.Rendered(res, r.render, r.graph.Target)
}

// lasting is how long the written file is, as it was measured.
func lasting(m *tool.Made) cutroom.Micros {
	if m.EditMap != nil {
		return m.EditMap.Seconds
	}
	return 0
}

// step is how long a frame shows, or a hundredth of a second of sound.
func (r *retiming) step() cutroom.Micros {
	if r.video == nil {
		return cutroom.Second / 100
	}
	if rate := r.video.Video.FrameRate; rate.Known() {
		return cutroom.Micros((1_000_000*rate.Den + rate.Num/2) / rate.Num)
	}
	return cutroom.Second / 25
}
