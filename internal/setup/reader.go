package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/cooldown"
	"cutroom/internal/lens"
	"cutroom/internal/meter"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
)

// readers gives the engine who may be shown media, as the config says it at the moment.
type readers struct {
	i      *Installation
	client func() *provider.Client
	dial   provider.Dial
	now    func() time.Time

	shelves shelves
}

func newReaders(i *Installation, o Options) *readers {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &readers{i: i, now: now, dial: o.Dial, client: sync.OnceValue(func() *provider.Client {
		return provider.New(provider.Options{Dial: o.Dial, Now: now})
	})}
}

// Now returns the readers of this moment. What is counted against the budget of one call
// begins at zero.
func (r *readers) Now(context.Context) (tool.Readers, error) {
	settled := r.i.Live.Get()
	c := settled.Config
	s := &readerSet{readers: r, config: c, change: settled.Change, ends: map[string]func() (provider.Endpoint, error){}}
	bytes, cost := c.Lens.Budget.CallBounds()
	s.call = &provider.Budget{MaxBytes: bound(bytes), MaxCost: bound((*int64)(cost))}
	bytes, cost = c.Lens.Budget.DayBounds()
	s.day = meter.Spend{Open: r.i.database.open, Account: "lens", MaxBytes: bound(bytes), MaxCost: bound((*int64)(cost)), Now: r.now}
	return s, nil
}

// bound is a bound as a ledger takes it, where 0 is none: a budget of nothing lets one
// byte pass, which no request is.
func bound(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(1, *n)
}

// readerSet are the readers of one call.
type readerSet struct {
	*readers
	config config.Config
	change int64 // of the config
	call   *provider.Budget
	day    meter.Spend
	ends   map[string]func() (provider.Endpoint, error) // by the reader's id
}

// wrapped is what the gateway's own names begin with: they are never readers.
const wrapped = "cutroom-vision-"

// Lens is what the operator set.
func (s *readerSet) Lens() lens.Settings {
	l := s.config.Lens
	return lens.Settings{
		StrictLocalOnly: l.StrictLocalOnly, AllowUpload: l.AllowUpload, AutoImage: l.Models.Image == config.Auto, Structured: l.Providers.OpenAI.StructuredOutput,
		Refine: lens.Refinement{Enabled: l.Refine.Enabled, Model: l.Refine.Model},
		Sizes: lens.Sizes{
			VideoFullBytes: l.Limits.Video.FullBytes, VideoReencodeBytes: l.Limits.Video.ReencodeBytes, VideoFullLength: seconds(l.Limits.Video.FullSeconds),
			AudioFullBytes: l.Limits.Audio.FullBytes, AudioFullLength: seconds(l.Limits.Audio.FullSeconds),
			AudioPart: seconds(l.Limits.Audio.SegmentSeconds), AudioOverlap: seconds(l.Limits.Audio.OverlapSeconds),
			ImageFullBytes: l.Limits.Image.FullBytes, ImageFullSide: int(l.Limits.Image.FullSide),
		},
	}
}

func seconds(n int64) cutroom.Micros { return cutroom.Micros(n) * cutroom.Second }

// Consent is what the settings allow.
func (s *readerSet) Consent() lens.Consent { return s.Lens().Consent() }

// chosen is the operator's choice of a reader for a medium.
func (s *readerSet) chosen(m lens.Medium) string {
	switch m {
	case lens.Audio:
		return s.config.Lens.Models.Audio
	case lens.Video:
		return s.config.Lens.Models.Video
	}
	return s.config.Lens.Models.Image
}

// Offered lists who may read a medium, in order: the models that take it, then for a
// picture the configured service, and for sound those who transcribe.
func (s *readerSet) Offered(ctx context.Context, m lens.Medium, c lens.Consent) ([]lens.Reader, []string) {
	return s.offered(ctx, m, c, true)
}

// Known lists the readers that the config names, and in the place of those that a service
// would be asked for, that service.
func (s *readerSet) Known(m lens.Medium) ([]lens.Reader, []string) {
	return s.offered(context.Background(), m, s.Consent(), false)
}

