package edit

import (
	"cmp"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Broll shows another recording for a part of a video, while its sound goes on.
var Broll = tool.Add(Family, tool.Spec[BrollInput, BrollOutput]{
	Name:        "edit.broll",
	Summary:     "Show another recording, or a picture, for a part of a video",
	Description: "Cut away: for a part of the time the frame shows another recording or a still picture, while the video goes on beneath it, so nothing moves in time. The sound stays the video's, becomes the other's for that time, or both are mixed. The written file is compared with both: the cutaway's own frames are to be seen in its time, and the video's before and after.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Video:       true,
	Short:       "broll",
	Timeout:     1800 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"overlay"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples: []BrollInput{
		{Input: "talk.mp4", Insert: "city.mp4", At: "4", Duration: 4 * cutroom.Second},
		{Input: "talk.mp4", Insert: "slide.png", At: "30", End: "35", Fit: "pad", PadColor: "white"},
		{Input: "talk.mp4", Insert: "street.mp4", At: "5", From: "20", Duration: 3 * cutroom.Second, Audio: "mix", Volume: -18},
	},
	Names:     func(in BrollInput) BrollInput { in.Output = orNamed(in.Output, in.Input, "broll", ""); return in },
	Plan:      planBroll,
	Interpret: answerBroll,
})

// BrollInput is the request.
type BrollInput struct {
	Input    cutroom.InPath `json:"input" doc:"The video that goes on."`
	Insert   cutroom.InPath `json:"insert" doc:"What is shown meanwhile: a recording or a still picture."`
	At       cutroom.Moment `json:"at" cli:"flag" doc:"When it comes, in the video."`
	End      cutroom.Moment `json:"end,omitempty" doc:"When it goes. Without end and duration it goes when it has ended, or with the video; a picture after 3 s."`
	Duration cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"86400" unit:"s" doc:"How long it is shown, in place of end."`
	From     cutroom.Moment `json:"from,omitempty" doc:"Where in the recording it begins."`
	Fit      string         `json:"fit,omitempty" enum:"crop,pad" default:"crop" doc:"How a picture of another shape fills the frame: what overhangs is cut off, or bars stand beside it."`
	PadColor string         `json:"pad_color,omitempty" max:"20" rare:"true" doc:"Colour of the bars; black without it."`
	Ended    string         `json:"ended,omitempty" enum:"vanish,freeze,loop" default:"vanish" rare:"true" doc:"What shows once the recording has ended before its time: the video again, its last frame, or it again from its beginning."`
	Fade     cutroom.Micros `json:"fade,omitempty" min:"0" max:"10" unit:"s" doc:"How long it takes to come and go; without it there are cuts."`
	Audio    string         `json:"audio,omitempty" enum:"main,insert,mix" default:"main" doc:"What is heard meanwhile: the video, the recording in its place, or both."`
	Volume   float64        `json:"volume,omitempty" min:"-60" max:"30" unit:"dB" doc:"Level of the recording's sound. Needs audio insert or mix."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in BrollInput) Validate() error {
	switch {
	case in.End != "" && in.Duration > 0:
		return cutroom.Errorf(cutroom.Invalid, "end and duration are given at once").WithHint("leave one of them out")
	case in.Volume != 0 && in.Audio != "insert" && in.Audio != "mix":
		return cutroom.Errorf(cutroom.Invalid, "volume is given without audio insert or mix").WithHint("add audio, or leave volume out")
	case in.PadColor != "" && in.Fit != "pad":
		return cutroom.Errorf(cutroom.Invalid, "pad_color is given without fit pad").WithHint("add fit pad, or leave pad_color out")
	}
	_, err := color("pad_color", in.PadColor)
	return err
}

// BrollOutput is the answer.
type BrollOutput struct {
	tool.Made
	Start cutroom.Micros `json:"start" unit:"s" doc:"When it comes, in the written file."`
	End   cutroom.Micros `json:"end" unit:"s" doc:"When it is gone."`
	From  cutroom.Micros `json:"from" unit:"s" doc:"What of the recording is shown first."`
	Audio string         `json:"audio" enum:"main,insert,mix" doc:"What is heard meanwhile."`
}

// cutaway is one call while it is worked on.
type cutaway struct {
	*drawing
	out BrollOutput
}

// stillTime is how long a picture is shown when nothing else is said.
const stillTime = 3 * cutroom.Second

func planBroll(f tool.Facts, in BrollInput) (tool.Plan, error) {
	c := &cutaway{out: BrollOutput{Audio: cmp.Or(in.Audio, "main")}}
	var err error
	if c.drawing, err = newDrawing(f, in.Input, in.Output, in.Encoding, &c.out.Made); err != nil {
		return tool.Plan{}, err
	}
	file, err := f.Named(in.Insert)
	if err != nil || file.Media == nil {
		return tool.Plan{}, fmt.Errorf("the insert was not probed: %w", err)
	}
	v, err := file.Media.VideoStream()
	if err != nil {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "%s has no picture", file.Name).WithHint("give a recording or a picture")
	}
	l, err := c.window(in, file)
	if err != nil {
		return tool.Plan{}, err
	}
	full := graph.Box{Width: c.width, Height: c.height}
	l.Source, l.Box, l.Fit = c.source(file), full, graph.Cover
	m := match{file: file, name: "the cutaway", box: full, fit: graph.Cover, start: l.Start + l.FadeIn, end: l.End - l.FadeOut, from: l.From + l.FadeIn, frame: c.onFrame}
	if in.Fit == "pad" {
		l.Fit = graph.Pad
		l.PadColor, _ = color("pad_color", in.PadColor)
		m.fit, m.box = graph.Stretch, graph.Contained(v.Video.DisplayWidth, v.Video.DisplayHeight, full)
	}
	c.layers = append(c.layers, l)
	c.marks = append(c.marks, mark{box: full, start: l.Start, end: l.End, fadeIn: l.FadeIn, fadeOut: l.FadeOut, unlike: true})
	if length := lengthOf(file) - l.From; l.Hold == graph.Vanish || v.Video.StillImage || l.End-l.Start <= length {
		c.matches = append(c.matches, m)
	}
	c.out.Start, c.out.End, c.out.From = l.Start, l.End, l.From
	if err := c.hear(in, file, l); err != nil {
		return tool.Plan{}, err
	}
	return c.plan(c)
}

