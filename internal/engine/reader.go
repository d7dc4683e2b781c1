package engine

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/policy"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
)

// reading are the readers as one call may use them: what leaves this machine leaves here,
// whatever the tool thinks of it.
type reading struct {
	tool.Readers
	k *call
}

// Readers are those of this call. Calls that make each other see the same ones.
func (v *env) Readers() tool.Readers { return reading{v.k.nowReaders(context.Background()), v.k} }

// nowReaders looks at the configuration once, for a call and those that it makes.
func (k *call) nowReaders(ctx context.Context) tool.Readers {
	top := k
	for top.parent != nil {
		top = top.parent
	}
	if top.readers != nil {
		return top.readers
	}
	top.readers = noReaders{}
	if k.e.Readers != nil {
		r, err := k.e.Readers.Now(ctx)
		if err != nil {
			k.e.Log.Warn("readers", "cause", err)
			r = noReaders{fault: cutroom.AsError(k.e.Redact.Error(err)).Msg}
		}
		top.readers = r
	}
	return top.readers
}

// Consent is what may leave: by the operator's settings, or since a person approved this
// call, or the one that makes it. A rule of the policy that denies the network holds
// against the settings, too.
func (r reading) Consent() lens.Consent { return r.k.mayLeave(context.Background()) }

func (k *call) mayLeave(ctx context.Context) lens.Consent {
	c := k.nowReaders(ctx).Lens().Consent()
	if c == lens.Forbidden {
		return c
	}
	for up := k; up != nil; up = up.parent {
		if up.tool.Sometimes() && up.tool.Reaches(up.in) {
			return lens.Allowed // it got past the policy and, where that asks, a person
		}
	}
	if c == lens.Allowed && k.networkDenied(ctx) {
		return lens.NeedsConsent
	}
	return c
}

// networkDenied says whether a rule denies this call the network.
func (k *call) networkDenied(ctx context.Context) bool {
	q, err := k.question(ctx)
	if err != nil {
		return true
	}
	q.Network = true
	if s, ok := k.in.(tool.Sender); ok {
		q.Origins = k.nowReaders(ctx).Origins(s.Reads())
	}
	return k.e.Policy.Decide(q).Effect == policy.Deny
}

// Offered leaves out whom this call may not ask; of what it may, consent may be less.
func (r reading) Offered(ctx context.Context, m lens.Medium, consent lens.Consent) ([]lens.Reader, []string) {
	may := r.Consent()
	if consent == lens.Forbidden || consent == lens.NeedsConsent && may == lens.Allowed {
		may = consent
	}
	list, warnings := r.Readers.Offered(ctx, m, may)
	if host := r.k.host(); host != nil && may != lens.Forbidden && m == lens.Image && r.Lens().AutoImage {
		at := slices.IndexFunc(list, func(x lens.Reader) bool { return x.Step != lens.Registered })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, lens.Reader{ID: hostID, Step: lens.Registered, Name: hostID, Model: host.Name, Origin: "mcp:" + host.Name})
	}
	return list, warnings
}

// hostID names the model of the host that makes the call.
const hostID = "host"

// host is the host of the call, or of the one that makes it.
func (k *call) host() *Host {
	for c := k; c != nil; c = c.parent {
		if c.Host != nil && c.Host.Sample != nil {
			return c.Host
		}
	}
	return nil
}

// sampled is a hop to the host's model: the host sends it, so that it is work of nobody's
// address.
func (r reading) sampled(h tool.ReadHop) tool.ReadHop {
	request := h.Request
	h.Endpoint.Name, h.Endpoint.Model = h.Reader.Name, h.Reader.Model
	h.Local = func(ctx context.Context) (provider.Reply, error) {
		q, err := request(ctx)
		if err != nil {
			return provider.Reply{}, err
		}
		var bytes int64
		for _, m := range q.Messages {
			for _, p := range m.Parts {
				bytes += int64(len(p.Data) + len(p.Text))
			}
		}
		if err := r.Charge(ctx, provider.Charge{Provider: hostID, Model: h.Reader.Model, Bytes: bytes}); err != nil {
			return provider.Reply{}, err
		}
		reply, err := r.k.host().Sample(ctx, q)
		reply.Sent = bytes
		return reply, err
	}
	return h
}

