package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// rests is a Cooldowns in memory.
type rests struct {
	mu    sync.Mutex
	until map[provider.Target]time.Time
	fail  error
}

func (r *rests) Resting(_ context.Context, list []provider.Target) (map[provider.Target]time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[provider.Target]time.Time{}
	for _, t := range list {
		if u, ok := r.until[t]; ok {
			found[t] = u
		}
	}
	return found, r.fail
}

func (r *rests) Rest(_ context.Context, t provider.Target, until time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[provider.Target]time.Time{}
	}
	r.until[t] = until
	return r.fail
}

func (r *rests) Wake(_ context.Context, t provider.Target) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.until, t)
	return r.fail
}

// hop asks a server's endpoint what asked asks.
func hop(route string, e provider.Endpoint) provider.Hop {
	return provider.Hop{Route: route, Endpoint: e, Request: func(context.Context) (provider.Request, error) { return asked(), nil }}
}

// line is what matters of an attempt.
func line(a provider.Attempt) string {
	s := a.Provider
	if a.Model != "" {
		s += "/" + a.Model
	}
	if a.KeyIndex != nil {
		s += fmt.Sprint("#", *a.KeyIndex)
	}
	switch {
	case a.OK:
		s += " ok"
	case a.Skipped != "":
		s += " skipped " + a.Skipped
	default:
		s += " " + string(a.Class)
	}
	if a.Cooled {
		s += " cooled"
	}
	return s
}

func lines(list []provider.Attempt) (all []string) {
	for _, a := range list {
		all = append(all, line(a))
	}
	return all
}

// client is one until the test ends.
func client(t *testing.T) *provider.Client {
	t.Helper()
	c := provider.New(provider.Options{})
	t.Cleanup(c.Close)
	return c
}

// TestFaultMatrix: every wire × every fault, whole and streamed: the class, who is asked
// next, what is said of it, who rests for how long, and what remains.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, w := range wires() {
		for _, stream := range []bool{false, true} {
			for _, f := range providertest.Faults() {
				if f.Class == "" {
					continue // an answer: what it is worth its reader says
				}
				t.Run(fmt.Sprintf("%s/%s/streamed=%v", w, f.Name, stream), func(t *testing.T) {
					t.Parallel()
					bad, good := providertest.New(t, f.Step), providertest.New(t, providertest.Say("a cat"))
					kept := &rests{}
					c := provider.Chain{Client: client(t), Cooldowns: kept, Now: func() time.Time { return now }}
					hops := []provider.Hop{hop("multimodal", bad.Endpoint("one", w, "m", "k1", "k2")), hop("configured", good.Endpoint("two", w, "n", "k3"))}
					if f.Class == provider.TimedOut {
						hops[0].Timeout = 200 * time.Millisecond
					}
					var g gathered
					var on func(provider.Delta)
					if stream {
						on = func(d provider.Delta) {
							if d.Again {
								g = gathered{}
								return
							}
							g.add(d)
						}
					}
					out, err := c.Run(t.Context(), hops, on)
					if err != nil || out.Reply.Message.Text() != "a cat" || out.Hop != 1 || out.Provider != "configured:two" || stream && g.text != "a cat" {
						t.Fatalf("%+v, %v; streamed %q", out, err, g.text)
					}
					want := []string{"multimodal:one/m#0 " + string(f.Class), "configured:two/n ok"}
					if f.Cools {
						want = []string{want[0], "multimodal:one/m#1 " + string(f.Class), want[1]}
					}
					if diff := cmp.Diff(want, lines(out.Attempts)); diff != "" {
						t.Error(diff)
					}
					if diff := cmp.Diff([]string{"failover: multimodal:one failed (" + string(f.Class) + "), going on to configured:two (n)"}, out.Warnings); diff != "" {
						t.Error(diff)
					}
					for _, a := range out.Attempts {
						if a.BytesSent < 50 || !a.OK && a.Message == "" || a.OK && a.Tokens != 15 {
							t.Errorf("%+v", a)
						}
					}
					if n := len(kept.until); f.Cools && n != 2 || !f.Cools && n != 0 {
						t.Errorf("%d rest: %v", n, kept.until)
					}
					span := map[string]time.Duration{"429 Retry-After": 7 * time.Second, "429 resets in": time.Hour + 2*time.Minute + 3*time.Second}[f.Name]
					if span == 0 {
						span = 10 * time.Minute
					}
					for target, until := range kept.until {
						if until.Sub(now) != span || target.Provider != "one" || target.Model != "m" || strings.Contains(target.Key, "k1") {
							t.Errorf("%+v rests for %s, want %s", target, until.Sub(now), span)
						}
					}
				})
			}
		}
	}
}

