package stage

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cutroom"
)

// TestMain lets the test binary be its own child: a process to kill, or one more
// caller.
func TestMain(m *testing.M) {
	switch os.Getenv("STAGE_CHILD") {
	case "":
		os.Exit(m.Run())
	case "build":
		os.Exit(childBuilds(os.Getenv("STAGE_ROOT"), os.Getenv("STAGE_FROM")))
	case "mixed":
		os.Exit(childDoesEverything(os.Getenv("STAGE_ROOT")))
	case "one":
		os.Exit(childBuildsOne(os.Getenv("STAGE_ROOT")))
	case "full":
		os.Exit(childFillsDisk(os.Getenv("STAGE_ROOT")))
	}
	os.Exit(2)
}

func child(t testing.TB, what, root string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append(env, "STAGE_CHILD="+what, "STAGE_ROOT="+root)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// childBuilds makes results without end, and says each one it believes recorded.
func childBuilds(root, from string) int {
	s, err := Open(root, Options{Key: testKey})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n, _ := strconv.Atoi(from)
	for ; ; n++ {
		if _, err := tryBuild(context.Background(), s, testName(strconv.Itoa(n)), testFiles); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(n)
	}
}

// TestKill kills a building process at random moments. Whatever the moment: what
// it said to be recorded is there, nothing else is visible, the next run is not
// blocked, and its leftovers are in .pending.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 16
	root := filepath.Join(t.TempDir(), ".cutroom", "stage")
	recorded := map[int]bool{}
	next := 0
	for range kills {
		cmd := child(t, "build", root, "STAGE_FROM="+strconv.Itoa(next))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		// The first line says that it is at work; then a random moment of a build,
		// which takes a few milliseconds.
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			recorded[n], next = true, n+1
			time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, func() { cmd.Process.Kill() })
		}
		cmd.Wait()
		next++ // the killed one may be recorded already; it is looked at below
	}
	s := openStage(t, root)
	for n := range next {
		r, err := s.Lookup(t.Context(), testName(strconv.Itoa(n)))
		if err != nil || (r == nil && recorded[n]) {
			t.Fatalf("result %d after the kills: %v, %v (said to be recorded: %t)", n, r, err, recorded[n])
		}
		if r == nil {
			build(t, s, testName(strconv.Itoa(n)))
		}
	}
	count := 0
	for r, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != next {
		t.Errorf("%d results are listed, want %d", count, next)
	}
	checkLeftovers(t, s)
}

// childDoesEverything builds, reviews, publishes and prunes without end.
func childDoesEverything(root string) int {
	s, err := Open(root, Options{Key: testKey})
	for n := 0; err == nil; n++ {
		err = everything(context.Background(), s, strconv.Itoa(n%5))
		fmt.Println(n)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func everything(ctx context.Context, s *Stage, seed string) error {
	r, err := lookupOrBuild(ctx, s, testName(seed), func() {})
	if err != nil {
		return err
	}
	if _, err := s.Review(ctx, r.Name().Invocation.Short(), cutroom.Operator); err != nil {
		return err
	}
	f, err := r.Open(ctx, "a")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.Publish(ctx, f, "", s.workspace, "out"+seed, standing(filepath.Join(s.workspace, "out"+seed))); err != nil {
		return err
	}
	_, err = s.Prune(ctx, PruneOptions{OlderThan: 1, Pending: seed == "3"})
	return err
}

// TestKillOfEverything kills in the middle of reviews, publications and prunes too.
func TestKillOfEverything(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), ".cutroom", "stage")
	for range 12 {
		cmd := child(t, "mixed", root)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Error("the run after a kill did not get through")
		}
		time.AfterFunc(time.Duration(rand.IntN(15000))*time.Microsecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
		}
		cmd.Wait()
	}
	s := openStage(t, root)
	for r, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for n := range 5 {
		if err := everything(t.Context(), s, strconv.Itoa(n)); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(s.workspace, "out"+strconv.Itoa(n))); string(b) != "a" {
			t.Errorf("output %d holds %q, %v", n, b, err)
		}
	}
	checkLeftovers(t, s)
	if names, _ := os.ReadDir(filepath.Join(s.workspace, s.rel, pruningFolder)); len(names) != 0 {
		t.Errorf("half-pruned results stay: %v", names)
	}
}

