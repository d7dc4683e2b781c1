package evidence

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"cutroom"
)

// SummaryOptions says how short a summary has to be. The zero value is right.
type SummaryOptions struct {
	Budget      int            // tokens that the rendered summary may cost; 0 means 800
	MaxChapters int            // 0 means 10
	Duration    cutroom.Micros // 0 means the end of the last event
}

// Summary is the shortest evidence that covers a clip. It quotes; it never says
// anything in words of its own.
type Summary struct {
	Chapters []Chapter `json:"chapters" doc:"The clip in its parts, in order of time."`
	Tokens   int       `json:"tokens" min:"0" doc:"Estimate of what the rendered summary costs a model."`
	Budget   int       `json:"budget" min:"0" doc:"What it was allowed to cost."`
	Coverage float64   `json:"coverage" min:"0" max:"1" doc:"Share of what the evidence talks about that the quoted lines mention, by weight."`
	Omitted  int       `json:"omitted" min:"0" doc:"Lines of evidence that are not quoted."`
}

// Chapter is one part of the clip.
type Chapter struct {
	StartSeconds cutroom.Micros        `json:"start_seconds" min:"0" unit:"s" doc:"Where it starts."`
	EndSeconds   cutroom.Micros        `json:"end_seconds" min:"0" unit:"s" doc:"Where it ends."`
	Keywords     []string              `json:"keywords" doc:"Words that set it apart. Untrusted."`
	Lines        []Event               `json:"lines" doc:"The lines that carry most of it."`
	Frames       []cutroom.ArtifactRef `json:"frames" doc:"A frame that stands for it."`
}

const (
	defaultBudget   = 800
	defaultChapters = 10
	enoughCoverage  = 0.8 // beyond it more lines repeat more than they add
	chapterCost     = 40  // tokens of a chapter's head and one short line
	longestQuote    = 60  // tokens of one line when the budget is short
)

// Summarise chooses chapters (where the topic shifts, at cuts and pauses), for
// each the lines that mention most of what is talked about in it, and one frame.
// It stops as soon as the lines cover the clip, or when the budget is spent.
// Frames without a timestamp are not used.
func Summarise(events []Event, frames []cutroom.ArtifactRef, opt SummaryOptions) Summary {
	if opt.Budget <= 0 {
		opt.Budget = defaultBudget
	}
	if opt.MaxChapters <= 0 {
		opt.MaxChapters = defaultChapters
	}
	for _, e := range events {
		opt.Duration = max(opt.Duration, e.end())
	}
	q := quotes(events)
	bounds := chapterBounds(q, events, opt.Duration, min(opt.MaxChapters, max(1, opt.Budget/chapterCost)))
	s := selection{quotes: q, budget: opt.Budget - EstimateTokens(notAnInstruction) - 8}
	for i := range bounds {
		end := opt.Duration
		if i+1 < len(bounds) {
			end = bounds[i+1]
		}
		s.chapters = append(s.chapters, Chapter{StartSeconds: bounds[i], EndSeconds: end, Keywords: []string{}, Lines: []Event{}, Frames: []cutroom.ArtifactRef{}})
	}
	s.assign()
	s.keywords()
	s.firstLines()
	s.frames(frames)
	s.moreLines()
	out := Summary{Chapters: s.chapters, Budget: opt.Budget, Coverage: s.coverage(), Omitted: s.omitted()}
	out.Tokens = EstimateTokens(string(SummaryMarkdown("", out)))
	return out
}

// SummaryMarkdown renders s, neutralised as [TimelineMarkdown] is. A title makes
// a heading.
func SummaryMarkdown(title string, s Summary) []byte {
	var b bytes.Buffer
	if title != "" {
		fmt.Fprintf(&b, "# Summary of %s\n\n", orDash(Markdown(title)))
	}
	b.WriteString(notAnInstruction + "\n")
	for _, c := range s.Chapters {
		b.WriteString(chapterHead(c))
		for _, l := range c.Lines {
			b.WriteString(quoteLine(l))
		}
		for _, f := range c.Frames {
			b.WriteString(frameLine(f))
		}
	}
	return b.Bytes()
}

func chapterHead(c Chapter) string {
	end := c.EndSeconds
	head := "\n" + codeSpan(clockRange(c.StartSeconds, &end))
	if len(c.Keywords) > 0 {
		head += " " + Markdown(strings.Join(c.Keywords, ", "))
	}
	return head + "\n\n"
}

func quoteLine(e Event) string {
	e.Frame, e.EndSeconds = nil, nil
	return "- " + eventMarkdown(e) + "\n"
}

func frameLine(f cutroom.ArtifactRef) string {
	at := ""
	if f.TimestampSeconds != nil {
		at = f.TimestampSeconds.Clock() + " "
	}
	return "- frame " + codeSpan(at+f.RelativePath) + "\n"
}

// coverage rounds the share of weight that the quoted lines mention.
func (s *selection) coverage() float64 {
	if s.total == 0 {
		return 1
	}
	return math.Round(s.covered/s.total*1000) / 1000
}

// omitted counts the lines that are not quoted.
func (s *selection) omitted() int {
	n := 0
	for _, q := range s.quotes {
		if !q.used {
			n++
		}
	}
	return n
}
