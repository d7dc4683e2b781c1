package graph

import (
	"fmt"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// worked does the work that is asked for on track t, whose sound comes from the link
// label, and brings it to the channels that the target asks for. It returns the track
// and the link of what comes out.
func (c *compiler) worked(t track, label string) (track, string, error) {
	s := strip{
		In: label, Out: label + "w", Rate: t.rate, Layout: t.layout, Channels: t.channels,
		Length: c.line.time(c.line.total), Samples: c.line.sample(c.line.total, t.rate),
	}
	if p := c.g.Picture; p != nil && p.Copy { // the picture's length wins, and it is not the line's
		if v := c.line.parts[0].source.Media.FirstVideo(); v != nil && v.EndSeconds > 0 {
			s.Length, s.Samples = v.EndSeconds, round(int64(v.EndSeconds), ffmpeg.Rational{Num: int64(t.rate), Den: 1}, micro)
		}
	}
	if c.selecting && t.stream != nil {
		s.Layout = t.stream.Audio.Layout // nothing has changed it yet
	}
	if w := c.g.Sound.Work; w != nil && t.number == c.g.Sound.Stream {
		from, err := c.beds(w)
		if err != nil {
			return t, label, err
		}
		chains, after, err := w.chain(s, from)
		if err != nil {
			return t, label, err
		}
		c.chains = append(c.chains, chains)
		if from.channels() > after.Channels {
			c.note("what is mixed in has %d channels and becomes %d, as the track has", from.channels(), after.Channels)
		}
		t.layout, t.channels, t.silent = after.Layout, after.Channels, t.silent && w.Replace == nil && w.Music == nil && w.Effects == nil
		t.length = s.Length
		s, label = after, s.Out
	}
	to := map[int]string{1: "mono", 2: "stereo"}[c.g.Target.Audio.Channels]
	if mix := mixdown(s.Layout, s.Channels, to); mix != "" {
		c.chains = append(c.chains, "["+label+"]"+mix+"["+label+"m]")
		t.layout, t.channels, label = to, c.g.Target.Audio.Channels, label+"m"
	}
	if n := c.g.Target.Audio.Channels; n > 2 && n > t.channels { // the further channels stay silent
		to := layoutName(n)
		c.chains = append(c.chains, fmt.Sprintf("[%s]aformat=channel_layouts=%s[%sw]", label, to, label))
		t.layout, t.channels, label = to, n, label+"w"
	}
	return t, label, nil
}

// channels is the number of channels of the widest bed that is mixed in.
func (b bedding) channels() int { return max(b.Music.Channels, b.Effects.Channels) }

// beds opens the beds of w, each as an input of its own.
func (c *compiler) beds(w *Work) (bedding, error) {
	var from bedding
	for _, b := range []struct {
		bed *Bed
		in  *bedInput
	}{{w.Replace, &from.Replace}, {w.Music, &from.Music}, {w.Effects, &from.Effects}} {
		if b.bed == nil {
			continue
		}
		var err error
		if *b.in, err = c.bed(b.bed); err != nil {
			return from, err
		}
	}
	return from, nil
}

func (c *compiler) bed(b *Bed) (bedInput, error) {
	s := &c.g.Sources[b.Source]
	a, err := s.Media.AudioStream(b.Stream)
	if err != nil {
		e := cutroom.AsError(err)
		return bedInput{}, cutroom.Errorf(e.Code, "%s: %s", s.Name, e.Msg).WithHint("give a file with sound")
	}
	in := bedInput{Link: fmt.Sprintf("%d:%d", len(c.inputs), a.Index), Layout: a.Audio.Layout, Channels: a.Audio.Channels, Length: s.Media.DurationSeconds}
	if a.EndSeconds > a.StartSeconds {
		in.Length = a.EndSeconds - a.StartSeconds
	}
	c.inputs = append(c.inputs, input{source: b.Source})
	return in, nil
}
