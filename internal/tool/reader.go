package tool

import (
	"context"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
)

// Readers are the models and services that may be shown media, as they are configured at
// one moment. No tool knows an address or a key of one; what leaves this machine, and
// whether it may, is decided behind it.
type Readers interface {
	// Lens is what the operator set.
	Lens() lens.Settings
	// Consent is what may leave this machine in this call.
	Consent() lens.Consent
	// Offered lists who may read a medium, in the order in which they are asked, and what
	// is to be warned of. Where consent is forbidden, services of other machines are left
	// out; only where it is allowed they are asked for the models that they have.
	Offered(ctx context.Context, m lens.Medium, consent lens.Consent) ([]lens.Reader, []string)
	// Known lists the readers that the config names, as Offered would; no service is asked
	// what it has: it stands there itself, for as many models as would be taken of it.
	Known(m lens.Medium) ([]lens.Reader, []string)
	// Refiner is the text model that refines; false when there is none.
	Refiner() (lens.Reader, bool)
	// Ask walks hops until one gives an answer that counts; see [provider.Chain]. Each
	// request is charged before it is sent.
	Ask(ctx context.Context, hops []ReadHop) (provider.Outcome, error)
	// Charge counts what is sent by another way than Ask, or refuses it.
	Charge(ctx context.Context, c provider.Charge) error
	// Spent is what was sent and spent in this call so far, and in those that make it: bytes,
	// and millionths of the currency of the models' prices.
	Spent() (bytes, cost int64)
	// Fingerprint identifies who reads and what is allowed, for keys: nothing secret is
	// in it.
	Fingerprint() cutroom.Digest
	// Origins are where a medium would be sent, scheme://host:port, this machine apart.
	Origins(m lens.Medium) []string
}

// ReadHop is one hop of a chain: a reader that was offered, or work of this machine (Local
// of the hop). The hop's endpoint is filled in from the reader.
type ReadHop struct {
	Reader lens.Reader
	provider.Hop
}

// Sender is an input whose call may show media to services of other machines.
type Sender interface{ Reads() lens.Medium }
