package edit

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Encoding is how a tool that encodes the picture anew encodes it: it is embedded.
type Encoding struct {
	Codec   string `json:"codec,omitempty" enum:"h264,hevc,av1,vp9,prores" rare:"true" doc:"Codec of the picture; H.264 without it, or 10-bit HEVC for high dynamic range."`
	Quality int    `json:"quality,omitzero" min:"1" max:"51" rare:"true" doc:"CRF of the encoder: lower is better and larger. 18 without it, for H.264."`
}

// target is the file of an edit with a picture.
func (e Encoding) target(out cutroom.OutPath) (graph.Target, error) {
	t, err := tool.Target(out)
	if err == nil && !graph.HoldsPicture(t.Container) {
		err = cutroom.Errorf(cutroom.Invalid, "%s holds no video", t.Container).WithHint("name an output that ends in .mp4, .mov, .mkv or .webm")
	}
	t.Video = graph.VideoCodec{Name: e.Codec, Quality: e.Quality}
	return t, err
}

// rate reads a frame rate in frames per second: 23.976 and 29.97 are 24000/1001 and
// 30000/1001. 0 is unset.
func rate(fps float64) (ffmpeg.Rational, error) {
	if fps == 0 {
		return ffmpeg.Rational{}, nil
	}
	r, ok := ffmpeg.RateOf(fps)
	if !ok {
		return r, cutroom.Errorf(cutroom.Invalid, "%g is not a frame rate", fps).WithHint("give frames per second between 1 and 240, such as 25, 29.97 or 60")
	}
	return r, nil
}

// color reads a colour that may be left out.
func color(name, s string) (string, error) {
	if s == "" {
		return "", nil
	}
	c, err := ffmpeg.ParseColor(s)
	if err != nil {
		return "", cutroom.Errorf(cutroom.Invalid, "%s: %s", name, cutroom.AsError(err).Msg).WithHint("%s", cutroom.AsError(err).Hint)
	}
	return c, nil
}
