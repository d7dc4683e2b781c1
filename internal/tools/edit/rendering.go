package edit

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/graph"
	"cutroom/internal/project"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// rendering is one project being planned.
type rendering struct {
	f   tool.Facts
	in  RenderInput
	p   project.Project
	out RenderOutput

	files  []tool.Input    // of the clips and what is laid under them: sources of the graph
	spans  []edl.Range     // of the clips, on their files
	quiet  map[int][]quiet // dead air by file, once it was measured
	video  bool
	graph  graph.Graph
	render *graph.Render
	text   *captioning
	wave   *graph.Wave // of an audiogram
	silent *bool       // of an audiogram that was listened to
}

// quiet is a stretch of silence.
type quiet struct{ Start, End cutroom.Micros }

// maxInputs is how many clips may be decoded side by side.
const maxInputs = 120

// resolve finds the clips' files and ranges, and names all that do not fit at once.
func (r *rendering) resolve() error {
	var problems []string
	pictures := 0
	for i, c := range r.p.Clips {
		file, err := r.f.Named(c.Src)
		if err != nil {
			return err
		}
		span, err := r.span(file, c)
		if err != nil {
			problems = append(problems, fmt.Sprintf("clip %d (%s): %s", i+1, c.Src, cutroom.AsError(err).Msg))
		}
		if r.p.Audiogram != nil {
			if file, err = r.heard(file); err != nil {
				problems = append(problems, fmt.Sprintf("clip %d (%s): %s", i+1, c.Src, cutroom.AsError(err).Msg))
			} else if c.Speed != 0 && c.Speed != 1 {
				problems = append(problems, fmt.Sprintf("clip %d (%s): the sound of an audiogram plays at its own speed", i+1, c.Src))
			}
		}
		if v := file.Media.FirstVideo(); v != nil && !v.Video.StillImage {
			pictures++
		} else if len(file.Media.AudioStreams()) == 0 {
			problems = append(problems, fmt.Sprintf("clip %d (%s) has neither moving pictures nor sound", i+1, c.Src))
		}
		r.spans = append(r.spans, span)
		r.source(file)
	}
	target, err := tool.Target(r.in.Output)
	if err != nil {
		return err
	}
	r.graph.Target = target
	r.video = pictures > 0 && graph.HoldsPicture(target.Container) && !soundAlone(r.in.Output, target)
	if r.video && pictures < len(r.p.Clips) {
		problems = append(problems, "there are clips without moving pictures among videos")
	}
	if !r.video && r.p.Captions != nil {
		problems = append(problems, "captions need a picture, and the edit has none")
	}
	if len(problems) > 0 {
		return cutroom.Errorf(cutroom.Invalid, "the project cannot be rendered: %s", strings.Join(problems, "; ")).WithHint("mend what is named, then render again")
	}
	return nil
}

// span is the part of a file that a clip shows.
func (r *rendering) span(file tool.Input, c project.Clip) (s edl.Range, err error) {
	whole := lengthOf(file)
	s.End = whole
	if c.In != "" {
		if s.Start, err = file.Media.Moment(c.In); err != nil {
			return s, err
		}
	}
	if c.Out != "" {
		if s.End, err = file.Media.Moment(c.Out); err != nil {
			return s, err
		}
	}
	frame := cutroom.Second / 20
	switch {
	case whole <= 0:
		return s, cutroom.Errorf(cutroom.UnreadableMedia, "its length is unknown")
	case s.Start < 0 || s.Start >= whole || s.End > whole+frame:
		return s, cutroom.Errorf(cutroom.Invalid, "%s to %s s lies outside of the file, which is %s s long", s.Start, s.End, whole)
	case s.End <= s.Start:
		return s, cutroom.Errorf(cutroom.Invalid, "out (%s) has to lie after in (%s)", s.End, s.Start)
	}
	s.End = min(s.End, whole)
	return s, nil
}

// lengthOf is how long a file shows, or sounds.
func lengthOf(in tool.Input) cutroom.Micros {
	if v := in.Media.FirstVideo(); v != nil && !v.Video.StillImage && v.EndSeconds > 0 {
		return v.EndSeconds
	}
	return in.Media.DurationSeconds
}

