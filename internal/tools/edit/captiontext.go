package edit

import (
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/edl"
	"cutroom/internal/evidence"
	"cutroom/internal/speech"
	"cutroom/internal/tool"
)

// captionText is one text: cues, or an ASS script.
type captionText struct {
	kind   string
	cues   []caption.Cue
	script string
	words  bool // the source knows when its words are spoken
	drawn  int  // events of the script
}

// languages are the languages of the texts as tags.
func (in CaptionInput) languages() ([]string, error) {
	var tags []string
	for _, l := range append(slices.Clone(in.Language), in.Default) {
		if l == "" {
			continue
		}
		tag, _, err := languageOf(l)
		if err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	if in.Default != "" {
		tags = tags[:len(tags)-1]
	}
	return tags, nil
}

func languageOf(name string) (tag, three string, err error) { return evidence.Language(name) }

// language is that of the i-th text, as it was given.
func (c *captioning) language(i int) string {
	if i < len(c.in.Language) {
		return c.in.Language[i]
	}
	return ""
}

// paths are the files that text comes from.
func (c *captioning) paths() []cutroom.InPath {
	switch {
	case c.in.ASS != "":
		return []cutroom.InPath{c.in.ASS}
	case c.in.Text != "":
		return []cutroom.InPath{c.in.Text}
	}
	return c.in.SRT
}

// atOnce reads the text where that needs no step: cues of the call, and files that the
// engine has read whole.
func (c *captioning) atOnce() (bool, error) {
	if c.in.Transcribe {
		return false, nil
	}
	for _, p := range c.paths() {
		if file, err := c.f.Named(p); err != nil || int64(len(file.Head)) < file.Size {
			return false, nil
		}
	}
	return true, c.readAll(nil)
}

// readAll reads the texts.
func (c *captioning) readAll(r tool.Results) error {
	switch {
	case c.in.Transcribe:
		return c.heard(r)
	case len(c.in.Cues) > 0:
		return c.given()
	}
	for _, p := range c.paths() {
		file, err := c.f.Named(p)
		if err != nil {
			return err
		}
		data := file.Head
		if int64(len(data)) < file.Size {
			if data, err = r.ReadInput(file.Index, maxCaptionText); err != nil {
				return err
			}
		}
		if err := c.read(data, filepath.Ext(file.Name)); err != nil {
			return err
		}
	}
	return nil
}

// read reads one file.
func (c *captioning) read(data []byte, suffix string) error {
	switch {
	case c.in.ASS != "":
		text, encoding, err := evidence.Decode(data)
		if err != nil {
			return err
		}
		if !strings.Contains(strings.ToLower(text), "[events]") {
			return cutroom.Errorf(cutroom.Invalid, "the file is not an ASS or SSA script: it has no [Events]").WithHint("give it as srt or text")
		}
		t, err := evidence.ParseTranscript(data, evidence.ParseOptions{Format: evidence.ASS})
		if err != nil {
			return err
		}
		c.add(captionText{kind: "ass", script: text, cues: cuesOf(t.Segments)}, CaptionSource{Format: "ass", Encoding: encoding, Problems: len(t.Problems) + t.ProblemsOmitted})
	case c.in.Text != "":
		text, encoding, err := evidence.Decode(data)
		if err != nil {
			return err
		}
		cues, err := caption.ParseFile(text, caption.FileOptions{Hold: c.in.AutoSeconds, Gap: c.in.Gap, Timecode: c.timecode})
		if err != nil {
			return err
		}
		c.add(captionText{kind: "text", cues: cues}, CaptionSource{Encoding: encoding})
	default:
		t, err := evidence.ParseTranscript(data, evidence.ParseOptions{Format: evidence.Format(strings.ToLower(strings.TrimPrefix(suffix, ".")))})
		if err != nil {
			return err
		}
		if t.Format == evidence.Text {
			return cutroom.Errorf(cutroom.Invalid, "the caption file has no times").WithHint("give it as text: lines without times follow each other there")
		}
		c.add(captionText{kind: "srt", cues: cuesOf(t.Segments)}, CaptionSource{Format: string(t.Format), Encoding: t.Encoding, Problems: len(t.Problems) + t.ProblemsOmitted})
	}
	return nil
}

func (c *captioning) add(t captionText, s CaptionSource) {
	caption.Close(t.cues, c.hold())
	t.words = slices.ContainsFunc(t.cues, func(q caption.Cue) bool { return len(q.Words) > 1 })
	s.Kind, s.Cues = t.kind, len(t.cues)
	c.texts, c.out.Sources = append(c.texts, t), append(c.out.Sources, s)
}

// hold is how long a cue without an end stands.
func (c *captioning) hold() cutroom.Micros {
	if c.in.AutoSeconds > 0 {
		return c.in.AutoSeconds
	}
	return 3 * cutroom.Second
}

// timecode resolves a timecode of the cue file.
func (c *captioning) timecode(s string) (cutroom.Micros, error) {
	if c.in.FPS != "" {
		s += "@" + c.in.FPS
	}
	return c.file.Media.Moment(cutroom.Moment(s))
}

// given are the cues of the call itself.
func (c *captioning) given() error {
	var cues []caption.Cue
	for i, q := range c.in.Cues {
		start, err := c.file.Media.Moment(q.Start)
		if err != nil {
			return err
		}
		end, err := c.file.Media.Moment(q.End)
		if err != nil {
			return err
		}
		if end <= start {
			return cutroom.Errorf(cutroom.Invalid, "cue %d ends at %s, not after its start at %s", i+1, end, start).WithHint("give an end after the start")
		}
		cues = append(cues, caption.Cue{Start: start, End: end, Text: q.Text})
	}
	slices.SortStableFunc(cues, func(a, b caption.Cue) int { return int(a.Start - b.Start) })
	c.add(captionText{kind: "cues", cues: cues}, CaptionSource{})
	return nil
}

// heard are the words of the video itself. What was not understood is not shown.
func (c *captioning) heard(r tool.Results) error {
	res, _ := r.Step("speech")
	t, err := speech.Result(res)
	if err != nil {
		return err
	}
	var cues []caption.Cue
	left := 0
	for _, s := range t.Segments {
		if s.Unreliable || s.Loop || strings.TrimSpace(s.Text) == "" {
			left++
			continue
		}
		cues = append(cues, caption.Cue{Start: s.Start + c.offset, End: s.End + c.offset, Text: s.Text})
	}
	for _, reason := range t.Reasons {
		c.out.AddReason(reason.Sentence())
	}
	if len(cues) == 0 {
		err := cutroom.Errorf(cutroom.Invalid, "no speech was understood in the video: there is nothing to show").WithHint("give the text as srt or text")
		if len(t.Reasons) > 0 {
			return cutroom.Errorf(cutroom.Invalid, "no speech was understood in the video: %s", t.Reasons[0].Sentence()).WithHint("%s", err.Hint)
		}
		return err
	}
	c.add(captionText{kind: "speech", cues: cues}, CaptionSource{Engine: t.Model, Problems: left})
	return nil
}

// cuesOf are the cues of a transcript.
func cuesOf(segments []evidence.Segment) []caption.Cue {
	cues := make([]caption.Cue, 0, len(segments))
	for _, s := range segments {
		if s.Untimed {
			continue
		}
		q := caption.Cue{Start: s.Start, Text: s.Text}
		if s.End != nil {
			q.End = *s.End
		}
		for _, w := range s.Words {
			word := caption.Word{Text: w.Text, Start: w.Start}
			if w.End != nil {
				word.End = *w.End
			}
			q.Words = append(q.Words, word)
		}
		cues = append(cues, q)
	}
	slices.SortStableFunc(cues, func(a, b caption.Cue) int { return int(a.Start - b.Start) })
	return cues
}

// place puts a text's cues where they belong in this video: the offset, the edit that
// they are carried across, the video's length.
func (c *captioning) place(t *captionText) error {
	rep := c.report()
	length := c.edit.Seconds
	if t.kind == "ass" {
		return c.retime(t, length)
	}
	if c.in.Offset != 0 {
		caption.Shift(t.cues, c.in.Offset)
		rep.Shifted = len(t.cues)
	}
	if c.in.EditMap.Run != "" {
		m, err := c.f.Map(c.in.EditMap)
		if err != nil {
			return err
		}
		gone := 0
		t.cues, gone = caption.Remap(t.cues, spans(m, c.in.EditSource))
		rep.Shifted = len(t.cues)
		rep.Dropped += gone
	}
	outside := 0
	if c.moves() {
		t.cues, outside = caption.Remap(t.cues, spans(&c.edit, 0))
		rep.Outside += outside
	}
	t.cues, outside = caption.Clip(t.cues, length)
	rep.Outside += outside
	kept := t.cues[:0]
	for _, q := range t.cues {
		if strings.TrimSpace(q.Text) == "" {
			rep.Dropped++
			continue
		}
		kept = append(kept, q)
	}
	t.cues = kept
	if len(t.cues) == 0 {
		return cutroom.Errorf(cutroom.Invalid, "no cue is visible: %d lie outside of the video, which is %s s long", rep.Outside, length).
			WithHint("check offset, or give the run of the edit as edit_map")
	}
	rep.Extended += caption.Extend(t.cues, c.in.MinDuration, length)
	return nil
}

// retime moves the events of a script.
func (c *captioning) retime(t *captionText, length cutroom.Micros) error {
	rep := c.report()
	move := func(start, end cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool) {
		start, end = max(0, start+c.in.Offset), end+c.in.Offset
		if length > 0 {
			end = min(end, length)
		}
		return start, end, start < end
	}
	if c.in.EditMap.Run != "" {
		m, err := c.f.Map(c.in.EditMap)
		if err != nil {
			return err
		}
		inner, across := move, spans(m, c.in.EditSource)
		move = func(start, end cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool) {
			parts := across(start+c.in.Offset, end+c.in.Offset)
			if len(parts) == 0 {
				return 0, 0, false
			}
			return inner(parts[0].Start-c.in.Offset, parts[len(parts)-1].End-c.in.Offset)
		}
	}
	if c.moves() {
		before, across := move, spans(&c.edit, 0)
		move = func(start, end cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool) {
			start, end, ok := before(start, end)
			parts := across(start, end)
			if !ok || len(parts) == 0 {
				return 0, 0, false
			}
			return parts[0].Start, parts[len(parts)-1].End, true
		}
	}
	text, kept, gone := caption.Retime(t.script, move)
	if kept == 0 {
		return cutroom.Errorf(cutroom.Invalid, "no event of the script is visible in the video, which is %s s long", length).WithHint("check offset")
	}
	t.script, t.drawn = text, kept
	rep.Outside, rep.Burned, rep.Unchanged = gone, kept, true
	if c.in.Offset != 0 || c.in.EditMap.Run != "" {
		rep.Shifted = kept
	}
	moved := t.cues[:0]
	for _, q := range t.cues {
		if start, end, ok := move(q.Start, q.End); ok {
			moved = append(moved, caption.Cue{Start: start, End: end, Text: q.Text})
			c.shown = append(c.shown, caption.Shown{Start: start, End: end, Width: c.width, Height: c.height})
		}
	}
	t.cues = moved
	return nil
}

// moves says whether burning moves the picture in time: one that begins late begins at
// zero once it is encoded.
func (c *captioning) moves() bool {
	return slices.ContainsFunc(c.edit.Segments, func(s edl.Segment) bool { return s.SourceStart != s.Start })
}

// spans is where an edit shows a stretch of its source.
func spans(m *edl.Map, source int) func(start, end cutroom.Micros) []caption.Span {
	return func(start, end cutroom.Micros) []caption.Span {
		var list []caption.Span
		for _, s := range m.Segments {
			a, b := max(start, s.SourceStart), min(end, s.SourceEnd)
			if s.Source != source || a >= b {
				continue
			}
			one := edl.Map{Segments: []edl.Segment{s}}
			for _, r := range one.Ranges(source, edl.Range{Start: a, End: b}) {
				list = append(list, caption.Span{Start: r.Start, End: r.End, FromStart: a, FromEnd: b})
			}
		}
		return list
	}
}

// report is the answer's account of the cues.
func (c *captioning) report() *CaptionReport {
	if c.out.Caption == nil {
		c.out.Caption = &CaptionReport{
			Wrap: c.in.Wrap, FitSize: c.in.FitSize, Scope: c.in.FitScope, Floor: c.in.MinSize, Requested: c.in.Style.Size, SizeFrom: "default",
		}
		if c.in.Style.Size != 24 {
			c.out.Caption.SizeFrom = "request"
		}
	}
	return c.out.Caption
}
