package ffmpeg

import (
	"fmt"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// SmallerOptions says what copy of a recording to make for somebody who is to look at it
// or listen to it once.
type SmallerOptions struct {
	Start, End cutroom.Micros // range on the public axis; End 0 is the end of the file
	MaxBytes   int64          // largest copy
	AudioNth   int            // n-th audio stream, from 0
	File       string         // generated name in the private folder
	Step       string
}

// Lines and rates of a smaller video: enough to read what is written large, and to see
// what moves.
const (
	smallerLines = 540
	smallerFPS   = 15
	mostBitRate  = 1_500_000
	leastBitRate = 60_000
	soundBitRate = 48_000
)

// SmallerVideo returns the run that makes a copy of 540 lines, H.264 with mono AAC, at a
// bit rate at which it has at most MaxBytes. Nothing that the file says of itself, such as
// a place, goes along. What would have to be coded at less than 60 kbit/s is a limit error.
func SmallerVideo(in int, f Format, d *Document, a *Abilities, o SmallerOptions) (argv.Command, error) {
	s, err := d.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	if !a.Encoder("libx264") {
		return argv.Command{}, cutroom.Errorf(cutroom.MissingDependency, "a smaller copy needs the encoder libx264, which the pinned ffmpeg does not have").
			WithHint("install a full ffmpeg build and run `cutroom setup`")
	}
	start, length := o.span(d)
	rate, err := o.bitRate(length, len(d.AudioStreams()) > 0)
	if err != nil {
		return argv.Command{}, err
	}
	dec, err := s.decoder(a)
	if err != nil {
		return argv.Command{}, err
	}
	args := append(argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y"), dec...)
	args = append(args, argv.Word("-noautorotate"))
	if at := start + d.ZeroSeconds - d.StartSeconds; start > 0 && at > 0 {
		args = append(args, argv.Word("-ss"), argv.Decimal(decimal(at)))
	}
	if length > 0 {
		args = append(args, argv.Word("-t"), argv.Decimal(decimal(length)))
	}
	args = append(args, f.input(0)...)
	w, h := s.Video.lines(smallerLines)
	show := s.Video.display(a, false)
	graph := fmt.Sprintf("[0:%d]fps=%d,%s,scale=in_color_matrix=bt601:in_range=full:out_color_matrix=bt709:out_range=limited,format=yuv420p[v]", s.Index, smallerFPS, show.filters(w, h, "v"))
	args = append(args, argv.Word("-filter_complex"), argv.Graph(graph))
	args = append(args, argv.Words("-map", "[v]", "-c:v", "libx264", "-preset", "veryfast", "-b:v", fmt.Sprint(rate), "-maxrate", fmt.Sprint(rate), "-bufsize", fmt.Sprint(2*rate))...)
	if sound, err := d.AudioStream(o.AudioNth); err == nil && sound.Decodable {
		args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", sound.Index), "-c:a", "aac", "-b:a", fmt.Sprint(soundBitRate), "-ac", "1", "-ar", "24000")...)
	}
	args = append(args, argv.Words("-map_metadata", "-1", "-map_chapters", "-1", "-movflags", "+faststart", "-f", "mp4")...)
	return argv.Command{
		Step: o.Step, Program: "ffmpeg", Inputs: f.Granted(in), Stage: "making a smaller copy",
		Args: append(args, argv.Out(o.File)), Outputs: []string{o.File},
	}, nil
}

// span is the range of the copy; its length is 0 when the file does not say how long it is.
func (o SmallerOptions) span(d *Document) (start, length cutroom.Micros) {
	end := o.End
	if end == 0 || d.DurationSeconds > 0 && end > d.DurationSeconds {
		end = d.DurationSeconds
	}
	return o.Start, max(0, end-o.Start)
}

// bitRate is that of the picture.
func (o SmallerOptions) bitRate(length cutroom.Micros, sound bool) (int64, error) {
	if length <= 0 || o.MaxBytes <= 0 {
		return mostBitRate, nil
	}
	rate := int64(float64(o.MaxBytes) * 8 * 0.9 / length.Seconds())
	if sound {
		rate -= soundBitRate
	}
	if rate < leastBitRate {
		return 0, cutroom.Errorf(cutroom.Limit, "%s s do not fit into %d bytes", length, o.MaxBytes).WithHint("ask for a shorter range (--start, --end)")
	}
	return min(rate, mostBitRate), nil
}

// lines returns the size of the picture as shown with its shorter side at most n, in even
// numbers.
func (v *VideoFacts) lines(n int) (w, h int) {
	w, h = max(2, v.DisplayWidth), max(2, v.DisplayHeight)
	if short := min(w, h); short > n {
		w, h = int(muldiv(int64(w), int64(n), int64(short), nearest)), int(muldiv(int64(h), int64(n), int64(short), nearest))
	}
	return max(2, w&^1), max(2, h&^1)
}

// SpeechCopy is a run that makes a small copy of sound, and what it will be.
type SpeechCopy struct {
	Command     argv.Command
	File        string
	MediaType   string
	StartOffset cutroom.Micros // add it to every time found in the copy
}

// SpeechBytes is how many bytes a second of a speech copy has, as MP3.
const SpeechBytes = 4000

// SmallerSound returns the run that writes the range of a recording as mono speech at
// 16 kHz: MP3 of 32 kbit/s, or WAV where the pinned ffmpeg cannot write that.
func SmallerSound(in int, f Format, d *Document, a *Abilities, o SmallerOptions) (SpeechCopy, error) {
	form, ext, media := argv.Words("-c:a", "libmp3lame", "-b:a", "32k", "-f", "mp3"), ".mp3", "audio/mpeg"
	if !a.Encoder("libmp3lame") {
		form, ext, media = argv.Words("-c:a", "pcm_s16le", "-f", "wav"), ".wav", "audio/wav"
	}
	e, err := ExtractAudio(in, f, d, AudioOptions{Stream: o.AudioNth, SampleRate: 16000, Channels: 1, Start: o.Start, End: o.End, File: o.File + ext})
	if err != nil {
		return SpeechCopy{}, err
	}
	head := e.Command.Args
	for i, atom := range head {
		if atom == argv.Word("-c:a") {
			head = head[:i]
			break
		}
	}
	args := append(append([]argv.Atom{}, head...), argv.Words("-ar", "16000", "-bitexact", "-map_metadata", "-1")...)
	args = append(append(args, form...), argv.Out(e.File))
	e.Command.Args, e.Command.Step, e.Command.Stage = args, o.Step, "making a smaller copy"
	return SpeechCopy{Command: e.Command, File: e.File, MediaType: media, StartOffset: e.StartOffset}, nil
}

// CutAtSilence divides a recording into parts of about a length, each cut in the middle of
// a silence where there is one near, else where the length ends. Neighbouring parts
// overlap.
func CutAtSilence(start, end, about, overlap cutroom.Micros, silences []Span) []Span {
	if about <= 0 || end-start <= about+about/4 {
		return []Span{{start, end}}
	}
	var parts []Span
	for at := start; ; {
		want := at + about
		if end-want < about/4 {
			return append(parts, Span{at, end})
		}
		cut := nearestSilence(want, about/4, silences)
		parts = append(parts, Span{at, min(end, cut+overlap/2)})
		at = max(at+about/2, cut-overlap/2)
	}
}

// nearestSilence is the middle of the silence nearest to a time, within reach of it; the
// time itself when there is none.
func nearestSilence(want, reach cutroom.Micros, silences []Span) cutroom.Micros {
	best, near := want, reach
	for _, s := range silences {
		middle := s.StartSeconds + (s.EndSeconds-s.StartSeconds)/2
		if d := max(middle-want, want-middle); d <= near {
			best, near = middle, d
		}
	}
	return best
}
