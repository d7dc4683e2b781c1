package lens

import (
	"fmt"
	"strings"

	"cutroom"
)

// Outlook is what reading a file would do: what would be sent where, and what that would
// cost at most. Nothing is sent to find that out.
type Outlook struct {
	Source          string          `json:"source" max:"4096" doc:"The file."`
	Kind            Medium          `json:"kind" enum:"video,audio,image" doc:"What it is read as."`
	Verdict         Verdict         `json:"verdict" enum:"full,reencode,sampleFrames,segment,downsample" doc:"What its size and length allow."`
	SizeBytes       int64           `json:"size_bytes" min:"0" unit:"B" doc:"Size of the file."`
	DurationSeconds *cutroom.Micros `json:"duration_seconds,omitempty" unit:"s" doc:"Length of what would be read, when known."`
	Upload          string          `json:"upload" enum:"allowed,needs_consent,forbidden" doc:"allowed: the operator allowed uploads. needs_consent: a call with send has to be approved by a person. forbidden: everything stays on this machine."`
	Chain           []Leg           `json:"chain" doc:"Who would be asked, in order; the first that gives evidence ends it."`
	MaxBytes        int64           `json:"max_bytes" min:"0" unit:"B" doc:"Bytes that would leave this machine if all that may be asked were and all failed but the last."`
	MaxCost         *cutroom.Micros `json:"max_cost,omitempty" doc:"What that would cost, in the currency of the models' prices; absent when a price is not known."`
	Warnings        []string        `json:"warnings" doc:"What to know before."`
}

// Leg is one hop of an outlook.
type Leg struct {
	Provider    string          `json:"provider" max:"4096" doc:"Who."`
	Model       string          `json:"model,omitempty" max:"4096" doc:"Which model."`
	Destination string          `json:"destination,omitempty" max:"4096" doc:"The origin that it would be sent to; absent for what stays on this machine."`
	Sends       string          `json:"sends,omitempty" max:"4096" doc:"What would be sent."`
	Bytes       int64           `json:"bytes" min:"0" unit:"B" doc:"About how many bytes."`
	Tokens      int64           `json:"tokens,omitempty" min:"0" doc:"About how many tokens of request and answer."`
	Cost        *cutroom.Micros `json:"cost,omitempty" doc:"About what that costs, in the currency of the model's price."`
	Would       string          `json:"would" enum:"send,work_here,skip" doc:"send: it leaves this machine. work_here: it does not. skip: it is left out."`
	Why         string          `json:"why,omitempty" max:"4096" doc:"Why it is left out, or tried last."`
}

// Consent is what may leave this machine.
type Consent string

// The kinds of consent.
const (
	Allowed      Consent = "allowed"       // the operator allowed uploads, or this call was approved
	NeedsConsent Consent = "needs_consent" // nobody did
	Forbidden    Consent = "forbidden"     // strictLocalOnly, or the call asked for it
)

// Load is what one hop would send.
type Load struct {
	What   string // in words
	Bytes  int64
	Tokens int64
}

// answerTokens is what an answer is taken to have.
const answerTokens = 1500

// Shape is how much of a medium there is to send, for an estimate.
type Shape struct {
	Medium Medium
	Sizes  Sizes
	Facts  Facts
	Frames int // pictures of a video
}

// Bytes of what is made for sending, about.
const (
	frameBytes   = 110_000 // a JPEG of 1024 px
	pictureBytes = 450_000 // a JPEG of 2048 px
	speechRate   = 4_000   // bytes of a second of speech, mono MP3
)

// Load estimates what a reader at a step is sent. Base64 makes bytes longer by a third.
func (s Shape) Load(at Step, v Verdict) Load {
	f := s.Facts
	l := Load{What: "the file", Bytes: f.Bytes}
	seconds := int64(f.Length / cutroom.Second)
	switch {
	case at == FrameRead:
		l = Load{What: fmt.Sprintf("%d frames", s.Frames), Bytes: int64(s.Frames) * frameBytes, Tokens: int64(s.Frames) * 800}
	case s.Medium == Video && (at == Smaller || !SentAs(Video, f.Form)):
		l = Load{What: "a copy of 540 lines", Bytes: min(f.bytes(), s.Sizes.VideoFullBytes), Tokens: seconds * 300}
	case s.Medium == Video:
		l.Tokens = seconds * 300
	case s.Medium == Audio && (v != Full || !SentAs(Audio, f.Form)):
		l = Load{What: "a mono copy", Bytes: seconds * speechRate, Tokens: seconds * 32}
		if v == Segment && s.Sizes.AudioPart > 0 {
			l.What = fmt.Sprintf("%d parts of a mono copy", (f.Length+s.Sizes.AudioPart-1)/s.Sizes.AudioPart)
		}
	case s.Medium == Audio:
		l.Tokens = seconds * 32
	case v == Downsample || !SentAs(Image, f.Form):
		l = Load{What: "a smaller copy", Bytes: min(f.Bytes, pictureBytes), Tokens: 1200}
	default:
		l.Tokens = 1200
	}
	l.Bytes += l.Bytes / 3
	l.Tokens += answerTokens
	return l
}

