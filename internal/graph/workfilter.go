package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// strip is the sound that work is done on: the joined clips, or what stands in their
// place.
type strip struct {
	In, Out  string // links of the filter graph, without brackets; no In: there is no sound to work on
	Rate     int    // Hz
	Layout   string
	Channels int
	Length   cutroom.Micros // of the edit: the sound is as long, whatever its parts are
	Samples  int64          // the same, counted
}

// bedding is where the beds come from.
type bedding struct{ Replace, Music, Effects bedInput }

// bedInput is the sound of one bed.
type bedInput struct {
	Link     string // of the filter graph, or an input's stream ("3:a:0")
	Layout   string
	Channels int
	Length   cutroom.Micros // 0: not known
}

// maxLoop bounds a bed that is looped: its decoded samples lie in memory.
const maxLoop = 20 * 60 * cutroom.Second

// chain returns the filters that do the work on t, and the layout and number of
// channels of what comes out. Beds are named by from. Nothing of a caller's text is in
// them. What the work cannot do with this sound is an error for the caller.
func (w *Work) chain(t strip, from bedding) (graph string, after strip, err error) {
	if err := w.check(); err != nil {
		return "", t, err
	}
	b := &workBuilder{t: t, id: t.Out}
	if w.Replace != nil {
		if t.In != "" {
			b.add("[%s]anullsink", t.In)
		}
		t.Layout, t.Channels = from.Replace.Layout, from.Replace.Channels
		b.t = t
		if b.cur, err = b.bed(w.Replace, from.Replace); err != nil {
			return "", t, err
		}
	} else {
		b.cur = t.In
	}
	after = t
	if w.Layout == "mono" {
		after.Layout, after.Channels = "mono", 1
	} else if w.Layout == "stereo" || w.Layout == "downmix" && t.Channels > 2 {
		after.Layout, after.Channels = "stereo", 2
	}
	if w.Widen != 0 && after.Channels != 2 {
		return "", t, cutroom.Errorf(cutroom.Invalid, "stereo_widen needs stereo, and the sound has %d channel(s)", after.Channels).
			WithHint("ask for stereo as well, or leave stereo_widen out")
	}
	b.hush(w.Hush)
	b.then(w.Gate.filter(), denoise(w.Denoise, t.Rate), voice(w.Voice, t.Rate), w.Compressor.filter(), gain(w.Gain), mixdown(t.Layout, t.Channels, w.Layout))
	b.t.Layout, b.t.Channels = after.Layout, after.Channels
	if err := b.mix(w, from); err != nil {
		return "", t, err
	}
	b.then(b.length(), fadeIn(w.FadeIn, t.Length), fadeOut(w.FadeOut, t.Length))
	if w.Widen != 0 {
		b.then("extrastereo=c=0:m=" + number(1+w.Widen))
	}
	b.then(w.Limiter.filter())
	b.add("[%s]anull[%s]", b.cur, t.Out)
	after.In = t.Out
	return strings.Join(b.parts, ";"), after, nil
}

// layoutName is what aformat calls the track's layout.
func (t strip) layoutName() string {
	return layoutOf(&ffmpeg.AudioFacts{Layout: t.Layout, Channels: t.Channels})
}

// workBuilder writes the chains of one track.
type workBuilder struct {
	t     strip
	id    string // makes the inner links unique in the graph
	cur   string
	n     int
	parts []string
}

func (b *workBuilder) add(format string, args ...any) {
	b.parts = append(b.parts, fmt.Sprintf(format, args...))
}

func (b *workBuilder) link() string {
	b.n++
	return b.id + "w" + strconv.Itoa(b.n)
}