// TestOrder walks chains of several hops and keys, again and again over one memory of who
// rests, and says of each run who was asked and what was warned of.
func TestOrder(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	kept := &rests{}
	one, two := providertest.New(t), providertest.New(t)
	c := provider.Chain{Client: client(t), Cooldowns: kept, Cool: time.Minute, Now: func() time.Time { return now }}
	hops := []provider.Hop{hop("registered", one.Endpoint("a", provider.Chat, "m", "k1", "k2")), hop("configured", two.Endpoint("b", provider.Chat, "n", "k3"))}
	limited, broken, fine := providertest.Fail(429, "slow down"), providertest.Fail(500, "broken"), providertest.Say("a cat")
	for i, step := range []struct {
		k1, k2, k3 providertest.Step
		after      time.Duration
		want       []string
		warn       []string
		fails      bool
	}{
		{k1: limited, k2: fine, k3: fine, want: []string{"registered:a/m#0 rate_limited", "registered:a/m#1 ok"}, warn: []string{"key rotation: registered:a (m) key 2 of 2 answered after key 1 failed (rate_limited)"}},
		{k1: fine, k2: fine, k3: fine, want: []string{"registered:a/m#1 ok"}, warn: []string{"cooled: registered:a (m) key 1 of 2 rests for 1m0s more and was moved to the end of the chain"}},
		{ // what rests is still tried, last; success ends the rest
			k1: fine, k2: broken, k3: broken, want: []string{"registered:a/m#1 unavailable", "configured:b/n unavailable", "registered:a/m#0 ok cooled"},
			warn: []string{
				"cooled: registered:a (m) key 1 of 2 rests for 1m0s more and was moved to the end of the chain",
				"failover: registered:a failed (unavailable), going on to configured:b (n)",
				"failover: configured:b failed (unavailable), going on to registered:a (m) key 1 of 2",
			},
		},
		{k1: fine, k2: fine, k3: fine, want: []string{"registered:a/m#0 ok"}},
		{k1: limited, k2: limited, k3: fine, want: []string{"registered:a/m#0 rate_limited", "registered:a/m#1 rate_limited", "configured:b/n ok"}, warn: []string{"failover: registered:a failed (rate_limited), going on to configured:b (n)"}},
		{ // all of a rests: b is first
			k1: fine, k2: fine, k3: limited, want: []string{"configured:b/n rate_limited", "registered:a/m#0 ok cooled"}, after: 59 * time.Second,
			warn: []string{
				"cooled: registered:a (m) key 1 of 2 rests for 1s more and was moved to the end of the chain",
				"cooled: registered:a (m) key 2 of 2 rests for 1s more and was moved to the end of the chain",
				"failover: configured:b failed (rate_limited), going on to registered:a (m) key 1 of 2",
			},
		},
		{ // a rest ends by itself
			k1: broken, k2: fine, k3: fine, after: 2 * time.Second, want: []string{"registered:a/m#0 unavailable", "configured:b/n ok cooled"},
			warn: []string{
				"cooled: configured:b (n) rests for 58s more and was moved to the end of the chain",
				"failover: registered:a failed (unavailable), going on to configured:b (n)",
			},
		},
		{k1: broken, k2: fine, k3: broken, want: []string{"registered:a/m#0 unavailable", "configured:b/n unavailable"}, fails: true, warn: []string{"failover: registered:a failed (unavailable), going on to configured:b (n)"}},
	} {
		now = now.Add(step.after)
		one.ForKey("k1", step.k1)
		one.ForKey("k2", step.k2)
		two.ForKey("k3", step.k3)
		out, err := c.Run(t.Context(), hops, nil)
		if diff := cmp.Diff(step.want, lines(out.Attempts)); diff != "" || (err != nil) != step.fails {
			t.Fatalf("run %d: %v %s", i, err, diff)
		}
		if diff := cmp.Diff(step.warn, out.Warnings); diff != "" {
			t.Errorf("run %d: %s", i, diff)
		}
	}
}

