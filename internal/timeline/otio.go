package timeline

import (
	"bytes"
	"encoding/json"
	"math"

	"cutroom/internal/ffmpeg"
)

// The objects of an OpenTimelineIO file, by its serialised data model. One struct holds
// the members of all: the schema says which count.
type otioObject struct {
	Schema     string                 `json:"OTIO_SCHEMA"`
	Metadata   *otioMetadata          `json:"metadata,omitempty"`
	Name       string                 `json:"name"`
	Kind       string                 `json:"kind,omitempty"`
	Enabled    *bool                  `json:"enabled,omitempty"`
	Global     *otioTime              `json:"global_start_time,omitempty"`
	Range      *otioRange             `json:"source_range,omitempty"`
	Effects    []otioObject           `json:"effects,omitempty"`
	Markers    []otioObject           `json:"markers,omitempty"`
	Tracks     *otioObject            `json:"tracks,omitempty"`
	Children   []otioObject           `json:"children,omitempty"`
	Reference  *otioObject            `json:"media_reference,omitempty"`
	References map[string]*otioObject `json:"media_references,omitempty"`
	Active     string                 `json:"active_media_reference_key,omitempty"`
	URL        string                 `json:"target_url,omitempty"`
	Available  *otioRange             `json:"available_range,omitempty"`
	Marked     *otioRange             `json:"marked_range,omitempty"`
	Color      string                 `json:"color,omitempty"`
	Comment    string                 `json:"comment,omitempty"`
	EffectName string                 `json:"effect_name,omitempty"`
	Scalar     *float64               `json:"time_scalar,omitempty"`
	Type       string                 `json:"transition_type,omitempty"`
	Before     *otioTime              `json:"in_offset,omitempty"`
	After      *otioTime              `json:"out_offset,omitempty"`
}

type otioTime struct {
	Schema string  `json:"OTIO_SCHEMA"`
	Rate   float64 `json:"rate"`
	Value  float64 `json:"value"`
}

type otioRange struct {
	Schema   string   `json:"OTIO_SCHEMA"`
	Duration otioTime `json:"duration"`
	Start    otioTime `json:"start_time"`
}

// otioMetadata is what we keep of our own; that of others is not read.
type otioMetadata struct {
	Ours *otioOurs `json:"cutroom,omitempty"`
}

