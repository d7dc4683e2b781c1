package run_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/run"
	"cutroom/internal/store"
)

// In the environment these make the test binary a follower of a run in the database at that
// place, which writes the numbers of what it sees, slowly where it is told so; or a writer
// of so many events.
const (
	asFollower = "CUTROOM_TEST_FOLLOWER"
	asWriter   = "CUTROOM_TEST_WRITER"
	itsRun     = "CUTROOM_TEST_RUN"
	itsFrom    = "CUTROOM_TEST_FROM"
	itsPause   = "CUTROOM_TEST_PAUSE"
	itsEvents  = "CUTROOM_TEST_EVENTS"
)

func TestMain(m *testing.M) {
	follow, write := os.Getenv(asFollower), os.Getenv(asWriter)
	var err error
	switch {
	case follow != "":
		err = follows(follow)
	case write != "":
		err = writes(write)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err, cutroom.AsError(err).Err)
		os.Exit(1)
	}
	os.Exit(0)
}

func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		panic(err)
	}
	return n
}

func follows(place string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, place)
	if err != nil {
		return err
	}
	pause := time.Duration(number(itsPause)) * time.Millisecond
	for e, err := range logOf(db).Follow(ctx, os.Getenv(itsRun), int64(number(itsFrom))) {
		if err != nil {
			return err
		}
		fmt.Println(e.Seq, string(e.Type))
		if pause > 0 {
			<-time.After(pause)
		}
	}
	return nil
}

func writes(place string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, place)
	if err != nil {
		return err
	}
	w, err := logOf(db).Take(ctx, os.Getenv(itsRun))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for i := range number(itsEvents) {
		if err := w.Append(ctx, run.Text{Turn: i, Text: "x"}); err != nil {
			return err
		}
	}
	return w.Close(ctx)
}

// fast is a pace at which nobody waits for the dead for long.
var fast = run.Pace{Look: 20 * time.Millisecond, Beat: 50 * time.Millisecond, Dead: 300 * time.Millisecond}

// logOf is a log of a process of its own.
func logOf(db *sql.DB) *run.Log {
	return run.New(run.Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Space: "s", Key: bytes.Repeat([]byte{3}, 32), Pace: fast})
}

// spec is one of a run.
func spec(dir string) run.Spec {
	return run.Spec{Goal: "goal", Tools: []string{"a.b"}, Actor: run.Actor{Principal: cutroom.Agent, Kinds: []cutroom.Kind{cutroom.Read}}, SessionDir: filepath.Join(dir, "sessions")}
}

// created is a new run.
func created(t *testing.T, l *run.Log) string {
	t.Helper()
	id := run.NewID()
	if err := l.Create(t.Context(), id, spec(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	return id
}

// taken is the writer of a run until the test ends.
func taken(t *testing.T, l *run.Log, id string) *run.Writer {
	t.Helper()
	w, err := l.Take(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w
}
