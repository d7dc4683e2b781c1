package graph

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// container says what a container is to ffmpeg and which codecs it holds.
type container struct {
	muxer        string
	video, audio []string // codecs it holds, the default first
	subtitle     string   // codec of text subtitles, "" for none
	mediaType    string
}

// containers are those that can be written.
var containers = map[string]container{
	"mp4":  {"mp4", []string{"h264", "hevc", "av1", "vp9", "mpeg4"}, []string{"aac", "mp3", "ac3", "eac3", "opus", "flac", "alac"}, "mov_text", "video/mp4"},
	"mov":  {"mov", []string{"h264", "hevc", "prores", "mpeg4", "mjpeg", "dnxhd"}, []string{"aac", "pcm_s16le", "pcm_s24le", "pcm_s32le", "alac", "mp3", "ac3"}, "mov_text", "video/quicktime"},
	"mkv":  {"matroska", nil, nil, "srt", "video/x-matroska"},
	"webm": {"webm", []string{"vp9", "vp8", "av1"}, []string{"opus", "vorbis"}, "webvtt", "video/webm"},
	"gif":  {"gif", []string{"gif"}, nil, "", "image/gif"},
	"m4a":  {"ipod", nil, []string{"aac", "alac"}, "", "audio/mp4"},
	"mp3":  {"mp3", nil, []string{"mp3"}, "", "audio/mpeg"},
	"wav":  {"wav", nil, []string{"pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le"}, "", "audio/wav"},
	"flac": {"flac", nil, []string{"flac"}, "", "audio/flac"},
	"ogg":  {"ogg", nil, []string{"vorbis", "opus", "flac"}, "", "audio/ogg"},
	"opus": {"opus", nil, []string{"opus"}, "", "audio/ogg"},
}

// ContainerOf returns the container that a file name's suffix (with its dot, any case)
// stands for. An unknown suffix is an error that lists what can be written.
func ContainerOf(suffix string) (string, error) {
	s := strings.ToLower(strings.TrimPrefix(suffix, "."))
	switch s {
	case "m4v":
		s = "mp4"
	case "qt":
		s = "mov"
	case "mka":
		s = "mkv"
	case "oga":
		s = "ogg"
	case "m4b":
		s = "m4a"
	case "wave":
		s = "wav"
	}
	if _, ok := containers[s]; ok {
		return s, nil
	}
	return "", cutroom.Errorf(cutroom.Invalid, "files of the kind %q cannot be written", suffix).
		WithHint("name an output that ends in .mp4, .mov, .mkv, .webm, .gif, .m4a, .mp3, .wav, .flac, .ogg or .opus")
}

// MediaType is the media type of a container's files.
func MediaType(name string) string { return containers[name].mediaType }

// HoldsPicture reports whether a container holds moving pictures.
func HoldsPicture(name string) bool { return name == "mkv" || len(containers[name].video) > 0 }

// holds reports whether a container holds a codec.
func holds(name, codec string) bool {
	k := containers[name]
	return name == "mkv" || slices.Contains(k.video, codec) || slices.Contains(k.audio, codec)
}

func faststart(name string) bool { return name == "mp4" || name == "mov" || name == "m4a" }

// muxer are the options of the container.
func muxer(t Target) []argv.Atom {
	args := argv.Words("-f", containers[t.Container].muxer)
	if faststart(t.Container) {
		args = append(args, argv.Words("-movflags", "+faststart")...)
	}
	return args
}

// hvcTag makes HEVC in MP4 and MOV play on Apple's players, which know hvc1 only.
func hvcTag(container, codec string) []argv.Atom {
	if codec == "hevc" && (container == "mp4" || container == "mov") {
		return argv.Words("-tag:v", "hvc1")
	}
	return nil
}

// videoCodec is the codec of the output's picture: the one asked for, else what the
// container takes first, and HEVC where high dynamic range is kept.
func (c *compiler) videoCodec(v *ffmpeg.Stream) string {
	switch t := c.g.Target; {
	case t.Video.Name != "":
		return t.Video.Name
	case c.out.hdr:
		return "hevc"
	case t.Container == "mkv":
		return "h264"
	default:
		return containers[t.Container].video[0]
	}
}

// holdsHDR reports whether the output can keep high dynamic range: 10 bits, in a codec
// whose files players show so.
func (c *compiler) holdsHDR() bool {
	t := c.g.Target
	switch t.Video.Name {
	case "":
		return t.Container != "webm" && t.Container != "gif"
	case "hevc", "av1", "vp9", "prores":
		return t.Video.PixelFormat == "" || strings.Contains(t.Video.PixelFormat, "10")
	}
	return false
}

