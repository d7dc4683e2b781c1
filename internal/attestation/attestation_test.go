package attestation

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"cutroom"
)

var day = time.Date(2026, 5, 4, 3, 2, 1, 7000, time.UTC)

func digest(s string) cutroom.Digest { return cutroom.DigestOf([]byte(s)) }

func example() Statement {
	return NewStatement("cut.mp4", digest("the file"), Predicate{
		Tool: Tool{"edit.cut", "1.0.0", 3}, Invocation: digest("call"), Artifact: "output.mp4", Recorded: day, Principal: cutroom.Agent, ApprovalID: "ap-1",
		Sources: []Source{{Kind: cutroom.LocalFile, Locator: "talk <&> é.mp4", Digest: DigestSet{digest("source")}, Size: 12}},
		Parents: []cutroom.Digest{digest("parent")},
		Toolchain: []Program{
			{Name: "ffprobe", Version: "5.1.9", Digest: DigestSet{digest("ffprobe")}},
			{Name: "ffmpeg", Version: "5.1.9", Digest: DigestSet{digest("ffmpeg")}},
		},
		Verified: []cutroom.Verified{{Check: "frames", OK: true, Expected: "25", Measured: "25"}},
		EditMap:  &DigestSet{digest("map")},
	})
}

func newKey(t *testing.T) PrivateKey {
	t.Helper()
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sign(t *testing.T, s Statement, k PrivateKey) []byte {
	t.Helper()
	e, err := Sign(s, k)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSignedAndVerified(t *testing.T) {
	t.Parallel()
	k, s := newKey(t), example()
	text := sign(t, s, k)
	c, err := Verify(text, []PublicKey{newKey(t).Public(), k.Public()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, c.Statement); diff != "" {
		t.Error(diff)
	}
	if c.Key.ID() != k.Public().ID() {
		t.Errorf("signed by %s", c.Key.ID())
	}
	if strings.ContainsAny(string(text), "\n") {
		t.Error("an envelope is one line")
	}
}

func TestTheSameFactsAreTheSameBytes(t *testing.T) {
	t.Parallel()
	s := example()
	p := s.Predicate
	p.Toolchain = []Program{p.Toolchain[1], p.Toolchain[0]}
	p.Recorded = day.In(time.FixedZone("elsewhere", 7200)).Add(999 * time.Nanosecond)
	a, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewStatement("cut.mp4", digest("the file"), p).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Error(diff)
	}
	k := newKey(t)
	if x, y := sign(t, s, k), sign(t, s, k); string(x) != string(y) {
		t.Errorf("two envelopes:\n%s\n%s", x, y)
	}
}

// TestOthersVerifyIt has the library of DSSE's authors verify ours, and ours theirs.
func TestOthersVerifyIt(t *testing.T) {
	t.Parallel()
	k, s := newKey(t), example()
	other := theirs{k}
	v, err := dsse.NewEnvelopeVerifier(other)
	if err != nil {
		t.Fatal(err)
	}
	var e dsse.Envelope
	if err := json.Unmarshal(sign(t, s, k), &e); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), &e); err != nil {
		t.Errorf("they do not verify ours: %v", err)
	}
	signer, err := dsse.NewEnvelopeSigner(other)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	made, err := signer.SignPayload(t.Context(), PayloadType, payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(text, []PublicKey{k.Public()}); err != nil {
		t.Errorf("we do not verify theirs: %v", err)
	}
}

// theirs is a key as the library takes it.
type theirs struct{ k PrivateKey }

func (o theirs) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(o.k.key, data), nil
}

func (o theirs) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(o.k.Public().key, data, sig) {
		return errors.New("no")
	}
	return nil
}
func (o theirs) KeyID() (string, error)   { return o.k.Public().ID(), nil }
func (o theirs) Public() crypto.PublicKey { return o.k.Public().key }

