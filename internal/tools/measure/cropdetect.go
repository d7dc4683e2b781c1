package measure

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// Cropdetect finds black bars, and where the picture moves.
var Cropdetect = tool.Add(Family, tool.Spec[CropdetectInput, CropdetectOutput]{
	Name:        "measure.cropdetect",
	Summary:     "Find black bars around a picture, and the middle of its movement",
	Description: "Look at frames all over a recording for rows and columns that are dark in each of them, and answer the rectangle that is left, as edit.crop takes it. Black frames count for nothing; a subtitle or a logo in a bar keeps that bar. motion_centre also gives the middle of what changes from frame to frame.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Timeout:     600 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"review.look"},
	Examples:    []CropdetectInput{{Input: "film.mp4"}, {Input: "talk.mp4", Motion: true}},
	Plan:        planCropdetect,
	Interpret:   readCropdetect,
})

// CropdetectInput is the request.
type CropdetectInput struct {
	Input   cutroom.InPath `json:"input" doc:"The video."`
	Limit   float64        `json:"limit,omitzero" min:"0" max:"255" default:"24" doc:"Mean luma of a row or column, of 255, up to which it is a bar; black is 16."`
	RoundTo int            `json:"round_to,omitzero" min:"1" max:"64" default:"2" unit:"px" doc:"The rectangle lies on multiples of this."`
	Samples int            `json:"samples,omitzero" min:"1" max:"16" default:"12" doc:"How many frames are looked at, spread evenly."`
	Motion  bool           `json:"motion_centre,omitempty" doc:"Say where the picture moves, too."`
	Seconds cutroom.Micros `json:"seconds,omitzero" min:"0.2" max:"3600" default:"20" unit:"s" doc:"How much of the beginning is looked at for movement."`
	Limits  Limits         `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Bounds are the limits of the call.
func (in CropdetectInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// CropdetectOutput is the answer.
type CropdetectOutput struct {
	tool.Made
	Name   string        `json:"file" doc:"The recording, safe to show."`
	Bars   bool          `json:"bars" doc:"There are bars."`
	Crop   CropBox       `json:"crop" doc:"What is left without them, in pixels of the picture as shown: edit.crop takes it."`
	Top    int           `json:"top" unit:"px" doc:"Height of the bar at the top."`
	Bottom int           `json:"bottom" unit:"px" doc:"Height of the bar at the bottom."`
	Left   int           `json:"left" unit:"px" doc:"Width of the bar at the left."`
	Right  int           `json:"right" unit:"px" doc:"Width of the bar at the right."`
	Looked int           `json:"frames_looked_at" doc:"Frames that were looked at."`
	Dark   int           `json:"frames_black" doc:"Those of them that are black all over and count for nothing."`
	Motion *MotionCentre `json:"motion,omitempty" doc:"Where the picture moves, when asked for; absent where nothing does."`
}

// CropBox is a rectangle of the picture.
type CropBox struct {
	X      int `json:"x" unit:"px" doc:"Left edge."`
	Y      int `json:"y" unit:"px" doc:"Top edge."`
	Width  int `json:"width" unit:"px" doc:"Width."`
	Height int `json:"height" unit:"px" doc:"Height."`
}

// MotionCentre is where a picture moves.
type MotionCentre struct {
	X     int     `json:"x" unit:"px" doc:"Middle of what changes, from the left."`
	Y     int     `json:"y" unit:"px" doc:"From the top."`
	Box   CropBox `json:"box" doc:"What holds nine tenths of it in each direction."`
	Share float64 `json:"share" min:"0" max:"1" doc:"Share of the pixels that change from a fifth of a second to the next."`
}

func planCropdetect(f tool.Facts, in CropdetectInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	v, err := file.Media.VideoStream()
	if err != nil {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "input has no video stream").WithCause(err).WithHint("give a video")
	}
	length := file.Media.DurationSeconds
	if v.EndSeconds > 0 {
		length = v.EndSeconds
	}
	n := max(1, in.Samples)
	if v.Video.DisplayWidth*v.Video.DisplayHeight > 4<<20 {
		n = min(n, 6) // each is a decoder with frames of its own
	}
	var times []cutroom.Micros
	for i := range n {
		if t := length * cutroom.Micros(2*i+1) / cutroom.Micros(2*n); i == 0 || t > times[len(times)-1] {
			times = append(times, t)
		}
	}
	if length <= 0 || v.Video.StillImage {
		times = []cutroom.Micros{0}
	}
	bars, err := ffmpeg.NewBars(file.Format, file.Media, file.Index, ffmpeg.BarOptions{Times: times, Limit: in.Limit, Abilities: &f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	plan := tool.Plan{Steps: []argv.Command{bars}}
	if in.Motion {
		m, err := ffmpeg.NewMoving(file.Format, file.Media, file.Index, in.Seconds)
		if err != nil {
			return tool.Plan{}, err
		}
		plan.Steps = append(plan.Steps, m)
	}
	return plan, nil
}

func readCropdetect(f tool.Facts, in CropdetectInput, r tool.Results) (CropdetectOutput, error) {
	var out CropdetectOutput
	file, err := f.Named(in.Input)
	if err != nil {
		return out, err
	}
	out.Name = file.Locator
	step, _ := r.Step("bars")
	b, ok := argv.Value[ffmpeg.Bars](step)
	if !ok {
		return out, fmt.Errorf("nothing was looked at")
	}
	out.Looked, out.Dark, out.Top, out.Bottom, out.Left, out.Right = b.Looked, b.Dark, b.Top, b.Bottom, b.Left, b.Right
	out.Bars = b.Top+b.Bottom+b.Left+b.Right > 0
	out.Crop = CropBox{Width: b.Width, Height: b.Height}
	if out.Bars {
		out.Crop.X, out.Crop.Width = inner(b.Left, b.Width-b.Right, in.RoundTo)
		out.Crop.Y, out.Crop.Height = inner(b.Top, b.Height-b.Bottom, in.RoundTo)
	}
	if b.Looked == b.Dark {
		out.Notes = append(out.Notes, "every frame that was looked at is black: nothing can be said of bars")
	}
	if step, ok := r.Step("moving"); ok {
		m, _ := argv.Value[ffmpeg.Moving](step)
		out.Motion = centre(m, b.Width, b.Height)
	}
	return out, nil
}

// inner rounds a stretch inwards to multiples of n.
func inner(from, to, n int) (start, length int) {
	n = max(1, n)
	start = (from + n - 1) / n * n
	length = (to - start) / n * n
	if length <= 0 {
		return from, to - from
	}
	return start, length
}

func centre(m ffmpeg.Moving, w, h int) *MotionCentre {
	if m.Share == 0 {
		return nil
	}
	at := func(x float64, n int) int { return int(x * float64(n)) }
	return &MotionCentre{
		X: at(m.X, w), Y: at(m.Y, h), Share: m.Share,
		Box: CropBox{X: at(m.Left, w), Y: at(m.Top, h), Width: at(m.Right-m.Left, w), Height: at(m.Low-m.Top, h)},
	}
}
