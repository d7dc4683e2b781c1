package media

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// ReadVideo says what a video shows and what is said in it.
var ReadVideo = tool.Add(Family, tool.Spec[ReadVideoInput, ReadOutput]{
	Name:        "media.read_video",
	Summary:     "See and hear a video through a model, second by second",
	Description: "See and hear a video through readers: a model that the operator configured and that takes video, else frames and sound each by whoever can read them, down to the recognisers of this machine. Answers a timeline and a transcript on one axis, with frames to cite, who read it and everything that was tried. Nothing leaves the machine unless the operator allowed uploads, or a person approves this call (send). Use media.watch for evidence that is measured here.",
	Kind:        cutroom.Read,
	Risk:        tool.MediumRisk,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Short:       "read-video",
	Timeout:     time.Hour,
	Network:     true,
	Sends:       func(in ReadVideoInput) bool { return in.Send },
	Needs:       tool.Needs{Readers: true},
	Calls:       []string{"video.probe", "video.extract_frames", "video.transcript", "media.prepare", "media.read_frames", "media.transcribe"},
	Formats:     readFormats(lens.Video),
	MaxFrames:   48,
	Examples:    []ReadVideoInput{{Source: "talk.mp4"}, {Source: "bug.mov", Prompt: "when does the error appear?", MaxFrames: 24}},
	Probes:      func(tool.Facts, ReadVideoInput) bool { return false },
	Compose:     readVideo,
})

// ReadVideoInput is the request.
type ReadVideoInput struct {
	Source   cutroom.InPath `json:"source" doc:"The video."`
	Prompt   string         `json:"prompt,omitempty" max:"4000" doc:"What you want to know above all."`
	Language string         `json:"language,omitempty" max:"35" doc:"Language spoken and written, as a BCP 47 tag."`
	video.Range
	MaxFrames int  `json:"max_frames,omitzero" min:"1" max:"48" default:"16" doc:"Most frames, where frames are read."`
	LocalOnly bool `json:"local_only,omitempty" doc:"Ask nobody outside of this machine."`
	Send      bool `json:"send,omitempty" doc:"Ask for this video to be sent to the configured services: a person has to approve that, unless the operator allows uploads."`
}

// Reads is what the call may send.
func (in ReadVideoInput) Reads() lens.Medium { return lens.Video }

// Validate refuses a contradiction and an empty range.
func (in ReadVideoInput) Validate() error {
	if err := sendOrKeep(in.Send, in.LocalOnly); err != nil {
		return err
	}
	return in.Range.Check()
}

func readVideo(ctx context.Context, env tool.Env, in ReadVideoInput) (ReadOutput, error) {
	r := newReading(ctx, env, lens.Video, asked{source: in.Source, prompt: in.Prompt, language: in.Language, Range: in.Range, maxFrames: in.MaxFrames, localOnly: in.LocalOnly})
	if err := r.open(); err != nil {
		return *r.out, err
	}
	found := &lens.Findings{}
	hops, _ := lens.Order(r.row.Chain, r.offered(lens.Video))
	frames := &framing{reading: r}
	var list []tool.ReadHop
	for _, h := range hops {
		switch {
		case h.Reader != nil:
			list = append(list, r.videoHop(h.Step, *h.Reader, found))
		case h.Step == lens.FrameRead:
			list = append(list, frames.hop(found))
		}
	}
	by, ok, err := r.ask(list, "")
	frames.unfold()
	switch {
	case err != nil:
	case ok && strings.HasPrefix(by, string(lens.FrameRead)+":"):
		err = r.done(frames.by, *found)
	case ok:
		err = r.done(by, *found)
	default:
		err = r.metadata()
	}
	return *r.out, err
}

// smallVideoBytes is the copy that is sent when the first one was too large.
const smallVideoBytes = 3_000_000

// videoHop sends the video, or a smaller copy of it, to a model.
func (r *reading) videoHop(at lens.Step, x lens.Reader, found *lens.Findings) tool.ReadHop {
	h := tool.ReadHop{Reader: x, Hop: provider.Hop{Route: string(at)}}
	shift := cutroom.Micros(0)
	copied := func(most int64) (provider.Request, error) {
		if x.MaxBytes > 0 {
			most = min(most, x.MaxBytes*3/4)
		}
		reply, err := r.env.Call(r.ctx, "media.prepare", PrepareInput{Source: r.source, As: asVideo, Range: r.Range, MaxBytes: max(most, 10_000)})
		if err != nil {
			return provider.Request{}, err
		}
		c := reply.Output.(*PrepareOutput).Copies[0]
		data, err := r.env.ReadArtifact(r.ctx, c.File, most)
		shift = c.StartSeconds
		return r.videoRequest(x, data, c.File.MediaType), err
	}
	h.Request = func(context.Context) (provider.Request, error) {
		tooLarge := x.MaxBytes > 0 && r.file.Size > x.MaxBytes*3/4
		if at == lens.Smaller || tooLarge || !lens.SentAs(lens.Video, r.form.MediaType) {
			return copied(r.set.Sizes.VideoFullBytes)
		}
		data, err := r.env.ReadInput(r.file.Index, r.file.Size)
		return r.videoRequest(x, data, r.form.MediaType), err
	}
	h.Shrink = func(context.Context, provider.Request) (provider.Request, error) {
		r.warn(x.Provider(at) + " took the video for too large: it was sent a smaller copy")
		return copied(min(smallVideoBytes, r.file.Size/2))
	}
	if why := r.has("ffmpeg"); why != "" {
		h.Shrink = nil
		if at == lens.Smaller || !lens.SentAs(lens.Video, r.form.MediaType) {
			h.Skip = why
		}
	}
	h.Accept = r.accept(x.Provider(at), func() lens.Bounds {
		return lens.Bounds{Medium: lens.Video, Length: r.facts.Length, Shift: shift}
	}, found)
	return h
}