// onFrame is when the frame of the edit begins that is on screen at a time of it.
func (d *drawing) onFrame(at cutroom.Micros) cutroom.Micros {
	_, from, ok := d.edit.ToSource(at)
	if !ok {
		return at
	}
	list := d.edit.ToEdit(0, graph.OnFrame(d.file.Media, from))
	if len(list) == 0 {
		return at
	}
	return list[0]
}

// window is when the cutaway is shown, and from where on.
func (c *cutaway) window(in BrollInput, file tool.Input) (l graph.Layer, err error) {
	if l.Start, l.End, err = c.span(in.At, in.End); err != nil {
		return l, err
	}
	l.Hold = hold(in.Ended)
	still := graph.Still(file.Media)
	if in.From != "" {
		if still {
			return l, cutroom.Errorf(cutroom.Invalid, "%s is a still picture: it has no time to begin at", file.Name).WithHint("leave from out")
		}
		if l.Hold == graph.Again {
			return l, cutroom.Errorf(cutroom.Invalid, "what is shown again begins at its beginning").WithHint("leave from out, or cut it first")
		}
		if l.From, err = begins(file, in.From); err != nil {
			return l, err
		}
	}
	length := in.Duration
	if length == 0 && in.End == "" {
		if length = lengthOf(file) - l.From; still || length <= 0 {
			length = stillTime
		}
	}
	if length > 0 {
		l.End = min(l.End, l.Start+length)
	}
	if left := lengthOf(file) - l.From; !still && l.Hold == graph.Vanish && left > 0 && l.Start+left < l.End {
		if in.End != "" || in.Duration > 0 {
			c.say("%s ends %s s before its time: the video shows again", file.Name, l.End-l.Start-left)
		}
		l.End = l.Start + left
	}
	l.FadeIn, l.FadeOut = in.Fade, in.Fade
	if l.FadeIn+l.FadeOut >= l.End-l.Start && in.Fade > 0 {
		return l, cutroom.Errorf(cutroom.Invalid, "fades of %s s do not fit into %s s", in.Fade, l.End-l.Start).WithHint("shorten fade")
	}
	return l, nil
}

// hear plans the sound.
func (c *cutaway) hear(in BrollInput, file tool.Input, l graph.Layer) error {
	if c.out.Audio == "main" {
		if len(file.Media.AudioStreams()) > 0 {
			c.say("the sound of %s is not used", file.Name)
		}
		return nil
	}
	if len(file.Media.AudioStreams()) == 0 {
		return cutroom.Errorf(cutroom.Invalid, "%s has no sound", file.Name).WithHint("use audio main")
	}
	if !graph.HoldsSound(c.target.Container) {
		return cutroom.Errorf(cutroom.Invalid, "%s holds no sound", c.target.Container).WithHint("name an output that ends in .mp4, .mov, .mkv or .webm")
	}
	bed := &graph.Bed{Source: l.Source, Volume: in.Volume, Offset: l.Start, From: l.From, Span: l.End - l.Start}
	w := &graph.Work{Effects: bed}
	if c.out.Audio == "insert" {
		w.Hush = &graph.Hush{Start: l.Start, End: l.End}
	}
	c.sound = &graph.Sound{Work: w}
	return nil
}

// answerBroll delivers the file.
func answerBroll(_ tool.Facts, _ BrollInput, r tool.Results) (BrollOutput, error) {
	c, ok := r.State().(*cutaway)
	if !ok {
		return BrollOutput{}, fmt.Errorf("the cutaway was not rendered")
	}
	return c.out, c.deliver(r)
}
