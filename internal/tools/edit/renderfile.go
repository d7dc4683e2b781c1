package edit

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/project"
	"cutroom/internal/timeline"
	"cutroom/internal/tool"
)

// maxProject bounds a project file or a timeline.
const maxProject = 32 << 20

// expandRender reads the project: from here on the call names every file that it reads.
func expandRender(in RenderInput, from tool.Reading) (RenderInput, error) {
	if in.asks() {
		return in, nil
	}
	if err := in.Validate(); err != nil {
		return in, err
	}
	if err := in.read(from); err != nil {
		return in, err
	}
	if len(in.Edit.Clips) == 0 {
		return in, cutroom.Errorf(cutroom.Invalid, "the project has no clips").WithHint("add clips with their src")
	}
	if err := in.logo(from); err != nil {
		return in, err
	}
	in.Output = firstPath(in.Output, in.Edit.Output)
	in.Edit.Output = ""
	if in.Output == "" {
		after := string(firstPath(in.Project, in.Edit.Clips[0].Src))
		in.Output = cutroom.OutPath(strings.TrimSuffix(after, filepath.Ext(after)) + "_render" + in.suffix())
	}
	if in.Template != "" {
		in.Project = "" // it is a clip, not a text
	}
	return in, nil
}

// logo finds the logo that an overlay shows.
func (in *RenderInput) logo(from tool.Reading) error {
	for i, o := range in.Edit.Overlays {
		if !o.Logo {
			continue
		}
		if in.Edit.Brand == "" {
			return cutroom.Errorf(cutroom.Invalid, "overlay %d: a logo belongs to a brand, and the project names none", i+1).WithHint("add brand: brand.yaml to the project, or give image")
		}
		found, err := expandOverlay(OverlayInput{Logo: true, Brand: in.Edit.Brand}, from)
		if err != nil {
			return err
		}
		in.BrandLogo = found.LogoFile
	}
	return nil
}

func firstPath[T ~string](list ...T) T {
	for _, p := range list {
		if p != "" {
			return p
		}
	}
	return ""
}

// suffix is that of an output without a name.
func (in RenderInput) suffix() string {
	if e := in.Edit.Export; e != nil {
		if s := presetSuffix(e.Preset); s != "" {
			return s
		}
	}
	if in.Edit.Check != nil && in.Edit.Check.Platform == "podcast" {
		return ".m4a"
	}
	return ".mp4"
}

// read fills in Edit.
func (in *RenderInput) read(from tool.Reading) (err error) {
	if in.Template != "" {
		in.Edit, err = project.Fill(in.Template, map[string]string{
			"INPUT": string(in.Project), "SRT": string(in.SRT), "CUES": string(in.Cues), "CHAPTERS": string(in.Chapters), "MUSIC": string(in.Music),
			"BRAND": string(in.Brand), "LOGO": string(in.Logo), "TITLE": in.Title, "IMAGE": string(in.Image),
		})
		if err == nil {
			err = in.unused()
		}
		return err
	}
	if in.Text != "" {
		in.Edit, err = project.Read([]byte(in.Text))
		return err
	}
	text, err := from.Read(in.Project, maxProject)
	if err != nil {
		return err
	}
	format := timeline.FormatOf(filepath.Ext(string(in.Project)))
	if format == "" {
		if in.Edit, err = project.Read(text); err != nil {
			return err
		}
	} else {
		rate, _ := rate(in.FPS)
		t, lost, err := timeline.Read(format, text, rate)
		if err != nil {
			return err
		}
		var more timeline.Lost
		in.Edit, more = project.FromTimeline(t, format == timeline.EDL)
		in.NotCarried = append(lost, more...)
	}
	in.Edit, err = in.Edit.Locate(beside(string(in.Project)))
	return err
}

// unused names what was given for a template that has no place for it, and says how the
// picture gets into the frame.
func (in *RenderInput) unused() error {
	p := &in.Edit
	if in.Fit != "" {
		if p.Fit == nil {
			p.Fit = &project.Fit{}
		}
		p.Fit.Fit = in.Fit
	}
	has := func(what string, given, used bool) error {
		if !given || used {
			return nil
		}
		return cutroom.Errorf(cutroom.Invalid, "the template %s has no place for %s", in.Template, what).WithHint("leave it out, choose another of list_templates, or write a project")
	}
	g, drawn := p.Audiogram, len(p.Graphics) > 0
	return cmp.Or(
		has("captions", in.SRT != "" || in.Cues != "", p.Captions != nil), has("chapters", in.Chapters != "", p.ChapterSet != ""),
		has("music", in.Music != "", p.Audio != nil && p.Audio.Music != ""), has("a brand", in.Brand != "", p.Brand != ""),
		has("a logo", in.Logo != "", len(p.Overlays) > 0), has("a title", in.Title != "", drawn || g != nil && g.Title != ""),
		has("an image", in.Image != "", g != nil && g.Image != ""),
	)
}

