package edit

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Generated is the form of a clip that is made of pictures or of nothing: it is embedded.
type Generated struct {
	Width  int     `json:"width,omitempty" min:"16" max:"16384" unit:"px" doc:"Width of the frame; even."`
	Height int     `json:"height,omitempty" min:"16" max:"16384" unit:"px" doc:"Height of the frame; even."`
	FPS    float64 `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate, exact as in edit.fit; 30 without it."`
	Audio  string  `json:"audio,omitempty" enum:"none,silent" default:"none" doc:"silent: a silent track of 48 kHz stereo, as edits that join it with others need."`
}

// rate is the clip's exact frame rate.
func (g Generated) rate() (ffmpeg.Rational, error) {
	if g.FPS == 0 {
		return ffmpeg.Rational{Num: 30, Den: 1}, nil
	}
	return rate(g.FPS)
}

// size is the frame's, of which one side or none is given; the shape of what is shown
// completes it, at most as large as most on its longer side.
func (g Generated) size(w, h, most int) (int, int) {
	shape := ffmpeg.Rational{Num: int64(w), Den: int64(h)}
	switch {
	case g.Width > 0 && g.Height > 0:
		return g.Width &^ 1, g.Height &^ 1
	case g.Width > 0:
		return g.Width &^ 1, graph.Across(g.Width&^1, shape)
	case g.Height > 0:
		return graph.Across(g.Height&^1, shape.Inverse()), g.Height &^ 1
	case w > most && w >= h:
		return most, graph.Across(most, shape)
	case h > most:
		return graph.Across(most, shape.Inverse()), most
	}
	return max(16, w&^1), max(16, h&^1)
}

// sound is the silent track, where one is asked for.
func (g Generated) sound() *graph.Sound {
	if g.Audio != "silent" {
		return nil
	}
	return &graph.Sound{}
}

// GeneratedOutput is what tools answer that make a clip of pictures or of nothing.
type GeneratedOutput struct {
	tool.Made
	Width    int             `json:"width" unit:"px" doc:"Width of the frame."`
	Height   int             `json:"height" unit:"px" doc:"Height of the frame."`
	FPS      ffmpeg.Rational `json:"fps,omitzero" doc:"Exact frame rate, as num/den."`
	Frames   int64           `json:"frames" doc:"How many frames there are."`
	Duration cutroom.Micros  `json:"duration" unit:"s" doc:"Length of the written file."`
}

// answeredGenerated fills it in from what was written.
func answeredGenerated(res tool.Results) (GeneratedOutput, error) {
	var out GeneratedOutput
	_, err := answered(&out.Made, res)
	if err != nil || out.Probe == nil {
		return out, err
	}
	out.Duration = lasting(&out.Made)
	if v := out.Probe.FirstVideo(); v != nil {
		out.Width, out.Height, out.FPS, out.Frames = v.Video.DisplayWidth, v.Video.DisplayHeight, v.Video.FrameRate, v.Frames
	}
	return out, nil
}

// picture returns the still picture that an input is.
func picture(file tool.Input) (*ffmpeg.Stream, error) {
	v, err := file.Media.VideoStream()
	if err != nil {
		return nil, cutroom.Errorf(cutroom.AsError(err).Code, "%s: %s", file.Name, cutroom.AsError(err).Msg).WithHint("give a still picture: JPEG, PNG, WebP or BMP")
	}
	if !v.Video.StillImage {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s is not a still picture", file.Name).WithHint("give a JPEG, PNG, WebP or BMP; hold a frame of a video with edit.freeze")
	}
	return v, nil
}
