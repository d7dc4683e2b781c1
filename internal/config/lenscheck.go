package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"cutroom"
)

// Bounds of the lens's keys: more is a mistake, or meant to be slow.
const (
	maxModels     = 200
	maxEndpoints  = 8
	maxCooldown   = 24 * 3600 * 1000 // ms
	maxPatterns   = 200
	wrappedPrefix = "cutroom-vision-" // of the names that the gateway makes
)

// providerPattern is how services are called: no slash, so that PROVIDER/MODEL is read
// in one way whatever the model is called.
var providerPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// places says on which line each key that a file sets stands, by its dotted name; an
// element of a list is name[0].
type places map[string]int

// lensFaults lists what is wrong with the sections lens and models.
func (c *Config) lensFaults(lines places) []Fault {
	k := &checker{lines: lines}
	c.Lens.check(k, c.Models)
	if len(c.Models) > maxModels {
		k.fault("models", "leave out what is never asked", "there are %d models, more than %d", len(c.Models), maxModels)
		return k.all
	}
	seen := map[string]bool{}
	for i := range c.Models {
		m, key := &c.Models[i], fmt.Sprintf("models[%d]", i)
		m.settle()
		m.Line = lines[key]
		m.check(k, key)
		if seen[m.Ref()] {
			k.fault(key, "leave one of them out", "the model %q is there twice", short(m.Ref()))
		}
		seen[m.Ref()] = true
	}
	return k.all
}

// checker collects faults under the keys that they are of.
type checker struct {
	lines places
	all   []Fault
}

func (k *checker) fault(key, hint, format string, args ...any) {
	k.say(key, hint, "%s: %s", key, fmt.Sprintf(format, args...))
}

// say is fault for a message that names the key itself.
func (k *checker) say(key, hint, format string, args ...any) {
	k.all = append(k.all, Fault{k.lines.near(key), fmt.Sprintf(format, args...), hint})
}

// near is the line of a key, or of the nearest above it.
func (p places) near(key string) int {
	for {
		if line, ok := p[key]; ok {
			return line
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 {
			return 0
		}
		key = key[:cut]
	}
}

func (l *Lens) check(k *checker, models []Model) {
	if l.CooldownMs < 0 || l.CooldownMs > maxCooldown {
		k.fault("lens.cooldownMs", "use 0 to 86400000", "%d is no time to wait", l.CooldownMs)
	}
	for _, r := range []struct{ key, value string }{{"image", l.Models.Image}, {"audio", l.Models.Audio}, {"video", l.Models.Video}} {
		k.reader("lens.models."+r.key, r.value, models)
	}
	k.openAI(l.Providers.OpenAI)
	k.asr(l.ASR)
	k.text("lens.refine.model", l.Refine.Model)
	for _, p := range []struct {
		key  string
		list []string
	}{{"families", l.Inject.Families}, {"omni", l.Inject.Omni}, {"specialists", l.Inject.Specialists}} {
		if len(p.list) > maxPatterns {
			k.fault("lens.inject."+p.key, "use * for more than one name", "there are %d entries, more than %d", len(p.list), maxPatterns)
		}
		for _, s := range p.list {
			k.text("lens.inject."+p.key, s)
			if p.key != "families" && strings.Trim(s, "!") == "" {
				k.fault("lens.inject."+p.key, "take the entry out", "a pattern is empty")
			}
		}
	}
	k.budget(l.Budget)
	k.limits(l.Limits)
}

// text refuses what no name is.
func (k *checker) text(key, value string) {
	if len(value) > maxText || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		k.fault(key, "write the name alone", "the text is too long, or has a control character")
	}
}

func (k *checker) reader(key, value string, models []Model) {
	if value == Auto || value == Off {
		return
	}
	provider, id, _ := strings.Cut(value, "/")
	if provider == "" || id == "" {
		k.fault(key, "use auto, \"\" or PROVIDER/MODEL", "%q is no choice of a reader", short(value))
		return
	}
	var names []string
	for _, m := range models {
		if m.Provider == provider {
			return
		}
		names = append(names, m.Provider)
	}
	hint := "add it to models, or use auto"
	if near := nearest(provider, names); near != "" {
		hint = "did you mean " + near + "/" + short(id) + "?"
	}
	k.fault(key, hint, "no entry of models has the provider %q", short(provider))
}

