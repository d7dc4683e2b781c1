package edit

import (
	"cmp"
	"io"
	"slices"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/project"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/timeline"
	"cutroom/internal/tool"
	"cutroom/internal/verdict"
)

// captions lays the captions out on the frame that the render has. wait says that the
// text has to be read first, once a step ran.
func (r *rendering) captions(res tool.Results) (files []argv.File, wait bool, err error) {
	p := r.p.Captions
	if p == nil || !r.video {
		return nil, false, nil
	}
	r.stage("captions", true)
	v := r.render.Expect().Video
	c, err := r.captioning(p, v.Width, v.Height)
	if err != nil {
		return nil, false, err
	}
	if ready, err := c.atOnce(); err != nil {
		return nil, false, err
	} else if !ready {
		if res == nil {
			return nil, true, nil
		}
		if err := c.readAll(res); err != nil {
			return nil, false, err
		}
	}
	if p.Of != "" {
		if err := r.follow(c, p.Of); err != nil {
			return nil, false, err
		}
	}
	for i := range c.texts {
		if err := c.place(&c.texts[i]); err != nil {
			return nil, false, err
		}
	}
	if files, err = c.files(); err != nil {
		return nil, false, err
	}
	r.text = c
	r.graph.Picture.Burn = []string{scriptFile}
	return files, false, nil
}

// captioning is the layout of captions over a frame of that size.
func (r *rendering) captioning(p *project.Captions, width, height int) (*captioning, error) {
	in := CaptionInput{
		ASS: p.ASS, Text: p.Text, Offset: p.Offset, Platform: r.platform(p), Mode: "burn",
		Style: CaptionStyle{
			Font: p.Font, Size: or(p.Size, 24), Color: or(p.Color, "FFFFFF"), Outlined: or(p.Outlined, "000000"), Outline: 2, Shadow: p.Shadow,
			Bold: p.Bold, Box: p.Box, Position: or(p.Position, "bottom"), Margin: p.Margin,
		},
		MaxLines: or(p.MaxLines, 2), MinDuration: or(p.Least, cutroom.Second), FitSize: or(p.FitSize, "auto"), FitScope: or(p.FitScope, "file"), MinSize: or(p.MinSize, 13),
		Wrap: "phrase", EmojiChoice: EmojiChoice{Emoji: or(p.Emoji, "auto")}, Animate: or(p.Animate, "none"), Karaoke: p.Karaoke, Timing: "auto", Highlight: or(p.Highlight, "FFD200"), KaraokeStyle: "progress",
		AutoSeconds: 3 * cutroom.Second,
	}
	turn(&in.Style.Outline, p.Outline)
	if p.SRT != "" {
		in.SRT = []cutroom.InPath{p.SRT}
	}
	if p.Lang != "" {
		in.Language = []string{p.Lang}
	}
	for _, q := range p.Cues {
		in.Cues = append(in.Cues, CaptionCue(q))
	}
	k, err := kit(r.f, r.p.Brand)
	if err != nil {
		return nil, err
	}
	in = in.branded(k)
	if err := in.Validate(); err != nil {
		e := cutroom.AsError(err)
		return nil, cutroom.Errorf(e.Code, "captions: %s", e.Msg).WithHint("%s", e.Hint)
	}
	file := r.first()
	stream, facts := *file.Media.FirstVideo(), *file.Media.FirstVideo().Video
	if x := r.render.Expect().Video; x.Transfer != "smpte2084" && x.Transfer != "arib-std-b67" {
		facts.HDR = "" // full white is not too bright on what is written
	}
	stream.Video = &facts
	return &captioning{
		f: r.f, in: in, file: file, video: &stream, target: r.graph.Target, width: width, height: height,
		edit: edl.Map{Seconds: r.render.Map().Seconds},
	}, nil
}

func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// platform is whose safe area captions keep to.
func (r *rendering) platform(p *project.Captions) string {
	if g := r.p.Audiogram; g != nil {
		return cmp.Or(p.Platform, g.Platform, r.exported())
	}
	return cmp.Or(p.Platform, r.exported())
}

// exported is the platform that the edit is exported for, "" for none.
func (r *rendering) exported() string {
	if r.p.Export == nil || r.p.Export.Preset == "" {
		return ""
	}
	if k, err := platform.PresetOf(r.p.Export.Preset); err == nil {
		return k.Platform
	}
	return ""
}

