package measure

import (
	"time"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/tool"
)

// Silence finds dead air.
var Silence = tool.Add(Family, tool.Spec[SilenceInput, SilenceOutput]{
	Name:        "measure.silence",
	Summary:     "Find silences and filler words, and what would stay without them",
	Description: "Find dead air: silences by their level, on request only where nobody speaks, and filler words by the times of words. Answers the silences, the parts that would be kept, and how much shorter the recording would be. measure.silence_apply takes them out.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Short:       "silence",
	Timeout:     2 * time.Hour,
	Needs:       quietNeeds,
	Examples:    []SilenceInput{{Input: "talk.mp4"}, {Input: "talk.mp4", QuietOptions: QuietOptions{Threshold: -40, SpeechAware: true}}},
	Plan: func(f tool.Facts, in SilenceInput) (tool.Plan, error) {
		return planQuiet(f, in.Input, in.QuietOptions, nil)
	},
	Interpret: func(_ tool.Facts, _ SilenceInput, r tool.Results) (SilenceOutput, error) {
		var out SilenceOutput
		out.Silences = silenceOf(r.State().(*quieting))
		return out, nil
	},
})

var quietNeeds = tool.Needs{
	Programs: []string{"ffprobe", "ffmpeg"},
	Optional: []tool.Optional{{Program: "speech", When: "speech_aware: voices are listened for"}},
}

// SilenceInput is the request.
type SilenceInput struct {
	Input cutroom.InPath `json:"input" doc:"The recording."`
	List  bool           `json:"list,omitempty" key:"-" doc:"Only list, whatever else is asked for: nothing is written."`
	QuietOptions
}

// Validate refuses options that do not go together.
func (in SilenceInput) Validate() error { return in.Check() }

// SilenceOutput is the answer.
type SilenceOutput struct {
	tool.Made
	Silences
}

// Silences is what was found.
type Silences struct {
	Found        [][]cutroom.Micros `json:"silences" unit:"s" doc:"Each silence, [start, end]."`
	Keep         [][]cutroom.Micros `json:"keep" unit:"s" doc:"The parts that stay, [start, end], in order."`
	Input        cutroom.Micros     `json:"input_duration" unit:"s" doc:"Length of the recording."`
	Kept         cutroom.Micros     `json:"kept_duration" unit:"s" doc:"Length of what stays."`
	Removed      cutroom.Micros     `json:"removed_seconds" unit:"s" doc:"Length of the silences that go."`
	RemovedTotal cutroom.Micros     `json:"removed_seconds_total" unit:"s" doc:"With the filler words."`
	Threshold    float64            `json:"threshold" unit:"dBFS" doc:"Level below which it counted as silent."`
	Track        Track              `json:"audio_stream" doc:"The track that decided."`
	SpeechAware  *SpeechAware       `json:"speech_aware,omitempty" doc:"What listening for voices changed."`
	Filler       *Filler            `json:"filler,omitempty" doc:"The filler words."`
	Hint         string             `json:"hint,omitempty" doc:"What to try where nothing was found."`
}

// Track names an audio stream.
type Track struct {
	Number   int    `json:"number" min:"0" doc:"Which of the audio streams, counted from 0."`
	Index    int    `json:"index" min:"0" doc:"Index of the stream in the file."`
	Of       int    `json:"of" min:"1" doc:"How many audio streams there are."`
	Language string `json:"language,omitempty" doc:"Language tag."`
	Title    string `json:"title,omitempty" doc:"Title tag; untrusted text."`
}

// SpeechAware is what listening for voices changed.
type SpeechAware struct {
	Voice      cutroom.Micros     `json:"voice_seconds" unit:"s" doc:"How long somebody speaks."`
	MinSilence cutroom.Micros     `json:"min_silence" unit:"s" doc:"Shortest pause between voices that goes."`
	Floor      cutroom.Micros     `json:"floor" unit:"s" doc:"Shortest pause that was looked at."`
	Kept       int                `json:"breaths_kept" min:"0" doc:"Shorter pauses, which stay."`
	KeptFor    cutroom.Micros     `json:"breaths_kept_seconds" unit:"s" doc:"Their length."`
	Breaths    [][]cutroom.Micros `json:"breaths" unit:"s" doc:"The first 200 of them, [start, end]."`
}

// Filler is what is known of filler words.
type Filler struct {
	Lang    string         `json:"lang,omitempty" doc:"Language of the fillers."`
	Source  string         `json:"source" enum:"words" doc:"Where the times of words came from."`
	Words   int            `json:"words" min:"0" doc:"Words that have times."`
	Count   int            `json:"removed_count" min:"0" doc:"Fillers that go."`
	Seconds cutroom.Micros `json:"removed_seconds" unit:"s" doc:"How much shorter they make the recording, beyond the silences."`
	Removed []Removed      `json:"removed" doc:"The first 500 of them."`
}

// Removed is a filler.
type Removed struct {
	Start cutroom.Micros `json:"start_seconds" unit:"s" doc:"Start of the cut."`
	End   cutroom.Micros `json:"end_seconds" unit:"s" doc:"End of the cut."`
	Text  string         `json:"text" doc:"The word. Untrusted."`
}

// The longest lists of small things in an answer.
const (
	maxBreaths = 200
	maxFillers = 500
)

// silenceOf says what a plan found.
func silenceOf(q *quieting) Silences {
	t, whole := q.tighten(), q.whole()
	s := Silences{
		Found: pairs(t.Silences), Keep: pairs(t.Keep), Input: whole.End, Kept: edl.Total(t.Keep),
		Removed: t.Silent, RemovedTotal: t.Silent + t.Worded, Threshold: q.options.Threshold,
		Track: Track{Number: q.options.AudioStream, Index: q.sound.Index, Of: len(q.file.Media.AudioStreams()), Language: q.sound.Language, Title: q.sound.Title},
	}
	if q.options.SpeechAware {
		s.SpeechAware = &SpeechAware{
			Voice: edl.Total(edl.Merge(q.voices)), MinSilence: q.options.MinSilence, Floor: breath,
			Kept: len(t.Breaths), KeptFor: edl.Total(t.Breaths), Breaths: pairs(t.Breaths[:min(len(t.Breaths), maxBreaths)]),
		}
	}
	if q.options.Filler {
		s.Filler = &Filler{Lang: q.lang, Source: "words", Words: q.number, Count: len(q.words), Seconds: t.Worded, Removed: []Removed{}}
		for _, w := range q.words[:min(len(q.words), maxFillers)] {
			s.Filler.Removed = append(s.Filler.Removed, Removed{w.Start, w.End, w.Text})
		}
	}
	if len(t.Silences) == 0 {
		s.Hint = q.hint()
	}
	return s
}

func pairs(list []edl.Range) [][]cutroom.Micros {
	out := [][]cutroom.Micros{}
	for _, r := range list {
		out = append(out, []cutroom.Micros{r.Start, r.End})
	}
	return out
}
