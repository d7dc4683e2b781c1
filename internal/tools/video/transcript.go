package video

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// Transcript says what was said: by text that somebody supplied, by a file beside
// the recording, by a track inside it, or by listening.
var Transcript = tool.Add(Family, tool.Spec[TranscriptInput, TranscriptOutput]{
	Name:        "video.transcript",
	Summary:     "Say what was said, with times",
	Description: "Get what was said in a recording as timed segments. Takes transcript text, a transcript file, or a recording with a sidecar beside it (name.vtt, name.srt, name.txt, then language variants). With allow it also reads a subtitle track inside the file (embedded) and listens (speech, English built in); then it may take 15 minutes, not 30 seconds. It never invents: where nothing is known the method is unavailable, and what was not understood is marked unreliable.",
	Kind:        cutroom.Read,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     30 * time.Second,
	Deadline: func(in TranscriptInput) time.Duration {
		if len(in.Allow) > 0 {
			return 900 * time.Second
		}
		return 30 * time.Second
	},
	Needs: tool.Needs{Optional: []tool.Optional{
		{Program: "ffprobe", When: "allow: embedded or speech"},
		{Program: "ffmpeg", When: "allow: embedded or speech"},
		{Program: "speech", When: "allow: speech; without it the result says that nobody listened"},
		{Program: SpeechService, When: "allow: speech, with a speech service of the operator's own on this machine (speech.endpoint in cutroom.yaml)"},
		{Program: SpeechEngine, When: "allow: speech, with an engine of the operator's own (speech.engine in cutroom.yaml)"},
	}},
	Formats: transcriptFormats,
	Examples: []TranscriptInput{
		{Source: cutroom.Source{Kind: cutroom.Transcript, Value: "00:01 --> 00:03\nHello there"}},
		{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: "talk.mp4"}, Allow: []string{"embedded", "speech"}},
	},
	Probes:    func(f tool.Facts, in TranscriptInput) bool { return len(in.Allow) > 0 && IsMedia(f) },
	Beside:    sidecars,
	Plan:      planTranscript,
	Interpret: readTranscript,
})

