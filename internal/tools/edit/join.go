package edit

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Join puts recordings one behind the other.
var Join = tool.Add(Family, tool.Spec[JoinInput, JoinOutput]{
	Name:        "edit.join",
	Summary:     "Join videos or audio files, with transitions",
	Description: "Put two or more videos one behind the other, or two or more audio files, with a plain cut or, when one is asked for, a transition. Clips of another size, rate, aspect or sound are brought to the first one's form (or the one asked for), and every clip's sound is made exactly as long as its picture; a clip without sound gets silence. Audio files with cover art are audio. A transition shows two clips at once, so the result lasts the sum less one transition for each seam. All inputs that do not fit are named at once. Inputs are given one by one, or by a list file; those that are not there, or silent throughout, can be left out, which is said.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    4,
	Short:       "join",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "xfade", When: "a transition between videos"},
		{Filter: "acrossfade", When: "a transition with sound"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []JoinInput{
		{Inputs: []cutroom.InPath{"intro.mp4", "talk.mp4"}},
		{Inputs: []cutroom.InPath{"intro.mp4", "talk.mp4", "outro.mp4"}, Transition: "fade", Width: 1920, Height: 1080},
	},
	Names:     nameJoined,
	Expand:    expandJoin,
	Plan:      planJoin,
	Interpret: answerJoin,
})

