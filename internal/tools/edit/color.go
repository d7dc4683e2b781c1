package edit

import (
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/grade"
	"cutroom/internal/tool"
)

// Color changes the colours of a video, or what it says of them.
var Color = tool.Add(Family, tool.Spec[ColorInput, ColorOutput]{
	Name:        "edit.color",
	Summary:     "Tone-map HDR to SDR, apply a LUT, correct colours, mend colour tags, take Dolby Vision out",
	Description: "Change colours: to_sdr brings PQ and HLG to BT.709 (what is high dynamic range is decided by the transfer curve alone; a picture of standard range is refused unless forced, and then its primaries are brought over without tone-mapping), lut applies a .cube table, correct is a primary correction (exposure, temperature, tint, contrast, saturation, lift, gamma, gain, levels, a curve). These three are made in this order, in one encode. retag states other colours without touching a sample, and strip_dovi takes the Dolby Vision layer out of HEVC; both copy the packets. The answer has what was measured of the colours before and after, and what was asked for is checked against the written file.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "color",
	Timeout:     3600 * time.Second,
	Video:       true,
	Exclusive:   [][]string{{"retag", "to_sdr"}, {"retag", "lut"}, {"retag", "correct"}, {"strip_dovi", "to_sdr"}, {"strip_dovi", "lut"}, {"strip_dovi", "correct"}},
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "zscale", When: "to_sdr; without it lut and correct are a code value less exact"},
		{Filter: "tonemap", When: "to_sdr, other than bt2390"},
		{Filter: "lut3d", When: "lut"},
		{Filter: "lut1d", When: "correct, tonemap bt2390, and lut of one dimension"},
		{Filter: "colorchannelmixer", When: "saturation"},
		{Filter: "curves", When: "curves"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []ColorInput{
		{Input: "phone.mov", ToSDR: true},
		{Input: "log.mp4", LUT: "film.cube", LUTStrength: ptrTo(0.7), Correct: Correction{Exposure: 0.3, Saturation: ptrTo(1.1)}},
		{Input: "camera.mp4", Retag: "bt709"},
	},
	Names:     nameColored,
	Plan:      planColor,
	Interpret: colored,
})

// ColorInput is the request.
type ColorInput struct {
	Input cutroom.InPath `json:"input" doc:"The video."`

	ToSDR   bool    `json:"to_sdr,omitempty" doc:"Bring high dynamic range to BT.709."`
	Tonemap string  `json:"tonemap,omitempty" enum:"hable,mobius,reinhard,bt2390,clip,linear,gamma" doc:"How bright light is fitted in; hable without it. Needs to_sdr."`
	Peak    float64 `json:"peak,omitempty" min:"100" max:"10000" unit:"cd/m²" doc:"Brightest light of the picture. Without it what the picture says of its mastering, else 1000. Needs to_sdr."`
	Desat   float64 `json:"desat,omitempty" min:"0" max:"10" rare:"true" doc:"How much bright light loses its colour; 0 without it. Needs to_sdr, and another tonemap than bt2390."`
	Force   bool    `json:"force,omitempty" doc:"With to_sdr: bring a picture of standard range to BT.709, too, without tone-mapping. With strip_dovi: take the layer out though the file does not state one."`

	LUT         cutroom.InPath `json:"lut,omitempty" cli:"flag" probe:"-" doc:"Colour table in the .cube form, of one or three dimensions."`
	LUTStrength *float64       `json:"lut_strength,omitempty" min:"0" max:"1" doc:"How much of the table: 0 nothing, 1 all, which is the default. Needs lut."`
	LUTMakes    string         `json:"lut_makes,omitempty" enum:"same,bt709" rare:"true" doc:"What the table's output is. same, the default: the colours that the picture had, high dynamic range included. bt709: standard range, as of a table for PQ, HLG or log footage; nothing is tone-mapped then. Needs lut."`

	Correct Correction `json:"correct,omitzero" doc:"Primary correction; each value that is left out changes nothing."`

	Retag      string `json:"retag,omitempty" enum:"bt709,bt601,bt2020,bt2020-pq,bt2020-hlg" doc:"State these colours; the samples stay. Where the codec cannot be told otherwise the picture is encoded anew, which is said."`
	RetagRange string `json:"retag_range,omitempty" enum:"limited,full" rare:"true" doc:"State this range; the samples stay."`
	StripDovi  bool   `json:"strip_dovi,omitempty" doc:"Take the Dolby Vision layer out of HEVC; what is left is its HDR10 or HLG."`

	AudioStream *int `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Keep only this audio stream, counted from 0. All stay without it."`
	Encoding
	tool.Writing
}

