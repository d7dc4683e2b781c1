// Package gateway is the door for programs that speak to models: Chat Completions,
// Responses and Messages, with media made into evidence on the way to models that could
// not take them in.
//
// It promises that everything but the media blocks of a request reaches the upstream byte
// for byte, and every answer, error and stream comes back as the upstream sent it; that
// no fault of a reader fails a request; that keys of upstreams never leave the process
// and no body is logged; and that a block which was read is not read again.
//
// It does no work: reading is the tools' job, behind engine.Invoke. It must never know
// how a medium is read, or what a policy says.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/provider"
)

// Prefix begins the name of a model that is offered with sight: what follows is its own.
const Prefix = "cutroom-vision-"

// Upstream is a model that requests are forwarded to.
type Upstream struct {
	Model      string        // as the service names it
	Name       string        // as people are shown it; "" is Model
	Wire       provider.Wire // a service of Chat is taken to speak Responses, too, and the other way round
	Modalities []string      // that it declares to take in: text, image, audio, video; empty when it declares none
	// Endpoint is where the model is asked, with its keys.
	Endpoint func() (provider.Endpoint, error)
}

// speaks says whether the upstream takes requests of a wire.
func (u Upstream) speaks(w wire) bool {
	return (u.Wire == provider.Messages) == (w.name == provider.Messages)
}

func (u Upstream) shown() string {
	if u.Name != "" {
		return u.Name
	}
	return u.Model
}

// takes says whether the upstream declares a modality.
func (u Upstream) takes(m medium) bool { return slices.Contains(u.Modalities, string(m)) }

// Invoker makes calls of tools.
type Invoker interface {
	Invoke(context.Context, engine.Call) (*engine.Reply, error)
}

// Passer sends a request as it is, and gives back what is answered; see
// [provider.Chain.Pass].
type Passer interface {
	Pass(context.Context, provider.Endpoint, provider.Raw) (*provider.Answer, error)
}

// Options are the parts of a gateway.
type Options struct {
	Engine Invoker
	// Upstreams lists the models that are configured, at every request: they may change.
	Upstreams func() []Upstream
	// Listed lists further models, which may take asking; nil: there are none.
	Listed func(context.Context) []Upstream
	// Wraps says whether a model may be offered with sight, by the operator's settings; when
	// not, why, as a sentence without its end.
	Wraps func(model string) (why string, ok bool)
	// Principal is who a request is made for; the door in front has checked its token.
	Principal func(*http.Request) cutroom.Principal
	// Strict says that no medium may leave this machine; nil: it may.
	Strict func() bool
	// Settings names the settings that evidence depends on; evidence made under others is
	// not given again. nil: they never change.
	Settings func() string
	// Uploads is an existing folder, private to the user, for content on its way to a tool.
	Uploads  string
	Services Passer // reaches the upstreams
	MaxBody  int64  // bytes of a request; 0 is 64 MiB
	Log      *slog.Logger
	Now      func() time.Time
}

// Gateway serves the paths beneath /v1.
type Gateway struct {
	Options
	mux    *http.ServeMux
	reader *reader
}

// MaxBody is the default of Options.MaxBody.
const MaxBody = 64 << 20

