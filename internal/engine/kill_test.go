package engine

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/audit"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/policy"
	"cutroom/internal/stage"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
)

// In the environment these make the test binary a process that does one deed: with the
// database at that place, in that workspace, of that number.
const (
	asDoer  = "CUTROOM_TEST_DOER"
	itsDir  = "CUTROOM_TEST_DIR"
	itsDeed = "CUTROOM_TEST_DEED"
)

func TestMain(m *testing.M) {
	if place := os.Getenv(asDoer); place != "" {
		if err := doDeed(place, os.Getenv(itsDir), os.Getenv(itsDeed)); err != nil {
			fmt.Fprintln(os.Stderr, err, cutroom.AsError(err).Err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// witnessInput is a deed that a witness sees. The odd ones are recorded by the stage as
// well, the even ones are not.
type witnessInput struct {
	Number int `json:"number" min:"1" doc:"Which deed."`
}

type witnessOutput struct {
	cutroom.Output
	Key string `json:"key" doc:"What the witness saw."`
}

func (o *witnessOutput) Transient() bool { return strings.HasSuffix(o.Key, "-even") }

// witnessTool writes a line into a file that no part of the product reads: whether the
// deed was done is what that file says.
func witnessTool(dir string) *tool.Family {
	family := tool.NewFamily("engine", "tests", "1.0.0")
	tool.Add(family, tool.Spec[witnessInput, witnessOutput]{
		Name: "engine.kill_test", Summary: "Test", Description: "Tests.", Kind: cutroom.Execute, Exact: tool.EnvironmentDependent, Revision: 1,
		Replay: tool.ReplayNever, Timeout: time.Minute, Examples: []witnessInput{{Number: 1}},
		Key: func(in witnessInput) string {
			return fmt.Sprintf("deed-%d-%s", in.Number, []string{"even", "odd"}[in.Number%2])
		},
		Run: func(_ context.Context, env tool.Env, in witnessInput) (witnessOutput, error) {
			pause(in.Number)
			f, err := os.OpenFile(filepath.Join(dir, "witness"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return witnessOutput{}, err
			}
			_, err = fmt.Fprintln(f, env.Key())
			err = errors.Join(err, f.Sync(), f.Close())
			pause(in.Number)
			return witnessOutput{Key: env.Key()}, err
		},
	})
	return family
}

// pause takes some of the time that a deed takes.
func pause(number int) { <-time.After(time.Duration(number%4) * time.Millisecond) }

// doer is an engine of a process of its own.
func doer(db *sql.DB, dir string) (*Engine, *audit.Log, error) {
	registry, err := tool.NewRegistry(witnessTool(dir))
	if err != nil {
		return nil, nil, err
	}
	s, err := stage.Open(filepath.Join(dir, ".cutroom", "stage"), stage.Options{Key: bytes.Repeat([]byte{1}, 32), Workspace: dir})
	if err != nil {
		return nil, nil, err
	}
	log := audit.New(audit.Options{
		Open: func(context.Context) (*sql.DB, error) { return db, nil }, Anchors: filepath.Join(dir, "audit.anchors"), Key: []byte("key"),
	})
	return New(Options{
		Registry: registry, Workspace: dir, Stage: s, StageRoot: ".cutroom/stage", Audit: log, Ledger: log, Policy: policy.Shipped(),
		Toolchain: toolchain{}, Abilities: func() ffmpeg.Abilities { return ffmpeg.Abilities{} },
	}), log, nil
}

// call does one deed.
func callDeed(ctx context.Context, e *Engine, number string) (*Reply, error) {
	return e.Invoke(ctx, Call{Tool: "engine.kill_test", Input: []byte(`{"number":` + number + `}`), Principal: cutroom.Operator})
}

// doDeed says `ready`, and `done` with the answer once it has one.
func doDeed(place, dir, number string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, place)
	if err != nil {
		return err
	}
	e, _, err := doer(db, dir)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	r, err := callDeed(ctx, e, number)
	if err == nil {
		fmt.Printf("done %s\n", r.JSON)
	}
	return err
}

// killed starts a process that does a deed and kills it some moments after it began. It
// returns what the process said it answered, if anything.
func killed(t *testing.T, place, dir string, number int, after time.Duration) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), asDoer+"="+place, itsDir+"="+dir, itsDeed+"="+strconv.Itoa(number))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatal("the process is not ready")
	}
	<-time.After(after)
	_ = c.Process.Kill()
	said := ""
	for lines.Scan() {
		said, _ = strings.CutPrefix(lines.Text(), "done ")
	}
	_ = c.Wait()
	return said
}

