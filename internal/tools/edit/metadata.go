package edit

import (
	"fmt"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Metadata sets tags and chapters.
var Metadata = tool.Add(Family, tool.Spec[MetadataInput, MetadataOutput]{
	Name:        "edit.metadata",
	Summary:     "Set title, artist and other tags, and chapters; nothing is encoded",
	Description: "Write a copy of a recording with other tags or chapters. Every stream is copied as it is; the written file is read again, and each tag and the chapters have to be in it. Chapters are given as TIME TITLE, read from a file, or found: at changes of scene and pauses of the sound. They can be written out as a list for a video's description, too.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "metadata",
	Timeout:     time.Hour,
	Needs:       tool.Needs{Copies: true, Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{{Filter: "scdet", When: "auto_chapters of pictures"}, {Filter: "silencedetect", When: "auto_chapters of sound"}}},
	CheckWith:   []string{"measure.probe"},
	Examples: []MetadataInput{
		{Input: "talk.mp4", Title: new("A talk"), Chapters: []string{"0:00 Welcome", "0:05 The question"}},
		{Input: "talk.mp4", AutoChapters: true, MinChapter: 10 * cutroom.Second, DescriptionOut: "description.txt"},
		{Input: "talk.mp4", Comment: new(""), ClearChapters: true},
	},
	Names: func(in MetadataInput) MetadataInput {
		in.Output = orNamed(in.Output, in.Input, "tagged", "")
		return in
	},
	Plan:      planMetadata,
	Interpret: answerMetadata,
})

// MetadataInput is the request.
type MetadataInput struct {
	Input   cutroom.InPath `json:"input" doc:"The recording."`
	Title   *string        `json:"title,omitempty" max:"500" doc:"Title; empty takes it away, as with all tags here."`
	Artist  *string        `json:"artist,omitempty" max:"500" doc:"Artist, or author."`
	Album   *string        `json:"album,omitempty" max:"500" doc:"Album, or series."`
	Comment *string        `json:"comment,omitempty" max:"500" doc:"Comment, in one line."`
	Date    *string        `json:"date,omitempty" max:"40" doc:"Date, such as 2026 or 2026-03-01."`
	Genre   *string        `json:"genre,omitempty" max:"500" doc:"Genre."`

	Chapters       []string        `json:"chapters,omitempty" max:"1000" doc:"Chapters in order, each TIME TITLE: \"1:30 The question\". In place of those that there are."`
	ChaptersFile   cutroom.InPath  `json:"chapters_file,omitempty" probe:"-" doc:"A text file of such lines. Excludes chapters."`
	ClearChapters  bool            `json:"clear_chapters,omitempty" doc:"Leave all chapters out. Excludes the other ways to give some."`
	AutoChapters   bool            `json:"auto_chapters,omitempty" doc:"Find chapters, by changes of scene and pauses of the sound. Excludes the other ways."`
	DetectFrom     string          `json:"detect_from,omitempty" enum:"both,scenes,silence" default:"both" doc:"What auto_chapters goes by."`
	MinChapter     cutroom.Micros  `json:"min_chapter,omitempty" min:"1" max:"36000" unit:"s" doc:"Shortest chapter that is found; 30 without it."`
	MaxChapters    int             `json:"max_chapters,omitempty" min:"2" max:"200" doc:"Most chapters that are found; 20 without it."`
	SceneScore     float64         `json:"scene_threshold,omitempty" min:"1" max:"100" rare:"true" doc:"Least score of a change of scene; 8 without it."`
	SilenceMin     cutroom.Micros  `json:"silence_min,omitempty" min:"0.1" max:"60" unit:"s" rare:"true" doc:"Shortest silence that counts; 0.8 without it."`
	SilenceDB      *float64        `json:"silence_threshold,omitempty" min:"-100" max:"-10" unit:"dBFS" rare:"true" doc:"What lies below is silent; -50 without it."`
	ChaptersOut    cutroom.OutPath `json:"chapters_out,omitempty" doc:"Write the chapters to a text file, too, as chapters_file takes them: with milliseconds."`
	DescriptionOut cutroom.OutPath `json:"description_out,omitempty" doc:"Write them as video sites read them in a description: whole seconds, from 0:00 on."`
	tool.Writing
}

// Validate refuses what contradicts itself, and a call that asks for nothing.
func (in MetadataInput) Validate() error {
	ways := count(len(in.Chapters) > 0, in.ChaptersFile != "", in.ClearChapters, in.AutoChapters)
	tuned := in.MinChapter > 0 || in.MaxChapters > 0 || in.SceneScore > 0 || in.SilenceMin > 0 || in.SilenceDB != nil || in.DetectFrom != "" && in.DetectFrom != "both"
	switch {
	case ways > 1:
		return cutroom.Errorf(cutroom.Invalid, "chapters, chapters_file, clear_chapters and auto_chapters exclude each other").WithHint("choose one of them")
	case tuned && !in.AutoChapters:
		return cutroom.Errorf(cutroom.Invalid, "how chapters are found is given without auto_chapters").WithHint("add auto_chapters, or leave it out")
	case ways == 0 && len(in.tags()) == 0 && in.ChaptersOut == "" && in.DescriptionOut == "":
		return cutroom.Errorf(cutroom.Invalid, "nothing to do").WithHint("give a tag such as title, or chapters")
	}
	_, err := in.marks(strings.Join(in.Chapters, "\n"), len(in.Chapters))
	return err
}

// tags are those that are given.
func (in MetadataInput) tags() (list []graph.Tag) {
	for _, t := range []struct {
		name  string
		value *string
	}{{"title", in.Title}, {"artist", in.Artist}, {"album", in.Album}, {"comment", in.Comment}, {"date", in.Date}, {"genre", in.Genre}} {
		if t.value != nil {
			list = append(list, graph.Tag{Name: t.name, Value: strings.TrimSpace(*t.value)})
		}
	}
	return list
}

// marks reads a chapter list; n is how many lines have to be chapters, 0 for any.
func (in MetadataInput) marks(text string, n int) ([]edl.Mark, error) {
	marks := edl.ParseMarks(text)
	for i, m := range marks {
		if m.Title == "" {
			marks[i].Title = fmt.Sprintf("Chapter %d", i+1)
		}
	}
	if n > 0 && len(marks) != n {
		return nil, cutroom.Errorf(cutroom.Invalid, "of %d chapters %d are written as TIME TITLE", n, len(marks)).WithHint(`write each as "1:30 The question", with minutes and seconds`)
	}
	return marks, nil
}

// MetadataOutput is the answer.
type MetadataOutput struct {
	tool.Made
	Chapters []ffmpeg.Chapter `json:"chapters" doc:"The chapters of the written file."`
}

func planMetadata(f tool.Facts, in MetadataInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, Encoding{}, false)
	if err != nil {
		return tool.Plan{}, err
	}
	r.graph.Clips = []graph.Clip{{}}
	r.graph.Keep.Tags, r.graph.Keep.Attachments = in.tags(), true
	if r.graph.Picture != nil {
		r.graph.Picture.Copy = true
	}
	if r.graph.Sound != nil {
		r.graph.Sound.Copy = true
	}
	wanted := len(in.Chapters) > 0 || in.ChaptersFile != "" || in.AutoChapters
	if wanted && !graph.HoldsChapters(r.graph.Target.Container) && in.ChaptersOut == "" && in.DescriptionOut == "" {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "%s has no place for chapters", r.graph.Target.Container).WithHint("name an output that ends in .mp4, .mkv, .m4a or .mp3, or write them out with chapters_out")
	}
	switch {
	case in.ClearChapters:
		r.graph.Keep.Chapters = false
	case in.AutoChapters:
		return r.findChapters(f, in)
	case len(in.Chapters) > 0 || in.ChaptersFile != "":
		if err := r.giveChapters(f, in); err != nil {
			return tool.Plan{}, err
		}
	}
	return r.plan(f)
}

