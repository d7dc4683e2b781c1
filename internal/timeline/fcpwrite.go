package timeline

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// dissolve is what Final Cut Pro calls its transition.
const dissolve = "Cross Dissolve"

// fcpWriter writes a document of version 1.10 (Final Cut Pro 10.6).
type fcpWriter struct {
	t    *Timeline
	b    strings.Builder
	lost Lost
	at   []int64
	all  int64
}

func writeFCPXML(t *Timeline) ([]byte, Lost, error) {
	w := &fcpWriter{t: t}
	w.at, w.all = t.Places()
	w.b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE fcpxml>\n<fcpxml version=\"1.10\">\n")
	w.resources()
	tag(&w.b, 1, "library", false)
	tag(&w.b, 2, "event", false, "name", "cutroom")
	tag(&w.b, 3, "project", false, "name", line(t.Name))
	format := "NDF"
	if t.Drop {
		format = "DF"
	}
	tag(&w.b, 4, "sequence", false, "format", "r1", "tcStart", w.time(t.Start, one), "tcFormat", format, "duration", w.time(w.all, one))
	tag(&w.b, 5, "spine", false)
	if err := w.spine(); err != nil {
		return nil, nil, err
	}
	for i, name := range []string{"spine", "sequence", "project", "event", "library"} {
		end(&w.b, 5-i, name)
	}
	w.b.WriteString("</fcpxml>\n")
	return []byte(w.b.String()), w.lost, nil
}

var one = ffmpeg.Rational{Num: 1, Den: 1}

// time is n frames at a speed as seconds, exactly: "1001/24000s".
func (w *fcpWriter) time(n int64, speed ffmpeg.Rational) string {
	r := big.NewRat(n, 1)
	r.Mul(r, big.NewRat(w.t.Rate.Den*speed.Den, w.t.Rate.Num*speed.Num))
	if r.IsInt() {
		return r.Num().String() + "s"
	}
	return r.String() + "s"
}

func (w *fcpWriter) resources() {
	t := w.t
	tag(&w.b, 1, "resources", false)
	size := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	tag(&w.b, 2, "format", true, "id", "r1", "frameDuration", w.time(1, one), "width", size(t.Width), "height", size(t.Height))
	tag(&w.b, 2, "effect", true, "id", "r2", "name", dissolve, "uid", "FxPlug:4731E73A-8DAC-4113-9A30-AE85B1761265")
	for i, s := range t.Sources {
		flag := func(on bool) string {
			if on {
				return "1"
			}
			return ""
		}
		length := s.Length
		if length == 0 {
			length = w.reach(i) - s.Start
		}
		attrs := []string{"id", fmt.Sprintf("r%d", i+3), "name", w.name(s), "start", w.time(s.Start, one), "duration", w.time(length, one), "hasVideo", flag(s.Video), "hasAudio", flag(s.Audio)}
		if s.Video {
			attrs = append(attrs, "format", "r1")
		}
		if s.Audio {
			attrs = append(attrs, "audioSources", "1")
		}
		tag(&w.b, 2, "asset", false, attrs...)
		tag(&w.b, 3, "media-rep", true, "kind", "original-media", "src", href(s.Path))
		end(&w.b, 2, "asset")
	}
	end(&w.b, 1, "resources")
}

// reach is the last frame of a source that is used.
func (w *fcpWriter) reach(source int) (most int64) {
	for _, c := range w.t.Clips {
		if c.Source == source {
			most = max(most, c.In+times(c.Length, c.speed())+1)
		}
	}
	for _, b := range w.t.Beds {
		if b.Source == source {
			most = max(most, b.In+b.Length+1)
		}
	}
	return most
}

func (w *fcpWriter) name(s Source) string {
	if s.Name != "" {
		return line(s.Name)
	}
	return nameOf(s.Path)
}

