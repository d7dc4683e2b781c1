package edit

import (
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/object"
	"cutroom/internal/tool"
)

// Redact hides parts of the picture.
var Redact = tool.Add(Family, tool.Spec[RedactInput, RedactOutput]{
	Name:        "edit.redact",
	Summary:     "Hide parts of the picture: boxes, text, or objects that are followed over time",
	Description: "Make parts of the picture unreadable: pixelated, blurred or black. Boxes are given, or found: text by the local reader, all of it or the lines that contain what match says; kinds of objects (person, car …) by the local detector. What is found is looked for at regular moments and followed in between, with a margin. The written frames are compared with the input: little of the detail may be left in what was hidden, and none of its words may be readable. What the models do not see, or what shows for less than the interval, is not hidden: look at the result before it is published. The sound and the file's tags stay as they are.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     7200 * time.Second,
	Video:       true,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Program: "ocr", When: "find text; without it it is not checked whether words can still be read"},
		{Program: object.Program, When: "find objects"},
		{Filter: "boxblur", When: "mode blur"},
		{Filter: "lutyuv", When: "mode fill"},
	}},
	CheckWith: []string{"review.look", "measure.probe"},
	Examples: []RedactInput{
		{Picturing: Picturing{Input: "street.mp4"}, X: 120, Y: 80, Width: 160, Height: 60},
		{Picturing: Picturing{Input: "screen.mp4"}, Find: []string{"text"}, Match: []string{"@example.com"}, Mode: "fill", Interval: 2 * cutroom.Second},
		{Picturing: Picturing{Input: "street.mp4"}, X: 10, Y: 20, Width: 80, Height: 40, Find: []string{"person", "car"}, Mode: "blur", Interval: 2 * cutroom.Second},
	},
	Names:     func(in RedactInput) RedactInput { in.Output = orNamed(in.Output, in.Input, "redacted", ""); return in },
	Plan:      planRedact,
	Interpret: answerRedact,
})

// RedactInput is the request.
type RedactInput struct {
	Picturing
	X      int         `json:"x,omitempty" min:"0" max:"16382" unit:"px" doc:"Left edge of a box, in the picture as shown."`
	Y      int         `json:"y,omitempty" min:"0" max:"16382" unit:"px" doc:"Top edge."`
	Width  int         `json:"width,omitempty" min:"0" max:"16384" unit:"px" doc:"Width; without it there is no box here."`
	Height int         `json:"height,omitempty" min:"0" max:"16384" unit:"px" doc:"Height."`
	Boxes  []RedactBox `json:"boxes,omitempty" items:"..200" doc:"Further boxes, each for a stretch of time when it says so."`

	Find     []string       `json:"find,omitempty" items:"..16" doc:"What is looked for: text, or kinds of objects as media.objects names them: person, car, dog …"`
	Match    []string       `json:"match,omitempty" items:"..50" doc:"Of text only the lines that contain one of these, whatever the case. Needs find text."`
	Interval cutroom.Micros `json:"interval,omitempty" min:"0.1" max:"10" default:"0.5" unit:"s" doc:"How often it is looked for. What shows for less may be missed."`
	MinScore float64        `json:"min_score,omitempty" min:"0.05" max:"1" default:"0.3" rare:"true" doc:"Objects that the detector is less sure of are not hidden."`
	Margin   *int           `json:"margin,omitempty" min:"0" max:"500" unit:"px" doc:"Hide this much more on each side of what is found; a tenth of its size without it, at least 6."`

	Mode      string `json:"mode,omitempty" enum:"pixelate,blur,fill" default:"pixelate" doc:"How: blocks, a blur, or black. fill leaves nothing that could be guessed from."`
	BlockSize int    `json:"block_size,omitempty" min:"4" max:"256" unit:"px" doc:"Side of a block; by the size of what is hidden without it. Needs mode pixelate."`
	Blur      int    `json:"blur_strength,omitempty" min:"4" max:"256" unit:"px" doc:"Radius of the blur; by the size of what is hidden without it. Needs mode blur."`
}