// JoinInput is the request.
type JoinInput struct {
	Inputs     []cutroom.InPath `json:"inputs,omitempty" max:"200" doc:"The videos, or the audio files, in order: two or more. Needed without list."`
	List       cutroom.InPath   `json:"list,omitempty" cli:"flag" probe:"-" doc:"A text file that names the inputs, one a line, from its own folder on; empty lines and those that begin with # count for nothing. Excludes inputs."`
	OnMissing  string           `json:"on_missing,omitempty" enum:"fail,skip" default:"fail" rare:"true" doc:"What an input does that is not there: the call fails, or it is left out."`
	Missing    []string         `json:"missing,omitempty" max:"200" rare:"true" doc:"Inputs that are known not to be there: they are named among those that were skipped. on_missing skip fills it in."`
	Transition string           `json:"transition,omitempty" enum:"fade,dissolve,wipeleft,wiperight,wipeup,wipedown,slideleft,slideright,circleopen,circleclose,fadeblack,fadewhite,smoothleft,smoothright,radial,none" default:"none" doc:"How one clip becomes the next; the sound is cross-faded. none: a plain cut."`
	Duration   cutroom.Micros   `json:"duration,omitempty" min:"0.04" max:"30" unit:"s" doc:"Length of a transition, to the nearest whole frame; 0.5 without it. Every clip has to be longer than two of them. Needs transition."`
	Width      int              `json:"width,omitempty" min:"16" max:"16384" unit:"px" doc:"Width of the frame; the first clip's without it."`
	Height     int              `json:"height,omitempty" min:"16" max:"16384" unit:"px" doc:"Height of the frame; the first clip's without it."`
	FPS        float64          `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate, exact as in edit.fit; the first clip's without it."`
	Fit        string           `json:"fit,omitempty" enum:"pad,crop,blur" default:"pad" doc:"How clips of another shape get into the frame: bars, a crop, or the picture itself, blurred, behind it."`
	PadColor   string           `json:"pad_color,omitempty" doc:"Colour of the bars: a name or #RRGGBB; black without it. Needs fit pad."`
	SampleRate int              `json:"sample_rate,omitempty" min:"8000" max:"192000" unit:"Hz" doc:"Sampling rate of the sound; the first clip's without it."`
	Channels   int              `json:"channels,omitempty" min:"1" max:"8" doc:"Mix the sound to so many channels: 1, 2, 6 (5.1) or 8 (7.1); the widest layout of the clips without it."`
	OnSilent   string           `json:"on_silent,omitempty" enum:"warn,fail,skip" doc:"Listen to every clip first and name those whose sound is silent throughout, fail, or leave them out. Not looked at without it."`
	Silence    *float64         `json:"silence_threshold,omitempty" min:"-120" max:"-10" unit:"dBFS" doc:"A clip whose loudest sample lies below is silent; -50 without it. Needs on_silent."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in JoinInput) Validate() error {
	switch {
	case len(in.Inputs) > 0 && in.List != "":
		return cutroom.Errorf(cutroom.Invalid, "inputs and list exclude each other").WithHint("give one of them")
	case len(in.Inputs) < 2 && in.List == "":
		return cutroom.Errorf(cutroom.Invalid, "a join needs two inputs or more").WithHint("name them in their order")
	case in.PadColor != "" && in.Fit != "" && in.Fit != "pad":
		return cutroom.Errorf(cutroom.Invalid, "pad_color is given without fit pad").WithHint("add fit pad, or leave pad_color out")
	case in.Duration > 0 && (in.Transition == "" || in.Transition == "none"):
		return cutroom.Errorf(cutroom.Invalid, "duration is the length of a transition, and none is asked for").WithHint("add transition fade, or leave duration out")
	case in.Silence != nil && in.OnSilent == "":
		return cutroom.Errorf(cutroom.Invalid, "silence_threshold is given without on_silent").WithHint("add on_silent, or leave silence_threshold out")
	}
	if !slices.Contains([]int{0, 1, 2, 6, 8}, in.Channels) {
		return cutroom.Errorf(cutroom.Invalid, "%d channels have no common layout", in.Channels).WithHint("give channels 1, 2, 6 or 8")
	}
	if _, err := rate(in.FPS); err != nil {
		return err
	}
	_, err := color("pad_color", in.PadColor)
	return err
}

// soundSuffixes are those of files that are joined as audio when no output is named.
var soundSuffixes = []string{".mp3", ".wav", ".flac", ".m4a", ".ogg", ".opus", ".oga", ".m4b", ".mka"}

// nameJoined names the output after the first input.
func nameJoined(in JoinInput) JoinInput {
	if in.Output != "" || len(in.Inputs) == 0 {
		return in
	}
	suffix := ".mp4"
	if s := strings.ToLower(filepath.Ext(string(in.Inputs[0]))); slices.Contains(soundSuffixes, s) {
		suffix = s
	}
	in.Output = tool.NameAfter(in.Inputs[0], "joined", suffix)
	return in
}

// JoinOutput is the answer.
type JoinOutput struct {
	tool.Made
	Mode       string         `json:"mode" enum:"video,audio" doc:"What was joined."`
	Clips      int            `json:"clips" doc:"How many clips."`
	Transition string         `json:"transition" doc:"How they meet; none is a cut."`
	Expected   cutroom.Micros `json:"expected_duration" unit:"s" doc:"The sum of the lengths, less one transition for each seam."`
	Silent     []string       `json:"silent,omitempty" doc:"Clips whose sound is silent throughout, when that was looked at."`
	Skipped    []string       `json:"skipped,omitempty" doc:"Inputs that were left out: not there, or silent."`
	Duplicates []string       `json:"duplicates,omitempty" doc:"Inputs that stand more than once."`
}

func planJoin(f tool.Facts, in JoinInput) (tool.Plan, error) {
	if in.Duration == 0 {
		in.Duration = cutroom.Second / 2
	}
	j := joining{in: in, facts: f, answer: JoinOutput{Mode: "audio", Transition: in.Transition}}
	j.answer.Skipped = slices.Clone(in.Missing)
	for _, m := range in.Missing {
		j.say("%s is not there and is left out", m)
	}
	j.duplicates()
	if err := j.open(); err != nil {
		return tool.Plan{}, err
	}
	if err := j.compose(); err != nil {
		return tool.Plan{}, err
	}
	return j.plan()
}

func answerJoin(_ tool.Facts, in JoinInput, r tool.Results) (JoinOutput, error) {
	j := r.State().(*joining)
	out := j.answer
	t, err := tool.Target(in.Output)
	if err != nil {
		return out, err
	}
	if err := out.Rendered(r, j.render, t); err != nil {
		return out, err
	}
	if out.EditMap != nil {
		out.Expected = out.EditMap.Seconds
	}
	return out, nil
}