// pixelFormat is that of the output.
func (c *compiler) pixelFormat(v *ffmpeg.VideoFacts, hdr bool) string {
	t := c.g.Target
	switch {
	case t.Video.PixelFormat != "":
		return t.Video.PixelFormat
	case t.Video.Name == "prores":
		return "yuv422p10le"
	case t.Container == "gif":
		return "rgb24"
	case hdr:
		return "yuv420p10le"
	}
	return "yuv420p"
}

// subsampled reports whether a format needs even sizes.
func (c *compiler) subsampled(format string) bool {
	return strings.Contains(format, "420") || strings.Contains(format, "422") || strings.HasPrefix(format, "nv")
}

// encoders are ffmpeg's encoders for a codec, the preferred first, with the default
// quality of each on its own scale.
var encoders = map[string][]struct {
	name    string
	quality int
}{
	"h264":   {{"libx264", 18}},
	"hevc":   {{"libx265", 20}},
	"vp9":    {{"libvpx-vp9", 31}},
	"av1":    {{"libsvtav1", 30}, {"libaom-av1", 30}},
	"prores": {{"prores_ks", 0}},
	"gif":    {{"gif", 0}},
	"mpeg4":  {{"mpeg4", 3}},
}

// encodeVideo are the options of the video encoder.
func (c *compiler) encodeVideo(v *ffmpeg.Stream) ([]argv.Atom, error) {
	codec, t := c.videoCodec(v), c.g.Target
	if !holds(t.Container, codec) {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s cannot hold %s video", t.Container, codec).WithHint("name an output with another suffix: .mp4, .mov or .mkv")
	}
	list := encoders[codec]
	i := slices.IndexFunc(list, func(e struct {
		name    string
		quality int
	},
	) bool {
		return c.a.Encoder(e.name)
	})
	if i < 0 {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this ffmpeg has no encoder for %s", codec).WithHint("install a full build of ffmpeg and run `cutroom setup`")
	}
	e := list[i]
	q := e.quality
	if t.Video.Quality > 0 {
		q = t.Video.Quality
	}
	args := argv.Words("-c:v", e.name)
	effort := or(t.Video.Effort, "medium")
	switch e.name {
	case "libx264":
		args = append(args, argv.Words("-preset", effort, "-crf", fmt.Sprint(q))...)
		if t.Video.Profile != "" {
			args = append(args, argv.Words("-profile:v", t.Video.Profile)...)
		}
	case "libx265":
		args = append(args, argv.Words("-preset", effort, "-crf", fmt.Sprint(q), "-x265-params", "log-level=error")...)
	case "libvpx-vp9":
		args = append(args, argv.Words("-crf", fmt.Sprint(q), "-b:v", "0", "-row-mt", "1", "-cpu-used", "3")...)
	case "libsvtav1":
		args = append(args, argv.Words("-preset", "8", "-crf", fmt.Sprint(q))...)
	case "libaom-av1":
		args = append(args, argv.Words("-crf", fmt.Sprint(q), "-b:v", "0", "-cpu-used", "6", "-row-mt", "1")...)
	case "prores_ks":
		args = append(args, argv.Words("-profile:v", or(t.Video.Profile, "hq"))...)
	case "mpeg4":
		args = append(args, argv.Words("-q:v", fmt.Sprint(q))...)
	}
	args = append(args, hvcTag(t.Container, codec)...)
	if codec != "gif" {
		args = append(args, argv.Words("-pix_fmt", c.out.format, "-color_range", c.out.color.rng, "-colorspace", c.out.color.matrix,
			"-color_primaries", c.out.color.primaries, "-color_trc", c.out.color.transfer)...)
	}
	return append(args, c.timing()...), nil
}

// timing keeps the frames' times as the graph made them: nothing is doubled or dropped
// behind it.
func (c *compiler) timing() []argv.Atom {
	args := c.a.FrameRateMode("passthrough")
	tb := c.line.unit
	if c.rate.Known() {
		tb = c.rate.Inverse()
	}
	if tb.Num < 1<<31 && tb.Den < 1<<31 {
		args = append(args, argv.Words("-enc_time_base:v", tb.String())...)
	}
	if t := c.g.Target.Container; t == "mp4" || t == "mov" {
		scale := tb.Den
		for scale < 10_000 { // short frames need a fine scale, and players like one
			scale *= 2
		}
		if tb.Num != 1 && c.rate.Known() {
			scale = c.rate.Num
			for scale < 10_000 {
				scale *= 2
			}
		}
		if scale < 1<<31 {
			args = append(args, argv.Words("-video_track_timescale", fmt.Sprint(scale))...)
		}
	}
	return args
}
