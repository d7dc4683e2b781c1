package graph

import (
	"fmt"

	"cutroom/internal/ffmpeg"
)

// Blank is a source of no file: the form of a picture of that size and rate, which
// clips with a [Fill] show. It has no sound; an edit that asks for some gets silence.
func Blank(width, height int, rate ffmpeg.Rational) Source {
	v := &ffmpeg.VideoFacts{
		Width: width, Height: height, DisplayWidth: width, DisplayHeight: height, FrameRate: rate, AverageRate: rate, PixelFormat: "gbrp", BitDepth: 8,
	}
	return Source{Input: -1, Name: fmt.Sprintf("a picture of %d×%d", width, height), Media: &ffmpeg.Document{
		Kind:    ffmpeg.Video,
		Streams: []ffmpeg.Stream{{CodecType: "video", CodecName: "rawvideo", Decodable: true, TimeBase: rate.Inverse(), Video: v}},
	}}
}

// EvenRate is the rate that a picture is brought to: its own, or where its frames are
// unevenly spaced the standard rate at or next above their average. Zero: unknown.
func EvenRate(v *ffmpeg.VideoFacts) ffmpeg.Rational {
	if !v.FrameRate.Known() {
		return v.FrameRate
	}
	return nominal(v.FrameRate, v.VFR.Variable)
}
