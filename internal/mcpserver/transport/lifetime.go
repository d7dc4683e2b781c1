package transport

import (
	"context"
	"sync"
)

// Lifetime is what sessions end with, and who waits for them. A server of the handlers of
// [HTTP] gives its requests one.
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
// has a lifetime.
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