// beside locates what a file names: relative to it, inside the workspace, or inside its
// own folder where it lies elsewhere. An absolute path would let a file that anybody
// wrote name any other.
func beside(file string) func(string) (string, error) {
	dir := filepath.Dir(file)
	return func(path string) (string, error) {
		joined := filepath.Join(dir, filepath.FromSlash(path))
		inside := filepath.IsLocal(joined)
		if filepath.IsAbs(dir) {
			rel, err := filepath.Rel(dir, joined)
			inside = err == nil && filepath.IsLocal(rel)
		}
		if filepath.IsAbs(path) || !inside {
			return "", cutroom.Errorf(cutroom.Denied, "%q lies outside: a project names files relative to itself, in its own workspace", path).
				WithHint("copy the file beside the project, and name it there")
		}
		return joined, nil
	}
}

// The files of a render that go beside its own.
const projectFile = "project.json"

func timelineFile(f timeline.Format) string { return "timeline." + string(f) }

// projectText is the project as it was understood.
func (r *rendering) projectText() ([]byte, error) {
	p := r.p
	p.Template = ""
	return projectJSON(p)
}

func projectJSON(p project.Project) ([]byte, error) {
	text, err := json.MarshalIndent(p, "", "  ")
	return append(text, '\n'), err
}

// timeline is the cut as editing programs know it.
func (r *rendering) timeline(rate ffmpeg.Rational) *timeline.Timeline {
	t := &timeline.Timeline{Name: strings.TrimSuffix(filepath.Base(string(r.in.Output)), filepath.Ext(string(r.in.Output))), Rate: rate}
	if v := r.render.Expect().Video; v != nil {
		t.Width, t.Height = v.Width, v.Height
	}
	number := map[int]int{}
	source := func(in tool.Input, path string) int {
		if n, ok := number[in.Index]; ok {
			return n
		}
		s := timeline.Source{Path: filepath.ToSlash(path), Video: in.Media.FirstVideo() != nil && r.wave == nil, Audio: len(in.Media.AudioStreams()) > 0, Length: t.Frames(in.Media.DurationSeconds)}
		if tc := in.Media.Timecode; tc != nil {
			if label, err := ffmpeg.ParseTimecode(tc.Start); err == nil {
				s.Start, _ = label.Count(ffmpeg.Base(rate))
			}
		}
		t.Sources = append(t.Sources, s)
		number[in.Index] = len(t.Sources) - 1
		return number[in.Index]
	}
	for i, c := range r.graph.Clips {
		file := r.files[c.Source]
		n := source(file, r.shown(file))
		speed := ffmpeg.Rational{Num: 1, Den: 1}
		if c.Speed.Known() {
			speed = c.Speed.Reduced()
		}
		end := c.End
		if end == 0 {
			end = lengthOf(file)
		}
		from := t.Frames(c.Start)
		clip := timeline.Clip{Source: n, Lead: t.Frames(c.Lead), In: t.Sources[n].Start + from}
		if speed != (ffmpeg.Rational{Num: 1, Den: 1}) {
			clip.Speed = speed
		}
		clip.Length = max(1, t.Frames((end-c.Start)*cutroom.Micros(speed.Den)/cutroom.Micros(speed.Num)))
		if s := r.seam(i); i > 0 && s.Length > 0 && s.Kind != "none" {
			clip.Enter = timeline.Transition{Kind: s.Kind, Length: max(1, t.Frames(s.Length))}
		}
		t.Clips = append(t.Clips, clip)
	}
	for _, b := range r.beds() {
		file := r.files[b.Source]
		n := source(file, r.shown(file))
		t.Beds = append(t.Beds, timeline.Bed{Source: n, At: t.Frames(max(0, b.Offset)), In: t.Sources[n].Start + t.Frames(max(0, -b.Offset))})
	}
	for _, m := range r.graph.Keep.Mark {
		t.Marks = append(t.Marks, timeline.Mark{At: t.Frames(m.StartSeconds), Title: m.Title, Chapter: true})
	}
	return t
}

// beds are what lies under the clips and a timeline carries: sound in place of theirs, and
// music.
func (r *rendering) beds() (list []*graph.Bed) {
	w := r.work()
	if w == nil {
		return nil
	}
	for _, b := range []*graph.Bed{w.Replace, w.Music} {
		if b != nil {
			list = append(list, b)
		}
	}
	return list
}

// shown is how the written timeline names a file: relative to where it will lie.
func (r *rendering) shown(file tool.Input) string {
	from := filepath.Dir(string(r.in.ExportTimeline))
	if rel, err := filepath.Rel(from, file.Text); err == nil && !filepath.IsAbs(file.Text) {
		return rel
	}
	return file.Name
}

// unwritten is what no timeline carries, of the parts that the project has.
func (r *rendering) unwritten() (list []string) {
	for _, x := range []struct {
		on   bool
		what string
	}{
		{r.wave != nil, "audiogram: its sound alone is written"},
		{r.p.Captions != nil, "captions"},
		{len(r.p.Graphics)+len(r.p.Overlays) > 0, "graphics and overlays"},
		{r.p.Audio != nil && (r.p.Audio.Voice != "" || r.p.Audio.Denoise || r.p.Audio.Duck || r.p.Audio.Effects != "" || r.p.Audio.Stems != nil), "work on the sound, other than one piece of music"},
		{r.work() != nil && r.work().Replace != nil, "that audio.replace takes the place of the clips' sound: it lies beside it, mute that"},
		{r.p.Loudness != nil, "loudness"},
		{r.p.Fit != nil || r.p.Export != nil, "fit and export: the size of the frame alone is written"},
	} {
		if x.on {
			list = append(list, x.what)
		}
	}
	return list
}
