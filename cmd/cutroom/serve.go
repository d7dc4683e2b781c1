package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/cli"
	"cutroom/internal/gateway"
	"cutroom/internal/httpapi"
	"cutroom/internal/mcpserver"
	"cutroom/internal/mcpserver/transport"
	"cutroom/internal/provider"
	"cutroom/internal/setup"
	"cutroom/internal/token"
)

// serve opens all doors at one address.
func serve(ctx context.Context, o cli.Serve) error {
	i := o.Installation
	at := httpapi.ListenOptions{Addr: o.Addr, Cert: o.Cert, Key: o.Key, Ready: func(a net.Addr) { o.Ready(a.String()) }}
	if err := at.Check(); err != nil {
		return err
	}
	if at.Remote() {
		if live, err := i.Tokens.Live(ctx); err != nil || !live {
			return noTokens(err)
		}
	}
	i.Jobs.Serve = true
	hosts := newHosts(ctx, o)
	if _, err := hosts.of(cutroom.Agent); err != nil { // a toolset that does not exist
		return err
	}
	models, closeModels, err := gatewayOf(o)
	if err != nil {
		return err
	}
	defer closeModels()
	doors := []httpapi.Door{{Path: "/mcp", Scope: token.MCP, Handler: hosts}, {Path: "/v1/", Scope: token.Gateway, Handler: models, ByKey: true}}
	at.Handler = httpapi.New(httpapi.Options{Verify: verify(o), Doors: doors, Hosts: o.Hosts, Log: o.Log})
	life := transport.NewLifetime(ctx)
	at.Base, at.After = life.With, life.Wait
	later := time.AfterFunc(resumeAfter, func() {
		if err := i.Jobs.Resume(ctx); err != nil {
			o.Log.Warn("jobs", "cause", err)
		}
	})
	err = httpapi.Listen(ctx, at)
	later.Stop()
	i.Jobs.Drain(ctx)
	return err
}

func noTokens(err error) error {
	if err != nil {
		return err
	}
	return cutroom.Errorf(cutroom.Precondition, "other machines reach this address, and there is no token").
		WithHint("make one with `cutroom token create --scope gateway,mcp`")
}

// verify is whose token a text is. A principal that the config names no more opens
// nothing.
func verify(o cli.Serve) func(context.Context, string, string) (cutroom.Principal, error) {
	return func(ctx context.Context, text, scope string) (cutroom.Principal, error) {
		t, err := o.Installation.Tokens.Verify(ctx, text, scope)
		if err != nil {
			return cutroom.Principal{}, err
		}
		who, ok := o.Installation.Engine.Policy.Named(t.Principal.Name)
		if !ok || who != t.Principal {
			return cutroom.Principal{}, cutroom.Errorf(cutroom.Denied, "the principal of this token does not exist any more").
				WithHint("make another token with `cutroom token create`")
		}
		return who, nil
	}
}

// hosts serves each principal by a server of its own: what is listed and whose calls are
// made differ.
type hosts struct {
	cli.Serve
	ctx context.Context // of the server

	mu   sync.Mutex
	open map[cutroom.Principal]http.Handler
}

func newHosts(ctx context.Context, o cli.Serve) *hosts {
	return &hosts{Serve: o, ctx: ctx, open: map[cutroom.Principal]http.Handler{}}
}

// ServeHTTP serves a request of whoever holds its token. It ends when the server is told
// to stop: a host may listen for as long as it likes, and calls are handed back.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, err := h.of(httpapi.Holder(r))
	if err != nil {
		h.Log.Error("mcp", "cause", err)
		http.Error(w, "the tools cannot be served", http.StatusInternalServerError)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	s.ServeHTTP(w, r.WithContext(ctx))
}

func (h *hosts) of(who cutroom.Principal) (http.Handler, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.open[who]; ok {
		return s, nil
	}
	m, err := mcpserver.New(mcpserver.Options{
		Engine: h.Installation.Engine, Jobs: h.Installation.Jobs, Toolsets: h.Toolsets, Patience: h.Patience, Principal: who, Redact: h.Redact, Log: h.Log,
		Approvals: h.Installation.Approvals, ElicitationHosts: h.Installation.Config.Approvals.ElicitationHosts,
	})
	if err != nil {
		return nil, err
	}
	s, err := transport.HTTP(m, transport.HTTPOptions{Open: true, Hosts: h.Hosts, Log: h.Log})
	if err == nil {
		h.open[who] = s
	}
	return s, err
}

// gatewayOf is the door to models, by what the config says at each request. close lets
// its connections go.
func gatewayOf(o cli.Serve) (door http.Handler, close func(), err error) {
	i := o.Installation
	uploads, err := i.Uploads()
	if err != nil {
		return nil, nil, cutroom.Errorf(cutroom.Precondition, "the state folder cannot be used").WithCause(err).WithHint("`cutroom doctor` names it; make it yours and writable")
	}
	u := i.Upstreams()
	return gateway.New(gateway.Options{
		Engine:    i.Jobs.Engine,
		Upstreams: func() []gateway.Upstream { return upstreams(u.Configured()) },
		Listed:    func(ctx context.Context) []gateway.Upstream { return upstreams(u.Listed(ctx)) },
		Wraps:     func(model string) (string, bool) { return u.Lens().Inject.Wraps(model) },
		Strict:    func() bool { return u.Lens().StrictLocalOnly },
		Principal: httpapi.Holder, Settings: u.Readers, Uploads: uploads, Services: u, Log: o.Log,
	}), u.Close, nil
}

func upstreams(list []setup.Upstream) []gateway.Upstream {
	all := []gateway.Upstream{}
	for _, u := range list {
		all = append(all, gateway.Upstream{Model: u.ID, Name: u.Name, Wire: provider.Wire(u.Wire), Modalities: u.Modalities, Endpoint: u.Endpoint})
	}
	return all
}
