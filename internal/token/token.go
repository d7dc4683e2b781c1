// Package token keeps the bearer tokens of the server: who holds one is a principal, for
// some of the doors, until a time.
//
// It promises that a token is shown once and never kept, that a revoked or expired one is
// refused from then on by every process of the database, and that no row which this
// installation did not write opens anything. It knows the nouns and the store, and must
// never know a door.
package token

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// The scopes: the doors that a token opens.
const (
	Gateway = "gateway" // /v1, models
	MCP     = "mcp"     // /mcp, tools
)

// Scopes are all that there are.
func Scopes() []string { return []string{Gateway, MCP} }

// Bounds of a token.
const (
	UsualLife   = 90 * 24 * time.Hour
	LongestLife = 366 * 24 * time.Hour
	maxLabel    = 100
	maxTokens   = 1000
)

// Prefix begins every token, so that scanners for leaked secrets, our own too, know one.
const Prefix = "cutroom_"

// length is of a token: its prefix and 160 bits in base32.
const length = len(Prefix) + 32

// touch is how exactly it is kept when a token was last used: a request costs no write.
const touch = time.Minute

// Options are the parts a book works with.
type Options struct {
	Open func(context.Context) (*sql.DB, error) // of the database; called when it is first needed, each time anew
	Key  []byte                                 // of this installation
	// Note writes a row of the audit in a transaction that changes something; nil: none.
	Note func(context.Context, *sql.Tx, cutroom.AuditEvent) error
	Now  func() time.Time // nil is time.Now
}

// Book is the tokens of one installation.
type Book struct{ Options }

// New returns a book. Nothing is opened before it is needed.
func New(o Options) *Book {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Book{o}
}

// Token is what is known of one. The text that opens doors is not.
type Token struct {
	ID        string            `json:"id"`
	Label     string            `json:"label,omitempty"`
	Principal cutroom.Principal `json:"principal"`
	Scopes    []string          `json:"scopes"`
	Created   time.Time         `json:"created"`
	By        string            `json:"created_by"`
	Expires   time.Time         `json:"expires"`
	Used      *time.Time        `json:"last_used,omitempty"` // to the minute
	Revoked   *time.Time        `json:"revoked,omitempty"`
}

// State is live, expired or revoked.
func (t Token) State(now time.Time) string {
	switch {
	case t.Revoked != nil:
		return "revoked"
	case !now.Before(t.Expires):
		return "expired"
	}
	return "live"
}

