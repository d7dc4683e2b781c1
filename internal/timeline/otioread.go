package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cutroom/internal/ffmpeg"
)

// otioReader reads the first track of pictures, what lies beneath it, and marks.
type otioReader struct {
	t    *Timeline
	lost Lost
	cuts map[otioPlace]bool // of the pictures: sound is compared with them

	shelf shelf
}

// otioCut is a clip of a track as it is cut there.
type otioCut struct {
	source       Source
	at, in, long int64
}

// otioPlace is which part of which file a cut shows, and when.
type otioPlace struct {
	path         string
	at, in, long int64
}

func (c otioCut) place() otioPlace { return otioPlace{c.source.Path, c.at, c.in, c.long} }

func readOTIO(text []byte) (*Timeline, Lost, error) {
	if err := shallow(text); err != nil {
		return nil, nil, err
	}
	var doc otioObject
	if err := json.Unmarshal(text, &doc); err != nil || doc.Tracks == nil {
		return nil, nil, bad("the file is no OpenTimelineIO timeline")
	}
	r := &otioReader{t: &Timeline{Name: line(doc.Name)}}
	own := doc.ours()
	r.t.Width, r.t.Height = min(max(0, own.Width), 16384), min(max(0, own.Height), 16384)
	var pictures, sounds []*otioObject
	for i := range doc.Tracks.Children {
		tr := &doc.Tracks.Children[i]
		switch {
		case tr.Schema != "Track.1":
			r.lost.add("%s %q among the tracks", line(tr.Schema), line(tr.Name))
		case tr.Kind == "Audio":
			sounds = append(sounds, tr)
		default:
			pictures = append(pictures, tr)
		}
	}
	if len(pictures) == 0 && len(sounds) > 0 {
		pictures, sounds = sounds[:1], sounds[1:]
	}
	if len(pictures) == 0 {
		return nil, nil, bad("the timeline has no track")
	}
	if r.t.Rate = r.rate(doc.Global, pictures[0], own.Rate); !r.t.Rate.Known() {
		return nil, nil, bad("the timeline states no frame rate")
	}
	r.t.Drop = own.Drop && r.t.base()%30 == 0
	r.t.Start = frames(doc.Global, r.t.Rate, &r.lost)
	r.t.Clips = r.track(pictures[0])
	r.cuts = map[otioPlace]bool{}
	for _, c := range r.cutsOf(pictures[0]) {
		r.cuts[c.place()] = true
	}
	for _, p := range pictures[1:] {
		r.lost.add("the track %q, which lies over the first", line(p.Name))
	}
	for _, s := range sounds {
		r.sound(s)
	}
	for _, m := range doc.Tracks.Markers {
		r.mark(m, 0)
	}
	r.say(doc.Tracks)
	r.t.Sources = r.shelf.list
	return r.t, r.lost, nil
}

// rate is the exact rate of the first time that says one; exact is our own note of it.
func (r *otioReader) rate(global *otioTime, tr *otioObject, exact string) ffmpeg.Rational {
	var f float64
	if global != nil {
		f = global.Rate
	}
	for _, c := range tr.Children {
		if c.Range != nil && (c.Schema == "Clip.1" || c.Schema == "Clip.2") {
			f = c.Range.Duration.Rate
			break
		}
	}
	if e, ok := ffmpeg.ParseRational(exact); ok && e.Float() == f {
		return e
	}
	return rateOf(f)
}

// track reads the clips of a track.
func (r *otioReader) track(tr *otioObject) (clips []Clip) {
	gap, head, kind := int64(0), int64(0), ""
	tail := int64(0)
	for i := range tr.Children {
		o := &tr.Children[i]
		switch o.Schema {
		case "Clip.1", "Clip.2":
			c, ok := r.clip(o)
			if !ok || o.Enabled != nil && !*o.Enabled {
				r.lost.add("the clip %q: black stands in its place", line(o.Name))
				gap, head, tail = gap+c.Length, 0, 0
				continue
			}
			c.Lead, gap = gap, 0
			if head+tail > 0 && len(clips) > 0 && c.Lead == 0 {
				back := times(head, c.speed())
				if c.In < back {
					r.lost.add("%q begins with its first frame: the transition to it has nothing to show before", line(o.Name))
				}
				c.In = max(0, c.In-back)
				c.Length += head
				c.Enter = Transition{Kind: kind, Length: head + tail}
				clips[len(clips)-1].Length += tail
			}
			head, tail = 0, 0
			clips = append(clips, c)
		case "Gap.1":
			if o.Range != nil {
				gap += max(0, frames(&o.Range.Duration, r.t.Rate, &r.lost))
			}
			head, tail = 0, 0
		case "Transition.1":
			head, tail = max(0, frames(o.Before, r.t.Rate, &r.lost)), max(0, frames(o.After, r.t.Rate, &r.lost))
			if kind = o.ours().Kind; kind == "" {
				kind = "fade"
				if o.Type != "SMPTE_Dissolve" {
					r.lost.add("the transition %q is read as a dissolve", line(o.Type))
				}
			}
			if len(clips) == 0 || gap > 0 {
				r.lost.add("a transition from nothing")
				head, tail = 0, 0
			}
		default:
			r.lost.add("%s %q", line(o.Schema), line(o.Name))
		}
	}
	if gap > 0 {
		r.lost.add("%d frames of black at the end", gap)
	}
	return clips
}

