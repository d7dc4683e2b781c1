package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"cutroom"
)

// Target is what rests: a key for a model of a provider.
type Target struct {
	Provider, Model string
	Key             string // its [Fingerprint]
}

// Fingerprint names a key of a service without holding either: 16 hexadecimal digits.
func Fingerprint(baseURL, key string) string {
	sum := sha256.Sum256([]byte("fingerprint of a key\x00" + baseURL + "\x00" + key))
	return hex.EncodeToString(sum[:8])
}

// Cooldowns keeps who rests until when, for this process and the next.
type Cooldowns interface {
	// Resting returns until when targets rest, or rested; others are left out.
	Resting(context.Context, []Target) (map[Target]time.Time, error)
	// Rest lets a target rest; the last word counts.
	Rest(ctx context.Context, t Target, until time.Time) error
	// Wake ends a target's rest.
	Wake(context.Context, Target) error
}

// Charge is what a request costs: bytes that are sent, money in millionths of a currency
// unit, and tokens of the request and its answer, which only who asks for them counts.
type Charge struct {
	Provider, Model string
	Bytes, Cost     int64
	Tokens          int64
}

// Ledger is charged before each request, retries included.
type Ledger interface {
	// Charge takes the charge, or refuses it with an error of code budget. Any other
	// error refuses, too: what cannot be counted is not sent.
	Charge(context.Context, Charge) error
	// Settle corrects a charge that was taken: its numbers are added, and may be
	// negative. It never refuses.
	Settle(context.Context, Charge) error
}

// Budget is a ledger of one run, kept in memory. A bound of 0 is none.
type Budget struct {
	MaxBytes, MaxCost int64

	mu    sync.Mutex
	spent Charge
}

// Charge takes the charge if both bounds hold afterwards.
func (b *Budget) Charge(_ context.Context, c Charge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.MaxBytes > 0 && c.Bytes > b.MaxBytes-b.spent.Bytes || b.MaxCost > 0 && c.Cost > b.MaxCost-b.spent.Cost {
		return OverBudget()
	}
	b.spent.Bytes += c.Bytes
	b.spent.Cost += c.Cost
	return nil
}

// Settle corrects what is spent.
func (b *Budget) Settle(_ context.Context, c Charge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent.Bytes = max(b.spent.Bytes+c.Bytes, 0)
	b.spent.Cost = max(b.spent.Cost+c.Cost, 0)
	return nil
}

// Spent returns what was charged and settled.
func (b *Budget) Spent() Charge {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// OverBudget is the error with which a ledger refuses.
func OverBudget() error {
	return cutroom.Errorf(cutroom.Budget, "the budget for what is sent to providers is spent").
		WithHint("raise lens.budget in cutroom.yaml, or ask for less of the media")
}

// Ledgers charges several in order: all take a charge, or none.
type Ledgers []Ledger

// Charge takes back what the first ones took when a later one refuses.
func (l Ledgers) Charge(ctx context.Context, c Charge) error {
	for i, one := range l {
		if err := one.Charge(ctx, c); err != nil {
			back := Charge{c.Provider, c.Model, -c.Bytes, -c.Cost, -c.Tokens}
			return errors.Join(err, l[:i].Settle(context.WithoutCancel(ctx), back))
		}
	}
	return nil
}

// Settle corrects all.
func (l Ledgers) Settle(ctx context.Context, c Charge) error {
	var errs []error
	for _, one := range l {
		errs = append(errs, one.Settle(ctx, c))
	}
	return errors.Join(errs...)
}

// What a medium costs in tokens when nobody says it: rather too much.
const (
	imageTokens   = 1600
	bytesPerToken = 3   // of text
	soundBytes    = 250 // for a token: 8 kB/s at 32 tokens a second
	videoBytes    = 400
	answerTokens  = 2048 // where a request has no bound
)

// Tokens estimates what a request and its answer count, before it is sent: rather too
// much than too little.
func (r Request) Tokens() (in, out int64) {
	for _, t := range r.Tools {
		in += int64(len(t.Doc)+len(t.Schema))/bytesPerToken + 1
	}
	media := int64(0)
	for _, m := range r.Messages {
		words := int64(0)
		for _, p := range m.Parts {
			n := int64(len(p.Data))
			switch p.Kind {
			case Text:
				words += int64(len(p.Text))/bytesPerToken + 1
			case Image:
				media += imageTokens
			case Audio:
				media += n/soundBytes + 1
			case Video:
				media += n/videoBytes + 1
			default:
				media += n/bytesPerToken + 1
			}
		}
		for _, c := range m.Calls {
			words += int64(len(c.Input))/bytesPerToken + 1
		}
		if m.Native != nil {
			words = max(words, int64(len(m.Native.JSON))/bytesPerToken+1)
		}
		in += words
	}
	if r.MediaTokens > 0 {
		media = r.MediaTokens
	}
	if out = int64(r.MaxTokens); out == 0 {
		out = answerTokens
	}
	return in + media, out
}

// Cost is the price of tokens, rounded up.
func (p Price) Cost(in, out int64) int64 {
	return mulUp(in, p.Input) + mulUp(out, p.Output)
}

// maxCost is the largest cost that there is: sums of some thousands still fit.
const maxCost = 1 << 50

// mulUp is n·price / 1000000, rounded up, at most [maxCost].
func mulUp(n, price int64) int64 {
	if n <= 0 || price <= 0 {
		return 0
	}
	const million = 1_000_000
	whole, part := n/million, n%million
	if whole > maxCost/price || part > (1<<62)/price {
		return maxCost
	}
	return min(whole*price+(part*price+million-1)/million, maxCost)
}

// charge is what sending r is counted as before it is sent.
func (e Endpoint) charge(r Request, p packed) Charge {
	in, out := r.Tokens()
	return Charge{e.Name, e.Model, int64(len(p.body)), e.Price.Cost(in, out), in + out}
}

// settle corrects a charge by what really happened: bytes that did not leave, what the
// service counted, and requests that it refused and does not bill.
func (r *run) settle(ctx context.Context, e Endpoint, c Charge, reply Reply, err error) {
	if r.Ledger == nil {
		return
	}
	d := Charge{Provider: c.Provider, Model: c.Model}
	f, isFault := errors.AsType[*Fault](err)
	switch {
	case isFault:
		d.Bytes = f.Sent - c.Bytes
		if f.Status >= 400 || f.Sent == 0 {
			d.Cost, d.Tokens = -c.Cost, -c.Tokens
		}
	case err == nil:
		d.Bytes = reply.Sent - c.Bytes
		if reply.Usage != (Usage{}) {
			d.Cost = e.Price.Cost(reply.Usage.Input, reply.Usage.Output) - c.Cost
			d.Tokens = reply.Usage.Input + reply.Usage.Output - c.Tokens
		}
	}
	if d.Bytes == 0 && d.Cost == 0 && d.Tokens == 0 {
		return
	}
	if err := r.Ledger.Settle(context.WithoutCancel(ctx), d); err != nil {
		r.warn("what %s cost could not be corrected: %s", e.Name, r.clean.text(cutroom.AsError(err).Msg))
	}
}
