package token

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// safe is a book, its clock, and what it noted.
type safe struct {
	*Book
	db    *sql.DB
	now   time.Time
	notes []string
}

func newSafe(db *sql.DB) *safe {
	s := &safe{db: db, now: time.UnixMilli(1_800_000_000_123)}
	s.Book = New(Options{
		Open: func(context.Context) (*sql.DB, error) { return db, nil }, Key: []byte("the installation's key"),
		Note: func(_ context.Context, _ *sql.Tx, e cutroom.AuditEvent) error {
			s.notes = append(s.notes, fmt.Sprintf("%s %s %s", e.Type, e.Principal.Name, e.Detail))
			return nil
		},
		Now: func() time.Time { return s.now },
	})
	return s
}

func denied(err error) bool {
	e := cutroom.AsError(err)
	return e != nil && e.Code == cutroom.Denied && e.Hint != ""
}

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		s := newSafe(open())
		ctx := t.Context()
		ci := cutroom.Principal{Name: "ci", Role: cutroom.RoleAgent}
		text, made, err := s.Create(ctx, cutroom.Operator, Token{Label: "laptop", Principal: ci, Scopes: []string{MCP, Gateway, MCP}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != length || !strings.HasPrefix(text, Prefix) || !slices.Equal(made.Scopes, []string{Gateway, MCP}) || made.Expires.Sub(made.Created) != time.Hour {
			t.Errorf("%d characters, %+v", len(text), made)
		}
		for _, scope := range Scopes() {
			if got, err := s.Verify(ctx, text, scope); err != nil || got.ID != made.ID || got.Principal != ci {
				t.Errorf("%s: %+v, %v", scope, got, err)
			}
		}
		if _, err := s.Verify(ctx, text, "console"); !denied(err) {
			t.Error(err)
		}
		for _, other := range []string{"", text[:len(text)-1], text + "A", strings.ToLower(text), Prefix + strings.Repeat("A", 32), "Bearer " + text} {
			if _, err := s.Verify(ctx, other, MCP); !denied(err) {
				t.Errorf("%q: %v", other, err)
			}
		}
		// Nothing of the text is kept.
		if n := holds(t, s.db, text); n != 0 {
			t.Errorf("the token stands in %d columns", n)
		}
		s.now = s.now.Add(time.Hour - time.Millisecond)
		if _, err := s.Verify(ctx, text, MCP); err != nil {
			t.Error(err)
		}
		s.now = s.now.Add(time.Millisecond)
		if _, err := s.Verify(ctx, text, MCP); !denied(err) {
			t.Error(err)
		}
		if list, err := s.List(ctx, cutroom.Operator, false); err != nil || len(list) != 0 {
			t.Errorf("%+v, %v", list, err)
		}
		list, err := s.List(ctx, cutroom.Operator, true)
		if err != nil || len(list) != 1 || list[0].State(s.now) != "expired" || list[0].Used == nil {
			t.Errorf("%+v, %v", list, err)
		}
		if want := "token.changed operator " + made.ID + " made for ci: gateway mcp"; len(s.notes) != 1 || s.notes[0] != want {
			t.Errorf("%q", s.notes)
		}
	})
}

// holds counts the columns of all rows that hold a text.
func holds(t *testing.T, db *sql.DB, text string) int {
	t.Helper()
	var n int
	rows, err := db.QueryContext(t.Context(), `select `+columns+` from token`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, 12)
		for i := range values {
			values[i] = new(string)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if strings.Contains(strings.ToLower(*v.(*string)), strings.ToLower(strings.TrimPrefix(text, Prefix))) {
				n++
			}
		}
	}
	return n
}