// clip reads one clip.
func (r *otioReader) clip(o *otioObject) (Clip, bool) {
	ref := o.Reference
	if o.Schema == "Clip.2" {
		ref = o.References[o.Active]
	}
	span := o.Range
	if span == nil && ref != nil {
		span = ref.Available
	}
	if span == nil {
		return Clip{}, false
	}
	c := Clip{In: frames(&span.Start, r.t.Rate, &r.lost), Length: max(0, frames(&span.Duration, r.t.Rate, &r.lost))}
	if ref == nil || ref.Schema != "ExternalReference.1" || c.Length == 0 || c.In < 0 {
		return c, false
	}
	c.Source = r.shelf.put(r.source(o, ref))
	for _, e := range o.Effects {
		if e.Schema != "LinearTimeWarp.1" || e.Scalar == nil || *e.Scalar <= 0 {
			r.lost.add("the effect %s of %q", line(e.Schema), line(o.Name))
			continue
		}
		s, ok := ffmpeg.ParseRational(e.ours().Speed)
		if !ok || s.Float() != *e.Scalar {
			s = Ratio(*e.Scalar, 10_000)
		}
		if s.Known() && s != one {
			c.Speed = s
		}
	}
	return c, true
}

// source is what a clip comes from.
func (r *otioReader) source(o, ref *otioObject) Source {
	s := Source{Path: pathOf(ref.URL), Name: line(ref.Name), Video: true}
	if s.Name == "" && ref.Metadata == nil {
		s.Name = line(o.Name)
	}
	switch ref.ours().Role {
	case "both":
		s.Audio = true
	case "audio":
		s.Video, s.Audio = false, true
	case "":
		s.Video = ref.Metadata == nil || ref.Metadata.Ours == nil
	}
	if a := ref.Available; a != nil {
		s.Start, s.Length = max(0, frames(&a.Start, r.t.Rate, &r.lost)), max(0, frames(&a.Duration, r.t.Rate, &r.lost))
	}
	return s
}

// cutsOf are the clips of a track as they are cut there.
func (r *otioReader) cutsOf(tr *otioObject) (cuts []otioCut) {
	at := int64(0)
	for i := range tr.Children {
		o := &tr.Children[i]
		if o.Range == nil || o.Schema == "Transition.1" {
			continue
		}
		length := max(0, frames(&o.Range.Duration, r.t.Rate, &r.lost))
		if ref := o.References[o.Active]; o.Schema == "Clip.2" && ref != nil {
			cuts = append(cuts, otioCut{r.source(o, ref), at, frames(&o.Range.Start, r.t.Rate, &r.lost), length})
		} else if o.Schema == "Clip.1" && o.Reference != nil {
			cuts = append(cuts, otioCut{r.source(o, o.Reference), at, frames(&o.Range.Start, r.t.Rate, &r.lost), length})
		}
		at += length
	}
	return cuts
}

// sound reads a track of sound: that of the clips themselves, a bed, or neither.
func (r *otioReader) sound(tr *otioObject) {
	cuts := r.cutsOf(tr)
	own := len(cuts) > 0
	for _, c := range cuts {
		own = own && r.cuts[c.place()]
	}
	switch {
	case len(cuts) == 0:
	case own && tr.ours().Role != "bed":
		heard := map[string]bool{}
		for _, c := range cuts {
			heard[c.source.Path] = true
		}
		for i, s := range r.shelf.list {
			r.shelf.list[i].Audio = s.Audio || heard[s.Path]
		}
	case len(cuts) == 1:
		s := cuts[0].source
		if tr.ours().Role != "bed" {
			s.Video, s.Audio = false, true
		}
		r.t.Beds = append(r.t.Beds, Bed{Source: r.shelf.put(s), At: cuts[0].at, In: max(0, cuts[0].in), Length: cuts[0].long})
	default:
		r.lost.add("the track %q: %d sounds with cuts of their own", line(tr.Name), len(cuts))
	}
	r.say(tr)
}

// say names what lies on a track or stack besides its children.
func (r *otioReader) say(o *otioObject) {
	for _, e := range o.Effects {
		r.lost.add("the effect %s of %q", line(e.Schema), line(o.Name))
	}
	if o.Schema == "Track.1" {
		for _, m := range o.Markers {
			r.mark(m, 0)
		}
	}
}

func (r *otioReader) mark(m otioObject, at int64) {
	if m.Marked == nil || len(r.t.Marks) >= maxClips {
		return
	}
	r.t.Marks = append(r.t.Marks, Mark{At: at + max(0, frames(&m.Marked.Start, r.t.Rate, &r.lost)), Title: line(m.Name), Chapter: m.ours().Mark})
}

// shallow refuses a document that is nested deeper than a timeline.
func shallow(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	depth, count := 0, 0
	for {
		token, err := d.Token()
		if err != nil {
			if err.Error() == "EOF" {
				return nil
			}
			return bad("the file is no JSON document")
		}
		if count++; count > 50*maxElements {
			return fmt.Errorf("%w", bad("the file holds too many values"))
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth*4 {
			return bad("the file is nested too deep")
		}
	}
}
