package media

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// stretch is a part of a recording that is heard at once.
type stretch struct {
	start, end cutroom.Micros // end 0: not known
	whole      bool           // all of the file
}

// hear listens to the sound of the medium along a chain. by is who heard the first part,
// "" when nobody heard any. under is what the names of the attempts get in front.
func (r *reading) hear(chain []lens.Step, under string) (all lens.Findings, by string, err error) {
	var parts []lens.Part
	var rest []lens.Findings
	for i, s := range r.stretches(chain) {
		found := &lens.Findings{}
		who, ok, err := r.ask(r.soundHops(chain, s, found), under)
		switch {
		case err != nil:
			return all, "", err
		case !ok && s.whole:
			return all, "", nil
		case !ok:
			r.warn(fmt.Sprintf("the part from %s s to %s s was heard by nobody", s.start, s.end))
			continue
		case by != "" && who != by:
			r.warn(fmt.Sprintf("part %d, from %s s to %s s, was heard by %s, the first by %s", i+1, s.start, s.end, who, by))
		}
		by = cmp.Or(by, who)
		parts = append(parts, lens.Part{Start: s.start, End: s.end, Lines: found.Transcript})
		found.Transcript = nil
		rest = append(rest, *found)
	}
	if by == "" {
		return all, "", nil
	}
	rest = append(rest, lens.Findings{Transcript: lens.JoinSpeech(parts)})
	return lens.Join(rest...), by, nil
}

// stretches divides a long recording where somebody is to be sent it. Who listens here
// takes it whole.
func (r *reading) stretches(chain []lens.Step) []stretch {
	whole := []stretch{{r.Start, r.end(), r.Start == 0 && r.facts.Length == r.facts.Whole}}
	readers := r.soundReaders(chain)
	if r.row.Verdict != lens.Segment && r.medium == lens.Audio || len(readers) == 0 || r.facts.Length <= r.set.Sizes.AudioFullLength {
		return whole
	}
	if r.env.Readers().Consent() != lens.Allowed && !slices.ContainsFunc(readers, func(x lens.Reader) bool { return x.Local }) {
		return whole
	}
	reply, err := r.prepareSpeech()
	if err != nil {
		return whole
	}
	var list []stretch
	for _, c := range reply.Copies {
		list = append(list, stretch{c.StartSeconds, end(c), len(reply.Copies) == 1})
	}
	return list
}

func end(c Copy) cutroom.Micros {
	if c.EndSeconds == nil {
		return 0
	}
	return *c.EndSeconds
}

// soundReaders are the readers of a chain's steps.
func (r *reading) soundReaders(chain []lens.Step) []lens.Reader {
	return slices.DeleteFunc(r.offered(lens.Audio), func(x lens.Reader) bool { return !slices.Contains(chain, x.Step) || x.Command > 0 })
}

// prepareSpeech makes small copies of the whole range; the same call answers from its
// record the next time.
func (r *reading) prepareSpeech() (*PrepareOutput, error) {
	in := PrepareInput{Source: r.source, As: asSpeech, Range: r.Range, MaxBytes: r.mostSound()}
	if r.facts.Length > r.set.Sizes.AudioFullLength && r.set.Sizes.AudioFullLength > 0 {
		in.PartSeconds, in.OverlapSeconds = r.set.Sizes.AudioPart, r.set.Sizes.AudioOverlap
	}
	reply, err := r.env.Call(r.ctx, "media.prepare", in)
	if err != nil {
		return nil, err
	}
	return reply.Output.(*PrepareOutput), nil
}

func (r *reading) mostSound() int64 { return max(r.set.Sizes.AudioFullBytes, 100_000) }

// soundHops are the hops of a chain for one stretch.
func (r *reading) soundHops(chain []lens.Step, s stretch, found *lens.Findings) []tool.ReadHop {
	hops, _ := lens.Order(chain, r.offered(lens.Audio))
	var list []tool.ReadHop
	for _, h := range hops {
		switch {
		case h.Reader != nil && h.Reader.Command > 0:
			list = append(list, r.commandHop(*h.Reader, s, found))
		case h.Reader != nil:
			list = append(list, r.soundHop(*h.Reader, s, found))
		case h.Step == lens.Speech:
			list = append(list, r.speechHop(s, found))
		}
	}
	return list
}

// sound is what is sent of a stretch, and where it begins in the medium.
func (r *reading) sound(s stretch, small bool) (data []byte, form string, shift cutroom.Micros, err error) {
	if s.whole && !small && r.medium == lens.Audio && r.row.Verdict == lens.Full && lens.SentAs(lens.Audio, r.form.MediaType) {
		data, err = r.env.ReadInput(r.file.Index, r.mostSound())
		return data, r.form.MediaType, 0, err
	}
	reply, err := r.prepareSpeech()
	if err != nil {
		return nil, "", 0, err
	}
	i := slices.IndexFunc(reply.Copies, func(c Copy) bool { return c.StartSeconds == s.start })
	if i < 0 {
		i = 0
	}
	c := reply.Copies[i]
	data, err = r.env.ReadArtifact(r.ctx, c.File, r.mostSound())
	return data, c.File.MediaType, c.StartSeconds, err
}

