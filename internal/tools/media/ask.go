package media

import (
	"context"
	"encoding/json"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
)

// Ask answers a question from what a watch recorded.
var Ask = tool.Add(Family, tool.Spec[AskInput, AskResult]{
	Name:        "media.ask",
	Summary:     "Find the recorded evidence that bears on a question",
	Description: "Ask about a recording that was watched: the recorded evidence is ranked by how it bears on the question, each piece with its time and the reason it was kept. Nothing is computed anew and nothing is made up: when nothing matches, the answer is empty and says so.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Short:       "ask",
	Timeout:     60 * time.Second,
	Examples:    []AskInput{{Run: cutroom.Ref{Run: "0123456789abcdef"}, Question: "when does the error appear?"}},
	Run:         ask,
})

// AskInput is the request.
type AskInput struct {
	Run      cutroom.Ref `json:"run" doc:"The watch to ask about: its run_id."`
	Question string      `json:"question" min:"1" max:"2000" doc:"What you want to know. Times in it count: \"what happens at 0:40?\""`
	Max      int         `json:"max,omitzero" min:"1" max:"100" default:"12" doc:"Most pieces of evidence."`
}

// AskResult is the answer.
type AskResult struct {
	cutroom.Output
	Question    string                `json:"question" doc:"The question."`
	Relevant    []evidence.Ranked     `json:"relevant" doc:"The evidence, most relevant first."`
	Frames      []cutroom.ArtifactRef `json:"frames" doc:"The frames nearest in time to that evidence."`
	Limitations []string              `json:"limitations" doc:"What the evidence does not show."`
}

func ask(ctx context.Context, env tool.Env, in AskInput) (AskResult, error) {
	out := AskResult{Question: in.Question, Relevant: []evidence.Ranked{}, Frames: []cutroom.ArtifactRef{}, Limitations: []string{}}
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
	var length cutroom.Micros
	if w.DurationSeconds != nil {
		length = *w.DurationSeconds
	}
	out.Relevant = append(out.Relevant, evidence.Rank(in.Question, events, evidence.RankOptions{Max: in.Max, Duration: length})...)
	out.Frames = append(out.Frames, near(w.Frames, out.Relevant)...)
	out.Limitations = append(out.Limitations, w.Limitations...)
	if len(out.Relevant) == 0 {
		out.Limitations = append(out.Limitations, "nothing that was found bears on the question")
	}
	return out, nil
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

// near returns the frame nearest in time to each piece of evidence, once.
func near(frames []cutroom.ArtifactRef, ranked []evidence.Ranked) []cutroom.ArtifactRef {
	var list []cutroom.ArtifactRef
	taken := map[string]bool{}
	for _, r := range ranked {
		best, at := -1, cutroom.MaxMicros
		for i, f := range frames {
			if f.TimestampSeconds == nil {
				continue
			}
			if d := max(*f.TimestampSeconds-r.Event.TimestampSeconds, r.Event.TimestampSeconds-*f.TimestampSeconds); d < at {
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
