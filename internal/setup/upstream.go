package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cutroom/internal/config"
	"cutroom/internal/provider"
)

// Upstream is a model that requests of other programs are forwarded to.
type Upstream struct {
	config.Model
	Endpoint func() (provider.Endpoint, error) // with its keys
}

// Times of requests that other programs make. Some models think for long without a word.
const (
	upstreamHeader = 30 * time.Minute
	upstreamIdle   = 15 * time.Minute
)

// mostOfService bounds how many models of one service are offered.
const mostOfService = 500

// Upstreams are the models that the gateway forwards to, as the config says it at the
// moment, and the one client that it asks them by.
type Upstreams struct {
	readers *readers
	client  *provider.Client
	shelves shelves
}

// Upstreams opens them.
func (i *Installation) Upstreams() *Upstreams {
	return &Upstreams{readers: i.readers, client: provider.New(provider.Options{Dial: i.readers.dial, Header: upstreamHeader, Idle: upstreamIdle, Now: i.readers.now})}
}

// Close lets their connections go.
func (u *Upstreams) Close() { u.client.Close() }

func (u *Upstreams) set() *readerSet {
	settled := u.readers.i.Live.Get()
	return &readerSet{readers: u.readers, config: settled.Config, change: settled.Change}
}

// Configured are the entries of models.
func (u *Upstreams) Configured() []Upstream {
	s := u.set()
	var list []Upstream
	for _, m := range s.config.Models {
		list = append(list, s.upstream(m))
	}
	return list
}

func (s *readerSet) upstream(m config.Model) Upstream {
	return Upstream{m, func() (provider.Endpoint, error) { return s.endpoint(m) }}
}

// Listed are further models that the services of those entries list themselves. A service
// that does not answer has none.
func (u *Upstreams) Listed(ctx context.Context) []Upstream {
	s := u.set()
	var list []Upstream
	for _, l := range u.shelves.of(ctx, s, u.client, s.services(true)) {
		for _, k := range l.models[:min(len(l.models), mostOfService)] {
			if _, own := s.config.Model(l.entry.Provider + "/" + k.ID); own || strings.HasPrefix(k.ID, wrapped) {
				continue
			}
			o := other(l.entry, k.ID)
			o.Name = k.Name
			for _, takes := range k.Modalities {
				o.Modalities = append(o.Modalities, string(takes))
			}
			list = append(list, s.upstream(o))
		}
	}
	return list
}

// Pass sends a request as it is; see [provider.Chain.Pass].
func (u *Upstreams) Pass(ctx context.Context, e provider.Endpoint, raw provider.Raw) (*provider.Answer, error) {
	s := u.set()
	return provider.Chain{
		Client: u.client, Cooldowns: s.book(), Cool: time.Duration(s.config.Lens.CooldownMs) * time.Millisecond,
		Redact: s.i.redact.Text, Now: s.now,
	}.Pass(ctx, e, raw)
}

// Lens is the section of the config at the moment.
func (u *Upstreams) Lens() config.Lens { return u.set().config.Lens }

// Readers names who reads media at the moment: evidence of others is other evidence.
func (u *Upstreams) Readers() string { return string(u.set().Fingerprint()) }

// Uploads makes the folder for content that was sent, and returns it.
func (i *Installation) Uploads() (string, error) {
	dir := filepath.Join(i.Folders.State, "uploads")
	return dir, os.MkdirAll(dir, 0o700)
}
