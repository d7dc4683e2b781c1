package edit

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/object"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// Where a crop looks for what it keeps.
const (
	framesLooked = 6
	widthLooked  = 640 // px: the model sees 512
	stepLooked   = "objects"
)

// checkKinds refuses what the model does not know.
func checkKinds(labels []string) error {
	known := object.Labels()
	for _, l := range labels {
		if slices.Contains(known, l) {
			continue
		}
		e := cutroom.Errorf(cutroom.Invalid, "keep: the model does not know %q", l)
		if near := tool.Nearest(l, known); near != "" {
			return e.WithHint("did you mean %s?", near)
		}
		return e.WithHint("it knows %s", strings.Join(known, ", "))
	}
	return nil
}

// planKeeping looks for what is to be kept, then plans the edit with its boxes as
// further subjects.
func planKeeping(f tool.Facts, in FitInput) (tool.Plan, error) {
	if !f.Has(object.Program) {
		return tool.Plan{}, cutroom.Errorf(cutroom.MissingDependency, "what finds objects in pictures is not installed").
			WithHint("run `cutroom doctor`, which says how to install it; or leave keep out and give subjects")
	}
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	v, err := moving(file.Media)
	if err != nil {
		return tool.Plan{}, err
	}
	if _, err := planFitted(f, in, nil); err != nil { // what is wrong otherwise is said before anything runs
		return tool.Plan{}, err
	}
	clip, err := in.clip(v, file.Media, &FitOutput{})
	if err != nil {
		return tool.Plan{}, err
	}
	end := file.Media.DurationSeconds
	if clip.End > 0 {
		end = clip.End
	}
	times := ffmpeg.Spread(max(0, end-clip.Start), framesLooked)
	for i := range times {
		times[i] += clip.Start
	}
	frames, err := ffmpeg.NewFrameJob(file.Index, file.Format, file.Media, &f.Abilities, ffmpeg.FrameOptions{Times: times, Width: widthLooked, Name: "look-"})
	if err != nil {
		return tool.Plan{}, err
	}
	k := keeping{facts: f, in: in, video: v.Video, frames: frames}
	plan, err := tool.Follow(frames, nil, k.look)
	if err == nil {
		plan.Later = append(plan.Later, object.CommandOf(stepLooked, written(plan.Steps), object.Options{Limit: object.MaxLimit})) // for a dry run
	}
	return plan, err
}

// written are the files that steps leave in the private folder.
func written(steps []argv.Command) []string {
	var files []string
	for _, s := range steps {
		for _, a := range s.Args {
			if name, ok := a.(argv.Out); ok {
				files = append(files, string(name))
			}
		}
	}
	return files
}

// keeping is the search for what a crop keeps.
type keeping struct {
	facts  tool.Facts
	in     FitInput
	video  *ffmpeg.VideoFacts
	frames *ffmpeg.FrameJob
}

// look plans the search in the frames that were taken.
func (k keeping) look(tool.Results) (tool.Plan, error) {
	taken, _ := k.frames.Frames()
	if len(taken) == 0 {
		return k.fit(nil)
	}
	files := make([]string, len(taken))
	for i, t := range taken {
		files[i] = t.File
	}
	step := object.CommandOf(stepLooked, files, object.Options{Limit: object.MaxLimit})
	return tool.Plan{Steps: []argv.Command{step}, Then: func(r tool.Results) (tool.Plan, error) {
		res, _ := r.Step(stepLooked)
		views, err := object.Views(res)
		if err != nil {
			return tool.Plan{}, err
		}
		return k.fit(views)
	}}, nil
}

// fit plans the edit with what was found.
func (k keeping) fit(views []object.View) (tool.Plan, error) {
	var notes []string
	for _, label := range k.in.Keep {
		seen := 0
		for _, v := range views {
			before := len(k.in.Subjects)
			for _, o := range v.Objects {
				if o.Label == label {
					k.in.Subjects = append(slices.Clip(k.in.Subjects), k.subject(o.Box))
				}
			}
			if len(k.in.Subjects) > before {
				seen++
			}
		}
		notes = append(notes, fmt.Sprintf("%s was found in %d of %d frames that were looked at", label, seen, len(views)))
	}
	if len(k.in.Subjects) == 0 {
		notes = append(notes, "nothing to keep was found: the crop lies in the middle")
	}
	return planFitted(k.facts, k.in, notes)
}

// subject is a box in pixels of the picture as shown.
func (k keeping) subject(b object.Box) Subject {
	w, h := k.video.DisplayWidth, k.video.DisplayHeight
	at := func(part float64, n int) int { return min(max(int(part*float64(n)), 0), n-1) }
	s := Subject{X: at(b[0], w), Y: at(b[1], h)}
	s.Width = max(1, min(int(b[2]*float64(w)), w-s.X))
	s.Height = max(1, min(int(b[3]*float64(h)), h-s.Y))
	return s
}
