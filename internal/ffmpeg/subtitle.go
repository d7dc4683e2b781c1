package ffmpeg

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// textSubtitles are the subtitle codecs that hold text; all others hold pictures.
var textSubtitles = []string{"subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text", "ttml", "microdvd", "sami", "realtext", "subviewer", "subviewer1", "jacosub", "mpl2", "pjs", "stl", "vplayer", "eia_608", "hdmv_text_subtitle"}

// SubtitleForm is a form of subtitle text.
type SubtitleForm string

// The forms that [Subtitles] writes.
const (
	SRT    SubtitleForm = "srt"
	WebVTT SubtitleForm = "webvtt"
	ASS    SubtitleForm = "ass"
)

// Subtitles returns the run that writes subtitle track n (counted from 0) of input
// in as text to standard output, in UTF-8, with times on the file's own timeline
// (subtract Document.ZeroSeconds). Bitmap tracks, and captions hidden in the picture
// stream, are errors that say what they are.
func Subtitles(in int, f Format, d *Document, n int, form SubtitleForm) (argv.Command, error) {
	tracks := d.SubtitleStreams()
	if len(tracks) == 0 {
		if v := d.FirstVideo(); v != nil && v.Video.Captions {
			return argv.Command{}, cutroom.Errorf(cutroom.Unavailable, "the only captions are CEA-608/708 data inside the video stream, which are not extracted").
				WithHint("allow speech, give a transcript, or extract them with a program such as ccextractor")
		}
		return argv.Command{}, cutroom.Errorf(cutroom.Invalid, "the file has no subtitle track").WithHint("give a sidecar file or allow speech")
	}
	if n < 0 || n >= len(tracks) {
		return argv.Command{}, cutroom.Errorf(cutroom.Invalid, "there is no subtitle track %d: the file has %d", n, len(tracks)).
			WithHint("choose a track from 0 to %d", len(tracks)-1)
	}
	t := tracks[n]
	if t.Text == nil || !*t.Text {
		return argv.Command{}, cutroom.Errorf(cutroom.Unavailable, "subtitle track %d (%s) holds pictures, not text", n, t.CodecName).
			WithHint("allow speech, or read it with OCR from the frames")
	}
	if !slices.Contains([]SubtitleForm{SRT, WebVTT, ASS}, form) {
		return argv.Command{}, fmt.Errorf("unknown subtitle form %q", form)
	}
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts")
	args = append(args, f.input(0)...)
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", t.Index), "-c:s", string(form), "-f", string(form))...)
	return argv.Command{
		Step: "subtitles", Program: "ffmpeg", Inputs: f.Granted(in), Stage: "extracting the subtitles",
		Args: append(args, argv.Pipe(0)), Limits: argv.Limits{StdoutCap: 32 << 20},
	}, nil
}

// TextTrack returns the subtitle track that holds text, counted from 0: one in the
// language (a BCP 47 tag), else the default one, else the first; -1 when there is
// none.
func (d *Document) TextTrack(language string) int {
	best := -1
	for n, s := range d.SubtitleStreams() {
		switch {
		case s.Text == nil || !*s.Text:
		case language != "" && sameLanguage(s.Language, language):
			return n
		case best < 0 || slices.Contains(s.Disposition, "default"):
			best = n
		}
	}
	return best
}

// sameLanguage compares the primary subtags, of which the shorter is a two-letter
// code and the longer often its three-letter form.
func sameLanguage(a, b string) bool {
	a, _, _ = strings.Cut(strings.ToLower(a), "-")
	b, _, _ = strings.Cut(strings.ToLower(b), "-")
	return a != "" && b != "" && (a == b || len(a) != len(b) && a[:2] == b[:2])
}