// RedactBox is a box that is hidden.
type RedactBox struct {
	X      int            `json:"x" min:"0" max:"16382" unit:"px" doc:"Left edge, in the picture as shown."`
	Y      int            `json:"y" min:"0" max:"16382" unit:"px" doc:"Top edge."`
	Width  int            `json:"width" min:"2" max:"16384" unit:"px" doc:"Width."`
	Height int            `json:"height" min:"2" max:"16384" unit:"px" doc:"Height."`
	Start  cutroom.Micros `json:"start,omitempty" min:"0" unit:"s" doc:"From when on; the beginning without it."`
	End    cutroom.Micros `json:"end,omitempty" min:"0" unit:"s" doc:"Until when; the end without it."`
}

// boxes are all boxes that are given.
func (in RedactInput) boxes() []RedactBox {
	list := slices.Clone(in.Boxes)
	if in.Width > 0 {
		list = append([]RedactBox{{X: in.X, Y: in.Y, Width: in.Width, Height: in.Height}}, list...)
	}
	return list
}

// Validate refuses a call that hides nothing, and options that belong to another.
func (in RedactInput) Validate() error {
	if (in.Width > 0) != (in.Height > 0) || in.Width == 0 && (in.X > 0 || in.Y > 0) {
		return cutroom.Errorf(cutroom.Invalid, "a box needs width and height").WithHint("give x, y, width and height together")
	}
	if len(in.boxes())+len(in.Find) == 0 {
		return cutroom.Errorf(cutroom.Invalid, "nothing to hide").WithHint("give x, y, width and height, boxes, or find")
	}
	for i, b := range in.Boxes {
		if b.End > 0 && b.End <= b.Start {
			return cutroom.Errorf(cutroom.Invalid, "box %d ends before it starts", i+1).WithHint("give an end behind the start, or leave it out")
		}
	}
	for _, m := range in.Match {
		if strings.TrimSpace(m) == "" {
			return cutroom.Errorf(cutroom.Invalid, "match holds an empty text").WithHint("leave match out to hide all text")
		}
	}
	for _, d := range []dial{
		{"match", "find text", len(in.Match) > 0, in.text()},
		{"block_size", "mode pixelate", in.BlockSize > 0, in.Mode == "pixelate" || in.Mode == ""},
		{"blur_strength", "mode blur", in.Blur > 0, in.Mode == "blur"},
		{"margin", "find", in.Margin != nil, len(in.Find) > 0},
	} {
		if d.given && !d.on {
			return cutroom.Errorf(cutroom.Invalid, "%s is given without %s", d.name, d.needs).WithHint("add %s, or leave %s out", d.needs, d.name)
		}
	}
	return checkFind(in.kinds())
}

// checkFind refuses kinds of objects that the model does not know.
func checkFind(kinds []string) error {
	known := object.Labels()
	for _, l := range kinds {
		if !slices.Contains(known, l) {
			e := cutroom.Errorf(cutroom.Invalid, "find: there is no kind %q", l)
			if near := tool.Nearest(l, append(known, "text")); near != "" {
				return e.WithHint("did you mean %s?", near)
			}
			return e.WithHint("it is text, or one of %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// text says whether text is looked for.
func (in RedactInput) text() bool { return slices.Contains(in.Find, "text") }

// kinds are the objects that are looked for.
func (in RedactInput) kinds() []string {
	return slices.DeleteFunc(slices.Clone(in.Find), func(s string) bool { return s == "text" })
}

// RedactOutput is the answer.
type RedactOutput struct {
	tool.Made
	Hidden []RedactedPath `json:"hidden" doc:"What was hidden, in order of time."`
	Looked int            `json:"frames_looked_at,omitempty" doc:"In how many frames it was looked for."`
}

// RedactedPath is one thing that was hidden.
type RedactedPath struct {
	Kind   string         `json:"kind" doc:"box, text, or the kind of object. What a text said is not repeated."`
	Start  cutroom.Micros `json:"start" unit:"s" doc:"From when on."`
	End    cutroom.Micros `json:"end" unit:"s" doc:"Until when."`
	X      int            `json:"x" unit:"px" doc:"Left edge at the start."`
	Y      int            `json:"y" unit:"px" doc:"Top edge at the start."`
	Width  int            `json:"width" unit:"px" doc:"Width."`
	Height int            `json:"height" unit:"px" doc:"Height."`
	Seen   int            `json:"seen,omitempty" doc:"In how many frames it was found."`
}

func answerRedact(_ tool.Facts, _ RedactInput, r tool.Results) (RedactOutput, error) {
	return looked[RedactOutput](r, func(o *RedactOutput) *tool.Made { return &o.Made })
}
