package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
)

// seam is a time at which a chapter may begin, and how clear a break it is.
type seam struct {
	at    cutroom.Micros
	clear float64
}

// seams are where pictures change and where it is silent: a change within a silence, or
// close by, is clearer than either.
func seams(sig *ffmpeg.Signals) []seam {
	var list []seam
	if a := sig.Audio; a != nil {
		for _, s := range a.Silence {
			length := (s.EndSeconds - s.StartSeconds).Seconds()
			// The chapter begins as the sound begins again.
			list = append(list, seam{max(0, s.EndSeconds-cutroom.Second/5), min(length, 5)})
		}
	}
	if v := sig.Video; v != nil {
		for _, c := range v.Changes {
			best := seam{c.Seconds, c.Score / 100}
			for i, s := range list {
				if d := s.at - c.Seconds; d > -2*cutroom.Second && d < 2*cutroom.Second {
					list[i].clear += 2 // heard and seen
					best.clear = 0
				}
			}
			if best.clear > 0 {
				list = append(list, best)
			}
		}
	}
	slices.SortFunc(list, func(a, b seam) int { return cmp.Compare(a.at, b.at) })
	return list
}

// divide chooses where chapters begin: the clearest seams first, none nearer to another,
// or to either end, than least, and at most so many that there are most chapters.
func divide(list []seam, length, least cutroom.Micros, most int) []cutroom.Micros {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b seam) int { return cmp.Compare(b.clear, a.clear) })
	begins := []cutroom.Micros{0}
	for _, s := range list {
		if len(begins) >= most {
			break
		}
		near := func(t cutroom.Micros) bool { return s.at-t < least && t-s.at < least }
		if s.at < least || length-s.at < least || slices.ContainsFunc(begins, near) {
			continue
		}
		begins = append(begins, s.at)
	}
	slices.Sort(begins)
	return begins
}

// chapters are marks as chapters that end where the next begins. What is out of order,
// twice, or outside of the recording is an error that names it.
func chapters(marks []edl.Mark, length cutroom.Micros) ([]ffmpeg.Chapter, error) {
	var list []ffmpeg.Chapter
	for i, m := range marks {
		end := length
		if i+1 < len(marks) {
			end = marks[i+1].Start
		}
		switch {
		case m.Start >= length:
			return nil, cutroom.Errorf(cutroom.Invalid, "the chapter %q begins at %s s, and the recording is %s s long", m.Title, m.Start, length).WithHint("give times within the recording")
		case end <= m.Start:
			return nil, cutroom.Errorf(cutroom.Invalid, "the chapter behind %q begins at %s s, not later", m.Title, end).WithHint("give the chapters in order, each at a time of its own")
		}
		list = append(list, ffmpeg.Chapter{StartSeconds: m.Start, EndSeconds: min(end, length), Title: strings.TrimSpace(m.Title)})
	}
	return list, nil
}

// numbered are chapters without titles of their own.
func numbered(begins []cutroom.Micros) []edl.Mark {
	var list []edl.Mark
	for i, t := range begins {
		list = append(list, edl.Mark{Start: t, Title: fmt.Sprintf("Chapter %d", i+1)})
	}
	return list
}

// described is a chapter list as video sites read it: it begins with 0:00, in whole
// seconds.
func described(list []ffmpeg.Chapter) string {
	var marks []edl.Mark
	if len(list) > 0 && list[0].StartSeconds >= cutroom.Second {
		marks = append(marks, edl.Mark{Title: "Start"})
	}
	for _, c := range list {
		marks = append(marks, edl.Mark{Start: c.StartSeconds / cutroom.Second * cutroom.Second, Title: ffmpeg.TagText(c.Title)})
	}
	return edl.FormatMarks(marks)
}
