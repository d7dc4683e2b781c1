package graph

import (
	"fmt"
	"slices"
	"strings"

	"cutroom/internal/sandbox/argv"
)

// audioCodec is the codec of the output's sound: the one asked for, else what the
// container takes first. Lossless sound stays lossless in Matroska.
func (c *compiler) audioCodec(t track) string {
	k := c.g.Target
	switch {
	case k.Audio.Name != "":
		return k.Audio.Name
	case k.Container == "mkv" && t.stream != nil && slices.Contains([]string{"flac", "opus", "pcm_s16le", "pcm_s24le"}, t.stream.CodecName):
		return t.stream.CodecName
	case k.Container == "mkv":
		return "aac"
	case k.Container == "wav" && t.stream != nil && strings.HasPrefix(t.stream.CodecName, "pcm_f"):
		return "pcm_f32le"
	case k.Container == "wav" && t.stream != nil && t.stream.Audio.BitDepth > 24:
		return "pcm_s32le"
	case k.Container == "wav" && t.stream != nil && t.stream.Audio.BitDepth > 16:
		return "pcm_s24le"
	}
	return containers[k.Container].audio[0]
}

var audioEncoders = map[string]string{
	"aac": "aac", "mp3": "libmp3lame", "opus": "libopus", "vorbis": "libvorbis", "flac": "flac", "alac": "alac", "ac3": "ac3", "eac3": "eac3",
	"pcm_s16le": "pcm_s16le", "pcm_s24le": "pcm_s24le", "pcm_s32le": "pcm_s32le", "pcm_f32le": "pcm_f32le",
}

// codecRates are the sample rates that encoders take, rising; a codec that is not here
// takes any.
var codecRates = map[string][]int{
	"opus": {48000},
	"mp3":  {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000},
	"aac":  {7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000},
	"ac3":  {32000, 44100, 48000},
	"eac3": {32000, 44100, 48000},
}

// encodedRate is the rate of the encoded track: the one asked for or its own, and the
// next above it that the codec takes.
func (c *compiler) encodedRate(codec string, rate int) int {
	if r := c.g.Target.Audio.Rate; r > 0 {
		rate = r
	}
	list := codecRates[codec]
	if list == nil || slices.Contains(list, rate) {
		return rate
	}
	i, _ := slices.BinarySearch(list, rate)
	to := list[min(i, len(list)-1)]
	c.note("%s takes no %d Hz: the sound is resampled to %d Hz", codec, rate, to)
	return to
}

// encodedLayout is the layout that an encoder has to be given for sound of a layout, ""
// for the sound's own. Encoders label what they do not know with a wrong layout, or with
// none, or refuse it (measured on ffmpeg 5.1).
func encodedLayout(codec, from string, channels int) (layout string, n int) {
	usual := []string{"", "mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"} // as Ogg orders them, RFC 7845 section 5.1.1.2
	switch codec {
	case "mp3":
		if channels > 2 {
			return "stereo", 2
		}
	case "opus", "vorbis":
		if channels > 2 && channels < len(usual) {
			return usual[channels], channels
		}
	case "aac":
		switch {
		case channels == 4 && from == "4.0" || channels == 3 && from == "2.1", channels <= 2:
		case channels < len(usual):
			return usual[channels], channels
		}
	case "ac3", "eac3":
		if channels > 6 {
			return "5.1", 6
		}
	}
	return "", channels
}

// suited brings sound into the rate and the layout that the codec takes.
func (c *compiler) suited(codec string, t track, label string) (track, int, string) {
	rate := c.encodedRate(codec, t.rate)
	own := t.layout
	if t.stream != nil && t.stream.Audio.Channels == t.channels && t.stream.Audio.Layout != "" {
		own = t.stream.Audio.Layout
	}
	layout, n := encodedLayout(codec, own, t.channels)
	var f []string
	switch {
	case layout == "" || layout == own:
	case n < t.channels && n == 2:
		c.note("%s takes no more than two channels: the %d are mixed down", codec, t.channels)
		f = append(f, mixdown(own, t.channels, "stereo"))
	default:
		f = append(f, "aformat=channel_layouts="+layout)
	}
	if layout != "" {
		t.layout, t.channels = layout, n
	}
	if rate != t.rate {
		f = append(f, fmt.Sprintf("aresample=%d", rate))
	}
	if len(f) == 0 {
		return t, rate, label
	}
	c.chains = append(c.chains, fmt.Sprintf("[%s]%s[%ss]", label, strings.Join(f, ","), label))
	return t, rate, label + "s"
}

// audioQuality are the options that say how much of the sound a lossy codec keeps: 96
// kbit/s for each channel, unless a bitrate is asked for.
func (c *compiler) audioQuality(codec, spec string, channels int) []argv.Atom {
	most := 320_000
	switch codec {
	case "aac", "opus":
		most = 512_000
	case "mp3", "ac3", "eac3":
	case "vorbis":
		return argv.Words("-q"+spec, vorbisQuality(c.g.Target.Audio.Bitrate, channels))
	default:
		return nil
	}
	bits := c.g.Target.Audio.Bitrate
	if bits <= 0 {
		bits = min(96_000*channels, most)
	}
	return argv.Words("-b"+spec, fmt.Sprint(bits))
}

// vorbisQuality is the quality that comes nearest to a bitrate: libvorbis refuses
// bitrates that it has no setting for at a sample rate, but no quality. The steps are
// those of its nominal bitrates for stereo at 44.1 kHz.
func vorbisQuality(bitrate, channels int) string {
	if bitrate <= 0 {
		return "6"
	}
	steps := []int{64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 500}
	kilobits := bitrate * 2 / max(1, channels) / 1000
	i, _ := slices.BinarySearch(steps, kilobits)
	return fmt.Sprint(min(i, len(steps)-1))
}
