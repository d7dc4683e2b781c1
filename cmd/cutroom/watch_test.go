package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/video"
)

// real puts a real file into a new workspace.
func real(t *testing.T, file string) (*workspace, string) {
	t.Helper()
	w := open(t, "")
	return w, w.copy(filepath.Join(testenv.Real(t), file), file)
}

// made puts a built input into a new workspace.
func made(t *testing.T, file string) (*workspace, string) {
	t.Helper()
	w := open(t, "")
	return w, w.copy(filepath.Join(testenv.Cases(t), file), file)
}

func (w *workspace) watch(file string, mode media.Mode) *media.WatchResult {
	w.t.Helper()
	return must[media.WatchResult](w, "media.watch", media.WatchInput{Source: local(file), Mode: mode})
}

func kinds(events []evidence.Event, kind evidence.Kind) []evidence.Event {
	var list []evidence.Event
	for _, e := range events {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

// TestWatchExample is the end-to-end truth: a voice that says "banana" at 40 s, and
// a timecode on screen that counts frames.
func TestWatchExample(t *testing.T) {
	t.Parallel()
	w, file := real(t, "example.mp4")
	r := w.watch(file, media.Timeline)
	if r.Status != cutroom.Completed {
		t.Errorf("status %s: %v", r.Status, r.PartialReasons)
	}
	banana := false
	for _, e := range kinds(r.Timeline, evidence.Spoken) {
		if strings.Contains(strings.ToLower(e.Text), "banana") && e.TimestampSeconds >= 38*cutroom.Second && e.TimestampSeconds <= 42*cutroom.Second {
			banana = true
		}
	}
	if !banana {
		t.Error("no spoken banana between 38 and 42 s")
	}
	shown := map[cutroom.Micros]string{}
	for _, e := range kinds(r.Timeline, evidence.ScreenText) {
		shown[e.TimestampSeconds] = e.Text
	}
	if len(r.Frames) < 8 {
		t.Errorf("%d frames", len(r.Frames))
	}
	for _, f := range r.Frames {
		if at := *f.TimestampSeconds; shown[at] != timecode(at, 30) {
			t.Errorf("the frame at %s s shows %q, not %s", at, shown[at], timecode(at, 30))
		}
	}
	again, err := w.call("media.watch", media.WatchInput{Source: local(file), Mode: media.Timeline})
	if err != nil {
		t.Fatal(err)
	}
	if !again.Reused {
		t.Error("the second watch ran")
	}
	if a, b := timeless(t, r), timeless(t, again.Output.(*media.WatchResult)); !bytes.Equal(a, b) {
		t.Errorf("the second watch answers otherwise:\n%s\n%s", a, b)
	}
}

// timecode is what the example shows at a time: an hour is added on screen.
func timecode(at cutroom.Micros, rate int64) string {
	n := (int64(at)*rate + 500_000) / 1_000_000
	return fmt.Sprintf("01:%02d:%02d:%02d", n/rate/60, n/rate%60, n%rate)
}

// timeless is a result without what may differ between equal calls.
func timeless(t *testing.T, r *media.WatchResult) []byte {
	t.Helper()
	c := *r
	c.Stages = append([]media.Stage{}, r.Stages...)
	for i := range c.Stages {
		c.Stages[i].Seconds, c.Stages[i].Reused = 0, false
	}
	raw, err := tool.Encode(&c)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const twoCities = "it was the best of times it was the worst of times it was the age of wisdom it was the age of foolishness it was the epoch of belief it was the epoch of incredulity it was the season of light it was the season of darkness it was the spring of hope it was the winter of despair we had everything before us we had nothing before us we were all going direct to heaven we were all going direct the other way in short the period was so far like the present period that some of its noisiest authorities insisted on its being received for good or for evil in the superlative degree of comparison only"

func TestWatchHearsEnglish(t *testing.T) {
	t.Parallel()
	for file, said := range map[string]string{
		"jfk.wav":            "and so my fellow americans ask not what your country can do for you ask what you can do for your country",
		"two_cities_16k.wav": twoCities,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			w, name := real(t, file)
			var heard []string
			for _, e := range kinds(w.watch(name, media.Transcript).Timeline, evidence.Spoken) {
				heard = append(heard, e.Text)
			}
			wrong, words := evidence.WordErrors(said, strings.Join(heard, " "))
			if wrong*20 > words {
				t.Errorf("%d of %d words are wrong: %s", wrong, words, heard)
			}
		})
	}
}

// TestWatchInventsNoSpeech: music, silence, noise and tones are not speech, and a
// language that the engine does not speak is not printed as fact.
func TestWatchInventsNoSpeech(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, s := range []struct{ name, graph string }{
		{"noise.wav", "anoisesrc=color=pink:duration=12:amplitude=0.3"},
		{"tones.wav", "sine=frequency=440:duration=8"},
		{"silence.wav", "anullsrc=r=16000:cl=mono:d=8"},
	} {
		testenv.FFmpeg(t, "-f", "lavfi", "-i", s.graph, "-ar", "16000", filepath.Join(w.dir, s.name))
	}
	files := []string{"noise.wav", "tones.wav", "silence.wav"}
	for _, f := range []string{"viper.mp3", "pv_empty.wav", "pv_test_es.wav"} {
		files = append(files, w.copy(filepath.Join(testenv.Real(t), f), f))
	}
	for _, f := range files {
		r := w.watch(f, media.Transcript)
		if said := kinds(r.Timeline, evidence.Spoken); len(said) > 0 {
			t.Errorf("%s: %v was heard", f, said)
		}
		if spanish := f == "pv_test_es.wav"; spanish != (r.Status == cutroom.Partial) || spanish && len(kinds(r.Timeline, evidence.Uncertain)) == 0 {
			t.Errorf("%s: status %s, reasons %v, timeline %v", f, r.Status, r.PartialReasons, r.Timeline)
		}
	}
}

// TestFramesAreExact reads the frame counter burned into the picture.
func TestFramesAreExact(t *testing.T) {
	t.Parallel()
	w, file := real(t, "smpte-2997.mp4")
	r := must[video.ExtractFramesOutput](w, "video.extract_frames", video.ExtractFramesInput{
		Source: local(file), TimestampsSeconds: []cutroom.Micros{3 * cutroom.Second}, FullSize: true, Detail: "full",
	})
	o := must[video.OCRFramesOutput](w, "video.ocr_frames", video.OCRFramesInput{Frames: r.Frames})
	if !strings.Contains(o.Items[0].Text, "00:00:03;00") {
		t.Errorf("at 3 s the picture says %q", o.Items[0].Text)
	}
}

// TestRow59: a clip that never changes still gives its first, middle and last frame.
func TestRow59StaticClip(t *testing.T) {
	t.Parallel()
	w, file := made(t, "b17_static.mp4")
	r := w.watch(file, media.Frames)
	if len(r.Frames) != 3 || *r.Frames[0].TimestampSeconds != 0 || *r.Frames[2].TimestampSeconds != 19_960_000 || r.FrameMethod == "" {
		t.Errorf("frames %v by %q", r.Frames, r.FrameMethod)
	}
}

// At low detail, a clip with one key frame still gives its first, middle and last frame.
func TestLowDetailWithOneKeyFrame(t *testing.T) {
	t.Parallel()
	w, file := made(t, "b34_sparsekf.mkv")
	r := must[media.WatchResult](w, "media.watch", media.WatchInput{Source: local(file), Mode: media.Frames, Detail: "low"})
	if len(r.Frames) != 3 || *r.Frames[2].TimestampSeconds < 29_000_000 || r.FrameMethod == "keyframe" {
		t.Errorf("frames %v by %q", r.Frames, r.FrameMethod)
	}
}

// TestRow17: sound that starts late keeps its place in the recording.
func TestRow17AudioOffset(t *testing.T) {
	t.Parallel()
	w, file := made(t, "b33_avoffset.mp4")
	r := must[video.ExtractAudioOutput](w, "video.extract_audio", video.ExtractAudioInput{Source: local(file), Detail: "full"})
	if at := *r.StartOffsetSeconds; at < 650_000 || at > 750_000 {
		t.Errorf("the sound is said to start at %s s", at)
	}
}

// TestRow32: speech that lives in the centre channel is not lost in the mix.
func TestRow32CentreChannel(t *testing.T) {
	t.Parallel()
	w, file := made(t, "b11_51.m4a")
	r := must[video.ExtractAudioOutput](w, "video.extract_audio", video.ExtractAudioInput{Source: local(file)})
	data, err := os.ReadFile(filepath.Join(w.dir, r.Audio.RelativePath))
	if err != nil {
		t.Fatal(err)
	}
	loudest := 0
	for i := 44; i+1 < len(data); i += 2 {
		loudest = max(loudest, int(int16(uint16(data[i])|uint16(data[i+1])<<8)))
	}
	if loudest < 500 {
		t.Errorf("the loudest sample is %d of 32767: the centre is lost", loudest)
	}
}

// TestRow43: transcripts in every encoding are read, and the encoding is said.
func TestRow43Encodings(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	rows := []struct{ folder, file, encoding, text string }{
		{testenv.Cases(t), "b15_bom.srt", "utf-8", "BOM and CRLF"},
		{testenv.Cases(t), "b15_cp1252.srt", "windows-1252", "naïve café"},
		{testenv.Cases(t), "b15_utf16.srt", "utf-16le", "hi"},
		{testenv.Real(t), "typical_utf16le", "utf-16le", "This is the first subtitle."},
	}
	for _, r := range rows {
		name := w.copy(filepath.Join(r.folder, r.file), r.file)
		got := must[video.TranscriptOutput](w, "video.transcript", video.TranscriptInput{Source: local(name), Detail: "full"})
		if got.Encoding != r.encoding || len(got.Segments) == 0 || got.Segments[0].Text != r.text || got.Method != video.Supplied {
			t.Errorf("%s: %s %s %v", r.file, got.Encoding, got.Method, got.Segments)
		}
	}
}

// TestRow45: entities are decoded once, and rolling captions collapse without
// losing a word.
func TestRow45RollingCaptions(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	const vtt = "WEBVTT\n\n00:00.000 --> 00:02.000\nfish &amp;amp; chips\n\n00:02.000 --> 00:04.000\nfish &amp;amp; chips\nand peas\n\n00:04.000 --> 00:06.000\nand peas\nfor two\n"
	r := must[video.TranscriptOutput](w, "video.transcript", video.TranscriptInput{Source: cutroom.Source{Kind: cutroom.Transcript, Value: vtt}})
	var words []string
	for _, s := range r.Segments {
		words = append(words, strings.Fields(s.Text)...)
	}
	if got := strings.Join(words, " "); got != "fish &amp; chips and peas for two" {
		t.Errorf("got %q", got)
	}
}

// TestSourceTextExample is the example of the 1.2.0 contract: one segment, one
// spoken event.
func TestSourceTextExample(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	src := cutroom.Source{Kind: cutroom.Transcript, Value: "00:01 --> 00:03\nПример транскрипта"}
	r := must[video.TranscriptOutput](w, "video.transcript", video.TranscriptInput{Source: src})
	if len(r.Segments) != 1 || r.Segments[0].Start != cutroom.Second || *r.Segments[0].End != 3*cutroom.Second || r.Segments[0].Text != "Пример транскрипта" {
		t.Errorf("segments %v", r.Segments)
	}
	events := must[media.WatchResult](w, "media.watch", media.WatchInput{Source: src, Mode: media.Timeline}).Timeline
	if len(events) != 1 || events[0].Kind != evidence.Spoken {
		t.Errorf("events %v", events)
	}
}

// TestAsk finds what was said by a question about it, and by a time.
func TestAsk(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	const talk = "0:00 --> 0:05\nWelcome to the talk about sailing.\n\n0:30 --> 0:35\nThe mast broke in the storm.\n\n1:00 --> 1:05\nThank you."
	r := must[media.WatchResult](w, "media.watch", media.WatchInput{Source: cutroom.Source{Kind: cutroom.Transcript, Value: talk}, Mode: media.Timeline})
	for question, want := range map[string]string{"what happened to the mast?": "mast broke", "what is said at 1:02?": "Thank you"} {
		a := must[media.AskResult](w, "media.ask", media.AskInput{Run: cutroom.Ref{Run: r.RunID}, Question: question})
		if len(a.Relevant) == 0 || !strings.Contains(a.Relevant[0].Event.Text, want) || a.Relevant[0].Why == "" {
			t.Errorf("%q: %+v", question, a.Relevant)
		}
	}
	if a := must[media.AskResult](w, "media.ask", media.AskInput{Run: cutroom.Ref{Run: r.RunID}, Question: "submarine zebra?"}); len(a.Relevant) > 0 || len(a.Limitations) == 0 {
		t.Errorf("%+v was found", a.Relevant)
	}
}

// TestEmptyTrackIsNoTranscript: a subtitle track that holds no word does not keep
// anybody from listening.
func TestEmptyTrackIsNoTranscript(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	srt := filepath.Join(w.dir, "empty.txt")
	if err := os.WriteFile(srt, []byte("1\n00:00:01,000 --> 00:00:02,000\n{\\an8}\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.FFmpeg(t, "-i", filepath.Join(testenv.Real(t), "jfk.wav"), "-f", "srt", "-i", srt, "-map", "0:a", "-map", "1:s", "-c:s", "srt", filepath.Join(w.dir, "talk.mkv"))
	r := must[video.TranscriptOutput](w, "video.transcript", video.TranscriptInput{Source: local("talk.mkv"), Allow: []string{"embedded", "speech"}})
	if r.Method != video.Speech || len(r.Segments) == 0 {
		t.Errorf("method %s, segments %v", r.Method, r.Segments)
	}
}

// TestRenamedSource: what was found out under an old name of a file serves under the
// new one, and what is recorded then names the new one.
func TestRenamedSource(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	file := filepath.Join(w.dir, "old.srt")
	if err := os.WriteFile(file, []byte("1\n00:00:01,000 --> 00:00:02,000\nfirst words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must[media.WatchResult](w, "media.watch", media.WatchInput{Source: local("old.srt"), Mode: media.Transcript})
	if err := os.Rename(file, filepath.Join(w.dir, "new.srt")); err != nil {
		t.Fatal(err)
	}
	r := must[media.WatchResult](w, "media.watch", media.WatchInput{Source: local("new.srt"), Mode: media.Timeline})
	if len(r.Timeline) != 1 {
		t.Errorf("the renamed file says %v", r.Timeline)
	}
	must[media.AskResult](w, "media.ask", media.AskInput{Run: cutroom.Ref{Run: r.RunID}, Question: "words?"})
}

// TestSuppliedSegmentsBecomeEvidence: a typed segment counts once a recorded
// transcript holds it, whatever was asked before.
func TestSuppliedSegmentsBecomeEvidence(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	src := cutroom.Source{Kind: cutroom.Transcript, Value: "0:01 --> 0:02\nhello"}
	end := 2 * cutroom.Second
	in := video.SummarizeTimelineInput{
		SourceIdentitySHA256: cutroom.DigestOf([]byte(src.Value)),
		TranscriptSegments:   []video.TranscriptSegment{{StartSeconds: cutroom.Second, EndSeconds: &end, Text: "hello", UntrustedContent: true}},
	}
	before := must[video.SummarizeTimelineOutput](w, "video.summarize_timeline", in)
	must[video.TranscriptOutput](w, "video.transcript", video.TranscriptInput{Source: src})
	after := must[video.SummarizeTimelineOutput](w, "video.summarize_timeline", in)
	if len(before.Limitations) != 1 || len(after.Limitations) != 0 || len(after.Events) != 1 {
		t.Errorf("before %v, after %v %v", before.Limitations, after.Limitations, after.Events)
	}
}

// TestSidecarNamesItsLanguage: what the name of a sidecar tells is not lost.
func TestSidecarNamesItsLanguage(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for name, text := range map[string]string{"talk.mp4": "never opened as media", "talk.de.srt": "1\n00:00:01,000 --> 00:00:02,000\nGuten Tag\n"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := must[video.TranscriptOutput](w, "video.transcript", video.TranscriptInput{Source: local("talk.mp4"), Detail: "full"})
	if r.Method != video.Sidecar || r.Language != "de" || r.From != "talk.de.srt" || len(r.Segments) != 1 {
		t.Errorf("%+v", r)
	}
}