// Ask sends nothing that may not leave, and notes where something went.
func (r reading) Ask(ctx context.Context, hops []tool.ReadHop) (provider.Outcome, error) {
	hops = slices.Clone(hops)
	consent := r.Consent()
	kept := hops[:0]
	for _, h := range hops {
		remote := h.Local == nil && !h.Reader.Local
		switch {
		case remote && consent == lens.Forbidden:
			continue
		case remote && consent != lens.Allowed && h.Skip == "":
			h.Skip = provider.SkipNoConsent
		case remote && h.Reader.ID == hostID && h.Skip == "":
			h = r.sampled(h)
		}
		kept = append(kept, h)
	}
	out, err := r.Readers.Ask(ctx, kept)
	for _, h := range kept {
		if h.Local != nil && h.Reader.ID != hostID || h.Reader.Local {
			continue
		}
		name := h.Route + ":" + h.Reader.Name
		if slices.ContainsFunc(out.Attempts, func(a provider.Attempt) bool {
			return a.Provider == name && a.Model == h.Reader.Model && a.Skipped == ""
		}) {
			r.k.reached(h.Reader.Origin)
		}
	}
	return out, err
}

// reached notes an origin that something was sent to, for the call and those that make it.
func (k *call) reached(origin string) {
	for c := k; c != nil && origin != ""; c = c.parent {
		if !slices.Contains(c.contacted, origin) {
			c.contacted = append(c.contacted, origin)
		}
	}
}

// reaching are the origins that the input names, and those of the readers that the
// call asks to send to.
func (k *call) reaching(ctx context.Context) []string {
	all := k.origins()
	s, ok := k.in.(tool.Sender)
	if !ok || !k.tool.Reaches(k.in) {
		return all
	}
	for _, o := range k.nowReaders(ctx).Origins(s.Reads()) {
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all
}

// readersKey is who reads and what may leave, "" where nobody reads.
func (k *call) readersKey(ctx context.Context) cutroom.Digest {
	f := k.nowReaders(ctx).Fingerprint()
	if f == "" && k.host() == nil {
		return ""
	}
	host := ""
	if h := k.host(); h != nil {
		host = "\n" + h.Name
	}
	return cutroom.DigestOf([]byte(string(f) + "\n" + string(k.mayLeave(ctx)) + host))
}

// Now is the time.
func (v *env) Now() time.Time { return v.k.e.Now() }

// ReadTail reads the end of an input.
func (v *env) ReadTail(index int, max int64) ([]byte, error) {
	if index < 0 || index >= len(v.k.files) || v.k.files[index] == nil {
		return nil, cutroom.Errorf(cutroom.Internal, "there is no file %d", index)
	}
	size := v.k.inputs[index].Size
	n := min(size, max)
	return io.ReadAll(io.NewSectionReader(v.k.files[index], size-n, n))
}

// noReaders is nobody.
type noReaders struct{ fault string }

func (noReaders) Lens() lens.Settings               { return lens.Settings{Sizes: lens.DefaultSizes()} }
func (noReaders) Consent() lens.Consent             { return lens.NeedsConsent }
func (noReaders) Refiner() (r lens.Reader, ok bool) { return r, false }
func (noReaders) Fingerprint() cutroom.Digest       { return "" }
func (noReaders) Origins(lens.Medium) []string      { return nil }

func (noReaders) Charge(context.Context, provider.Charge) error { return provider.OverBudget() }

func (noReaders) Spent() (bytes, cost int64) { return 0, 0 }

func (n noReaders) Known(lens.Medium) ([]lens.Reader, []string) { return nil, nil }

func (n noReaders) Offered(context.Context, lens.Medium, lens.Consent) ([]lens.Reader, []string) {
	if n.fault != "" {
		return nil, []string{"no model can be asked: " + strings.TrimSuffix(n.fault, ".")}
	}
	return nil, nil
}

func (noReaders) Ask(ctx context.Context, hops []tool.ReadHop) (provider.Outcome, error) {
	var local []provider.Hop
	for _, h := range hops {
		if h.Local != nil {
			local = append(local, h.Hop)
		}
	}
	return provider.Chain{}.Run(ctx, local, nil)
}