// Correction is a primary correction, made in light where it is about light: exposure,
// temperature and tint first, then contrast, saturation, lift, gain, gamma, levels, and
// the curve.
type Correction struct {
	Exposure    float64  `json:"exposure,omitempty" min:"-3" max:"3" unit:"stops" doc:"Light, doubled by 1."`
	Contrast    *float64 `json:"contrast,omitempty" min:"0" max:"2" doc:"Around the middle of the signal; 1 is as it is."`
	Saturation  *float64 `json:"saturation,omitempty" min:"0" max:"2" doc:"0 is grey, 1 as it is."`
	Temperature float64  `json:"temperature,omitempty" min:"2000" max:"12000" unit:"K" doc:"Colour of the light: below 6500 warmer, above colder."`
	Tint        float64  `json:"tint,omitempty" min:"-1" max:"1" doc:"From green (−1) to magenta (1)."`
	Gamma       float64  `json:"gamma,omitempty" min:"0.1" max:"10" doc:"Of the middle: above 1 brighter."`
	Lift        float64  `json:"lift,omitempty" min:"-1" max:"1" doc:"Of the darks."`
	Gain        float64  `json:"gain,omitempty" min:"-1" max:"1" doc:"Of the brights."`

	InBlack  int    `json:"levels_in_black,omitempty" min:"0" max:"255" rare:"true" doc:"What becomes black, of 255."`
	InWhite  *int   `json:"levels_in_white,omitempty" min:"0" max:"255" rare:"true" doc:"What becomes white; 255 without it."`
	OutBlack int    `json:"levels_out_black,omitempty" min:"0" max:"255" rare:"true" doc:"What black becomes."`
	OutWhite *int   `json:"levels_out_white,omitempty" min:"0" max:"255" rare:"true" doc:"What white becomes; 255 without it."`
	Curves   string `json:"curves,omitempty" enum:"color_negative,cross_process,darker,increase_contrast,lighter,linear_contrast,medium_contrast,negative,strong_contrast,vintage" rare:"true" doc:"A curve of ffmpeg's, last."`
}

// levels are the four levels, nil where none was given.
func (k Correction) levels() *[4]int {
	l := [4]int{k.InBlack, 255, k.OutBlack, 255}
	if k.InWhite != nil {
		l[1] = *k.InWhite
	}
	if k.OutWhite != nil {
		l[3] = *k.OutWhite
	}
	if l == [4]int{0, 255, 0, 255} {
		return nil
	}
	return &l
}

// grade is the correction for the arithmetic.
func (k Correction) grade() grade.Correction {
	return grade.Correction{
		Exposure: k.Exposure, Temperature: k.Temperature, Tint: k.Tint, Contrast: k.Contrast, Saturation: k.Saturation,
		Lift: k.Lift, Gamma: k.Gamma, Gain: k.Gain, Levels: k.levels(),
	}
}

func ptrTo[T any](v T) *T { return &v }

// Validate refuses a call that asks for nothing, or for a copy and an encode at once.
func (in ColorInput) Validate() error {
	corrects, copies := in.Correct != Correction{}, in.Retag != "" || in.RetagRange != "" || in.StripDovi
	switch {
	case !in.ToSDR && in.LUT == "" && !corrects && !copies:
		return cutroom.Errorf(cutroom.Invalid, "nothing to do").WithHint("give to_sdr, lut, correct, retag or strip_dovi")
	case copies && (in.ToSDR || in.LUT != "" || corrects):
		return cutroom.Errorf(cutroom.Invalid, "retag and strip_dovi leave the samples as they are: they exclude to_sdr, lut and correct").WithHint("make two calls, the retag first")
	case copies && in.Codec+in.Retag+in.RetagRange == in.Codec && (in.Codec != "" || in.Quality > 0):
		return cutroom.Errorf(cutroom.Invalid, "strip_dovi copies the picture: codec and quality count for nothing").WithHint("leave them out")
	case in.LUT != "" && in.LUTMakes == "bt709" && in.ToSDR:
		return cutroom.Errorf(cutroom.Invalid, "a table that makes BT.709 excludes to_sdr").WithHint("leave one of them out")
	}
	for _, d := range []dial{
		{"tonemap", "to_sdr", in.Tonemap != "", in.ToSDR},
		{"peak", "to_sdr", in.Peak > 0, in.ToSDR},
		{"desat", "to_sdr and another tonemap than bt2390", in.Desat > 0, in.ToSDR && in.Tonemap != "bt2390"},
		{"force", "to_sdr or strip_dovi", in.Force, in.ToSDR || in.StripDovi},
		{"lut_strength", "lut", in.LUTStrength != nil, in.LUT != ""},
		{"lut_makes", "lut", in.LUTMakes != "", in.LUT != ""},
	} {
		if d.given && !d.on {
			return cutroom.Errorf(cutroom.Invalid, "%s is given without %s", d.name, d.needs).WithHint("add %s, or leave %s out", d.needs, d.name)
		}
	}
	return in.Correct.grade().Check()
}

// ColorOutput is the answer.
type ColorOutput struct {
	tool.Made
	Reencoded    bool              `json:"reencoded" doc:"The picture was encoded anew; otherwise its packets were copied."`
	Path         string            `json:"sdr_path,omitempty" enum:"tone_mapped,primaries,table" doc:"How standard range was reached."`
	Measurements ColorMeasurements `json:"measurements" doc:"What was measured of the signal before and after, in the same moments."`
}

// ColorMeasurements are the levels before and after.
type ColorMeasurements struct {
	Input  ffmpeg.ColorLevels `json:"input" doc:"Of the input."`
	Output ffmpeg.ColorLevels `json:"output" doc:"Of the output."`
}

// nameColored names the output.
func nameColored(in ColorInput) ColorInput {
	what := "color"
	switch {
	case in.ToSDR:
		what = "sdr"
	case in.StripDovi && in.Retag == "":
		what = "nodovi"
	case in.Retag != "":
		what = "retagged"
	}
	in.Output = orNamed(in.Output, in.Input, what, "")
	return in
}
