package media

import (
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// Prepare makes the copy of a medium that a reader is sent.
var Prepare = tool.Add(Family, tool.Spec[PrepareInput, PrepareOutput]{
	Name:        "media.prepare",
	Summary:     "Make a small copy of a medium for a reader",
	Description: "Make what a reader would be sent of a file that is too large: a video of 540 lines, a recording as mono speech, whole or in parts that are cut at silences and overlap, or a smaller picture. Nothing is sent, and what the file says of itself, such as a place, is left out of the copy.",
	Kind:        cutroom.Read,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     900 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	Formats:     []string{"mp4", "mov", "m4v", "webm", "mkv", "avi", "mpeg", "mpg", "ts", "mp3", "m4a", "wav", "flac", "ogg", "opus", "aac", "jpg", "jpeg", "png", "gif", "webp"},
	Examples: []PrepareInput{
		{Source: "talk.mp4", As: asVideo, MaxBytes: 10_000_000, Side: 2048},
		{Source: "call.wav", As: asSpeech, MaxBytes: 10_000_000, Side: 2048, PartSeconds: 300 * cutroom.Second, OverlapSeconds: 2 * cutroom.Second},
	},
	Plan:      planCopy,
	Interpret: keepCopy,
})

// What copies there are.
const (
	asVideo   = "video"
	asSpeech  = "speech"
	asPicture = "picture"
)

// PrepareInput is the request.
type PrepareInput struct {
	Source cutroom.InPath `json:"source" doc:"The file."`
	As     string         `json:"as" enum:"video,speech,picture" doc:"What copy to make."`
	video.Range
	MaxBytes       int64          `json:"max_bytes,omitzero" min:"10000" max:"1000000000" default:"10000000" unit:"B" doc:"Largest copy."`
	Side           int            `json:"side,omitzero" min:"160" max:"8192" default:"2048" unit:"px" doc:"Longest side of a picture."`
	AudioStream    int            `json:"audio_stream,omitzero" min:"0" max:"255" doc:"Which audio stream, counted from 0."`
	PartSeconds    cutroom.Micros `json:"part_seconds,omitzero" min:"10" max:"7200" unit:"s" doc:"Of speech: about how long one part is; without it the recording is one."`
	OverlapSeconds cutroom.Micros `json:"overlap_seconds,omitzero" min:"0" max:"60" unit:"s" doc:"By how much neighbouring parts overlap."`
}

// Validate checks the range.
func (in PrepareInput) Validate() error { return in.Range.Check() }

// PrepareOutput is the answer.
type PrepareOutput struct {
	cutroom.Output
	Copies []Copy `json:"copies" doc:"The copies, in order of time."`
}

// Copy is one copy.
type Copy struct {
	File         cutroom.ArtifactRef `json:"file" doc:"The copy."`
	StartSeconds cutroom.Micros      `json:"start_seconds" unit:"s" doc:"Where it begins in the medium: add it to a time of the copy."`
	EndSeconds   *cutroom.Micros     `json:"end_seconds,omitempty" unit:"s" doc:"Where it ends, when known."`
}

// copying is the state of a plan.
type copying struct {
	frame  *ffmpeg.FrameJob
	copies []ffmpeg.SpeechCopy
	spans  []ffmpeg.Span
	end    cutroom.Micros
}

const smallVideo = "copy.mp4"

func planCopy(f tool.Facts, in PrepareInput) (tool.Plan, error) {
	file, _ := f.First()
	switch in.As {
	case asPicture:
		return planPicture(f, file, in)
	case asSpeech:
		return planSpeechCopy(f, file, in)
	}
	o := ffmpeg.SmallerOptions{Start: in.Start, MaxBytes: in.MaxBytes, AudioNth: in.AudioStream, File: smallVideo, Step: "copy"}
	if in.End != nil {
		o.End = *in.End
	}
	cmd, err := ffmpeg.SmallerVideo(file.Index, file.Format, file.Media, &f.Abilities, o)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{State: &copying{}, Steps: []argv.Command{cmd}}, nil
}

// planPicture takes the picture as a JPEG; it is made smaller when it is read.
func planPicture(f tool.Facts, file tool.Input, in PrepareInput) (tool.Plan, error) {
	v, err := file.Media.VideoStream()
	if err != nil {
		return tool.Plan{}, err
	}
	width := in.Side
	if h := v.Video.DisplayHeight; h > v.Video.DisplayWidth && h > in.Side { // a tall one
		width = max(1, v.Video.DisplayWidth*in.Side/h)
	}
	job, err := ffmpeg.NewFrameJob(file.Index, file.Format, file.Media, &f.Abilities, ffmpeg.FrameOptions{Times: []cutroom.Micros{in.Start}, Width: width})
	if err != nil {
		return tool.Plan{}, err
	}
	st := &copying{frame: job}
	var next func() (tool.Plan, error)
	next = func() (tool.Plan, error) {
		cmd, ok := job.Next()
		if !ok {
			return tool.Plan{State: st}, nil
		}
		return tool.Plan{State: st, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
			res, _ := r.Step(cmd.Step)
			if err := job.Feed(res); err != nil {
				return tool.Plan{}, err
			}
			return next()
		}}, nil
	}
	return next()
}

