package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// everything an error says, to callers and to the log.
func everything(err error) string {
	e := cutroom.AsError(err)
	if e == nil {
		return ""
	}
	return fmt.Sprint(err, " ", e.Msg, " ", e.Hint, " ", e.Err)
}

// TestServerFaults: each says what is wrong and what helps, and nothing of who asked
// with which password.
func TestServerFaults(t *testing.T) {
	t.Parallel()
	s := testenv.NewPostgres(t)
	own := s.Database(t)
	u, err := url.Parse(own)
	must(t, err)
	name := strings.TrimPrefix(u.Path, "/")
	const user, password = "someone_private", "hush-hush-word"
	good := s.User(t, name, user, password)
	change := func(f func(u *url.URL, q url.Values)) string {
		u, err := url.Parse(good)
		must(t, err)
		q := u.Query()
		f(u, q)
		u.RawQuery = q.Encode()
		return u.String()
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0") // a port that nobody listens on
	must(t, err, closed.Close())
	frozen := s.Database(t)
	s.Do(t, "alter database "+strings.TrimPrefix(mustParse(t, frozen).Path, "/")+" set default_transaction_read_only = on")
	full := s.User(t, name, user+"_full", password)
	s.Do(t, "alter role "+user+"_full connection limit 0")
	for what, c := range map[string]struct {
		place, says string
		code        cutroom.Code
	}{
		"no such server":     {change(func(_ *url.URL, q url.Values) { q.Set("host", t.TempDir()) }), "cannot be reached", cutroom.Unavailable},
		"nobody listens":     {change(func(_ *url.URL, q url.Values) { q.Set("host", "127.0.0.1"); q.Set("port", port(closed)) }), "cannot be reached", cutroom.Unavailable},
		"no such host":       {change(func(_ *url.URL, q url.Values) { q.Set("host", "nowhere.invalid") }), "cannot be reached", cutroom.Unavailable},
		"another password":   {change(func(u *url.URL, _ url.Values) { u.User = url.UserPassword(user, password+"x") }), "refuses the user or the password", cutroom.Precondition},
		"no password":        {change(func(u *url.URL, _ url.Values) { u.User = url.User(user) }), "refuses the user or the password", cutroom.Precondition},
		"another user":       {change(func(u *url.URL, _ url.Values) { u.User = url.UserPassword(user+"2", password) }), "refuses the user or the password", cutroom.Precondition},
		"no such database":   {change(func(u *url.URL, _ url.Values) { u.Path = "/nowhere" }), "does not exist", cutroom.Precondition},
		"no rights":          {good, "does not let this user", cutroom.Precondition},
		"read-only":          {frozen, "is read-only", cutroom.Precondition},
		"full":               {full, "takes no more connections", cutroom.Unavailable},
		"a broken address":   {"postgres://" + user + ":" + password + "@[/x", "no address", cutroom.Precondition},
		"a broken setting":   {change(func(_ *url.URL, q url.Values) { q.Set("host", "127.0.0.1"); q.Set("sslmode", "perhaps") }), "no address", cutroom.Precondition},
		"a broken parameter": {change(func(_ *url.URL, q url.Values) { q.Set("work_mem", "much") }), "cannot be used", cutroom.Precondition},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			_, err := store.Open(t.Context(), c.place)
			e := cutroom.AsError(err)
			if e == nil || e.Code != c.code || !strings.Contains(e.Msg, c.says) || e.Hint == "" {
				t.Errorf("%v", everything(err))
			}
			f, err2 := store.Look(t.Context(), c.place)
			for _, text := range []string{everything(err), everything(err2), fmt.Sprintf("%+v", f)} {
				if strings.Contains(text, user) || strings.Contains(text, "hush") {
					t.Errorf("it is said who asked: %s", text)
				}
			}
			if strings.Contains(e.Msg+e.Hint, "/") && strings.Contains(e.Msg+e.Hint, os.TempDir()) {
				t.Errorf("a path is said: %v", e)
			}
		})
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	return u
}

func port(l net.Listener) string {
	_, p, _ := net.SplitHostPort(l.Addr().String())
	return p
}

