package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/engine"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/tools/media"
)

const faulty = `
models:
  - {id: eye, provider: acme, base_url: HTTP:acme, key: KEY:a, modalities: [image], limits: {timeout_seconds: 1}}
lens:
  allow_upload: true
  providers: {openai: {baseUrl: HTTP:spare, apiKey: KEY:b, model: spare-1}}
`

// reader is a class of answer that only who reads it can tell.
var reader = map[string]string{"prose": "empty_or_unparsable", "echo": "empty_or_unparsable", "injected instructions": "empty_or_unparsable"}

// TestFaultMatrix: each way in which a service can fail ends its hop as it should, the next
// one answers, all of it is said, and whoever's key failed comes last for the next process.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	for _, f := range providertest.Faults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			acme, spare := providertest.New(t, f.Step), providertest.New(t, saw("a page"))
			l := newLab(t, faulty, map[string]*providertest.Server{"acme": acme, "spare": spare})
			out := l.image(media.ReadImageInput{Source: cutroom.InPath(l.slide("a.png"))})
			class := string(f.Class)
			if class == "" {
				class = reader[f.Name]
			}
			want := []string{"registered:acme " + class, "configured:openai ok"}
			if f.Name == "413" || f.Name == "400 too many" { // less of it, once
				want = []string{want[0], want[0], want[1]}
			}
			if d := cmp.Diff(want, attempts(out)); d != "" || out.Timeline[0].Text != "a page" {
				t.Error(d)
			}
			if !strings.Contains(strings.Join(out.Meta.Warnings, "\n"), "failover") || !out.Transient() {
				t.Errorf("%q", out.Meta.Warnings)
			}
			if f.Name == "echo" && !strings.Contains(strings.Join(out.Meta.Warnings, "\n"), "handle") {
				t.Errorf("an echo is not named: %q", out.Meta.Warnings)
			}
			raw, err := json.Marshal(out)
			if err != nil || strings.Contains(string(raw), "canary") || strings.Contains(string(raw), "IGNORE ALL") {
				t.Errorf("%v: %s", err, raw)
			}

			// The next process: whoever rests is asked last, and is asked no more when
			// somebody else answers.
			next := l.reopen(t, l.dir)
			acme.Answer(func(providertest.Request) providertest.Step { return saw("a slide") })
			out = must[media.ReadOutput](next, "media.read_image", media.ReadImageInput{Source: "a.png", Prompt: "again"})
			want = []string{"registered:acme ok"}
			if f.Cools {
				want = []string{"configured:openai ok"}
			}
			if d := cmp.Diff(want, attempts(out)); d != "" {
				t.Error(d)
			}
			if f.Cools != strings.Contains(strings.Join(out.Meta.Warnings, "\n"), "cooled") {
				t.Errorf("%q", out.Meta.Warnings)
			}
		})
	}
}

// TestCooledIsTriedLast: whoever rests is still asked when nobody else could answer, and a
// success ends the rest.
func TestCooledIsTriedLast(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, providertest.Fail(429, "Too many requests. Resets in 1h 2m 3s"))
	config := strings.Replace(faulty, "providers: {openai: {baseUrl: HTTP:spare, apiKey: KEY:b, model: spare-1}}", "cooldownMs: 3600000", 1)
	l := newLab(t, config, map[string]*providertest.Server{"acme": acme})
	still(t, l.dir, "color=gray:s=64x64:d=1", "grey.png") // nothing in it for who looks here
	out := l.image(media.ReadImageInput{Source: "grey.png"})
	if d := cmp.Diff([]string{"registered:acme rate_limited", "local:ocr empty_or_unparsable", "local:metadata ok"}, attempts(out)); d != "" {
		t.Error(d)
	}
	acme.Answer(func(providertest.Request) providertest.Step { return saw("grey") })
	next := &lab{workspace: l.reopen(t, l.dir), home: l.home, hosts: l.hosts, dials: l.dials}
	out = next.image(media.ReadImageInput{Source: "grey.png", Prompt: "1"})
	if d := cmp.Diff([]string{"local:ocr empty_or_unparsable", "registered:acme ok cooled"}, attempts(out)); d != "" || out.Meta.Provider != "registered:acme" {
		t.Error(d)
	}
	out = next.image(media.ReadImageInput{Source: "grey.png", Prompt: "2"})
	if d := cmp.Diff([]string{"registered:acme ok"}, attempts(out)); d != "" {
		t.Error(d)
	}
}

