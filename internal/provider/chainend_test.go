package provider_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// TestAllFail: one error, with every attempt, which says what helps.
func TestAllFail(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	skipped := hop("configured", srv.Endpoint("s", provider.Chat, "m", "k"))
	skipped.Skip = provider.SkipNoConsent
	of := func(key string, step providertest.Step) provider.Hop {
		srv.ForKey(key, step)
		return hop("configured", srv.Endpoint(key, provider.Chat, "m", key))
	}
	broken, locked, large := of("broken", providertest.Fail(500, "x")), of("locked", providertest.Fail(401, "x")), of("large", providertest.Fail(400, "maximum context length"))
	slow := of("slow", providertest.Step{Hang: true})
	slow.Timeout = 100 * time.Millisecond
	for _, c := range []struct {
		name string
		hops []provider.Hop
		code cutroom.Code
		text string
	}{
		{"nobody", nil, cutroom.Precondition, "no provider is configured for this"},
		{"no consent", []provider.Hop{skipped}, cutroom.Denied, "no provider answered: configured:s no_consent"},
		{"broken", []provider.Hop{skipped, broken}, cutroom.Unavailable, "no provider answered: configured:s no_consent, configured:broken unavailable"},
		{"keys", []provider.Hop{locked}, cutroom.Precondition, "no provider answered: configured:locked auth"},
		{"slow", []provider.Hop{slow}, cutroom.Timeout, "no provider answered: configured:slow timeout"},
		{"large", []provider.Hop{large}, cutroom.Limit, "no provider answered: configured:large context_overflow"},
		{"mixed", []provider.Hop{large, locked}, cutroom.Unavailable, "no provider answered: configured:large context_overflow, configured:locked auth"},
	} {
		out, err := provider.Chain{Client: client(t)}.Run(t.Context(), c.hops, nil)
		failed, ok := errors.AsType[*provider.Failed](err)
		if !ok || out.Hop != -1 || !cmp.Equal(failed.Attempts, out.Attempts) {
			t.Fatalf("%s: %v", c.name, err)
		}
		if e := cutroom.AsError(err); e.Code != c.code || e.Msg != c.text || e.Hint == "" || err.Error() != c.text {
			t.Errorf("%s: %s %q (%s)", c.name, e.Code, e.Msg, e.Hint)
		}
	}
	for _, r := range srv.Requests() {
		if r.Key == "k" {
			t.Error("a hop without consent was asked")
		}
	}
}

// TestCanceled: when the call ends the chain does, and nobody else is asked.
func TestCanceled(t *testing.T) {
	t.Parallel()
	for _, step := range []providertest.Step{{Hang: true}, {Text: "half of an answer", Stall: true}} {
		for _, stream := range []bool{false, true} {
			srv, next := providertest.New(t, step), providertest.New(t)
			ctx, cancel := context.WithCancel(t.Context())
			kept := &rests{}
			c := provider.Chain{Client: provider.New(provider.Options{}), Cooldowns: kept, Ledger: &provider.Budget{}}
			t.Cleanup(c.Client.Close)
			h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k1", "k2"))
			made := h.Request
			h.Request = func(ctx context.Context) (provider.Request, error) {
				time.AfterFunc(100*time.Millisecond, cancel)
				return made(ctx)
			}
			var on func(provider.Delta)
			if stream {
				on = func(provider.Delta) {}
			}
			out, err := c.Run(ctx, []provider.Hop{h, hop("configured", next.Endpoint("b", provider.Chat, "m", "k"))}, on)
			if !errors.Is(err, context.Canceled) || len(out.Attempts) != 1 || out.Attempts[0].BytesSent < 50 || len(next.Requests()) != 0 || len(kept.until) != 0 {
				t.Errorf("%v, %v", err, lines(out.Attempts))
			}
			cancel()
		}
	}
}

