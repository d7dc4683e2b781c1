package review

import (
	"fmt"
	"image"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

const maxPicture = 64 << 20

// seen is a frame with its picture.
type seen struct {
	LookFrame
	jpeg []byte
}

func keepLook(f tool.Facts, in LookInput, r tool.Results) (LookOutput, error) {
	st := r.State().(*looking)
	out := LookOutput{Mode: st.mode, Duration: f.Inputs[0].Media.DurationSeconds, Pictures: []LookPicture{}}
	k := &keeping{r: r, in: in, st: st, out: &out}
	var err error
	switch st.mode {
	case "waveform":
		err = k.waveform()
	case "compare":
		err = k.pairs()
	default:
		err = k.frames()
	}
	out.Notes = st.notes
	return out, err
}

// keeping turns what the runs left behind into pictures.
type keeping struct {
	r   tool.Results
	in  LookInput
	st  *looking
	out *LookOutput
}

// taken reads the frames of one job, in the order of its times. A time that showed the
// frame of an earlier one again gets that one, when again is set, and is left out else.
func (k *keeping) taken(job *ffmpeg.FrameJob, times []cutroom.Micros, which string, again bool) ([]seen, error) {
	frames, skipped := job.Frames()
	at := map[cutroom.Micros]seen{}
	for _, f := range frames {
		data, err := k.r.ReadFile(f.File, maxPicture)
		if e := cutroom.AsError(err); e != nil && e.Code == cutroom.NotFound {
			k.st.note(fmt.Sprintf("no picture for %s s: ffmpeg could not write the frame as JPEG", f.Requested))
			continue
		} else if err != nil {
			return nil, err
		}
		for _, n := range f.Notes {
			k.st.note(n)
		}
		at[f.Requested] = seen{LookFrame{File: which, Requested: f.Requested, Time: f.Time, Width: f.Width, Height: f.Height}, data}
	}
	for _, s := range skipped {
		switch {
		case s.Same == nil:
			k.st.note(fmt.Sprintf("no picture for %s s: %s", s.Requested, s.Reason))
			k.out.AddReason(fmt.Sprintf("no picture for %s s: %s", s.Requested, s.Reason))
		case again:
			same := at[*s.Same]
			same.Requested = s.Requested
			at[s.Requested] = same
		default:
			k.st.note(fmt.Sprintf("%s s shows %s", s.Requested, s.Reason))
		}
	}
	var list []seen
	for _, t := range times {
		if s, ok := at[t]; ok && s.jpeg != nil {
			list = append(list, s)
			if !again {
				delete(at, t)
			}
		}
	}
	if len(list) == 0 {
		return nil, cutroom.Errorf(cutroom.UnreadableMedia, "no frame of the video can be decoded").WithHint("the picture stream is damaged; copy or download the file again")
	}
	return list, nil
}

// count adds what each frame shows besides its background.
func (k *keeping) count(list []seen) error {
	if !k.in.Ink {
		return nil
	}
	for i := range list {
		img, err := ffmpeg.DecodeJPEG(list[i].jpeg)
		if err != nil {
			return err
		}
		m := ffmpeg.CountMarkings(img)
		list[i].Ink = &m
	}
	return nil
}

// frames keeps a contact sheet, or each frame for itself.
func (k *keeping) frames() error {
	list, err := k.taken(k.st.before, k.st.times, "input", false)
	if err == nil {
		err = k.count(list)
	}
	if err != nil {
		return err
	}
	for _, s := range list {
		k.out.Frames = append(k.out.Frames, s.LookFrame)
	}
	if k.st.mode == "sheet" || len(list) > 1 && k.in.Output != "" {
		shows := fmt.Sprintf("contact sheet of %d frames, left to right, top to bottom, at %s", len(list), clocks(list))
		if err := k.sheet(list, k.st.columns, k.cell(list), shows); err != nil || k.st.mode == "sheet" {
			return err
		}
	}
	for i, s := range list {
		if err := k.single(i, s); err != nil {
			return err
		}
	}
	return nil
}

// cell is the width of a sheet's cells.
func (k *keeping) cell(list []seen) int {
	if k.st.mode != "frames" {
		return k.st.width
	}
	k.st.columns = min(len(list), 3)
	wide := k.in.Width
	if wide == 0 {
		wide = lookWidth
	}
	return ffmpeg.CellWidth(wide, k.st.columns)
}

// single keeps one frame as it is, or with the platform's safe area.
func (k *keeping) single(i int, s seen) error {
	shows := fmt.Sprintf("the frame at %s", s.Time.Clock())
	name := fmt.Sprintf("look-%04d.jpg", i+1)
	safe := k.in.insets()
	if safe == nil && (len(k.out.Pictures) > 0 || k.in.suffix() != ".png") {
		return k.keep(name, s.jpeg, s.Width, s.Height, shows, &s.Time)
	}
	img, err := ffmpeg.DecodeJPEG(s.jpeg)
	if err != nil {
		return err
	}
	if safe != nil {
		ffmpeg.Shade(img, *safe)
		shows += ", outside of the safe area darkened"
	}
	return k.image(name, img, shows, &s.Time)
}

// pairs keeps the comparison: a row for each time, before at the left.
func (k *keeping) pairs() error {
	before, err := k.taken(k.st.before, k.st.times, "input", true)
	if err != nil {
		return err
	}
	after, err := k.taken(k.st.after, k.st.there, "compare", true)
	if err != nil {
		return err
	}
	var list []seen
	for i, t := range k.st.times {
		b := slices.IndexFunc(before, func(s seen) bool { return s.Requested == t })
		a := slices.IndexFunc(after, func(s seen) bool { return s.Requested == k.st.there[i] })
		if a >= 0 && b >= 0 {
			list = append(list, before[b], after[a])
		}
	}
	if len(list) == 0 {
		return cutroom.Errorf(cutroom.UnreadableMedia, "no moment gave a frame of both files").WithHint("name other times with at")
	}
	if err := k.count(list); err != nil {
		return err
	}
	for _, s := range list {
		k.out.Frames = append(k.out.Frames, s.LookFrame)
	}
	shows := fmt.Sprintf("%d moments, input at the left, compare at the right, at %s", len(list)/2, clocks(before))
	return k.sheet(list, 2, k.st.width, shows)
}

// sheet draws frames over their times.
func (k *keeping) sheet(list []seen, columns, cell int, shows string) error {
	var touch func(*image.RGBA)
	if safe := k.in.insets(); safe != nil {
		touch = func(img *image.RGBA) { ffmpeg.Shade(img, *safe) }
		shows += ", outside of the safe area darkened"
	}
	var cells []ffmpeg.SheetFrame
	for _, s := range list {
		c := ffmpeg.SheetFrame{JPEG: s.jpeg}
		if !k.in.NoTime {
			c.Label = s.Time.Clock()
			if k.st.mode == "compare" {
				c.Label = map[string]string{"input": "before ", "compare": "after "}[s.File] + c.Label
			}
		}
		cells = append(cells, c)
	}
	img, err := ffmpeg.DrawSheet(cells, columns, cell, touch)
	if err != nil {
		return cutroom.Errorf(cutroom.Invalid, "%s", err).WithHint("ask for fewer tiles or a smaller width")
	}
	return k.image("look.jpg", img, shows, nil)
}

func (k *keeping) waveform() error {
	a := k.st.sound.Signals().Audio
	wide := k.in.Width
	if wide == 0 {
		wide = lookWidth
	}
	k.out.Loudness = a.Loudness
	img := ffmpeg.Waveform(a, k.out.Duration, wide)
	return k.image("look.jpg", img, fmt.Sprintf("waveform from 0 to %s: peaks and root mean square, silences in red, momentary loudness below", k.out.Duration.Clock()), nil)
}

// image keeps a picture of our own drawing. Where output wants a PNG, that is made of
// the very pixels.
func (k *keeping) image(name string, img *image.RGBA, shows string, at *cutroom.Micros) error {
	data, err := ffmpeg.EncodePicture(img, ".jpg")
	if err != nil {
		return err
	}
	first := len(k.out.Pictures) == 0
	if first && k.in.suffix() == ".png" {
		raw, err := ffmpeg.EncodePicture(img, ".png")
		if err == nil {
			_, err = k.r.Put("look.png", "image/png", raw, at)
		}
		if err == nil {
			_, err = k.r.Deliver("look.png", "image/png", "output")
		}
		if err != nil {
			return err
		}
	}
	return k.keep(name, data, img.Bounds().Dx(), img.Bounds().Dy(), shows, at)
}

func (k *keeping) keep(name string, data []byte, w, h int, shows string, at *cutroom.Micros) error {
	ref, err := k.r.Put(name, "image/jpeg", data, at)
	if err == nil && len(k.out.Pictures) == 0 && k.in.Output != "" && k.in.suffix() != ".png" {
		ref, err = k.r.Deliver(name, "image/jpeg", "output")
	}
	k.out.Pictures = append(k.out.Pictures, LookPicture{Picture: ref, Shows: shows, Width: w, Height: h})
	return err
}

// clocks are the times of frames.
func clocks(list []seen) string {
	var s []string
	for i, f := range list {
		if i == 24 {
			s = append(s, "…")
			break
		}
		s = append(s, f.Time.Clock())
	}
	return strings.Join(s, " ")
}

// Show is the look as a model gets it: the pictures, with what they show.
func (o *LookOutput) Show(room tool.Room) tool.Showing {
	lines := []string{fmt.Sprintf("%s of a file of %s", o.Mode, o.Duration.Clock())}
	if l := o.Loudness; l != nil && l.Integrated != nil && l.TruePeak != nil {
		lines = append(lines, fmt.Sprintf("integrated loudness %g LUFS, true peak %g dBTP", *l.Integrated, *l.TruePeak))
	} else if l != nil && l.Silent {
		lines = append(lines, "the sound is silent")
	}
	for _, f := range o.Frames {
		if f.Ink == nil {
			continue
		}
		line := fmt.Sprintf("%s at %s, background %s, ink:", f.File, f.Time.Clock(), f.Ink.Background)
		for _, r := range f.Ink.Regions {
			line += fmt.Sprintf(" %s %.2f %%,", r.Region, 100*r.Share)
		}
		lines = append(lines, strings.TrimSuffix(line, ","))
	}
	if o.File != nil {
		lines = append(lines, fmt.Sprintf("written: %q", *o.File))
	}
	lines = append(lines, o.Notes...)
	var text strings.Builder
	for i, l := range lines {
		if text.Len()+len(l) > room.Text-60 {
			fmt.Fprintf(&text, "Left out here: %d lines; the recorded result holds them.\n", len(lines)-i)
			break
		}
		text.WriteString(l + "\n")
	}
	showing := tool.Showing{Text: text.String()}
	for _, p := range o.Pictures {
		showing.Pictures = append(showing.Pictures, tool.Picture{Ref: p.Picture, Caption: p.Shows})
	}
	return showing
}
