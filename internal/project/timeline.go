package project

import (
	"fmt"
	"math"
	"math/big"
	"path"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/timeline"
)

// FromTimeline is the project that shows what a timeline of an editing program shows.
// Files are named by their paths where these lie beside the timeline, by their bare names
// where they are absolute: whoever reads a project has no such folder. lost says what has
// no place in a project.
func FromTimeline(t *timeline.Timeline, labels bool) (p Project, lost timeline.Lost) {
	p.Frame = &Frame{Width: t.Width &^ 1, Height: t.Height &^ 1, FPS: FPS(t.Rate)}
	for i, c := range t.Clips {
		s := t.Sources[c.Source]
		src, said := located(s)
		if said != "" {
			lost = append(lost, said)
		}
		clip := Clip{Src: cutroom.InPath(src), Lead: t.Time(c.Lead)}
		if c.Speed.Known() {
			clip.Speed = c.Speed.Float()
		}
		span := c.Length
		if c.Speed.Known() {
			span = scaled(c.Length, c.Speed)
		}
		if labels && s.Start == 0 {
			base, drop := ffmpeg.Base(t.Rate), t.Drop
			clip.In = cutroom.Moment(ffmpeg.TimecodeOf(c.In, base, drop).String())
			clip.Out = cutroom.Moment(ffmpeg.TimecodeOf(c.In+span, base, drop).String())
		} else {
			from := max(0, c.In-s.Start)
			clip.In, clip.Out = cutroom.Moment(t.Time(from).String()), cutroom.Moment(ends(t, from, c).String())
		}
		if c.Enter.Length > 0 {
			clip.Transition = &Transition{Type: c.Enter.Kind, Duration: t.Time(c.Enter.Length)}
		} else if i > 0 && c.Lead == 0 {
			clip.Transition = nil
		}
		p.Clips = append(p.Clips, clip)
	}
	for i, b := range t.Beds {
		src, said := located(t.Sources[b.Source])
		switch {
		case i > 0:
			lost = append(lost, fmt.Sprintf("the sound %s: a project has one piece of music and one of effects", src))
			continue
		case said != "":
			lost = append(lost, said)
		}
		volume := 0.0
		p.Audio = &Audio{Music: cutroom.InPath(src), MusicVolume: &volume, MusicOffset: t.Time(b.At) - t.Time(max(0, b.In-t.Sources[b.Source].Start))}
	}
	for _, m := range t.Marks {
		if title := m.Title; m.At >= 0 && title != "" {
			p.Chapters = append(p.Chapters, Chapter{At: cutroom.Moment(t.Time(m.At).String()), Title: title})
		}
	}
	return p, lost
}

// located is where a source is looked for.
func located(s timeline.Source) (src, said string) {
	src = s.Path
	if src == "" {
		return s.Name, fmt.Sprintf("the list names no file for %q: one of that name is looked for", s.Name)
	}
	if strings.HasPrefix(src, "/") || strings.Contains(src, ":/") || strings.Contains(src, `\`) {
		src = path.Base(strings.ReplaceAll(src, `\`, "/"))
		return src, fmt.Sprintf("%s is looked for beside the timeline: it names another folder", src)
	}
	return src, ""
}

// ends is where a clip ends in its source, which may be between two of its frames.
func ends(t *timeline.Timeline, from int64, c timeline.Clip) cutroom.Micros {
	r := big.NewRat(c.Length, 1)
	if c.Speed.Known() {
		r.Mul(r, big.NewRat(c.Speed.Num, c.Speed.Den))
	}
	r.Add(r, big.NewRat(from, 1)).Mul(r, big.NewRat(t.Rate.Den*1_000_000, t.Rate.Num))
	f, _ := r.Float64()
	return cutroom.Micros(math.Round(f))
}

// scaled is how many frames of the source n frames at a speed show.
func scaled(n int64, speed ffmpeg.Rational) int64 {
	r := new(big.Int).Mul(big.NewInt(n), big.NewInt(speed.Num))
	r.Lsh(r, 1).Add(r, big.NewInt(speed.Den))
	return r.Div(r, new(big.Int).Lsh(big.NewInt(speed.Den), 1)).Int64()
}

// FPS is a rate as people write it; it reads back as the exact one.
func FPS(r ffmpeg.Rational) float64 {
	for _, digits := range []float64{1, 1000, 1e6} {
		f := float64(int64(r.Float()*digits+0.5)) / digits
		if back, ok := ffmpeg.RateOf(f); ok && back == r.Reduced() {
			return f
		}
	}
	return r.Float()
}