// TestHopTimeout: a hop's own time ends the hop, not the chain.
func TestHopTimeout(t *testing.T) {
	t.Parallel()
	srv, next := providertest.New(t, providertest.Step{Hang: true}), providertest.New(t)
	h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k1", "k2"))
	h.Timeout = 100 * time.Millisecond
	c := provider.Chain{Client: provider.New(provider.Options{})}
	defer c.Client.Close()
	out, err := c.Run(t.Context(), []provider.Hop{h, hop("configured", next.Endpoint("b", provider.Chat, "m", "k"))}, nil)
	if diff := cmp.Diff([]string{"configured:a/m#0 timeout", "configured:b/m ok"}, lines(out.Attempts)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

// TestLedger: each request is charged before it is sent, retries too, corrected
// afterwards, and refused when it would pass the bound.
func TestLedger(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	e := srv.Endpoint("a", provider.Chat, "m", "k1", "k2")
	e.Price = provider.Price{Input: 3_000_000, Output: 15_000_000}
	h := hop("configured", e)
	want, err := e.Estimate(asked())
	if err != nil || want.Bytes < 100 || want.Cost < 2048*15 {
		t.Fatalf("%+v, %v", want, err)
	}
	book := &provider.Budget{MaxBytes: 3 * want.Bytes}
	c := provider.Chain{Client: client(t), Ledger: book}
	run := func(attempts ...string) provider.Outcome {
		t.Helper()
		out, _ := c.Run(t.Context(), []provider.Hop{h}, nil)
		if diff := cmp.Diff(attempts, lines(out.Attempts)); diff != "" {
			t.Fatal(diff)
		}
		return out
	}
	srv.ForKey("k1", providertest.Fail(429, "slow"))
	srv.ForKey("k2", providertest.Say("a cat"))
	out := run("configured:a/m#0 rate_limited", "configured:a/m#1 ok")
	// 10 tokens at 3 and 5 at 15; the refused one is not billed.
	if spent := book.Spent(); spent.Bytes != 2*want.Bytes || spent.Cost != 10*3+5*15 || out.Attempts[0].BytesSent != want.Bytes {
		t.Errorf("%+v", spent)
	}
	srv.ForKey("k1", providertest.Fail(401, "who?"))
	out = run("configured:a/m#0 auth", "configured:a/m skipped budget")
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "budget") || book.Spent().Bytes != 3*want.Bytes {
		t.Errorf("%q, %+v", out.Warnings, book.Spent())
	}
	before := len(srv.Requests())
	_, err = c.Run(t.Context(), []provider.Hop{h}, nil)
	if e := cutroom.AsError(err); e.Code != cutroom.Budget || len(srv.Requests()) != before {
		t.Errorf("%v, %d requests", err, len(srv.Requests())-before)
	}
	book.MaxBytes, book.MaxCost = 0, book.Spent().Cost+want.Cost-1
	run("configured:a/m skipped budget")
	book.MaxCost++
	srv.ForKey("k1", providertest.Step{Text: "half of an answer", Cut: true})
	run("configured:a/m#0 unavailable")
	if spent := book.Spent(); spent.Cost != book.MaxCost { // who knows what it cost
		t.Errorf("%+v of %d", spent, book.MaxCost)
	}
}

// TestNothingWasSent: a connection that was never opened costs nothing.
func TestNothingWasSent(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	dials := 0
	nobody := provider.New(provider.Options{Dial: func(context.Context, string, string) (net.Conn, error) { dials++; return nil, refused }})
	defer nobody.Close()
	book := &provider.Budget{MaxBytes: 1 << 20}
	e := provider.Endpoint{Name: "a", BaseURL: "http://192.0.2.1/v1", Model: "m", Keys: []string{"k"}, Price: provider.Price{Input: 1, Output: 1}}
	out, err := provider.Chain{Client: nobody, Ledger: book}.Run(t.Context(), []provider.Hop{hop("configured", e)}, nil)
	if err == nil || dials != 1 || out.Attempts[0].BytesSent != 0 || out.Attempts[0].Class != provider.Unavailable || book.Spent() != (provider.Charge{}) {
		t.Errorf("%v, %d dials, %+v, %+v", err, dials, out.Attempts, book.Spent())
	}
}

// TestBrokenStore: that nobody can say who rests does not stop a chain, that nobody can
// count what is spent does.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	srv.ForKey("k1", providertest.Fail(429, "slow"))
	srv.ForKey("k2", providertest.Say("a cat"))
	h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k1", "k2"))
	gone := cutroom.Errorf(cutroom.Unavailable, "the database is gone")
	c := provider.Chain{Client: client(t), Cooldowns: &rests{fail: gone}}
	out, err := c.Run(t.Context(), []provider.Hop{h}, nil)
	if err != nil || len(out.Warnings) != 3 || !strings.Contains(out.Warnings[0], "the database is gone") {
		t.Errorf("%v, %q", err, out.Warnings)
	}
	before := len(srv.Requests())
	c.Ledger = brokenLedger{gone}
	if out, err = c.Run(t.Context(), []provider.Hop{h}, nil); err == nil || len(srv.Requests()) != before || out.Attempts[0].Skipped != provider.SkipBudget {
		t.Errorf("%v, %+v", err, out)
	}
}

type brokenLedger struct{ err error }

func (l brokenLedger) Charge(context.Context, provider.Charge) error { return l.err }
func (l brokenLedger) Settle(context.Context, provider.Charge) error { return l.err }

// TestOnlyTheServiceSendsAKeyToRest: a key that cannot be read, or whatever else stands in
// the way before anything is sent, rests nowhere.
func TestOnlyTheServiceSendsAKeyToRest(t *testing.T) {
	t.Parallel()
	srv, kept := providertest.New(t), &rests{}
	h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k1", "k2"))
	h.Request = func(context.Context) (provider.Request, error) {
		return provider.Request{}, &provider.Fault{Class: provider.Auth, Message: "the key is not there"}
	}
	local := provider.Hop{Route: "local", Endpoint: provider.Endpoint{Name: "x"}, Local: func(context.Context) (provider.Reply, error) {
		return provider.Reply{}, &provider.Fault{Class: provider.Quota}
	}}
	out, err := provider.Chain{Client: client(t), Cooldowns: kept}.Run(t.Context(), []provider.Hop{h, local}, nil)
	if diff := cmp.Diff([]string{"configured:a/m#0 auth", "local:x quota"}, lines(out.Attempts)); diff != "" || err == nil || len(kept.until) != 0 || srv.Dials() != 0 {
		t.Errorf("%v %s %v", err, diff, kept.until)
	}
}