// TestWhileOneRests: what this machine saw while a service's key rested is not what the same
// call is answered with for good, of a picture and of a video's frames.
func TestWhileOneRests(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, providertest.Fail(401, "no"))
	now := time.Now()
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	slide, film := cutroom.InPath(l.slide("a.png")), cutroom.InPath(l.film("a.mp4", "2"))
	still(t, l.dir, "color=gray:s=64x64:d=1", "grey.png")
	l.image(media.ReadImageInput{Source: "grey.png"}) // after which its key rests
	acme.Answer(func(providertest.Request) providertest.Step { return saw("a slide") })
	resting := func(at time.Time) (string, string) {
		next := &lab{workspace: l.reopenAt(t, l.dir, func() time.Time { return at }), home: l.home, hosts: l.hosts, dials: l.dials}
		return next.image(media.ReadImageInput{Source: slide}).Meta.Provider, next.video(media.ReadVideoInput{Source: film}).Meta.Provider
	}
	if picture, frames := resting(now); picture != "local:ocr" || frames == "multimodal:acme" {
		t.Fatalf("while its key rests: %s, %s", picture, frames)
	}
	if picture, frames := resting(now.Add(time.Hour)); picture != "registered:acme" || frames != "multimodal:acme" {
		t.Errorf("once it rests no more: %s, %s", picture, frames)
	}
}

// TestKeysRotate: a key that fails gives way to the next of the same service, which is said.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	spare := providertest.New(t, saw("a page"))
	l := newLab(t, "lens: {allow_upload: true, providers: {openai: {baseUrl: HTTP:spare, apiKey: \"KEY:a,KEY:b\", model: m}}}", map[string]*providertest.Server{"spare": spare})
	spare.ForKey("sk-canary-a-0123456789abcdef", providertest.Fail(401, "Incorrect API key provided"))
	out := l.image(media.ReadImageInput{Source: cutroom.InPath(l.slide("a.png"))})
	if d := cmp.Diff([]string{"configured:openai auth", "configured:openai ok"}, attempts(out)); d != "" {
		t.Error(d)
	}
	if a := out.Meta.Attempts; *a[0].KeyIndex != 0 || *a[1].KeyIndex != 1 || !strings.Contains(strings.Join(out.Meta.Warnings, "\n"), "key rotation") {
		t.Errorf("%+v, %q", a, out.Meta.Warnings)
	}
}

