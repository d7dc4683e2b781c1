package measure

import (
	"fmt"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
	"cutroom/internal/tool"
)

// QuietOptions say what of a recording is dead air.
type QuietOptions struct {
	AudioStream int            `json:"audio_stream,omitzero" min:"0" max:"255" doc:"Which audio stream decides, counted from 0: the microphone's, where a recording has several."`
	Threshold   float64        `json:"threshold,omitzero" min:"-90" max:"-1" default:"-35" unit:"dBFS" doc:"Level below which it is silent, in every channel."`
	MinSilence  cutroom.Micros `json:"min_silence,omitzero" min:"0" default:"0.6" unit:"s" doc:"Shortest silence that counts."`
	Margin      cutroom.Micros `json:"margin,omitempty" min:"0" default:"0.15" unit:"s" doc:"What stays of a silence on each side that borders on sound."`
	MinKeep     cutroom.Micros `json:"min_keep,omitempty" min:"0" default:"0.2" unit:"s" rare:"true" doc:"A sound shorter than this between two silences goes with them."`
	SpeechAware bool           `json:"speech_aware,omitempty" doc:"Listen for voices: what somebody says is never silence, however softly, and a click is no speech. Needs the speech engine."`
	Filler      bool           `json:"filler,omitempty" doc:"Cut out filler words (um, äh, euh), too. Needs words."`
	FillerLang  string         `json:"filler_lang,omitempty" enum:"auto,de,en,es,fr,it,ja,pt" default:"auto" rare:"true" doc:"Language of the fillers; auto takes the one that the words file names."`
	Words       cutroom.InPath `json:"words,omitempty" cli:"flag" probe:"-" rare:"true" doc:"Transcript in JSON with times of single words, as whisper writes it."`
	FillerWords cutroom.InPath `json:"filler_words,omitempty" cli:"flag" probe:"-" rare:"true" doc:"Text file of fillers, one word or phrase per line, in place of the language's own."`
	FillerExtra []string       `json:"filler_extra,omitempty" items:"..100" rare:"true" doc:"Words or phrases that count as fillers, too."`
	FillerKeep  []string       `json:"filler_keep,omitempty" items:"..100" rare:"true" doc:"Fillers that stay."`
	FillerPad   cutroom.Micros `json:"filler_pad,omitempty" min:"0" default:"0.02" unit:"s" rare:"true" doc:"How far a cut reaches into the pauses around a filler."`
	Transcribe  bool           `json:"transcribe,omitempty" rare:"true" doc:"Make the word times by listening. The built-in speech engine gives none yet: that is an error."`
	MaxCuts     int            `json:"max_cuts,omitzero" min:"1" max:"5000" default:"400" rare:"true" doc:"Most parts that are kept; more of them say that the threshold is wrong."`
	Limits      Limits         `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Check refuses options that belong together and do not stand so.
func (o QuietOptions) Check() error {
	switch {
	case o.Transcribe:
		return cutroom.Errorf(cutroom.Invalid, "the speech engine gives times of sentences, not of words: fillers cannot be found by listening").
			WithHint("give --words, a transcript with word times (whisper --word_timestamps True --output_format json)")
	case o.Filler && o.Words == "":
		return cutroom.Errorf(cutroom.Invalid, "filler words are found by the times of words, and none were given").
			WithHint("give --words, a transcript with word times (whisper --word_timestamps True --output_format json)")
	case !o.Filler && (o.Words != "" || o.FillerWords != "" || len(o.FillerExtra)+len(o.FillerKeep) > 0):
		return cutroom.Errorf(cutroom.Invalid, "options of filler words were given, and filler words were not asked for").WithHint("add --filler, or leave them out")
	}
	return nil
}

// Bounds are the limits of the call.
func (o QuietOptions) Bounds() tool.Bounds { return o.Limits.Bounds() }

// quieting is the state of a plan that looks for dead air.
type quieting struct {
	file    tool.Input
	options QuietOptions
	sound   *ffmpeg.Stream
	job     *ffmpeg.Measure
	offset  cutroom.Micros // of the sound that was listened to
	voices  []edl.Range
	words   []evidence.Filler
	lang    string
	number  int // of words that were read
}

// breath is the shortest quiet span that is looked at.
const breath = 120_000

// planQuiet plans the measuring and, where voices count, the listening; then follows.
func planQuiet(f tool.Facts, path cutroom.InPath, o QuietOptions, then func(tool.Results, *quieting) (tool.Plan, error)) (tool.Plan, error) {
	file, err := f.Named(path)
	if err != nil {
		return tool.Plan{}, err
	}
	q := &quieting{file: file, options: o}
	if q.sound, err = file.Media.AudioStream(o.AudioStream); err != nil {
		return tool.Plan{}, err
	}
	q.job, err = ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{
		Silence: true, Envelope: true, AudioStream: o.AudioStream, SilenceDB: o.Threshold, SilenceFor: min(breath, max(1, o.MinSilence)), Abilities: &f.Abilities,
	})
	if err != nil {
		return tool.Plan{}, err
	}
	steps, err := q.listening(f)
	if err != nil {
		return tool.Plan{}, err
	}
	end := func(r tool.Results) (tool.Plan, error) {
		if err := q.hear(f, r); err != nil {
			return tool.Plan{}, err
		}
		if then == nil {
			return tool.Plan{State: q}, nil
		}
		return then(r, q)
	}
	plan, err := tool.Follow(q.job, q, func(tool.Results) (tool.Plan, error) {
		if len(steps) == 0 {
			return tool.Plan{State: q, Then: end}, nil
		}
		return tool.Plan{State: q, Steps: steps, Then: end}, nil
	})
	plan.Later = append(plan.Later, steps...)
	return plan, err
}

// listening are the steps that find voices.
func (q *quieting) listening(f tool.Facts) ([]argv.Command, error) {
	if !q.options.SpeechAware {
		return nil, nil
	}
	if !f.Has("speech") {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the speech engine, which knows voices, is not installed").
			WithHint("run `cutroom setup`, or leave speech_aware out")
	}
	cut, err := ffmpeg.ExtractAudio(q.file.Index, q.file.Format, q.file.Media, ffmpeg.AudioOptions{
		Stream: q.options.AudioStream, SampleRate: speech.SampleRate, Channels: 1, File: "speech.wav",
	})
	if err != nil {
		return nil, err
	}
	q.offset = cut.StartOffset
	return []argv.Command{cut.Command, speech.Command("speech", "speech.wav", speech.Options{
		Model: speech.Model(f.Settings.SpeechModel), VADOnly: true, Pauses: true, Length: q.file.Media.DurationSeconds,
	})}, nil
}

// maxWords bounds the files of words.
const maxWords = 64 << 20

// hear takes the voices and the words.
func (q *quieting) hear(f tool.Facts, r tool.Results) error {
	if res, ran := r.Step("speech"); ran {
		t, err := speech.Result(res)
		if err != nil {
			return err
		}
		for _, s := range t.Segments {
			q.voices = append(q.voices, edl.Range{Start: s.Start + q.offset, End: s.End + q.offset})
		}
	}
	if !q.options.Filler {
		return nil
	}
	read := func(path cutroom.InPath) ([]byte, error) {
		in, err := f.Named(path)
		if err != nil {
			return nil, err
		}
		return r.ReadInput(in.Index, maxWords)
	}
	data, err := read(q.options.Words)
	if err != nil {
		return err
	}
	words, lang, err := evidence.ParseWords(data)
	if err != nil {
		return err
	}
	o := evidence.FillerOptions{Language: q.options.FillerLang, Extra: q.options.FillerExtra, Keep: q.options.FillerKeep, Pad: q.options.FillerPad}
	if o.Language == "auto" {
		o.Language = lang
	}
	if q.options.FillerWords != "" {
		list, err := read(q.options.FillerWords)
		if err != nil {
			return err
		}
		for line := range strings.Lines(strings.TrimPrefix(string(list), "\ufeff")) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" {
				o.Only = append(o.Only, line)
			}
		}
	}
	if o.Language == "" && len(o.Only)+len(o.Extra) == 0 {
		return cutroom.Errorf(cutroom.Invalid, "the words file does not say its language").WithHint("name it with --filler-lang")
	}
	q.lang, q.number, q.words = o.Language, len(words), evidence.Fillers(words, o)
	return nil
}

// whole is what can be kept: the picture's length wins over the sound's.
func (q *quieting) whole() edl.Range {
	d := q.file.Media
	r := edl.Range{End: d.DurationSeconds}
	if v := d.FirstVideo(); v != nil && !v.Video.StillImage && v.EndSeconds > 0 {
		r.End = v.EndSeconds
	}
	if a := q.job.Signals().Audio; r.End <= 0 {
		r.End = a.EndSeconds
	}
	return r
}

// tighten decides what stays. Before and behind the sound it is silent.
func (q *quieting) tighten() edl.Tightened {
	a, o, whole := q.job.Signals().Audio, q.options, q.whole()
	spans := []edl.Range{{Start: 0, End: a.StartSeconds}, {Start: a.EndSeconds, End: whole.End}}
	for _, s := range a.Silence {
		spans = append(spans, edl.Range{Start: s.StartSeconds, End: s.EndSeconds})
	}
	var words []edl.Range
	for _, w := range q.words {
		words = append(words, edl.Range{Start: w.Start, End: w.End})
	}
	return edl.Quiet{
		Whole: whole, Spans: spans, Voices: q.voices, Words: words, MinSilence: o.MinSilence, Margin: o.Margin, MinKeep: o.MinKeep,
	}.Tighten()
}

// hint names a threshold by which there would be a silence, when there is none.
func (q *quieting) hint() string {
	e := q.job.Signals().Audio.Envelope
	n := int((q.options.MinSilence + e.Step - 1) / max(1, e.Step))
	lowest := math.Inf(1)
	for i := 0; n > 0 && i+n <= len(e.Peak); i++ {
		top := math.Inf(-1)
		for _, p := range e.Peak[i : i+n] {
			top = max(top, float64(p))
		}
		lowest = min(lowest, top)
	}
	at := math.Floor(lowest) + 1
	switch {
	case math.IsInf(lowest, 0):
		return fmt.Sprintf("the sound is shorter than min_silence, %s s", q.options.MinSilence)
	case at > -10:
		return fmt.Sprintf("it sounds throughout: there is no pause of %s s at any useful threshold", q.options.MinSilence)
	case q.options.SpeechAware && at <= q.options.Threshold:
		return "somebody speaks wherever it is quiet; a shorter min_silence may find pauses between words"
	}
	return fmt.Sprintf("nothing is below %g dBFS for %s s; the quietest %s s stay below %g dBFS: try threshold %g", q.options.Threshold, q.options.MinSilence, q.options.MinSilence, at, at)
}
