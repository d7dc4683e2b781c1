package edit

import (
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/project"
	"cutroom/internal/tool"
)

// build makes the graph of the edit: each part of the project fills in its own field, so
// that the order of the parts is the graph's.
func (r *rendering) build() error {
	r.out.Stages = nil
	if err := r.clips(); err != nil {
		return err
	}
	r.stage("clips", true)
	r.stage("audiogram", r.wave != nil)
	r.stage("join", len(r.p.Clips) > 1)
	r.stage("silence", r.p.Silence != nil)
	d, err := r.delivery()
	if err != nil {
		return err
	}
	if r.video {
		if err := r.picture(d); err != nil {
			return err
		}
	}
	if err := r.sound(d); err != nil {
		return err
	}
	if r.graph.Picture == nil && r.graph.Sound == nil {
		return cutroom.Errorf(cutroom.Invalid, "the edit has neither picture nor sound").WithHint("name an output with another suffix")
	}
	r.stage("export", r.p.Export != nil)
	one := !slices.ContainsFunc(r.graph.Clips, func(c graph.Clip) bool { return c.Source != r.graph.Clips[0].Source })
	r.graph.Keep = graph.Keep{Chapters: one, Metadata: graph.NoTags}
	if one {
		r.graph.Keep.Metadata = graph.KeepTags
		if r.p.Export != nil {
			r.graph.Keep.Metadata = graph.PrivateTags
		}
	}
	return r.lasts(d)
}

func (r *rendering) stage(name string, on bool) {
	if on && !slices.Contains(r.out.Stages, name) {
		r.out.Stages = append(r.out.Stages, name)
	}
}

func (r *rendering) say(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(r.out.Notes, n) {
		r.out.Notes = append(r.out.Notes, n)
	}
}

// first is the file of the first clip, which the edit takes its form from.
func (r *rendering) first() tool.Input { return r.files[r.graph.Clips[0].Source] }

// delivery is what the export's preset says of the file; without a preset, what the
// project itself does.
func (r *rendering) delivery() (*delivery, error) {
	d := &delivery{graph: graph.Graph{Target: r.graph.Target}}
	e := r.p.Export
	if e == nil || e.Preset == "" {
		if e != nil {
			d.graph.Target.Video = graph.VideoCodec{Name: e.Codec, Quality: e.CRF, Effort: e.Effort}
		}
		return d, nil
	}
	var err error
	if d.preset, err = platform.PresetOf(e.Preset); err != nil {
		return nil, err
	}
	if d.preset.Copy || e.Codec != "" {
		return nil, cutroom.Errorf(cutroom.Invalid, "export: the preset %s says the codec, and an edit is encoded", d.preset.Name).WithHint("leave codec out, or choose another preset than copy")
	}
	if d.preset.Platform != "" {
		if d.spec, err = platform.Find(d.preset.Platform); err != nil {
			return nil, err
		}
	}
	in := ExportInput{Preset: e.Preset, Quality: e.CRF, Effort: e.Effort, Normalize: r.normalizes(e, d.spec)}
	if a := r.p.Audio; a != nil {
		in.AudioStream = a.Stream
	}
	if g := r.p.Audiogram; g != nil {
		in.AudioStream = g.AudioStream
	}
	file := r.first()
	if r.video {
		if err := d.picture(in, file.Media); err != nil {
			return nil, err
		}
	}
	if len(file.Media.AudioStreams()) > 0 {
		err = d.sound(in, file.Media)
	} else {
		d.graph.Target.Audio = graph.AudioCodec{Name: d.preset.Audio.Codec, Bitrate: d.preset.Audio.Bitrate, Rate: d.preset.Audio.Rate}
	}
	for _, n := range d.notes {
		r.say("%s", n)
	}
	return d, err
}

// normalizes says whether the export brings the sound to its platform's loudness: it does
// unless somebody said another, or no.
func (r *rendering) normalizes(e *project.Export, s platform.Spec) bool {
	if r.p.Loudness != nil || s.Loudness.LUFS == 0 {
		return false
	}
	return e.Normalize == nil || *e.Normalize
}

// shapes are the parts of the project that say what the frame is, the last word first.
type shape struct {
	part          string
	width, height int
	aspect        string
}