func (s *readerSet) offered(ctx context.Context, m lens.Medium, c lens.Consent, ask bool) ([]lens.Reader, []string) {
	step := lens.Multimodal
	if m == lens.Image {
		step = lens.Registered
	}
	asking := c == lens.Allowed && s.Consent() == lens.Allowed // a service, what it lists
	models, warnings := s.models(ctx, m, asking, ask)
	var list []lens.Reader
	for _, x := range models {
		list = append(list, s.model(step, x))
	}
	if !ask && s.chosen(m) == config.Auto && s.lists(len(models) > 0) {
		list = append(list, s.listing(step, asking)...)
	}
	switch m {
	case lens.Image:
		if o := s.config.Lens.Providers.OpenAI; o.BaseURL != "" && (o.Configured() || config.Loopback(o.BaseURL)) {
			list = append(list, s.openAI())
		}
	case lens.Audio:
		list = append(list, s.endpoints()...)
	}
	list = slices.DeleteFunc(list, func(r lens.Reader) bool { return c == lens.Forbidden && !r.Local })
	s.cool(ctx, list)
	return list, warnings
}

// models are the entries of models that read a medium.
func (s *readerSet) models(ctx context.Context, m lens.Medium, remote, ask bool) (list []config.Model, warnings []string) {
	switch want := s.chosen(m); want {
	case config.Off:
		return nil, nil
	case config.Auto:
		for _, c := range s.config.Models {
			if c.Reads(string(m)) && !strings.HasPrefix(c.ID, wrapped) {
				list = append(list, c)
			}
		}
		if ask && s.lists(len(list) > 0) {
			list = append(list, s.listed(ctx, m, remote)...)
		}
		return list, nil
	default:
		if c, ok := s.named(want); ok {
			return []config.Model{c}, nil
		}
		return nil, []string{fmt.Sprintf("lens.models.%s names %s, which is no model that can be asked", m, want)}
	}
}

// named is the model that PROVIDER/MODEL names: an entry, or another model of the service
// of one.
func (s *readerSet) named(ref string) (config.Model, bool) {
	service, id, _ := strings.Cut(ref, "/")
	if strings.HasPrefix(id, wrapped) {
		return config.Model{}, false
	}
	if c, ok := s.config.Model(ref); ok {
		return c, true
	}
	i := slices.IndexFunc(s.config.Models, func(c config.Model) bool { return c.Provider == service })
	if i < 0 {
		return config.Model{}, false
	}
	return other(s.config.Models[i], id), true
}

// other is another model of the same service, of which nothing more is known.
func other(c config.Model, id string) config.Model {
	c.ID, c.Name, c.Modalities, c.Limits, c.Price = id, id, nil, config.ModelLimits{}, config.Price{}
	return c
}

// mostListed is how many models of one service read a medium because the service says so.
const mostListed = 4

// lists says whether what services list counts, beside entries or where there are none. A
// bound on cost does not hold what has no price: beside entries it keeps to them.
func (s *readerSet) lists(beside bool) bool {
	_, call := s.config.Lens.Budget.CallBounds()
	_, day := s.config.Lens.Budget.DayBounds()
	return !beside || call == nil && day == nil
}

// services are entries of the services whose own lists may be asked, one of each.
func (s *readerSet) services(remote bool) []config.Model {
	var list []config.Model
	for _, c := range s.config.Models {
		same := func(o config.Model) bool { return o.BaseURL == c.BaseURL }
		if !slices.ContainsFunc(list, same) && (remote || config.Loopback(c.BaseURL)) {
			list = append(list, c)
		}
	}
	return list
}

// listing are the services that would be asked for models, each as one reader: which
// models that are is not known before.
func (s *readerSet) listing(step lens.Step, remote bool) []lens.Reader {
	var list []lens.Reader
	for _, c := range s.services(remote) {
		list = append(list, lens.Reader{
			ID: "list:" + c.Provider, Step: step, Name: c.Provider, Origin: originOf(c.BaseURL), Local: config.Loopback(c.BaseURL), Most: mostListed,
		})
	}
	return list
}

// listed are the models that the services themselves declare to take a medium. What an
// entry of models says of its model counts for more.
func (s *readerSet) listed(ctx context.Context, m lens.Medium, remote bool) []config.Model {
	var list []config.Model
	for _, l := range s.shelves.of(ctx, s, s.client(), s.services(remote)) {
		n := 0
		for _, k := range l.models {
			takes, declared := k.Takes(provider.Modality(m))
			own, known := s.config.Model(l.entry.Provider + "/" + k.ID)
			if !takes || !declared || strings.HasPrefix(k.ID, wrapped) || known && len(own.Modalities) > 0 || n == mostListed {
				continue
			}
			n++
			if !known {
				own = other(l.entry, k.ID)
			}
			list = append(list, own)
		}
	}
	return list
}

