package graph

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
)

// reelTick is the time base of ffmpeg's reader of animated PNGs.
var reelTick = ffmpeg.Rational{Num: 1, Den: 100_000}

// Reel is an animated PNG of the private folder as a source of a layer: pictures of
// that size which come and go at their times in the edit. Such a layer begins with the
// edit and holds its last picture, which is empty.
func Reel(file string, width, height int, length cutroom.Micros) Source {
	v := &ffmpeg.VideoFacts{
		Width: width, Height: height, DisplayWidth: width, DisplayHeight: height, PixelFormat: "rgba", BitDepth: 8, Alpha: true,
	}
	return Source{Format: ffmpeg.MadeFormat(file, "apng"), Name: "emoji", Media: &ffmpeg.Document{
		Kind: ffmpeg.Video, DurationSeconds: length,
		Streams: []ffmpeg.Stream{{CodecType: "video", CodecName: "apng", Decodable: true, TimeBase: reelTick, Video: v}},
	}}
}
