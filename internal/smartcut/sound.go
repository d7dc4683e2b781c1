package smartcut

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// encoders of sound, by codec.
var encoders = map[string]string{
	"aac": "aac", "mp3": "libmp3lame", "opus": "libopus", "vorbis": "libvorbis", "flac": "flac", "alac": "alac", "ac3": "ac3", "eac3": "eac3", "mp2": "mp2",
}

// kinds are the containers that are written here: their muxer, and the sound that they
// hold, the usual one first; nil is any.
var kinds = map[string]struct {
	muxer string
	sound []string
}{
	"mp4":  {"mp4", []string{"aac", "mp3", "ac3", "eac3", "opus", "flac", "alac", "mp2"}},
	"mov":  {"mov", []string{"aac", "alac", "mp3", "ac3", "eac3", "mp2", "pcm"}},
	"mkv":  {"matroska", []string{"aac", "mp3", "ac3", "eac3", "opus", "vorbis", "flac", "alac", "mp2", "pcm"}},
	"webm": {"webm", []string{"opus", "vorbis"}},
}

// holdsPicture reports whether a container holds the source's picture as it is.
func (s Source) holdsPicture(container string) bool {
	c := s.video().CodecName
	switch container {
	case "mkv":
		return true
	case "webm":
		return slices.Contains([]string{"vp8", "vp9", "av1"}, c)
	case "mp4":
		return slices.Contains([]string{"h264", "hevc", "vp9", "av1", "mpeg4", "mpeg2video"}, c)
	case "mov":
		return slices.Contains([]string{"h264", "hevc", "prores", "mjpeg", "dnxhd", "mpeg4", "qtrle", "png"}, c)
	}
	return false
}

// track is one audio stream of the output.
type track struct {
	stream *ffmpeg.Stream
	codec  string // as ffprobe names it
	exact  bool   // the codec loses nothing
	note   string // why it is not the source's codec
}

// tracks decides the codec of each audio stream: its own where that can be written.
func (s Source) tracks(container string, a *ffmpeg.Abilities) (list []track, dropped []string) {
	holds := kinds[container].sound
	for _, st := range s.Media.AudioStreams() {
		t := track{stream: st, codec: st.CodecName}
		if !st.Decodable || st.Audio.SampleRate <= 0 || st.Audio.Channels <= 0 {
			dropped = append(dropped, fmt.Sprintf("stream %d (audio %s): it cannot be decoded here", st.Index, st.CodecName))
			continue
		}
		family, pcm := t.codec, strings.HasPrefix(t.codec, "pcm_")
		if pcm {
			family = "pcm"
		}
		if !slices.Contains(holds, family) || !pcm && !a.Encoder(encoders[t.codec]) {
			t.codec = holds[0]
			t.note = fmt.Sprintf("audio stream %d becomes %s: %s cannot be written here", st.Index, t.codec, st.CodecName)
		}
		t.exact = pcm && t.codec == st.CodecName || (t.codec == "flac" || t.codec == "alac") && t.note == ""
		list = append(list, t)
	}
	return list, dropped
}

// encode are the options that encode track t as the n-th of the output.
func (t track) encode(n int) []argv.Atom {
	enc := encoders[t.codec]
	if enc == "" {
		enc = t.codec
	}
	of := func(option string) argv.Atom { return argv.Word(fmt.Sprintf("%s:a:%d", option, n)) }
	args := []argv.Atom{of("-c"), argv.Word(enc)}
	a := t.stream.Audio
	switch t.codec {
	case "flac", "alac":
		if a.SampleFormat != "" && t.exact {
			args = append(args, of("-sample_fmt"), argv.Word(t.sampleFormat()))
		}
		if a.BitDepth > 16 {
			args = append(args, of("-bits_per_raw_sample"), argv.Word(strconv.Itoa(min(a.BitDepth, 24))))
		}
	case "opus":
		args = append(args, of("-b"), argv.Word(strconv.FormatInt(t.rate(64_000), 10)))
		if a.Channels > 2 {
			args = append(args, of("-mapping_family"), argv.Word("1"))
		}
	case "aac", "mp3", "vorbis", "ac3", "eac3", "mp2":
		args = append(args, of("-b"), argv.Word(strconv.FormatInt(t.rate(96_000), 10)))
	}
	return append(args, t.tags(n)...)
}