func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		here, there := newSafe(open()), newSafe(open())
		ctx := t.Context()
		text, made, err := here.Create(ctx, cutroom.Operator, Token{Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := there.Verify(ctx, text, MCP); err != nil {
			t.Fatal(err)
		}
		first, err := here.Revoke(ctx, cutroom.Operator, made.ID)
		if err != nil || first.Revoked == nil {
			t.Fatal(first, err)
		}
		if _, err := there.Verify(ctx, text, MCP); !denied(err) {
			t.Error(err)
		}
		here.now = here.now.Add(time.Minute)
		again, err := here.Revoke(ctx, cutroom.Operator, made.ID)
		if err != nil || !again.Revoked.Equal(*first.Revoked) || len(here.notes) != 2 {
			t.Errorf("%v, %v, %q", again.Revoked, err, here.notes)
		}
		for range 2 {
			if _, _, err := here.Create(ctx, cutroom.Operator, Token{Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := here.RevokeAll(ctx, cutroom.Agent); !denied(err) {
			t.Error(err)
		}
		n, err := here.RevokeAll(ctx, cutroom.Operator)
		if live, liveErr := there.Live(ctx); err != nil || n != 2 || live || liveErr != nil {
			t.Errorf("%d, %v, %v, %v", n, err, live, liveErr)
		}
		text, made, err = here.Create(ctx, cutroom.Operator, Token{Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if ended, err := there.Revoke(ctx, cutroom.Operator, text); err != nil || ended.ID != made.ID || ended.Revoked == nil || !strings.HasSuffix(there.notes[len(there.notes)-1], made.ID+" revoked") {
			t.Errorf("by its text: %+v, %v, %q", ended, err, there.notes)
		}
		if _, err := here.Verify(ctx, text, MCP); !denied(err) {
			t.Error(err)
		}
		if _, err := here.Revoke(ctx, cutroom.Operator, "tnone"); cutroom.AsError(err).Code != cutroom.NotFound {
			t.Error(err)
		}
	})
}

// TestForgedRows: who can write the database opens no door.
func TestForgedRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		s := newSafe(open())
		ctx := t.Context()
		text, made, err := s.Create(ctx, cutroom.Operator, Token{Label: "a", Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		mine := Prefix + strings.Repeat("B", 32)
		for _, forge := range []string{
			`update token set scopes = 'gateway mcp'`,
			`update token set principal_name = 'operator'`,
			`update token set principal_role = 'operator'`,
			`update token set expires = 9999999999999`,
			`update token set created_by = 'somebody'`,
			`update token set label = 'b'`,
			`update token set hash = '` + hashOf(mine) + `'`,
			`update token set mac = ''`,
		} {
			set := strings.TrimPrefix(forge, "update token set ")
			column, _, _ := strings.Cut(set, " =")
			var was string
			if err := s.db.QueryRowContext(ctx, `select `+column+` from token`).Scan(&was); err != nil {
				t.Fatal(err)
			}
			if _, err := s.db.ExecContext(ctx, forge); err != nil {
				t.Fatal(err)
			}
			for _, try := range []string{text, mine} {
				if _, err := s.Verify(ctx, try, MCP); !denied(err) {
					t.Errorf("%s: %v", forge, err)
				}
			}
			if list, err := s.List(ctx, cutroom.Operator, true); err != nil || len(list) != 0 {
				t.Errorf("%s: listed as %+v, %v", forge, list, err)
			}
			if _, err := s.db.ExecContext(ctx, `update token set `+column+` = $1`, was); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Verify(ctx, text, MCP); err != nil {
			t.Errorf("set back: %v", err)
		}
		other := newSafe(s.db)
		other.Key = []byte("another installation's")
		if _, err := other.Verify(ctx, text, MCP); !denied(err) {
			t.Error(err)
		}
		// Taking a revocation back takes no key: the row says it in plain. It is in the audit.
		if _, err := s.Revoke(ctx, cutroom.Operator, made.ID); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhoMayAndWhatIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		s := newSafe(open())
		ctx := t.Context()
		good := Token{Principal: cutroom.Agent, Scopes: []string{MCP}}
		for _, who := range []cutroom.Principal{cutroom.Agent, {}} {
			_, _, err := s.Create(ctx, who, good, time.Hour)
			_, listErr := s.List(ctx, who, true)
			_, revokeErr := s.Revoke(ctx, who, "t1")
			if !denied(err) || !denied(listErr) || !denied(revokeErr) {
				t.Errorf("%+v: %v, %v, %v", who, err, listErr, revokeErr)
			}
		}
		for name, change := range map[string]func(*Token){
			"no scope":             func(t *Token) { t.Scopes = nil },
			"unknown scope":        func(t *Token) { t.Scopes = []string{"all"} },
			"a scope of two":       func(t *Token) { t.Scopes = []string{"gateway mcp"} },
			"no principal":         func(t *Token) { t.Principal = cutroom.Principal{} },
			"an operator over MCP": func(t *Token) { t.Principal = cutroom.Operator },
			"a long name":          func(t *Token) { t.Label = strings.Repeat("x", 101) },
			"a line in the name":   func(t *Token) { t.Label = "a\nb" },
		} {
			bad := good
			change(&bad)
			if _, _, err := s.Create(ctx, cutroom.Operator, bad, time.Hour); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Invalid || cutroom.AsError(err).Hint == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, life := range []time.Duration{0, -1, LongestLife + 1} {
			if _, _, err := s.Create(ctx, cutroom.Operator, good, life); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Invalid {
				t.Errorf("%s: %v", life, err)
			}
		}
		if live, err := s.Live(ctx); err != nil || live {
			t.Errorf("%v, %v", live, err)
		}
		if len(s.notes) != 0 {
			t.Errorf("%q", s.notes)
		}
	})
}

// TestAnAuditThatFailsMakesNoToken: what cannot be written down is not done.
func TestAnAuditThatFailsMakesNoToken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		s := newSafe(open())
		gone := errors.New("no audit")
		s.Note = func(context.Context, *sql.Tx, cutroom.AuditEvent) error { return gone }
		text, _, err := s.Create(t.Context(), cutroom.Operator, Token{Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour)
		if err == nil || text != "" {
			t.Errorf("%q, %v", text, err)
		}
		if live, err := s.Live(t.Context()); err != nil || live {
			t.Errorf("%v, %v", live, err)
		}
	})
}

// TestUseIsWrittenOnceAMinute: many who use a token at once write little, and none fails.
func TestUseIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		s := newSafe(open())
		text, _, err := s.Create(t.Context(), cutroom.Operator, Token{Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			b := New(Options{Open: s.Open, Key: s.Key, Now: func() time.Time { return s.now }})
			all.Go(func() {
				for range 25 {
					if _, err := b.Verify(t.Context(), text, MCP); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		used := func() time.Time {
			list, err := s.List(t.Context(), cutroom.Operator, true)
			if err != nil || len(list) != 1 || list[0].Used == nil {
				t.Fatalf("%+v, %v", list, err)
			}
			return *list[0].Used
		}
		first := used()
		s.now = s.now.Add(59 * time.Second)
		if _, err := s.Verify(t.Context(), text, MCP); err != nil || !used().Equal(first) {
			t.Errorf("%v, %v, %v", used(), first, err)
		}
		s.now = s.now.Add(time.Second)
		if _, err := s.Verify(t.Context(), text, MCP); err != nil || !used().Equal(s.now) {
			t.Errorf("%v, %v, %v", used(), s.now, err)
		}
	})
}