// soundHop sends a stretch to a model, or to a service that transcribes.
func (r *reading) soundHop(x lens.Reader, s stretch, found *lens.Findings) tool.ReadHop {
	h := tool.ReadHop{Reader: x, Hop: provider.Hop{Route: string(x.Step)}}
	length, shift := max(0, s.end-s.start), cutroom.Micros(0)
	send := func(small bool) (provider.Request, error) {
		data, form, at, err := r.sound(s, small)
		if err != nil {
			return provider.Request{}, err
		}
		shift = at
		tokens := int64(length/cutroom.Second) * 32
		return r.request(x, lens.Task{Medium: lens.Audio, Length: length, Speech: true}, tokens, r.part(provider.Audio, data, form)), nil
	}
	h.Request = func(context.Context) (provider.Request, error) { return send(false) }
	if s.whole && r.row.Verdict == lens.Full {
		h.Shrink = func(context.Context, provider.Request) (provider.Request, error) {
			r.warn(x.Provider(x.Step) + " took the recording for too large: it was sent a smaller copy")
			return send(true)
		}
	}
	bounds := func() lens.Bounds { return lens.Bounds{Medium: lens.Audio, Length: length, Shift: shift} }
	h.Accept = r.accept(x.Provider(x.Step), bounds, found)
	if x.Step == lens.Endpoint {
		h.Accept = func(reply provider.Reply) error {
			lines, err := transcribed([]byte(reply.Message.Text()))
			if err != nil {
				return err
			}
			return heard(bounds(), lines, found)
		}
	}
	return h
}

// transcribed reads what an engine writes: JSON segments, SRT, VTT or lines with times.
func transcribed(data []byte) ([]lens.Line, error) {
	t, err := evidence.ParseTranscript(data, evidence.ParseOptions{})
	if err != nil {
		return nil, err
	}
	lines := make([]lens.Line, 0, len(t.Segments))
	for _, s := range t.Segments {
		if strings.TrimSpace(s.Text) != "" {
			lines = append(lines, lens.Line{Start: s.Start, End: s.End, Text: s.Text, Speaker: s.Speaker})
		}
	}
	if len(lines) == 0 {
		return nil, lens.ErrAnswer
	}
	return lines, nil
}

// heard holds lines within what was heard.
func heard(b lens.Bounds, lines []lens.Line, found *lens.Findings) error {
	clean, _ := b.Clean(lens.Findings{Transcript: lines})
	if clean.Empty() {
		return lens.ErrAnswer
	}
	*found = clean
	return nil
}

// commandHop lets a program of the operator's own listen.
func (r *reading) commandHop(x lens.Reader, s stretch, found *lens.Findings) tool.ReadHop {
	h := tool.ReadHop{Hop: provider.Hop{Route: string(lens.Endpoint)}}
	h.Endpoint.Name = x.Name
	h.Skip = r.has(asrProgram(x.Command))
	if h.Skip != "" {
		r.warn(fmt.Sprintf("the program of %s, number %d of lens.asr, is not pinned: `cutroom setup` does that, or says what is wrong with it", x.Name, x.Command))
	}
	if h.Skip == "" {
		h.Skip = r.has("ffmpeg")
	}
	h.Local = func(context.Context) (provider.Reply, error) {
		in := TranscribeInput{Source: r.source, Endpoint: x.Command, Language: r.language, Range: video.Range{Start: s.start}}
		if s.end > 0 && !s.whole {
			in.End = &s.end
		}
		reply, err := r.env.Call(r.ctx, "media.transcribe", in)
		if err != nil {
			return provider.Reply{}, err
		}
		lines := reply.Output.(*TranscribeOutput).Lines
		return provider.Reply{}, heard(lens.Bounds{Medium: lens.Audio, Length: r.facts.Whole}, lines, found)
	}
	return h
}

// speechHop lets this machine's own engine listen.
func (r *reading) speechHop(s stretch, found *lens.Findings) tool.ReadHop {
	h := tool.ReadHop{Hop: provider.Hop{Route: "local"}}
	h.Endpoint.Name = "speech"
	if h.Skip = r.has("ffmpeg"); h.Skip == "" {
		h.Skip = r.has("ffprobe")
	}
	h.Local = func(context.Context) (provider.Reply, error) {
		in := video.TranscriptInput{Source: r.local(), Allow: []string{"embedded", "speech"}, Language: r.language, Range: video.Range{Start: s.start}, Detail: "full", Limits: probeLimits(1)}
		if s.end > 0 && !s.whole {
			in.End = &s.end
		}
		reply, err := r.env.Call(r.ctx, "video.transcript", in)
		if err != nil {
			return provider.Reply{}, err
		}
		t := reply.Output.(*video.TranscriptOutput)
		for _, reason := range t.PartialReasons {
			r.warn("local:speech: " + reason)
		}
		*found = spokenHere(t)
		if found.Empty() {
			return provider.Reply{}, nothingSeen("no speech was heard")
		}
		return provider.Reply{}, nil
	}
	return h
}

// spokenHere are the lines of a transcript of this machine. What it did not understand is
// no line but an observation in doubt.
func spokenHere(t *video.TranscriptOutput) lens.Findings {
	f := lens.Findings{}
	for _, s := range t.Segments {
		if s.Unreliable || s.Loop {
			f.Timeline = append(f.Timeline, lens.Moment{Start: s.Start, End: s.End, Text: "speech that was not understood, perhaps: " + s.Text, Confidence: cutroom.Low, Uncertain: true})
			continue
		}
		f.Transcript = append(f.Transcript, lens.Line{Start: s.Start, End: s.End, Text: s.Text, Speaker: s.Speaker})
	}
	return lens.Join(f)
}
