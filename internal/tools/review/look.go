package review

import (
	"path"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/platform"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
)

// Look shows a file.
var Look = tool.Add(Family, tool.Spec[LookInput, LookOutput]{
	Name:        "review.look",
	Summary:     "Look at a file: contact sheet, frames, before and after, waveform",
	Description: "See what a file shows: a contact sheet of it, frames at times, pairs of frames beside another file's, what a platform covers with its controls, or the waveform with its loudness. Pictures are upright, with square pixels and ordinary colours, transparency on white, and carry the very times of their frames. Only the frames that are shown are decoded. Use it after every edit that changes the picture.",
	Kind:        cutroom.Read,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "look",
	Pictures:    true,
	Timeout:     30 * time.Minute,
	Video:       true, // but for waveform
	Exclusive:   [][]string{{"waveform", "at"}, {"waveform", "compare"}, {"waveform", "safe"}, {"waveform", "ink"}},
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{{Filter: "zscale", When: "the file is HDR"}, {Filter: "tonemap", When: "the file is HDR"}}},
	MaxFrames:   100,
	Examples:    []LookInput{{Input: "talk.mp4", Tiles: "4x3"}, {Input: "talk_reels.mp4", At: []cutroom.Moment{"0.5", "1"}, Tiles: "4x3", Safe: "reels"}, {Input: "talk.mp4", Tiles: "4x3", Waveform: true}},
	Plan:        planLook,
	Interpret:   keepLook,
})

// LookInput is the request.
type LookInput struct {
	Input     cutroom.InPath   `json:"input" doc:"The file: a video, a picture, or for waveform a recording."`
	At        []cutroom.Moment `json:"at,omitempty" items:"..48" doc:"Show the frames that are on screen at these times, in place of a contact sheet."`
	Tiles     string           `json:"tiles,omitempty" max:"16" default:"4x3" doc:"Columns and rows of the contact sheet. The first and the last frame are on it."`
	Width     int              `json:"width,omitzero" min:"160" max:"4096" unit:"px" doc:"Width of a sheet, a pair or a waveform, 1280 without it; largest width of single frames, their own without it."`
	Compare   cutroom.InPath   `json:"compare,omitempty" cli:"flag" doc:"A second file, shown to the right of the first at the same times: after beside before. Without at, four moments."`
	EditMap   cutroom.Ref      `json:"edit_map,omitzero" cli:"flag" rare:"true" doc:"The run of the edit that made compare out of input: times are those of input, and each moment stands beside the edit's own."`
	Safe      string           `json:"safe,omitempty" max:"40" doc:"A platform: what it draws its controls over is darkened, the safe rest framed in red."`
	Waveform  bool             `json:"waveform,omitempty" doc:"Show the sound instead: waveform, quiet spans and momentary loudness. It is decoded once."`
	Ink       bool             `json:"ink,omitempty" rare:"true" doc:"Also count, for each frame that is shown, the pixels that differ from its commonest colour, in all of it and in each ninth: is the caption there?"`
	NoTime    bool             `json:"no_timecode,omitempty" rare:"true" doc:"Leave the times beneath the pictures out."`
	Output    cutroom.OutPath  `json:"output,omitempty" doc:"File to write the first picture to, .jpg or .png. Without it nothing is written beside the input: the pictures are in the recorded result alone."`
	Overwrite bool             `json:"overwrite,omitempty" key:"-" doc:"Replace the output when it exists already."`
	DryRun    bool             `json:"dry_run,omitempty" key:"-" cli:"-" doc:"Answer what would run; nothing runs and nothing is written."`
	Limits    measure.Limits   `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses what contradicts itself.
func (in LookInput) Validate() error {
	if _, _, err := ffmpeg.ParseTiles(in.Tiles); err != nil {
		return err
	}
	if in.Safe != "" {
		s, err := platform.Find(strings.ToLower(in.Safe))
		if err != nil {
			return err
		}
		if s.Safe == (platform.Insets{}) {
			return cutroom.Errorf(cutroom.Invalid, "%s draws nothing over the picture", s.Title).WithHint("leave safe out, or name another platform")
		}
	}
	if in.Waveform && (len(in.At) > 0 || in.Compare != "" || in.Safe != "" || in.Ink) {
		return cutroom.Errorf(cutroom.Invalid, "waveform shows the sound; at, compare, safe and ink are of the picture").WithHint("leave either out")
	}
	if in.EditMap.Run != "" && in.Compare == "" {
		return cutroom.Errorf(cutroom.Invalid, "edit_map relates two files").WithHint("name the edited file with compare")
	}
	switch in.suffix() {
	case "", ".jpg", ".jpeg", ".png":
		return nil
	}
	return cutroom.Errorf(cutroom.Invalid, "a picture is written as .jpg or .png, not as %q", in.suffix()).WithHint("give output one of these suffixes")
}

func (in LookInput) suffix() string { return strings.ToLower(path.Ext(string(in.Output))) }

// Intent is what the call says about writing; without an output nothing is named.
func (in LookInput) Intent() tool.Writing {
	return tool.Writing{Output: in.Output, Overwrite: in.Overwrite, DryRun: in.DryRun}
}

// Bounds are the limits of the call.
func (in LookInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// LookOutput is the answer.
type LookOutput struct {
	tool.Made
	Mode     string           `json:"mode" enum:"sheet,frames,compare,waveform" doc:"What is shown."`
	Pictures []LookPicture    `json:"pictures" doc:"The pictures, the main one first. The first one is what output gets."`
	Frames   []LookFrame      `json:"frames,omitempty" doc:"The frames that are shown, in the order of the pictures."`
	Duration cutroom.Micros   `json:"duration_seconds,omitempty" unit:"s" doc:"Length of the file."`
	Loudness *ffmpeg.Loudness `json:"loudness,omitempty" doc:"With waveform: the loudness of the whole."`
}

// LookPicture is one picture.
type LookPicture struct {
	Picture cutroom.ArtifactRef `json:"picture" doc:"The recorded picture."`
	Shows   string              `json:"shows" doc:"What it shows, and when."`
	Width   int                 `json:"width" min:"1" unit:"px" doc:"Width."`
	Height  int                 `json:"height" min:"1" unit:"px" doc:"Height."`
}

// LookFrame is one frame that is shown.
type LookFrame struct {
	File      string           `json:"file" enum:"input,compare" doc:"Which file it is of."`
	Requested cutroom.Micros   `json:"requested_seconds" unit:"s" doc:"The time that was asked for."`
	Time      cutroom.Micros   `json:"timestamp_seconds" unit:"s" doc:"When the frame that is on screen then begins."`
	Width     int              `json:"width" min:"1" unit:"px" doc:"Width at which it was taken."`
	Height    int              `json:"height" min:"1" unit:"px" doc:"Height at which it was taken."`
	Ink       *ffmpeg.Markings `json:"ink,omitempty" doc:"What it shows besides its background."`
}
