package provider_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// walk says in few words what a chain has to do: the attempts of one run over keys that
// answer so, and who rests afterwards.
func walk(answers [][]string, rests map[string]bool) (attempts []string, ok bool) {
	var fresh, late []string
	for h, keys := range answers {
		for k := range keys {
			id := fmt.Sprintf("h%d.%d", h, k)
			if rests[id] {
				late = append(late, id)
			} else {
				fresh = append(fresh, id)
			}
		}
	}
	over := map[int]string{}
	for i, id := range append(fresh, late...) {
		var h, k int
		_, _ = fmt.Sscanf(id, "h%d.%d", &h, &k)
		if why := over[h]; why != "" && (i < len(fresh) || why != "500") {
			continue
		}
		attempts = append(attempts, id)
		switch a := answers[h][k]; a {
		case "ok":
			delete(rests, id)
			return attempts, true
		case "401", "402", "429":
			rests[id] = true
		default:
			over[h] = a
		}
	}
	return attempts, false
}

// TestChainIsTheModel: random chains, run again and again over one memory, ask whom the
// model asks, in its order, and leave those to rest that it does.
func TestChainIsTheModel(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := provider.New(provider.Options{})
	t.Cleanup(client.Close)
	rapid.Check(t, func(rt *rapid.T) {
		kept, rests := &rests{}, map[string]bool{}
		shape := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(rt, "keys of each hop")
		wire := rapid.SampledFrom(wires()).Draw(rt, "wire")
		var hops []provider.Hop
		targets := map[provider.Target]string{}
		for h, n := range shape {
			var keys []string
			for k := range n {
				keys = append(keys, fmt.Sprintf("h%d.%d", h, k))
			}
			one := hop("configured", srv.Endpoint(fmt.Sprint("p", h), wire, "m", keys...))
			hops = append(hops, one)
			for k, target := range provider.Targets([]provider.Hop{one}) {
				targets[target] = keys[k]
			}
		}
		for range rapid.IntRange(1, 4).Draw(rt, "runs") {
			answers := make([][]string, len(shape))
			for h, n := range shape {
				for k := range n {
					a := rapid.SampledFrom([]string{"ok", "429", "401", "402", "500", "400"}).Draw(rt, "answer")
					answers[h] = append(answers[h], a)
					step := providertest.Say("ok")
					if a != "ok" {
						var status int
						_, _ = fmt.Sscan(a, &status)
						step = providertest.Fail(status, "no")
					}
					srv.ForKey(fmt.Sprintf("h%d.%d", h, k), step)
				}
			}
			before := len(srv.Requests())
			want, wins := walk(answers, rests)
			var on func(provider.Delta)
			if rapid.Bool().Draw(rt, "streamed") {
				on = func(provider.Delta) {}
			}
			out, err := provider.Chain{Client: client, Cooldowns: kept}.Run(t.Context(), hops, on)
			var got []string
			for _, r := range srv.Requests()[before:] {
				got = append(got, r.Key)
			}
			if diff := cmp.Diff(want, got); diff != "" || (err == nil) != wins || len(out.Attempts) != len(got) {
				rt.Fatalf("%v %s", err, diff)
			}
			for target, id := range targets {
				if _, r := kept.until[target]; r != rests[id] {
					rt.Fatalf("%s rests: %v, want %v", id, r, rests[id])
				}
			}
		}
	})
}

// messages draws a conversation as an agent has one.
func messages(rt *rapid.T) []provider.Message {
	text := rapid.OneOf(rapid.StringMatching(`[a-zäö日 "\\\n<&]{0,20}`), rapid.String())
	part := rapid.Custom(func(rt *rapid.T) provider.Part {
		if rapid.Bool().Draw(rt, "is text") {
			return provider.TextPart(text.Draw(rt, "text"))
		}
		return provider.Part{Kind: provider.Image, Type: "image/png", Data: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(rt, "data")}
	})
	list := []provider.Message{{Role: provider.RoleSystem, Parts: []provider.Part{provider.TextPart(text.Draw(rt, "system"))}}}
	for range rapid.IntRange(1, 4).Draw(rt, "turns") {
		list = append(list, provider.Message{Role: provider.RoleUser, Parts: append([]provider.Part{provider.TextPart("-")}, rapid.SliceOfN(part, 0, 3).Draw(rt, "parts")...)})
		m := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.TextPart("+" + text.Draw(rt, "said"))}}
		for i := range rapid.IntRange(0, 3).Draw(rt, "calls") {
			input := rapid.SampledFrom([]string{`{}`, `{"a":1,"a":2}`, `{"at":12345678901234567890}`, ``, `{"broken`, `[1]`, "{\"x\":\"\xff\"}"}).Draw(rt, "input")
			m.Calls = append(m.Calls, provider.ToolCall{ID: fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"call_", "functions.x:", "ü", strings.Repeat("long", 20)}).Draw(rt, "id"), i), Name: "look", Input: input})
		}
		list = append(list, m)
		for _, c := range m.Calls {
			list = append(list, provider.Message{Role: provider.RoleTool, CallID: c.ID, Parts: rapid.SliceOfN(part, 0, 2).Draw(rt, "result")})
		}
	}
	return list
}

