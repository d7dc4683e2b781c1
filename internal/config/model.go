package config

import (
	"slices"
	"strings"

	"cutroom"
)

// Model is a model that the lens may ask and the gateway may forward to.
type Model struct {
	ID         string      `yaml:"id" doc:"What the service calls it, e.g. gpt-4.1-mini."`
	Provider   string      `yaml:"provider" doc:"Name of the service, the first half of PROVIDER/MODEL: openai, anthropic and gemini are known; any other name needs base_url."`
	Wire       string      `yaml:"wire" enum:"chat,responses,messages" doc:"How the service is spoken to: chat (/chat/completions), responses (/responses) or messages (/messages, Anthropic's). Default: that of a known provider, else chat."`
	BaseURL    string      `yaml:"base_url" doc:"The service's address as far as /chat/completions, /responses, /messages and /models, e.g. https://api.example.com/v1. Default: that of a known provider."`
	Key        string      `yaml:"key" as:"secret" doc:"Where its keys are: env:NAME, file:/PATH or keyring:NAME, more than one with commas between. Never a key itself. A service of this machine may need none."`
	Name       string      `yaml:"name" doc:"What people are shown. Default: the id."`
	Modalities []string    `yaml:"modalities" enum:"text,image,audio,video" doc:"What it takes in: text, image, audio, video. Left out: not known, and then only PROVIDER/MODEL chooses it as a reader."`
	Limits     ModelLimits `yaml:"limits" doc:"What it takes at most; what is left out is not bounded."`
	Price      Price       `yaml:"price" doc:"What it costs, in your currency."`
	Line       int         `yaml:"-"`
}

// ModelLimits are what a model takes at most; zero is not bounded.
type ModelLimits struct {
	ContextTokens  int64 `yaml:"context_tokens" doc:"Tokens of a request and its answer together."`
	OutputTokens   int64 `yaml:"output_tokens" doc:"Tokens of an answer."`
	RequestBytes   int64 `yaml:"request_bytes" doc:"Bytes of a request."`
	Images         int64 `yaml:"images" doc:"Pictures of one request."`
	MediaSeconds   int64 `yaml:"media_seconds" doc:"Length of sound or video of one request, seconds."`
	TimeoutSeconds int64 `yaml:"timeout_seconds" doc:"How long an answer may take, seconds."`
}

// Price is what a million tokens cost. [Scalar.Micros] gives millionths of the currency.
type Price struct {
	Input  Scalar `yaml:"input" as:"number" doc:"A million tokens of requests."`
	Output Scalar `yaml:"output" as:"number" doc:"A million tokens of answers."`
}

// Wires are how services are spoken to.
var wires = []string{"chat", "responses", "messages"}

// Modalities are what a model may take in.
var modalities = []string{"text", "image", "audio", "video"}

// service is a provider whose wire and address need not be written out.
type service struct{ provider, wire, baseURL string }

// services are known by their name. Gemini's address is its OpenAI-compatible one.
var services = []service{
	{"openai", "chat", "https://api.openai.com/v1"},
	{"anthropic", "messages", "https://api.anthropic.com/v1"},
	{"gemini", "chat", "https://generativelanguage.googleapis.com/v1beta/openai"},
}

// settle fills in what a known provider, or the id, already says.
func (m *Model) settle() {
	for _, s := range services {
		if s.provider == m.Provider {
			m.Wire, m.BaseURL = first(m.Wire, s.wire), first(m.BaseURL, s.baseURL)
		}
	}
	m.Wire, m.Name = first(m.Wire, wires[0]), first(m.Name, m.ID)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Reads says whether the model declares that it takes in a modality.
func (m Model) Reads(modality string) bool { return slices.Contains(m.Modalities, modality) }

// Ref is the model's name among all: PROVIDER/MODEL.
func (m Model) Ref() string { return m.Provider + "/" + m.ID }

// Model returns the model that PROVIDER/MODEL names.
func (c Config) Model(ref string) (Model, bool) {
	for _, m := range c.Models {
		if m.Ref() == ref {
			return m, true
		}
	}
	return Model{}, false
}

// Wraps says whether the gateway may offer a model by a second name, given sight. why
// is a sentence for the caller when it may not.
func (i Inject) Wraps(id string) (why string, ok bool) {
	switch {
	case !i.Enabled:
		return "lens.inject.enabled is false", false
	case named(i.Omni, id):
		return "the model sees and hears by itself (lens.inject.omni)", false
	case named(i.Specialists, id):
		return "the model is made for pictures (lens.inject.specialists)", false
	case !slices.ContainsFunc(i.Families, func(f string) bool { return hasPrefixFold(id, f) }):
		return "its name begins with none of lens.inject.families", false
	}
	return "", true
}

func hasPrefixFold(s, prefix string) bool {
	return strings.HasPrefix(strings.ToLower(s), strings.ToLower(prefix))
}

// named says whether a list of patterns has a name: the last pattern that fits decides.
func named(patterns []string, name string) bool {
	in := false
	for _, p := range patterns {
		rest, out := strings.CutPrefix(p, "!")
		if fits(strings.ToLower(rest), strings.ToLower(name)) {
			in = !out
		}
	}
	return in
}

// fits says whether name has the form of pattern, in which * is any text.
func fits(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return name == pattern
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], more
	}
}

// CallBounds are what one call may send, in bytes, and cost, in millionths of the
// currency; nil is not bounded.
func (b Budget) CallBounds() (bytes *int64, cost *cutroom.Micros) {
	return b.BytesPerCall.Whole(), b.CostPerCall.Micros()
}

// DayBounds are those of all calls of one day (UTC).
func (b Budget) DayBounds() (bytes *int64, cost *cutroom.Micros) {
	return b.BytesPerDay.Whole(), b.CostPerDay.Micros()
}

// narrow takes the smaller of each bound.
func (b Budget) narrow(w Budget) Budget {
	return Budget{
		BytesPerCall: smaller(b.BytesPerCall, w.BytesPerCall, Scalar.Whole),
		CostPerCall:  smaller(b.CostPerCall, w.CostPerCall, Scalar.Micros),
		BytesPerDay:  smaller(b.BytesPerDay, w.BytesPerDay, Scalar.Whole),
		CostPerDay:   smaller(b.CostPerDay, w.CostPerDay, Scalar.Micros),
	}
}

// smaller is the lower of two bounds, of which one that is left out is none.
func smaller[N int64 | cutroom.Micros](a, b Scalar, number func(Scalar) *N) Scalar {
	x, y := number(a), number(b)
	if y == nil || x != nil && *x <= *y {
		return a
	}
	return b
}
