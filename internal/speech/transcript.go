package speech

import (
	"strings"

	"cutroom"
)

// Model names a built-in speech model.
type Model string

// The built-in models. Both speak English only.
const (
	Base Model = "base" // Moonshine base: the default
	Tiny Model = "tiny" // Moonshine tiny: twice as fast, slightly worse
)

// unreliableBelow is the score under which the model's text was invented in
// measurements: English lay above -0.55, other languages below -0.75.
const unreliableBelow = -0.6

// Segment is one stretch of speech. Times count from the first sample of the
// recording. Text is what the model wrote, verbatim; it is empty when the model
// found no words, and when only voice activity was asked for.
type Segment struct {
	Start cutroom.Micros `json:"start_seconds"`
	End   cutroom.Micros `json:"end_seconds"`
	Text  string         `json:"text"`
	// Score is the mean natural logarithm of the tokens' probabilities: 0 is
	// certain. It is the engine's own number, 0 when it gives none.
	Score  float64 `json:"score"`
	Tokens int     `json:"tokens"`
	// Unreliable marks text that must not be shown as fact: the model was unsure,
	// caught in a loop, did not come to an end, or found no words in speech.
	Unreliable bool `json:"unreliable,omitempty"`
	// Loop says that the model repeated itself; Text holds the first turn.
	Loop bool `json:"loop,omitempty"`
}

// Reason says why a transcript is not what was asked for.
type Reason string

// The reasons. [Reason.Sentence] says them in words.
const (
	// LanguageNotSpoken: the language is not one of the model's; it was not asked to
	// transcribe, and the segments have no text.
	LanguageNotSpoken Reason = "language_not_spoken"
	// NotEnglish: no language was given, and most of the speech came out unreliable.
	NotEnglish Reason = "speech_probably_not_english"
	// SomeUnreliable: some segments are marked unreliable.
	SomeUnreliable Reason = "some_speech_unreliable"
	// RecordingTruncated: the recording ended before the length it states.
	RecordingTruncated Reason = "recording_truncated"
)

// Sentence returns r as a sentence without a full stop, with what to do about it.
func (r Reason) Sentence() string {
	switch r {
	case LanguageNotSpoken:
		return "the built-in speech model speaks English only, so nothing was transcribed; configure your own speech engine for this language"
	case NotEnglish:
		return "the speech is probably not English; configure your own speech engine, or name the language"
	case SomeUnreliable:
		return "some of the speech was not understood well enough to be taken as fact"
	case RecordingTruncated:
		return "the recording ends before the length it states"
	}
	return string(r)
}

// Transcript is what was said in a recording, in order of time.
type Transcript struct {
	Segments      []Segment
	Duration      cutroom.Micros // of the recording; 0 when the engine does not tell
	SpeechSeconds cutroom.Micros // sum of the segments' lengths
	Model         string         // "moonshine-base", or the name of the template
	Language      string         // of the text, as a BCP 47 tag; empty when not known
	Languages     []string       // that the engine speaks; none when not known
	Reasons       []Reason       // why it is not complete or not certain; none when it is both
}

// Text joins the reliable segments' text by spaces.
func (t Transcript) Text() string {
	var parts []string
	for _, s := range t.Segments {
		if s.Text != "" && !s.Unreliable {
			parts = append(parts, s.Text)
		}
	}
	return strings.Join(parts, " ")
}

// Supports reports whether the built-in models speak a language, given as a BCP 47
// tag or as an ISO 639-2 code. No language at all is supported: the text's scores
// then tell whether it was English.
func Supports(language string) bool {
	if language == "" {
		return true
	}
	primary, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(language), "_", "-"), "-")
	return primary == "en" || primary == "eng" || primary == "english"
}

// judge fills in the reasons that the segments give, and drops what follows from
// them: no text of a recording that is not English as a whole is trusted.
func (t *Transcript) judge(languageGiven bool) {
	var unreliable cutroom.Micros
	for _, s := range t.Segments {
		if s.Unreliable {
			unreliable += s.End - s.Start
		}
	}
	switch {
	case unreliable == 0:
	case !languageGiven && 2*unreliable > t.SpeechSeconds:
		t.Language = ""
		t.Reasons = append(t.Reasons, NotEnglish)
		for i := range t.Segments {
			t.Segments[i].Unreliable = true
		}
	default:
		t.Reasons = append(t.Reasons, SomeUnreliable)
	}
}
