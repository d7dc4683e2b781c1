package testenv

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ownServer is the PostgreSQL of this process, started when a test first needs it.
var ownServer = sync.OnceValues(func() (*PostgresServer, error) { return startPostgres() })

// Postgres returns the address (postgres://…) of a new, empty database. All tests of a
// process share one server, which listens on a socket in a folder of its own and on no
// port, and ends with the process, however that ends.
func Postgres(t testing.TB) string {
	t.Helper()
	s, err := ownServer()
	if err != nil {
		t.Fatal(err)
	}
	return s.Database(t)
}

// NewPostgres starts a server for one test, which may stop it and start it again.
func NewPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	s, err := startPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		_ = os.RemoveAll(s.dir)
	})
	return s
}

// PostgresServer is a running PostgreSQL.
type PostgresServer struct {
	programs string // their folder
	dir      string // of its data, socket and log
	watchdog *exec.Cmd
	life     *os.File // the server ends when this is closed
}

// postgresUser is the superuser of a test's server; it has no password, since only
// this user reaches the socket.
const postgresUser = "cutroom"

// watchdog runs the server until its own input ends, which the kernel sees to when
// the tests' process is gone. Its folder goes with it, unless it was told to keep it.
const watchdog = `"$1/postgres" -D "$2/data" -k "$2" -h '' -F -c full_page_writes=off \
	-c max_connections=400 -c shared_buffers=32MB -c autovacuum=off -c timezone=UTC -c lc_messages=C -c max_wal_size=256MB >>"$2/log" 2>&1 &
word=$(cat)
kill -QUIT $! 2>/dev/null
wait $!
[ "$word" = keep ] || rm -rf "$2"`

func startPostgres() (*PostgresServer, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cutroom-pg-")
	if err == nil && len(dir) > 80 { // a socket's path has 107 bytes at most
		_ = os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "cutroom-pg-")
	}
	if err != nil {
		return nil, err
	}
	s := &PostgresServer{programs: programs, dir: dir}
	if err := s.init(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// postgresPrograms finds the folder that holds the server and its tools.
func postgresPrograms() (string, error) {
	var found []string
	if p, err := exec.LookPath("initdb"); err == nil {
		found = append(found, filepath.Dir(p))
	}
	packaged, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	for i := len(packaged) - 1; i >= 0; i-- {
		found = append(found, packaged[i])
	}
	for _, dir := range append(found, "/usr/local/bin") {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err != nil {
			continue
		}
		if _, err := exec.LookPath("psql"); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("not installed: postgres, initdb or psql; run scripts/setup.sh --test")
}

func (s *PostgresServer) init() error {
	if err := giveAway(s.dir); err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.programs, "initdb"), "-D", filepath.Join(s.dir, "data"),
		"-U", postgresUser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.Dir = s.dir
	if err := unprivileged(cmd); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *PostgresServer) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", watchdog, "watchdog", s.programs, s.dir)
	cmd.Dir, cmd.Stdin = s.dir, r
	err = unprivileged(cmd)
	if err == nil {
		err = cmd.Start()
	}
	_ = r.Close()
	if err != nil {
		return errors.Join(err, w.Close())
	}
	s.watchdog, s.life = cmd, w
	for late := time.After(60 * time.Second); ; {
		if _, err = s.psql("postgres", "select 1"); err == nil {
			return nil
		}
		select {
		case <-late:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.end("")
			return fmt.Errorf("the PostgreSQL of the tests does not answer: %w\n%s", err, log)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// end stops the server as a power cut does, with a last word to its watchdog.
func (s *PostgresServer) end(word string) {
	if s.life != nil {
		_, _ = s.life.WriteString(word)
		_ = s.life.Close()
		_ = s.watchdog.Wait() // its code is of no interest
		s.life = nil
	}
}

// Stop stops the server at once, as a power cut does; its data stays for [Start].
func (s *PostgresServer) Stop() { s.end("keep") }

// Start starts a stopped server again, with the data that it had.
func (s *PostgresServer) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// Database makes an empty database and returns its address.
func (s *PostgresServer) Database(t testing.TB) string {
	t.Helper()
	name := "t" + strings.ToLower(rand.Text()[:16])
	s.Do(t, "create database "+name)
	return s.Address(name)
}

// Address is the address of a database of the server.
func (s *PostgresServer) Address(name string) string {
	q := url.Values{"host": {s.dir}, "user": {postgresUser}}
	return (&url.URL{Scheme: "postgres", Path: "/" + name, RawQuery: q.Encode()}).String()
}

// Do runs SQL as the superuser, outside of any database of a test.
func (s *PostgresServer) Do(t testing.TB, text string) string {
	t.Helper()
	out, err := s.psql("postgres", text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *PostgresServer) psql(database, text string) (string, error) {
	cmd := exec.Command("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", s.dir, "-U", postgresUser, "-d", database, "-c", text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// User makes a user who has to give a password on the way to any database, and returns
// the address of one as that user sees it.
func (s *PostgresServer) User(t testing.TB, database, name, password string) string {
	t.Helper()
	s.Do(t, fmt.Sprintf("create role %s login password '%s'", name, password))
	rules := filepath.Join(s.dir, "data", "pg_hba.conf")
	old, err := os.ReadFile(rules)
	if err == nil {
		err = os.WriteFile(rules, append([]byte("local all "+name+" scram-sha-256\n"), old...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Do(t, "select pg_reload_conf()")
	q := url.Values{"host": {s.dir}}
	return (&url.URL{Scheme: "postgres", User: url.UserPassword(name, password), Path: "/" + database, RawQuery: q.Encode()}).String()
}
