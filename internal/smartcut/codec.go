package smartcut

import (
	"fmt"
	"slices"
	"strings"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// h264Profiles are the profiles of H.264 that libx264 makes, in its words.
var h264Profiles = map[string]string{
	"Constrained Baseline": "baseline", "Baseline": "baseline", "Main": "main", "High": "high", "High 10": "high10",
	"High 4:2:2": "high422", "High 4:4:4 Predictive": "high444",
}

// hevcProfiles are those of HEVC that libx265 makes.
var hevcProfiles = map[string]string{"Main": "main", "Main 10": "main10", "Main Still Picture": "main"}

// encodes says why the frames at the ends of a cut cannot be encoded to match the
// source; "" when they can.
func (s Source) mismatch(a *ffmpeg.Abilities) string {
	v := s.video()
	need := func(encoder string) string {
		if !a.Encoder(encoder) {
			return "this ffmpeg has no encoder " + encoder
		}
		return ""
	}
	interlaced := v.Video.FieldOrder != "" && v.Video.FieldOrder != "progressive" && v.Video.FieldOrder != "unknown"
	switch v.CodecName {
	case "h264":
		if h264Profiles[v.Profile] == "" {
			return fmt.Sprintf("H.264 of profile %q cannot be encoded to match", v.Profile)
		}
		return need("libx264")
	case "hevc":
		switch {
		case v.Profile == "Rext" && v.Video.BitDepth <= 12:
		case hevcProfiles[v.Profile] == "":
			return fmt.Sprintf("HEVC of profile %q cannot be encoded to match", v.Profile)
		}
		if interlaced {
			return "interlaced HEVC cannot be encoded to match"
		}
		if v.Video.DolbyVision > 0 && !s.layered() {
			return "Dolby Vision without a base that plays by itself cannot be encoded to match"
		}
		return need("libx265")
	case "vp8":
		return need("libvpx")
	case "vp9":
		return need("libvpx-vp9")
	case "av1":
		return need("libaom-av1")
	}
	return fmt.Sprintf("%s cannot be encoded to match", v.CodecName)
}

// layered reports whether the picture is Dolby Vision of profile 8: HDR10 or HLG that
// plays by itself, and metadata in packets of their own beside it, which a cut leaves out.
func (s Source) layered() bool {
	v := s.video()
	return v.CodecName == "hevc" && v.Video.DolbyVision == 8 && v.Video.HDR != ""
}

// encoder are the options that encode a piece as the source is encoded, so closely that
// the difference is not seen.
func (s Source) encoder(x *index) []argv.Atom {
	v := s.video()
	args := argv.Words("-pix_fmt", v.Video.PixelFormat)
	args = append(args, s.colors()...)
	switch v.CodecName {
	case "h264":
		return append(args, s.x264(x)...)
	case "hevc":
		return append(args, s.x265(x)...)
	case "vp8":
		return append(args, argv.Words("-c:v", "libvpx", "-crf", "4", "-b:v", "20M", "-qmin", "0", "-qmax", "20", "-deadline", "good", "-cpu-used", "4", "-auto-alt-ref", "0", "-g", "9999")...)
	case "vp9":
		return append(args, argv.Words("-c:v", "libvpx-vp9", "-crf", "8", "-b:v", "0", "-deadline", "good", "-cpu-used", "5", "-row-mt", "1", "-lag-in-frames", "16", "-g", "9999")...)
	case "av1":
		return append(args, argv.Words("-c:v", "libaom-av1", "-crf", "10", "-b:v", "0", "-usage", "good", "-cpu-used", "6", "-row-mt", "1", "-lag-in-frames", "16", "-g", "9999", "-strict", "-2")...)
	}
	return args
}

// depth is how many B-frames make an encoder hold back as many frames as the source's
// did: one without a pyramid, two with one.
func depth(delay int) (frames int, pyramid string) {
	switch {
	case delay <= 0:
		return 0, "none"
	case delay == 1:
		return 1, "none"
	}
	return 3, "normal"
}

func (s Source) x264(x *index) []argv.Atom {
	v := s.video()
	frames, pyramid := depth(x.delay)
	params := []string{"sps-id=1", "keyint=infinite", "scenecut=0", "b-pyramid=" + pyramid}
	if x.refs > 0 {
		params = append(params, fmt.Sprintf("ref=%d", max(min(x.refs, 16), min(frames, 2)+1)))
	}
	switch v.Video.FieldOrder {
	case "tt", "tb":
		params = append(params, "tff=1")
	case "bb", "bt":
		params = append(params, "bff=1")
	}
	args := argv.Words("-c:v", "libx264", "-profile:v", h264Profiles[v.Profile], "-preset", "fast", "-crf", "12", "-bf", fmt.Sprint(frames))
	if x.level > 0 && x.level != 9 {
		args = append(args, argv.Words("-level:v", fmt.Sprintf("%d.%d", x.level/10, x.level%10))...)
	}
	return append(args, argv.Words("-x264-params", strings.Join(params, ":"))...)
}

func (s Source) x265(x *index) []argv.Atom {
	v := s.video()
	frames, pyramid := depth(x.delay)
	params := []string{"log-level=error", "keyint=-1", "scenecut=0", "no-open-gop=1", "repeat-headers=1", fmt.Sprintf("bframes=%d", frames)}
	if pyramid == "none" {
		params = append(params, "no-b-pyramid=1")
	}
	if v.Video.MasterDisplay != "" {
		params = append(params, "master-display="+v.Video.MasterDisplay)
	}
	if v.Video.LightLevel != "" {
		params = append(params, "max-cll="+v.Video.LightLevel)
	}
	args := argv.Words("-c:v", "libx265", "-preset", "fast", "-crf", "8")
	if p := hevcProfiles[v.Profile]; p != "" {
		args = append(args, argv.Words("-profile:v", p)...)
	}
	return append(args, argv.Words("-x265-params", strings.Join(params, ":"))...)
}

// colors are the source's colour tags, for the encoder to repeat.
func (s Source) colors() []argv.Atom {
	v := s.video().Video
	var args []argv.Atom
	for _, t := range []struct{ option, value string }{
		{"-color_range", v.Range}, {"-color_primaries", v.Primaries}, {"-color_trc", v.Transfer}, {"-colorspace", v.Matrix},
	} {
		if t.value != "" {
			args = append(args, argv.Words(t.option, t.value)...)
		}
	}
	return args
}

// pieceFormat is the container of the pieces: one that keeps the picture's own ticks.
func (s Source) pieceFormat() (suffix, muxer string) {
	switch c := s.video().CodecName; {
	case slices.Contains([]string{"h264", "hevc", "vp9", "av1", "mpeg4", "mpeg2video"}, c):
		return ".mp4", "mp4"
	case slices.Contains([]string{"prores", "mjpeg", "dnxhd", "png", "qtrle"}, c):
		return ".mov", "mov"
	}
	return ".mkv", "matroska"
}