func (k *checker) openAI(o OpenAI) {
	const key = "lens.providers.openai."
	k.base(key+"baseUrl", o.BaseURL)
	k.secret(key+"apiKey", o.APIKey)
	k.text(key+"model", o.Model)
	const both = "; `cutroom config set lens.providers.openai '{baseUrl: ADDRESS, model: NAME}'` sets both at once"
	if o.BaseURL != "" && o.Model == "" {
		k.fault(key+"model", "name the model that the service is asked for"+both, "there is an address and no model")
	}
	if o.BaseURL == "" && (o.APIKey != "" || o.Model != "") {
		k.fault(key+"baseUrl", "write the service's address, such as https://api.openai.com/v1"+both, "there is a key or a model and no address")
	}
}

func (k *checker) asr(a ASR) {
	if len(a.Endpoints) > maxEndpoints {
		k.fault("lens.asr.endpoints", "leave out what is never reached", "there are %d endpoints, more than %d", len(a.Endpoints), maxEndpoints)
		return
	}
	const form = "write it as whisper-cli -m base.bin {input}"
	if a.Command != "" {
		if _, err := (ASREndpoint{Command: a.Command}).Words(); err != nil {
			k.fault("lens.asr.command", form, "%v", err)
		}
	}
	for i, e := range a.Endpoints {
		key := fmt.Sprintf("lens.asr.endpoints[%d]", i)
		switch {
		case (e.Command == "") == (e.URL == ""):
			k.fault(key, "give command or url", "an endpoint is either a command or a service")
		case e.Command != "" && (e.Model != "" || e.Key != ""):
			k.fault(key, "write them as arguments, or take them out", "a command has no model and no key")
		case e.Command != "":
			if _, err := e.Words(); err != nil {
				k.fault(key, form, "%v", err)
			}
		}
		k.address(key+".url", e.URL)
		k.secret(key+".key", e.Key)
		k.text(key+".model", e.Model)
	}
}

func (k *checker) budget(b Budget) {
	for _, s := range []struct {
		key   string
		value Scalar
	}{{"bytes_per_call", b.BytesPerCall}, {"bytes_per_day", b.BytesPerDay}} {
		if n := s.value.Whole(); s.value != "" && (n == nil || *n < 0) {
			k.fault("lens.budget."+s.key, "write bytes in digits alone, e.g. 50000000", "this is no whole number from 0")
		}
	}
	k.money("lens.budget.cost_per_call", b.CostPerCall)
	k.money("lens.budget.cost_per_day", b.CostPerDay)
}

func (k *checker) money(key string, s Scalar) {
	if m := s.Micros(); s != "" && (!s.isNumber() || m == nil || *m < 0) {
		k.fault(key, "write it as 2 or 0.15", "this is no amount from 0")
	}
}

func (k *checker) limits(l MediumLimits) {
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"video.full_bytes", l.Video.FullBytes},
		{"video.reencode_bytes", l.Video.ReencodeBytes},
		{"video.full_seconds", l.Video.FullSeconds},
		{"audio.full_bytes", l.Audio.FullBytes},
		{"audio.full_seconds", l.Audio.FullSeconds},
		{"audio.segment_seconds", l.Audio.SegmentSeconds},
		{"image.full_bytes", l.Image.FullBytes},
		{"image.full_side", l.Image.FullSide},
	} {
		if n.value < 1 || n.value > 1<<40 {
			k.fault("lens.limits."+n.key, "leave it out for the default", "%d is no limit", n.value)
		}
	}
	if l.Video.ReencodeBytes < l.Video.FullBytes {
		k.fault("lens.limits.video.reencode_bytes", "make it at least full_bytes", "a video of this size would be sent as it is")
	}
	if l.Audio.OverlapSeconds < 0 || l.Audio.OverlapSeconds > l.Audio.SegmentSeconds/2 {
		k.fault("lens.limits.audio.overlap_seconds", "make it less than half of segment_seconds", "%d is no overlap of parts of %d s", l.Audio.OverlapSeconds, l.Audio.SegmentSeconds)
	}
}