// giveChapters takes the chapters that the call names.
func (r *retiming) giveChapters(f tool.Facts, in MetadataInput) error {
	text := strings.Join(in.Chapters, "\n")
	if in.ChaptersFile != "" {
		file, err := f.Named(in.ChaptersFile)
		if err != nil {
			return err
		}
		text = string(file.Head)
	}
	marks, err := in.marks(text, len(in.Chapters))
	if err != nil {
		return err
	}
	if len(marks) == 0 {
		return cutroom.Errorf(cutroom.Invalid, "the file names no chapter").WithHint(`write one per line: "1:30 The question"`)
	}
	r.graph.Keep.Mark, err = chapters(marks, r.length)
	return err
}

// findChapters measures the recording, then writes what was found.
func (r *retiming) findChapters(f tool.Facts, in MetadataInput) (tool.Plan, error) {
	o := ffmpeg.MeasureOptions{Abilities: &f.Abilities, SceneScore: in.SceneScore, SilenceFor: in.SilenceMin}
	o.Scenes = in.DetectFrom != "silence" && r.video != nil
	o.Silence = in.DetectFrom != "scenes" && len(r.file.Media.AudioStreams()) > 0
	if in.SilenceDB != nil {
		o.SilenceDB = *in.SilenceDB
	}
	if o.SilenceFor == 0 {
		o.SilenceFor = 800_000
	}
	if !o.Scenes && !o.Silence {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "there is nothing to find chapters by: detect_from is %s", in.DetectFrom).WithHint("use detect_from both, or give chapters")
	}
	m, err := ffmpeg.NewMeasure(r.file.Index, r.file.Format, r.file.Media, o)
	if err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(m, r, func(tool.Results) (tool.Plan, error) {
		least, most := in.MinChapter, in.MaxChapters
		if least == 0 {
			least = 30 * cutroom.Second
		}
		if most == 0 {
			most = 20
		}
		found, err := chapters(numbered(divide(seams(m.Signals()), r.length, least, most)), r.length)
		if err != nil {
			return tool.Plan{}, err
		}
		if len(found) == 1 {
			r.notes = append(r.notes, fmt.Sprintf("no break was found that leaves chapters of %s s: there is one", least))
		}
		r.graph.Keep.Mark = found
		return r.plan(f)
	})
	if err != nil {
		return p, err
	}
	foreseen := *r
	if _, err := foreseen.plan(f); err != nil {
		return p, err
	}
	p.Later = append(p.Later, foreseen.render.Planned()...)
	return p, nil
}