type otioOurs struct {
	Speed  string `json:"speed,omitempty"` // exact
	Kind   string `json:"transition,omitempty"`
	Drop   bool   `json:"drop_frame,omitempty"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	Mark   bool   `json:"chapter,omitempty"`
	Role   string `json:"role,omitempty"` // of a track: clips, sound, bed
	Rate   string `json:"rate,omitempty"` // exact
}

func (o *otioObject) ours() otioOurs {
	if o.Metadata == nil || o.Metadata.Ours == nil {
		return otioOurs{}
	}
	return *o.Metadata.Ours
}

// otioWriter writes version-one objects, and clips of the second version.
type otioWriter struct {
	t    *Timeline
	lost Lost
	rate float64
	on   bool
}

func writeOTIO(t *Timeline) ([]byte, Lost, error) {
	w := &otioWriter{t: t, rate: t.Rate.Float(), on: true}
	stack := otioObject{Schema: "Stack.1", Name: "tracks", Enabled: &w.on, Children: []otioObject{w.track("Video", "clips")}}
	for _, c := range t.Clips {
		if t.Sources[c.Source].Audio {
			stack.Children = append(stack.Children, w.track("Audio", "sound"))
			break
		}
	}
	for i := range t.Beds {
		stack.Children = append(stack.Children, w.bed(t.Beds[i]))
	}
	for _, m := range t.Marks {
		stack.Markers = append(stack.Markers, otioObject{
			Schema: "Marker.2", Name: line(m.Title), Color: "RED", Marked: w.span(m.At, 0), Metadata: ours(otioOurs{Mark: m.Chapter}),
		})
	}
	doc := otioObject{
		Schema: "Timeline.1", Name: line(t.Name), Global: w.time(t.Start), Tracks: &stack,
		Metadata: ours(otioOurs{Drop: t.Drop, Width: t.Width, Height: t.Height, Rate: t.Rate.String()}),
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), w.lost, nil
}

func ours(o otioOurs) *otioMetadata { return &otioMetadata{Ours: &o} }

func (w *otioWriter) time(n int64) *otioTime {
	return &otioTime{Schema: "RationalTime.1", Rate: w.rate, Value: float64(n)}
}

func (w *otioWriter) span(from, length int64) *otioRange {
	return &otioRange{Schema: "TimeRange.1", Start: *w.time(from), Duration: *w.time(length)}
}

// track writes the clips: neighbours meet in the middle of a transition.
func (w *otioWriter) track(kind, role string) otioObject {
	tr := otioObject{Schema: "Track.1", Name: kind + " 1", Kind: kind, Enabled: &w.on, Metadata: ours(otioOurs{Role: role})}
	for i, c := range w.t.Clips {
		if c.Lead > 0 {
			tr.Children = append(tr.Children, otioObject{Schema: "Gap.1", Enabled: &w.on, Range: w.span(0, c.Lead)})
		}
		head, tail := c.Enter.Length-c.Enter.Length/2, int64(0)
		if i+1 < len(w.t.Clips) {
			tail = w.t.Clips[i+1].Enter.Length / 2
		}
		if c.Enter.Length > 0 {
			x := otioObject{Schema: "Transition.1", Type: "SMPTE_Dissolve", Before: w.time(head), After: w.time(c.Enter.Length / 2), Metadata: ours(otioOurs{Kind: c.Enter.Kind})}
			if c.Enter.Kind != "" && c.Enter.Kind != "fade" {
				x.Type = "Custom_Transition"
				w.lost.add("the transition %s has a name that only this program knows", c.Enter.Kind)
			}
			tr.Children = append(tr.Children, x)
		}
		tr.Children = append(tr.Children, w.clip(c, head, c.Length-head-tail, kind == "Audio"))
	}
	return tr
}

// clip is a part of a source from its frame head on; a track of sound has a gap where the
// source has none.
func (w *otioWriter) clip(c Clip, head, length int64, sound bool) otioObject {
	s, sp := w.t.Sources[c.Source], c.speed()
	if sound && !s.Audio {
		return otioObject{Schema: "Gap.1", Enabled: &w.on, Range: w.span(0, length)}
	}
	o := otioObject{Schema: "Clip.2", Name: w.name(s), Enabled: &w.on, Range: w.span(c.In+times(head, sp), length), Active: "DEFAULT_MEDIA"}
	o.References = map[string]*otioObject{"DEFAULT_MEDIA": w.reference(s)}
	if sp != one {
		f := sp.Float()
		o.Effects = []otioObject{{Schema: "LinearTimeWarp.1", EffectName: "LinearTimeWarp", Scalar: &f, Metadata: ours(otioOurs{Speed: sp.String()})}}
	}
	return o
}

func (w *otioWriter) name(s Source) string {
	if s.Name != "" {
		return line(s.Name)
	}
	return nameOf(s.Path)
}

func (w *otioWriter) reference(s Source) *otioObject {
	role := ""
	switch {
	case s.Video && s.Audio:
		role = "both"
	case s.Video:
		role = "video"
	case s.Audio:
		role = "audio"
	}
	r := &otioObject{Schema: "ExternalReference.1", Name: line(s.Name), URL: href(s.Path), Metadata: ours(otioOurs{Role: role})}
	r.Available = w.span(s.Start, s.Length)
	return r
}

// bed is a track of sound that is laid under the clips.
func (w *otioWriter) bed(b Bed) otioObject {
	tr := otioObject{Schema: "Track.1", Name: "Music", Kind: "Audio", Enabled: &w.on, Metadata: ours(otioOurs{Role: "bed"})}
	if b.At > 0 {
		tr.Children = append(tr.Children, otioObject{Schema: "Gap.1", Enabled: &w.on, Range: w.span(0, b.At)})
	}
	s := w.t.Sources[b.Source]
	length := b.Length
	if length == 0 {
		_, all := w.t.Places()
		length = max(1, all-b.At)
		if s.Length > 0 {
			length = max(1, min(length, s.Start+s.Length-b.In))
		}
	}
	tr.Children = append(tr.Children, otioObject{
		Schema: "Clip.2", Name: w.name(s), Enabled: &w.on, Range: w.span(b.In, length), Active: "DEFAULT_MEDIA",
		References: map[string]*otioObject{"DEFAULT_MEDIA": w.reference(s)},
	})
	return tr
}

// frames is a time of a file in frames of the timeline's rate.
func frames(t *otioTime, rate ffmpeg.Rational, lost *Lost) int64 {
	if t == nil || t.Rate <= 0 || math.IsNaN(t.Value) || math.IsInf(t.Value, 0) {
		return 0
	}
	f := t.Value
	if own := rateOf(t.Rate); own != rate {
		if f = t.Value / t.Rate * rate.Float(); math.Abs(f-math.Round(f)) > 1e-6*math.Max(1, math.Abs(f)) {
			lost.add("times at %g frames per second are moved to the nearest frame of %s", t.Rate, rate)
		}
	}
	if math.Abs(f) > float64(maxFrame) {
		return maxFrame
	}
	n := math.Round(f)
	if math.Abs(f-n) > 0.001 {
		lost.add("a time lies between two frames and is moved to the nearest")
	}
	return int64(n)
}
