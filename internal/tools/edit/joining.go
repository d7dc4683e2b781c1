package edit

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// joining is one join being planned.
type joining struct {
	in     JoinInput
	facts  tool.Facts
	files  []tool.Input
	video  bool
	answer JoinOutput
	render *graph.Render
}

// compose plans the encode of the clips that there are.
func (j *joining) compose() error {
	g, err := j.graph()
	if err != nil {
		return err
	}
	j.answer.Clips = len(j.files)
	j.render, err = graph.NewRender(g, j.facts.Abilities)
	return err
}

// duplicates names the inputs that stand more than once: on purpose, or not.
func (j *joining) duplicates() {
	seen := map[cutroom.InPath]int{}
	for _, p := range j.in.Inputs {
		if seen[p]++; seen[p] == 2 {
			j.answer.Duplicates = append(j.answer.Duplicates, string(p))
			j.say("%s stands more than once", p)
		}
	}
}

// length is how long a clip shows, or sounds.
func (j *joining) length(i int) cutroom.Micros {
	d := j.files[i].Media
	if v := d.FirstVideo(); j.video && v != nil && v.EndSeconds > 0 {
		return v.EndSeconds
	}
	return d.DurationSeconds
}

// open finds the inputs and names all that cannot be joined at once.
func (j *joining) open() error {
	var problems []string
	pictures, names := 0, map[bool][]string{}
	for _, path := range j.in.Inputs {
		file, err := j.facts.Named(path)
		if err != nil {
			return err
		}
		j.files = append(j.files, file)
		_, err = moving(file.Media)
		shows := err == nil
		switch {
		case shows:
			pictures++
		case file.Media.FirstVideo() != nil && !file.Media.FirstVideo().Video.StillImage:
			problems = append(problems, fmt.Sprintf("%s: %s", path, cutroom.AsError(err).Msg))
		case len(file.Media.AudioStreams()) == 0:
			problems = append(problems, fmt.Sprintf("%s has neither moving pictures nor sound", path))
		}
		names[shows] = append(names[shows], string(path))
	}
	j.video = pictures > 0
	if pictures > 0 && pictures < len(j.files) && len(problems) == 0 {
		problems = append(problems, fmt.Sprintf("%s: audio among videos (%s)", strings.Join(names[false], ", "), strings.Join(names[true], ", ")))
	}
	problems = append(problems, j.tooShort()...)
	if len(problems) > 0 {
		return cutroom.Errorf(cutroom.Invalid, "these inputs cannot be joined: %s", strings.Join(problems, "; ")).
			WithHint("join videos with videos and audio with audio, and use shorter transitions, or none, for short clips")
	}
	if j.video {
		j.answer.Mode = "video"
	}
	return nil
}

// tooShort names the clips that two transitions would fill.
func (j *joining) tooShort() (problems []string) {
	if j.in.Transition == "none" {
		return nil
	}
	for i := range j.files {
		if l := j.length(i); l > 0 && l <= 2*j.in.Duration {
			problems = append(problems, fmt.Sprintf("%s lasts %s s, not longer than two transitions of %s s", j.in.Inputs[i], l, j.in.Duration))
		}
	}
	return problems
}

// graph is the join as an edit.
func (j *joining) graph() (graph.Graph, error) {
	in := j.in
	g := graph.Graph{Transition: graph.Transition{Kind: in.Transition, Length: in.Duration}}
	sounds := 0
	for i, f := range j.files {
		g.Sources = append(g.Sources, f.AsSource())
		g.Clips = append(g.Clips, graph.Clip{Source: i})
		if len(f.Media.AudioStreams()) > 0 {
			sounds++
		}
	}
	var err error
	if j.video {
		g.Target, err = in.target(in.Output)
	} else {
		g.Target, err = tool.Target(in.Output)
	}
	if err != nil {
		return g, err
	}
	g.Target.Audio.Rate, g.Target.Audio.Channels = in.SampleRate, in.Channels
	if j.video {
		if g.Picture, err = j.picture(); err != nil {
			return g, err
		}
	}
	if sounds > 0 && graph.HoldsSound(g.Target.Container) {
		g.Sound = &graph.Sound{}
		j.silences(sounds)
	}
	return g, nil
}