// source returns the number of a file among the graph's sources.
func (r *rendering) source(file tool.Input) int {
	if i := slices.IndexFunc(r.files, func(f tool.Input) bool { return f.Index == file.Index }); i >= 0 {
		return i
	}
	r.files = append(r.files, file)
	r.graph.Sources = append(r.graph.Sources, file.AsSource())
	return len(r.files) - 1
}

// plan measures where that is needed, then renders.
func (r *rendering) plan() (tool.Plan, error) {
	if r.p.Silence != nil {
		r.quiet = map[int][]quiet{}
	}
	jobs, err := r.jobs()
	if err != nil {
		return tool.Plan{}, err
	}
	return r.measure(jobs, nil)
}

// job is one measuring of a file; end takes what it found.
type job struct {
	tool.Script
	end func() error
}

// jobs are the measurings that the project needs: beats, then silence.
func (r *rendering) jobs() (list []job, err error) {
	if list, err = r.beats(); err != nil || r.p.Silence == nil {
		return list, err
	}
	for i, f := range r.files {
		if len(f.Media.AudioStreams()) == 0 {
			continue
		}
		s, err := newSilences(r.f, f, i, *r.p.Silence)
		if err != nil {
			return nil, err
		}
		list = append(list, job{s, func() error { r.quiet[i] = s.found; return nil }})
	}
	return list, nil
}

// measure does the jobs one after another, then renders.
func (r *rendering) measure(jobs []job, res tool.Results) (tool.Plan, error) {
	if len(jobs) == 0 {
		return r.compose(res)
	}
	p, err := tool.Follow(jobs[0], r, func(res tool.Results) (tool.Plan, error) {
		if err := jobs[0].end(); err != nil {
			return tool.Plan{}, err
		}
		return r.measure(jobs[1:], res)
	})
	if res == nil && err == nil {
		p.Later = append(p.Later, r.later(jobs[1:])...)
	}
	return p, err
}

// later are the runs behind the first measuring, as a dry run shows them: what is measured
// is not known yet.
func (r *rendering) later(jobs []job) (list []argv.Command) {
	for _, j := range jobs {
		if cmd, ok := j.Next(); ok {
			list = append(list, cmd)
		}
	}
	shown := *r
	shown.graph.Sources = slices.Clone(r.graph.Sources)
	shown.files = slices.Clone(r.files)
	if shown.build() != nil {
		return list
	}
	if made, err := graph.NewRender(shown.graph, r.f.Abilities); err == nil {
		for _, c := range made.Planned() {
			c.Args = slices.Clone(c.Args)
			for k, a := range c.Args {
				if _, ok := a.(argv.Graph); ok {
					c.Args[k] = argv.Hole("what depends on the measurements")
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// compose renders the edit once all is known that it depends on.
func (r *rendering) compose(res tool.Results) (tool.Plan, error) {
	if err := r.build(); err != nil {
		return tool.Plan{}, err
	}
	made, err := graph.NewRender(r.graph, r.f.Abilities)
	if err != nil {
		return tool.Plan{}, err
	}
	r.render = made
	if err := r.mark(res); err != nil {
		return tool.Plan{}, err
	}
	files, wait, err := r.captions(res)
	switch {
	case err != nil:
		return tool.Plan{}, err
	case wait: // text that is too long to lie in the facts: it is read once something ran
		return tool.Plan{State: r, Later: made.Planned(), Then: r.compose}, nil
	}
	drawn, err := r.draw()
	if err != nil {
		return tool.Plan{}, err
	}
	files = append(files, drawn...)
	if len(files) > 0 || len(r.graph.Keep.Mark) > 0 || r.graph.Picture != nil && len(r.graph.Picture.Layers) > 0 {
		if r.render, err = graph.NewRender(r.graph, r.f.Abilities); err != nil {
			return tool.Plan{}, err
		}
	}
	more, err := r.sheets()
	if err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(r.render, r, nil)
	p.Files = append(files, more...)
	return p, err
}