// picture decides the frame, its rate and how pictures get into it.
func (r *rendering) picture(d *delivery) error {
	p := d.graph.Picture
	if p == nil {
		p = &graph.Picture{}
	}
	r.graph.Target = d.graph.Target
	var list []shape
	if d.preset.Name != "" && p.Height > 0 {
		list = append(list, shape{"export " + d.preset.Name, p.Width, p.Height, ""})
	}
	if f := r.p.Fit; f != nil {
		list = append(list, shape{"fit", f.Width, f.Height, f.Aspect})
		p.Smooth = f.Smooth
		if f.CropX != nil || f.CropY != nil {
			p.CropX, p.CropY, p.Centred = 0.5, 0.5, true
			turn(&p.CropX, f.CropX, &p.CropY, f.CropY)
		}
		r.stage("fit", true)
	}
	if f := r.p.Frame; f != nil {
		list = append(list, shape{"frame", f.Width, f.Height, f.Aspect})
	}
	if g := r.p.Audiogram; g != nil && g.Width+g.Height > 0 {
		list = append(list, shape{"audiogram", g.Width, g.Height, ""})
	}
	if err := r.frame(p, list); err != nil {
		return err
	}
	if v := r.first().Media.FirstVideo().Video; r.wave != nil {
		p.Width, p.Height = or(p.Width, v.DisplayWidth), or(p.Height, v.DisplayHeight)
		r.wave.Box = r.waveBox(p.Width, p.Height)
	}
	fit, color, err := r.fits()
	if err != nil {
		return err
	}
	p.Fit, p.PadColor = fit, color
	if err := r.rate(p); err != nil {
		return err
	}
	r.graph.Picture = p
	return nil
}

// frame is the size that the first of the shapes says; those behind it may not say
// another one, since one encode has one frame.
func (r *rendering) frame(p *graph.Picture, list []shape) error {
	v := r.first().Media.FirstVideo().Video
	w, h, by := 0, 0, ""
	for _, s := range list {
		if s.width == 0 && s.height == 0 && s.aspect == "" {
			continue
		}
		in := FitInput{Width: s.width, Height: s.height, Aspect: s.aspect}
		if s.aspect != "" && s.width > 0 && s.height > 0 {
			return cutroom.Errorf(cutroom.Invalid, "%s: aspect, width and height are given at once", s.part).WithHint("leave one of them out")
		}
		var made graph.Picture
		var said FitOutput
		if err := in.frame(&made, v.DisplayWidth, v.DisplayHeight, &said); err != nil {
			return err
		}
		if w > 0 {
			if off := int64(w)*int64(made.Height) - int64(h)*int64(made.Width); off*50 > int64(w)*int64(h) || off*50 < -int64(w)*int64(h) {
				return cutroom.Errorf(cutroom.Invalid, "%s makes a frame of %d×%d, and %s one of %d×%d: an edit that is encoded once has one", by, w, h, s.part, made.Width, made.Height).
					WithHint("leave one of them out, or give both the same shape")
			}
			continue
		}
		w, h, by = made.Width, made.Height, s.part
		for _, n := range said.Notes {
			r.say("%s", n)
		}
	}
	if w == 0 && len(r.files) > 1 {
		w, h = v.DisplayWidth&^1, v.DisplayHeight&^1
	}
	if w > 0 {
		p.Width, p.Height = w, h
	}
	return nil
}

// fits says how pictures of another shape get into the frame: the last part that says it.
func (r *rendering) fits() (fit graph.Fit, bars string, err error) {
	words, colors := []string{}, []string{}
	if e := r.p.Export; e != nil {
		words = append(words, e.Fit)
	}
	if f := r.p.Fit; f != nil {
		words, colors = append(words, f.Fit), append(colors, f.PadColor)
	}
	if f := r.p.Frame; f != nil {
		words, colors = append(words, f.Fit), append(colors, f.PadColor)
	}
	fit = graph.Fit(firstPath(append(words, string(graph.Pad))...))
	bars, err = color("pad_color", firstPath(append(colors, "")...))
	return fit, bars, err
}

// rate is the frame rate that somebody asked for.
func (r *rendering) rate(p *graph.Picture) error {
	for _, fps := range []float64{r.fitRate(), r.frameRate()} {
		if fps == 0 {
			continue
		}
		var err error
		p.Rate, err = rate(fps)
		return err
	}
	if r.wave != nil && !p.Rate.Known() {
		p.Rate = r.waveRate()
	}
	return nil
}

func (r *rendering) fitRate() float64 {
	if r.p.Fit == nil {
		return 0
	}
	return r.p.Fit.FPS
}