// follow carries cues of a clip's source through the edit.
func (r *rendering) follow(c *captioning, of cutroom.InPath) error {
	file, err := r.f.Named(of)
	if err != nil {
		return err
	}
	m := r.render.Map()
	n := slices.IndexFunc(m.Sources, func(s edl.Source) bool { return s.SHA256 == file.Source })
	if n < 0 {
		return cutroom.Errorf(cutroom.Invalid, "captions.of: %s is no clip's source", of).WithHint("name one of the clips' files")
	}
	for i := range c.texts {
		t := &c.texts[i]
		if t.kind == "ass" {
			return cutroom.Errorf(cutroom.Invalid, "captions.of: an ASS script is not carried across cuts").WithHint("give the captions as srt")
		}
		if c.in.Offset != 0 {
			caption.Shift(t.cues, c.in.Offset)
		}
		gone := 0
		t.cues, gone = caption.Remap(t.cues, spans(&m, n))
		c.report().Dropped += gone
	}
	c.in.Offset = 0
	return nil
}

// sheets are the project and the timeline that are written beside the file.
func (r *rendering) sheets() (files []argv.File, err error) {
	if r.in.WriteProject != "" {
		text, err := r.projectText()
		if err != nil {
			return nil, err
		}
		files = append(files, argv.File{Name: projectFile, Data: text})
	}
	if r.in.ExportTimeline == "" {
		return files, nil
	}
	f := timeline.FormatOf(suffixOf(string(r.in.ExportTimeline)))
	rate := r.rateOfEdit()
	if f == "" || !rate.Known() {
		return nil, cutroom.Errorf(cutroom.Invalid, "a timeline has a frame rate, and a suffix that says its form").WithHint("name a file that ends in .fcpxml, .edl or .otio, of an edit with pictures")
	}
	text, lost, err := timeline.Write(f, r.timeline(rate))
	r.out.NotWritten = append(lost, r.unwritten()...)
	return append(files, argv.File{Name: timelineFile(f), Data: text}), err
}

func suffixOf(path string) string {
	for i := len(path) - 1; i >= 0 && path[i] != '/'; i-- {
		if path[i] == '.' {
			return path[i:]
		}
	}
	return ""
}

// rateOfEdit is the frame rate of the edit, that of the first clip where frames keep
// their own times.
func (r *rendering) rateOfEdit() ffmpeg.Rational {
	if v := r.render.Expect().Video; v != nil && v.Rate.Known() {
		return v.Rate
	}
	if v := r.first().Media.FirstVideo(); v != nil {
		return v.Video.FrameRate
	}
	return ffmpeg.Rational{}
}

// answer fills in what the render ended with.
func (r *rendering) answer(res tool.Results) (RenderOutput, error) {
	out := &r.out
	done, err := r.render.Result()
	if err != nil {
		return *out, err
	}
	out.Encodes = 1
	if l := done.Loudness; l != nil {
		out.Encodes, out.Passes = l.Encodes, l.Passes
	}
	out.Loudness = done.Heard
	if r.text != nil {
		out.Caption = r.text.out.Caption
		out.Emoji = r.text.out.Emoji.more(out.Emoji)
		out.Notes = append(out.Notes, r.text.out.Notes...)
	}
	if r.p.Check != nil {
		if err := r.check(res, done); err != nil {
			return *out, err
		}
	}
	if err := out.Rendered(res, r.render, r.graph.Target); err != nil {
		return *out, err
	}
	if r.in.WriteProject != "" {
		if _, err := res.Deliver(projectFile, "application/json", "write_project"); err != nil {
			return *out, err
		}
	}
	if r.in.ExportTimeline != "" {
		f := timeline.FormatOf(suffixOf(string(r.in.ExportTimeline)))
		if _, err := res.Deliver(timelineFile(f), "application/octet-stream", "export_timeline"); err != nil {
			return *out, err
		}
	}
	return *out, nil
}

// check judges the written file by a platform's rules, from what was measured on it.
func (r *rendering) check(res tool.Results, done graph.Result) error {
	name := r.p.Check.Platform
	if name == "" && r.p.Export != nil && r.p.Export.Preset != "" {
		if k, err := platform.PresetOf(r.p.Export.Preset); err == nil {
			name = k.Platform
		}
	}
	spec, err := platform.Find(or(name, "youtube"))
	if err != nil {
		return err
	}
	f, err := res.OpenFile(r.graph.Target.File)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, tool.HeadLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	file := verdict.File{Document: done.Probe, Format: ffmpeg.MadeFormat(r.graph.Target.File, madeBy(r.graph.Target.Container)), Head: head[:n], Signals: &ffmpeg.Signals{}}
	if v := done.Probe.FirstVideo(); v != nil && r.render.Expect().Video != nil {
		file.Signals.Video = &ffmpeg.VideoSignals{Frames: r.render.Expect().Video.Frames}
	}
	if done.Heard != nil {
		file.Signals.Audio = &ffmpeg.AudioSignals{Loudness: done.Heard}
	}
	r.out.Checks = verdict.Judge(file, verdict.Target{Spec: spec, Assumed: name == ""})
	return nil
}

// presetSuffix is the suffix that a preset's files have.
func presetSuffix(name string) string {
	if k, err := platform.PresetOf(name); err == nil {
		return k.Container
	}
	return ""
}
