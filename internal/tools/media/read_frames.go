package media

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
)

// ReadFrames says what recorded frames show.
var ReadFrames = tool.Add(Family, tool.Spec[ReadFramesInput, ReadOutput]{
	Name:        "media.read_frames",
	Summary:     "See recorded frames through a model, as evidence",
	Description: "See frames that an earlier call recorded through a reader: a model that the operator configured, else the recognisers of this machine. Each observation names its frame and its second. Nothing leaves the machine unless the operator allowed uploads, or a person approves this call (send).",
	Kind:        cutroom.Read,
	Risk:        tool.MediumRisk,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Timeout:     30 * time.Minute,
	Network:     true,
	Sends:       func(in ReadFramesInput) bool { return in.Send },
	Needs:       tool.Needs{Readers: true},
	Calls:       []string{"video.ocr_frames", "media.objects"},
	Formats:     []string{"jpg", "jpeg", "png", "webp"},
	MaxFrames:   48,
	Examples: []ReadFramesInput{{Prompt: "when does the error appear?", Frames: []cutroom.ArtifactRef{{
		RelativePath: ".cutroom/stage/0123456789abcdef/video.extract_frames/0123456789abcdef/frame-0001.jpg",
		SHA256:       cutroom.DigestOf([]byte("a frame")), SizeBytes: 7, MediaType: "image/jpeg",
	}}}},
	Compose: readFrames,
})

// ReadFramesInput is the request.
type ReadFramesInput struct {
	Frames     []cutroom.ArtifactRef `json:"frames" items:"1..240" doc:"Frames as an earlier call returned them."`
	Prompt     string                `json:"prompt,omitempty" max:"4000" doc:"What you want to know above all."`
	Language   string                `json:"language,omitempty" max:"35" doc:"Language of the text in them, as a BCP 47 tag."`
	ModelsOnly bool                  `json:"models_only,omitempty" doc:"Ask models only, not the recognisers of this machine."`
	LocalOnly  bool                  `json:"local_only,omitempty" doc:"Ask nobody outside of this machine."`
	Send       bool                  `json:"send,omitempty" doc:"Ask for these frames to be sent to the configured services: a person has to approve that, unless the operator allows uploads."`
}

// Reads is what the call may send.
func (in ReadFramesInput) Reads() lens.Medium { return lens.Image }

// Validate refuses a contradiction.
func (in ReadFramesInput) Validate() error { return sendOrKeep(in.Send, in.LocalOnly) }

// Frames of one request, and their size.
const (
	framesAtOnce = 8
	frameSide    = 1024
	frameBytes   = 300_000
)

func readFrames(ctx context.Context, env tool.Env, in ReadFramesInput) (ReadOutput, error) {
	r := newReading(ctx, env, lens.Video, asked{prompt: in.Prompt, language: in.Language, localOnly: in.LocalOnly})
	frames := make([]still, len(in.Frames))
	for i, ref := range in.Frames {
		opened, ok := env.Facts().Artifact(ref)
		if !ok {
			return *r.out, fmt.Errorf("no input was opened for a frame of the call")
		}
		r.out.Meta.Budget.SizeBytes += opened.Size
		frames[i].ref = *opened.Frame
	}
	if first, ok := env.Facts().First(); ok {
		r.out.Source = first.Text
	}
	r.out.Meta.Budget.Verdict = lens.SampleFrames
	found, by, err := r.readStills(frames, in.ModelsOnly)
	if err != nil {
		return *r.out, err
	}
	if by == "" {
		r.out.AddReason("nobody could see the frames")
		r.out.transient = true
	}
	r.out.Meta.Provider, r.out.Findings = by, found
	r.finish()
	return *r.out, nil
}

// readStills shows frames to readers, a few at a time. by is who read the first of them,
// "" when nobody read any.
func (r *reading) readStills(frames []still, modelsOnly bool) (all lens.Findings, by string, err error) {
	var parts []lens.Findings
	for i := 0; i < len(frames); {
		hops, _ := lens.Order([]lens.Step{lens.Registered, lens.Configured, lens.Looking}, r.offered(lens.Image))
		n := min(len(frames)-i, atOnce(hops))
		if noModel(hops) {
			n = len(frames) - i // the recognisers take all at once
		}
		found := &lens.Findings{}
		who, ok, err := r.ask(r.stillHops(hops, frames[i:i+n], found, modelsOnly), "")
		if err != nil {
			return all, "", err
		}
		if ok {
			parts = append(parts, *found)
			if by != "" && who != by {
				r.warn(fmt.Sprintf("frames %d to %d were read by %s, the first ones by %s", i+1, i+n, who, by))
			}
			if by == "" {
				by = who
			}
		} else {
			r.warn(fmt.Sprintf("frames %d to %d were read by nobody", i+1, i+n))
		}
		i += n
	}
	return lens.Join(parts...), by, nil
}

