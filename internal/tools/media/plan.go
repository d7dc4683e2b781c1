package media

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// Plan says what reading a file would send where.
var Plan = tool.Add(Family, tool.Spec[PlanInput, PlanOutput]{
	Name:        "media.plan",
	Summary:     "Say what reading a file would send where, and send nothing",
	Description: "Find out before a file is read by a model: who would be asked in which order, what would be sent where, about how many bytes, tokens and what cost, and what stays on this machine. Nothing is sent, and no service is asked anything.",
	Kind:        cutroom.Read,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Timeout:     5 * time.Minute,
	Needs:       tool.Needs{Readers: true},
	Calls:       []string{"video.probe"},
	Formats:     append(append(readFormats(lens.Video), readFormats(lens.Audio)...), readFormats(lens.Image)...),
	Examples:    []PlanInput{{Source: "talk.mp4"}},
	Probes:      func(tool.Facts, PlanInput) bool { return false },
	Compose:     plan,
})

// PlanInput is the request.
type PlanInput struct {
	Source cutroom.InPath `json:"source" doc:"The file."`
	video.Range
	MaxFrames int  `json:"max_frames,omitzero" min:"1" max:"48" default:"16" doc:"Most frames, where frames of a video are read."`
	LocalOnly bool `json:"local_only,omitempty" doc:"As if the call were to stay on this machine."`
}

// Validate checks the range.
func (in PlanInput) Validate() error { return in.Range.Check() }

// PlanOutput is the answer.
type PlanOutput struct {
	cutroom.Output
	lens.Outlook
}

// Transient: who rests, what is allowed and what it costs changes.
func (out *PlanOutput) Transient() bool { return true }

func plan(ctx context.Context, env tool.Env, in PlanInput) (PlanOutput, error) {
	out := PlanOutput{}
	out.PartialReasons = []string{}
	file, ok := env.Facts().First()
	medium, known := lens.MediumOf(file.Name)
	if !ok || !known {
		return out, cutroom.Errorf(cutroom.Invalid, "%q is no video, recording or picture by its suffix", in.Source).WithHint("`cutroom tool show media.plan` lists the suffixes")
	}
	r := newReading(ctx, env, medium, asked{source: in.Source, Range: in.Range, maxFrames: in.MaxFrames, localOnly: in.LocalOnly})
	if err := r.open(); err != nil {
		return out, err
	}
	out.Source, out.Kind, out.Verdict, out.SizeBytes, out.DurationSeconds = file.Locator, medium, r.row.Verdict, file.Size, r.out.Meta.Budget.DurationSeconds
	hops, _ := lens.Order(r.row.Chain, r.known(medium))
	shape := lens.Shape{Medium: medium, Sizes: r.set.Sizes, Facts: r.facts, Frames: in.MaxFrames}
	consent := r.env.Readers().Consent()
	if in.LocalOnly {
		consent = lens.Forbidden
	}
	var apart lens.Apart
	if medium == lens.Video {
		apart = lens.Apart{Frames: r.known(lens.Image), Heard: r.doc != nil && len(r.doc.AudioStreams()) > 0}
		if apart.Heard {
			apart.Sound = r.known(lens.Audio)
		}
	}
	out.Legs(hops, shape, r.row.Verdict, consent, apart, r.missing)
	out.Warnings = append(out.Warnings, r.out.Meta.Warnings...)
	if a := r.out.Meta.Attempts; len(a) > 0 {
		out.Warnings = append(out.Warnings, "ffprobe is not pinned: how long the file is is not known")
	}
	return out, nil
}

// known are the readers that the config names, and the services that would be asked for
// more; none is.
func (r *reading) known(m lens.Medium) []lens.Reader {
	list, warnings := r.env.Readers().Known(m)
	r.warn(warnings...)
	return list
}

// missing says what this machine lacks for a step, "" when it has all.
func (r *reading) missing(h lens.Hop) string {
	if x := h.Reader; x != nil && x.Command > 0 && r.has(asrProgram(x.Command)) != "" {
		return "its program is not pinned: run `cutroom setup`"
	}
	switch h.Step {
	case lens.FrameRead, lens.Speech:
		if why := r.has("ffmpeg"); why != "" {
			return "ffmpeg is not pinned: run `cutroom setup`"
		}
		if r.has("ffprobe") != "" {
			return "ffprobe is not pinned: run `cutroom setup`"
		}
	}
	return ""
}
