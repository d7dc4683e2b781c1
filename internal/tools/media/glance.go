package media

import (
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/tools/video"
)

// still is a recorded frame with its size.
type still struct {
	ref  cutroom.ArtifactRef
	w, h int
}

func (s still) at() cutroom.Micros {
	if s.ref.TimestampSeconds == nil {
		return 0
	}
	return *s.ref.TimestampSeconds
}

// stills are the frames of an extraction at their full size.
func stills(o *video.ExtractFramesOutput) []still {
	list := make([]still, 0, len(o.Frames))
	for i, f := range o.Frames {
		s := still{ref: f}
		if i < len(o.Taken) {
			s.w, s.h = o.Taken[i].Width, o.Taken[i].Height
			if len(o.FullFrames) == len(o.Frames) {
				s.ref, s.w, s.h = o.FullFrames[i], o.Taken[i].FullWidth, o.Taken[i].FullHeight
			}
		}
		list = append(list, s)
	}
	return list
}

// nothingSeen is that of recognisers which found nothing: somebody else may see more.
func nothingSeen(why string) error {
	return &provider.Fault{Class: provider.EmptyOrUnparsable, Message: why}
}

// glance reads a picture file with the recognisers of this machine.
func (r *reading) glance() (lens.Findings, error) {
	reply, err := r.env.Call(r.ctx, "video.extract_frames", video.ExtractFramesInput{
		Source: r.local(), TimestampsSeconds: []cutroom.Micros{0}, Width: 1920, FullSize: true, Detail: "full", Limits: probeLimits(1),
	})
	if err == nil {
		return r.recognise(stills(reply.Output.(*video.ExtractFramesOutput)), true)
	}
	if cutroom.AsError(err).Code != cutroom.MissingDependency {
		return lens.Findings{}, err
	}
	r.attempt(lens.Attempt{Provider: "local:frame", Skipped: lens.NoFFmpeg, Message: "the text in it cannot be read"})
	reply, err = r.env.Call(r.ctx, "media.objects", ObjectsInput{Pictures: []cutroom.InPath{r.source}})
	if err != nil {
		return lens.Findings{}, err
	}
	f := objectsSeen(reply.Output.(*ObjectsOutput).Items, true)
	if f.Empty() {
		return f, nothingSeen("no object was recognised")
	}
	return lens.Join(f), nil
}

// recognise reads frames: the text in them and the things that the detector knows. still
// says that they are one picture, without a time.
func (r *reading) recognise(frames []still, picture bool) (lens.Findings, error) {
	refs := make([]cutroom.ArtifactRef, len(frames))
	for i, f := range frames {
		refs[i] = f.ref
	}
	var parts []lens.Findings
	limits := probeLimits(len(refs))
	reply, err := r.env.Call(r.ctx, "video.ocr_frames", video.OCRFramesInput{
		Frames: refs, Language: ocrLanguage(r.language, r.env.Facts().Languages), Detail: "full", Limits: &limits,
	})
	if err == nil {
		parts = append(parts, textSeen(reply.Output.(*video.OCRFramesOutput).Items, frames, picture))
	} else if stop := r.missed("local:ocr", err); stop != nil {
		return lens.Findings{}, stop
	}
	reply, errObjects := r.env.Call(r.ctx, "media.objects", ObjectsInput{Frames: refs})
	if errObjects == nil {
		parts = append(parts, objectsSeen(reply.Output.(*ObjectsOutput).Items, picture))
	} else if stop := r.missed("local:objects", errObjects); stop != nil {
		return lens.Findings{}, stop
	}
	f := lens.Join(parts...)
	switch {
	case !f.Empty():
		return f, nil
	case err != nil && errObjects != nil:
		return f, err
	}
	return f, nothingSeen("no text was read and no object recognised")
}

// missed notes a stage of this machine that gave nothing; what ends the call is returned.
func (r *reading) missed(by string, err error) error {
	if r.ctx.Err() != nil {
		return err
	}
	a := lens.Attempt{Provider: by, Class: lens.Failed, Message: cutroom.AsError(err).Msg}
	if cutroom.AsError(err).Code == cutroom.MissingDependency {
		a.Class, a.Skipped = "", lens.NotInstalled
	}
	r.attempt(a)
	return nil
}

// textSeen are lines of text as regions, and as what stands on the screen at a time.
func textSeen(items []video.OCRItem, frames []still, picture bool) lens.Findings {
	var f lens.Findings
	for i, item := range items {
		var words []string
		worst := cutroom.High
		for _, l := range item.Lines {
			if strings.TrimSpace(l.Text) == "" {
				continue
			}
			region := lens.Region{Box: share(l.Box, frames[i]), Text: l.Text, Confidence: l.Confidence}
			if !picture {
				region.Frame = item.Frame.RelativePath
			}
			if region.Box[2] > 0 && region.Box[3] > 0 {
				f.Regions = append(f.Regions, region)
			}
			words = append(words, l.Text)
			if l.Confidence != cutroom.High {
				worst = cutroom.Medium
			}
		}
		if len(words) == 0 {
			continue
		}
		m := lens.Moment{Start: frames[i].at(), Text: "text: " + strings.Join(words, "\n"), Confidence: worst}
		if !picture {
			m.Frame = item.Frame.RelativePath
		} else {
			m.Start = 0
		}
		f.Timeline = append(f.Timeline, m)
	}
	return f
}

// share turns a box of pixels into one of shares.
func share(b [4]int, s still) [4]float64 {
	if s.w <= 0 || s.h <= 0 {
		return [4]float64{}
	}
	w, h := float64(s.w), float64(s.h)
	x, y := min(1, max(0, float64(b[0])/w)), min(1, max(0, float64(b[1])/h))
	return [4]float64{round4(x), round4(y), round4(min(1-x, float64(b[2])/w)), round4(min(1-y, float64(b[3])/h))}
}

// objectsSeen are things as regions, and as what is seen at a time.
func objectsSeen(items []ObjectsItem, picture bool) lens.Findings {
	var f lens.Findings
	for _, item := range items {
		if len(item.Objects) == 0 {
			continue
		}
		m := lens.Moment{Text: "objects: " + item.Say(), Confidence: cutroom.Medium}
		frame := ""
		if item.Frame != nil && !picture {
			frame = item.Frame.RelativePath
			if at := item.Frame.TimestampSeconds; at != nil {
				m.Start = *at
			}
		}
		m.Frame = frame
		for _, o := range item.Objects {
			f.Regions = append(f.Regions, lens.Region{Box: o.Box, Label: o.Label, Frame: frame, Confidence: sureness(o.Score)})
			if sureness(o.Score) == cutroom.Low {
				m.Confidence = cutroom.Low
			}
		}
		f.Timeline = append(f.Timeline, m)
	}
	return f
}

// sureness grades the detector's own number.
func sureness(score float64) cutroom.Confidence {
	switch {
	case score >= 0.6:
		return cutroom.High
	case score >= 0.45:
		return cutroom.Medium
	}
	return cutroom.Low
}

func round4(v float64) float64 { return math.Round(v*10_000) / 10_000 }
