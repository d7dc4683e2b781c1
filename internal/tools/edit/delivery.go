package edit

import (
	"fmt"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/tool"
)

// delivery is a preset applied to one recording.
type delivery struct {
	preset platform.Preset
	spec   platform.Spec // of the preset's platform; zero: it has none
	graph  graph.Graph
	render *graph.Render
	notes  []string
}

func (e *delivery) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// presets lists what there is.
func presets() []ExportPreset {
	var list []ExportPreset
	for _, p := range platform.Shipped().Presets {
		e := ExportPreset{
			Name: p.Name, Aliases: p.Aliases, Title: p.Title, Platform: p.Platform, Suffix: p.Container, Width: p.Width, Height: p.Height,
			Video: p.Video.Codec, Audio: p.Audio.Codec, Color: string(p.Color),
		}
		if p.Rate.Known() {
			e.FrameRate = ffmpeg.Rational{Num: p.Rate.Num, Den: p.Rate.Den}.String()
		}
		if s, err := platform.Find(p.Platform); err == nil {
			e.MaxSeconds = s.MaxLength()
		}
		list = append(list, e)
	}
	return list
}

// delivery decides the edit that a preset makes of the recording.
func (in ExportInput) delivery(f tool.Facts) (*delivery, error) {
	e := &delivery{}
	var err error
	if e.preset, err = platform.PresetOf(in.Preset); err != nil {
		return nil, err
	}
	if e.preset.Platform != "" {
		if e.spec, err = platform.Find(e.preset.Platform); err != nil {
			return nil, err
		}
	}
	file, err := f.Named(in.Input)
	if err != nil {
		return nil, err
	}
	e.graph = graph.Graph{Sources: []graph.Source{file.AsSource()}, Clips: []graph.Clip{{}}}
	if e.graph.Target, err = tool.Target(in.Output); err != nil {
		return nil, err
	}
	if e.preset.Copy {
		return e, e.copy(file.Media)
	}
	if err := e.picture(in, file.Media); err != nil {
		return nil, err
	}
	if err := e.sound(in, file.Media); err != nil {
		return nil, err
	}
	e.graph.Keep = graph.Keep{Chapters: true, Metadata: graph.PrivateTags, Subtitles: e.spec.Name == "", Timecode: e.spec.Name == ""}
	if !in.AllowLong {
		e.graph.Target.MaxLength = e.spec.MaxLength()
	} else if most := e.spec.MaxLength(); most > 0 && file.Media.DurationSeconds > most {
		e.note("%s takes %s s at most, and this is longer", e.spec.Title, most)
	}
	return e, nil
}

// copy keeps every stream as it is; only tags that tell too much go.
func (e *delivery) copy(d *ffmpeg.Document) error {
	if d.FirstVideo() != nil {
		e.graph.Picture = &graph.Picture{Copy: true}
	}
	if len(d.AudioStreams()) > 0 {
		e.graph.Sound = &graph.Sound{Copy: true}
	}
	e.graph.Keep = graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true, Metadata: graph.PrivateTags}
	if e.graph.Picture == nil && e.graph.Sound == nil {
		return cutroom.Errorf(cutroom.Invalid, "the file has neither a video nor an audio stream").WithHint("give a recording")
	}
	return nil
}

// picture decides frame, rate, codec and colour.
func (e *delivery) picture(in ExportInput, d *ffmpeg.Document) error {
	s, err := d.VideoStream()
	if err != nil {
		return err
	}
	bars, err := color("pad_color", in.PadColor)
	if err != nil {
		return err
	}
	v, p, k := s.Video, &graph.Picture{Fit: graph.Pad, PadColor: bars, BlurRadius: in.PadBlur}, e.preset
	switch {
	case in.Fit == "crop":
		p.Fit = graph.Cover
	case in.PadFill == "blur":
		p.Fit = graph.Blur
	}
	if !in.NoScale {
		p.Width, p.Height = k.Width, k.Height
		if k.Height == 0 { // a width alone is the widest that it gets
			p.Width = min(k.Width, v.DisplayWidth)
		} else if v.DisplayWidth < k.Width && v.DisplayHeight < k.Height {
			e.note("the picture is enlarged from %d×%d: no detail is gained", v.DisplayWidth, v.DisplayHeight)
		}
	}
	p.Rate = e.rate(v)
	t := &e.graph.Target
	t.Video = graph.VideoCodec{Name: k.Video.Codec, Quality: k.Video.Quality, Effort: k.Video.Effort, Profile: k.Video.Profile, PixelFormat: k.Video.PixelFormat}
	if in.Quality != 0 {
		t.Video.Quality = in.Quality
	}
	if in.Effort != "" {
		t.Video.Effort = in.Effort
	}
	switch {
	case k.Color == platform.HDR && v.HDR == "":
		return cutroom.Errorf(cutroom.Invalid, "%s is for high dynamic range, and this recording has standard range", k.Name).
			WithHint("choose the preset youtube, or give a recording in HLG or PQ")
	case k.Color == platform.SDR:
		t.Color = graph.ToSDR
	}
	if k.Name == "prores" && v.Alpha {
		t.Video.Profile, t.Video.PixelFormat = "4444", ""
	}
	e.graph.Picture = p
	return nil
}

