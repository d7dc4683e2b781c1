package graph

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// track is one audio stream of the output.
type track struct {
	number          int // of the source's audio streams
	rate, channels  int
	layout          string
	language, title string
	silent          bool // no source has sound for it
	stream          *ffmpeg.Stream
	length          cutroom.Micros // 0: of the edit
}

// tracks decides which audio streams the output has.
func (c *compiler) tracks() ([]track, error) {
	s := c.g.Sound
	if s == nil {
		return nil, nil
	}
	first, last := 0, 0
	for i := range c.g.Sources {
		if c.clipped(i) {
			last = max(last, len(c.g.Sources[i].Media.AudioStreams())-1)
		}
	}
	if s.Tracks == OneTrack {
		first, last = s.Stream, s.Stream
	}
	var list []track
	for n := first; n <= last; n++ {
		t, err := c.track(n)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// clipped reports whether a clip shows source i; beds are no clips.
func (c *compiler) clipped(i int) bool {
	for _, cl := range c.g.Clips {
		if cl.Source == i {
			return true
		}
	}
	return false
}

// track describes audio stream n: the rate of the first source that has it, the widest
// layout of all.
func (c *compiler) track(n int) (track, error) {
	t := track{number: n, silent: true}
	for _, cl := range c.g.Clips {
		src := &c.g.Sources[cl.Source]
		list := src.Media.AudioStreams()
		if n >= len(list) {
			continue
		}
		a := list[n]
		if !a.Decodable {
			_, err := src.Media.AudioStream(n)
			return t, err
		}
		if t.silent {
			t.rate, t.language, t.title, t.silent, t.stream = a.Audio.SampleRate, a.Language, a.Title, false, a
		}
		if a.Audio.Channels > t.channels {
			t.channels, t.layout = a.Audio.Channels, layoutOf(a.Audio)
		}
	}
	if t.silent {
		t.rate, t.channels, t.layout = 48000, 2, "stereo"
	}
	if t.rate <= 0 || t.channels <= 0 {
		return t, cutroom.Errorf(cutroom.UnreadableMedia, "audio stream %d states no sample rate or channels", n)
	}
	return t, nil
}

func layoutOf(a *ffmpeg.AudioFacts) string {
	if a.Layout != "" && !strings.ContainsAny(a.Layout, " ()") {
		return a.Layout
	}
	return layoutName(a.Channels)
}

func layoutName(n int) string {
	names := []string{"", "mono", "stereo", "2.1", "quad", "5.0", "5.1", "6.1", "7.1"}
	if n < len(names) {
		return names[n]
	}
	return fmt.Sprintf("%dc", n)
}

// soundChains are the filters that make track t of the output, ending in [label].
func (c *compiler) soundChains(t track, label string) ([]string, error) {
	switch {
	case c.joined != nil && t.stream != nil:
		return []string{c.pieceSound(t, label)}, nil
	case t.stream == nil:
		total := c.line.sample(c.line.total, t.rate)
		return []string{fmt.Sprintf("anullsrc=r=%d:cl=%s,atrim=end_sample=%d[%s]", t.rate, t.layout, total, label)}, nil
	case c.stays():
		return []string{c.staySound(t, label)}, nil
	case c.selecting:
		return c.selectSound(t, label)
	}
	return c.joinSound(t, label)
}

// staySound is a track of a file whose picture is copied. ffmpeg counts from the public
// zero; what begins late begins with silence, and nothing is cut off.
func (c *compiler) staySound(t track, label string) string {
	return fmt.Sprintf("[0:%d]aresample=async=1:first_pts=0[%s]", t.stream.Index, label)
}

// stayLength is how long such a track is, 0 where the file only estimates it.
func (c *compiler) stayLength(t track) cutroom.Micros {
	if d := c.line.parts[0].source.Media; d.FormatName == "mpegts" || d.FormatName == "mpeg" || d.DurationFrom == ffmpeg.Unknown {
		return 0
	}
	return max(0, t.stream.EndSeconds)
}

// selectSound cuts the parts of one source out of one decode of its sound. A sample's
// number is its time: holes are filled, what begins late begins with silence.
func (c *compiler) selectSound(t track, label string) ([]string, error) {
	src := c.line.parts[0].source
	d, a := src.Media, t.stream
	at := func(m cutroom.Micros) int64 {
		return round(int64(m+d.ZeroSeconds), ffmpeg.Rational{Num: int64(t.rate), Den: 1}, micro)
	}
	total := c.line.sample(c.line.total, t.rate)
	head := fmt.Sprintf("[%d:%d]aresample=async=1:first_pts=%d", c.inputOf(0), a.Index, min(d.FirstSample(a, c.line.parts[0].start), at(c.line.parts[0].start)))
	type cut struct{ from, to int64 }
	var cuts []cut
	for _, p := range c.line.parts {
		from := c.startSample(p, t.rate)
		n := c.line.sample(p.at+p.length, t.rate) - c.line.sample(p.at, t.rate)
		if k := len(cuts); k > 0 && cuts[k-1].to == from {
			cuts[k-1].to = from + n
			continue
		}
		cuts = append(cuts, cut{from, from + n})
	}
	first, end := cuts[0].from, cuts[len(cuts)-1].to
	head += fmt.Sprintf(",atrim=start_pts=%d:end_pts=%d", first, end)
	tail := fmt.Sprintf("apad=whole_len=%d,atrim=end_sample=%d", total, total)
	if len(cuts) == 1 {
		return []string{fmt.Sprintf("%s,asetpts=PTS-STARTPTS,%s[%s]", head, tail, label)}, nil
	}
	var points, outs, kept []string
	var chains []string
	for i, k := range cuts {
		name := fmt.Sprintf("%sk%d", label, i)
		outs, kept = append(outs, "["+name+"s]"), append(kept, "["+name+"]")
		chains = append(chains, fmt.Sprintf("[%ss]asetpts=PTS-STARTPTS[%s]", name, name)) // concat keeps the hole before a part
		if i > 0 {
			points = append(points, fmt.Sprint(k.from-first))
		}
		if i < len(cuts)-1 {
			points = append(points, fmt.Sprint(k.to-first))
			drop := fmt.Sprintf("%sd%d", label, i)
			outs = append(outs, "["+drop+"]")
			chains = append(chains, "["+drop+"]anullsink")
		}
	}
	chains = append(chains, fmt.Sprintf("%s,asetpts=PTS-STARTPTS,asegment=samples=%s%s", head, strings.Join(points, "|"), strings.Join(outs, "")))
	return append(chains, fmt.Sprintf("%sconcat=n=%d:v=0:a=1,%s[%s]", strings.Join(kept, ""), len(kept), tail, label)), nil
}

// startSample is the number, on the file's timeline, of the sample that a part begins
// with.
func (c *compiler) startSample(p part, rate int) int64 {
	if c.g.Picture != nil {
		if v := p.source.Media.FirstVideo(); v != nil {
			return round(int64(p.from), ffmpeg.Rational{Num: int64(rate), Den: 1}, v.TimeBase)
		}
	}
	return round(int64(p.start+p.source.Media.ZeroSeconds), ffmpeg.Rational{Num: int64(rate), Den: 1}, micro)
}

// joinSound conforms the sound of every clip to one form and lays them one behind the
// other. Each is exactly as long as its picture.
func (c *compiler) joinSound(t track, label string) ([]string, error) {
	var chains []string
	form := fmt.Sprintf("aresample=%d,aformat=sample_fmts=fltp:channel_layouts=%s", t.rate, t.layout)
	for i, p := range c.line.parts {
		n := c.line.sample(p.at+p.length, t.rate) - c.line.sample(p.at, t.rate)
		end := fmt.Sprintf("apad=whole_len=%d,atrim=end_sample=%d[%sp%d]", n, n, label, i)
		list := p.source.Media.AudioStreams()
		if p.clip.silent() || t.number >= len(list) {
			chains = append(chains, fmt.Sprintf("anullsrc=r=%d:cl=%s,atrim=end_sample=%d,%s,%s", t.rate, t.layout, n, form, end))
			continue
		}
		a, d := list[t.number], p.source.Media
		per := ffmpeg.Rational{Num: int64(a.Audio.SampleRate), Den: 1}
		from, to := round(int64(p.start+d.ZeroSeconds), per, micro), round(int64(p.end+d.ZeroSeconds), per, micro)
		head := fmt.Sprintf("[%d:%d]aresample=async=1:first_pts=%d,atrim=start_pts=%d:end_pts=%d,asetpts=PTS-STARTPTS", c.inputOf(i), a.Index, min(d.FirstSample(a, p.start), from), from, to)
		if r := p.clip.Ramp; r != nil {
			head = r.sound(head, fmt.Sprintf("%sr%d", label, i), p, a.Audio.SampleRate)
		} else {
			head += pace(p.clip, a.Audio.SampleRate)
		}
		chains = append(chains, head+","+form+","+lead(p.clip, t.rate)+c.turned(p, end))
	}
	return append(chains, c.chainSound(t, label)...), nil
}

// chainSound joins the conformed parts.
func (c *compiler) chainSound(t track, label string) []string {
	total := c.line.sample(c.line.from+c.line.once, t.rate) - c.line.sample(c.line.from, t.rate)
	tail := fmt.Sprintf("apad=whole_len=%d,atrim=end_sample=%d%s[%s]", total, total, c.repeatSound(t), label)
	chains, link := c.chainParts(t, label)
	return append(chains, fmt.Sprintf("[%s]%s", link, tail))
}

// pace is the chain that plays a clip's sound at its speed.
func pace(c Clip, rate int) string {
	if c.Resample {
		return clock(c.speed(), rate)
	}
	return tempo(c.speed())
}

// lead is the silence before a clip, with its comma.
func lead(c Clip, rate int) string {
	if c.Lead <= 0 {
		return ""
	}
	return fmt.Sprintf("adelay=delays=%dS:all=1,", round(int64(c.Lead), ffmpeg.Rational{Num: int64(rate), Den: 1}, micro))
}

// tempo is the chain of atempo filters for a speed; one takes 0.5 to 100.
func tempo(speed ffmpeg.Rational) string {
	f := speed.Float()
	if f == 1 {
		return ""
	}
	var b strings.Builder
	for ; f < 0.5; f *= 2 {
		b.WriteString(",atempo=0.5")
	}
	for ; f > 100; f /= 100 {
		b.WriteString(",atempo=100")
	}
	fmt.Fprintf(&b, ",atempo=%.9f", f)
	return b.String()
}