func answerMetadata(_ tool.Facts, in MetadataInput, res tool.Results) (MetadataOutput, error) {
	out := MetadataOutput{Chapters: []ffmpeg.Chapter{}}
	r, err := answered(&out.Made, res)
	if err != nil {
		return out, err
	}
	if out.Probe != nil {
		out.Chapters = append(out.Chapters, out.Probe.Chapters...)
	}
	list := out.Chapters
	if len(list) == 0 && !in.ClearChapters { // a file that has no place for them
		list = r.graph.Keep.Mark
	}
	var marks []edl.Mark
	for _, c := range list {
		marks = append(marks, edl.Mark{Start: c.StartSeconds, Title: ffmpeg.TagText(c.Title)})
	}
	for _, t := range []struct {
		path              cutroom.OutPath
		name, field, text string
	}{
		{in.ChaptersOut, "chapters-list.txt", "chapters_out", edl.FormatMarks(marks)},
		{in.DescriptionOut, "description.txt", "description_out", described(list)},
	} {
		if t.path == "" {
			continue
		}
		if _, err := res.Put(t.name, "text/plain; charset=utf-8", []byte(t.text), nil); err != nil {
			return out, err
		}
		if _, err := res.Deliver(t.name, "text/plain; charset=utf-8", t.field); err != nil {
			return out, err
		}
	}
	return out, nil
}
