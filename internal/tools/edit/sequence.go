package edit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Sequence makes a video of pictures.
var Sequence = tool.Add(Family, tool.Spec[SequenceInput, GeneratedOutput]{
	Name:        "edit.sequence",
	Summary:     "Make a video of still pictures, one frame each",
	Description: "Make a video of pictures in their order: rendered frames, a time lapse, drawings. Each is one frame, or shows for as long as each says. Pictures of another size are brought to the first one's frame, or the one asked for. Numbers that are missing in the names are named in the notes. Pictures are given one by one (frames/*.png in a shell), or by their folder and what their names look like. Pictures of one kind and size are probed once.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    2,
	Short:       "sequence",
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples: []SequenceInput{
		{Inputs: []cutroom.InPath{"frame-1.png", "frame-2.png", "frame-3.png"}, Generated: Generated{FPS: 12}},
		{Inputs: []cutroom.InPath{"one.jpg", "two.jpg"}, Each: 2 * cutroom.Second, Fit: "blur", Generated: Generated{Width: 1280, Height: 720}},
	},
	Names: func(in SequenceInput) SequenceInput {
		if in.Output == "" && len(in.Inputs) > 0 {
			in.Output = tool.NameAfter(in.Inputs[0], "sequence", ".mp4")
		}
		return in
	},
	Expand: expandSequence,
	Plan:   planSequence,
	Interpret: func(_ tool.Facts, _ SequenceInput, res tool.Results) (GeneratedOutput, error) {
		return answeredGenerated(res)
	},
})

// SequenceInput is the request.
type SequenceInput struct {
	Inputs      []cutroom.InPath `json:"inputs,omitempty" max:"2000" doc:"The pictures, in order: JPEG, PNG, WebP or BMP. Needed without dir."`
	Dir         cutroom.InPath   `json:"dir,omitempty" cli:"flag" open:"-" doc:"The folder of the pictures, in place of inputs: those that pattern names, by their numbers."`
	Pattern     string           `json:"pattern,omitempty" max:"200" doc:"What their names look like: frame-%04d.png with a number, or *.png. All pictures of the folder without it. Needs dir."`
	StartNumber *int             `json:"start_number,omitempty" min:"0" max:"999999999" rare:"true" doc:"Least number of a pattern with a number. Needs pattern."`
	Order       string           `json:"order,omitempty" enum:"given,natural" default:"given" doc:"natural: by name, numbers by their value, so that frame-10 comes behind frame-9."`
	Each        cutroom.Micros   `json:"each,omitempty" min:"0.04" max:"3600" unit:"s" doc:"How long each picture shows; one frame without it."`
	Fit         string           `json:"fit,omitempty" enum:"pad,crop,blur" default:"pad" doc:"How pictures of another shape get into the frame."`
	Generated
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself, and what is no rate.
func (in SequenceInput) Validate() error {
	bad := func(hint, format string, args ...any) error {
		return cutroom.Errorf(cutroom.Invalid, format, args...).WithHint("%s", hint)
	}
	switch {
	case len(in.Inputs) == 0 && in.Dir == "":
		return bad("name the pictures, or their dir", "no pictures are named")
	case len(in.Inputs) > 0 && in.Dir != "":
		return bad("give one of them", "inputs and dir exclude each other")
	case in.Pattern != "" && in.Dir == "":
		return bad("add dir, or leave pattern out", "pattern is given without dir")
	case in.StartNumber != nil && in.Pattern == "":
		return bad("add a pattern such as frame-%04d.png", "start_number is given without pattern")
	}
	if in.Pattern != "" {
		if _, err := newPattern(in.Pattern, in.StartNumber); err != nil {
			return err
		}
	}
	_, err := in.rate()
	return err
}

func planSequence(f tool.Facts, in SequenceInput) (tool.Plan, error) {
	fps, err := in.rate()
	if err != nil {
		return tool.Plan{}, err
	}
	target, err := in.target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	r := &retiming{graph: graph.Graph{Sound: in.sound(), Keep: graph.Keep{Metadata: graph.NoTags}, Target: target}}
	names := slices.Clone(in.Inputs)
	natural := func(a, b cutroom.InPath) int { return naturally(string(a), string(b)) }
	switch {
	case in.Order == "natural":
		slices.SortStableFunc(names, natural)
	case !slices.IsSortedFunc(names, natural):
		r.notes = append(r.notes, "the numbers in the names are not in order; order natural sorts them")
	}
	if gap := missing(names); gap != "" {
		r.notes = append(r.notes, gap)
	}
	hold := in.Each
	if hold == 0 {
		hold = cutroom.Micros((1_000_000*fps.Den + fps.Num/2) / fps.Num)
	}
	others := 0
	number := map[cutroom.InPath]int{}
	for _, name := range names {
		n, seen := number[name]
		if !seen {
			file, err := f.Named(name)
			if err != nil {
				return tool.Plan{}, err
			}
			v, err := picture(file)
			if err != nil {
				return tool.Plan{}, err
			}
			n = len(r.graph.Sources)
			number[name] = n
			r.graph.Sources = append(r.graph.Sources, file.AsSource())
			if n == 0 {
				r.file, r.graph.Picture = file, &graph.Picture{Rate: fps, Fit: graph.Fit(in.Fit)}
				r.graph.Picture.Width, r.graph.Picture.Height = in.size(v.Video.DisplayWidth, v.Video.DisplayHeight, 16384)
			}
			if first := r.graph.Sources[0].Media.FirstVideo().Video; v.Video.DisplayWidth != first.DisplayWidth || v.Video.DisplayHeight != first.DisplayHeight {
				others++
			}
		}
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Source: n, Hold: hold})
	}
	if others > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d pictures have another size than the first and are brought to %d×%d (%s)", others, r.graph.Picture.Width, r.graph.Picture.Height, cmp.Or(in.Fit, "pad")))
	}
	return r.plan(f)
}
