package attestation

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strconv"

	strict "github.com/go-json-experiment/json"
)

// PayloadType is the type of what is signed (in-toto attestation framework, envelope v1).
const PayloadType = "application/vnd.in-toto+json"

// Envelope is a signed text (DSSE v1.0.2). Payload and signatures are in base64 with
// padding.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is one signature. KeyID is a hint which key it is of; it proves nothing.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// maxSignatures bounds how many signatures of one envelope are tried.
const maxSignatures = 16

// authenticated is what a signature is over: the pre-authentication encoding of DSSE,
// which joins type and payload so that neither can be taken for the other.
func authenticated(payloadType string, payload []byte) []byte {
	var b bytes.Buffer
	b.WriteString("DSSEv1 " + strconv.Itoa(len(payloadType)) + " " + payloadType + " " + strconv.Itoa(len(payload)) + " ")
	b.Write(payload)
	return b.Bytes()
}

// Sign puts a statement in an envelope, one line of JSON without its end.
func Sign(s Statement, k PrivateKey) ([]byte, error) {
	payload, err := s.Bytes()
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return json.Marshal(Envelope{
		PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []Signature{{KeyID: k.Public().ID(), Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(k.key, authenticated(PayloadType, payload)))}},
	})
}

// parseEnvelope reads an envelope strictly and returns it with its payload.
func parseEnvelope(text []byte) (Envelope, []byte, error) {
	var e Envelope
	if len(text) > maxEnvelope {
		return e, nil, fault("the envelope has %d bytes, more than %d", len(text), maxEnvelope)
	}
	if err := strict.Unmarshal(text, &e, strict.RejectUnknownMembers(true)); err != nil {
		return e, nil, fault("it is no DSSE envelope with each member once").WithCause(err)
	}
	switch {
	case e.PayloadType != PayloadType:
		return e, nil, fault("the envelope holds a %q, not %s", short(e.PayloadType), PayloadType)
	case len(e.Signatures) == 0:
		return e, nil, fault("the envelope has no signature")
	case len(e.Signatures) > maxSignatures:
		return e, nil, fault("the envelope has %d signatures, more than %d", len(e.Signatures), maxSignatures)
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil || base64.StdEncoding.EncodeToString(payload) != e.Payload {
		return e, nil, fault("the payload is not base64")
	}
	return e, payload, nil
}

// Checked is a statement whose signature counts.
type Checked struct {
	Statement Statement
	Key       PublicKey // that signed it
}

// Verify checks an envelope against the known keys: a signature that a key made over
// these very bytes, by a key that was not revoked and not yet retired when the result
// was recorded. It fails with verification, saying what did not hold.
func Verify(text []byte, keys []PublicKey) (Checked, error) {
	e, payload, err := parseEnvelope(text)
	if err != nil {
		return Checked{}, err
	}
	key, err := signer(e, payload, keys)
	if err != nil {
		return Checked{}, err
	}
	// Only what is signed is read further.
	s, err := ParseStatement(payload)
	if err != nil {
		return Checked{}, err
	}
	return Checked{s, key}, key.usable(s.Predicate.Recorded)
}

// signer returns the known key that signed the payload. The key's id in the envelope
// chooses among keys and proves nothing: one that names another key is refused.
func signer(e Envelope, payload []byte, keys []PublicKey) (PublicKey, error) {
	signed := authenticated(e.PayloadType, payload)
	known := false
	for _, sig := range e.Signatures {
		raw, err := base64.StdEncoding.Strict().DecodeString(sig.Sig)
		if err != nil || len(raw) != ed25519.SignatureSize {
			return PublicKey{}, fault("a signature is not 64 bytes in base64")
		}
		for _, k := range keys {
			if sig.KeyID != "" && sig.KeyID != k.ID() {
				continue
			}
			known = true
			if ed25519.Verify(k.key, signed, raw) {
				return k, nil
			}
		}
	}
	if known {
		return PublicKey{}, fault("the signature does not fit: the statement or the signature was changed since")
	}
	return PublicKey{}, fault("it is signed by the key %s, which is not known here", short(e.Signatures[0].KeyID)).
		WithHint("name the signer's public key with --key FILE; `cutroom keys public` prints one's own")
}