// spine writes the clips. Neighbours meet in the middle of a transition: each gives up
// what the other shows alone.
func (w *fcpWriter) spine() error {
	t := w.t
	for i, c := range t.Clips {
		if c.Enter.Kind != "" && c.Enter.Kind != "fade" {
			w.lost.add("the transition %s is written as a cross dissolve", c.Enter.Kind)
		}
		if c.Lead > 0 {
			from := w.at[i] - c.Lead
			tag(&w.b, 6, "gap", true, "name", "Gap", "offset", w.time(t.Start+from, one), "duration", w.time(c.Lead, one), "start", "3600s")
		}
		head := c.Enter.Length - c.Enter.Length/2
		tail := int64(0)
		if i+1 < len(t.Clips) {
			tail = t.Clips[i+1].Enter.Length / 2
		}
		if c.Length-head-tail < 1 {
			return cutroom.Errorf(cutroom.Invalid, "clip %d shows nothing but transitions, which FCPXML cannot say", i+1).WithHint("make the transitions shorter")
		}
		from := w.at[i] + head
		if c.Enter.Length > 0 {
			w.transition(from-head, c.Enter.Length)
		}
		w.clip(i, c, from, c.Length-head-tail, head)
	}
	return nil
}

func (w *fcpWriter) transition(at, length int64) {
	tag(&w.b, 6, "transition", false, "name", dissolve, "offset", w.time(w.t.Start+at, one), "duration", w.time(length, one))
	tag(&w.b, 7, "filter-video", true, "ref", "r2", "name", dissolve)
	end(&w.b, 6, "transition")
}

// clip writes one clip from its frame head on. Its start counts as it plays: a faster
// clip's source is divided by its speed.
func (w *fcpWriter) clip(i int, c Clip, at, length, head int64) {
	t, s, sp := w.t, w.t.Sources[c.Source], c.speed()
	start := new(big.Rat).Add(w.rat(c.In, sp), w.rat(head, one))
	if sp == one {
		start = w.rat(c.In+head, one)
	}
	tag(&w.b, 6, "asset-clip", false, "ref", fmt.Sprintf("r%d", c.Source+3), "name", w.name(s), "offset", w.time(t.Start+at, one),
		"start", seconds(start), "duration", w.time(length, one))
	if sp != one {
		whole := max(c.In+times(c.Length, sp)+1, s.Start+s.Length)
		tag(&w.b, 7, "timeMap", false)
		tag(&w.b, 8, "timept", true, "time", "0s", "value", "0s", "interp", "linear")
		tag(&w.b, 8, "timept", true, "time", w.time(whole, sp), "value", w.time(whole, one), "interp", "linear")
		end(&w.b, 7, "timeMap")
	}
	if i == 0 {
		w.beds(start, at)
	}
	w.marks(i, start, at)
	end(&w.b, 6, "asset-clip")
}

// rat is n frames at a speed in seconds.
func (w *fcpWriter) rat(n int64, speed ffmpeg.Rational) *big.Rat {
	r := big.NewRat(n, 1)
	return r.Mul(r, big.NewRat(w.t.Rate.Den*speed.Den, w.t.Rate.Num*speed.Num))
}

func seconds(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String() + "s"
	}
	return r.String() + "s"
}

// beds hangs the sound that is laid under the edit on the first clip.
func (w *fcpWriter) beds(start *big.Rat, at int64) {
	for i, b := range w.t.Beds {
		length := b.Length
		if s := w.t.Sources[b.Source]; length == 0 {
			length = max(1, w.all-b.At)
			if s.Length > 0 {
				length = max(1, min(length, s.Start+s.Length-b.In))
			}
		}
		offset := new(big.Rat).Add(start, w.rat(b.At-at, one))
		tag(&w.b, 7, "asset-clip", true, "ref", fmt.Sprintf("r%d", b.Source+3), "name", w.name(w.t.Sources[b.Source]), "lane", strconv.Itoa(-1-i),
			"offset", seconds(offset), "start", w.time(b.In, one), "duration", w.time(length, one), "audioRole", "music")
	}
}

// marks writes the marks that lie in clip i.
func (w *fcpWriter) marks(i int, start *big.Rat, at int64) {
	until := int64(1) << 62
	if i+1 < len(w.t.Clips) {
		n := w.t.Clips[i+1]
		until = w.at[i+1] + n.Enter.Length - n.Enter.Length/2
	}
	for _, m := range w.t.Marks {
		if m.At >= until || i > 0 && m.At < at || i == 0 && m.At < 0 {
			continue
		}
		name := "marker"
		if m.Chapter {
			name = "chapter-marker"
		}
		where := new(big.Rat).Add(start, w.rat(m.At-at, one))
		attrs := []string{"start", seconds(where), "duration", w.time(1, one), "value", line(m.Title)}
		if m.Chapter {
			attrs = append(attrs, "posterOffset", "0s")
		}
		tag(&w.b, 7, name, true, attrs...)
	}
}
