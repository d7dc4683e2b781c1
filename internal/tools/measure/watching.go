package measure

import (
	"fmt"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/rhythm"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// watching is one look at a recording: what sees its pictures and hears its sound while
// they are decoded, and what becomes of it.
type watching struct {
	file     tool.Input
	facts    *tool.Facts
	in       ScenesInput
	measure  *ffmpeg.Measure
	video    *ffmpeg.Stream
	audio    *ffmpeg.Stream
	pictures *rhythm.Pictures
	onsets   *rhythm.Onsets
	frames   *ffmpeg.FrameJob // of the sheet
	changes  []rhythm.Change
	bounds   []cutroom.Micros
	onSheet  []int // scenes
	notes    []string
}

func newWatching(f *tool.Facts, file tool.Input, in ScenesInput) (*watching, error) {
	w := &watching{file: file, facts: f, in: in}
	o := ffmpeg.MeasureOptions{AudioStream: in.AudioStream, Abilities: &f.Abilities}
	hears := in.Beats || in.AudioPeaks || in.Speech
	v, err := file.Media.VideoStream()
	switch {
	case err == nil && !v.Video.StillImage:
		w.video = v
		w.pictures = rhythm.NewPictures(rhythm.PictureOptions{Threshold: in.Threshold, Ratio: in.Ratio, MinScene: in.MinScene, Motion: in.Shots})
		o.See = func(g *ffmpeg.Glance) {
			w.pictures.Add(rhythm.Frame{At: g.Seconds, Score: g.Score, Luma: g.Luma[:], Cb: g.Cb[:], Cr: g.Cr[:]})
		}
	case in.Shots || in.Highlights > 0 || in.Sheet != "" || in.EDL != "" || !hears:
		return nil, cutroom.Errorf(cutroom.Invalid, "input has no video stream, so it has no scenes").
			WithHint("ask for beats, audio_peaks or speech alone: they need the sound only")
	default:
		w.notes = append(w.notes, "the file has no moving pictures: no scenes were looked for")
	}
	a, err := file.Media.AudioStream(in.AudioStream)
	switch {
	case err == nil:
		w.audio, o.Envelope = a, true
		if in.Beats || in.Speech {
			w.onsets = rhythm.NewOnsets(a.Audio.SampleRate, in.BeatStep)
			o.Hear = w.onsets.Add
		}
	case hears || in.AudioStream > 0:
		return nil, err
	default:
		w.notes = append(w.notes, "the file has no sound that can be measured: scenes have no level")
	}
	w.measure, err = ffmpeg.NewMeasure(file.Index, file.Format, file.Media, o)
	return w, err
}

// settle turns what was seen into scenes.
func (w *watching) settle() {
	if w.pictures == nil || w.bounds != nil {
		return
	}
	w.changes = w.pictures.Changes()
	end := w.file.Media.DurationSeconds
	if e := w.video.EndSeconds; e > 0 {
		end = e
	}
	if v := w.measure.Signals().Video; v != nil && (end <= v.LastSeconds) {
		end = v.LastSeconds + 1
	}
	w.bounds = rhythm.Bounds(w.changes, 0, end)
}

// Bounds of a sheet: its frames are taken in a few runs of ffmpeg, and each picture has
// to be seen.
const (
	sheetRuns  = 40
	sheetCells = 240
	sheetCell  = 320
	sheetSide  = 8000
)

// takeFrames plans the frames of the sheet, once the scenes are known.
func (w *watching) takeFrames(tool.Results) (tool.Plan, error) {
	w.settle()
	if w.in.Sheet == "" {
		return tool.Plan{State: w}, nil
	}
	scenes := len(w.bounds) - 1
	v := w.video.Video
	shown := min(scenes, sheetCells, sheetRuns*ffmpeg.FramesOfOneRun(v))
	var times []cutroom.Micros
	for i := range shown {
		n := i * scenes / shown
		w.onSheet = append(w.onSheet, n)
		times = append(times, (w.bounds[n]+w.bounds[n+1])/2)
	}
	var err error
	w.frames, err = ffmpeg.NewFrameJob(w.file.Index, w.file.Format, w.file.Media, &w.facts.Abilities, ffmpeg.FrameOptions{Times: times, Width: sheetCell})
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(w.frames, w, nil)
}

// plannedFrames is how the frames of the sheet are taken, before their times are known.
func (w *watching) plannedFrames() argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts", "-noaccurate_seek", "-ss")
	args = append(args, argv.Hole("the middle of each scene"))
	args = append(args, w.file.Format.Input(0)...)
	args = append(args, argv.Words("-frames:v", "1", "-f", "image2", "-update", "1")...)
	args = append(args, argv.Out("frame-0001.jpg"))
	return argv.Command{Step: "frames1", Program: "ffmpeg", Inputs: w.file.Format.Granted(w.file.Index), Args: args, Stage: "taking a frame of each scene"}
}

// sheetType is the media type of a sheet, "" when its name stands for none.
func sheetType(p cutroom.OutPath) string {
	switch strings.ToLower(filepath.Ext(string(p))) {
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	}
	return ""
}

// draw makes the contact sheet out of the frames that were taken.
func (w *watching) draw(out *ScenesOutput, r tool.Results) error {
	frames, skipped := w.frames.Frames()
	scene := map[cutroom.Micros]int{}
	for _, n := range w.onSheet {
		scene[(w.bounds[n]+w.bounds[n+1])/2] = n
	}
	var cells []ffmpeg.SheetFrame
	for _, f := range frames {
		data, err := r.ReadFile(f.File, maxSheetFrame)
		if err != nil {
			return err
		}
		c := ffmpeg.SheetFrame{JPEG: data}
		if !w.in.NoTimecode {
			c.Label = w.bounds[scene[f.Requested]].Clock()
		}
		cells = append(cells, c)
	}
	if len(cells) == 0 {
		return cutroom.Errorf(cutroom.UnreadableMedia, "no frame of any scene can be decoded, so there is no sheet").WithHint("leave the sheet out")
	}
	out.SheetScenes = len(cells)
	if n := len(out.Scenes); len(cells) < n {
		out.Notes = append(out.Notes, fmt.Sprintf("the sheet shows %d of %d scenes", len(cells), n))
	}
	if len(skipped) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d scenes gave no frame of their own for the sheet", len(skipped)))
	}
	columns, width, err := ffmpeg.SheetLayout(len(cells), cells[0].JPEG, sheetSide)
	if err != nil {
		return err
	}
	data, err := ffmpeg.Sheet(cells, columns, min(width, sheetCell))
	if err != nil {
		return err
	}
	name, media := "sheet.jpg", sheetType(w.in.Sheet)
	if media == "image/png" {
		if data, err = ffmpeg.SheetPNG(data); err != nil {
			return err
		}
		name = "sheet.png"
	}
	if _, err := r.Put(name, media, data, nil); err != nil {
		return err
	}
	_, err = r.Deliver(name, media, "sheet")
	return err
}

const maxSheetFrame = 8 << 20