// picture is the frame that all clips are brought to; what differs is said.
func (j *joining) picture() (*graph.Picture, error) {
	p := &graph.Picture{Width: j.in.Width, Height: j.in.Height, Fit: graph.Fit(j.in.Fit)}
	var err error
	if p.Rate, err = rate(j.in.FPS); err != nil {
		return nil, err
	}
	if p.PadColor, err = color("pad_color", j.in.PadColor); err != nil {
		return nil, err
	}
	first := j.files[0].Media.FirstVideo().Video
	shape := ffmpeg.Rational{Num: int64(first.DisplayWidth), Den: int64(first.DisplayHeight)}
	switch {
	case p.Width > 0 && p.Height == 0:
		p.Height = graph.Across(p.Width, shape)
	case p.Height > 0 && p.Width == 0:
		p.Width = graph.Across(p.Height, shape.Inverse())
	case p.Width == 0:
		p.Width, p.Height = first.DisplayWidth, first.DisplayHeight
	}
	p.Width, p.Height = p.Width&^1, p.Height&^1
	for i, f := range j.files {
		if v := f.Media.FirstVideo().Video; v.DisplayWidth != p.Width || v.DisplayHeight != p.Height {
			j.say("%s is %d×%d and is brought to %d×%d (%s)", j.in.Inputs[i], v.DisplayWidth, v.DisplayHeight, p.Width, p.Height, j.in.Fit)
		}
	}
	return p, nil
}

// silences names the clips that get silence.
func (j *joining) silences(sounds int) {
	for i, f := range j.files {
		if len(f.Media.AudioStreams()) == 0 && sounds > 0 {
			j.say("%s has no sound: silence stands in its place", j.in.Inputs[i])
		}
	}
}

// say notes something, once: a clip may come several times.
func (j *joining) say(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(j.answer.Notes, n) {
		j.answer.Notes = append(j.answer.Notes, n)
	}
}

// plan listens to the clips when that is asked for, then renders.
func (j *joining) plan() (tool.Plan, error) {
	if j.in.OnSilent == "" {
		return tool.Follow(j.render, j, nil)
	}
	p, err := j.listen(0)
	if err == nil {
		p.Later = append(p.Later, j.render.Planned()...)
	}
	return p, err
}

// listen measures clip i, then those behind it.
func (j *joining) listen(i int) (tool.Plan, error) {
	for i < len(j.files) && len(j.files[i].Media.AudioStreams()) == 0 {
		i++
	}
	if i == len(j.files) {
		if j.in.OnSilent == "skip" && len(j.answer.Silent) > 0 {
			return j.withoutSilent()
		}
		if len(j.answer.Silent) > 0 && j.in.OnSilent == "fail" {
			return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "silent: %s", strings.Join(j.answer.Silent, ", ")).WithHint("leave these out, or use on_silent warn")
		}
		return tool.Follow(j.render, j, nil)
	}
	f := j.files[i]
	m, err := ffmpeg.NewMeasure(f.Index, f.Format, f.Media, ffmpeg.MeasureOptions{Envelope: true, Abilities: &j.facts.Abilities})
	if err != nil {
		return tool.Plan{}, fmt.Errorf("%s: %w", j.in.Inputs[i], err)
	}
	return tool.Follow(&renamed{m, fmt.Sprintf("listen-%d", i)}, j, func(tool.Results) (tool.Plan, error) {
		if (AudioInput{SilenceThreshold: j.in.Silence}).silent(m) {
			j.answer.Silent = append(j.answer.Silent, string(j.in.Inputs[i]))
			j.say("%s is silent", j.in.Inputs[i])
		}
		return j.listen(i + 1)
	})
}

// withoutSilent joins what is not silent.
func (j *joining) withoutSilent() (tool.Plan, error) {
	var files []tool.Input
	var names []cutroom.InPath
	for i, name := range j.in.Inputs {
		if !slices.Contains(j.answer.Silent, string(name)) {
			files, names = append(files, j.files[i]), append(names, name)
		}
	}
	if len(files) < 2 {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "without what is silent (%s) there are not two inputs left", strings.Join(j.answer.Silent, ", ")).WithHint("use on_silent warn, or name other inputs")
	}
	j.files, j.in.Inputs = files, names
	j.answer.Skipped = append(j.answer.Skipped, j.answer.Silent...)
	j.answer.Notes = slices.DeleteFunc(j.answer.Notes, func(n string) bool {
		return slices.ContainsFunc(j.answer.Silent, func(s string) bool { return strings.HasPrefix(n, s+" is ") })
	})
	for _, s := range j.answer.Silent {
		j.say("%s is silent and is left out", s)
	}
	if err := j.compose(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(j.render, j, nil)
}
