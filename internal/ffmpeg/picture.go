package ffmpeg

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxSide bounds a believable picture: beyond it the header is damaged.
const maxSide = 65535

// video fills the facts of a video stream.
func (r *rawStream) video(s *Stream, d *Document) {
	w, _ := r.Width.int()
	h, _ := r.Height.int()
	v := &VideoFacts{
		PixelFormat: string(r.PixFmt), Range: known(r.Range), Primaries: known(r.Primaries), Transfer: known(r.Transfer),
		Matrix: known(r.Matrix), FieldOrder: known(r.FieldOrder), Captions: r.Captions == "1",
	}
	if w > 0 && h > 0 && w <= maxSide && h <= maxSide {
		v.Width, v.Height = int(w), int(h)
	}
	v.BitDepth = bitDepth(v.PixelFormat)
	if n, ok := r.BitsRaw.int(); ok && n > 0 && n <= 32 {
		v.BitDepth = int(n)
	}
	v.SAR, _ = ParseRational(string(r.SAR))
	v.HDR = RangeOf(v.Transfer)
	v.Alpha = hasAlpha(v.PixelFormat) || tag(r.Tags, "alpha_mode") == "1"
	r.turn(v, d)
	v.size()
	r.rates(s, v)
	s.Video = v
	s.AttachedPic = r.Disposition["attached_pic"] == "1"
	v.StillImage = r.Disposition["still_image"] == "1" || strings.HasSuffix(d.FormatName, "_pipe") || d.FormatName == "image2"
	s.Decodable = s.Decodable && v.Width > 0
}

func known(t text) string {
	if t == "unknown" || t == "unspecified" || t == "reserved" {
		return ""
	}
	return string(t)
}

// hasAlpha reports whether a pixel format carries transparency.
func hasAlpha(pix string) bool {
	for _, p := range []string{"yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16", "pal8"} {
		if strings.HasPrefix(pix, p) {
			return true
		}
	}
	return false
}

// turn reads how the picture is to be turned: the display matrix first, the older
// rotate tag second; and what else lies beside the stream.
func (r *rawStream) turn(v *VideoFacts, d *Document) {
	v.mastering(r.SideData)
	for _, sd := range r.SideData {
		if n, ok := sd.DVProf.int(); ok && strings.HasPrefix(string(sd.Type), "DOVI") {
			v.DolbyVision = int(n)
		}
		if sd.Matrix == "" {
			continue
		}
		m, ok := parseMatrix(string(sd.Matrix))
		if !ok {
			d.problem("the display matrix is damaged and was ignored")
			continue
		}
		v.RotationFrom = "display_matrix"
		var exact bool
		if v.Rotation, v.Mirrored, exact = m.turn(); !exact {
			d.problem("the display matrix turns by an angle that is not a multiple of 90°; the nearest one is used")
		}
		return
	}
	if n, err := strconv.ParseFloat(tag(r.Tags, "rotate"), 64); err == nil && n == math.Trunc(n) && math.Abs(n) <= 3600 {
		v.Rotation, v.RotationFrom = int(mod(int64(n), 360)/90*90), "tag"
	}
}

// matrix is the upper left of a display matrix (ISO/IEC 14496-12, tkhd): a point
// (x, y) goes to (a·x + c·y, b·x + d·y), y pointing down.
type matrix struct{ a, b, c, d float64 }

func parseMatrix(s string) (matrix, bool) {
	var n []float64
	for line := range strings.Lines(s) {
		_, row, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		for _, f := range strings.Fields(row) {
			v, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return matrix{}, false
			}
			n = append(n, float64(v))
		}
	}
	if len(n) != 9 {
		return matrix{}, false
	}
	m := matrix{n[0], n[1], n[3], n[4]}
	return m, m.a*m.d-m.b*m.c != 0
}

// turn returns the clockwise turn to the nearest quarter, whether the picture is
// mirrored left to right before it, and whether the matrix was exactly that.
func (m matrix) turn() (degrees int, mirrored, exact bool) {
	if m.a*m.d-m.b*m.c < 0 {
		mirrored = true
		m.a, m.b = -m.a, -m.b // undo the mirroring of x
	}
	angle := math.Atan2(m.b, m.a) * 180 / math.Pi
	quarter := math.Round(angle / 90)
	return int(mod(int64(quarter)*90, 360)), mirrored, math.Abs(angle-quarter*90) < 1
}

// Turned reports whether the coded picture is shown turned or flipped.
func (v *VideoFacts) Turned() bool { return v.Rotation != 0 || v.Mirrored }

// KeepsTurn reports whether ffmpeg writes into a container how its picture is turned, so
// that copied packets are shown as they were: into Matroska it does not.
func KeepsTurn(container string) bool { return container == "mp4" || container == "mov" }

// size sets the size as shown: square pixels, turned upright.
func (v *VideoFacts) size() {
	w, h := v.square()
	if v.Rotation%180 != 0 {
		w, h = h, w
	}
	v.DisplayWidth, v.DisplayHeight = w, h
}

// square returns the coded size with square pixels, before it is turned. An absurd
// aspect ratio is ignored.
func (v *VideoFacts) square() (w, h int) {
	if !v.SAR.Known() {
		return v.Width, v.Height
	}
	w = int(muldiv(int64(v.Width), v.SAR.Num, v.SAR.Den, nearest))
	if w < 1 || w > maxSide {
		return v.Width, v.Height
	}
	return w, v.Height
}

// rates sets the frame rates and the verdict that can be reached without packets.
func (r *rawStream) rates(s *Stream, v *VideoFacts) {
	real, okR := ParseRational(string(r.RRate))
	avg, okA := ParseRational(string(r.AvgRate))
	tick := s.TimeBase.Inverse()
	// A rate equal to the clock's, or beyond what cameras do, is a placeholder.
	sane := func(q Rational) bool { return q.Known() && q.Float() < 1000 && (q != tick || q.Float() < 240) }
	okR, okA = okR && sane(real), okA && sane(avg)
	switch {
	case okR && okA:
		v.FrameRate, v.AverageRate, v.baseRate = real, avg, real
		v.VFR = compareRates(real, avg)
		if v.VFR.Variable {
			v.FrameRate = avg
		}
	case okR:
		v.FrameRate = real
		v.VFR.Evidence = "the container states one rate, " + real.String()
	case okA:
		v.FrameRate, v.AverageRate = avg, avg
		v.VFR.Evidence = "the container states one rate, " + avg.String()
	default:
		v.VFR.Evidence = "the container states no usable rate"
	}
}

// usual reports whether a rate is one that recordings are made at: a whole number of
// frames per second, halves of it included, or 1000/1001 of one.
func (r Rational) usual() bool {
	f := r.Float()
	for _, n := range []float64{f, 2 * f, f * 1001 / 1000} {
		if math.Abs(n-math.Round(n)) < 0.002 {
			return true
		}
	}
	return false
}

func compareRates(real, avg Rational) Verdict {
	diff := math.Abs(real.Float()-avg.Float()) / real.Float()
	if diff < 0.003 {
		return Verdict{Evidence: fmt.Sprintf("base rate %v and average rate %v agree", real, avg)}
	}
	return Verdict{Variable: true, Evidence: fmt.Sprintf("base rate %v but average rate %v", real, avg)}
}

// RangeOf is the high dynamic range that a transfer curve stands for: pq, hlg, or "".
func RangeOf(transfer string) string {
	switch transfer {
	case "smpte2084":
		return "pq"
	case "arib-std-b67":
		return "hlg"
	}
	return ""
}
