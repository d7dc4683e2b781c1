package measure

import (
	"fmt"
	"strings"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// planProbe measures levels, when they are asked for: the descriptions are there already.
func planProbe(f tool.Facts, in ProbeInput) (tool.Plan, error) {
	var p tool.Plan
	if !in.Analyze {
		return p, nil
	}
	for i := range f.Inputs {
		file := &f.Inputs[i]
		if file.Media == nil || file.Media.FirstVideo() == nil || !file.Media.FirstVideo().Decodable {
			continue
		}
		cmd, err := ffmpeg.MeasureLevels(levelStep(i), file.Format, file.Media.FirstVideo(), file.Index, &f.Abilities)
		if err != nil {
			return p, err
		}
		p.Steps = append(p.Steps, cmd)
	}
	return p, nil
}

func levelStep(i int) string { return fmt.Sprintf("levels-%d", i) }

// answer adds the line or the value that was asked for.
func (f *ProbedFile) answer(in ProbeInput) error {
	if in.Compact {
		f.Line = strings.Join(f.brief(), ", ")
	}
	if in.Field == "" {
		return nil
	}
	v, err := fieldOf(f, in.Field)
	f.Value = &v
	return err
}

// Plain is what the command line prints where a line or a value was asked for: one for
// each file.
func (o *ProbeOutput) Plain() (lines []string, ok bool) {
	for i := range o.Files {
		switch f := &o.Files[i]; {
		case f.Value != nil:
			lines, ok = append(lines, *f.Value), true
		case f.Line != "":
			lines, ok = append(lines, f.File+": "+f.Line), true
		}
	}
	return lines, ok
}
