package approval

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// Bounds of a grant.
const (
	LongestGrant = 90 * 24 * time.Hour
	MostUses     = 10_000
)

const grantColumns = `id, principal, workspace, tools, beneath, bounds, overwrite, origins, max_bytes, uses, created, expires, created_by, signed_by, signature, used, revoked`

// grantRow is a grant as it is kept.
type grantRow struct {
	cutroom.Grant
	signedBy, signature string
}

func scanGrant(s interface{ Scan(...any) error }) (*grantRow, error) {
	var g grantRow
	var tools, beneath, bounds, origins string
	var overwrite, created, expires, revoked int64
	err := s.Scan(&g.ID, &g.Principal, &g.Workspace, &tools, &beneath, &bounds, &overwrite, &origins, &g.MaxBytes, &g.Uses,
		&created, &expires, &g.By, &g.signedBy, &g.signature, &g.Used, &revoked)
	if err != nil {
		return nil, err
	}
	for _, l := range []struct {
		text string
		into *[]string
	}{{tools, &g.Tools}, {beneath, &g.Beneath}, {bounds, &g.Where}, {origins, &g.Origins}} {
		_ = json.Unmarshal([]byte(l.text), l.into) // what does not decode was edited: the signature says so
	}
	g.Overwrite, g.Created, g.Expires, g.Revoked = overwrite != 0, at(created), at(expires), at(revoked)
	return &g, nil
}

// signed is the text that a grant's signature is over: all but its count.
func (g *grantRow) signed() []byte {
	f := form{}
	f.text("standing grant", "1")
	f.text("id", g.ID)
	f.text("principal", g.Principal)
	f.text("workspace", g.Workspace)
	f.list("tools", g.Tools)
	f.list("beneath", g.Beneath)
	f.list("where", g.Where)
	f.text("overwrite", strconv.FormatBool(g.Overwrite))
	f.list("origins", g.Origins)
	f.number("max_bytes", g.MaxBytes)
	f.number("uses", g.Uses)
	f.number("created", g.Created.UnixMilli())
	f.number("expires", g.Expires.UnixMilli())
	f.text("by", g.By)
	return f
}

