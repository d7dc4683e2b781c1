package speech

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"cutroom"
)

// Whisper's own limits (its transcribe.py, logprob_threshold and
// compression_ratio_threshold): beyond them it decodes anew, because what it wrote
// is likely invented.
const (
	whisperScore       = -1.0
	whisperCompression = 2.4
)

// sameTurns is how many segments in a row with one text are taken for a loop.
const sameTurns = 3

// foreign is the union of the JSON documents that speech engines write.
type foreign struct {
	// whisper.cpp, -oj and -ojf
	Result struct {
		Language string `json:"language"`
	} `json:"result"`
	Transcription []whisperSegment `json:"transcription"`
	// The verbose_json of /v1/audio/transcriptions, openai-whisper, faster-whisper,
	// WhisperX.
	Language string          `json:"language"`
	Duration *cutroom.Micros `json:"duration"`
	Segments []spokenSegment `json:"segments"`
	Text     *string         `json:"text"`
}

type whisperSegment struct {
	Offsets struct {
		From int64 `json:"from"` // milliseconds
		To   int64 `json:"to"`
	} `json:"offsets"`
	Text   string `json:"text"`
	Tokens []struct {
		Text string  `json:"text"`
		P    float64 `json:"p"`
	} `json:"tokens"`
}

type spokenSegment struct {
	Start       cutroom.Micros `json:"start"`
	End         cutroom.Micros `json:"end"`
	Text        string         `json:"text"`
	Score       *float64       `json:"avg_logprob"`
	Compression float64        `json:"compression_ratio"`
}

// ReadJSON reads what an engine wrote as JSON: whisper.cpp's document, the
// verbose_json of OpenAI-compatible endpoints, which openai-whisper,
// faster-whisper and WhisperX write too, or a bare list of {start, end, text} in
// seconds. length is that of the recording, to which times are clamped; 0 when not
// known. Anything else is tool_failed.
func ReadJSON(engine string, data []byte, length cutroom.Micros) (Transcript, error) {
	var f foreign
	var err error
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		err = json.Unmarshal(trimmed, &f.Segments)
	} else {
		err = json.Unmarshal(trimmed, &f)
	}
	if err != nil {
		return Transcript{}, cutroom.Errorf(cutroom.ToolFailed, "the speech engine %s did not write JSON that can be read", engine).WithCause(err)
	}
	if f.Segments == nil && f.Transcription == nil && f.Text != nil && strings.TrimSpace(*f.Text) != "" {
		return Transcript{}, cutroom.Errorf(cutroom.ToolFailed, "the speech engine %s wrote text without times", engine).
			WithHint("make it write segments with times (verbose_json)")
	}
	t := Transcript{Model: engine, Language: languageTag(f.Language + f.Result.Language), Duration: length}
	if length == 0 && f.Duration != nil && *f.Duration > 0 {
		t.Duration = *f.Duration
	}
	for _, s := range f.Transcription {
		t.add(s.segment())
	}
	for _, s := range f.Segments {
		t.add(s.segment())
	}
	t.settle()
	return t, nil
}

func (s whisperSegment) segment() Segment {
	const ms = 1000
	limit := int64(cutroom.MaxMicros) / ms
	r := Segment{
		Start: cutroom.Micros(min(max(s.Offsets.From, 0), limit) * ms),
		End:   cutroom.Micros(min(max(s.Offsets.To, 0), limit) * ms),
		Text:  s.Text,
	}
	var sum float64
	for _, token := range s.Tokens {
		// [_BEG_], [_TT_50] and the like carry times, not words.
		if !strings.HasPrefix(token.Text, "[_") && token.P > 0 && token.P <= 1 {
			sum += math.Log(token.P)
			r.Tokens++
		}
	}
	if r.Tokens > 0 {
		r.Score = sum / float64(r.Tokens)
	}
	r.Unreliable = r.Score < whisperScore
	return r
}

func (s spokenSegment) segment() Segment {
	r := Segment{Start: s.Start, End: s.End, Text: s.Text}
	if s.Score != nil && *s.Score <= 0 {
		r.Score = *s.Score
	}
	r.Unreliable = r.Score < whisperScore || s.Compression > whisperCompression
	return r
}

// add appends a segment with words, its times made possible.
func (t *Transcript) add(s Segment) {
	s.Text = strings.TrimSpace(strings.ToValidUTF8(s.Text, "\uFFFD"))
	s.Start, s.End = max(0, s.Start), max(0, s.End)
	if t.Duration > 0 {
		s.Start, s.End = min(s.Start, t.Duration), min(s.End, t.Duration)
	}
	s.End = max(s.Start, s.End)
	if s.Text != "" {
		t.Segments = append(t.Segments, s)
	}
}

// settle orders the segments, marks loops and sums up.
func (t *Transcript) settle() {
	slices.SortStableFunc(t.Segments, func(a, b Segment) int { return cmp.Compare(a.Start, b.Start) })
	turns := 0
	for i := range t.Segments {
		if i > 0 && t.Segments[i].Text == t.Segments[i-1].Text {
			turns++
		} else {
			turns = 1
		}
		for j := i; turns >= sameTurns && j > i-turns; j-- {
			if t.Segments[j].Loop {
				break
			}
			t.Segments[j].Loop, t.Segments[j].Unreliable = true, true
		}
	}
	for _, s := range t.Segments {
		t.SpeechSeconds += s.End - s.Start
		if s.Unreliable && !slices.Contains(t.Reasons, SomeUnreliable) {
			t.Reasons = append(t.Reasons, SomeUnreliable)
		}
	}
}

// languageTag accepts what looks like a tag, and the word that Whisper endpoints
// give for English; anything else is not known.
func languageTag(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "english" {
		return "en"
	}
	if !validLanguage(s) {
		return ""
	}
	return s
}

// validLanguage reports whether s has the form of a BCP 47 tag, in either case.
func validLanguage(s string) bool {
	for i, part := range strings.Split(s, "-") {
		if len(part) < 1 || len(part) > 8 || (i == 0 && (len(part) < 2 || len(part) > 3)) {
			return false
		}
		for _, c := range part {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return len(s) <= 35
}