// TestRestsWithinARun: a key that one hop sent to rest is not asked again by the next,
// but at the end.
func TestRestsWithinARun(t *testing.T) {
	t.Parallel()
	srv, other := providertest.New(t, providertest.Fail(429, "slow down"), providertest.Say("a cat")), providertest.New(t, providertest.Fail(503, "no"))
	e := srv.Endpoint("a", provider.Chat, "m", "k")
	c := provider.Chain{Client: client(t)}
	out, err := c.Run(t.Context(), []provider.Hop{hop("registered", e), hop("configured", e), hop("configured", other.Endpoint("b", provider.Chat, "m", "k"))}, nil)
	want := []string{"registered:a/m rate_limited", "configured:b/m unavailable", "configured:a/m ok cooled"}
	if diff := cmp.Diff(want, lines(out.Attempts)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	again := []provider.Hop{hop("x", e), hop("y", other.Endpoint("b", provider.Chat, "m"))}
	if out, err := c.Run(t.Context(), again, nil); err != nil || !cmp.Equal([]string{"x:a/m ok"}, lines(out.Attempts)) {
		t.Errorf("%v %v: another run knows nothing where nothing is kept", lines(out.Attempts), err)
	}
	c.Cooldowns = &rests{until: map[provider.Target]time.Time{provider.Targets([]provider.Hop{hop("x", e)})[0]: time.Now().Add(time.Hour)}}
	if out, err := c.Run(t.Context(), again, nil); err != nil || !cmp.Equal([]string{"y:b/m unavailable", "x:a/m ok cooled"}, lines(out.Attempts)) {
		t.Errorf("%v %v", lines(out.Attempts), err)
	}
}

// TestShrink: a request that is too large is made smaller and sent to the same model,
// under the same key, once.
func TestShrink(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []providertest.Step
		want  []string
	}{
		{"less does", []providertest.Step{providertest.Fail(413, "too large"), providertest.Say("a cat")}, []string{"configured:a/m#0 bad_request", "configured:a/m#0 ok"}},
		{"less does not", []providertest.Step{providertest.Fail(413, "too large"), providertest.Fail(400, "too many images")}, []string{"configured:a/m#0 bad_request", "configured:a/m#0 bad_request", "local:x ok"}},
		{"not by size", []providertest.Step{providertest.Fail(400, "no such parameter")}, []string{"configured:a/m#0 bad_request", "local:x ok"}},
		{"less, then the key", []providertest.Step{providertest.Fail(413, "too large"), providertest.Fail(429, "slow"), providertest.Say("a cat")}, []string{"configured:a/m#0 bad_request", "configured:a/m#0 rate_limited", "configured:a/m#1 ok"}},
	} {
		srv := providertest.New(t, c.steps...)
		h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k1", "k2"))
		shrunk := 0
		h.Shrink = func(_ context.Context, r provider.Request) (provider.Request, error) {
			shrunk++
			r.Messages = r.Messages[1:]
			return r, nil
		}
		local := provider.Hop{Route: "local", Endpoint: provider.Endpoint{Name: "x"}, Local: func(context.Context) (provider.Reply, error) {
			return provider.Reply{Message: provider.Message{Parts: []provider.Part{provider.TextPart("metadata")}}}, nil
		}}
		out, err := provider.Chain{Client: client(t)}.Run(t.Context(), []provider.Hop{h, local}, nil)
		if diff := cmp.Diff(c.want, lines(out.Attempts)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
		if list := srv.Requests(); shrunk > 1 || shrunk == 1 && len(list[1].Body) >= len(list[0].Body) {
			t.Errorf("%s: shrunk %d times", c.name, shrunk)
		}
	}
}

// TestShrinkFails: when no less can be made the hop is over, and both are said.
func TestShrinkFails(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t, providertest.Fail(413, "too large"))
	h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k"))
	h.Shrink = func(context.Context, provider.Request) (provider.Request, error) {
		return provider.Request{}, cutroom.Errorf(cutroom.MissingDependency, "ffmpeg is not there")
	}
	out, err := provider.Chain{Client: client(t)}.Run(t.Context(), []provider.Hop{h}, nil)
	if diff := cmp.Diff([]string{"configured:a/m bad_request", "configured:a/m unavailable"}, lines(out.Attempts)); diff != "" || err == nil || out.Attempts[1].Message != "ffmpeg is not there" {
		t.Errorf("%v %s %+v", err, diff, out.Attempts)
	}
}

// TestAccept: an answer that is of no use is repaired once, an echo never, and neither is
// believed.
func TestAccept(t *testing.T) {
	t.Parallel()
	good := providertest.Say(`{"ok":true}`)
	for _, c := range []struct {
		name  string
		steps []providertest.Step
		want  []string
		warn  []string
	}{
		{"good", []providertest.Step{good}, []string{"configured:a/m ok"}, nil},
		{"repaired", []providertest.Step{providertest.Say("Sure! It is a cat."), good}, []string{"configured:a/m empty_or_unparsable", "configured:a/m ok"}, nil},
		{"prose twice", []providertest.Step{providertest.Say("Sure!"), providertest.Say("Of course!")}, []string{"configured:a/m empty_or_unparsable", "configured:a/m empty_or_unparsable"}, nil},
		{"empty", []providertest.Step{{}}, []string{"configured:a/m empty_or_unparsable"}, nil},
		{"echo", []providertest.Step{providertest.Say("echo of file://clip.mp4")}, []string{"configured:a/m empty_or_unparsable"}, []string{"echo: a answered about a handle"}},
	} {
		srv := providertest.New(t, c.steps...)
		h := hop("configured", srv.Endpoint("a", provider.Chat, "m", "k"))
		h.Accept = func(r provider.Reply) error {
			switch text := r.Message.Text(); {
			case strings.HasPrefix(text, "echo"):
				return provider.Echo("echo: a answered about a handle")
			case !strings.HasPrefix(text, "{"):
				return errors.New("it is no JSON: " + text)
			}
			return nil
		}
		h.Repair = func(r provider.Request, got provider.Reply, why error) provider.Request {
			r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], got.Message, provider.Message{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("again: " + why.Error())}})
			return r
		}
		out, _ := provider.Chain{Client: client(t)}.Run(t.Context(), []provider.Hop{h}, nil)
		if diff := cmp.Diff(c.want, lines(out.Attempts)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.warn, out.Warnings); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if list := srv.Requests(); c.name == "repaired" && !strings.Contains(string(list[1].Body), "again: it is no JSON: Sure! It is a cat.") {
			t.Errorf("%s: %s", c.name, list[1].Body)
		}
	}
}
