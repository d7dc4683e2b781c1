package ffmpeg

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"cutroom/internal/sandbox/argv"
)

// sideData is what ffprobe prints of a stream or a frame besides its samples.
type sideData struct {
	Type     text `json:"side_data_type"`
	Matrix   text `json:"displaymatrix"`
	Rotation text `json:"rotation"`
	DVProf   text `json:"dv_profile"`

	RedX   text `json:"red_x"`
	RedY   text `json:"red_y"`
	GreenX text `json:"green_x"`
	GreenY text `json:"green_y"`
	BlueX  text `json:"blue_x"`
	BlueY  text `json:"blue_y"`
	WhiteX text `json:"white_point_x"`
	WhiteY text `json:"white_point_y"`
	Least  text `json:"min_luminance"`
	Most   text `json:"max_luminance"`

	Content text `json:"max_content"`
	Average text `json:"max_average"`
}

// mastering takes what HDR10 says of the display that a picture was graded on (SMPTE ST
// 2086, chromaticities in units of 0.00002, luminances in 0.0001 cd/m²) and of how bright
// it gets (CTA-861.3), in the form in which x265 takes it.
func (v *VideoFacts) mastering(list []sideData) {
	for _, sd := range list {
		switch sd.Type {
		case "Mastering display metadata":
			if s, ok := sd.display(); ok {
				v.MasterDisplay = s
			}
		case "Content light level metadata":
			most, ok1 := sd.Content.int()
			average, ok2 := sd.Average.int()
			if ok1 && ok2 && most >= 0 && average >= 0 && most|average < 1<<16 && most|average != 0 {
				v.LightLevel = fmt.Sprintf("%d,%d", most, average)
			}
		}
	}
}

// display writes the primaries, the white point and the luminances.
func (sd sideData) display() (string, bool) {
	valid := true
	in := func(t text, unit, most int64) string {
		r, ok := ParseRational(string(t))
		n := int64(-1)
		if ok && r.Known() {
			n = muldiv(r.Num, unit, r.Den, nearest)
		} else if num, _, ok := strings.Cut(string(t), "/"); ok && num == "0" {
			n = 0
		}
		valid = valid && n >= 0 && n <= most
		return strconv.FormatInt(n, 10)
	}
	point := func(x, y text) string { return "(" + in(x, 50_000, 50_000) + "," + in(y, 50_000, 50_000) + ")" }
	s := "G" + point(sd.GreenX, sd.GreenY) + "B" + point(sd.BlueX, sd.BlueY) + "R" + point(sd.RedX, sd.RedY) + "WP" + point(sd.WhiteX, sd.WhiteY) +
		"L(" + in(sd.Most, 10_000, 1<<32-1) + "," + in(sd.Least, 10_000, 1<<32-1) + ")"
	return s, valid
}

// unmastered is the stream whose first frame may say what its container does not: that
// of HDR10, which carries it in its packets. −1 for none.
func (d *Document) unmastered() int {
	if v := d.FirstVideo(); v != nil && v.Decodable && v.Video.HDR == "pq" && v.Video.MasterDisplay == "" && v.Video.LightLevel == "" {
		return v.Index
	}
	return -1
}

// firstFrame is the run that decodes the first frame of a stream and prints what comes
// with it.
func (p *Prober) firstFrame(index int) argv.Command {
	args := argv.Words("-v", "error", "-hide_banner", "-select_streams", strconv.Itoa(index), "-read_intervals", "%+#1", "-show_frames", "-print_format", "json=compact=1")
	return argv.Command{
		Step: "mastering", Program: "ffprobe", Inputs: p.format.Granted(p.in), Stage: "reading how the picture was mastered",
		Args: append(args, p.format.input(0)...), MayFail: true, Limits: argv.Limits{StdoutCap: 256 << 10},
	}
}

// mastered takes what that run printed; a frame that says nothing is no fault.
func (p *Prober) mastered(out []byte) {
	var doc struct {
		Frames []struct {
			SideData []sideData `json:"side_data_list"`
		} `json:"frames"`
	}
	if json.Unmarshal(out, &doc) == nil {
		for _, f := range doc.Frames[:min(1, len(doc.Frames))] {
			p.doc.FirstVideo().Video.mastering(f.SideData)
		}
	}
}

// PeakLight is the brightest light that HDR10 says there is in the picture, else that
// its display shows, in cd/m²; 0 where neither is stated.
func (v *VideoFacts) PeakLight() float64 {
	if most, _, ok := strings.Cut(v.LightLevel, ","); ok {
		if n, err := strconv.ParseFloat(most, 64); err == nil && n > 0 {
			return n
		}
	}
	if _, l, ok := strings.Cut(v.MasterDisplay, "L("); ok {
		most, _, _ := strings.Cut(l, ",")
		if n, err := strconv.ParseFloat(most, 64); err == nil {
			return n / 10_000
		}
	}
	return 0
}