// New returns the handler of a gateway.
func New(o Options) *Gateway {
	if o.MaxBody <= 0 {
		o.MaxBody = MaxBody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &Gateway{Options: o, mux: http.NewServeMux(), reader: newReader(o)}
	for _, w := range wires {
		g.mux.HandleFunc("POST /v1"+w.path, func(rw http.ResponseWriter, r *http.Request) { g.forward(rw, r, w, w.path) })
	}
	g.mux.HandleFunc("POST /v1/messages/count_tokens", func(rw http.ResponseWriter, r *http.Request) { g.forward(rw, r, messages, "/messages/count_tokens") })
	g.mux.HandleFunc("GET /v1/models", g.models)
	g.mux.HandleFunc("GET /v1/models/{model...}", g.model)
	g.mux.HandleFunc("/v1/", g.nothing)
	return g
}

// ServeHTTP serves one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// nothing answers where nothing is served, in the words that the client reads.
func (g *Gateway) nothing(rw http.ResponseWriter, r *http.Request) {
	g.fail(rw, wireFor(r), cutroom.Errorf(cutroom.NotFound, "the gateway does not serve %s %s", short(r.Method), short(r.URL.Path)).
		WithHint("it serves GET /v1/models and POST /v1/chat/completions, /v1/responses, /v1/messages; ask the service itself for anything else"))
}

// chosen is what a request's model name stands for.
type chosen struct {
	Upstream
	lacks []medium // media that become evidence; none for the upstream as it is
}

// choose finds the upstream of a name. Its error is for the caller.
func (g *Gateway) choose(ctx context.Context, w wire, name string) (chosen, error) {
	model, wrapped := strings.CutPrefix(name, Prefix)
	all := g.Upstreams()
	find := func(u Upstream) bool { return u.Model == model && u.speaks(w) }
	at := slices.IndexFunc(all, find)
	if at < 0 && g.Listed != nil {
		all = append(all, g.Listed(ctx)...)
		at = slices.IndexFunc(all, find)
	}
	if at < 0 {
		if other := slices.IndexFunc(all, func(u Upstream) bool { return u.Model == model }); other >= 0 {
			return chosen{}, cutroom.Errorf(cutroom.Invalid, "the model %q does not speak this form", short(model)).
				WithHint("send the request to /v1%s", wireOf(all[other].Wire).path)
		}
		return chosen{}, cutroom.Errorf(cutroom.NotFound, "there is no model %q", short(name)).WithHint("GET /v1/models lists those there are; models: in cutroom.yaml adds one")
	}
	c := chosen{Upstream: all[at]}
	if !wrapped {
		return c, nil
	}
	var err error
	c.lacks, err = g.wrap(c.Upstream)
	return c, err
}

// keep refuses a request whose media would leave this machine where none may. Under the
// second name of a model all media become evidence then.
func (g *Gateway) keep(c *chosen, e provider.Endpoint, r request) error {
	if g.Strict == nil || !g.Strict() || e.Loopback() || len(r.blocks) == 0 {
		return nil
	}
	if r.name == c.Model {
		err := cutroom.Errorf(cutroom.Denied, "the request holds %s, and no medium may leave this machine (lens.strictLocalOnly)", article[r.blocks[0].medium])
		if _, no := g.wrap(c.Upstream); no != nil {
			return err.WithHint("ask for a model of this machine")
		}
		return err.WithHint("ask for %q, which gets evidence in its place", Prefix+short(c.Model))
	}
	c.lacks = all
	return nil
}

// wrap says which media of requests to a model become evidence, or why it is not offered
// with sight.
func (g *Gateway) wrap(u Upstream) ([]medium, error) {
	why, ok := g.Wraps(u.Model)
	var lacks []medium
	for _, m := range all {
		if !u.takes(m) {
			lacks = append(lacks, m)
		}
	}
	if ok && (u.takes(audio) || u.takes(video)) {
		why, ok = "it takes in more than pictures by itself", false
	}
	if !ok {
		return nil, cutroom.Errorf(cutroom.Invalid, "%q is not offered with sight: %s", short(u.Model), why).WithHint("ask for %q directly", short(u.Model))
	}
	return lacks, nil
}

func wireOf(name provider.Wire) wire {
	for _, w := range wires {
		if w.name == name {
			return w
		}
	}
	return chat
}

// wireFor is the wire of a request that names none: Anthropic's clients say their version.
func wireFor(r *http.Request) wire {
	if r.Header.Get("Anthropic-Version") != "" {
		return messages
	}
	return chat
}

func short(name string) string {
	if r := []rune(name); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return name
}

// fail answers with an error in the form of the wire.
func (g *Gateway) fail(rw http.ResponseWriter, w wire, err error) {
	e := cutroom.AsError(err)
	status := e.Code.Facts().HTTP
	if errors.Is(err, context.Canceled) {
		return // nobody listens
	}
	if e.Code == cutroom.Internal {
		g.Log.Warn("gateway", "cause", err)
	}
	message := e.Msg
	if e.Hint != "" {
		message += "; " + e.Hint
	}
	writeJSON(rw, status, w.fault(status, string(e.Code), message))
}