// tags keeps a track's language, title and marks.
func (t track) tags(n int) []argv.Atom {
	var args []argv.Atom
	if l := t.stream.Language; l != "" {
		args = append(args, argv.Word(fmt.Sprintf("-metadata:s:a:%d", n)), argv.Word("language="+l))
	}
	if l := ffmpeg.TagText(t.stream.Title); l != "" {
		args = append(args, argv.Word(fmt.Sprintf("-metadata:s:a:%d", n)), argv.Word("title="+l))
	}
	if d := disposition(t.stream.Disposition); d != "" {
		args = append(args, argv.Word(fmt.Sprintf("-disposition:a:%d", n)), argv.Word(d))
	}
	return args
}

// sampleFormat is the form in which the encoder takes the samples that it keeps.
func (t track) sampleFormat() string {
	f := t.stream.Audio.SampleFormat
	if t.codec == "flac" {
		return strings.TrimSuffix(f, "p")
	}
	if !strings.HasSuffix(f, "p") {
		f += "p"
	}
	return f
}

// rate is the bit rate of the encoded track: the source's, and not less than what each
// channel needs to stay as it is.
func (t track) rate(each int64) int64 {
	least := each * int64(t.stream.Audio.Channels)
	most := least * 2
	switch t.codec {
	case "mp3":
		most = 320_000
	case "mp2":
		most = 384_000
	case "ac3":
		most = 640_000
	}
	return min(max(least, t.stream.BitRate), max(least, most), 512_000, most)
}

// samples is t in samples at a rate, to the nearest.
func samples(t ffmpeg.Ticks, tb ffmpeg.Rational, rate int) int64 {
	num := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(2*tb.Num))
	num.Mul(num, big.NewInt(int64(rate)))
	den := big.NewInt(tb.Den)
	num.Add(num, den)
	return num.Div(num, den.Lsh(den, 1)).Int64()
}

// soundChains are the filters that cut a track out of the inputs from first on, one for
// each cut, and lay the parts one behind the other, to the sample.
func (s Source) soundChains(n int, t track, cuts []cut, first int) string {
	tb, rate := s.video().TimeBase, t.stream.Audio.SampleRate
	var chains []string
	var joined strings.Builder
	var at ffmpeg.Ticks
	for i, c := range cuts {
		length := samples(at+c.to-c.from, tb, rate) - samples(at, tb, rate)
		at += c.to - c.from
		from := samples(c.from, tb, rate)
		begin := s.Media.FirstSample(t.stream, s.start(c))
		label := fmt.Sprintf("[a%dp%d]", n, i)
		if len(cuts) == 1 {
			label = fmt.Sprintf("[a%d]", n)
		}
		chains = append(chains, fmt.Sprintf("[%d:%d]aresample=async=1:min_comp=0.000001:first_pts=%d,atrim=start_pts=%d:end_pts=%d,asetpts=PTS-STARTPTS,apad=whole_len=%d,atrim=end_sample=%d%s",
			first+i, t.stream.Index, min(begin, from), from, from+length, length, length, label))
		joined.WriteString(label)
	}
	if len(cuts) > 1 {
		chains = append(chains, fmt.Sprintf("%sconcat=n=%d:v=0:a=1[a%d]", joined.String(), len(cuts), n))
	}
	return strings.Join(chains, ";")
}

// start is where a cut begins on the public axis.
func (s Source) start(c cut) cutroom.Micros { return s.Media.Time(s.video(), c.from) }

// openSound opens the source for the sound of a cut, early enough for the codec.
func (s Source) openSound(c cut) []argv.Atom {
	args := argv.Words("-vn", "-noaccurate_seek")
	if t := s.Media.SeekBefore(s.start(c)); t > 0 {
		args = append(args, argv.Word("-ss"), argv.Decimal(t.String()))
	}
	return append(args, s.Format.Input(0)...)
}
