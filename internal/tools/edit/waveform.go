package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/project"
	"cutroom/internal/tool"
)

// Waveform shows what a recording sounds like.
var Waveform = tool.Add(Family, tool.Spec[WaveformInput, WaveformOutput]{
	Name:        "edit.waveform",
	Summary:     "Make a video of a sound: waveform, bars or spectrum, with a title",
	Description: "Make an audiogram: a video that shows what a recording sounds like, as a moving waveform, bars of its frequencies or a spectrum that scrolls, over a colour, a gradient or a picture, with a title and captions in any script, in one encode. The sound is the recording's own. Several clips, cuts, graphics or music are edit.render's, whose projects have an audiogram.",
	Kind:        cutroom.Execute,
	Exclusive:   [][]string{{"background", "image"}},
	Exact:       tool.ContentEquivalent,
	Revision:    2,
	Short:       "waveform",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Fonts: true, Optional: []tool.Optional{
		{Filter: "showwaves", When: "style wave and line"}, {Filter: "showfreqs", When: "style bars"}, {Filter: "showspectrum", When: "style spectrum"}, {Filter: "ass", When: "title, srt"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []WaveformInput{
		{Input: "episode.mp3", Audiogram: project.Audiogram{Title: "Episode 12"}},
		{Input: "episode.mp3", Audiogram: project.Audiogram{Style: "bars", Image: "cover.jpg", Position: "bottom", Width: 1080, Height: 1080, Color: "#ffcc00"}},
	},
	Names: func(in WaveformInput) WaveformInput {
		in.Output = orNamed(in.Output, in.Input, "waveform", ".mp4")
		return in
	},
	Plan:      planWaveform,
	Interpret: answerWaveform,
})

// WaveformInput is the request: a project of one clip.
type WaveformInput struct {
	Input cutroom.InPath `json:"input" doc:"The recording: a sound, or a video whose picture is left out."`
	project.Audiogram
	SRT      cutroom.InPath `json:"srt,omitempty" cli:"flag" probe:"-" doc:"Captions of what is said, drawn over it: SRT, WebVTT or another form of transcript."`
	Brand    cutroom.InPath `json:"brand,omitempty" cli:"flag" probe:"-" doc:"Brand file: fonts, colours and how captions look; what the call says itself holds over it."`
	OnSilent string         `json:"on_silent,omitempty" enum:"warn,fail" doc:"Listen first, and say so when there is nothing to hear, or fail."`
	Silence  *float64       `json:"silence_threshold,omitempty" min:"-120" max:"-10" unit:"dBFS" rare:"true" doc:"It is silent when its loudest sample lies below; -50 without it. Needs on_silent."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in WaveformInput) Validate() error {
	if in.Silence != nil && in.OnSilent == "" {
		return cutroom.Errorf(cutroom.Invalid, "silence_threshold is given without on_silent").WithHint("add on_silent, or leave silence_threshold out")
	}
	return drawable(in.Audiogram)
}

// WaveformOutput is the answer.
type WaveformOutput struct {
	tool.Made
	Width    int            `json:"width" unit:"px" doc:"Width of the frame."`
	Height   int            `json:"height" unit:"px" doc:"Height of the frame."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
	Caption  *CaptionReport `json:"caption,omitempty" doc:"What was done to the cues."`
	Silent   *bool          `json:"silent,omitempty" doc:"Nothing is to be heard; absent when that was not looked at."`
}

// edit is the audiogram as a project.
func (in WaveformInput) edit() project.Project {
	g := in.Audiogram
	p := project.Project{Clips: []project.Clip{{Src: in.Input}}, Audiogram: &g, Brand: in.Brand}
	if in.SRT != "" {
		p.Captions = &project.Captions{SRT: in.SRT}
	}
	if in.Codec != "" || in.Quality > 0 {
		p.Export = &project.Export{Codec: in.Codec, CRF: in.Quality}
	}
	return p
}

func planWaveform(f tool.Facts, in WaveformInput) (tool.Plan, error) {
	if _, err := in.target(in.Output); err != nil {
		return tool.Plan{}, err
	}
	p := in.edit()
	r := &rendering{f: f, in: RenderInput{Edit: p, Writing: in.Writing}, p: p}
	if err := r.resolve(); err != nil {
		return tool.Plan{}, err
	}
	if in.OnSilent == "" {
		return r.plan()
	}
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	m, err := ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{Envelope: true, AudioStream: in.AudioStream, Abilities: &f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(m, r, func(tool.Results) (tool.Plan, error) {
		silent := (AudioInput{SilenceThreshold: in.Silence}).silent(m)
		if r.silent = &silent; silent {
			if in.OnSilent == "fail" {
				return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "%s is silent: there is nothing to draw", in.Input).WithHint("choose another audio_stream, or use on_silent warn")
			}
			r.say("%s", fmt.Sprintf("%s is silent: nothing moves", in.Input))
		}
		return r.plan()
	})
}

func answerWaveform(_ tool.Facts, _ WaveformInput, res tool.Results) (WaveformOutput, error) {
	r := res.State().(*rendering)
	made, err := r.answer(res)
	out := WaveformOutput{Made: made.Made, Caption: made.Caption, Silent: r.silent}
	if err != nil || out.Probe == nil {
		return out, err
	}
	out.Duration = lasting(&out.Made)
	if v := out.Probe.FirstVideo(); v != nil {
		out.Width, out.Height = v.Video.DisplayWidth, v.Video.DisplayHeight
	}
	return out, nil
}
