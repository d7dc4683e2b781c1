package edit

import (
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Proxy makes a small copy to work with.
var Proxy = tool.Add(Family, tool.Spec[ProxyInput, ProxyOutput]{
	Name:        "edit.proxy",
	Summary:     "Make a small copy of a video to work with",
	Description: "Make a small, quickly made copy of a video for previews and for trying edits: H.264 of standard range, 640 pixels wide without another word, sound in at most two channels. Times are the source's: what is cut by the copy is cut by the original, at the same times and timecodes.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "proxy",
	Timeout:     time.Hour,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Encoders: []string{"libx264"}},
	CheckWith:   []string{"measure.probe"},
	Examples:    []ProxyInput{{Input: "talk.mp4"}, {Input: "talk.mp4", Scale: 0.25, FPS: 15, NoAudio: true}},
	Names:       func(in ProxyInput) ProxyInput { in.Output = orNamed(in.Output, in.Input, "proxy", ".mp4"); return in },
	Plan:        planProxy,
	Interpret:   answerProxy,
})

// ProxyInput is the request.
type ProxyInput struct {
	Input   cutroom.InPath `json:"input" doc:"The video."`
	Width   int            `json:"width,omitempty" min:"16" max:"4096" unit:"px" doc:"Width of the copy, never more than the picture's; 640 without it. Excludes scale."`
	Scale   float64        `json:"scale,omitempty" min:"0.02" max:"1" doc:"Size of the copy as a share of the picture's. Excludes width."`
	FPS     float64        `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate; the source's without it."`
	NoAudio bool           `json:"no_audio,omitempty" doc:"Leave the sound out."`
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in ProxyInput) Validate() error {
	if in.Width > 0 && in.Scale > 0 {
		return cutroom.Errorf(cutroom.Invalid, "width and scale exclude each other").WithHint("choose one of them")
	}
	_, err := rate(in.FPS)
	return err
}

// ProxyOutput is the answer.
type ProxyOutput struct {
	tool.Made
	Width  int   `json:"width" unit:"px" doc:"Width of the copy."`
	Height int   `json:"height" unit:"px" doc:"Height of the copy."`
	Bytes  int64 `json:"size_bytes" unit:"B" doc:"Size of the copy."`
	Before int64 `json:"input_size_bytes" unit:"B" doc:"Size of the source."`
}

func planProxy(f tool.Facts, in ProxyInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, Encoding{Quality: 28}, true)
	if err != nil {
		return tool.Plan{}, err
	}
	v := r.video.Video
	width := min(v.DisplayWidth, 640)
	switch {
	case in.Width > 0:
		width = min(in.Width, v.DisplayWidth)
	case in.Scale > 0:
		width = int(float64(v.DisplayWidth)*in.Scale + 0.5)
	}
	p := r.graph.Picture
	p.Width, p.Height = Generated{Width: max(16, width)}.size(v.DisplayWidth, v.DisplayHeight, width)
	if p.Rate, err = rate(in.FPS); err != nil {
		return tool.Plan{}, err
	}
	r.graph.Target.Video.Effort, r.graph.Target.Color = "veryfast", graph.ToSDR
	r.graph.Target.Audio.Bitrate = 96_000
	for _, a := range r.file.Media.AudioStreams() {
		if a.Audio.Channels > 2 {
			r.graph.Target.Audio.Channels = 2
		}
	}
	if in.NoAudio {
		r.graph.Sound = nil
	}
	r.graph.Clips = []graph.Clip{{}}
	return r.plan(f)
}

func answerProxy(_ tool.Facts, _ ProxyInput, res tool.Results) (ProxyOutput, error) {
	var out ProxyOutput
	r, err := answered(&out.Made, res)
	if err != nil || out.Probe == nil {
		return out, err
	}
	out.Bytes, out.Before = out.Probe.SizeBytes, r.file.Media.SizeBytes
	if v := out.Probe.FirstVideo(); v != nil {
		out.Width, out.Height = v.Video.DisplayWidth, v.Video.DisplayHeight
	}
	return out, nil
}
