package attestation

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"time"

	"cutroom"
)

// PrivateKey signs.
type PrivateKey struct{ key ed25519.PrivateKey }

// NewKey makes a key.
func NewKey() (PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return PrivateKey{key}, err
}

// Public is the key that verifies.
func (k PrivateKey) Public() PublicKey {
	return PublicKey{key: k.key.Public().(ed25519.PublicKey)}
}

// pem is the private key in PKCS #8.
func (k PrivateKey) pem() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

func parsePrivate(text []byte) (PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || len(rest) > 0 || block.Type != "PRIVATE KEY" {
		return PrivateKey{}, cutroom.Errorf(cutroom.Precondition, "the signing key is damaged").
			WithHint("`cutroom keys rotate` makes a new one; earlier attestations still verify")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if k, ok := key.(ed25519.PrivateKey); ok && err == nil {
		return PrivateKey{k}, nil
	}
	return PrivateKey{}, cutroom.Errorf(cutroom.Precondition, "the signing key is no ed25519 key").WithCause(err).
		WithHint("`cutroom keys rotate` makes a new one; earlier attestations still verify")
}

// PublicKey verifies. The times are zero where they are not known: a key that came as a
// file has none.
type PublicKey struct {
	key     ed25519.PublicKey
	Created time.Time
	Retired time.Time // another one signs since
	Revoked time.Time // nothing that it signed counts any more
}

// der is the key's SubjectPublicKeyInfo (RFC 8410).
func (k PublicKey) der() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.key)
	if err != nil {
		panic(err) // an ed25519 key always marshals
	}
	return der
}

// ID is the SHA-256 of the key's SubjectPublicKeyInfo.
func (k PublicKey) ID() string {
	sum := sha256.Sum256(k.der())
	return hex.EncodeToString(sum[:])
}

// PEM is the key as others get it.
func (k PublicKey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: k.der()})
}

// maxKeyFile bounds a file of public keys, in bytes.
const maxKeyFile = 64 << 10

// ParsePublic reads public ed25519 keys in PEM, one or several.
func ParsePublic(text []byte) ([]PublicKey, error) {
	bad := func(err error) error {
		return cutroom.Errorf(cutroom.Invalid, "the key file holds no ed25519 public key in PEM").WithCause(err).
			WithHint("`cutroom keys public` on the signer's machine prints it")
	}
	if len(text) > maxKeyFile {
		return nil, bad(nil)
	}
	var keys []PublicKey
	for len(text) > 0 {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		text = rest
		if block.Type != "PUBLIC KEY" {
			return nil, bad(nil)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		k, ok := key.(ed25519.PublicKey)
		if err != nil || !ok {
			return nil, bad(err)
		}
		keys = append(keys, PublicKey{key: k})
	}
	if len(keys) == 0 {
		return nil, bad(nil)
	}
	return keys, nil
}

// usable says whether a signature of the key counts under a result recorded then.
func (k PublicKey) usable(recorded time.Time) error {
	switch {
	case !k.Revoked.IsZero():
		return fault("the key %s that signed it was revoked on %s", k.ID()[:16], k.Revoked.Format(time.DateOnly)).
			WithHint("nothing that this key signed counts; have the file attested again with another key")
	case !k.Retired.IsZero() && recorded.After(k.Retired):
		return fault("the key %s was retired on %s, before the result was recorded", k.ID()[:16], k.Retired.Format(time.DateOnly)).
			WithHint("have the file attested again with the key in use")
	}
	return nil
}