// TestServerDies: a call that was under way says that the server is gone, and once it
// is back the same handle works, with all that was committed.
func TestServerDies(t *testing.T) {
	t.Parallel()
	s := testenv.NewPostgres(t)
	place := s.Database(t)
	db := storetest.At(t, place)
	write := func(ctx context.Context, id string) error {
		_, err := db.ExecContext(ctx, `insert into worker (id, space, beat) values ($1, 's', 1)`, id)
		return err
	}
	must(t, write(t.Context(), "before"))
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = tx.ExecContext(t.Context(), `insert into worker (id, space, beat) values ('half', 's', 1)`)
	must(t, err)
	waiting := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(t.Context(), `select pg_sleep(600)`)
		waiting <- err
	}()
	for n := 0; n == 0; {
		must(t, db.QueryRowContext(t.Context(), `select count(*) from pg_stat_activity where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()`).Scan(&n))
	}
	s.Stop()
	_, late := store.Open(t.Context(), place)
	_, copied := store.Backup(t.Context(), place, time.UnixMilli(1), new(strings.Builder))
	for what, err := range map[string]error{
		"under way": <-waiting, "commit": tx.Commit(), "next": write(t.Context(), "while"), "open": late, "backup": copied,
	} {
		e := cutroom.AsError(store.Fault(err))
		if e == nil || e.Code != cutroom.Unavailable || e.Hint == "" {
			t.Errorf("%s: %v", what, everything(store.Fault(err)))
		}
	}
	s.Start(t)
	must(t, write(t.Context(), "after"))
	rows, err := db.QueryContext(t.Context(), `select id from worker order by id`)
	must(t, err)
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		must(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	if got := strings.Join(ids, " "); got != "after before" || rows.Err() != nil {
		t.Errorf("%s, %v", got, rows.Err())
	}
}

// TestServerDiesWhileRestoring: then all is as it was.
func TestServerDiesWhileRestoring(t *testing.T) {
	t.Parallel()
	s := testenv.NewPostgres(t)
	place := s.Database(t)
	db := storetest.At(t, place)
	fill(t, db, 1, 20)
	before := rows(backup(t, place))
	other := filepath.Join(t.TempDir(), store.Name)
	fill(t, storetest.At(t, other), 2, 20)
	text := backup(t, other)
	tx, err := db.BeginTx(t.Context(), nil) // holds what is replaced last, so that restoring stands still amid its work
	must(t, err)
	_, err = tx.ExecContext(t.Context(), `update worker set beat = 1`)
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := store.Restore(t.Context(), place, bytes.NewReader(text), true)
		done <- err
	}()
	for n := 0; n == 0; {
		// A transaction would see the same activity each time.
		must(t, db.QueryRowContext(t.Context(), `select count(*) from pg_stat_activity where query like 'lock table "worker"%' and wait_event_type = 'Lock'`).Scan(&n))
	}
	s.Stop()
	if e := cutroom.AsError(<-done); e == nil || e.Code != cutroom.Unavailable {
		t.Errorf("%v", everything(e))
	}
	_ = tx.Rollback()
	s.Start(t)
	if diff := cmp.Diff(before, rows(backup(t, place))); diff != "" {
		t.Error(diff)
	}
}

// TestReadOnlyFile: a database that may be read and not written says so. Root may
// write anywhere, so the file is opened as what nobody may write.
func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), store.Name)
	must(t, storetest.At(t, path).Close())
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `delete from worker`)
	e := cutroom.AsError(store.Fault(err))
	if e == nil || e.Code != cutroom.Precondition || !strings.Contains(e.Msg, "cannot be written") || e.Hint == "" {
		t.Errorf("%v", everything(store.Fault(err)))
	}
}

// TestFaultLeavesOthersAlone: what is no fault of the database stays what it is.
func TestFaultLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	ours := cutroom.Errorf(cutroom.NotFound, "not here")
	for _, err := range []error{nil, context.Canceled, fmt.Errorf("while waiting: %w", context.DeadlineExceeded), ours} {
		if got := store.Fault(err); !errors.Is(got, err) || (err == nil) != (got == nil) {
			t.Errorf("%v became %v", err, got)
		}
	}
}
