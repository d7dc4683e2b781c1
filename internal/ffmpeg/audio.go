package ffmpeg

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// AudioOptions says what sound to extract.
type AudioOptions struct {
	Stream     int            // n-th audio stream, from 0
	SampleRate int            // 16000, 22050, 44100 or 48000 Hz
	Channels   int            // 1 or 2
	Start, End cutroom.Micros // range on the public axis; End 0 is the end of the file
	File       string         // generated name in the private folder, e.g. "audio.wav"
}

// SampleRates are the rates that extraction offers.
var SampleRates = []int{16000, 22050, 44100, 48000}

// Extraction is a run that extracts sound, and what its output will be.
type Extraction struct {
	Command argv.Command
	File    string
	// StartOffset is where the first sample of the file lies on the public axis: sound
	// may begin after the pictures. Add it to every time found in the file.
	StartOffset cutroom.Micros
	Stream      int // index of the stream in the source
}

// ExtractAudio returns the run that writes 16-bit PCM as a WAV file. More channels
// than asked for are mixed down with the centre, where speech is.
// A file without sound, or a range outside it, is an error before anything runs.
func ExtractAudio(in int, f Format, d *Document, o AudioOptions) (Extraction, error) {
	s, err := d.AudioStream(o.Stream)
	if err != nil {
		return Extraction{}, err
	}
	if !slices.Contains(SampleRates, o.SampleRate) || o.Channels < 1 || o.Channels > 2 {
		return Extraction{}, cutroom.Errorf(cutroom.Invalid, "audio is extracted at 16000, 22050, 44100 or 48000 Hz with 1 or 2 channels, not at %d Hz with %d", o.SampleRate, o.Channels)
	}
	end := o.End
	if end == 0 || end > d.DurationSeconds && d.DurationSeconds > 0 {
		end = d.DurationSeconds
	}
	if o.Start < 0 || o.Start >= end && end > 0 {
		return Extraction{}, cutroom.Errorf(cutroom.Invalid, "the range from %s s to %s s holds no sound: the file is %s s long", o.Start, o.End, d.DurationSeconds).
			WithHint("choose a start before the end of the file")
	}
	e := Extraction{File: o.File, Stream: s.Index, StartOffset: max(o.Start, s.StartSeconds)}
	if s.EndSeconds > 0 && o.Start >= s.EndSeconds {
		return Extraction{}, cutroom.Errorf(cutroom.Invalid, "the sound ends at %s s, before the range that starts at %s s", s.EndSeconds, o.Start)
	}
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts", "-vn", "-sn", "-dn")
	args = append(args, d.seek(o.Start)...)
	args = append(args, f.input(0)...)
	args = append(args, argv.Words("-filter_complex")...)
	args = append(args, argv.Graph(d.soundGraph(s, o, end)))
	rf64 := "never" // a plain header of 44 bytes
	if d.DurationSeconds <= 0 || (end-o.Start).Seconds()*float64(2*o.Channels*o.SampleRate) > 4e9 {
		rf64 = "auto"
	}
	args = append(args, argv.Words("-map", "[a]", "-c:a", "pcm_s16le", "-ar", fmt.Sprint(o.SampleRate), "-bitexact", "-map_metadata", "-1", "-rf64", rf64, "-f", "wav")...)
	e.Command = argv.Command{
		Step: "audio", Program: "ffmpeg", Inputs: f.Granted(in), Stage: "extracting the sound",
		Args: append(args, argv.Out(o.File)), Outputs: []string{o.File},
	}
	return e, nil
}

// preroll is how much sound is decoded before a range and thrown away: codecs need a
// few packets to come to the right samples.
const preroll = cutroom.Second

// seekBefore returns the -ss value that starts safely before public time t, 0 for the
// start of the file.
func (d *Document) seekBefore(t cutroom.Micros) cutroom.Micros {
	lead := preroll
	if slices.Contains([]string{"mpegts", "mpeg"}, d.FormatName) {
		lead = 6 * cutroom.Second
	}
	if t <= lead {
		return 0
	}
	return t + d.ZeroSeconds - d.StartSeconds - lead
}

