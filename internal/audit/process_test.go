package audit

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// In the environment these make the test binary a process that appends rows: to the
// database at that place, with that file of anchors, so many.
const (
	asAppender = "CUTROOM_TEST_APPENDER"
	itsAnchors = "CUTROOM_TEST_ANCHORS"
	itsRows    = "CUTROOM_TEST_ROWS"
)

func TestMain(m *testing.M) {
	if place := os.Getenv(asAppender); place != "" {
		if err := appendRows(place); err != nil {
			fmt.Fprintln(os.Stderr, err, cutroom.AsError(err).Err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// appendRows says `ready`, waits for a line, and says each row that is written.
func appendRows(place string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, place)
	if err != nil {
		return err
	}
	defer db.Close()
	l := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Anchors: os.Getenv(itsAnchors), Key: make([]byte, 32)})
	if err := l.Ready(ctx); err != nil {
		return err
	}
	rows, err := strconv.Atoi(os.Getenv(itsRows))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for n := range rows {
		e := deed(os.Getpid()*1000 + n)
		if n%5 != 0 {
			e.Kind = cutroom.Read // most calls only look
		}
		if err := l.Record(ctx, e, nil); err != nil {
			return err
		}
		fmt.Println("row")
	}
	return nil
}

// appender is such a process, ready.
type appender struct {
	*exec.Cmd
	in   *os.File
	said *bufio.Scanner
}

func startAppender(t *testing.T, place, anchors string, rows int) *appender {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), asAppender+"="+place, itsAnchors+"="+anchors, itsRows+"="+strconv.Itoa(rows))
	c.Stderr = os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdin = r
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return &appender{c, w, bufio.NewScanner(out)}
}

// count reads what the process says until it ends.
func (a *appender) count() (rows int) {
	for a.said.Scan() {
		if a.said.Text() == "row" {
			rows++
		}
	}
	return rows
}

// TestTwentyProcesses: however many processes append at once, the chain is one, and
// anchors of all of them fit.
func TestTwentyProcesses(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		const processes, each = 20, 15
		l := opened(t, func(more ...store.Migration) *sql.DB { return storetest.At(t, place, more...) })
		l.Key = make([]byte, 32)
		var all []*appender
		for range processes {
			all = append(all, startAppender(t, place, l.Anchors, each))
		}
		for _, a := range all {
			if !a.said.Scan() || a.said.Text() != "ready" {
				t.Fatal("a process is not ready")
			}
		}
		for _, a := range all {
			if _, err := a.in.WriteString("go\n"); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range all {
			if n := a.count(); n != each {
				t.Errorf("a process wrote %d rows", n)
			}
			if err := a.Wait(); err != nil {
				t.Error(err)
			}
		}
		if r := valid(t, l, processes*each); r.Anchors < processes*each/5 {
			t.Errorf("%+v", r)
		}
	})
}

// TestKilledProcesses: a process that is killed while it appends leaves the chain whole,
// with every row of which it said that it was written.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		rounds := 4
		if testenv.Soak() {
			rounds = 50
		}
		l := opened(t, func(more ...store.Migration) *sql.DB { return storetest.At(t, place, more...) })
		l.Key = make([]byte, 32)
		said := 0
		for range rounds {
			var all []*appender
			for range 4 {
				all = append(all, startAppender(t, place, l.Anchors, 100_000))
			}
			for _, a := range all {
				if !a.said.Scan() {
					t.Fatal("a process is not ready")
				}
				if _, err := a.in.WriteString("go\n"); err != nil {
					t.Fatal(err)
				}
			}
			var wait sync.WaitGroup
			counts := make([]int, len(all))
			for i, a := range all {
				kill := time.AfterFunc(time.Duration(20+rand.IntN(80))*time.Millisecond, func() { _ = a.Process.Kill() })
				defer kill.Stop()
				wait.Go(func() { counts[i] = a.count() })
			}
			wait.Wait()
			for i, a := range all {
				_ = a.Wait() // it was killed
				said += counts[i]
			}
			r, err := l.Verify(t.Context())
			if err != nil || !r.Valid || r.Rows < int64(said) || r.Rows > int64(said+4*rounds*2) {
				t.Fatalf("%d rows were written: %+v, %v", said, r, err)
			}
		}
		if said == 0 {
			t.Error("nothing was written before the processes were killed")
		}
	})
}