// witnessed counts what the witness saw of each deed.
func witnessed(t *testing.T, dir string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "witness"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, line := range strings.Fields(string(text)) {
		seen[line]++
	}
	return seen
}

// TestKilledWhileDoing: whenever a process is killed, what must not be done twice is
// done at most once, and the next question is answered truly: what was answered once is
// answered so again, what is known to be done was done, and what is called unknown is
// not done again.
func TestKilledWhileDoing(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		moments := 12
		if testenv.Soak() {
			moments = 200
		}
		dir := t.TempDir()
		db := storetest.At(t, place)
		e, log, err := doer(db, dir)
		if err != nil {
			t.Fatal(err)
		}
		tally := map[string]int{}
		unknown := map[string]bool{}
		for n := 1; n <= moments; n++ {
			said := killed(t, place, dir, n, time.Duration(rand.IntN(25000))*time.Microsecond)
			key := fmt.Sprintf("engine.kill_test:deed-%d-%s", n, []string{"even", "odd"}[n%2])
			before := witnessed(t, dir)[key]
			r, err := callDeed(t.Context(), e, strconv.Itoa(n))
			after := witnessed(t, dir)[key]
			switch code := cutroom.AsError(err); {
			case err == nil && r.Reused:
				tally["known"]++
				if before != 1 || after != 1 {
					t.Errorf("deed %d is called done, and was done %d, then %d times", n, before, after)
				}
			case err == nil:
				tally["not begun"]++
				if said != "" || before != 0 || after != 1 {
					t.Errorf("deed %d was done by the second call; the first said %q and did it %d times, then it was %d", n, said, before, after)
				}
			case code.Code == cutroom.Precondition && strings.Contains(code.Msg, "outcome unknown"):
				tally[fmt.Sprintf("unknown, done %d times", before)]++
				unknown[key] = true
				if said != "" || before > 1 || after != before {
					t.Errorf("deed %d is called unknown; the first call said %q; it was done %d, then %d times", n, said, before, after)
				}
			default:
				t.Fatalf("deed %d: %v, cause %v", n, err, code.Err)
			}
			if said != "" && (err != nil || strings.TrimSpace(string(r.JSON)) != said) {
				t.Errorf("deed %d was answered %s, and then %s, %v", n, said, r.JSON, err)
			}
		}
		t.Logf("%d moments: %v", moments, tally)
		swept(t, db, dir, unknown)
		if r, err := log.Verify(t.Context()); err != nil || !r.Valid {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// swept looks after all deadlines: each call that was cut off has one row, which says
// that its outcome is unknown, and stays in the ledger.
func swept(t *testing.T, db *sql.DB, dir string, unknown map[string]bool) {
	t.Helper()
	later := audit.New(audit.Options{
		Open: func(context.Context) (*sql.DB, error) { return db, nil }, Now: func() time.Time { return time.Now().Add(time.Hour) },
	})
	ops, err := later.Operations(t.Context(), false, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		rows, err := later.Query(t.Context(), cutroom.AuditFilter{Call: op.Call})
		if err != nil || len(rows) != 1 || rows[0].Outcome != cutroom.OutcomeUnknown || !unknown[op.Key] {
			t.Errorf("%s: %+v, %v", op.Key, rows, err)
		}
		delete(unknown, op.Key)
	}
	// A server may have been about to commit the outcome when the process died: it was
	// asked too early, and knows by now.
	for key := range unknown {
		if op, err := later.Recall(t.Context(), key); err != nil || op == nil || op.State != cutroom.OperationDone || witnessed(t, dir)[key] != 1 {
			t.Errorf("not in the ledger: %s: %+v, %v", key, op, err)
		}
	}
}