func (r *rendering) frameRate() float64 {
	if r.p.Frame == nil {
		return 0
	}
	return r.p.Frame.FPS
}

// sound decides tracks, work and loudness.
func (r *rendering) sound(d *delivery) error {
	t := &r.graph.Target
	if !r.video {
		t.Audio = d.graph.Target.Audio
	}
	heard := slices.ContainsFunc(r.files, func(f tool.Input) bool { return len(f.Media.AudioStreams()) > 0 })
	w, err := r.audio()
	if err != nil {
		return err
	}
	if !heard && w == nil || !graph.HoldsSound(t.Container) {
		if w != nil || r.p.Loudness != nil {
			return cutroom.Errorf(cutroom.Invalid, "the edit has no sound to work on").WithHint("leave audio and loudness out, or name an output that holds sound")
		}
		return nil
	}
	s := d.graph.Sound
	if s == nil {
		s = &graph.Sound{}
		if d.spec.Name != "" || !r.video {
			s.Tracks = graph.OneTrack
		}
	}
	if a := r.p.Audio; a != nil {
		s.Stream = a.Stream
	}
	if g := r.p.Audiogram; g != nil {
		s.Tracks, s.Stream = graph.OneTrack, g.AudioStream
	}
	s.Work = w
	r.stage("audio", w != nil)
	if l := r.p.Loudness; l != nil {
		s.Loudness, s.Hear = &graph.Loudness{LUFS: l.LUFS, TruePeak: l.TruePeak}, true
	} else if l := d.spec.Loudness; s.Loudness == nil && r.p.Export != nil && r.normalizes(r.p.Export, d.spec) && l.LUFS != 0 {
		s.Loudness, s.Hear = &graph.Loudness{LUFS: l.LUFS, TruePeak: l.TruePeak}, true
	}
	if r.p.Check != nil {
		s.Hear = true
	}
	r.stage("loudness", s.Loudness != nil)
	r.graph.Sound = s
	return nil
}

// audio is the work that the project asks for, with its beds among the sources.
func (r *rendering) audio() (*graph.Work, error) {
	a := r.p.Audio
	if a == nil {
		return nil, nil
	}
	in := AudioInput{
		Voice: a.Voice, Denoise: a.Denoise, DenoiseStrength: a.DenoiseStrength, Gain: &a.Gain, FadeIn: a.FadeIn, FadeOut: a.FadeOut,
		Replace: a.Replace, ReplaceOffset: a.ReplaceOffset, Music: a.Music, MusicVolume: a.MusicVolume, MusicLoop: a.MusicLoop, MusicFadeOut: a.MusicFadeOut, MusicOffset: a.MusicOffset,
		Duck: a.Duck, DuckAmount: a.DuckAmount, DuckThreshold: a.DuckThreshold, DuckAttack: a.DuckAttack, DuckRelease: a.DuckRelease,
		Effects: a.Effects, EffectsVolume: a.EffectsVolume, EffectsOffset: a.EffectsOffset,
		Stereo: a.Stereo, Mono: a.Mono, Downmix: a.Downmix, StereoWiden: a.Widen,
	}
	if s := a.Stems; s != nil {
		level := 0.0
		if in.Replace, in.Music, in.Effects = firstPath(in.Replace, s.Dialogue), firstPath(in.Music, s.Music), firstPath(in.Effects, s.Effects); in.MusicVolume == nil && a.Music == "" && s.Music != "" {
			in.MusicVolume = &level
		}
		if in.EffectsVolume == nil && a.Effects == "" && s.Effects != "" {
			in.EffectsVolume = &level
		}
	}
	if err := in.Validate(); err != nil {
		e := cutroom.AsError(err)
		return nil, cutroom.Errorf(e.Code, "audio: %s", e.Msg).WithHint("%s", e.Hint)
	}
	w := in.work()
	for _, b := range []struct {
		path cutroom.InPath
		bed  *graph.Bed
	}{{in.Replace, w.Replace}, {in.Music, w.Music}, {in.Effects, w.Effects}} {
		if b.bed == nil {
			continue
		}
		file, err := r.f.Named(b.path)
		if err != nil {
			return nil, err
		}
		if _, err := file.Media.AudioStream(0); err != nil {
			return nil, cutroom.Errorf(cutroom.Invalid, "audio: %s has no sound", b.path).WithHint("give a file with sound")
		}
		b.bed.Source = r.source(file)
	}
	if a.ReplaceDrift != 0 {
		if w.Replace == nil {
			return nil, cutroom.Errorf(cutroom.Invalid, "audio: replace_drift_ppm is given without replace").WithHint("add replace, or leave it out")
		}
		w.Replace.Speed = graph.ClockRatio(a.ReplaceDrift / 1e6)
	}
	return w, nil
}

