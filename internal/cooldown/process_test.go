package cooldown

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// asCaller in the environment makes the test binary a process that runs one chain: it
// holds which.
const asCaller = "CUTROOM_TEST_COOLDOWN"

func TestMain(m *testing.M) {
	if text := os.Getenv(asCaller); text != "" {
		if err := call(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// task is the chain that a process runs.
type task struct {
	Place string
	Hops  []provider.Endpoint
	Late  time.Duration // how far its clock goes ahead
}

// call runs the chain and prints the outcome's attempts and warnings.
func call(text string) error {
	var w task
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return err
	}
	ctx := context.Background()
	open := sync.OnceValues(func() (*sql.DB, error) { return store.Open(ctx, w.Place) })
	c := provider.Chain{
		Client:    provider.New(provider.Options{}),
		Cooldowns: Book{Open: func(context.Context) (*sql.DB, error) { return open() }, Exists: func() bool { return store.Exists(w.Place) }},
		Now:       func() time.Time { return time.Now().Add(w.Late) },
	}
	var hops []provider.Hop
	for _, e := range w.Hops {
		hops = append(hops, provider.Hop{Route: "configured", Endpoint: e, Request: func(context.Context) (provider.Request, error) {
			return provider.Request{Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("hi")}}}}, nil
		}})
	}
	out, err := c.Run(ctx, hops, nil)
	if _, failed := errors.AsType[*provider.Failed](err); err != nil && !failed {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// process runs a chain in a process of its own, and says who was asked in which order.
func process(t *testing.T, w task) (asked, warnings []string) {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), asCaller+"="+string(text))
	c.Stderr = os.Stderr
	said, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var out provider.Outcome
	if err := json.Unmarshal(said, &out); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, a := range out.Attempts {
		s := a.Provider
		if a.KeyIndex != nil {
			s += fmt.Sprint("#", *a.KeyIndex)
		}
		if s += " " + string(a.Class); a.OK {
			s += "ok"
		}
		if a.Cooled {
			s += " cooled"
		}
		asked = append(asked, s)
	}
	return asked, out.Warnings
}

// TestTheNextProcessRemembers: who rests in one process is tried last in the next, until
// the rest is over or one that rests answers.
func TestTheNextProcessRemembers(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		one, two := providertest.New(t), providertest.New(t)
		w := task{Place: place, Hops: []provider.Endpoint{one.Endpoint("a", provider.Chat, "m", "k1", "k2"), two.Endpoint("b", provider.Messages, "n", "k3")}}
		for i, step := range []struct {
			k1, k2, k3 providertest.Step
			late       time.Duration
			want       []string
			warnings   int
		}{
			{providertest.Fail(429, "Limit reached. Resets in 1h 2m 3s"), providertest.Fail(401, "who?"), providertest.Say("ok"), 0, []string{"configured:a#0 rate_limited", "configured:a#1 auth", "configured:b ok"}, 1},
			{providertest.Say("ok"), providertest.Say("ok"), providertest.Say("ok"), 0, []string{"configured:b ok"}, 2},
			{providertest.Say("ok"), providertest.Say("ok"), providertest.Say("ok"), 11 * time.Minute, []string{"configured:a#1 ok"}, 1},
			{providertest.Say("ok"), providertest.Say("ok"), providertest.Fail(500, "quota"), 0, []string{"configured:b unavailable", "configured:a#0 ok cooled"}, 3},
			{providertest.Say("ok"), providertest.Say("ok"), providertest.Say("ok"), 0, []string{"configured:a#0 ok"}, 1},
			{providertest.Say("ok"), providertest.Say("ok"), providertest.Say("ok"), 2 * time.Hour, []string{"configured:a#0 ok"}, 0},
		} {
			one.ForKey("k1", step.k1)
			one.ForKey("k2", step.k2)
			two.ForKey("k3", step.k3)
			w.Late = step.late
			asked, warnings := process(t, w)
			if diff := cmp.Diff(step.want, asked); diff != "" || len(warnings) != step.warnings {
				t.Fatalf("process %d: %s %q", i, diff, warnings)
			}
		}
		db := storetest.At(t, place)
		rows, err := db.QueryContext(t.Context(), `select provider, key from cooldown`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var service, key string
			if err := rows.Scan(&service, &key); err != nil || service == "" || len(key) != 16 {
				t.Errorf("%q %q %v", service, key, err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
	})
}
