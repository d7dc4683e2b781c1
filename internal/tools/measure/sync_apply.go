package measure

import (
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// SyncApply writes a recording so that it lies on a reference's time.
var SyncApply = tool.Add(Family, tool.Spec[SyncApplyInput, SyncApplyOutput]{
	Name:        "measure.sync_apply",
	Summary:     "Write a recording aligned to another one, or put its sound under the other's picture",
	Description: "Measure how a second recording of the same event lies to a reference, then write it so that both play together from zero; or write the reference with the second's sound in place of its own. Clock drift is corrected when asked. Without a confident match nothing is written. The written file is measured against the reference again before it is published.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    2,
	Timeout:     2 * time.Hour,
	Exclusive:   [][]string{{"replace_audio", "trim_second"}},
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.sync", "measure.probe"},
	Examples: []SyncApplyInput{
		{Reference: "camera.mp4", Second: "recorder.wav", FixDrift: true},
		{Reference: "camera.mp4", Second: "recorder.wav", ReplaceAudio: true, FixDrift: true},
	},
	Names:     nameSynced,
	Plan:      planSyncApply,
	Interpret: readSyncApply,
})

// SyncApplyInput is the request.
type SyncApplyInput struct {
	Reference    cutroom.InPath `json:"reference" doc:"The recording whose time counts."`
	Second       cutroom.InPath `json:"second" doc:"The recording that is aligned to it."`
	ReplaceAudio bool           `json:"replace_audio,omitempty" doc:"Write the reference, its first sound replaced by the second's; its picture is copied. Excludes trim_second."`
	TrimSecond   bool           `json:"trim_second,omitempty" doc:"Write only what of the second both recorded. Without it the whole second is written from the reference's zero on: behind black and silence when it was started later. Excludes replace_audio."`
	FixDrift     bool           `json:"fix_drift,omitempty" doc:"Correct the second's clock by resampling its sound in an exact ratio; its picture follows."`
	Hearing
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in SyncApplyInput) Validate() error {
	if in.ReplaceAudio && in.TrimSecond {
		return cutroom.Errorf(cutroom.Invalid, "replace_audio and trim_second exclude each other").WithHint("choose one of them")
	}
	return nil
}

// SyncApplyOutput is the answer.
type SyncApplyOutput struct {
	tool.Made
	Reference string `json:"reference" doc:"The recording whose time counts."`
	Second    string `json:"second" doc:"The recording that was aligned to it."`
	Alignment
	Begins cutroom.Micros `json:"begins_at_reference_seconds" min:"0" unit:"s" doc:"Where on the reference's time the written file begins: 0, unless the second was trimmed."`
	Fixed  float64        `json:"fixed_drift_ppm" unit:"ppm" doc:"The drift that was corrected."`
}

// nameSynced names the output after the file whose content it is.
func nameSynced(in SyncApplyInput) SyncApplyInput {
	if in.Output != "" {
		return in
	}
	file, what := in.Second, "synced"
	if in.ReplaceAudio {
		file, what = in.Reference, "replaced"
	}
	in.Output = tool.NameAfter(file, what, "")
	return in
}

func planSyncApply(f tool.Facts, in SyncApplyInput) (tool.Plan, error) {
	script, err := tool.NewAligning(f.Inputs[:2], in.AnalyzeSeconds)
	if err != nil {
		return tool.Plan{}, err
	}
	st := &applying{Aligning: script, facts: f, in: in}
	if st.target, err = tool.Target(in.Output); err != nil {
		return tool.Plan{}, err
	}
	if err := st.pictured(); err != nil {
		return tool.Plan{}, err
	}
	plan, err := tool.Follow(script, st, func(tool.Results) (tool.Plan, error) { return st.write() })
	if err == nil {
		plan.Later, err = st.foreseen()
	}
	return plan, err
}

func readSyncApply(f tool.Facts, in SyncApplyInput, r tool.Results) (SyncApplyOutput, error) {
	st := r.State().(*applying)
	out := SyncApplyOutput{Reference: f.Inputs[0].Locator, Second: f.Inputs[1].Locator, Alignment: st.found, Begins: st.begins}
	if in.FixDrift {
		out.Fixed = rounded((st.ratio.Float()-1)*1e6, 2)
	}
	rows, err := st.verified()
	if err != nil {
		return out, err
	}
	if err := out.Rendered(r, st.render, st.target); err != nil {
		return out, err
	}
	out.Verified = append(out.Verified, rows...)
	return out, nil
}

// Locate names the files of a recorded answer as this call does.
func (o *SyncApplyOutput) Locate(files []string) {
	if len(files) == 2 {
		o.Reference, o.Second = files[0], files[1]
	}
}