func (r *rendering) work() *graph.Work {
	if r.graph.Sound == nil {
		return nil
	}
	return r.graph.Sound.Work
}

// lasts brings the edit to its length: by its own speed, or cut off.
func (r *rendering) lasts(d *delivery) error {
	t := &r.graph.Target
	if e := r.p.Export; e != nil && !e.AllowLong {
		t.MaxLength = d.spec.MaxLength()
	}
	f := r.p.Fit
	if f == nil || f.Duration == 0 {
		return nil
	}
	r.stage("fit", true)
	var shown, fixed cutroom.Micros
	for i, c := range r.graph.Clips {
		file := r.files[c.Source]
		shown += c.Length(lengthOf(file)) - c.Lead
		fixed += c.Lead
		if s := r.seam(i); i > 0 && s.Kind != "" && s.Kind != "none" {
			fixed -= s.Length
		}
	}
	if f.Method == "trim" {
		if shown+fixed < f.Duration {
			return cutroom.Errorf(cutroom.Invalid, "the edit is %s s long: trimming cannot make it %s s", shown+fixed, f.Duration).WithHint("use method speed, or a shorter duration")
		}
		if t.MaxLength == 0 || f.Duration < t.MaxLength {
			t.MaxLength = f.Duration
		}
		return nil
	}
	if r.wave != nil {
		return cutroom.Errorf(cutroom.Invalid, "fit: the sound of an audiogram plays at its own speed").WithHint("use method trim, or leave duration out")
	}
	by := ffmpeg.Rational{Num: int64(shown), Den: int64(f.Duration - fixed)}.Reduced()
	if x := by.Float(); by.Den <= 0 || x > 4 || x < 0.25 {
		return cutroom.Errorf(cutroom.Invalid, "from %s s to %s s is %.3f times the speed; 0.25 to 4 are allowed", shown+fixed, f.Duration, x).WithHint("use method trim, or another duration")
	}
	for i := range r.graph.Clips {
		c := &r.graph.Clips[i]
		s := by
		if c.Speed.Known() {
			s = ffmpeg.Rational{Num: c.Speed.Num * by.Num, Den: c.Speed.Den * by.Den}.Reduced()
		}
		c.Speed = s
	}
	r.say("the clips play %.3f times as fast, so that the edit lasts %s s", by.Float(), f.Duration)
	return nil
}

// marks reads the chapters.
func (r *rendering) mark(res tool.Results) error {
	var list []edl.Mark
	for i, c := range r.p.Chapters {
		at, ok := c.At.Plain()
		if !ok {
			return cutroom.Errorf(cutroom.Invalid, "chapter %d: %q is a timecode, and the finished edit has none", i+1, c.At).WithHint("give seconds or a clock, such as 1:30")
		}
		list = append(list, edl.Mark{Start: at, Title: c.Title})
	}
	if r.p.ChapterSet != "" {
		file, err := r.f.Named(r.p.ChapterSet)
		if err != nil {
			return err
		}
		if int64(len(file.Head)) < file.Size {
			return cutroom.Errorf(cutroom.Limit, "%s is too long for a list of chapters", r.p.ChapterSet).WithHint("give at most %d bytes", len(file.Head))
		}
		if list = edl.ParseMarks(string(file.Head)); len(list) == 0 {
			return cutroom.Errorf(cutroom.Invalid, "%s holds no chapters", r.p.ChapterSet).WithHint("write 'TIME TITLE' lines, such as 1:30 Questions")
		}
	}
	total := r.render.Map().Seconds
	slices.SortStableFunc(list, func(a, b edl.Mark) int { return int(a.Start - b.Start) })
	r.graph.Keep.Mark = nil
	for i, m := range list {
		end := total
		if i+1 < len(list) {
			end = min(total, list[i+1].Start)
		}
		if m.Start >= end {
			r.say("the chapter %q lies at %s s, outside of the edit or on the next, and is left out", m.Title, m.Start)
			continue
		}
		r.graph.Keep.Mark = append(r.graph.Keep.Mark, ffmpeg.Chapter{StartSeconds: m.Start, EndSeconds: end, Title: m.Title})
	}
	return nil
}
