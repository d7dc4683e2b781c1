package evidence

import (
	"encoding/json"
	"strings"

	"cutroom"
)

// validJSON reports whether s is JSON that could hold segments.
func validJSON(s string) bool { return json.Valid([]byte(s)) }

// flexTime is a time that writers give as a number, or as a clock in a string
// ("00:00:01,500").
type flexTime struct {
	v        cutroom.Micros
	set, bad bool
}

// UnmarshalJSON never fails: a time that cannot be read is marked bad.
func (t *flexTime) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" || s == "" {
		return nil
	}
	t.set = true
	v, err := cutroom.ParseMicros(strings.Replace(s, ",", ".", 1))
	t.v, t.bad = v, err != nil
	return nil
}

// flexText is a text that some writers give as a number.
type flexText string

// UnmarshalJSON never fails: anything but a string keeps its JSON spelling.
func (t *flexText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = flexText(s)
	} else {
		*t = flexText(b)
	}
	return nil
}

// jsonWord and jsonSegment hold the spellings of the common writers: ours,
// whisper, whisper.cpp, faster-whisper, youtube-transcript-api.
type jsonWord struct {
	Start        flexTime `json:"start"`
	StartSeconds flexTime `json:"start_seconds"`
	End          flexTime `json:"end"`
	EndSeconds   flexTime `json:"end_seconds"`
	Word         string   `json:"word"`
	Text         string   `json:"text"`
	Probability  *float64 `json:"probability"`
	Score        *float64 `json:"score"`
}

type jsonSegment struct {
	Start        flexTime        `json:"start"`
	StartSeconds flexTime        `json:"start_seconds"`
	End          flexTime        `json:"end"`
	EndSeconds   flexTime        `json:"end_seconds"`
	Duration     flexTime        `json:"duration"`
	Text         *string         `json:"text"`
	Speaker      flexText        `json:"speaker"`
	Confidence   json.RawMessage `json:"confidence"`
	AvgLogprob   *float64        `json:"avg_logprob"`
	Score        *float64        `json:"score"`
	Unreliable   bool            `json:"unreliable"`
	Loop         bool            `json:"loop"`
	Words        []jsonWord      `json:"words"`
	Timestamps   struct {
		From flexTime `json:"from"`
		To   flexTime `json:"to"`
	} `json:"timestamps"`
}

// parseJSON reads segments. It returns false when the document holds none.
func (p *parser) parseJSON() bool {
	list, ok := p.segmentList()
	if !ok {
		return false
	}
	for i, raw := range list {
		pl := place{cue: i + 1}
		var j jsonSegment
		if err := json.Unmarshal(raw, &j); err != nil || j.Text == nil {
			p.problem(pl.cue, 0, "is not a segment with a text; it was left out")
			continue
		}
		p.addJSON(j, pl)
	}
	return true
}

// segmentList finds the list of segments in the document.
func (p *parser) segmentList() ([]json.RawMessage, bool) {
	data := []byte(p.text)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		for _, raw := range list {
			if len(raw) == 0 || raw[0] != '{' {
				return nil, false
			}
		}
		return list, len(list) > 0
	}
	var doc struct {
		Segments      []json.RawMessage `json:"segments"`
		Transcription []json.RawMessage `json:"transcription"`
		Language      string            `json:"language"`
		Text          string            `json:"text"`
		Result        struct {
			Language string `json:"language"`
		} `json:"result"`
	}
	if json.Unmarshal(data, &doc) != nil {
		return nil, false
	}
	if p.out.Language = doc.Language; p.out.Language == "" {
		p.out.Language = doc.Result.Language
	}
	switch {
	case doc.Segments != nil:
		return doc.Segments, true
	case doc.Transcription != nil:
		return doc.Transcription, true
	case doc.Text != "":
		p.add(Segment{Text: doc.Text, Untimed: true}, place{})
		return nil, true
	}
	return nil, false
}

// addJSON appends one segment.
func (p *parser) addJSON(j jsonSegment, pl place) {
	start := firstTime(j.StartSeconds, j.Start, j.Timestamps.From)
	end := firstTime(j.EndSeconds, j.End, j.Timestamps.To)
	if !end.set && j.Duration.set && !j.Duration.bad {
		end = flexTime{v: start.v + j.Duration.v, set: true}
	}
	switch {
	case !start.set || start.bad:
		p.problem(pl.cue, 0, "has no start that can be read; it was left out")
		return
	case start.v < 0:
		p.problem(pl.cue, 0, "starts before zero; it was set to zero")
		start.v = 0
	}
	s := Segment{Start: start.v, Text: strings.TrimSpace(*j.Text), Speaker: string(j.Speaker), Unreliable: j.Unreliable, Loop: j.Loop}
	if s.Text == "" {
		return
	}
	if end.set && (end.bad || end.v < 0) {
		p.problem(pl.cue, 0, "the end of the cue cannot be read; it was left open")
	} else if end.set {
		s.End = &end.v
	}
	s.Confidence, s.Score = jsonConfidence(j)
	for _, w := range j.Words {
		s.Words = append(s.Words, w.word(s.Start))
	}
	p.add(s, pl)
}

// firstTime returns the first time that is set.
func firstTime(times ...flexTime) flexTime {
	for _, t := range times {
		if t.set {
			return t
		}
	}
	return flexTime{}
}

// jsonConfidence keeps a grade as a grade and a number as the engine's score.
func jsonConfidence(j jsonSegment) (cutroom.Confidence, *float64) {
	score := j.Score
	if score == nil {
		score = j.AvgLogprob
	}
	var grade cutroom.Confidence
	if json.Unmarshal(j.Confidence, &grade) == nil {
		switch grade {
		case cutroom.High, cutroom.Medium, cutroom.Low, cutroom.NotAssessed:
			return grade, score
		}
	}
	var number float64
	if score == nil && len(j.Confidence) > 0 && json.Unmarshal(j.Confidence, &number) == nil {
		score = &number
	}
	return "", score
}

// word converts w; a word without a time starts with its segment.
func (w jsonWord) word(fallback cutroom.Micros) Word {
	out := Word{Start: fallback, Text: strings.TrimSpace(w.Word), Score: w.Probability}
	if out.Text == "" {
		out.Text = strings.TrimSpace(w.Text)
	}
	if out.Score == nil {
		out.Score = w.Score
	}
	if t := firstTime(w.StartSeconds, w.Start); t.set && !t.bad && t.v >= 0 {
		out.Start = t.v
	}
	if t := firstTime(w.EndSeconds, w.End); t.set && !t.bad && t.v >= 0 {
		out.End = &t.v
	}
	return out
}
