package edit

import (
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/tool"
)

// Export makes a file for one place or purpose.
var Export = tool.Add(Family, tool.Spec[ExportInput, ExportOutput]{
	Name:        "edit.export",
	Summary:     "Make a file for a platform or a purpose: frame, codec, loudness, length, private metadata",
	Description: "Deliver a recording: presets for youtube, youtube4k, youtube-hdr, youtube-av1, reels, tiktok, shorts, linkedin, facebook and x, and prores, h265, gif and copy. The frame, rate, codec, pixel format and colour tags are the platform's, what is too long is cut off there, and tags that tell a place, a device, a program or a date are left out. Ask for list to see the presets; review.check says whether a file suits a platform.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "export",
	Timeout:     3600 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "palettegen", When: "gif"},
		{Filter: "zscale", When: "high dynamic range for a platform that shows standard range only"},
		{Filter: "tonemap", When: "high dynamic range for a platform that shows standard range only"},
		{Filter: "boxblur", When: "pad_fill blur"},
	}},
	CheckWith: []string{"review.check", "measure.probe"},
	Examples: []ExportInput{
		{Input: "talk.mp4", Preset: "tiktok", Normalize: true},
		{Input: "talk.mp4", Preset: "prores"},
	},
	Names:     nameExport,
	Plan:      planExport,
	Interpret: answerExport,
})

// ExportInput is the request.
type ExportInput struct {
	Input  cutroom.InPath `json:"input,omitempty" doc:"The recording. Needed unless list is given."`
	Preset string         `json:"preset,omitempty" max:"64" doc:"What the file is for: youtube, youtube4k, youtube-hdr, youtube-av1, reels, tiktok, shorts, linkedin, facebook, x, prores, h265, gif or copy; also yt, ig, instagram, twitter, fb, youtube-shorts. Needed unless list is given."`

	Fit       string `json:"fit,omitempty" enum:"pad,crop" default:"pad" doc:"How a picture of another aspect gets into the frame: with bars, or cropped to fill it."`
	PadFill   string `json:"pad_fill,omitempty" enum:"color,blur" default:"color" doc:"What the bars show: a colour, or the picture itself, blurred."`
	PadColor  string `json:"pad_color,omitempty" max:"20" doc:"Colour of the bars: a name such as black or navy, or #RRGGBB; black without it."`
	PadBlur   int    `json:"pad_blur,omitempty" min:"1" max:"200" unit:"px" doc:"How strongly the bars are blurred; 20 without it. Needs pad_fill blur."`
	NoScale   bool   `json:"no_scale,omitempty" doc:"Keep the size of the picture. The platform may show it with bars."`
	AllowLong bool   `json:"allow_long,omitempty" doc:"Do not cut off at the longest that the platform takes."`
	Quality   int    `json:"quality,omitempty" min:"1" max:"63" doc:"On the encoder's CRF scale, less is better; the preset's own without it."`
	Effort    string `json:"effort,omitempty" enum:"ultrafast,superfast,veryfast,faster,fast,medium,slow,slower,veryslow" doc:"How hard the encoder tries; the preset's own without it."`
	Normalize bool   `json:"normalize,omitempty" doc:"Bring the sound to the platform's loudness and true peak. Without it both are only measured."`

	AudioStream int  `json:"audio_stream,omitempty" min:"0" max:"255" doc:"Which audio stream a platform gets, counted from 0; platforms take one."`
	List        bool `json:"list,omitempty" doc:"Answer the presets; nothing is read or written."`

	tool.Writing
}

// Validate refuses a preset that is not there, and options that contradict each other.
func (in ExportInput) Validate() error {
	if in.List {
		return nil
	}
	if in.Preset == "" {
		return cutroom.Errorf(cutroom.Invalid, "no preset is given").WithHint("name one with preset, or ask with list what there is")
	}
	p, err := platform.PresetOf(in.Preset)
	if err != nil {
		return err
	}
	if _, err := color("pad_color", in.PadColor); err != nil {
		return err
	}
	blur := in.PadFill == "blur"
	switch {
	case in.Input == "":
		return cutroom.Errorf(cutroom.Invalid, "no recording is given").WithHint("name the file to export as input")
	case in.PadBlur != 0 && !blur:
		return cutroom.Errorf(cutroom.Invalid, "pad_blur is given without pad_fill blur").WithHint("add pad_fill blur, or leave pad_blur out")
	case in.Fit == "crop" && (blur || in.PadColor != ""):
		return cutroom.Errorf(cutroom.Invalid, "a cropped picture has no bars to fill").WithHint("leave pad_fill and pad_color out, or choose fit pad")
	case p.Copy && (in.Quality != 0 || in.Effort != "" || in.NoScale || in.Normalize || in.Fit == "crop"):
		return cutroom.Errorf(cutroom.Invalid, "the preset copy changes neither picture nor sound").WithHint("leave fit, quality, effort, no_scale and normalize out, or choose another preset")
	}
	return nil
}

