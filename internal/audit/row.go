package audit

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"cutroom"
)

// row is an event as it is hashed, exported and stored. Its members stand in the order
// of their names, so that its JSON is canonical (RFC 8785): strings, and whole numbers
// below 2^53.
type row struct {
	Approval  string `json:"approval"`
	At        int64  `json:"at"` // milliseconds since 1970
	Call      string `json:"call"`
	Decision  string `json:"decision"`
	Detail    string `json:"detail"`
	ElapsedMS int64  `json:"elapsed_ms"`
	Grant     string `json:"grant"`
	Input     string `json:"input"`
	Kind      string `json:"kind"`
	Outcome   string `json:"outcome"`
	Output    string `json:"output"`
	Parent    string `json:"parent"`
	Principal string `json:"principal"`
	Reason    string `json:"reason"`
	Revision  int64  `json:"revision"`
	Role      string `json:"role"`
	Run       string `json:"run"`
	Seq       int64  `json:"seq"`
	Tool      string `json:"tool"`
	Type      string `json:"type"`
}

// columns are those of audit_event in the order of fields, with the hash last.
const columns = `approval_id, at, call_id, decision, detail, elapsed_ms, grant_id, input, kind, outcome, output, parent_id,
	principal_name, reason, revision, principal_role, run, seq, tool, type, hash`

func (r *row) fields() []any {
	return []any{
		&r.Approval, &r.At, &r.Call, &r.Decision, &r.Detail, &r.ElapsedMS, &r.Grant, &r.Input, &r.Kind, &r.Outcome, &r.Output, &r.Parent,
		&r.Principal, &r.Reason, &r.Revision, &r.Role, &r.Run, &r.Seq, &r.Tool, &r.Type,
	}
}

// canonical is the row's one text.
func (r *row) canonical() ([]byte, error) {
	return json.Marshal(r, json.Deterministic(true))
}

// genesis is what stands for the hash before the first row of a chain.
func genesis(chain string) string { return sum([]byte("cutroom audit 1\n" + chain)) }

// link is the hash of a row: over the hash before it, a line feed and the row's text.
func link(before string, text []byte) string {
	h := sha256.New()
	h.Write([]byte(before + "\n"))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// The longest texts of a row, in bytes. Ids and digests are ours, and shorter.
const (
	maxName   = 100
	maxReason = 500
)

// rowOf makes an event a row: nothing in it is longer than it may be, and no text
// can carry a secret or what a database or a terminal stumbles over.
func (l *Log) rowOf(e cutroom.AuditEvent) *row {
	text := func(s string, most int) string {
		s = plain(s)
		if l.Redact != nil {
			s = plain(l.Redact(s))
		}
		return clip(s, most)
	}
	at := e.At
	if at.IsZero() {
		at = l.Now()
	}
	return &row{
		Approval: clip(plain(e.Approval), maxName), At: at.UnixMilli(), Call: clip(plain(e.Call), maxName), Decision: clip(plain(e.Decision), maxName),
		Detail: text(e.Detail, maxReason), ElapsedMS: max(0, e.Elapsed.Milliseconds()), Grant: clip(plain(e.Grant), maxName),
		Input: digest(e.Input), Kind: clip(plain(string(e.Kind)), maxName), Outcome: clip(plain(e.Outcome), maxName), Output: digest(e.Output),
		Parent: clip(plain(e.Parent), maxName), Principal: text(e.Principal.Name, maxName), Reason: text(e.Reason, maxReason),
		Revision: int64(e.Revision), Role: clip(plain(string(e.Principal.Role)), maxName), Run: digest(e.Run),
		Tool: text(e.Tool, maxName), Type: clip(plain(string(e.Type)), maxName),
	}
}

// event is a row for those who read it.
func (r *row) event(hash string) cutroom.AuditEvent {
	return cutroom.AuditEvent{
		Seq: r.Seq, At: time.UnixMilli(r.At).UTC(), Type: cutroom.AuditType(r.Type), Call: r.Call, Parent: r.Parent,
		Principal: cutroom.Principal{Name: r.Principal, Role: cutroom.Role(r.Role)}, Tool: r.Tool, Revision: int(r.Revision), Kind: cutroom.Kind(r.Kind),
		Input: cutroom.Digest(r.Input), Output: cutroom.Digest(r.Output), Decision: r.Decision, Reason: r.Reason, Approval: r.Approval, Grant: r.Grant,
		Outcome: r.Outcome, Run: cutroom.Digest(r.Run), Elapsed: time.Duration(r.ElapsedMS) * time.Millisecond, Detail: r.Detail, Hash: cutroom.Digest(hash),
	}
}

// plain leaves out what is no text: broken UTF-8, control characters and line breaks of
// every kind.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, s)
}

// clip cuts a text to at most that many bytes, between two characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for i := range s {
		if i > most-len("…") {
			return s[:lastStart(s, i)] + "…"
		}
	}
	return s
}

// lastStart is where the character before the one at i starts.
func lastStart(s string, i int) int {
	for i--; i > 0 && s[i]&0xC0 == 0x80; i-- {
	}
	return i
}

// digest is a digest, or nothing.
func digest(d cutroom.Digest) string {
	if _, err := cutroom.ParseDigest(string(d)); err != nil {
		return ""
	}
	return string(d)
}

// scan reads one row with its hash, selected by columns. What somebody wrote into a
// column that is of another type is read as it is: it is not what was hashed.
func scan(rows *sql.Rows) (*row, string, error) {
	r, hash := &row{}, ""
	into := append(r.fields(), &hash)
	if rows.Scan(into...) == nil {
		return r, hash, nil
	}
	raw := make([]any, len(into))
	for i := range raw {
		raw[i] = new(any)
	}
	if err := rows.Scan(raw...); err != nil {
		return nil, "", fmt.Errorf("read a row of the audit: %w", err)
	}
	for i, v := range raw {
		switch v := *v.(*any); to := into[i].(type) {
		case *string:
			*to = plain(fmt.Sprint(v))
		case *int64:
			n, ok := v.(int64)
			if !ok {
				n = math.MinInt64 // what no row has
			}
			*to = n
		}
	}
	return r, hash, nil
}