// planSpeechCopy looks for silences first, when the recording is to be cut.
func planSpeechCopy(f tool.Facts, file tool.Input, in PrepareInput) (tool.Plan, error) {
	end := file.Media.DurationSeconds
	if in.End != nil {
		end = min(end, *in.End)
	}
	st := &copying{end: end}
	if in.PartSeconds == 0 || end-in.Start <= in.PartSeconds {
		return st.speech(f, file, in, []ffmpeg.Span{{StartSeconds: in.Start, EndSeconds: end}})
	}
	job, err := ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{Silence: true, SilenceDB: -38, AudioStream: in.AudioStream, Start: in.Start, End: end, Abilities: &f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	cmd, _ := job.Next()
	return tool.Plan{State: st, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
		res, _ := r.Step(cmd.Step)
		if err := job.Feed(res); err != nil {
			return tool.Plan{}, err
		}
		var silences []ffmpeg.Span
		if a := job.Signals().Audio; a != nil {
			silences = a.Silence
		}
		return st.speech(f, file, in, ffmpeg.CutAtSilence(in.Start, end, in.PartSeconds, in.OverlapSeconds, silences))
	}}, nil
}

// mostParts bounds the parts of one recording.
const mostParts = 200

func (st *copying) speech(f tool.Facts, file tool.Input, in PrepareInput, spans []ffmpeg.Span) (tool.Plan, error) {
	if len(spans) > mostParts {
		return tool.Plan{}, cutroom.Errorf(cutroom.Limit, "the recording has %d parts, more than %d", len(spans), mostParts).WithHint("ask for longer parts, or a shorter range")
	}
	p := tool.Plan{State: st}
	for i, s := range spans {
		o := ffmpeg.SmallerOptions{Start: s.StartSeconds, End: s.EndSeconds, AudioNth: in.AudioStream, File: fmt.Sprintf("part-%04d", i+1), Step: fmt.Sprintf("part%d", i+1)}
		c, err := ffmpeg.SmallerSound(file.Index, file.Format, file.Media, &f.Abilities, o)
		if err != nil {
			return p, err
		}
		st.copies, st.spans = append(st.copies, c), append(st.spans, s)
		p.Steps = append(p.Steps, c.Command)
	}
	return p, nil
}

// mostPicture bounds what is read of a picture that was taken.
const mostPicture = 64 << 20

func keepCopy(f tool.Facts, in PrepareInput, r tool.Results) (PrepareOutput, error) {
	out := PrepareOutput{Copies: []Copy{}}
	st := r.State().(*copying)
	var err error
	switch in.As {
	case asPicture:
		err = out.picture(r, st, in)
	case asSpeech:
		err = out.speech(r, st)
	default:
		file, _ := f.First()
		end := file.Media.DurationSeconds
		if in.End != nil {
			end = min(end, *in.End)
		}
		err = out.add(r, smallVideo, "video/mp4", in.Start, end)
	}
	if err == nil {
		err = out.fits(in.MaxBytes)
	}
	return out, err
}

func (out *PrepareOutput) add(r tool.Results, file, mediaType string, start, end cutroom.Micros) error {
	ref, err := r.Keep(file, mediaType, nil)
	if err != nil {
		return err
	}
	c := Copy{File: ref, StartSeconds: start}
	if end > start {
		c.EndSeconds = &end
	}
	out.Copies = append(out.Copies, c)
	return nil
}

func (out *PrepareOutput) speech(r tool.Results, st *copying) error {
	for i, c := range st.copies {
		if err := out.add(r, c.File, c.MediaType, c.StartOffset, st.spans[i].EndSeconds); err != nil {
			return err
		}
	}
	return nil
}

func (out *PrepareOutput) picture(r tool.Results, st *copying, in PrepareInput) error {
	frames, _ := st.frame.Frames()
	if len(frames) == 0 {
		return cutroom.Errorf(cutroom.UnreadableMedia, "the picture cannot be decoded").WithHint("the file is damaged; copy or download it again")
	}
	data, err := r.ReadFile(frames[0].File, mostPicture)
	if err != nil {
		return err
	}
	if data, err = ffmpeg.FitJPEG(data, in.Side, int(in.MaxBytes)); err != nil {
		return err
	}
	ref, err := r.Put("copy.jpg", "image/jpeg", data, nil)
	if err != nil {
		return err
	}
	out.Copies = append(out.Copies, Copy{File: ref})
	return nil
}

// fits refuses a copy that came out larger than it may be.
func (out *PrepareOutput) fits(most int64) error {
	if i := slices.IndexFunc(out.Copies, func(c Copy) bool { return c.File.SizeBytes > most }); i >= 0 {
		return cutroom.Errorf(cutroom.Limit, "the copy has %d bytes, more than %d", out.Copies[i].File.SizeBytes, most).WithHint("ask for a shorter range (--start, --end)")
	}
	return nil
}