// Cost is what tokens of a reader cost, nil when its price is not known. A fourth of them
// are taken to be of the answer.
func (r Reader) Cost(tokens int64) *cutroom.Micros {
	if !r.Priced {
		return nil
	}
	out := min(tokens, answerTokens)
	c := cutroom.Micros(((tokens-out)*r.Input + out*r.Output) / 1_000_000)
	return &c
}

// Legs are the hops of an outlook, and what all that would be sent sums up to.
// lacks says what this machine lacks for a hop, "" when it has all.
func (o *Outlook) Legs(hops []Hop, s Shape, v Verdict, c Consent, apart Apart, lacks func(Hop) string) {
	o.Upload, o.Chain, o.Warnings = string(c), []Leg{}, []string{}
	var cost cutroom.Micros
	priced := true
	for _, h := range hops {
		var legs []Leg
		switch {
		case h.Reader != nil:
			legs = []Leg{h.leg(h.Step, *h.Reader, s.Load(h.Step, v), c).without(lacks(h))}
		case h.Step == FrameRead:
			legs = frameLegs(s, v, c, apart, lacks)
		default:
			legs = []Leg{Leg{Provider: string(h.Step), Would: "work_here"}.without(lacks(h))}
		}
		for _, l := range legs {
			if l.Would == "send" {
				o.MaxBytes += l.Bytes
				priced = priced && l.Cost != nil
				if l.Cost != nil {
					cost += *l.Cost
				}
			}
			o.Chain = append(o.Chain, l)
		}
	}
	if priced && o.MaxBytes > 0 {
		o.MaxCost = &cost
	}
}

// Apart are who may read a video in parts.
type Apart struct {
	Frames, Sound []Reader
	Heard         bool // it has sound
}

// frameLegs are the readers of a video's frames and of its sound, or this machine's own.
func frameLegs(s Shape, v Verdict, c Consent, a Apart, lacks func(Hop) string) []Leg {
	if why := lacks(Hop{Step: FrameRead}); why != "" {
		return []Leg{{Provider: string(FrameRead), Would: "skip", Why: why}}
	}
	var legs []Leg
	here := func(at Step) {
		l := Leg{Provider: string(FrameRead) + ":" + string(at), Would: "work_here"}
		legs = append(legs, l.without(lacks(Hop{Step: at})))
	}
	read := func(r Reader, load Load) {
		h := Hop{Step: r.Step, Reader: &r}
		l := h.leg(r.Step, r, load, c)
		l.Provider = string(FrameRead) + ":" + l.Provider
		legs = append(legs, l.without(lacks(h)))
	}
	for _, r := range a.Frames {
		read(r, s.Load(FrameRead, v))
	}
	here(Looking)
	if !a.Heard {
		return legs
	}
	hops, _ := Order([]Step{Endpoint, Speech}, a.Sound)
	for _, h := range hops {
		if h.Reader == nil {
			here(h.Step)
			continue
		}
		read(*h.Reader, s.sound())
	}
	return legs
}

// sound estimates what a reader is sent of the sound of a video.
func (s Shape) sound() Load {
	s.Medium = Audio
	if s.Facts.Length > s.Sizes.AudioFullLength {
		return s.Load(Endpoint, Segment)
	}
	return s.Load(Endpoint, Downsample)
}

// without is the leg where this machine lacks something for it.
func (l Leg) without(what string) Leg {
	if what != "" {
		l.Would, l.Why = "skip", what
	}
	return l
}

func (h Hop) leg(at Step, r Reader, load Load, c Consent) Leg {
	l := Leg{Provider: r.Provider(at), Model: r.Model, Sends: load.What, Bytes: load.Bytes, Tokens: load.Tokens, Cost: r.Cost(load.Tokens), Would: "send"}
	if n := int64(r.Most); n > 0 {
		l.Sends += fmt.Sprintf(", to each of at most %d models", n)
		l.Bytes, l.Tokens = n*l.Bytes, n*l.Tokens
		l.Why = "those that its own list of models says take this; lens.models names one instead, or \"\" for none"
	}
	if r.Cooled {
		l.Why = "its key failed shortly before, so it is tried last"
	}
	if r.Local {
		l.Would = "work_here"
		return l
	}
	l.Destination = r.Origin
	switch {
	case c == Forbidden:
		l.Would, l.Why = "skip", "everything stays on this machine"
	case c == NeedsConsent:
		l.Would, l.Why = "skip", "nobody allowed it to leave: set lens.allow_upload, or ask with send and have that call approved"
	case r.MaxBytes > 0 && load.Bytes > r.MaxBytes:
		l.Why = strings.TrimPrefix(l.Why+"; ", "; ") + fmt.Sprintf("it takes at most %d bytes, so it is sent less", r.MaxBytes)
	}
	return l
}