// TestEveryConversationCanBeSent: on each wire, as one JSON document that a strict reader
// takes; ids of calls and of what answers them agree, and are ids that all services take.
func TestEveryConversationCanBeSent(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := provider.New(provider.Options{})
	t.Cleanup(client.Close)
	rapid.Check(t, func(rt *rapid.T) {
		list := messages(rt)
		for _, w := range wires() {
			if _, err := client.Complete(t.Context(), srv.Endpoint("p", w, "m"), "", provider.Request{Messages: list}, nil); err != nil {
				rt.Fatalf("%s: %v", w, err)
			}
			all := srv.Requests()
			body := all[len(all)-1].Body
			if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
				rt.Fatalf("%s: %s", w, body)
			}
			calls, results := idsOf(body)
			if !slices.Equal(calls, results) {
				rt.Fatalf("%s: calls %q, results %q", w, calls, results)
			}
			for _, id := range calls {
				if len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
					rt.Fatalf("%s: %q", w, id)
				}
			}
		}
	})
}

// idsOf finds the ids of calls and results in a body of any wire, in their order.
func idsOf(body []byte) (calls, results []string) {
	d := jsontext.NewDecoder(strings.NewReader(string(body)), jsontext.AllowDuplicateNames(true))
	var last [64]string // the member that each depth is in
	isResult := false
	for {
		tok, err := d.ReadToken()
		if err != nil {
			return calls, results
		}
		if tok.Kind() != '"' {
			continue
		}
		depth := d.StackDepth()
		if kind, n := d.StackIndex(depth); kind == '{' && n%2 == 1 {
			last[depth] = tok.String()
			continue
		}
		switch value := tok.String(); last[depth] {
		case "type":
			isResult = value == "function_call_output"
		case "tool_call_id", "tool_use_id":
			results = append(results, value)
		case "call_id":
			if isResult {
				results = append(results, value)
			} else {
				calls = append(calls, value)
			}
		case "id":
			calls = append(calls, value)
		}
	}
}

// TestWrittenIsRead: an assistant's message that we write on any wire is read back as the
// same message.
func TestWrittenIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := messages(rt)
		m := list[2]
		for i, c := range m.Calls {
			if !jsontext.Value(c.Input).IsValid(jsontext.AllowDuplicateNames(true)) || jsontext.Value(c.Input).Kind() != '{' {
				m.Calls[i].Input = `{"a":1}`
			}
		}
		for _, w := range wires() {
			body, err := provider.Written(provider.Endpoint{Name: "p", Wire: w, BaseURL: "http://127.0.0.1/", Model: "m"}, m)
			if err != nil {
				rt.Fatalf("%s: %v", w, err)
			}
			got, err := provider.Native{Wire: w, JSON: body}.Message()
			for i, c := range got.Calls {
				if strings.HasPrefix(m.Calls[i].ID, "call_") && c.ID != m.Calls[i].ID {
					rt.Fatalf("%s: %q became %q", w, m.Calls[i].ID, c.ID)
				}
			}
			if diff := cmp.Diff(strings.ToValidUTF8(m.Text(), "\ufffd"), got.Text()); err != nil || diff != "" {
				rt.Fatalf("%s: %v %s", w, err, diff)
			}
			if diff := cmp.Diff(m.Calls, got.Calls, cmpopts.IgnoreFields(provider.ToolCall{}, "ID"), cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("%s: %s", w, diff)
			}
		}
	})
}

// TestBudgetHolds: of many that charge at once no more gets through than there is room
// for, and what is settled counts.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := &provider.Budget{MaxBytes: rapid.Int64Range(0, 100).Draw(rt, "bytes"), MaxCost: rapid.Int64Range(0, 100).Draw(rt, "cost")}
		second := &provider.Budget{MaxBytes: rapid.Int64Range(0, 100).Draw(rt, "bytes")}
		both := provider.Ledgers{b, second}
		var bytes, cost int64
		for range 30 {
			c := provider.Charge{Bytes: rapid.Int64Range(0, 40).Draw(rt, "bytes"), Cost: rapid.Int64Range(0, 40).Draw(rt, "cost")}
			fits := (b.MaxBytes == 0 || bytes+c.Bytes <= b.MaxBytes) && (b.MaxCost == 0 || cost+c.Cost <= b.MaxCost) && (second.MaxBytes == 0 || bytes+c.Bytes <= second.MaxBytes)
			if err := both.Charge(context.Background(), c); (err == nil) != fits {
				rt.Fatalf("%+v at %d, %d: %v", c, bytes, cost, err)
			}
			if fits {
				bytes, cost = bytes+c.Bytes, cost+c.Cost
			}
			if b.Spent().Bytes != bytes || second.Spent().Bytes != bytes || b.Spent().Cost != cost {
				rt.Fatalf("%+v, %+v: want %d, %d", b.Spent(), second.Spent(), bytes, cost)
			}
		}
	})
	p := provider.Price{Input: 3_000_000, Output: 15_000_001}
	if got := p.Cost(1_500_000, 1); got != 4_500_000+16 {
		t.Errorf("%d", got)
	}
	if got := p.Cost(1<<62, 1<<62); got <= 0 || got > 1<<51 {
		t.Errorf("%d", got)
	}
	if time.Duration(p.Cost(-1, 0)) != 0 {
		t.Error("a negative cost")
	}
}
