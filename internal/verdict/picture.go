package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cutroom/internal/platform"
)

// everywhere are the profiles that phones and browsers play.
var everywhere = map[string][]string{
	"h264": {"Constrained Baseline", "Baseline", "Main", "High", "Constrained High"},
	"hevc": {"Main", "Main 10"},
}

func (j *judge) codec() {
	s, spec := j.video, j.t.Spec
	r := Row{
		Check: "video_codec", ValueText: s.CodecName, LimitText: strings.Join(spec.Codecs, ", "), Op: "in",
		Reason: "the platform does not take this codec", Fix: j.export(),
	}
	if len(spec.Codecs) == 0 {
		j.inform("video_codec", r.ValueText)
	} else {
		j.add(r, !slices.Contains(spec.Codecs, s.CodecName), Fail, false)
	}
	if list := everywhere[s.CodecName]; list != nil && s.Profile != "" {
		worst := Warn
		if j.strict() {
			worst = Fail
		}
		j.add(Row{
			Check: "profile", ValueText: s.Profile, LimitText: strings.Join(list, ", "), Op: "in",
			Reason: "browsers and phones do not play this profile", Fix: j.export(),
		}, !slices.Contains(list, s.Profile), worst, false)
	}
	// The j of yuvj420p says full range, which has a row of its own.
	pix := strings.Replace(s.Video.PixelFormat, "yuvj", "yuv", 1)
	if j.strict() {
		j.add(Row{
			Check: "pixel_format", ValueText: s.Video.PixelFormat, LimitText: strings.Join(spec.PixelFormats, ", "), Op: "in",
			Reason: "the platform does not take this pixel format", Fix: j.export(),
		}, !slices.Contains(spec.PixelFormats, pix), Fail, false)
	} else {
		j.inform("pixel_format", s.Video.PixelFormat)
	}
}

// colour: tags that agree with the samples, and a range that the platform shows.
func (j *judge) colour() {
	v := j.video.Video
	said := strings.Join([]string{tagged(v.Primaries), tagged(v.Transfer), tagged(v.Matrix)}, "/")
	status, reason := Pass, ""
	switch {
	case v.HDR != "" && v.BitDepth > 0 && v.BitDepth < 10:
		status, reason = Fail, fmt.Sprintf("the file is tagged %s, but its samples have %d bits: it was converted without tone mapping, and looks washed out", v.HDR, v.BitDepth)
	case v.HDR != "" && v.Primaries != "bt2020":
		status, reason = Warn, "the transfer curve is HDR, but the primaries are not tagged bt2020"
	case v.HDR == "" && v.Transfer == "" && v.BitDepth > 8 && !j.video.Video.StillImage:
		status, reason = Warn, fmt.Sprintf("samples of %d bits without a transfer tag: players have to guess whether they are HDR", v.BitDepth)
	case v.Primaries != "" && v.Matrix == "bt2020nc" && v.Transfer == "bt709":
		status, reason = Warn, "the matrix is that of BT.2020, the transfer curve that of BT.709"
	}
	j.add(Row{
		Check: "color_tags", ValueText: said,
		Reason: reason, Fix: j.export() + ": it tone-maps and tags",
	}, status != Pass, status, false)
	full := v.Range == "pc" || strings.HasPrefix(v.PixelFormat, "yuvj")
	j.add(Row{
		Check: "color_range", ValueText: map[bool]string{true: "full", false: "limited"}[full], LimitText: "limited", Op: "==",
		Reason: "full-range video is shown lighter or darker by players that ignore the tag", Fix: j.export(),
	}, full && j.f.Document.Kind != "image" && !j.video.Video.StillImage, Warn, false)
	dynamic := v.HDR
	if dynamic == "" {
		dynamic = "sdr"
	}
	if j.t.Spec.SDROnly {
		j.add(Row{
			Check: "dynamic_range", ValueText: dynamic, LimitText: "sdr", Op: "==",
			Reason: "the platform shows high dynamic range wrongly", Fix: j.export() + ": it tone-maps",
		}, v.HDR != "", Fail, false)
	} else {
		j.inform("dynamic_range", dynamic)
	}
	if v.Alpha {
		j.add(Row{
			Check: "transparency", ValueText: "transparent", LimitText: "opaque", Op: "==",
			Reason: "platforms drop transparency, most of them to black", Fix: "flatten it on a colour of your choice with edit.export",
		}, true, Warn, false)
	}
}

func tagged(tag string) string {
	if tag == "" {
		return "untagged"
	}
	return tag
}

// shape is judged as shown: upright and with square pixels.
func (j *judge) shape() {
	v := j.video.Video
	w, h := v.DisplayWidth, v.DisplayHeight
	j.add(Row{
		Check: "size", ValueText: fmt.Sprintf("%dx%d", w, h),
		Reason: "an odd side cannot be stored by ordinary encoders: a line is lost", Fix: "scale it with edit.fit",
	}, (v.Width%2 != 0 || v.Height%2 != 0) && !v.StillImage, Warn, false)
	if least := j.t.Spec.MinShort; least > 0 {
		j.add(Row{
			Check: "short_side", Value: number(float64(min(w, h))), Limit: number(float64(least)), Unit: "px", Op: ">=", Kind: Judgement,
			Reason: "the picture is small for this platform", Fix: "go back to a larger source; enlarging adds nothing",
		}, min(w, h) < least, Warn, false)
	}
	j.add(Row{
		Check: "pixel_aspect", ValueText: ratioText(v.SAR.Num, v.SAR.Den), LimitText: "1:1", Op: "==",
		Reason: "pixels are not square: some players squeeze the picture", Fix: "flatten it with edit.fit",
	}, v.SAR.Known() && v.SAR.Num != v.SAR.Den, Warn, false)
	aspects, asked := j.t.Aspects, true
	if len(aspects) == 0 {
		aspects, asked = j.t.Spec.Aspects, false
	}
	named := aspectName(w, h, aspects)
	if len(aspects) == 0 {
		j.inform("aspect", named)
		return
	}
	var list []string
	for _, a := range aspects {
		list = append(list, a.String())
	}
	j.add(Row{
		Check: "aspect", ValueText: named, LimitText: strings.Join(list, ", "), Op: "in", Kind: Judgement,
		Reason: "the platform shows this shape with bars or cuts it", Fix: "bring it into shape with edit.fit, aspect " + list[0],
	}, !slices.Contains(list, named), Fail, asked)
}

func ratioText(num, den int64) string {
	if num <= 0 || den <= 0 || num == den {
		return "1:1"
	}
	return fmt.Sprintf("%d:%d", num, den)
}

// common are the aspects that people speak of.
var common = []platform.Ratio{{Num: 16, Den: 9}, {Num: 9, Den: 16}, {Num: 1, Den: 1}, {Num: 4, Den: 3}, {Num: 3, Den: 4}, {Num: 4, Den: 5}, {Num: 5, Den: 4}, {Num: 21, Den: 9}, {Num: 2, Den: 3}, {Num: 3, Den: 2}}

// aspectName names a shape: by the aspect that it is within 1 % of, the wanted ones
// first, else exactly. Even sides make 854x480 out of 16:9.
func aspectName(w, h int, wanted []platform.Ratio) string {
	if w <= 0 || h <= 0 {
		return "unknown"
	}
	have := float64(w) / float64(h)
	for _, a := range append(slices.Clone(wanted), common...) {
		if math.Abs(have/a.Float()-1) <= 0.01 {
			return a.String()
		}
	}
	a, b := w, h
	for b != 0 {
		a, b = b, a%b
	}
	return fmt.Sprintf("%d:%d", w/a, h/a)
}