// then applies filters to the current link; empty ones are left out.
func (b *workBuilder) then(filters ...string) {
	var list []string
	for _, f := range filters {
		if f != "" {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return
	}
	next := b.link()
	b.add("[%s]%s[%s]", b.cur, strings.Join(list, ","), next)
	b.cur = next
}

// ramp is how long sound takes to go and come, so that it does not click.
const ramp = cutroom.Second / 100

// hush takes the sound away for a time: what comes before it and what comes behind it are
// faded on their own, to the sample.
func (b *workBuilder) hush(h *Hush) {
	if h == nil || b.cur == "" {
		return
	}
	before, behind := h.Start > 0, h.End < b.t.Length
	out := fmt.Sprintf("afade=t=out:ss=%d:ns=%d", b.samples(max(0, h.Start-ramp)), max(1, b.samples(min(ramp, h.Start))))
	in := fmt.Sprintf("afade=t=in:ss=%d:ns=%d", b.samples(h.End), b.samples(ramp))
	switch {
	case before && behind:
		p, q, r, s, next := b.link(), b.link(), b.link(), b.link(), b.link()
		b.add("[%s]asplit[%s][%s]", b.cur, p, q)
		b.add("[%s]%s[%s]", p, out, r)
		b.add("[%s]%s[%s]", q, in, s)
		b.add("[%s][%s]amix=inputs=2:duration=first:normalize=0[%s]", r, s, next)
		b.cur = next
	case before:
		b.then(out)
	case behind:
		b.then(in)
	default:
		b.then("volume=0")
	}
}

// samples is a time in samples of the track.
func (b *workBuilder) samples(m cutroom.Micros) int64 {
	return int64(math.Round(seconds(m) * float64(b.t.Rate)))
}

// length makes the current sound exactly as long as the edit.
func (b *workBuilder) length() string {
	return fmt.Sprintf("apad=whole_len=%d,atrim=end_sample=%d", b.t.Samples, b.t.Samples)
}

// bed brings a bed into the track's rate and layout, puts it where it
// belongs, and makes it as long as the edit.
func (b *workBuilder) bed(bed *Bed, from bedInput) (string, error) {
	long := from.Length
	f := []string{"asetpts=N/SR/TB"}
	if b.t.Channels <= 2 && from.Channels > b.t.Channels {
		f = append(f, mixdown(from.Layout, from.Channels, map[int]string{1: "mono", 2: "stereo"}[b.t.Channels]))
	} else if from.Channels == 1 && b.t.Channels == 2 {
		f = append(f, mixdown(from.Layout, from.Channels, "stereo"))
	}
	f = append(f, "aformat=sample_fmts=fltp:sample_rates="+strconv.Itoa(b.t.Rate)+":channel_layouts="+b.t.layoutName()+clock(bed.Speed, b.t.Rate), "asetpts=N/SR/TB")
	if bed.Speed.Known() {
		long = stretched(long, bed.Speed)
	}
	if bed.From > 0 || bed.Span > 0 {
		cut := fmt.Sprintf("atrim=start_sample=%d", b.samples(bed.From))
		long = max(0, long-bed.From)
		if bed.Span > 0 {
			cut += fmt.Sprintf(":end_sample=%d", b.samples(bed.From+bed.Span))
			if long == 0 || bed.Span < long {
				long = bed.Span
			}
		}
		f = append(f, cut, "asetpts=N/SR/TB")
		if long > 2*ramp {
			f = append(f, fmt.Sprintf("afade=t=in:ss=0:ns=%d,afade=t=out:ss=%d:ns=%d", b.samples(ramp), b.samples(long-ramp), b.samples(ramp)))
		}
	}
	if bed.Offset < 0 {
		f = append(f, fmt.Sprintf("atrim=start_sample=%d", b.samples(-bed.Offset)), "asetpts=N/SR/TB")
		long = max(0, long+bed.Offset)
	}
	end := b.t.Length
	switch room := b.t.Length - max(0, bed.Offset); {
	case bed.Loop && long < room+5*cutroom.Second: // what a file says of its length may be a guess
		if long > maxLoop && long < room {
			return "", cutroom.Errorf(cutroom.Limit, "sound of more than 20 minutes cannot be looped").WithHint("give a shorter piece, or leave the loop out")
		}
		f = append(f, "aloop=loop=-1:size=2147483647")
	case long > 0 && long < room:
		end = max(0, bed.Offset) + long
	}
	if bed.Volume != 0 {
		f = append(f, gain(bed.Volume))
	}
	if bed.Offset > 0 {
		f = append(f, fmt.Sprintf("adelay=delays=%dS:all=1", b.samples(bed.Offset)))
	}
	f = append(f, b.length(), fadeOut(bed.FadeOut, end))
	if f[len(f)-1] == "" {
		f = f[:len(f)-1]
	}
	out := b.link()
	b.add("[%s]%s[%s]", from.Link, strings.Join(f, ","), out)
	return out, nil
}

// mix lays music and effects under the current sound.
func (b *workBuilder) mix(w *Work, from bedding) error {
	if w.Music == nil && w.Effects == nil {
		return nil
	}
	b.then("aformat=sample_fmts=fltp:channel_layouts="+b.t.layoutName(), b.length())
	voice, links := b.cur, []string(nil)
	if w.Music != nil {
		music, err := b.bed(w.Music, from.Music)
		if err != nil {
			return err
		}
		if w.Duck != nil {
			key, main, out := b.link(), b.link(), b.link()
			b.add("[%s]asplit[%s][%s]", voice, main, key)
			voice, key = main, b.key(w.Duck, key)
			b.add("[%s][%s]%s[%s]", music, key, w.Duck.filter(), out)
			music = out
		}
		links = append(links, music)
	}
	if w.Effects != nil {
		effects, err := b.bed(w.Effects, from.Effects)
		if err != nil {
			return err
		}
		links = append(links, effects)
	}
	b.cur = b.link()
	b.add("[%s][%s]amix=inputs=%d:duration=first:normalize=0[%s]", voice, strings.Join(links, "]["), len(links)+1, b.cur)
	return nil
}

// key turns the track into what the ducking listens to: full scale while the track is
// above the threshold, nothing below. So the music goes down by exactly the amount,
// however loud the voice is.
func (b *workBuilder) key(d *Duck, link string) string {
	out := b.link()
	b.add("[%s]%sagate=threshold=%s:ratio=9000:range=0:attack=5:release=100:knee=1,volume=%sdB,asoftclip=type=hard[%s]",
		link, monoFirst(b.t), number(linear(d.Threshold)), number(12-d.Threshold), out)
	return out
}

// monoFirst mixes more than two channels down for the key: the voice of surround sound
// is in its centre.
func monoFirst(t strip) string {
	if t.Channels <= 2 {
		return ""
	}
	return mixdown(t.Layout, t.Channels, "mono") + ",aformat=channel_layouts=" + t.layoutName() + ","
}

// filter is the ducking itself, keyed by a signal at full scale.
func (d *Duck) filter() string {
	// With ratio r, a key at 0 dBFS takes (0 − threshold)·(1 − 1/r) away. Past 57 dB the
	// threshold's range ends, and the key is raised instead.
	const ratio = 20
	boost := 0.0
	if d.Amount > 57 {
		boost = 6
	}
	threshold := boost - d.Amount/(1-1.0/ratio)
	return fmt.Sprintf("sidechaincompress=threshold=%s:ratio=%d:knee=1:level_sc=%s:attack=%s:release=%s",
		number(linear(threshold)), ratio, number(linear(boost)), number(d.Attack), number(d.Release))
}

func (g *Gate) filter() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("agate=threshold=%s:ratio=%s:range=%s:attack=%s:release=%s:knee=%s", number(linear(g.Threshold)), number(g.Ratio),
		number(linear(g.Range)), number(g.Attack), number(g.Release), number(g.Knee))
}

