package review

import (
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
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
	there   []cutroom.Micros // compare: when the second file shows each of times
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

// compare plans the frames of both files. A moment that one of them does not show is
// left out, and said.
func (st *looking) compare(f tool.Facts, in LookInput) (tool.Plan, error) {
	second := f.Inputs[0]
	if i := slices.IndexFunc(f.Inputs, func(x tool.Input) bool { return x.Text == string(in.Compare) && x.Frame == nil }); i >= 0 {
		second = f.Inputs[i]
	}
	if second.Media == nil || second.Media.FirstVideo() == nil {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "compare has no video stream").WithHint("name a video or a picture")
	}
	if err := st.match(f, in, second.Media); err != nil {
		return tool.Plan{}, err
	}
	var err error
	if st.before, err = st.job(f, f.Inputs[0], "", st.times); err != nil {
		return tool.Plan{}, err
	}
	if st.after, err = st.job(f, second, "after-", st.there); err != nil {
		return tool.Plan{}, err
	}
	plan, err := tool.Follow(st.before, st, func(tool.Results) (tool.Plan, error) { return tool.Follow(st.after, st, nil) })
	if err != nil {
		return plan, err
	}
	shown, err := st.job(f, second, "after-", st.there) // for a dry run: a job gives its runs once
	if err != nil {
		return plan, err
	}
	if first, ok := shown.Next(); ok {
		plan.Later = append(plan.Later, first)
	}
	return plan, nil
}

// match finds when the second file shows what the first shows at the times: at the same
// time, or where the edit put it.
func (st *looking) match(f tool.Facts, in LookInput, second *ffmpeg.Document) error {
	at := func(t cutroom.Micros) []cutroom.Micros { return []cutroom.Micros{t} }
	if in.EditMap.Run != "" {
		m, err := f.Map(in.EditMap)
		if err != nil {
			return err
		}
		source := slices.IndexFunc(m.Sources, func(s edl.Source) bool { return s.SHA256 == f.Inputs[0].Digest })
		if source < 0 {
			return cutroom.Errorf(cutroom.Invalid, "that edit was not made of input").WithHint("give the run of the edit that made compare out of input")
		}
		at = func(t cutroom.Micros) []cutroom.Micros { return m.ToEdit(source, t) }
		if len(in.At) == 0 {
			st.times = st.times[:0]
			for _, t := range ffmpeg.Spread(second.DurationSeconds-1, pairs) {
				if src, from, ok := m.ToSource(t); ok && src == source {
					st.times = append(st.times, from)
				}
			}
		}
	}
	var here []cutroom.Micros
	still := second.FirstVideo().Video.StillImage
	for _, t := range st.times {
		shown := at(t)
		switch {
		case len(shown) == 0:
			st.note("what is at " + t.Clock() + " was cut out")
		case shown[0] > second.DurationSeconds && !still:
			st.note("the second file has ended before " + shown[0].Clock())
		default:
			here, st.there = append(here, t), append(st.there, shown[0])
		}
	}
	st.times = here
	if len(here) == 0 {
		return cutroom.Errorf(cutroom.Invalid, "the second file, %s s long, shows none of these times", second.DurationSeconds).WithHint("name times with at that both files have")
	}
	return nil
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