// noModel says that there is no model to ask that may be.
func noModel(hops []lens.Hop) bool {
	return !slices.ContainsFunc(hops, func(h lens.Hop) bool { return h.Reader != nil })
}

// atOnce is how many pictures every reader takes in one request.
func atOnce(hops []lens.Hop) int {
	n := framesAtOnce
	for _, h := range hops {
		if h.Reader != nil && h.Reader.MaxImages > 0 {
			n = min(n, h.Reader.MaxImages)
		}
	}
	return max(1, n)
}

func (r *reading) stillHops(hops []lens.Hop, frames []still, found *lens.Findings, modelsOnly bool) []tool.ReadHop {
	var list []tool.ReadHop
	for _, h := range hops {
		switch {
		case h.Reader != nil:
			list = append(list, r.stillHop(*h.Reader, frames, found))
		case !modelsOnly:
			look := tool.ReadHop{Hop: provider.Hop{Route: "local"}}
			look.Endpoint.Name = "ocr"
			look.Local = func(context.Context) (provider.Reply, error) {
				for i := range frames {
					if err := r.size(&frames[i]); err != nil {
						return provider.Reply{}, err
					}
				}
				seen, err := r.recognise(frames, false)
				*found = seen
				return provider.Reply{}, err
			}
			list = append(list, look)
		}
	}
	return list
}

// stillHop shows a few frames to one reader.
func (r *reading) stillHop(x lens.Reader, frames []still, found *lens.Findings) tool.ReadHop {
	at := x.Step
	h := tool.ReadHop{Reader: x, Hop: provider.Hop{Route: string(at)}}
	shown := labelled(frames)
	send := func(list []still, side, most int) (provider.Request, error) {
		shown = labelled(list)
		var parts []provider.Part
		for i, f := range list {
			data, err := r.frameData(f, side, most)
			if err != nil {
				return provider.Request{}, err
			}
			parts = append(parts, provider.TextPart(fmt.Sprintf("%s, at %s s:", shown[i].Label, f.at())), r.part(provider.Image, data, "image/jpeg"))
		}
		return r.request(x, lens.Task{Medium: lens.Video, Frames: shown}, 0, parts...), nil
	}
	h.Request = func(context.Context) (provider.Request, error) { return send(frames, frameSide, frameBytes) }
	h.Shrink = func(context.Context, provider.Request) (provider.Request, error) {
		var half []still
		for i := 0; i < len(frames); i += 2 {
			half = append(half, frames[i])
		}
		r.warn(fmt.Sprintf("%s took %d frames for too much: it was shown %d, smaller", x.Provider(at), len(frames), len(half)))
		return send(half, frameSide/2, frameBytes/4)
	}
	bounds := func() lens.Bounds {
		first, last := frames[0].at(), frames[len(frames)-1].at()
		return lens.Bounds{Medium: lens.Video, Shift: first, Length: max(last-first, 1), Frames: shown}
	}
	h.Accept = r.accept(x.Provider(at), bounds, found)
	return h
}

// labelled names frames for a reader.
func labelled(frames []still) []lens.Frame {
	list := make([]lens.Frame, len(frames))
	for i, f := range frames {
		list[i] = lens.Frame{Label: fmt.Sprintf("f%d", i+1), At: f.at(), Path: f.ref.RelativePath}
	}
	return list
}

// frameData is a frame as it is sent.
func (r *reading) frameData(f still, side, most int) ([]byte, error) {
	data, err := r.env.ReadArtifact(r.ctx, f.ref, mostPicture)
	if err != nil {
		return nil, err
	}
	return ffmpeg.FitJPEG(data, side, most)
}

// size finds out how large a frame is.
func (r *reading) size(f *still) error {
	if f.w > 0 {
		return nil
	}
	data, err := r.env.ReadArtifact(r.ctx, f.ref, mostPicture)
	if err != nil {
		return err
	}
	f.w, f.h, err = ffmpeg.PictureSize(data)
	return err
}

// Observations are what was seen in frames, for a timeline: each with its frame.
func (out *ReadOutput) Observations(frames []cutroom.ArtifactRef, source string) []evidence.Observation {
	var list []evidence.Observation
	note := "seen by " + out.reader()
	for _, m := range out.Timeline {
		i := slices.IndexFunc(frames, func(f cutroom.ArtifactRef) bool { return f.RelativePath == m.Frame })
		if i < 0 {
			continue
		}
		o := evidence.Observation{At: m.Start, End: m.End, Text: m.Text, Confidence: m.Confidence, Frame: &frames[i], Source: source, Note: note}
		if m.Uncertain && o.Confidence != cutroom.NotAssessed {
			o.Confidence = cutroom.Low
		}
		list = append(list, o)
	}
	return list
}

// reader is who saw it: provider and model.
func (out *ReadOutput) reader() string {
	for _, a := range out.Meta.Attempts {
		if a.OK && a.Provider == out.Meta.Provider && a.Model != "" {
			return a.Provider + " " + a.Model
		}
	}
	return out.Meta.Provider
}
