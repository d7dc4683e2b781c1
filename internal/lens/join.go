package lens

import (
	"strings"

	"cutroom"
)

// Join puts findings of parts of one medium on its one time axis. What neighbouring parts
// say twice, because they overlap or show the same, is kept once.
func Join(parts ...Findings) Findings {
	out := Findings{Timeline: []Moment{}, Transcript: []Line{}, Regions: []Region{}}
	var summaries []string
	for _, p := range parts {
		out.Timeline = append(out.Timeline, p.Timeline...)
		out.Transcript = append(out.Transcript, p.Transcript...)
		out.Regions = append(out.Regions, p.Regions...)
		if p.Summary != "" && (len(summaries) == 0 || summaries[len(summaries)-1] != p.Summary) {
			summaries = append(summaries, p.Summary)
		}
	}
	out.Summary = cut(strings.Join(summaries, "\n"), 2*mostText)
	out.sort()
	out.Timeline = merge(out.Timeline)
	return out
}

// merge makes one of neighbouring observations that say the same.
func merge(list []Moment) []Moment {
	out := list[:0]
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].Text == m.Text && out[n-1].Uncertain == m.Uncertain && out[n-1].Confidence == m.Confidence {
			until := m.Start
			if m.End != nil {
				until = *m.End
			}
			if last := out[n-1].End; last == nil || *last < until {
				out[n-1].End = &until
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// Part is what was heard in one part of a recording.
type Part struct {
	Start, End cutroom.Micros // of the part, in the recording
	Lines      []Line         // on the recording's axis
}

// JoinSpeech puts the lines of overlapping parts together. Where two parts overlap, each
// counts up to the middle of the overlap: a line belongs to the part in which it begins.
func JoinSpeech(parts []Part) []Line {
	out := []Line{}
	for i, p := range parts {
		from, to := p.Start, p.End
		if i > 0 && parts[i-1].End > p.Start {
			from = p.Start + (parts[i-1].End-p.Start)/2
		}
		if i+1 < len(parts) && parts[i+1].Start < p.End {
			to = parts[i+1].Start + (p.End-parts[i+1].Start)/2
		}
		for _, l := range p.Lines {
			first, last := i == 0, i+1 == len(parts)
			if (first || l.Start >= from) && (last || l.Start < to) {
				out = append(out, l)
			}
		}
	}
	f := Findings{Transcript: out}
	f.sort()
	return f.Transcript
}