// model is an entry of models as a reader.
func (s *readerSet) model(step lens.Step, c config.Model) lens.Reader {
	r := lens.Reader{
		ID: "model:" + c.Ref(), Step: step, Name: c.Provider, Model: c.ID, Origin: originOf(c.BaseURL), Local: config.Loopback(c.BaseURL),
		MaxBytes: c.Limits.RequestBytes, MaxImages: int(c.Limits.Images),
	}
	r.Input, r.Output, r.Priced = prices(c.Price)
	s.ends[r.ID] = func() (provider.Endpoint, error) { return s.endpoint(c) }
	return r
}

func prices(p config.Price) (in, out int64, known bool) {
	i, o := p.Input.Micros(), p.Output.Micros()
	if i != nil {
		in = int64(*i)
	}
	if o != nil {
		out = int64(*o)
	}
	return in, out, p.Input != "" || p.Output != ""
}

func (s *readerSet) endpoint(c config.Model) (provider.Endpoint, error) {
	in, out, _ := prices(c.Price)
	e := provider.Endpoint{Name: c.Provider, Wire: provider.Wire(c.Wire), BaseURL: c.BaseURL, Model: c.ID, Price: provider.Price{Input: in, Output: out}}
	var err error
	e.Keys, err = s.i.Reveal("models."+c.Ref()+".key", c.Key)
	return e, err
}

// openAI is the configured service.
func (s *readerSet) openAI() lens.Reader {
	o := s.config.Lens.Providers.OpenAI
	r := lens.Reader{ID: "openai", Step: lens.Configured, Name: "openai", Model: o.Model, Origin: originOf(o.BaseURL), Local: config.Loopback(o.BaseURL)}
	s.ends[r.ID] = func() (provider.Endpoint, error) {
		keys, err := s.i.Reveal("lens.providers.openai.apiKey", o.APIKey)
		return provider.Endpoint{Name: "openai", BaseURL: o.BaseURL, Model: o.Model, Keys: keys}, err
	}
	return r
}

// Refiner is the configured service, which alone refines.
func (s *readerSet) Refiner() (lens.Reader, bool) {
	o := s.config.Lens.Providers.OpenAI
	if !o.Configured() {
		return lens.Reader{}, false
	}
	return s.openAI(), true
}

// endpoints are the engines of lens.asr, in order.
func (s *readerSet) endpoints() []lens.Reader {
	var list []lens.Reader
	for n, e := range s.config.Lens.ASR.All() {
		r := lens.Reader{ID: fmt.Sprintf("asr:%d", n+1), Step: lens.Endpoint, Name: fmt.Sprintf("endpoint-%d", n+1), Model: e.Model}
		if e.URL == "" {
			r.Local, r.Command = true, n+1
		} else {
			r.Local, r.Origin = config.Loopback(e.URL), originOf(e.URL)
			s.ends[r.ID] = func() (provider.Endpoint, error) {
				keys, err := s.i.Reveal(fmt.Sprintf("lens.asr, endpoint %d", n+1), e.Key)
				return provider.Endpoint{Name: r.Name, Wire: provider.Transcription, BaseURL: e.URL, Model: e.Model, Keys: keys}, err
			}
		}
		list = append(list, r)
	}
	return list
}

// originOf is scheme://host[:port] of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// cool marks the readers all of whose keys rest.
func (s *readerSet) cool(ctx context.Context, list []lens.Reader) {
	for i := range list {
		end := s.ends[list[i].ID]
		if end == nil || !s.i.database.exists() || !list[i].Local && s.Consent() != lens.Allowed {
			continue
		}
		e, err := end()
		if err != nil {
			continue
		}
		targets := provider.Targets([]provider.Hop{{Endpoint: e}})
		resting, err := s.book().Resting(ctx, targets)
		if err != nil {
			continue
		}
		list[i].Cooled = len(targets) > 0 && !slices.ContainsFunc(targets, func(t provider.Target) bool {
			return !resting[t].After(s.now())
		})
	}
}

func (s *readerSet) book() cooldown.Book {
	return cooldown.Book{Open: s.i.database.open, Exists: s.i.database.exists}
}