// TranscriptInput is the request.
type TranscriptInput struct {
	Source      cutroom.Source `json:"source" doc:"Transcript text, a transcript file, or a recording (kinds transcript and local_file)."`
	Allow       []string       `json:"allow,omitempty" enum:"embedded,speech" items:"..2" since:"1.3" doc:"Further ways that may be tried, in this order: embedded reads a subtitle track, speech listens."`
	Language    string         `json:"language,omitempty" max:"35" since:"1.3" doc:"Language spoken, as a BCP 47 tag; chooses among sidecars and tracks."`
	AudioStream int            `json:"audio_stream,omitzero" min:"0" max:"255" since:"1.3" doc:"Which audio stream to listen to, counted from 0."`
	Range
	Detail Detail `json:"detail,omitempty" enum:"basic,full" default:"basic" since:"1.3" doc:"full adds speakers, words, confidence and how the text was found."`
	Limits Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses other kinds of source and an empty range.
func (in TranscriptInput) Validate() error {
	if err := only(in.Source, "video.transcript", cutroom.Transcript, cutroom.LocalFile); err != nil {
		return err
	}
	return in.Range.Check()
}

// Bounds are the limits of the call.
func (in TranscriptInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// extended says whether the request uses a member that 1.2.0 did not have.
func (in TranscriptInput) extended() bool {
	return len(in.Allow) > 0 || in.Language != "" || in.AudioStream > 0 || in.Range != (Range{}) || in.Detail == full
}

// Method says how a transcript was found.
type Method string

// The methods; the last two are extensions of 1.2.0.
const (
	Supplied    Method = "supplied"
	Sidecar     Method = "sidecar"
	Unavailable Method = "unavailable"
	Embedded    Method = "embedded"
	Speech      Method = "speech"
)

// TranscriptOutput is the answer.
type TranscriptOutput struct {
	cutroom.Output
	Method   Method             `json:"method" enum:"supplied,sidecar,unavailable,embedded,speech" doc:"How the text was found; embedded and speech occur only when allowed."`
	Segments []evidence.Segment `json:"segments" doc:"What was said, in order of time."`
	Engine   string             `json:"engine,omitempty" since:"1.3" doc:"The engine that listened."`
	Language string             `json:"language,omitempty" since:"1.3" doc:"Language of the text, when known."`
	Encoding string             `json:"encoding,omitempty" since:"1.3" doc:"Character encoding of the file that was read."`
	Format   string             `json:"format,omitempty" since:"1.3" doc:"Form of the text that was read."`
	From     string             `json:"from,omitempty" since:"1.3" doc:"The sidecar or track that was read."`
	Problems []evidence.Problem `json:"problems,omitempty" since:"1.3" doc:"What was wrong with the text, cue by cue."`
}

// IsMedia says whether the first input is a recording rather than text: by its
// suffix, else by what it holds.
func IsMedia(f tool.Facts) bool {
	in, ok := f.First()
	return ok && !in.Inline && !isTranscript(in)
}

// textSuffixes name transcript files.
var textSuffixes = []string{"vtt", "srt", "txt", "md", "ass", "ssa", "json"}

func isTranscript(in tool.Input) bool {
	s := suffix(in.Name)
	if slices.Contains(textSuffixes, s) {
		return true
	}
	return s == "" && evidence.LooksLikeTranscript(in.Head)
}

// sidecars names transcripts beside a recording.
func sidecars(in TranscriptInput, names []string) []string {
	if in.Source.Kind != cutroom.LocalFile || slices.Contains(textSuffixes, suffix(in.Source.Value)) {
		return nil
	}
	found := evidence.SidecarNames(baseName(in.Source.Value), names, in.Language)
	return found[:min(len(found), 1)]
}

func baseName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

func planTranscript(f tool.Facts, in TranscriptInput) (tool.Plan, error) {
	file, _ := f.First()
	if !IsMedia(f) || besideOf(f) != nil || len(in.Allow) == 0 {
		return tool.Plan{}, nil
	}
	st := &listening{embedded: -1}
	if slices.Contains(in.Allow, "embedded") {
		if n := file.Media.TextTrack(in.Language); n >= 0 {
			cmd, err := ffmpeg.Subtitles(file.Index, file.Format, file.Media, n, ffmpeg.WebVTT)
			if err != nil {
				return tool.Plan{}, err
			}
			st.embedded = n
			return tool.Plan{Steps: []argv.Command{cmd}, State: st, Then: func(r tool.Results) (tool.Plan, error) {
				// A track without a word in it (forced titles, a leftover) is no transcript.
				res, _ := r.Step(cmd.Step)
				if t, err := evidence.ParseTranscript(res.Stdout, evidence.ParseOptions{Format: evidence.WebVTT}); err == nil && len(t.Segments) == 0 && slices.Contains(in.Allow, "speech") {
					st.embedded = -1
					return planSpeech(f, in, file, st)
				}
				return tool.Plan{State: st}, nil
			}}, nil
		}
	}
	if slices.Contains(in.Allow, "speech") {
		return planSpeech(f, in, file, st)
	}
	return tool.Plan{State: st}, nil
}

func besideOf(f tool.Facts) *tool.Input {
	i := slices.IndexFunc(f.Inputs, func(in tool.Input) bool { return in.Beside })
	if i < 0 {
		return nil
	}
	return &f.Inputs[i]
}

func readTranscript(f tool.Facts, in TranscriptInput, r tool.Results) (TranscriptOutput, error) {
	out := TranscriptOutput{Method: Unavailable, Segments: []evidence.Segment{}}
	file, _ := f.First()
	st, _ := r.State().(*listening)
	if st != nil {
		for _, reason := range st.reasons {
			out.AddReason(reason)
		}
	}
	var err error
	switch beside := besideOf(f); {
	case !IsMedia(f):
		err = out.read(r, file, in, Supplied)
	case beside != nil:
		err = out.read(r, *beside, in, Sidecar)
	case st != nil && st.embedded >= 0:
		err = out.embedded(r, file, in, st)
	default:
		err = out.speech(r, in, st)
	}
	if err != nil {
		return out, err
	}
	if out.Method == Unavailable && len(out.PartialReasons) == 0 {
		out.AddReason("no transcript: none was supplied, and none lies beside the file")
	}
	if in.Range != (Range{}) {
		out.Segments = evidence.Clip(out.Segments, in.Start, in.End)
	}
	if err := out.keep(r); err != nil {
		return out, err
	}
	if !in.extended() {
		out.plain()
	}
	return out, nil
}

// read parses a file or inline text.
func (out *TranscriptOutput) read(r tool.Results, file tool.Input, in TranscriptInput, m Method) error {
	data, err := r.ReadInput(file.Index, in.Limits.MaxTranscriptBytes)
	if err != nil {
		return err
	}
	if err := out.parse(data, evidence.Format(suffix(file.Name)), m, 0); err != nil || m != Sidecar {
		return err
	}
	out.From = baseName(file.Text)
	if out.Language == "" { // the text does not say; its name may
		out.Language = evidence.SidecarLanguage(baseName(in.Source.Value), out.From)
	}
	return nil
}

func (out *TranscriptOutput) parse(data []byte, hint evidence.Format, m Method, zero cutroom.Micros) error {
	t, err := evidence.ParseTranscript(data, evidence.ParseOptions{Format: hint})
	if err != nil {
		return err
	}
	out.Method, out.Segments, out.Problems = m, t.Segments, t.Problems
	out.Encoding, out.Format, out.Language = t.Encoding, string(t.Format), t.Language
	if out.Segments == nil {
		out.Segments = []evidence.Segment{}
	}
	for i := range out.Segments {
		out.Segments[i].UntrustedContent = true
		if zero != 0 {
			out.Segments[i].Shift(-zero)
		}
	}
	if len(t.Problems) > 0 && len(t.Segments) == 0 {
		out.AddReason("the transcript holds no cue that can be read")
	}
	return nil
}

func (out *TranscriptOutput) embedded(r tool.Results, file tool.Input, in TranscriptInput, st *listening) error {
	res, _ := r.Step("subtitles")
	if int64(len(res.Stdout)) > in.Limits.MaxTranscriptBytes || res.Cut {
		return cutroom.Errorf(cutroom.Limit, "the subtitle track has more than %d bytes", in.Limits.MaxTranscriptBytes).
			WithHint("raise limits.max_transcript_bytes (--max-transcript-bytes)")
	}
	track := file.Media.SubtitleStreams()[st.embedded]
	if err := out.parse(res.Stdout, evidence.WebVTT, Embedded, file.Media.ZeroSeconds); err != nil {
		return err
	}
	out.Language, out.From = track.Language, fmt.Sprintf("stream %d (%s)", track.Index, track.CodecName)
	out.Encoding, out.Format = "", ""
	return nil
}

// keep retains the segments as an artifact, so that they can be cited and checked.
func (out *TranscriptOutput) keep(r tool.Results) error {
	if out.Method == Unavailable {
		return nil
	}
	data, err := tool.Encode(out.Segments)
	if err != nil {
		return err
	}
	_, err = r.Put("transcript.json", "application/json", data, nil)
	return err
}

// plain leaves the answer of 1.2.0.
func (out *TranscriptOutput) plain() {
	out.Engine, out.Language, out.Encoding, out.Format, out.From, out.Problems = "", "", "", "", "", nil
	for i := range out.Segments {
		s := &out.Segments[i]
		*s = evidence.Segment{Start: s.Start, End: s.End, Text: s.Text, UntrustedContent: true}
	}
}