func (c *Compressor) filter() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("acompressor=threshold=%s:ratio=%s:attack=%s:release=%s:makeup=%s:knee=%s", number(linear(c.Threshold)), number(c.Ratio),
		number(c.Attack), number(c.Release), number(linear(c.Makeup)), number(c.Knee))
}

// filter compensates the limiter's look-ahead (latency) and never raises the level.
func (l *Limiter) filter() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("alimiter=level=0:latency=1:limit=%s:attack=%s:release=%s", number(linear(l.Ceiling)), number(l.Attack), number(l.Release))
}

// denoise takes steady noise away. The filter's output is late by two hops of its
// transform, an eightieth of a second each (measured): as much is added at the end and
// cut off at the beginning.
func denoise(strength float64, rate int) string {
	if strength == 0 {
		return ""
	}
	late := 2 * (rate / 80)
	return fmt.Sprintf("apad=pad_len=%d,afftdn=nr=%s:nf=-50:tn=1,atrim=start_sample=%d,asetpts=N/SR/TB", late, number(strength), late)
}

// voice is a fixed chain for speech.
func voice(kind string, rate int) string {
	limiter := DefaultLimiter()
	const (
		rumble = "highpass=f=80"
		gentle = "acompressor=threshold=0.125:ratio=2.5:attack=15:release=200:makeup=1.4"
	)
	switch kind {
	case "light":
		return rumble + "," + gentle
	case "medium":
		return strings.Join([]string{rumble, denoise(12, rate), "deesser=i=0.4", gentle}, ",")
	case "strong":
		return strings.Join([]string{
			rumble, denoise(20, rate), "deesser=i=0.5", gentle,
			"acompressor=threshold=0.25:ratio=4:attack=5:release=120:makeup=1.4", limiter.filter(),
		}, ",")
	}
	return ""
}

func gain(db float64) string {
	if db == 0 {
		return ""
	}
	return "volume=" + number(db) + "dB"
}

func fadeIn(d, length cutroom.Micros) string {
	if d <= 0 {
		return ""
	}
	return "afade=t=in:st=0:d=" + min(d, length).String()
}

// fadeOut fades to silence at end.
func fadeOut(d, end cutroom.Micros) string {
	if d <= 0 || end <= 0 {
		return ""
	}
	d = min(d, end)
	return "afade=t=out:st=" + (end - d).String() + ":d=" + d.String()
}

// linear turns decibels into a factor.
func linear(db float64) float64 { return math.Pow(10, db/20) }

// number writes v as a filter's option takes it.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64) }
