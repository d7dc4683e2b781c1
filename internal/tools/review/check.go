package review

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/platform"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
	"cutroom/internal/verdict"
)

// Check holds a file against what a platform asks.
var Check = tool.Add(Family, tool.Spec[CheckInput, CheckOutput]{
	Name:        "review.check",
	Summary:     "Check a file against what a platform asks, row by row",
	Description: "Check a finished file before it is uploaded: container, codec, profile, pixel format, colour tags, size, shape, rate, length, file size, sound, loudness and true peak, whether picture and sound begin and end together, and whether all of it decodes. Each row is PASS, WARN or FAIL with its number, its limit and what to do. Rows of kind format are faults to mend; rows of kind judgement are for the user to decide. The file is decoded once; an earlier measurement of it is used again. ok is false when any row failed.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Short:       "check",
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe"}},
	Calls:       []string{"measure.signals", "video.extract_frames", "video.ocr_frames"},
	Examples:    []CheckInput{{Input: "talk_reels.mp4", Platform: "reels", Content: true}, {Input: "episode.mp3", Platform: "podcast"}},
	Compose:     check,
})

// CheckInput is the request.
type CheckInput struct {
	Input       cutroom.InPath `json:"input" doc:"The file: a video, or sound alone."`
	Platform    string         `json:"platform,omitempty" max:"40" doc:"Where it goes: tiktok, reels, shorts, youtube, x, linkedin, facebook, podcast, broadcast or custom. Without it youtube is assumed, and judgements are warnings at most."`
	MaxDuration cutroom.Micros `json:"max_duration,omitzero" min:"0" unit:"s" doc:"Longest that is allowed, in place of the platform's own limit."`
	Aspect      []string       `json:"aspect,omitempty" items:"..16" max:"80" doc:"Shapes that are allowed, such as 9:16, in place of the platform's own."`
	LUFS        *float64       `json:"lufs,omitempty" min:"-70" max:"-5" unit:"LUFS" doc:"Loudness that is wanted, in place of the platform's own."`
	TP          *float64       `json:"tp,omitempty" min:"-20" max:"0" unit:"dBTP" doc:"Highest true peak that is allowed, in place of the platform's own."`
	MaxMB       float64        `json:"max_mb,omitzero" min:"0" unit:"MB" doc:"Largest file that is allowed, in millions of bytes, in place of the platform's own limit."`
	NoLoudness  bool           `json:"no_loudness,omitempty" doc:"Do not judge loudness and true peak."`
	Content     bool           `json:"content,omitempty" doc:"Also judge how much of it is black, frozen or silent."`
	Captions    bool           `json:"captions,omitempty" doc:"Also read the text that is burned into eight frames, and judge whether the platform draws its controls over it."`
	Limits      measure.Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses an unknown platform and what is no aspect.
func (in CheckInput) Validate() error {
	_, err := in.target()
	return err
}

// Bounds are the limits of the call.
func (in CheckInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// target is what the file is held against.
func (in CheckInput) target() (verdict.Target, error) {
	t := verdict.Target{
		Assumed: in.Platform == "", MaxLength: in.MaxDuration, LUFS: in.LUFS, TruePeak: in.TP,
		MaxBytes: int64(in.MaxMB * 1e6), NoLoudness: in.NoLoudness, Content: in.Content,
	}
	name := in.Platform
	if name == "" {
		name = "youtube"
	}
	var err error
	if t.Spec, err = platform.Find(strings.ToLower(name)); err != nil {
		return t, err
	}
	for _, list := range in.Aspect {
		for text := range strings.SplitSeq(list, ",") {
			var r platform.Ratio
			if err := r.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
				return t, cutroom.Errorf(cutroom.Invalid, "aspect: %v", err)
			}
			t.Aspects = append(t.Aspects, r)
		}
	}
	return t, nil
}

// CheckOutput is the answer.
type CheckOutput struct {
	tool.Made
	Platform string        `json:"platform" doc:"What the file was held against."`
	Assumed  bool          `json:"assumed" doc:"Nobody named the platform: judgements warn instead of failing."`
	OK       bool          `json:"ok" doc:"No row failed."`
	Failures int           `json:"failed" min:"0" doc:"How many rows failed."`
	Warnings int           `json:"warnings" min:"0" doc:"How many rows warn."`
	Checks   []verdict.Row `json:"checks" doc:"The rows."`
}

// Failed says that the file is not what the platform asks for.
func (o *CheckOutput) Failed() bool { return !o.OK }

func check(ctx context.Context, env tool.Env, in CheckInput) (CheckOutput, error) {
	out := CheckOutput{Assumed: in.Platform == ""}
	t, err := in.target()
	if err != nil {
		return out, err
	}
	out.Platform = t.Spec.Name
	file, _ := env.Facts().First()
	d := file.Media
	if v := d.FirstVideo(); len(d.AudioStreams()) == 0 && (v == nil || v.Video.StillImage) {
		return out, cutroom.Errorf(cutroom.Invalid, "the file has neither moving pictures nor sound to check").WithHint("give a video or a recording; review.look shows a picture")
	}
	f := verdict.File{Document: d, Format: file.Format, Head: file.Head}
	r, err := env.Call(ctx, "measure.signals", measure.SignalsInput{Input: in.Input, Limits: in.Limits})
	switch e := cutroom.AsError(err); {
	case err == nil:
		s := r.Output.(*measure.SignalsOutput)
		f.Signals, f.Problems = &s.Signals, s.PartialReasons
	case e.Code == cutroom.UnreadableMedia: // a verdict on the file, not on the call
		f.Problems = []string{e.Msg}
	default:
		return out, err
	}
	out.Checks = verdict.Judge(f, t)
	if in.Captions && d.FirstVideo() != nil {
		row, err := captions(ctx, env, in, t)
		if err != nil {
			return out, err
		}
		out.Checks = append(out.Checks, row)
	}
	out.Failures, out.Warnings = verdict.Count(out.Checks)
	out.OK = out.Failures == 0
	return out, nil
}

// Show is the check as a model reads it: the verdict, then the rows that did not pass,
// then the others in short.
func (o *CheckOutput) Show(room tool.Room) tool.Showing {
	head := fmt.Sprintf("%s: ", o.Platform)
	switch {
	case !o.OK:
		head += fmt.Sprintf("NOT OK, %d of %d rows failed, %d warn", o.Failures, len(o.Checks), o.Warnings)
	case o.Warnings > 0:
		head += fmt.Sprintf("ok, %d of %d rows warn", o.Warnings, len(o.Checks))
	default:
		head += fmt.Sprintf("ok, all %d rows pass", len(o.Checks))
	}
	if o.Assumed {
		head += " (nobody named the platform)"
	}
	lines := []string{head}
	for _, status := range []verdict.Status{verdict.Fail, verdict.Warn, verdict.Pass} {
		for _, r := range o.Checks {
			if r.Status == status {
				lines = append(lines, r.String())
			}
		}
	}
	text, left := "", 0
	for i, l := range lines {
		if len(text)+len(l) > room.Text-80 {
			left = len(lines) - i
			break
		}
		text += l + "\n"
	}
	if left > 0 {
		text += fmt.Sprintf("Left out here: %d rows that pass; the structured answer holds them.\n", left)
	}
	return tool.Showing{Text: text}
}
