package video

import (
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// ExtractFrames takes pictures out of a recording by their time.
var ExtractFrames = tool.Add(Family, tool.Spec[ExtractFramesInput, ExtractFramesOutput]{
	Name:        "video.extract_frames",
	Summary:     "Take frames out of a recording at given times",
	Description: "Get pictures of a recording at the times you name, or evenly, as JPEG files. Each carries the decoded time of the very frame that is on screen then. Pictures are upright, with square pixels and ordinary colours, never enlarged. The last frame can be asked for by the length of the recording.",
	Kind:        cutroom.Read,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     900 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	Formats:     mediaFormats,
	MaxFrames:   48,
	Examples: []ExtractFramesInput{
		{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: "talk.mp4"}, TimestampsSeconds: []cutroom.Micros{0, 12_500_000}, IntervalSeconds: 15, Width: 1280},
	},
	Plan:      planFrames,
	Interpret: keepFrames,
})

// ExtractFramesInput is the request.
type ExtractFramesInput struct {
	Source            cutroom.Source   `json:"source" doc:"The recording (kind local_file)."`
	TimestampsSeconds []cutroom.Micros `json:"timestamps_seconds,omitempty" min:"0" unit:"s" doc:"Times to take frames at; without any, one frame every interval_seconds."`
	IntervalSeconds   int              `json:"interval_seconds,omitzero" min:"1" max:"600" default:"15" unit:"s" doc:"Distance between frames when no times are given."`
	Width             int              `json:"width,omitzero" min:"160" max:"1920" default:"1280" unit:"px" doc:"Largest width; a smaller picture is not enlarged."`
	Mode              string           `json:"mode,omitempty" enum:"interval,even,scene,keyframe" default:"interval" since:"1.3" doc:"interval: every interval_seconds. even: max_frames frames spread evenly, the first and the last included. scene: where the picture changes, which takes one decode of the whole. keyframe: as even, but the key frame at or before each time, which is cheap."`
	Range
	FullSize bool   `json:"full_size,omitzero" since:"1.3" doc:"Also keep each frame at its full size, for reading small text."`
	Detail   Detail `json:"detail,omitempty" enum:"basic,full" default:"basic" since:"1.3" doc:"full adds what was asked for beside what was taken, and what was skipped."`
	Limits   Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses other kinds of source, contradictions and too many times.
func (in ExtractFramesInput) Validate() error {
	if err := localOnly(in.Source, "video.extract_frames"); err != nil {
		return err
	}
	if len(in.TimestampsSeconds) > 0 && (in.Mode == "even" || in.Mode == "scene") {
		return cutroom.Errorf(cutroom.Invalid, "mode %s and timestamps_seconds exclude each other", in.Mode).WithHint("leave one of them out")
	}
	if most := in.Limits.MaxFrames; most > 0 && len(in.TimestampsSeconds) > most {
		return cutroom.Errorf(cutroom.Limit, "%d times are more than the limit of %d frames", len(in.TimestampsSeconds), most).
			WithHint("raise limits.max_frames (--max-frames), at most 240, or ask for fewer")
	}
	return in.Range.Check()
}

// Bounds are the limits of the call.
func (in ExtractFramesInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

func (in ExtractFramesInput) extended() bool {
	return in.Mode != "interval" || in.Range != (Range{}) || in.FullSize || in.Detail == full
}

// ExtractFramesOutput is the answer.
type ExtractFramesOutput struct {
	cutroom.Output
	Frames     []cutroom.ArtifactRef `json:"frames" doc:"The frames, in order of time; timestamp_seconds is the decoded time."`
	FullFrames []cutroom.ArtifactRef `json:"full_frames,omitempty" since:"1.3" doc:"The same frames at full size; a frame that is not smaller is not kept twice."`
	Taken      []TakenFrame          `json:"taken,omitempty" since:"1.3" doc:"What was asked for beside what was taken."`
	Skipped    []SkippedFrame        `json:"skipped,omitempty" since:"1.3" doc:"Times that gave no frame of their own."`
}

// TakenFrame relates a frame to its request.
type TakenFrame struct {
	RequestedSeconds cutroom.Micros `json:"requested_seconds" unit:"s" doc:"The time that was asked for."`
	TimestampSeconds cutroom.Micros `json:"timestamp_seconds" unit:"s" doc:"Decoded time of the frame."`
	PTSTicks         int64          `json:"pts_ticks" doc:"The same as an integer of the stream's time base, on the file's own timeline."`
	Width            int            `json:"width" min:"1" unit:"px" doc:"Width of the picture."`
	Height           int            `json:"height" min:"1" unit:"px" doc:"Height of the picture."`
	FullWidth        int            `json:"full_width,omitzero" min:"1" unit:"px" doc:"Width at full size."`
	FullHeight       int            `json:"full_height,omitzero" min:"1" unit:"px" doc:"Height at full size."`
	Notes            []string       `json:"notes,omitempty" doc:"What to know of the picture."`
}

// SkippedFrame is a time without a frame.
type SkippedFrame struct {
	RequestedSeconds cutroom.Micros `json:"requested_seconds" unit:"s" doc:"The time that was asked for."`
	Reason           string         `json:"reason" doc:"Why it gave none."`
}

// framing is the state of a plan: the job, and whether the limit cut it short.
type framing struct {
	job *ffmpeg.FrameJob
	cut string
}

func planFrames(f tool.Facts, in ExtractFramesInput) (tool.Plan, error) {
	file, _ := f.First()
	start, end, err := in.Range.within(file.Media.DurationSeconds)
	if err != nil {
		return tool.Plan{}, err
	}
	st := &framing{}
	take := func(times []cutroom.Micros) (tool.Plan, error) {
		small, err := file.Media.VideoStream()
		if err != nil {
			return tool.Plan{}, err
		}
		st.job, err = ffmpeg.NewFrameJob(file.Index, file.Format, file.Media, &f.Abilities, ffmpeg.FrameOptions{
			Times: times, Width: in.Width, Full: in.FullSize && small.Video.DisplayWidth > in.Width, Keyframes: in.Mode == "keyframe",
		})
		if err != nil {
			return tool.Plan{}, err
		}
		return st.next()
	}
	if in.Mode == "scene" {
		return planScenes(f, file, in, start, end, take)
	}
	return take(in.times(start, end, st))
}

// planScenes looks at the whole range once and takes the frames that show the most.
func planScenes(f tool.Facts, file tool.Input, in ExtractFramesInput, start, end cutroom.Micros, take func([]cutroom.Micros) (tool.Plan, error)) (tool.Plan, error) {
	job, err := ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{Scenes: true, Samples: true, Start: start, End: end, Abilities: &f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	cmd, _ := job.Next()
	return tool.Plan{Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
		res, _ := r.Step(cmd.Step)
		if err := job.Feed(res); err != nil {
			return tool.Plan{}, err
		}
		choose := evidence.ChooseInput{Start: start, End: end, Max: in.Limits.MaxFrames}
		if v := job.Signals().Video; v != nil {
			choose.End = min(end, v.LastSeconds)
			for _, c := range v.Changes {
				choose.Cuts = append(choose.Cuts, evidence.Cut{At: c.Seconds, Score: c.Score})
			}
			for i := range v.Samples {
				choose.Samples = append(choose.Samples, evidence.Sample{At: v.Samples[i].Seconds, Grid: v.Samples[i].Blocks[:]})
			}
		}
		var times []cutroom.Micros
		for _, c := range evidence.Choose(choose).Frames {
			times = append(times, c.At)
		}
		return take(times)
	}}, nil
}

// times are the times to take frames at, sorted and bounded.
func (in ExtractFramesInput) times(start, end cutroom.Micros, st *framing) []cutroom.Micros {
	most := max(1, in.Limits.MaxFrames)
	if len(in.TimestampsSeconds) > 0 {
		return in.TimestampsSeconds
	}
	var times []cutroom.Micros
	if in.Mode != "interval" {
		for i := range most {
			t := start
			if most > 1 {
				t += (end - start) * cutroom.Micros(i) / cutroom.Micros(most-1)
			}
			times = append(times, t)
		}
		return slices.Compact(times)
	}
	step := cutroom.Micros(in.IntervalSeconds) * cutroom.Second
	for t := start; t < end || t == start; t += step {
		if len(times) == most {
			st.cut = fmt.Sprintf("the limit of %d frames was reached at %s s of %s s", most, t, end)
			break
		}
		times = append(times, t)
	}
	return times
}

// next plans the job's next run. The runs are few, but their number is known only
// by what they find.
func (st *framing) next() (tool.Plan, error) {
	cmd, ok := st.job.Next()
	if !ok {
		return tool.Plan{State: st}, nil
	}
	return tool.Plan{
		State: st, Steps: []argv.Command{cmd},
		Then: func(r tool.Results) (tool.Plan, error) {
			res, _ := r.Step(cmd.Step)
			if err := st.job.Feed(res); err != nil {
				return tool.Plan{}, err
			}
			return st.next()
		},
	}, nil
}

func keepFrames(_ tool.Facts, in ExtractFramesInput, r tool.Results) (ExtractFramesOutput, error) {
	out := ExtractFramesOutput{Frames: []cutroom.ArtifactRef{}}
	st := r.State().(*framing)
	frames, skipped := st.job.Frames()
	slices.SortStableFunc(frames, func(a, b ffmpeg.Frame) int { return int(max(-1, min(1, a.Time-b.Time))) })
	unwritten := 0
	for _, f := range frames {
		err := out.keep(r, f)
		if cutroom.AsError(err) != nil && cutroom.AsError(err).Code == cutroom.NotFound {
			// The frame was decoded, but its encoder refused it: a colour profile too
			// large for a JPEG file, for one.
			skipped = append(skipped, ffmpeg.SkippedFrame{Requested: f.Requested, Reason: "ffmpeg decoded it but could not write it as JPEG"})
			unwritten++
			continue
		}
		if err != nil {
			return out, err
		}
	}
	for _, s := range skipped {
		out.Skipped = append(out.Skipped, SkippedFrame{s.Requested, s.Reason})
		out.AddReason(fmt.Sprintf("no frame for %s s: %s", s.Requested, s.Reason))
	}
	if len(frames) > 0 && len(frames) == unwritten {
		return out, cutroom.Errorf(cutroom.ToolFailed, "ffmpeg decoded the frames but could not write them as JPEG").
			WithHint("convert the file to another format without its colour profile and other metadata, then use that")
	}
	if len(frames) == 0 {
		return out, cutroom.Errorf(cutroom.UnreadableMedia, "no frame of the video can be decoded").
			WithHint("the picture stream is damaged; copy or download the file again")
	}
	if st.cut != "" {
		out.AddReason(st.cut)
	}
	if !in.extended() {
		out.Taken, out.Skipped = nil, nil
	}
	return out, nil
}

func (out *ExtractFramesOutput) keep(r tool.Results, f ffmpeg.Frame) error {
	at := f.Time
	ref, err := r.Keep(f.File, "image/jpeg", &at)
	if err != nil {
		return err
	}
	out.Frames = append(out.Frames, ref)
	if f.FullFile != "" {
		big, err := r.Keep(f.FullFile, "image/jpeg", &at)
		if err != nil {
			return err
		}
		out.FullFrames = append(out.FullFrames, big)
	}
	out.Taken = append(out.Taken, TakenFrame{
		RequestedSeconds: f.Requested, TimestampSeconds: at, PTSTicks: int64(f.PTS),
		Width: f.Width, Height: f.Height, FullWidth: f.FullWidth, FullHeight: f.FullHeight, Notes: f.Notes,
	})
	return nil
}
