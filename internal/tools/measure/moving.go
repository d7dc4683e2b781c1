package measure

import (
	"cutroom"
	"cutroom/internal/rhythm"
)

// answer puts together what was seen and heard.
func (w *watching) answer() ScenesOutput {
	out := ScenesOutput{Scenes: []Scene{}, Transitions: []Transition{}, AudioPeaks: []AudioPeak{}, Highlights: []Highlight{}}
	out.Notes = w.notes
	w.settle()
	levels := w.levels()
	w.scenes(&out, levels)
	for _, c := range w.changes {
		out.Transitions = append(out.Transitions, Transition{string(c.Kind), c.At, c.Start, c.End, c.Score, c.Edge})
	}
	if w.in.Shots {
		out.Shots = []Shot{}
		v := w.video.Video
		for _, s := range w.pictures.Shots(w.bounds, rhythm.Upright{Turn: v.Rotation, Mirrored: v.Mirrored}) {
			out.Shots = append(out.Shots, Shot{s.Start, s.End, string(s.Label), s.Flow, s.Activity})
		}
	}
	if w.in.Highlights > 0 {
		w.highlights(&out, levels)
	}
	if levels == nil {
		return out
	}
	for _, m := range levels.Peaks(3, cutroom.Second, 10) {
		out.AudioPeaks = append(out.AudioPeaks, AudioPeak{m.At, m.Level})
	}
	if w.in.AudioPeaks {
		out.AudioPeaksDB = []AudioLevel{}
		for _, m := range levels.Peaks(6, cutroom.Second/2, mostPeaks) {
			out.AudioPeaksDB = append(out.AudioPeaksDB, AudioLevel{m.At, m.Level})
		}
	}
	w.hear(&out)
	return out
}

const mostPeaks = 10_000

// levels is the course of the sound, nil when there is none.
func (w *watching) levels() *rhythm.Levels {
	a := w.measure.Signals().Audio
	if a == nil || a.Envelope == nil {
		return nil
	}
	e := a.Envelope
	return &rhythm.Levels{Start: e.Start, Step: e.Step, RMS: e.RMS, Peak: e.Peak}
}

// scenes are the stretches between the bounds.
func (w *watching) scenes(out *ScenesOutput, levels *rhythm.Levels) {
	begins := map[cutroom.Micros]string{}
	for _, c := range w.changes {
		if _, ok := begins[c.At]; !ok && !c.Edge {
			begins[c.At] = string(c.Kind)
		}
	}
	for i := 1; i < len(w.bounds); i++ {
		s := Scene{Index: i, Start: w.bounds[i-1], End: w.bounds[i], Duration: w.bounds[i] - w.bounds[i-1], Begins: "start"}
		if b, ok := begins[s.Start]; ok && i > 1 {
			s.Begins = b
		}
		if levels != nil {
			rms, peak := levels.Between(s.Start, s.End)
			s.RMS, s.Peak = &rms, &peak
		}
		out.Scenes = append(out.Scenes, s)
	}
	out.SceneCount = len(out.Scenes)
}

func (w *watching) highlights(out *ScenesOutput, levels *rhythm.Levels) {
	by := rhythm.Rank(w.in.RankBy)
	if levels == nil {
		levels = &rhythm.Levels{}
		if by != rhythm.ByDuration {
			out.Notes = append(out.Notes, "there is no sound to rank by: highlights are the longest scenes")
		}
		by = rhythm.ByDuration
	}
	for _, h := range rhythm.Highlights(w.bounds, levels, rhythm.HighlightOptions{Count: w.in.Highlights, By: by, Target: w.in.Target, MaxScene: w.in.MaxScene}) {
		out.Highlights = append(out.Highlights, Highlight{h.Start, h.End, h.End - h.Start})
		out.HighlightsTotal += h.End - h.Start
	}
	out.HighlightsBy = string(by)
}

// hear answers beats and speech.
func (w *watching) hear(out *ScenesOutput) {
	if w.onsets == nil {
		return
	}
	envelope := w.onsets.Envelope(w.measure.Signals().Audio.StartSeconds)
	if w.in.Beats {
		o, _ := w.in.tempi() // Validate read it
		b := rhythm.FindBeats(envelope, o)
		out.BeatGrid = &BeatGrid{b.Tempo, b.Confidence, b.Period, b.Phase, b.Spread, []cutroom.Micros{}}
		least := 0.5
		if w.in.MinConfidence != nil {
			least = *w.in.MinConfidence
		}
		out.Beats = []cutroom.Micros{}
		if b.Confidence >= least {
			out.Beats = append(out.Beats, b.Times...)
			out.BeatGrid.Supported = append(out.BeatGrid.Supported, b.Supported...)
		} else {
			out.Notes = append(out.Notes, "no beat was found with enough confidence: none are given")
		}
	}
	if w.in.Speech {
		out.Speech = []SpeechRatio{}
		for _, t := range w.onsets.Talk(envelope.Start) {
			out.Speech = append(out.Speech, SpeechRatio{t.At, t.Share})
		}
	}
}