// Ask walks the hops by the one chain that there is.
func (s *readerSet) Ask(ctx context.Context, hops []tool.ReadHop) (provider.Outcome, error) {
	var list []provider.Hop
	local := outside{Ledger: provider.Ledgers{s.call, s.day}}
	for _, h := range hops {
		list = append(list, s.hop(h))
		if h.Reader.Local {
			local.here = append(local.here, [2]string{h.Reader.Name, h.Reader.Model})
		}
	}
	chain := provider.Chain{
		Client: s.client(), Ledger: local, Cool: time.Duration(s.config.Lens.CooldownMs) * time.Millisecond,
		Redact: s.i.redact.Text, Now: s.now,
	}
	if slices.ContainsFunc(list, func(h provider.Hop) bool { return h.Local == nil && h.Skip == "" }) {
		chain.Cooldowns = s.book()
	}
	return chain.Run(ctx, list, nil)
}

// Charge counts what is sent by another way than Ask.
func (s *readerSet) Charge(ctx context.Context, c provider.Charge) error {
	return provider.Ledgers{s.call, s.day}.Charge(ctx, c)
}

// Spent is what this call was charged for.
func (s *readerSet) Spent() (bytes, cost int64) {
	c := s.call.Spent()
	return c.Bytes, c.Cost
}

// hop fills in whom a hop asks.
func (s *readerSet) hop(h tool.ReadHop) provider.Hop {
	p := h.Hop
	if p.Local != nil {
		return p
	}
	p.Endpoint = provider.Endpoint{Name: h.Reader.Name, Model: h.Reader.Model}
	end := s.ends[h.Reader.ID]
	if p.Skip != "" || end == nil {
		return p
	}
	e, err := end()
	if err != nil {
		fault := &provider.Fault{Class: provider.Auth, Message: cutroom.AsError(err).Msg, Err: err}
		p.Request = func(context.Context) (provider.Request, error) { return provider.Request{}, fault }
		return p
	}
	p.Endpoint = e
	if c, ok := s.config.Model(h.Reader.Name + "/" + h.Reader.Model); ok && c.Limits.TimeoutSeconds > 0 {
		p.Timeout = time.Duration(c.Limits.TimeoutSeconds) * time.Second
	}
	return p
}

// outside charges for what leaves this machine, and nothing else.
type outside struct {
	provider.Ledger
	here [][2]string // provider and model of those on this machine
}

func (o outside) Charge(ctx context.Context, c provider.Charge) error {
	if slices.Contains(o.here, [2]string{c.Provider, c.Model}) {
		return nil
	}
	return o.Ledger.Charge(ctx, c)
}

func (o outside) Settle(ctx context.Context, c provider.Charge) error {
	if slices.Contains(o.here, [2]string{c.Provider, c.Model}) {
		return nil
	}
	return o.Ledger.Settle(ctx, c)
}

// Origins are where a medium would be sent.
func (s *readerSet) Origins(m lens.Medium) []string {
	list, _ := s.Known(m)
	if m == lens.Video { // of which frames and sound may be sent, too
		for _, part := range []lens.Medium{lens.Image, lens.Audio} {
			more, _ := s.Known(part)
			list = append(list, more...)
		}
	}
	var all []string
	for _, r := range list {
		if !r.Local && r.Origin != "" && !slices.Contains(all, r.Origin) {
			all = append(all, r.Origin)
		}
	}
	return all
}

// identity is what may change an answer and is no secret.
type identity struct {
	Lens    lens.Settings
	Models  []string
	Chosen  [3]string
	OpenAI  [2]string
	Engines []string
}

// Fingerprint is who reads, "" when nobody is configured.
func (s *readerSet) Fingerprint() cutroom.Digest {
	l := s.config.Lens
	id := identity{
		Lens: s.Lens(), Chosen: [3]string{l.Models.Image, l.Models.Audio, l.Models.Video},
		OpenAI: [2]string{l.Providers.OpenAI.BaseURL, l.Providers.OpenAI.Model},
	}
	for _, c := range s.config.Models {
		id.Models = append(id.Models, strings.Join([]string{c.Ref(), c.Wire, c.BaseURL, strings.Join(c.Modalities, "+")}, " "))
	}
	for _, e := range l.ASR.All() {
		id.Engines = append(id.Engines, cmp.Or(e.Command, e.URL+" "+e.Model))
	}
	if len(id.Models) == 0 && len(id.Engines) == 0 && l.Providers.OpenAI.BaseURL == "" {
		return ""
	}
	raw, err := json.Marshal(id)
	if err != nil {
		return cutroom.DigestOf([]byte(err.Error()))
	}
	return cutroom.DigestOf(raw)
}
