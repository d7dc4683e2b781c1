package media

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/lens"
	"cutroom/internal/picture"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
)

// ReadImage says what a picture shows.
var ReadImage = tool.Add(Family, tool.Spec[ReadImageInput, ReadOutput]{
	Name:        "media.read_image",
	Summary:     "See a picture through a model, as evidence",
	Description: "See a picture through a reader: a model that the operator configured, else the recognisers of this machine. Answers what is seen and written, where, how sure that is, who says so and everything that was tried. Nothing leaves the machine unless the operator allowed uploads, or a person approves this call (send).",
	Kind:        cutroom.Read,
	Risk:        tool.MediumRisk,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Short:       "read-image",
	Timeout:     10 * time.Minute,
	Exclusive:   [][]string{{"send", "local_only"}},
	Network:     true,
	Sends:       func(in ReadImageInput) bool { return in.Send },
	Needs:       tool.Needs{Readers: true},
	Calls:       []string{"video.probe", "video.extract_frames", "video.ocr_frames", "media.objects", "media.prepare"},
	Formats:     readFormats(lens.Image),
	Examples:    []ReadImageInput{{Source: "slide.png"}, {Source: "receipt.jpg", Prompt: "which total is printed?", Language: "de"}},
	Probes:      func(tool.Facts, ReadImageInput) bool { return false },
	Compose:     readImage,
})

// ReadImageInput is the request.
type ReadImageInput struct {
	Source    cutroom.InPath `json:"source" doc:"The picture."`
	Prompt    string         `json:"prompt,omitempty" max:"4000" doc:"What you want to know above all."`
	Language  string         `json:"language,omitempty" max:"35" doc:"Language of the text in it, as a BCP 47 tag."`
	LocalOnly bool           `json:"local_only,omitempty" doc:"Ask nobody outside of this machine."`
	Send      bool           `json:"send,omitempty" doc:"Ask for this picture to be sent to the configured services: a person has to approve that, unless the operator allows uploads."`
}

// Reads is what the call may send.
func (in ReadImageInput) Reads() lens.Medium { return lens.Image }

// Validate refuses a contradiction.
func (in ReadImageInput) Validate() error { return sendOrKeep(in.Send, in.LocalOnly) }

func sendOrKeep(send, local bool) error {
	if send && local {
		return cutroom.Errorf(cutroom.Invalid, "send and local_only exclude each other").WithHint("leave one of them out")
	}
	return nil
}

func readImage(ctx context.Context, env tool.Env, in ReadImageInput) (ReadOutput, error) {
	r := newReading(ctx, env, lens.Image, asked{source: in.Source, prompt: in.Prompt, language: in.Language, localOnly: in.LocalOnly})
	if err := r.open(); err != nil {
		return *r.out, err
	}
	found := &lens.Findings{}
	hops, _ := lens.Order(r.row.Chain, r.offered(lens.Image))
	var list []tool.ReadHop
	for _, h := range hops {
		switch {
		case h.Reader != nil:
			list = append(list, r.pictureHop(*h.Reader, found))
		case h.Step == lens.Looking:
			list = append(list, r.lookHop(found))
		}
	}
	by, ok, err := r.ask(list, "")
	switch {
	case err != nil:
	case ok:
		err = r.done(by, *found)
	default:
		err = r.metadata()
	}
	return *r.out, err
}

// smallPicture are the bounds of the copy that is sent when the first one was too large.
const (
	smallSide  = 1024
	smallBytes = 400_000
)

// pictureHop shows the picture to a reader.
func (r *reading) pictureHop(x lens.Reader, found *lens.Findings) tool.ReadHop {
	at := x.Step
	h := tool.ReadHop{Reader: x, Hop: provider.Hop{Route: string(at)}}
	send := func(side int, most int64, whole bool) (provider.Request, error) {
		data, form, err := r.picture(side, most, whole)
		if err != nil {
			return provider.Request{}, err
		}
		return r.request(x, lens.Task{Medium: lens.Image}, 0, r.part(provider.Image, data, form)), nil
	}
	h.Request = func(context.Context) (provider.Request, error) {
		most := r.set.Sizes.ImageFullBytes
		if x.MaxBytes > 0 {
			most = min(most, x.MaxBytes*3/4)
		}
		whole := r.row.Verdict == lens.Full && r.file.Size <= most && lens.SentAs(lens.Image, r.form.MediaType)
		return send(r.set.Sizes.ImageFullSide, most, whole)
	}
	h.Shrink = func(context.Context, provider.Request) (provider.Request, error) {
		r.warn(x.Provider(at) + " took the picture for too large: it was shown a smaller one")
		return send(smallSide, smallBytes, false)
	}
	h.Accept = r.accept(x.Provider(at), func() lens.Bounds { return lens.Bounds{Medium: lens.Image} }, found)
	return h
}

// picture is the file without what it says beside the picture, or a smaller copy of it. A
// file that cannot be taken apart is never sent as it is.
func (r *reading) picture(side int, most int64, whole bool) ([]byte, string, error) {
	if whole {
		data, err := r.env.ReadInput(r.file.Index, most)
		if err != nil {
			return nil, "", err
		}
		if data, err = picture.Anonymous(data); err == nil {
			return data, r.form.MediaType, nil
		}
	}
	reply, err := r.env.Call(r.ctx, "media.prepare", PrepareInput{Source: r.source, As: asPicture, Side: side, MaxBytes: most})
	if err == nil {
		data, err := r.env.ReadArtifact(r.ctx, reply.Output.(*PrepareOutput).Copies[0].File, most)
		return data, "image/jpeg", err
	}
	if cutroom.AsError(err).Code != cutroom.MissingDependency {
		return nil, "", err
	}
	// Without the program, what plain JPEG and PNG hold can be made smaller all the same.
	r.attempt(lens.Attempt{Provider: "local:prepare", Skipped: lens.NoFFmpeg})
	data, readErr := r.env.ReadInput(r.file.Index, mostPicture)
	if readErr != nil {
		return nil, "", readErr
	}
	if data, readErr = ffmpeg.FitJPEG(data, side, int(most)); readErr != nil {
		return nil, "", err
	}
	if data, readErr = picture.Anonymous(data); readErr != nil { // it may have been small enough
		return nil, "", err
	}
	return data, "image/jpeg", nil
}

// lookHop reads the picture with what this machine has.
func (r *reading) lookHop(found *lens.Findings) tool.ReadHop {
	h := tool.ReadHop{Hop: provider.Hop{Route: "local"}}
	h.Endpoint.Name = "ocr"
	h.Local = func(ctx context.Context) (provider.Reply, error) {
		seen, err := r.glance()
		*found = seen
		return provider.Reply{}, err
	}
	return h
}
