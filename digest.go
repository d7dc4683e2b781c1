package cutroom

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Digest is the SHA-256 of some bytes, as 64 lower-case hexadecimal digits.
type Digest string

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(hex.EncodeToString(sum[:]))
}

// DigestSum returns the digest that h, a running SHA-256, has reached.
func DigestSum(h hash.Hash) Digest { return Digest(hex.EncodeToString(h.Sum(nil))) }

// ParseDigest checks that s is 64 lower-case hexadecimal digits.
func ParseDigest(s string) (Digest, error) {
	if len(s) != 64 {
		return "", fmt.Errorf("a digest has 64 hexadecimal digits, not %d characters", len(s))
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("a digest has lower-case hexadecimal digits only, not %q", c)
		}
	}
	return Digest(s), nil
}

// Short returns the first 16 digits: what names folders and runs.
func (d Digest) Short() string {
	if len(d) < 16 {
		return string(d)
	}
	return string(d[:16])
}
