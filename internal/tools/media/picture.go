package media

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
)

// How many single frames are shown beside the sheets, which hold all of them.
const (
	mostTelling = 3 // those with the most to read
	mostNear    = 4 // those that bear on a question
	fewFrames   = 2 // so few are shown without a sheet
)

// Sheet is a contact sheet with what is on it.
type Sheet struct {
	Picture      cutroom.ArtifactRef `json:"picture" doc:"The contact sheet."`
	StartSeconds cutroom.Micros      `json:"start_seconds" min:"0" unit:"s" doc:"Time of its first frame."`
	EndSeconds   cutroom.Micros      `json:"end_seconds" min:"0" unit:"s" doc:"Time of its last frame."`
	Frames       int                 `json:"frames" min:"1" doc:"How many frames are on it, left to right, top to bottom."`
}

// sheets are the contact sheets of a watch, in order of time.
func (w *WatchResult) sheets() []Sheet {
	var list []Sheet
	for _, a := range w.Artifacts {
		if !isPicture(a) {
			continue
		}
		first := len(list) * sheetCells
		if first >= len(w.Frames) {
			break
		}
		cells := w.Frames[first:min(len(w.Frames), first+sheetCells)]
		s := Sheet{Picture: a, Frames: len(cells)}
		if from, to := cells[0].TimestampSeconds, cells[len(cells)-1].TimestampSeconds; from != nil && to != nil {
			s.StartSeconds, s.EndSeconds = *from, *to
		}
		list = append(list, s)
	}
	return list
}

// holding are the sheets that frames are on, in the order of the frames.
func holding(sheets []Sheet, frames []cutroom.ArtifactRef) []Sheet {
	var list []Sheet
	for _, f := range frames {
		i := slices.IndexFunc(sheets, func(s Sheet) bool {
			return f.TimestampSeconds != nil && s.StartSeconds <= *f.TimestampSeconds && *f.TimestampSeconds <= s.EndSeconds
		})
		if i >= 0 && !slices.Contains(list, sheets[i]) {
			list = append(list, sheets[i])
		}
	}
	return list
}

// pictures are the frames that bear on the question, then the sheets, the nearest
// first; without a question the sheets of all frames, then the frames with the most
// to read. One sheet shows more than the frames it holds would in as many bytes.
func (w *WatchResult) pictures() []tool.Picture {
	if len(w.Frames) <= fewFrames {
		return framePictures(w.Frames)
	}
	sheets := w.sheets()
	bear := near(w.Frames, pieces(w.Relevant))
	if len(bear) == 0 {
		return append(sheetPictures(sheets), framePictures(telling(w.Frames, w.Timeline))...)
	}
	bear = bear[:min(len(bear), mostNear)]
	nearest := holding(sheets, bear)
	for _, s := range sheets {
		if !slices.Contains(nearest, s) {
			nearest = append(nearest, s)
		}
	}
	return append(framePictures(bear), sheetPictures(nearest)...)
}

// pictures of an answer: to a question the frames nearest to the evidence, then the
// sheets they are on. A list shows the frames within the time of the pieces that
// are shown, as a sheet when they are many.
func (out *AskResult) pictures(shown int) []tool.Picture {
	if out.Question != "" {
		bear := out.Frames[:min(len(out.Frames), mostNear)]
		if len(out.Frames) <= fewFrames {
			return framePictures(bear)
		}
		return append(framePictures(bear), sheetPictures(holding(out.Sheets, out.Frames))...)
	}
	within := between(out.Frames, out.Events[:min(shown, len(out.Events))])
	if len(within) > mostNear {
		if sheets := holding(out.Sheets, within); len(sheets) > 0 {
			return sheetPictures(sheets)
		}
	}
	return framePictures(within[:min(len(within), mostNear)])
}

