package measure

import (
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Sync finds how recordings of one event lie in time.
var Sync = tool.Add(Family, tool.Spec[SyncInput, SyncOutput]{
	Name:        "measure.sync",
	Summary:     "Find the offset and clock drift between recordings from their sound",
	Description: "Find how much later one recording of the same event was started than another, and how their clocks differ, from the sound alone: cameras, phones, separate recorders. Any number of sources against one reference. Every lag at which they overlap is tried; without a confident match it says so. Writes nothing; measure.sync_apply writes the aligned file.",
	Kind:        cutroom.Read,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "sync",
	Timeout:     time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.probe"},
	Examples: []SyncInput{
		{Reference: "camera.mp4", Second: "recorder.wav"},
		{Reference: "camera.mp4", Second: "recorder.wav", MoreSources: []cutroom.InPath{"phone.m4a"}, Hearing: Hearing{MaxOffset: 60 * cutroom.Second}},
	},
	Plan:      planSync,
	Interpret: readSync,
})

// SyncInput is the request.
type SyncInput struct {
	Reference   cutroom.InPath   `json:"reference" doc:"The recording whose time counts."`
	Second      cutroom.InPath   `json:"second" doc:"The recording that is measured against it."`
	MoreSources []cutroom.InPath `json:"more_sources,omitempty" items:"0..14" doc:"Further recordings, each measured against the reference."`
	Hearing
}

// Hearing is how recordings are compared.
type Hearing struct {
	MaxOffset      cutroom.Micros `json:"max_offset,omitzero" min:"0" unit:"s" doc:"Largest offset that is accepted, either way; without it, any. It never narrows the search: an answer beyond it is refused."`
	AnalyzeSeconds cutroom.Micros `json:"analyze_seconds,omitzero" min:"0" max:"900" default:"240" unit:"s" doc:"How much of each recording is compared from its beginning on. Larger offsets need more. The drift is measured at the end of a longer overlap as well."`
	Limits         Limits         `json:"limits,omitzero" doc:"Bounds of each file."`
}

// Bounds are the limits of the call.
func (h Hearing) Bounds() tool.Bounds { return h.Limits.Bounds() }

// SyncOutput is the answer.
type SyncOutput struct {
	tool.Made
	Reference string `json:"reference" doc:"The recording whose time counts."`
	Second    string `json:"second" doc:"The recording that was measured against it."`
	Alignment
	Sources []Synced `json:"sources" doc:"Every recording that was measured against the reference, the second first."`
}

// Synced is one of several recordings.
type Synced struct {
	Path string `json:"path" doc:"Where the file is, safe to show."`
	Alignment
}

func planSync(f tool.Facts, in SyncInput) (tool.Plan, error) {
	script, err := tool.NewAligning(f.Inputs, in.AnalyzeSeconds)
	if err != nil {
		return tool.Plan{}, err
	}
	plan, err := tool.Follow(script, script, nil)
	if list, _ := script.Planned(); err == nil {
		plan.Later = list[1:]
	}
	return plan, err
}

func readSync(f tool.Facts, in SyncInput, r tool.Results) (SyncOutput, error) {
	out := SyncOutput{Reference: f.Inputs[0].Locator, Second: f.Inputs[1].Locator, Sources: []Synced{}}
	for i, m := range r.State().(*tool.Aligning).Matches {
		out.Sources = append(out.Sources, Synced{f.Inputs[i+1].Locator, aligned(m, in.MaxOffset)})
	}
	out.Alignment = out.Sources[0].Alignment
	return out, nil
}

// Locate names the files of a recorded answer as this call does.
func (o *SyncOutput) Locate(files []string) {
	if len(files) != len(o.Sources)+1 {
		return
	}
	o.Reference, o.Second = files[0], files[1]
	for i := range o.Sources {
		o.Sources[i].Path = files[i+1]
	}
}
