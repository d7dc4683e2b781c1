package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"cutroom"
)

// row is a token as it is kept.
type row struct {
	Token
	hash, mac string
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// seal is the MAC over what a row allows.
func (b *Book) seal(r row) string {
	derived := hmac.New(sha256.New, b.Key)
	derived.Write([]byte("cutroom token 1"))
	h := hmac.New(sha256.New, derived.Sum(nil))
	for _, s := range []string{r.ID, r.hash, r.Label, r.Principal.Name, string(r.Principal.Role), strings.Join(r.Scopes, " "), r.By} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	fmt.Fprintf(h, "%d %d", r.Created.UnixMilli(), r.Expires.UnixMilli())
	return hex.EncodeToString(h.Sum(nil))
}

func scan(s interface{ Scan(...any) error }) (row, error) {
	var r row
	var scopes string
	var created, expires, used, revoked int64
	err := s.Scan(&r.ID, &r.hash, &r.Label, &r.Principal.Name, &r.Principal.Role, &scopes, &created, &r.By, &expires, &r.mac, &used, &revoked)
	r.Scopes, r.Created, r.Expires = strings.Fields(scopes), time.UnixMilli(created), time.UnixMilli(expires)
	for _, t := range []struct {
		ms int64
		at **time.Time
	}{{used, &r.Used}, {revoked, &r.Revoked}} {
		if t.ms != 0 {
			at := time.UnixMilli(t.ms)
			*t.at = &at
		}
	}
	return r, err
}

// isOurs says whether this installation wrote the row.
func (b *Book) isOurs(r row) bool { return hmac.Equal([]byte(r.mac), []byte(b.seal(r))) }

// errNo is the one answer to every token that opens nothing: it tells nobody which ones
// there are.
func errNo() error {
	return cutroom.Errorf(cutroom.Denied, "the bearer token is not valid here").WithHint("`cutroom token list` shows those that are; `cutroom token create` makes one")
}
