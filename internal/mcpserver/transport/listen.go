package transport

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"cutroom"
)

// Listen serves a handler at an address of this machine until ctx is done: then
// nothing new is taken, sessions end and their calls are cancelled and waited for.
// ready, if any, is called with the address that is really listened on.
func Listen(ctx context.Context, addr string, h http.Handler, ready func(net.Addr)) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return cutroom.Errorf(cutroom.Invalid, "%q is no address", addr).WithHint("give one such as 127.0.0.1:8765")
	}
	if !cutroom.Loopback(host) {
		return cutroom.Errorf(cutroom.Denied, "%q is not an address of this machine alone: whoever reached it could read and write with your rights", addr).
			WithHint("use 127.0.0.1, and for other machines a proxy of yours that encrypts")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return cutroom.Errorf(cutroom.Conflict, "%q cannot be listened on", addr).WithCause(err).WithHint("choose another port, or 0 for a free one")
	}
	house := NewLifetime(ctx)
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return house.With(ctx) },
		// It tells of every client that breaks off.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	if ready != nil {
		ready(l.Addr())
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if server.Shutdown(stop) != nil {
		_ = server.Close() // what did not end by itself
	}
	<-ended
	house.Wait(stop)
	return nil
}

// Lifetime is what sessions end with, and who waits for them. A server of the handlers of
// [HTTP] that is not [Listen] gives its requests one.
type Lifetime struct {
	ctx context.Context

	mu   sync.Mutex
	over bool
	open sync.WaitGroup
}

// NewLifetime returns one that ends with ctx.
func NewLifetime(ctx context.Context) *Lifetime { return &Lifetime{ctx: ctx} }

type lifetimeKey struct{}

// With is the context of requests whose sessions end with the lifetime.
func (l *Lifetime) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, lifetimeKey{}, l)
}

// Wait returns when every session has ended, or ctx is done. None begins any more.
func (l *Lifetime) Wait(ctx context.Context) {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	all := make(chan struct{})
	go func() {
		defer close(all)
		l.open.Wait()
	}()
	select {
	case <-all:
	case <-ctx.Done():
	}
}

// belong makes a session end with the server that serves its first request, when that
// is one of Listen.
func (s *session) belong(ctx context.Context, drop func(*session)) {
	l, ok := ctx.Value(lifetimeKey{}).(*Lifetime)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		drop(s)
		return
	}
	stop := context.AfterFunc(l.ctx, func() { drop(s) })
	l.open.Go(func() {
		_ = s.inner.Wait() // why it ended is logged by the SDK
		stop()
	})
}
