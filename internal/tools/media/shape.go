package media

import (
	"fmt"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tools/video"
)

// mostRelevant is how many pieces of evidence a question gets; media.ask gives more.
const mostRelevant = 12

// summaryTokens is how long a summary may be, in tokens of about four letters.
const summaryTokens = 1500

// merge makes the one timeline from what the stages recorded.
func (w *watching) merge() error {
	if len(w.results) == 0 {
		return nil
	}
	r, ok, err := w.call("video.summarize_timeline", video.SummarizeTimelineInput{SourceIdentitySHA256: w.source, Results: w.results})
	if err != nil || !ok {
		return err
	}
	t := r.Output.(*video.SummarizeTimelineOutput)
	w.events = t.Events
	w.out.limit(t.Limitations...)
	if len(w.visuals) > 0 {
		seen, notes := evidence.Merge(evidence.Inputs{Visuals: w.visuals, Duration: w.length()})
		w.events = append(w.events, seen...)
		evidence.SortEvents(w.events)
		w.out.limit(notes...)
	}
	return nil
}

// shape answers in the mode that was asked for, and writes the files.
func (w *watching) shape() error {
	w.out.Timeline = append(w.out.Timeline, w.events...)
	switch w.in.Mode {
	case Summary:
		s := evidence.Summarise(w.events, w.out.Frames, evidence.SummaryOptions{Duration: w.length(), Budget: summaryTokens})
		w.out.Chapters, w.out.Timeline = s.Chapters, w.out.Timeline[:0]
		for _, c := range s.Chapters {
			w.out.Timeline = append(w.out.Timeline, c.Lines...)
		}
		evidence.SortEvents(w.out.Timeline)
		if s.Omitted > 0 {
			w.out.limit(fmt.Sprintf("lines of evidence that the summary leaves out: %d; timeline.json holds all", s.Omitted))
		}
	case Automation:
		w.out.Steps = evidence.Automate(w.screens)
	}
	if w.in.Question != "" {
		w.out.Relevant = evidence.Rank(w.in.Question, w.events, evidence.RankOptions{Max: mostRelevant, Duration: w.length()})
		if len(w.out.Relevant) == 0 {
			w.out.limit("nothing that was found bears on the question")
		}
	}
	return w.files()
}

func (w *watching) length() cutroom.Micros {
	if w.out.DurationSeconds == nil {
		return 0
	}
	return *w.out.DurationSeconds
}

// files writes the whole timeline for programs and for people.
func (w *watching) files() error {
	t := evidence.Timeline{SourceIdentitySHA256: w.source, DurationSeconds: w.out.DurationSeconds, Events: w.events, Limitations: w.out.Limitations, UntrustedContent: true}
	data, err := evidence.TimelineJSON(t)
	if err != nil {
		return err
	}
	if _, err := w.env.Put("timeline.json", "application/json", data, nil); err != nil {
		return err
	}
	_, err = w.env.Put("timeline.md", "text/markdown; charset=utf-8", evidence.TimelineMarkdown(w.title(), t), nil)
	return err
}

// title is what the timeline is of, for people.
func (w *watching) title() string {
	if in, ok := w.env.Facts().First(); ok && in.Name != "" {
		return in.Name
	}
	return "a transcript"
}

const (
	sheetCells = 16
	sheetSide  = 1568 // px: what models look at without scaling it
	maxPicture = 32 << 20
)

// sheet writes contact sheets: all frames small, with their times.
func (w *watching) sheet() error {
	for n := 0; n*sheetCells < len(w.out.Frames); n++ {
		var cells []ffmpeg.SheetFrame
		for _, f := range w.out.Frames[n*sheetCells : min((n+1)*sheetCells, len(w.out.Frames))] {
			jpeg, err := w.env.ReadArtifact(w.ctx, f, maxPicture)
			if err != nil {
				return err
			}
			label := ""
			if f.TimestampSeconds != nil {
				label = f.TimestampSeconds.Clock()
			}
			cells = append(cells, ffmpeg.SheetFrame{JPEG: jpeg, Label: label})
		}
		columns, width, err := ffmpeg.SheetLayout(len(cells), cells[0].JPEG, sheetSide)
		if err != nil {
			return err
		}
		data, err := ffmpeg.Sheet(cells, columns, width)
		if err != nil {
			return err
		}
		if _, err := w.env.Put(fmt.Sprintf("sheet-%02d.jpg", n+1), "image/jpeg", data, nil); err != nil {
			return err
		}
	}
	return nil
}