// Create makes a token for t.Principal and t.Scopes that lives for life, and returns its
// text, which is nowhere else.
func (b *Book) Create(ctx context.Context, who cutroom.Principal, t Token, life time.Duration) (text string, made Token, err error) {
	if who.Role != cutroom.RoleOperator {
		return "", t, cutroom.Errorf(cutroom.Denied, "only the operator makes tokens").WithHint("ask the operator to run `cutroom token create`")
	}
	if err := t.check(life); err != nil {
		return "", t, err
	}
	db, err := b.Open(ctx)
	if err != nil {
		return "", t, err
	}
	now := b.Now().Truncate(time.Millisecond)
	text = Prefix + random(32)
	t.ID, t.Created, t.By, t.Expires, t.Used, t.Revoked = "t"+strings.ToLower(random(15)), now, who.Name, now.Add(life), nil, nil
	t.Scopes = slices.Compact(slices.Sorted(slices.Values(t.Scopes)))
	r := row{Token: t, hash: hashOf(text)}
	r.mac = b.seal(r)
	err = store.Durable(ctx, db, func(tx *sql.Tx) error {
		var n int64
		if err := tx.QueryRowContext(ctx, `select count(*) from token where revoked = 0 and expires > $1`, now.UnixMilli()).Scan(&n); err != nil {
			return err
		}
		if n >= maxTokens {
			return cutroom.Errorf(cutroom.Limit, "there are %d live tokens", n).WithHint("`cutroom token list` shows them; `cutroom token revoke ID` ends one")
		}
		_, err := tx.ExecContext(ctx, `insert into token (id, hash, label, principal_name, principal_role, scopes, created, created_by, expires, mac) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			t.ID, r.hash, t.Label, t.Principal.Name, t.Principal.Role, strings.Join(t.Scopes, " "), t.Created.UnixMilli(), t.By, t.Expires.UnixMilli(), r.mac)
		if err != nil {
			return err
		}
		return b.note(ctx, tx, who, fmt.Sprintf("%s made for %s: %s", t.ID, t.Principal.Name, strings.Join(t.Scopes, " ")))
	})
	if err != nil {
		return "", t, store.Fault(err)
	}
	return text, t, nil
}

// random is n characters of the system's randomness, 5 bits each.
func random(n int) string {
	text := ""
	for len(text) < n {
		text += rand.Text()
	}
	return text[:n]
}

func (t Token) check(life time.Duration) error {
	switch {
	case len(t.Scopes) == 0:
		return cutroom.Errorf(cutroom.Invalid, "a token has a scope").WithHint("use --scope %s", strings.Join(Scopes(), ","))
	case t.Principal.Name == "" || t.Principal.Role != cutroom.RoleAgent && t.Principal.Role != cutroom.RoleOperator:
		return cutroom.Errorf(cutroom.Invalid, "a token has a principal").WithHint("leave --as out for agent")
	case t.Principal.Role == cutroom.RoleOperator && slices.Contains(t.Scopes, MCP):
		return cutroom.Errorf(cutroom.Invalid, "whoever calls over MCP is an agent, and %s is an operator", t.Principal.Name).WithHint("leave --as out, or mcp out of --scope")
	case life <= 0 || life > LongestLife:
		return cutroom.Errorf(cutroom.Invalid, "a token does not live for %s", life).WithHint("use --for with at most %dd", LongestLife/(24*time.Hour))
	case len(t.Label) > maxLabel || strings.ContainsFunc(t.Label, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return cutroom.Errorf(cutroom.Invalid, "the name is too long, or has a control character").WithHint("use --name with a few words")
	}
	for _, s := range t.Scopes {
		if !slices.Contains(Scopes(), s) {
			return cutroom.Errorf(cutroom.Invalid, "unknown scope %q", s).WithHint("the scopes are %s", strings.Join(Scopes(), ", "))
		}
	}
	return nil
}

func (b *Book) note(ctx context.Context, tx *sql.Tx, who cutroom.Principal, detail string) error {
	if b.Note == nil {
		return nil
	}
	return b.Note(ctx, tx, cutroom.AuditEvent{Type: cutroom.AuditTokenChanged, Principal: who, Kind: cutroom.Execute, Outcome: cutroom.OutcomeOK, Detail: detail})
}

const columns = `id, hash, label, principal_name, principal_role, scopes, created, created_by, expires, mac, used, revoked`

// Verify returns the token of a text that opens the door of a scope now. Any fault of the
// text's is the same denied error; others are the database's.
func (b *Book) Verify(ctx context.Context, text, scope string) (Token, error) {
	if len(text) != length || !strings.HasPrefix(text, Prefix) {
		return Token{}, errNo()
	}
	db, err := b.Open(ctx)
	if err != nil {
		return Token{}, err
	}
	r, err := scan(db.QueryRowContext(ctx, `select `+columns+` from token where hash = $1`, hashOf(text)))
	if errors.Is(err, sql.ErrNoRows) {
		return Token{}, errNo()
	}
	if err != nil {
		return Token{}, store.Fault(err)
	}
	now := b.Now()
	if !b.isOurs(r) || r.State(now) != "live" {
		return Token{}, errNo()
	}
	if !slices.Contains(r.Scopes, scope) {
		return Token{}, cutroom.Errorf(cutroom.Denied, "the bearer token is not for this door").WithHint("make one with `cutroom token create --scope %s`", scope)
	}
	if r.Used == nil || now.Sub(*r.Used) >= touch {
		_, err := db.ExecContext(ctx, `update token set used = $1 where id = $2 and used < $1`, now.UnixMilli(), r.ID)
		if err != nil {
			return Token{}, store.Fault(err)
		}
	}
	return r.Token, nil
}

// List returns the tokens that this installation made, the newest first; those that ended
// only when all is set.
func (b *Book) List(ctx context.Context, who cutroom.Principal, all bool) ([]Token, error) {
	if who.Role != cutroom.RoleOperator {
		return nil, cutroom.Errorf(cutroom.Denied, "only the operator sees the tokens").WithHint("ask the operator to run `cutroom token list`")
	}
	db, err := b.Open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `select `+columns+` from token order by created desc, id`)
	if err != nil {
		return nil, store.Fault(err)
	}
	list, err := store.Collect(rows, scan)
	if err != nil {
		return nil, store.Fault(err)
	}
	out := []Token{}
	for _, r := range list {
		if b.isOurs(r) && (all || r.State(b.Now()) == "live") {
			out = append(out, r.Token)
		}
	}
	return out, nil
}

// Live says whether there is a token that opens anything now.
func (b *Book) Live(ctx context.Context) (bool, error) {
	list, err := b.List(ctx, cutroom.Operator, false)
	return len(list) > 0, err
}

// Revoke ends a token for good, at once for every process of the database. It is named by
// its id, or by its own text: whoever finds one that leaked has that.
func (b *Book) Revoke(ctx context.Context, who cutroom.Principal, id string) (Token, error) {
	if who.Role != cutroom.RoleOperator {
		return Token{}, cutroom.Errorf(cutroom.Denied, "only the operator revokes tokens").WithHint("ask the operator to run `cutroom token revoke`")
	}
	db, err := b.Open(ctx)
	if err != nil {
		return Token{}, err
	}
	var r row
	now := b.Now().Truncate(time.Millisecond)
	err = store.Durable(ctx, db, func(tx *sql.Tx) error {
		r, err = scan(tx.QueryRowContext(ctx, `select `+columns+` from token where id = $1 or hash = $2`, id, hashOf(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return cutroom.Errorf(cutroom.NotFound, "there is no such token").WithHint("`cutroom token list --all` lists them by their ids")
		}
		if err != nil || r.Revoked != nil {
			return err
		}
		r.Revoked = &now
		if _, err := tx.ExecContext(ctx, `update token set revoked = $1 where id = $2`, now.UnixMilli(), r.ID); err != nil {
			return err
		}
		return b.note(ctx, tx, who, r.ID+" revoked")
	})
	return r.Token, store.Fault(err)
}

// RevokeAll ends every token that lives, and says how many did.
func (b *Book) RevokeAll(ctx context.Context, who cutroom.Principal) (int64, error) {
	if who.Role != cutroom.RoleOperator {
		return 0, cutroom.Errorf(cutroom.Denied, "only the operator revokes tokens").WithHint("ask the operator to run `cutroom token revoke --all`")
	}
	db, err := b.Open(ctx)
	if err != nil {
		return 0, err
	}
	var n int64
	now := b.Now().UnixMilli()
	err = store.Durable(ctx, db, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `update token set revoked = $1 where revoked = 0 and expires > $1`, now)
		if err != nil {
			return err
		}
		if n, err = res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return b.note(ctx, tx, who, fmt.Sprintf("all %d revoked", n))
	})
	return n, store.Fault(err)
}