// between are the frames from the first of some pieces of evidence to the end of the
// last.
func between(frames []cutroom.ArtifactRef, pieces []evidence.Event) []cutroom.ArtifactRef {
	if len(pieces) == 0 {
		return nil
	}
	from, to := pieces[0].TimestampSeconds, cutroom.Micros(0)
	for _, e := range pieces {
		to = max(to, e.TimestampSeconds)
		if e.EndSeconds != nil && e.Kind != evidence.Scene {
			to = max(to, *e.EndSeconds)
		}
	}
	var list []cutroom.ArtifactRef
	for _, f := range frames {
		if f.TimestampSeconds != nil && from <= *f.TimestampSeconds && *f.TimestampSeconds <= to {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, byFrameTime)
	return list
}

func byFrameTime(a, b cutroom.ArtifactRef) int {
	return cmp.Compare(*a.TimestampSeconds, *b.TimestampSeconds)
}

func pieces(ranked []evidence.Ranked) []evidence.Event {
	list := make([]evidence.Event, len(ranked))
	for i, r := range ranked {
		list[i] = r.Event
	}
	return list
}

// near returns for each piece of evidence the frame that it was read from, else the
// one nearest to its time, once.
func near(frames []cutroom.ArtifactRef, pieces []evidence.Event) []cutroom.ArtifactRef {
	var list []cutroom.ArtifactRef
	taken := map[string]bool{}
	for _, e := range pieces {
		best, at := -1, cutroom.MaxMicros
		for i, f := range frames {
			if d := away(f, e); d < at {
				best, at = i, d
			}
		}
		if best >= 0 && !taken[frames[best].RelativePath] {
			taken[frames[best].RelativePath] = true
			list = append(list, frames[best])
		}
	}
	return list
}

// away is how far a frame is from a piece of evidence: nothing from its own, and of
// those while it lasts the earlier is nearer.
func away(f cutroom.ArtifactRef, e evidence.Event) cutroom.Micros {
	if e.Frame != nil && e.Frame.RelativePath == f.RelativePath {
		return -1
	}
	if f.TimestampSeconds == nil {
		return cutroom.MaxMicros
	}
	at, end := *f.TimestampSeconds, e.TimestampSeconds
	if e.EndSeconds != nil && e.Kind == evidence.Spoken {
		end = max(end, *e.EndSeconds)
	}
	if at > end {
		return at - e.TimestampSeconds // what is said is seldom shown long after
	}
	return max(e.TimestampSeconds-at, 0)
}

// telling are the frames with the most to read, in order of time.
func telling(frames []cutroom.ArtifactRef, pieces []evidence.Event) []cutroom.ArtifactRef {
	n := map[string]int{}
	for _, e := range pieces {
		if e.Frame != nil && e.Kind == evidence.ScreenText {
			n[e.Frame.RelativePath] += utf8.RuneCountInString(e.Text)
		}
	}
	list := slices.DeleteFunc(slices.Clone(frames), func(f cutroom.ArtifactRef) bool { return n[f.RelativePath] == 0 || f.TimestampSeconds == nil })
	slices.SortStableFunc(list, func(a, b cutroom.ArtifactRef) int { return cmp.Compare(n[b.RelativePath], n[a.RelativePath]) })
	list = list[:min(len(list), mostTelling)]
	slices.SortStableFunc(list, byFrameTime)
	return list
}

// framePictures name frames by their time.
func framePictures(frames []cutroom.ArtifactRef) []tool.Picture {
	var list []tool.Picture
	for _, f := range frames {
		caption := quote(path.Base(f.RelativePath), longestName)
		if f.TimestampSeconds != nil {
			caption += ", the frame at " + f.TimestampSeconds.Clock()
		}
		list = append(list, tool.Picture{Ref: f, Caption: caption})
	}
	return list
}

// sheetPictures name sheets by the times of their frames.
func sheetPictures(sheets []Sheet) []tool.Picture {
	var list []tool.Picture
	for _, s := range sheets {
		list = append(list, tool.Picture{Ref: s.Picture, Caption: fmt.Sprintf(
			"contact sheet of %d frames from %s to %s, left to right, top to bottom, each over its time", s.Frames, s.StartSeconds.Clock(), s.EndSeconds.Clock())})
	}
	return list
}
