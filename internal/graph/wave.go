package graph

import (
	"fmt"
	"slices"
	"strings"

	"cutroom/internal/ffmpeg"
)

// Wave shows what a clip sounds like, drawn over a ground.
type Wave struct {
	Style  string // wave, line, bars, spectrum
	Stream int    // n-th audio stream
	Colors []string
	Split  bool // one curve for each channel
	Box    Box  // where it stands in the frame
	Opaque float64
	Ground Fill
	Image  int // source of a still picture in place of Ground; 0 is none
	Fit    Fit // of the picture
}

// Heard is a source of sound as one that has a picture of that size and rate, which a
// clip with a [Wave] draws. Pictures of its own are left out.
func Heard(s Source, width, height int, rate ffmpeg.Rational) Source {
	m := *s.Media
	blank := Blank(width, height, rate).Media.Streams[0]
	blank.Index, blank.EndSeconds = -1, m.DurationSeconds
	m.Streams = slices.DeleteFunc(slices.Clone(m.Streams), func(t ffmpeg.Stream) bool { return t.Video != nil })
	m.Streams, m.CoverArt, m.Timecode = append(m.Streams, blank), nil, nil
	s.Media = &m
	return s
}

// wave is the picture of a clip's sound: what filters draw of it over its ground, both
// as RGB, then in the form of the output.
func (c *compiler) wave(w *Wave, p part, in int, tag string) (string, error) {
	a, err := p.source.Media.AudioStream(w.Stream)
	if err != nil {
		return "", err
	}
	ground, err := c.waveGround(w, tag)
	if err != nil {
		return "", err
	}
	d, per := p.source.Media, ffmpeg.Rational{Num: int64(a.Audio.SampleRate), Den: 1}
	from, to := round(int64(p.start+d.ZeroSeconds), per, micro), round(int64(p.end+d.ZeroSeconds), per, micro)
	n := c.line.sample(p.length, a.Audio.SampleRate)
	sound := fmt.Sprintf("[%d:%d]aresample=async=1:first_pts=%d,atrim=start_pts=%d:end_pts=%d,asetpts=PTS-STARTPTS,apad=whole_len=%d,atrim=end_sample=%d",
		in, a.Index, min(d.FirstSample(a, p.start), from), from, to, n, n)
	if !w.Split {
		sound += ",aformat=channel_layouts=mono"
	}
	drawn := sound + "," + w.filter(c.rate) + ",format=rgba"
	if w.Opaque > 0 && w.Opaque < 1 {
		drawn += fmt.Sprintf(",colorchannelmixer=aa=%s", number(w.Opaque))
	}
	out := c.out
	out.kept = true
	facts := &ffmpeg.VideoFacts{Width: out.width, Height: out.height, DisplayWidth: out.width, DisplayHeight: out.height, PixelFormat: "gbrp", BitDepth: 8}
	c.chains = append(c.chains, ground+c.atRate(p.length)+"[wg"+tag+"]", drawn+c.atRate(p.length)+"[wd"+tag+"]")
	return fmt.Sprintf("[wg%s][wd%s]overlay=x=%d:y=%d:format=gbrp,format=gbrp,%s", tag, tag, w.Box.X, w.Box.Y, c.dressed(facts, out, tag)), nil
}

// waveGround is one frame of what is drawn on.
func (c *compiler) waveGround(w *Wave, tag string) (string, error) {
	if w.Image == 0 {
		src := fmt.Sprintf("color=c=%s:s=%dx%d:r=25", w.Ground.Colors[0], c.out.width, c.out.height)
		if len(w.Ground.Colors) > 1 {
			src = w.Ground.gradient(c.out.width, c.out.height)
		}
		return src + ",trim=end_frame=1,format=gbrp,setsar=1", nil
	}
	v, err := c.g.Sources[w.Image].Media.VideoStream()
	if err != nil {
		return "", err
	}
	in, err := c.opened(w.Image, 0)
	if err != nil {
		return "", err
	}
	c.inputs = append(c.inputs, in)
	sub := *c
	picture := *c.g.Picture
	picture.Fit, picture.Looks = w.Fit, nil
	sub.g.Picture = &picture
	rgb := c.out
	rgb.format, rgb.kept = "gbrp", false
	return fmt.Sprintf("[%d:%d]trim=end_frame=1,setpts=PTS-STARTPTS,%s", len(c.inputs)-1, v.Index, sub.look(v.Video, rgb, "g"+tag)), nil
}

// filter draws sound.
func (w *Wave) filter(rate ffmpeg.Rational) string {
	size := fmt.Sprintf("s=%dx%d", w.Box.Width, w.Box.Height)
	colors := strings.Join(w.Colors, "|")
	split := 0
	if w.Split {
		split = 1
	}
	switch w.Style {
	case "line":
		return fmt.Sprintf("showwaves=%s:mode=p2p:r=%s:draw=full:scale=sqrt:split_channels=%d:colors=%s", size, rate, split, colors)
	case "bars":
		return fmt.Sprintf("showfreqs=%s:r=%s:mode=bar:ascale=log:fscale=log:win_size=2048:colors=%s", size, rate, colors)
	case "spectrum":
		mode := "combined"
		if w.Split {
			mode = "separate"
		}
		return fmt.Sprintf("showspectrum=%s:fps=%s:mode=%s:slide=scroll:scale=log:color=intensity:win_func=hann:overlap=0.75", size, rate, mode)
	}
	return fmt.Sprintf("showwaves=%s:mode=cline:r=%s:draw=full:scale=sqrt:split_channels=%d:colors=%s", size, rate, split, colors)
}
