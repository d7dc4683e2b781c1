package ffmpeg

import (
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// SeekBefore returns the -ss value, before the file's -i, that starts decoding safely
// before public time t; 0 is the start of the file. It is meant for -noaccurate_seek
// with -copyts: filters then choose by presentation time.
func (d *Document) SeekBefore(t cutroom.Micros) cutroom.Micros { return d.seekBefore(t) }

// FirstSample returns the number of the first sample of s that a decode from
// [Document.SeekBefore] of start can be counted from, on the file's timeline, at the
// stream's own rate: what aresample's first_pts takes.
func (d *Document) FirstSample(s *Stream, start cutroom.Micros) int64 { return d.firstSample(s, start) }

// Decoder returns the options, before the file's -i, that choose a decoder which the
// stream needs: ffmpeg's own VP8 and VP9 decoders drop alpha.
func (s *Stream) Decoder(a *Abilities) ([]argv.Atom, error) { return s.decoder(a) }

// Turns returns the filters that make the picture upright: the mirroring first.
func (v *VideoFacts) Turns() []string { return v.turns() }

// RGB reports whether the picture has no matrix to speak of.
func (v *VideoFacts) RGB() bool { return v.rgb() }

// OnWhite are the filters that lay a transparent picture on white. They are no overlay,
// which would end with its last frame's own time and so lose that frame to filters of
// rates behind it: what is inverted, multiplied with alpha and inverted again is that.
func OnWhite() []string {
	const invert = "lutrgb=r=negval:g=negval:b=negval"
	return []string{"format=gbrap", invert, "premultiply=inplace=1", invert, "format=gbrp"}
}

// Gray reports whether the picture has no colour planes.
func (v *VideoFacts) Gray() bool { return strings.HasPrefix(v.PixelFormat, "gray") }

// FullChroma is the pixel format that holds the picture with colour for every pixel, with
// its alpha when that is wanted; "" where it does so already. A crop at odd places needs
// it: ffmpeg's takes halves of samples where they have more than eight bits.
func (v *VideoFacts) FullChroma(alpha bool) string {
	if v.rgb() || !v.Gray() && !strings.HasPrefix(v.PixelFormat, "yuv") || strings.HasPrefix(v.PixelFormat, "yuv444") || strings.HasPrefix(v.PixelFormat, "yuva444") {
		return ""
	}
	f := "yuv444p"
	if alpha && v.Alpha {
		f = "yuva444p"
	}
	switch {
	case v.BitDepth > 12:
		return f + "16le"
	case v.BitDepth > 10:
		return f + "12le"
	case v.BitDepth > 8:
		return f + "10le"
	}
	return f
}

// FullRange reports whether the samples use all of their range.
func (v *VideoFacts) FullRange() bool {
	d := display{v: v}
	return !v.rgb() && len(d.input()) > 5 && d.input()[len(d.input())-5:] == "=full"
}

// MatrixOr returns the matrix that the samples are to be read with: the tagged one,
// else the one that players assume for the size (ITU-R BT.601 below 720 lines).
func (v *VideoFacts) MatrixOr() string {
	switch {
	case v.Matrix != "":
		return v.Matrix
	case v.Width >= 1280 || v.Height > 576:
		return "bt709"
	}
	return "smpte170m"
}