func TestTampering(t *testing.T) {
	t.Parallel()
	k, stranger := newKey(t), newKey(t)
	s := example()
	payload, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text := sign(t, s, k)
	edit := func(f func(*Envelope)) []byte {
		var e Envelope
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		f(&e)
		out, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	// signed is any payload, signed by the right key.
	signed := func(payload string) []byte {
		return edit(func(e *Envelope) {
			e.Payload = base64.StdEncoding.EncodeToString([]byte(payload))
			e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(ed25519.Sign(k.key, authenticated(e.PayloadType, []byte(payload))))
		})
	}
	replaced := func(old, with string) string {
		t.Helper()
		if !strings.Contains(string(payload), old) {
			t.Fatalf("the statement does not hold %s", old)
		}
		return strings.Replace(string(payload), old, with, 1)
	}
	own := []PublicKey{k.Public()}
	was := func(retired, revoked time.Time) []PublicKey {
		p := k.Public()
		p.Retired, p.Revoked = retired, revoked
		return []PublicKey{p}
	}
	for _, tt := range []struct {
		name string
		text []byte
		keys []PublicKey
		says string // "" is verified
	}{
		{"as it was signed", text, own, ""},
		{"another payload", edit(func(e *Envelope) {
			e.Payload = base64.StdEncoding.EncodeToString([]byte(replaced("edit.cut", "edit.fit")))
		}), own, "does not fit"},
		{"another subject", edit(func(e *Envelope) {
			e.Payload = base64.StdEncoding.EncodeToString([]byte(replaced(string(digest("the file")), string(digest("another")))))
		}), own, "does not fit"},
		{"a bit of the signature", edit(func(e *Envelope) {
			raw, _ := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
			raw[3] ^= 1
			e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(raw)
		}), own, "does not fit"},
		{"a short signature", edit(func(e *Envelope) { e.Signatures[0].Sig = "AAAA" }), own, "64 bytes"},
		{"no signature", edit(func(e *Envelope) { e.Signatures = nil }), own, "no signature"},
		{"too many signatures", edit(func(e *Envelope) {
			for range 40 {
				e.Signatures = append(e.Signatures, e.Signatures[0])
			}
		}), own, "more than"},
		{"another payload type", edit(func(e *Envelope) { e.PayloadType = "application/json" }), own, "application/json"},
		{"the key's id of another", edit(func(e *Envelope) { e.Signatures[0].KeyID = stranger.Public().ID() }), own, "not known here"},
		{"the key's id of another that is known", edit(func(e *Envelope) { e.Signatures[0].KeyID = stranger.Public().ID() }), []PublicKey{k.Public(), stranger.Public()}, "does not fit"},
		{"no key's id", edit(func(e *Envelope) { e.Signatures[0].KeyID = "" }), own, ""},
		{"signed by a stranger", sign(t, s, stranger), own, "not known here"},
		{"no keys", text, nil, "not known here"},
		{"a key retired later", text, was(day.Add(time.Hour), time.Time{}), ""},
		{"a key retired before", text, was(day.Add(-time.Hour), time.Time{}), "was retired"},
		{"a revoked key", text, was(time.Time{}, day.Add(time.Hour)), "was revoked"},
		{"another predicate", signed(replaced(PredicateType, "https://slsa.dev/provenance/v1")), own, "slsa.dev"},
		{"another statement", signed(replaced(StatementType, "https://in-toto.io/Statement/v0.1")), own, "v0.1"},
		{"a member twice", signed(replaced(`"artifact":`, `"artifact":"other.mp4","artifact":`)), own, "each member once"},
		{"the type twice", signed(replaced(`"_type":`, `"_type":"x","_type":`)), own, "each member once"},
		{"an unknown member", signed(replaced(`"artifact":`, `"extra":1,"artifact":`)), own, "has not the form"},
		{"a member in another case", signed(replaced(`"artifact":`, `"Artifact":`)), own, "has not the form"},
		{"no subject", signed(replaced(`"subject":[{"name":"cut.mp4","digest":{"sha256":"`+string(digest("the file"))+`"}}]`, `"subject":[]`)), own, "subject"},
		{"a digest that is none", signed(replaced(string(digest("call")), "abc")), own, "digest"},
		{"bytes behind the statement", signed(string(payload) + "{}"), own, "JSON"},
		{"an envelope's member twice", []byte(strings.Replace(string(text), `{"payloadType"`, `{"payloadType":"x","payloadType"`, 1)), own, "each member once"},
		{"an envelope's unknown member", []byte(strings.Replace(string(text), `{"payloadType"`, `{"x":1,"payloadType"`, 1)), own, "each member once"},
		{"payload without padding", edit(func(e *Envelope) { e.Payload += "=" }), own, "base64"},
		{"payload with a line's end", edit(func(e *Envelope) { e.Payload = e.Payload[:8] + "\n" + e.Payload[8:] }), own, "base64"},
		{"nothing", nil, own, "no DSSE envelope"},
		{"too long", []byte(strings.Repeat(" ", maxEnvelope+1)), own, "more than"},
	} {
		_, err := Verify(tt.text, tt.keys)
		switch {
		case tt.says == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		case tt.says != "" && cutroom.AsError(err).Code != cutroom.Verification:
			t.Errorf("%s: code %s", tt.name, cutroom.AsError(err).Code)
		case tt.says != "" && cutroom.AsError(err).Hint == "":
			t.Errorf("%s: no hint", tt.name)
		}
	}
}

func TestPublicKeysAsFiles(t *testing.T) {
	t.Parallel()
	a, b := newKey(t), newKey(t)
	keys, err := ParsePublic(append(a.Public().PEM(), b.Public().PEM()...))
	if err != nil || len(keys) != 2 || keys[0].ID() != a.Public().ID() || keys[1].ID() != b.Public().ID() {
		t.Fatalf("%v, %v", keys, err)
	}
	private, err := a.pem()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "x", string(private), strings.Replace(string(a.Public().PEM()), "MC", "MD", 1), strings.Repeat("x", maxKeyFile+1)} {
		if _, err := ParsePublic([]byte(bad)); err == nil || cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	k, err := NewKey()
	if err != nil {
		f.Fatal(err)
	}
	text, err := Sign(example(), k)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"","sig":""}]}`))
	keys := []PublicKey{k.Public()}
	want, err := example().Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Verify(text, keys)
		if err != nil {
			if cutroom.AsError(err).Code != cutroom.Verification {
				t.Fatalf("%v", err)
			}
			return
		}
		// Only what was signed verifies.
		if got, err := c.Statement.Bytes(); err != nil || string(got) != string(want) {
			t.Fatalf("%s, %v", got, err)
		}
	})
}

func FuzzParseStatement(f *testing.F) {
	text, err := example().Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"_type":"https://in-toto.io/Statement/v1","subject":[],"predicateType":"` + PredicateType + `","predicate":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStatement(text)
		if err != nil {
			return
		}
		// What is read is written again as something that reads the same.
		out, err := s.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseStatement(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