// TestBudget: what is past the budget is not sent, and that is said.
func TestBudget(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, saw("a slide"))
	for name, budget := range map[string]string{"bytes": "{bytes_per_call: 2000}", "day": "{bytes_per_day: 2000}", "cost": "{cost_per_call: 0.000001}"} {
		config := strings.Replace(omni, "lens: {allow_upload: true}", "lens: {allow_upload: true, budget: "+budget+"}", 1)
		l := newLab(t, config, map[string]*providertest.Server{"acme": acme})
		out := l.image(media.ReadImageInput{Source: cutroom.InPath(l.slide("a.png"))})
		if d := cmp.Diff([]string{"registered:acme skipped budget", "local:ocr ok"}, attempts(out)); d != "" || !strings.Contains(strings.Join(out.Meta.Warnings, "\n"), "budget") {
			t.Errorf("%s: %s, %q", name, d, out.Meta.Warnings)
		}
	}
	if n := len(acme.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestSendNeedsAPerson: a call that asks to send names where, and sends nothing before a
// person approved exactly that.
func TestSendNeedsAPerson(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, saw("a slide"))
	l := newLab(t, strings.Replace(omni, "lens: {allow_upload: true}", "", 1), map[string]*providertest.Server{"acme": acme})
	l.slide("a.png")
	in := media.ReadImageInput{Source: "a.png", Send: true}
	e := l.fails("media.read_image", in, cutroom.NeedsApproval)
	a, err := l.Approvals.List(t.Context(), cutroom.Operator, l.Workspace, 10)
	if err != nil || len(a) != 1 || e.Approval != a[0].ID {
		t.Fatalf("%v, %v", a, err)
	}
	raw, err := json.Marshal(a[0].Sheet)
	if err != nil || !strings.Contains(string(raw), "http://acme.test") {
		t.Errorf("the sheet does not say where it goes: %s", raw)
	}
	if acme.Dials() != 0 {
		t.Error("something was sent before")
	}
	sheet, bound, err := l.Engine.Review(t.Context(), a[0])
	if err != nil || bound != a[0].Bound {
		t.Fatalf("%v: %+v", err, sheet)
	}
	seal, err := l.Approvals.Seal(nil, bound, "operator")
	if err != nil {
		t.Fatal(err)
	}
	decide := engine.Call{Tool: "approval.decide", Principal: cutroom.Operator, Input: []byte(`{"id":"` + a[0].ID + `","decision":"approve"}`)}
	if _, err := l.Engine.Invoke(approval.WithSeal(t.Context(), seal), decide); err != nil {
		t.Fatal(err)
	}
	l.fails("media.read_image", media.ReadImageInput{Source: "a.png", Send: true, Prompt: "another call"}, cutroom.NeedsApproval)
	out := l.image(in)
	if d := cmp.Diff([]string{"registered:acme ok"}, attempts(out)); d != "" || out.Provenance.NetworkDestination != "http://acme.test" || out.Provenance.ApprovalID == "" || len(acme.Requests()) != 1 {
		t.Errorf("%s %+v", d, out.Provenance)
	}
	out = l.image(media.ReadImageInput{Source: "a.png"}) // without being asked for, it stays closed
	if d := cmp.Diff([]string{"registered:acme skipped no_consent", "local:ocr ok"}, attempts(out)); d != "" {
		t.Error(d)
	}
	// Where it would go is part of what was approved: elsewhere is another call.
	l.image(in) // answered from its record
	config := filepath.Join(l.home, "config", "cutroom.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, strings.ReplaceAll(string(text), "acme.test", "evil.test"))
	l.fails("media.read_image", in, cutroom.NeedsApproval)
	if n := len(acme.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestTwoProcesses: the command line remembers who rests from one run to the next.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	acme, spare := providertest.New(t, providertest.Fail(402, "Insufficient credits")), providertest.New(t, saw("a page"))
	config := strings.NewReplacer("HTTP:", "LOCAL:").Replace(faulty)
	l := newLab(t, config, map[string]*providertest.Server{"acme": acme, "spare": spare})
	l.slide("a.png")
	read := func(prompt string) media.ReadOutput {
		t.Helper()
		c := command(t, l.dir, "read-image", "a.png", "--prompt", prompt, "--json", "--quiet")
		c.Env = append(c.Env, "CUTROOM_HOME="+l.home)
		raw, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		var out media.ReadOutput
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	one, two := read("1"), read("2")
	if d := cmp.Diff([]string{"registered:acme quota", "configured:openai ok"}, attempts(&one)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"configured:openai ok"}, attempts(&two)); d != "" || !strings.Contains(strings.Join(two.Meta.Warnings, "\n"), "cooled") {
		t.Error(d, two.Meta.Warnings)
	}
}

// TestRulesHoldAgainstUploads: a rule that denies the network holds although the operator
// allowed uploads.
func TestRulesHoldAgainstUploads(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, saw("a slide"))
	l := newLab(t, omni+"policy: {rules: [{name: no network for agents, roles: [agent], network: true, effect: deny, reason: agents stay here}]}\n", map[string]*providertest.Server{"acme": acme})
	out := l.image(media.ReadImageInput{Source: cutroom.InPath(l.slide("a.png"))})
	if d := cmp.Diff([]string{"registered:acme skipped no_consent", "local:ocr ok"}, attempts(out)); d != "" {
		t.Error(d)
	}
	l.fails("media.read_image", media.ReadImageInput{Source: "a.png", Send: true}, cutroom.Denied)
	if acme.Dials() != 0 {
		t.Error("something was sent")
	}
}

// TestKilledWhileReading: a process that is killed while a service thinks leaves nothing
// that answers, nobody who rests, and no lock.
func TestKilledWhileReading(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 8)
	acme := providertest.New(t)
	acme.Answer(func(providertest.Request) providertest.Step {
		asked <- struct{}{}
		return providertest.Step{Hang: true}
	})
	l := newLab(t, strings.NewReplacer("HTTP:", "LOCAL:").Replace(omni), map[string]*providertest.Server{"acme": acme})
	l.slide("a.png")
	c := command(t, l.dir, "read-image", "a.png", "--json", "--quiet")
	c.Env = append(c.Env, "CUTROOM_HOME="+l.home)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-t.Context().Done():
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it ended well")
	}
	acme.Answer(func(providertest.Request) providertest.Step { return saw("a slide") })
	out := l.image(media.ReadImageInput{Source: "a.png"})
	if d := cmp.Diff([]string{"registered:acme ok"}, attempts(out)); d != "" || out.Transient() {
		t.Error(d)
	}
}
