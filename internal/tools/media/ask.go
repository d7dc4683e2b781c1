package media

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// Ask answers a question from what a watch recorded.
var Ask = tool.Add(Family, tool.Spec[AskInput, AskResult]{
	Name:        "media.ask",
	Summary:     "Find the recorded evidence that bears on a question",
	Description: "Find more in a recording that was watched: with a question, the recorded evidence that bears on it, each piece with its time and why; without one, the evidence of a stretch of time in order, page by page. Nothing is computed anew and nothing is made up: when nothing matches, the answer is empty and says so.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    2,
	Short:       "ask",
	Pictures:    true,
	Timeout:     60 * time.Second,
	Examples: []AskInput{
		{Run: cutroom.Ref{Run: "0123456789abcdef"}, Question: "when does the error appear?"},
		{Run: cutroom.Ref{Run: "0123456789abcdef"}, Range: video.Range{Start: 60 * cutroom.Second}, From: 100},
	},
	Run: ask,
})

// AskInput is the request.
type AskInput struct {
	Run      cutroom.Ref `json:"run" doc:"The watch to ask about: its run_id."`
	Question string      `json:"question,omitempty" cli:"place" max:"2000" doc:"What you want to know. Times in it count: \"what happens at 0:40?\" Without one the evidence is listed in order."`
	video.Range
	From int `json:"from,omitzero" min:"0" doc:"Without a question: number of the first piece to list, 0 being the first of the range; the answer's next is where it goes on."`
	Max  int `json:"max,omitzero" min:"1" max:"500" doc:"Most pieces of evidence; without it 12 for a question, 100 of a list."`
}

// Validate checks the range, and that from belongs to a list.
func (in AskInput) Validate() error {
	if in.Question != "" && in.From > 0 {
		return cutroom.Errorf(cutroom.Invalid, "from counts the pieces of a list; with a question they are ranked").
			WithHint("leave out question, or raise max")
	}
	return in.Range.Check()
}

// AskResult is the answer.
type AskResult struct {
	cutroom.Output
	Question    string                `json:"question" doc:"The question; empty for a list."`
	Relevant    []evidence.Ranked     `json:"relevant" doc:"With a question: the evidence, most relevant first."`
	Events      []evidence.Event      `json:"events,omitempty" doc:"Without a question: the evidence of the range, in order of time."`
	From        int                   `json:"from,omitempty" doc:"Number of the first listed piece."`
	Next        *int                  `json:"next,omitempty" doc:"Number that the list goes on at; absent at its end."`
	Total       int                   `json:"total" doc:"Pieces of evidence in the range."`
	Frames      []cutroom.ArtifactRef `json:"frames" doc:"The frames nearest in time to that evidence."`
	Sheets      []Sheet               `json:"sheets,omitempty" doc:"The contact sheets that those frames are on."`
	Limitations []string              `json:"limitations" doc:"What the evidence does not show."`
}

// Pieces of evidence that are answered when max says nothing.
const (
	mostAsked  = 12
	mostListed = 100
)

func ask(ctx context.Context, env tool.Env, in AskInput) (AskResult, error) {
	out := AskResult{Question: in.Question, From: in.From, Relevant: []evidence.Ranked{}, Frames: []cutroom.ArtifactRef{}, Limitations: []string{}}
	r, err := env.ReadResult(ctx, in.Run)
	if err != nil {
		return out, err
	}
	w, ok := r.Output.(*WatchResult)
	if !ok {
		return out, cutroom.Errorf(cutroom.Invalid, "the result %s is of %s, not of media.watch", r.Run.Short(), r.Tool).
			WithHint("give the run_id of a watch")
	}
	events, err := allEvents(ctx, env, w)
	if err != nil {
		return out, err
	}
	events = slices.DeleteFunc(events, func(e evidence.Event) bool { return !in.holds(e) })
	out.Total = len(events)
	out.Limitations = append(out.Limitations, w.Limitations...)
	if in.Question == "" {
		err := out.list(events, in, w)
		return out, err
	}
	var length cutroom.Micros
	if w.DurationSeconds != nil {
		length = *w.DurationSeconds
	}
	out.Relevant = append(out.Relevant, evidence.Rank(in.Question, events, evidence.RankOptions{Max: cmp.Or(in.Max, mostAsked), Duration: length})...)
	out.look(w, pieces(out.Relevant))
	if len(out.Relevant) == 0 {
		out.Limitations = append(out.Limitations, "nothing that was found bears on the question")
	}
	return out, nil
}

// holds says whether a piece of evidence lies in the range, at least in part. The
// range holds its start and not its end; a piece that ends where it starts is before.
func (in AskInput) holds(e evidence.Event) bool {
	begins := e.TimestampSeconds >= in.Start
	lasts := e.EndSeconds != nil && *e.EndSeconds > in.Start
	return (begins || lasts) && (in.End == nil || e.TimestampSeconds < *in.End)
}

// look adds the frames nearest to some evidence, and the sheets they are on.
func (out *AskResult) look(w *WatchResult, pieces []evidence.Event) {
	out.Frames = append(out.Frames, near(w.Frames, pieces)...)
	out.Sheets = holding(w.sheets(), out.Frames)
}

// list answers one page of the evidence in order. Pieces are counted, not timed, so
// that none is lost or repeated where several share a time.
func (out *AskResult) list(events []evidence.Event, in AskInput, w *WatchResult) error {
	if in.From > len(events) {
		return cutroom.Errorf(cutroom.Invalid, "from is %d, and there are %d pieces of evidence", in.From, len(events)).
			WithHint("use the answer's next, or leave from out")
	}
	end := min(len(events), in.From+cmp.Or(in.Max, mostListed))
	out.Events = events[in.From:end]
	if end < len(events) {
		out.Next = &end
	}
	out.look(w, out.Events)
	return nil
}

const maxTimeline = 64 << 20

// allEvents reads the whole timeline, of which a summary shows only the key part.
func allEvents(ctx context.Context, env tool.Env, w *WatchResult) ([]evidence.Event, error) {
	for _, a := range w.Artifacts {
		if a.MediaType != "application/json" {
			continue
		}
		data, err := env.ReadArtifact(ctx, a, maxTimeline)
		if err != nil {
			return nil, err
		}
		var t evidence.Timeline
		err = json.Unmarshal(data, &t)
		return t.Events, err
	}
	return w.Timeline, nil
}