// ExportOutput is the answer.
type ExportOutput struct {
	tool.Made
	Preset   string          `json:"preset,omitempty" doc:"The preset that was used, by its own name."`
	Platform string          `json:"platform,omitempty" doc:"The platform that it is for."`
	Loudness *ExportLoudness `json:"loudness,omitempty" doc:"How loud the written file is; for platforms."`
	Presets  []ExportPreset  `json:"presets,omitempty" doc:"The presets, when list was asked for."`
}

// ExportLoudness is the loudness of a written file beside what its platform wants.
type ExportLoudness struct {
	LUFS       *float64 `json:"lufs,omitempty" unit:"LUFS" doc:"Integrated loudness; absent for silence and for sound shorter than 0.4 s."`
	TruePeak   *float64 `json:"tp,omitempty" unit:"dBTP" doc:"True peak; absent for silence."`
	Target     float64  `json:"target_lufs" unit:"LUFS" doc:"What the platform plays at."`
	TargetPeak float64  `json:"target_tp" unit:"dBTP" doc:"Highest true peak that the platform wants."`
	OK         bool     `json:"ok" doc:"Both are within what the platform accepts."`
	Normalized bool     `json:"normalized" doc:"The sound was brought to the target."`
	Silent     bool     `json:"silent" doc:"There is nothing to hear."`
}

// ExportPreset is one preset of the list.
type ExportPreset struct {
	Name       string         `json:"name" doc:"What preset takes."`
	Aliases    []string       `json:"aliases" doc:"Further names."`
	Title      string         `json:"title" doc:"What it is for."`
	Platform   string         `json:"platform,omitempty" doc:"The platform whose limits hold."`
	Suffix     string         `json:"suffix,omitempty" doc:"Suffix of the file; the input's without it."`
	Width      int            `json:"width,omitempty" unit:"px" doc:"Width of the frame; the source's without it."`
	Height     int            `json:"height,omitempty" unit:"px" doc:"Height of the frame."`
	FrameRate  string         `json:"frame_rate,omitempty" doc:"Frames per second; the source's without it."`
	Video      string         `json:"video,omitempty" doc:"Codec of the picture."`
	Audio      string         `json:"audio,omitempty" doc:"Codec of the sound."`
	Color      string         `json:"color" enum:"sdr,keep,hdr" doc:"What is done with high dynamic range: tone-mapped, kept, or demanded."`
	MaxSeconds cutroom.Micros `json:"max_seconds,omitempty" unit:"s" doc:"Longest that the platform takes."`
}

func nameExport(in ExportInput) ExportInput {
	p, err := platform.PresetOf(in.Preset)
	if err == nil && !in.List {
		in.Output = orNamed(in.Output, in.Input, p.Name, p.Container)
	}
	return in
}

func planExport(f tool.Facts, in ExportInput) (tool.Plan, error) {
	if in.List {
		return tool.Plan{}, nil
	}
	e, err := in.delivery(f)
	if err != nil {
		return tool.Plan{}, err
	}
	r, err := graph.NewRender(e.graph, f.Abilities)
	if err != nil {
		return tool.Plan{}, err
	}
	e.render = r
	return tool.Follow(r, e, nil)
}

func answerExport(_ tool.Facts, in ExportInput, r tool.Results) (ExportOutput, error) {
	var out ExportOutput
	if in.List {
		out.Presets = presets()
		return out, nil
	}
	e := r.State().(*delivery)
	out.Preset, out.Platform, out.Notes = e.preset.Name, e.preset.Platform, e.notes
	res, err := e.render.Result()
	if err != nil {
		return out, err
	}
	if e.preset.Platform != "" && e.graph.Sound != nil {
		out.Loudness = e.loudness(res.Heard, in.Normalize)
		out.Notes = append(out.Notes, out.Loudness.say(e.spec)...)
	}
	return out, out.Rendered(r, e.render, e.graph.Target)
}