func (r *reading) videoRequest(x lens.Reader, data []byte, form string) provider.Request {
	tokens := int64(r.facts.Length/cutroom.Second) * 300
	return r.request(x, lens.Task{Medium: lens.Video, Length: r.facts.Length}, tokens, r.part(provider.Video, data, form))
}

// framing reads a video by its frames and its sound.
type framing struct {
	*reading
	by       string         // who read them
	mode     string         // how the frames were chosen
	attempts []lens.Attempt // of those who read frames and sound
}

// hop is the frames' place in the chain.
func (f *framing) hop(found *lens.Findings) tool.ReadHop {
	h := tool.ReadHop{Hop: provider.Hop{Route: string(lens.FrameRead)}}
	f.mode = "scene"
	if f.facts.Length > 10*60*cutroom.Second {
		f.mode = "even"
	}
	h.Endpoint.Name = f.mode
	if h.Skip = f.has("ffmpeg"); h.Skip == "" {
		h.Skip = f.has("ffprobe")
	}
	h.Local = func(context.Context) (provider.Reply, error) {
		seen, err := f.read()
		*found = seen
		return provider.Reply{}, err
	}
	return h
}

// read takes frames, has them read, and has the sound heard.
func (f *framing) read() (lens.Findings, error) {
	// What is tried inside is kept apart until the chain tells where it belongs.
	outer := f.out.Meta.Attempts
	f.out.Meta.Attempts = nil
	defer func() { f.attempts, f.out.Meta.Attempts = f.out.Meta.Attempts, outer }()
	pictures, err := f.pictures()
	if err != nil {
		return pictures, err
	}
	sound, by, err := f.sounds()
	if err != nil {
		return pictures, err
	}
	if f.by == "" && by != "" {
		f.by = by
	}
	all := lens.Join(pictures, sound)
	if all.Empty() {
		return all, nothingSeen("nothing was seen in the frames and nothing was heard")
	}
	return all, nil
}

// pictures has frames read. That nobody sees anything in them is no error.
func (f *framing) pictures() (lens.Findings, error) {
	none := lens.Join()
	if f.doc == nil || f.doc.FirstVideo() == nil {
		return none, nil
	}
	in := video.ExtractFramesInput{Source: f.local(), Mode: f.mode, Range: f.Range, Width: 1280, FullSize: true, Detail: "full", Limits: probeLimits(f.maxFrames)}
	reply, err := f.env.Call(f.ctx, "video.extract_frames", in)
	if err != nil {
		return none, err
	}
	var refs []cutroom.ArtifactRef
	for _, s := range stills(reply.Output.(*video.ExtractFramesOutput)) {
		refs = append(refs, s.ref)
	}
	reply, err = f.env.Call(f.ctx, "media.read_frames", ReadFramesInput{Frames: refs, Prompt: f.prompt, Language: f.language, LocalOnly: f.localOnly})
	if err != nil {
		return none, err
	}
	o := reply.Output.(*ReadOutput)
	f.out.transient = f.out.transient || o.transient
	for _, a := range o.Meta.Attempts {
		a.Provider = string(lens.FrameRead) + ":" + a.Provider
		if reply.Reused {
			a.BytesSent, a.MS = 0, 0
		}
		f.attempt(a)
	}
	for _, w := range o.Meta.Warnings {
		f.warn(string(lens.FrameRead) + ": " + w)
	}
	if o.Meta.Provider != "" {
		f.by = string(lens.FrameRead) + ":" + o.Meta.Provider
	}
	return o.Findings, nil
}

// sounds has the sound heard by who transcribes; by is who did.
func (f *framing) sounds() (lens.Findings, string, error) {
	if f.doc == nil || len(f.doc.AudioStreams()) == 0 {
		return lens.Join(), "", nil
	}
	under := string(lens.FrameRead) + ":"
	found, by, err := f.hear([]lens.Step{lens.Endpoint, lens.Speech}, under)
	if err == nil && by == "" {
		f.warn("the sound was heard by nobody")
	}
	return found, by, err
}

// unfold puts what was tried for frames and sound in the place of the hop's own attempt.
// That one stays when it failed: it says why the chain went on.
func (f *framing) unfold() {
	list := f.out.Meta.Attempts
	i := slices.IndexFunc(list, func(a lens.Attempt) bool {
		return a.Provider == fmt.Sprintf("%s:%s", lens.FrameRead, f.mode) && a.Skipped == ""
	})
	if i < 0 {
		return
	}
	own := list[i : i+1 : i+1]
	if list[i].OK && len(f.attempts) > 0 {
		own = nil
	}
	f.out.Meta.Attempts = slices.Concat(list[:i], f.attempts, own, list[i+1:])
}