func (m *Model) check(k *checker, key string) {
	k.text(key+".id", m.ID)
	k.text(key+".name", m.Name)
	switch {
	case m.ID == "":
		k.fault(key+".id", "write what the service calls the model", "a model has no id")
	case strings.HasPrefix(m.ID, wrappedPrefix):
		k.fault(key+".id", "name the model itself", "%q is a name that the gateway makes", short(m.ID))
	}
	switch {
	case m.Provider == "":
		k.fault(key+".provider", "write the service's name, such as openai, anthropic or gemini; any other needs base_url, too", "the model has no provider")
	case !providerPattern.MatchString(m.Provider):
		k.fault(key+".provider", "use lower-case letters, digits, dots, - and _, e.g. openai", "%q is no name of a provider", short(m.Provider))
	}
	k.words(key+".wire", []string{m.Wire}, wires)
	k.words(key+".modalities", m.Modalities, modalities)
	if m.BaseURL == "" && m.Provider != "" {
		k.fault(key+".base_url", "write the service's address, such as https://api.example.com/v1", "the address of %q is not known", short(m.Provider))
	}
	k.base(key+".base_url", m.BaseURL)
	k.secret(key+".key", m.Key)
	l := m.Limits
	if min(l.ContextTokens, l.OutputTokens, l.RequestBytes, l.Images, l.MediaSeconds, l.TimeoutSeconds) < 0 {
		k.fault(key+".limits", "leave it out for none", "a limit is negative")
	}
	k.money(key+".price.input", m.Price.Input)
	k.money(key+".price.output", m.Price.Output)
}

func (k *checker) words(key string, words, known []string) {
	for _, f := range wordFaults(0, "word", words, known) {
		k.fault(key, f.Hint, "%s", f.Message)
	}
}

// address refuses what is not the address of a service. Nothing of it is said: what is
// wrong may be that a secret is in it.
func (k *checker) address(key, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || len(text) > maxText:
		k.fault(key, "write it as https://api.example.com/v1", "this is no http address")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		k.fault(key, "write the address alone; keys are references of their own", "the address holds a name, a password or a query")
	}
}

// ends are what services have behind their address, for one request each.
var ends = []string{"/chat/completions", "/completions", "/responses", "/messages", "/models"}

// base refuses what is not the address that all requests to a service begin with.
func (k *checker) base(key, text string) {
	for _, end := range ends {
		if strings.HasSuffix(strings.TrimRight(text, "/"), end) {
			k.fault(key, "leave "+end+" out: it is added for each request", "this is the address of one kind of request")
			return
		}
	}
	k.address(key, text)
}

// secret refuses what is no reference. The value is not said.
func (k *checker) secret(key, text string) {
	if _, ok := Secrets(text); !ok {
		k.fault(key, howToRefer, "this is not a reference to a secret")
	}
}

// Loopback says whether an address is one of this machine alone.
func Loopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && cutroom.Loopback(u.Hostname())
}

// lensOfWorkspace refuses what a workspace may not say: it can only narrow.
func lensOfWorkspace(w Config, lines places, user string) error {
	for _, key := range lines.keys() {
		section, _, _ := strings.Cut(key, ".")
		switch {
		case section != "lens" && !strings.HasPrefix(section, "models"):
			continue
		case key == "lens", key == "lens.strictLocalOnly", key == "lens.budget", strings.HasPrefix(key, "lens.budget."):
			continue
		case key == "lens.allow_upload" && !w.Lens.AllowUpload:
			continue
		}
		return cutroom.Errorf(cutroom.Denied, "%s of the workspace, line %d: %s may be set in the user's own file only", Name, lines[key], key).
			WithHint("a workspace can set lens.strictLocalOnly: true, lens.allow_upload: false and smaller budgets; move the line to %s", user)
	}
	return nil
}

// narrow takes what a workspace forbids or bounds.
func (l Lens) narrow(w Lens, lines places) Lens {
	l.StrictLocalOnly = l.StrictLocalOnly || w.StrictLocalOnly
	if _, said := lines["lens.allow_upload"]; said {
		l.AllowUpload = l.AllowUpload && w.AllowUpload
	}
	l.Budget = l.Budget.narrow(w.Budget)
	return l
}

// keys are the names in order of line, a name before those beneath it.
func (p places) keys() []string {
	return slices.SortedFunc(maps.Keys(p), func(a, b string) int { return cmp.Or(p[a]-p[b], strings.Compare(a, b)) })
}