// Grant writes a standing permission down, under the operator's signature. Its id and
// times are made here; life is how long it holds.
func (b *Book) Grant(ctx context.Context, who cutroom.Principal, passphrase []byte, g cutroom.Grant, life time.Duration) (cutroom.Grant, error) {
	if who.Role != cutroom.RoleOperator {
		return g, cutroom.Errorf(cutroom.Denied, "only the operator grants")
	}
	if err := checkGrant(g, life); err != nil {
		return g, err
	}
	signer, err := b.unlock(ctx, passphrase)
	if err != nil {
		return g, err
	}
	err = b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		g.ID, g.Created, g.Expires, g.By, g.Used = "g"+strings.ToLower(rand.Text()[:idLength-1]), now, now.Add(life), who.Name, 0
		r := grantRow{Grant: g, signedBy: fingerprint(signer.Public())}
		r.signature = signer.sign(r.signed())
		overwrite := 0
		if g.Overwrite {
			overwrite = 1
		}
		_, err := tx.ExecContext(ctx, `insert into automation_grant (`+grantColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, 0)`,
			g.ID, g.Principal, g.Workspace, encode(g.Tools), encode(g.Beneath), encode(g.Where), overwrite, encode(g.Origins), g.MaxBytes, g.Uses,
			g.Created.UnixMilli(), g.Expires.UnixMilli(), g.By, r.signedBy, r.signature)
		return errorsOf(err, tick(ctx, tx, now), b.note(ctx, tx, cutroom.AuditEvent{
			Type: cutroom.AuditGrantChanged, Principal: who, Grant: g.ID, Detail: fmt.Sprintf("made for %s, %d calls", g.Principal, g.Uses),
		}))
	})
	return g, err
}

func checkGrant(g cutroom.Grant, life time.Duration) error {
	switch {
	case len(g.Tools) == 0 || g.Principal == "" || g.Workspace == "":
		return cutroom.Errorf(cutroom.Invalid, "a grant names tools, a principal and a workspace").WithHint("cutroom grants add TOOL --uses 10 --for 8h")
	case g.Uses < 1 || g.Uses > MostUses:
		return cutroom.Errorf(cutroom.Invalid, "a grant for %d calls", g.Uses).WithHint("use --uses 1 to %d", MostUses)
	case life <= 0 || life > LongestGrant:
		return cutroom.Errorf(cutroom.Invalid, "a grant for %s", life).WithHint("use --for with at most 2160h")
	}
	for _, t := range g.Tools {
		if _, err := path.Match(t, "x"); err != nil || t == "" {
			return cutroom.Errorf(cutroom.Invalid, "%q is not a glob", short(t)).WithHint("use a tool id or a pattern such as edit.*")
		}
	}
	for _, d := range g.Beneath {
		if !filepath.IsLocal(d) {
			return cutroom.Errorf(cutroom.Invalid, "%q does not lie in the workspace", short(d)).WithHint("name folders relative to the workspace")
		}
	}
	for _, w := range g.Where {
		if _, err := parseWhere(w); err != nil {
			return err
		}
	}
	return nil
}

// granted returns the first grant that covers a call.
func (b *Book) granted(ctx context.Context, q querier, c Candidate, now time.Time) (Pass, error) {
	list, err := grants(ctx, q, `workspace = $1 and expires > $2 and revoked = 0 and used < uses order by created, id`, c.Workspace, now.UnixMilli())
	if err != nil || len(list) == 0 {
		return Pass{}, err
	}
	for _, g := range list {
		fault, err := b.grantFault(g, now)
		if err != nil {
			return Pass{}, err
		}
		if fault != "" {
			b.Log.Warn("grant", "id", g.ID, "fault", fault)
			continue
		}
		if covers(g.Grant, c) {
			return Pass{ID: g.ID, grant: true}, nil
		}
	}
	return Pass{}, nil
}

// grantFault says why a grant allows nothing, "" when it is live.
func (b *Book) grantFault(g *grantRow, now time.Time) (string, error) {
	key, err := b.verifier()
	if err != nil {
		return "", err
	}
	floor, err := b.marks.floor()
	if err != nil {
		return "", err
	}
	switch {
	case key == nil || g.signedBy != fingerprint(key):
		return "was signed by another key", nil
	case !verify(key, g.signed(), g.signature):
		return "is not as it was signed", nil
	case g.Created.After(now):
		return "was made in the future: the clock was set back", nil
	case !g.Revoked.IsZero() || b.marks.used(g.ID) || !g.Created.After(floor):
		return "was taken back", nil
	case !now.Before(g.Expires):
		return "expired", nil
	case b.next(g) > g.Uses:
		return "is used up", nil
	}
	return "", nil
}

// next is the use of a grant that is free. A count that was set back, with its row or
// with the whole database, goes on where the marks end.
func (b *Book) next(g *grantRow) int64 {
	n := g.Used + 1
	for n <= g.Uses && b.marks.used(useName(g.ID, n)) {
		n++
	}
	return n
}

// covers says whether a call lies within a grant's bounds. Nothing that a grant does
// not speak of is within it.
func covers(g cutroom.Grant, c Candidate) bool {
	if g.Principal != c.Principal.Name || g.Workspace != c.Workspace {
		return false
	}
	if !slices.ContainsFunc(g.Tools, func(glob string) bool { ok, err := path.Match(glob, c.Tool); return ok && err == nil }) {
		return false
	}
	if c.Network() && (!slices.Contains(g.Origins, c.Destination) || c.MaxBytes > g.MaxBytes) {
		return false
	}
	if !g.Overwrite && slices.ContainsFunc(c.Outputs, func(o Output) bool { return o.Replaces != "" }) {
		return false
	}
	folders := g.Beneath
	if len(folders) == 0 {
		folders = []string{"."}
	}
	for _, f := range c.Files {
		if !slices.ContainsFunc(folders, func(d string) bool { return beneath(filepath.Join(g.Workspace, d), f) }) {
			return false
		}
	}
	return !slices.ContainsFunc(g.Where, func(w string) bool { return !holds(w, c.Input) })
}

func beneath(folder, file string) bool {
	rel, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(rel)
}

// spendGrant uses one of a grant's calls up.
func (b *Book) spendGrant(ctx context.Context, c Candidate, p Pass) error {
	var use int64
	var until time.Time
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		list, err := grants(ctx, tx, `id = $1`, p.ID)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return tooLate(p.ID, "is gone")
		}
		g := list[0]
		fault, err := b.grantFault(g, now)
		if err != nil {
			return err
		}
		if fault == "" && !covers(g.Grant, c) {
			fault = "does not cover this call"
		}
		if fault != "" {
			return tooLate(p.ID, fault)
		}
		use, until = b.next(g), g.Expires
		won, err := changed(tx.ExecContext(ctx, `update automation_grant set used = $1 where id = $2 and used = $3 and revoked = 0`, use, p.ID, g.Used))
		if err != nil {
			return err
		}
		if !won {
			return tooLate(p.ID, "was used at the same moment")
		}
		return tick(ctx, tx, now)
	})
	if err != nil {
		return err
	}
	return b.mark(useName(p.ID, use), until)
}

func useName(id string, n int64) string { return fmt.Sprintf("%s.%d", id, n) }

// Grants lists the standing permissions, the newest first, each with what is wrong with
// its row.
func (b *Book) Grants(ctx context.Context, who cutroom.Principal) ([]cutroom.Grant, error) {
	if who.Role != cutroom.RoleOperator {
		return nil, cutroom.Errorf(cutroom.Denied, "only the operator sees the grants")
	}
	db, err := b.Open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := grants(ctx, db, `1 = 1 order by created desc, id limit 1000`)
	if err != nil {
		return nil, store.Fault(err)
	}
	floor, err := b.marks.floor()
	if err != nil {
		return nil, err
	}
	list := []cutroom.Grant{}
	for _, g := range rows {
		// What was taken back stays so, whatever became of the row.
		if g.Revoked.IsZero() && (b.marks.used(g.ID) || !g.Created.After(floor)) {
			g.Revoked = g.Created
			if floor.After(g.Created) {
				g.Revoked = floor
			}
		}
		if g.Fault, err = b.grantFault(g, b.Now().Add(slack)); err != nil {
			return nil, err
		}
		list = append(list, g.Grant)
	}
	return list, nil
}

// RevokeGrant takes a grant back; what runs under it goes on.
func (b *Book) RevokeGrant(ctx context.Context, who cutroom.Principal, id string) error {
	if who.Role != cutroom.RoleOperator {
		return cutroom.Errorf(cutroom.Denied, "only the operator takes grants back")
	}
	var until time.Time
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		list, err := grants(ctx, tx, `id = $1`, id)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return cutroom.Errorf(cutroom.NotFound, "there is no grant %q", short(id)).WithHint("`cutroom grants` lists them")
		}
		until = list[0].Expires
		_, err = tx.ExecContext(ctx, `update automation_grant set revoked = $1 where id = $2 and revoked = 0`, now.UnixMilli(), id)
		return errorsOf(err, tick(ctx, tx, now), b.note(ctx, tx, cutroom.AuditEvent{Type: cutroom.AuditGrantChanged, Principal: who, Grant: id, Detail: "taken back"}))
	})
	if err != nil {
		return err
	}
	_, err = b.marks.use(id, until)
	return err
}

func grants(ctx context.Context, q querier, where string, args ...any) ([]*grantRow, error) {
	rows, err := q.QueryContext(ctx, `select `+grantColumns+` from automation_grant where `+where, args...)
	if err != nil {
		return nil, err
	}
	return store.Collect(rows, scanGrant)
}

// where is one bound on an argument.
type where struct {
	name  []string // path of members
	op    string   // = <= >=
	value string
}

// parseWhere reads name=value, name<=number or name>=number; a dot goes into an object.
func parseWhere(text string) (where, error) {
	name, value, ok := strings.Cut(text, "=") // the first one: a value may hold others
	op := "="
	if n := len(name) - 1; n >= 0 && (name[n] == '<' || name[n] == '>') {
		name, op = name[:n], name[n:]+"="
	}
	w := where{strings.Split(name, "."), op, value}
	limit, err := strconv.ParseFloat(value, 64)
	number := err == nil && !math.IsNaN(limit) && !math.IsInf(limit, 0)
	if ok && !slices.Contains(w.name, "") && (op == "=" || number) {
		return w, nil
	}
	return where{}, cutroom.Errorf(cutroom.Invalid, "%q is not a bound on an argument", short(text)).
		WithHint("write name=value, name<=number or name>=number, such as crf>=18")
}

// holds says whether a request is within a bound. An argument that is not there is not.
func holds(text string, input []byte) bool {
	w, err := parseWhere(text)
	if err != nil {
		return false
	}
	value := json.RawMessage(input)
	for _, name := range w.name {
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil {
			return false
		}
		next, ok := members[name]
		if !ok {
			return false
		}
		value = next
	}
	var s string
	if w.op == "=" && json.Unmarshal(value, &s) == nil {
		return s == w.value
	}
	if w.op == "=" {
		return string(value) == w.value
	}
	var n json.Number
	if json.Unmarshal(value, &n) != nil {
		return false
	}
	have, err := n.Float64()
	most, merr := strconv.ParseFloat(w.value, 64)
	if errors.Join(err, merr) != nil {
		return false
	}
	return w.op == "<=" && have <= most || w.op == ">=" && have >= most
}
