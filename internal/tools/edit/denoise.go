package edit

import (
	"fmt"
	"math"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Denoise takes noise out of the picture.
var Denoise = tool.Add(Family, tool.Spec[DenoiseInput, DenoiseOutput]{
	Name:        "edit.denoise",
	Summary:     "Take noise out of a video's picture",
	Description: "Smooth grain and sensor noise in the picture and over time. strength chooses all four values; each can be given by itself. The noise is measured before and after, and the written file may have no more of it, and no other colours. For noise in the sound use edit.audio.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     3600 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"hqdn3d"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples:    []DenoiseInput{{Picturing: Picturing{Input: "night.mp4"}, Strength: "strong"}},
	Names: func(in DenoiseInput) DenoiseInput {
		in.Output = orNamed(in.Output, in.Input, "denoised", "")
		return in
	},
	Plan:      planDenoise,
	Interpret: answerDenoise,
})

// DenoiseInput is the request.
type DenoiseInput struct {
	Picturing
	Strength       string   `json:"strength,omitempty" enum:"light,medium,strong" default:"medium" doc:"How much: light keeps the most detail."`
	LumaSpatial    *float64 `json:"luma_spatial,omitempty" min:"0" max:"100" rare:"true" doc:"Of brightness within a picture; 2, 4 or 8 by strength."`
	ChromaSpatial  *float64 `json:"chroma_spatial,omitempty" min:"0" max:"100" rare:"true" doc:"Of colour within a picture; 1.5, 3 or 6 by strength."`
	LumaTemporal   *float64 `json:"luma_temporal,omitempty" min:"0" max:"100" rare:"true" doc:"Of brightness over time; 3, 6 or 12 by strength."`
	ChromaTemporal *float64 `json:"chroma_temporal,omitempty" min:"0" max:"100" rare:"true" doc:"Of colour over time; 2.25, 4.5 or 9 by strength."`
	FPS            float64  `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" rare:"true" doc:"Frame rate; the input's without it."`
}

// Validate refuses a rate that is none.
func (in DenoiseInput) Validate() error {
	_, err := rate(in.FPS)
	return err
}

// DenoiseOutput is the answer.
type DenoiseOutput struct {
	tool.Made
	Before float64 `json:"noise_before" doc:"Noise of the input: the standard deviation of luma from what its neighbours say, of 255."`
	After  float64 `json:"noise_after" doc:"Noise of the output."`
}

// look is what strength and values ask for.
func (in DenoiseInput) look() graph.Denoise {
	by := map[string]float64{"light": 0.5, "strong": 2}[in.Strength]
	if by == 0 {
		by = 1
	}
	d := graph.Denoise{LumaSpatial: 4 * by, ColorSpatial: 3 * by, LumaTemporal: 6 * by, ColorTemporal: 4.5 * by}
	turn(&d.LumaSpatial, in.LumaSpatial, &d.ColorSpatial, in.ChromaSpatial, &d.LumaTemporal, in.LumaTemporal, &d.ColorTemporal, in.ChromaTemporal)
	return d
}

func planDenoise(f tool.Facts, in DenoiseInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	p := l.graph.Picture
	if p.Rate, err = rate(in.FPS); err != nil {
		return tool.Plan{}, err
	}
	out := &DenoiseOutput{}
	l.call = out
	p.Looks = []graph.Look{in.look()}
	return l.plan(ffmpeg.BesideOptions{Side: 960}, func() []cutroom.Verified {
		round := func(x float64) float64 { return math.Round(x*100) / 100 }
		out.Before, out.After = round(ffmpeg.NoiseOf(l.beside.Source, l.beside.Width)), round(ffmpeg.NoiseOf(l.beside.Made, l.beside.Width))
		return []cutroom.Verified{l.alike("colors", "the input's colours"), {
			Check: "noise", Stream: "video", OK: out.After <= out.Before+0.1, Expected: fmt.Sprintf("at most %.2f", out.Before+0.1), Measured: fmt.Sprintf("%.2f", out.After), Unit: "of 255",
		}}
	})
}

func answerDenoise(_ tool.Facts, _ DenoiseInput, r tool.Results) (DenoiseOutput, error) {
	return looked[DenoiseOutput](r, func(o *DenoiseOutput) *tool.Made { return &o.Made })
}