// checkLeftovers expects every crash's rest in .pending with a record, and nothing
// in .building or .lock.
func checkLeftovers(t *testing.T, s *Stage) {
	t.Helper()
	left, err := s.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		if !l.Recorded {
			t.Errorf("leftover without a record: %+v", l)
		}
	}
	for _, p := range []string{buildingFolder, lockFolder} {
		names, err := os.ReadDir(filepath.Join(s.workspace, s.rel, p))
		if err != nil || len(names) != 0 {
			t.Errorf("%s holds %v, %v", p, names, err)
		}
	}
	rep, err := s.Prune(t.Context(), PruneOptions{Pending: true})
	if err != nil || len(rep.Leftovers) != len(left) {
		t.Errorf("%d leftovers, %d pruned, %v", len(left), len(rep.Leftovers), err)
	}
	names, _ := os.ReadDir(filepath.Join(s.workspace, s.rel, pendingFolder))
	if len(names) != 0 {
		t.Errorf("after the prune .pending holds %v", names)
	}
	t.Logf("%d leftovers", len(left))
}

// childBuildsOne does what the engine does for one call.
func childBuildsOne(root string) int {
	s, err := Open(root, Options{Key: testKey})
	if err == nil {
		_, err = lookupOrBuild(context.Background(), s, testName("same"), func() { fmt.Println("built") })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func lookupOrBuild(ctx context.Context, s *Stage, name Name, building func()) (*Result, error) {
	if r, err := s.Lookup(ctx, name); r != nil || err != nil {
		return r, err
	}
	lock, err := s.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if r, err := s.Lookup(ctx, name); r != nil || err != nil {
		return r, err
	}
	b, err := s.Begin(ctx, lock)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	building()
	if err := b.Put("a", []byte("a")); err != nil {
		return nil, err
	}
	return b.Seal(ctx, testManifest(), []Keep{{Path: "a"}})
}

// TestConcurrentIdenticalCalls runs 20 callers at once in this process, and 6
// processes beside them: one builds, all answer the same.
func TestConcurrentIdenticalCalls(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := filepath.Join(s.workspace, s.rel)
	var built atomic.Int64
	var macs sync.Map
	var wg sync.WaitGroup
	for range 6 {
		cmd := child(t, "one", root)
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			built.Add(int64(strings.Count(string(out), "built")))
		})
	}
	for range 20 {
		wg.Go(func() {
			r, err := lookupOrBuild(t.Context(), s, testName("same"), func() { built.Add(1) })
			if err != nil {
				t.Error(err)
				return
			}
			macs.Store(r.Manifest.MAC, true)
		})
	}
	wg.Wait()
	if built.Load() != 1 {
		t.Errorf("%d builds, want 1", built.Load())
	}
	answers := 0
	macs.Range(func(any, any) bool { answers++; return true })
	if answers != 1 {
		t.Errorf("%d different answers, want 1", answers)
	}
}

// TestConcurrentEverything lets builders, readers, reviewers and pruners of a few
// results run into each other: none may see a fault.
func TestConcurrentEverything(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(o *Options) { o.Cache = NewIdentityCache(t.TempDir(), nil) })
	var wg sync.WaitGroup
	for i := range 3 {
		name := testName(strconv.Itoa(i))
		for range 2 {
			wg.Go(func() {
				for range 40 {
					if _, err := lookupOrBuild(t.Context(), s, name, func() {}); err != nil {
						t.Error("build:", err)
					}
				}
			})
		}
		wg.Go(func() {
			for range 40 {
				if _, err := s.Review(t.Context(), string(name.Invocation), cutroom.Operator); err != nil && cutroom.AsError(err).Code != cutroom.NotFound {
					t.Error("review:", err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 40 {
			rep, err := s.Prune(t.Context(), PruneOptions{OlderThan: 1, Unreviewed: true, Pending: true})
			if err != nil || len(rep.Invalid) > 0 {
				t.Errorf("prune: %+v %v", rep, err)
			}
			for _, err := range s.List(t.Context()) {
				if err != nil {
					t.Error("list:", err)
				}
			}
		}
	})
	wg.Wait()
	if left, err := s.Pending(t.Context()); len(left) != 0 || err != nil {
		t.Errorf("leftovers without a crash: %+v %v", left, err)
	}
}