// rate is the one that the preset asks for, else the source's own: even, and no more
// than the platform takes.
func (e *delivery) rate(v *ffmpeg.VideoFacts) ffmpeg.Rational {
	if r := e.preset.Rate; r.Known() {
		return ffmpeg.Rational{Num: r.Num, Den: r.Den}
	}
	most := e.spec.MaxRate
	if most.Known() && v.FrameRate.Float() > most.Float()+0.01 {
		e.note("%s takes %g frames per second at most: %.3f become %g", e.spec.Title, most.Float(), v.FrameRate.Float(), most.Float())
		return ffmpeg.Rational{Num: most.Num, Den: most.Den}
	}
	if e.spec.Name == "" || !v.VFR.Variable || !v.FrameRate.Known() {
		return ffmpeg.Rational{}
	}
	r := ffmpeg.Rational{Num: 60, Den: 1}
	for _, n := range []int64{50, 30, 25, 24} {
		if v.FrameRate.Float() <= float64(n)+0.01 {
			r.Num = n
		}
	}
	e.note("the frames are unevenly spaced: they are brought to %d per second", r.Num)
	return r
}

// sound decides tracks, layout, codec and loudness.
func (e *delivery) sound(in ExportInput, d *ffmpeg.Document) error {
	k, t := e.preset.Audio, &e.graph.Target
	if len(d.AudioStreams()) == 0 || k.Codec == "" {
		if in.Normalize {
			return cutroom.Errorf(cutroom.Invalid, "there is no sound to normalize").WithHint("leave normalize out")
		}
		return nil
	}
	t.Audio = graph.AudioCodec{Name: k.Codec, Bitrate: k.Bitrate, Rate: k.Rate}
	s := &graph.Sound{}
	e.graph.Sound = s
	if e.spec.Name == "" {
		if in.Normalize {
			return cutroom.Errorf(cutroom.Invalid, "the preset %s has no loudness of its own", e.preset.Name).WithHint("use measure.loudness, or leave normalize out")
		}
		return nil
	}
	a, err := d.AudioStream(in.AudioStream)
	if err != nil {
		return err
	}
	s.Tracks, s.Stream, s.Hear = graph.OneTrack, in.AudioStream, true
	if a.Audio.Channels > 2 {
		t.Audio.Channels = 2
		e.note("%d channels are mixed to stereo, the centre included", a.Audio.Channels)
	}
	if l := e.spec.Loudness; in.Normalize && l.LUFS != 0 {
		s.Loudness = &graph.Loudness{LUFS: l.LUFS, TruePeak: l.TruePeak}
	}
	return nil
}

// loudness is what was measured beside what the platform wants.
func (e *delivery) loudness(got *ffmpeg.Loudness, normalized bool) *ExportLoudness {
	want := e.spec.Loudness
	l := &ExportLoudness{Target: want.LUFS, TargetPeak: want.TruePeak, Normalized: normalized, Silent: got == nil || got.Silent}
	if got == nil {
		return l
	}
	l.LUFS, l.TruePeak = got.Integrated, got.TruePeak
	if l.LUFS == nil || l.TruePeak == nil {
		return l
	}
	diff := *l.LUFS - want.LUFS
	l.OK = diff <= want.Tolerance && -diff <= want.Tolerance && *l.TruePeak <= want.TruePeak+0.05
	return l
}

// say is what a reader should know of the loudness.
func (l *ExportLoudness) say(s platform.Spec) []string {
	switch {
	case l.Silent:
		return []string{"the sound is silent"}
	case l.LUFS == nil:
		return []string{"the sound is too short for a loudness"}
	case !l.OK && !l.Normalized:
		return []string{fmt.Sprintf("%s plays at %g LUFS and %g dBTP; this file has %.1f and %.1f: ask for normalize to change it", s.Title, l.Target, l.TargetPeak, *l.LUFS, *l.TruePeak)}
	}
	return nil
}
