package measure

import (
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// SilenceApply takes dead air out.
var SilenceApply = tool.Add(Family, tool.Spec[SilenceApplyInput, SilenceApplyOutput]{
	Name:        "measure.silence_apply",
	Summary:     "Cut silences and filler words out of a recording",
	Description: "Take dead air out of a recording, with the same rules as measure.silence: picture and all sound tracks are cut at the same frames, encoded once, and the written file is decoded and compared with the plan. Answers an edit map, by which captions and chapters can follow (cutroom edl remap).",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     6 * time.Hour,
	Needs:       quietNeeds,
	CheckWith:   []string{"measure.probe"},
	Examples:    []SilenceApplyInput{{Input: "talk.mp4", Writing: tool.Writing{Output: "talk_tight.mp4"}}},
	Names: func(in SilenceApplyInput) SilenceApplyInput {
		if in.Output == "" {
			in.Output = tool.NameAfter(in.Input, "tight", "")
		}
		return in
	},
	Plan:      planSilenceApply,
	Interpret: readSilenceApply,
})

// SilenceApplyInput is the request.
type SilenceApplyInput struct {
	Input cutroom.InPath `json:"input" doc:"The recording."`
	tool.Writing
	EDL cutroom.OutPath `json:"edl,omitempty" doc:"Write the parts that stay to a cut list, too: one START-END per line."`
	QuietOptions
}

// Validate refuses options that do not go together.
func (in SilenceApplyInput) Validate() error { return in.Check() }

// SilenceApplyOutput is the answer.
type SilenceApplyOutput struct {
	tool.Made
	Silences
	List *cutroom.ArtifactRef `json:"cut_list,omitempty" doc:"The cut list."`
}

// tightening is the state of a plan that writes.
type tightening struct {
	*quieting
	render *graph.Render
}

func planSilenceApply(f tool.Facts, in SilenceApplyInput) (tool.Plan, error) {
	target, err := tool.Target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	plan, err := planQuiet(f, in.Input, in.QuietOptions, func(_ tool.Results, q *quieting) (tool.Plan, error) {
		keep := q.tighten().Keep
		r, err := q.cut(f, keep, target)
		if err != nil {
			return tool.Plan{}, err
		}
		plan, err := tool.Follow(r, tightening{q, r}, nil)
		if in.EDL != "" && err == nil {
			plan.Steps[0].Files = append(plan.Steps[0].Files, argv.File{Name: cutList, Data: []byte(edl.FormatCuts(keep))})
		}
		return plan, err
	})
	if err != nil {
		return plan, err
	}
	// What stays is not known yet: the whole stands for it.
	q := plan.State.(*quieting)
	if r, err := q.cut(f, []edl.Range{{}}, target); err == nil {
		for _, c := range r.Planned() {
			plan.Later = append(plan.Later, measuredParts(c))
		}
	} else {
		return plan, err
	}
	return plan, nil
}

const cutList = "keep.txt"

// cut is the render of what stays.
func (q *quieting) cut(f tool.Facts, keep []edl.Range, target graph.Target) (*graph.Render, error) {
	switch {
	case len(keep) == 0:
		return nil, cutroom.Errorf(cutroom.Invalid, "nothing would stay: it is silent throughout").
			WithHint("choose a lower threshold than %g, or another audio_stream", q.options.Threshold)
	case len(keep) > q.options.MaxCuts:
		return nil, cutroom.Errorf(cutroom.Limit, "%d parts would be kept, more than max_cuts allows (%d)", len(keep), q.options.MaxCuts).
			WithHint("choose a lower threshold or a longer min_silence, or raise max_cuts")
	}
	g := graph.Graph{Sources: []graph.Source{q.file.AsSource()}, Target: target, Sound: &graph.Sound{}}
	g.Keep = graph.Keep{Subtitles: true, Chapters: true, Cover: true}
	for _, r := range keep {
		g.Clips = append(g.Clips, graph.Clip{Start: r.Start, End: r.End})
	}
	if v := q.file.Media.FirstVideo(); v != nil && !v.Video.StillImage && graph.HoldsPicture(target.Container) {
		g.Picture = &graph.Picture{}
	}
	return graph.NewRender(g, f.Abilities)
}

// measuredParts shows a run whose filters depend on what is measured.
func measuredParts(c argv.Command) argv.Command {
	c.Args = slices.Clone(c.Args)
	for i, a := range c.Args {
		if _, ok := a.(argv.Graph); ok {
			c.Args[i] = argv.Hole("the parts that stay")
		}
	}
	return c
}

func readSilenceApply(_ tool.Facts, in SilenceApplyInput, r tool.Results) (SilenceApplyOutput, error) {
	var out SilenceApplyOutput
	st := r.State().(tightening)
	target, err := tool.Target(in.Output)
	if err != nil {
		return out, err
	}
	if err := out.Rendered(r, st.render, target); err != nil {
		return out, err
	}
	out.Silences = silenceOf(st.quieting)
	if in.EDL != "" {
		ref, err := r.Deliver(cutList, "text/plain", "edl")
		if err != nil {
			return out, err
		}
		out.List = &ref
	}
	return out, nil
}

// Brief says what was taken out.
func (o *SilenceApplyOutput) Brief() []string {
	lines := []string{fmt.Sprintf("removed   %s of %s s, below %g dBFS", o.Removed, o.Input, o.Threshold)}
	for i, k := range o.Keep {
		if i == 10 {
			return append(lines, fmt.Sprintf("kept      and %d more parts, with --json", len(o.Keep)-i))
		}
		lines = append(lines, fmt.Sprintf("kept      %s – %s s", k[0], k[1]))
	}
	return lines
}