// soundGraph cuts to the range on the file's own timeline, fills holes between
// packets so that a sample's number is its time, and mixes.
func (d *Document) soundGraph(s *Stream, o AudioOptions, end cutroom.Micros) string {
	chain := []string{fmt.Sprintf("[0:%d]aresample=async=1:first_pts=%d:osr=%d", s.Index, d.firstSample(s, o.Start), o.SampleRate)}
	if mix := mixdown(s.Audio, o.Channels); mix != "" {
		chain = []string{fmt.Sprintf("[0:%d]%s", s.Index, mix), chain[0][strings.Index(chain[0], "]")+1:]}
	}
	if o.Start > 0 || o.End > 0 {
		from := max(0, o.Start) + d.ZeroSeconds
		chain = append(chain, fmt.Sprintf("atrim=start=%s:end=%s", decimal(from), decimal(end+d.ZeroSeconds)))
	}
	chain = append(chain, "asetpts=N/SR/TB")
	return strings.Join(chain, ",") + "[a]"
}

// firstSample returns the number of the first sample on the file's timeline, counted
// at the stream's own rate as aresample's first_pts counts.
func (d *Document) firstSample(s *Stream, start cutroom.Micros) int64 {
	first := max(s.StartSeconds, 0)
	if start > first {
		first = max(0, start-preroll)
		if first < s.StartSeconds {
			first = s.StartSeconds
		}
	}
	return muldiv(int64(first+d.ZeroSeconds), int64(s.Audio.SampleRate), 1_000_000, nearest)
}

// mixdown returns the filter that mixes a layout to n channels, empty when none is
// needed. Weights follow ITU-R BS.775 (centre and surrounds at −3 dB; no LFE) and are
// not scaled down by the number of channels, so that a voice in the centre keeps its
// level. Layouts unknown here are left to ffmpeg's own mixer.
func mixdown(a *AudioFacts, n int) string {
	names := layouts[a.Layout]
	if a.Channels <= n {
		return fmt.Sprintf("aformat=channel_layouts=%s", [...]string{1: "mono", 2: "stereo"}[n])
	}
	if len(names) != a.Channels {
		return fmt.Sprintf("aformat=channel_layouts=%s", [...]string{1: "mono", 2: "stereo"}[n])
	}
	var outs [][2]float64
	for _, c := range names {
		outs = append(outs, weights[c])
	}
	if n == 1 {
		return "pan=mono|" + term("c0", outs, func(w [2]float64) float64 { return (w[0] + w[1]) / 2 })
	}
	return "pan=stereo|" + term("c0", outs, func(w [2]float64) float64 { return w[0] }) +
		"|" + term("c1", outs, func(w [2]float64) float64 { return w[1] })
}

func term(out string, ws [][2]float64, pick func([2]float64) float64) string {
	var parts []string
	for i, w := range ws {
		if v := pick(w); v > 0 {
			parts = append(parts, fmt.Sprintf("%.4f*c%d", v, i))
		}
	}
	return out + "=" + strings.Join(parts, "+")
}

// weights are the shares of a channel in left and right.
var weights = map[string][2]float64{
	"FL": {1, 0}, "FR": {0, 1}, "FC": {0.7071, 0.7071}, "LFE": {0, 0},
	"BL": {0.7071, 0}, "BR": {0, 0.7071}, "SL": {0.7071, 0}, "SR": {0, 0.7071}, "BC": {0.5, 0.5},
	"FLC": {0.85, 0.35}, "FRC": {0.35, 0.85},
}

// layouts are the channels of ffmpeg's layouts, in order.
var layouts = map[string][]string{
	"stereo": {"FL", "FR"}, "2.1": {"FL", "FR", "LFE"}, "3.0": {"FL", "FR", "FC"}, "3.0(back)": {"FL", "FR", "BC"},
	"4.0": {"FL", "FR", "FC", "BC"}, "quad": {"FL", "FR", "BL", "BR"}, "quad(side)": {"FL", "FR", "SL", "SR"},
	"3.1": {"FL", "FR", "FC", "LFE"}, "5.0": {"FL", "FR", "FC", "BL", "BR"}, "5.0(side)": {"FL", "FR", "FC", "SL", "SR"},
	"4.1": {"FL", "FR", "FC", "LFE", "BC"}, "5.1": {"FL", "FR", "FC", "LFE", "BL", "BR"}, "5.1(side)": {"FL", "FR", "FC", "LFE", "SL", "SR"},
	"6.1": {"FL", "FR", "FC", "LFE", "BC", "SL", "SR"}, "7.1": {"FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR"},
}
