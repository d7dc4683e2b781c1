package review

import (
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/platform"
	"cutroom/internal/tool"
)

// Widths when the caller names none.
const (
	lookWidth  = 1280
	pairs      = 4 // moments of a comparison without times
	mostSingle = 3840
)

// looking is the state of a plan.
type looking struct {
	mode    string
	columns int
	width   int // of a cell, or of a single frame
	times   []cutroom.Micros
	before  *ffmpeg.FrameJob
	after   *ffmpeg.FrameJob // of the second file
	sound   *ffmpeg.Measure
	notes   []string
}

func planLook(f tool.Facts, in LookInput) (tool.Plan, error) {
	file := f.Inputs[0]
	if in.Waveform {
		return planWaveform(f, file)
	}
	if file.Media.FirstVideo() == nil {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "input has no video stream").WithHint("use waveform to look at the sound")
	}
	st := &looking{}
	if err := st.layout(file.Media, in); err != nil {
		return tool.Plan{}, err
	}
	if in.Compare != "" {
		return st.compare(f, in)
	}
	var err error
	if st.before, err = st.job(f, file, "", st.times); err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(st.before, st, nil)
}

// layout chooses the mode, the times and the size of the pictures.
func (st *looking) layout(d *ffmpeg.Document, in LookInput) error {
	for _, m := range in.At {
		t, err := d.Moment(m)
		if err != nil {
			return err
		}
		st.times = append(st.times, t)
	}
	wide := in.Width
	if wide == 0 {
		wide = lookWidth
	}
	still := d.FirstVideo().Video.StillImage
	if len(in.At) == 0 && !still && (d.DurationFrom == ffmpeg.Unknown || d.DurationSeconds <= 0) {
		return cutroom.Errorf(cutroom.Invalid, "the length of the input is not known, so its frames cannot be spread").WithHint("name times with at, such as 0 and 1")
	}
	switch {
	case in.Compare != "":
		st.mode, st.columns, st.width = "compare", 2, ffmpeg.CellWidth(wide, 2)
		if len(st.times) == 0 {
			st.times = ffmpeg.Spread(d.DurationSeconds, pairs)
		}
	case len(in.At) > 0 || still:
		st.mode, st.width = "frames", in.Width
		if st.width == 0 {
			st.width = mostSingle
		}
		if len(in.At) == 0 {
			st.times = []cutroom.Micros{0}
		}
	default:
		columns, rows, err := ffmpeg.ParseTiles(in.Tiles)
		if err != nil {
			return err
		}
		st.mode, st.columns, st.width = "sheet", columns, ffmpeg.CellWidth(wide, columns)
		st.times = ffmpeg.Spread(d.DurationSeconds, columns*rows)
	}
	return nil
}

func (st *looking) job(f tool.Facts, file tool.Input, name string, times []cutroom.Micros) (*ffmpeg.FrameJob, error) {
	if file.Media.FirstVideo().Video.Alpha {
		st.note("transparent parts are shown on " + ffmpeg.Background)
	}
	return ffmpeg.NewFrameJob(file.Index, file.Format, file.Media, &f.Abilities, ffmpeg.FrameOptions{Times: times, Width: st.width, Name: name})
}

func (st *looking) note(text string) {
	for _, n := range st.notes {
		if n == text {
			return
		}
	}
	st.notes = append(st.notes, text)
}

// compare plans the frames of both files. A time beyond the end of the shorter one is
// left out there, and said.
func (st *looking) compare(f tool.Facts, in LookInput) (tool.Plan, error) {
	second := f.Inputs[len(f.Inputs)-1]
	if second.Media.FirstVideo() == nil {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "compare has no video stream").WithHint("name a video or a picture")
	}
	var err error
	if st.before, err = st.job(f, f.Inputs[0], "", st.times); err != nil {
		return tool.Plan{}, err
	}
	var within []cutroom.Micros
	for _, t := range st.times {
		if t <= second.Media.DurationSeconds || second.Media.FirstVideo().Video.StillImage {
			within = append(within, t)
		} else {
			st.note("the second file has ended before " + t.Clock())
		}
	}
	if len(within) == 0 {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "the second file is %s s long: none of the times lies in it", second.Media.DurationSeconds).WithHint("name times with at that both files have")
	}
	if st.after, err = st.job(f, second, "after-", within); err != nil {
		return tool.Plan{}, err
	}
	plan, err := tool.Follow(st.before, st, func(tool.Results) (tool.Plan, error) { return tool.Follow(st.after, st, nil) })
	if err != nil {
		return plan, err
	}
	shown, err := st.job(f, second, "after-", within) // for a dry run: a job gives its runs once
	if err != nil {
		return plan, err
	}
	if first, ok := shown.Next(); ok {
		plan.Later = append(plan.Later, first)
	}
	return plan, nil
}

func planWaveform(f tool.Facts, file tool.Input) (tool.Plan, error) {
	if len(file.Media.AudioStreams()) == 0 {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "input has no audio stream").WithHint("leave waveform out to look at the picture")
	}
	job, err := ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{Envelope: true, Loudness: true, Silence: true, Abilities: &f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(job, &looking{mode: "waveform", sound: job}, nil)
}

// insets are the platform's, as fractions of a frame.
func (in LookInput) insets() *ffmpeg.Insets {
	if in.Safe == "" {
		return nil
	}
	s, err := platform.Find(strings.ToLower(in.Safe))
	if err != nil {
		return nil // refused by Validate
	}
	return &ffmpeg.Insets{Top: s.Safe.Top, Bottom: s.Safe.Bottom, Left: s.Safe.Left, Right: s.Safe.Right}
}
