package stage

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
)

func TestFind(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if _, err := s.Find(t.Context(), testName("x").Invocation.Short()); err == nil {
		t.Error("found in an empty stage")
	}
	r := build(t, s, testName("x"))
	build(t, s, testName("y"))
	inv := string(r.Name().Invocation)
	for _, prefix := range []string{inv, inv[:16], inv[:40]} {
		got, err := s.Find(t.Context(), prefix)
		if err != nil || got.Manifest.MAC != r.Manifest.MAC {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	_, err := s.Find(t.Context(), inv[:16]+strings.Repeat("0", 48))
	wantCode(t, err, cutroom.NotFound)
	for _, bad := range []string{"", inv[:15], inv + "0", strings.ToUpper(inv), "../../../../../../x"} {
		_, err := s.Find(t.Context(), bad)
		wantCode(t, err, cutroom.Invalid)
	}
	write(t, on(r, "a.txt"), "other")
	_, err = s.Find(t.Context(), inv)
	wantCode(t, err, cutroom.Conflict, r.Folder())
}

func TestFindArtifact(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	build(t, s, testName("x"))
	r := build(t, s, testName("y"))
	digest := cutroom.DigestOf([]byte("one"))
	found, err := s.FindArtifact(t.Context(), digest)
	if err != nil || len(found) != 2 || found[0].Artifact.Path != "frames/1.jpg" {
		t.Fatalf("%+v %v", found, err)
	}
	if found[1].Result.Manifest.Created.Before(found[0].Result.Manifest.Created) {
		t.Error("not in the order of time")
	}
	write(t, on(r, "frames/1.jpg"), "eno")
	if found, err = s.FindArtifact(t.Context(), digest); err != nil || len(found) != 1 {
		t.Errorf("with a tampered result: %+v %v", found, err)
	}
	// A source is no artifact.
	if found, err = s.FindArtifact(t.Context(), r.Name().Source); err != nil || len(found) != 0 {
		t.Errorf("%+v %v", found, err)
	}
}

func TestReviewAndPrune(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	s := newStage(t, func(o *Options) { o.Now = func() time.Time { return now } })
	reviewed, plain := build(t, s, testName("reviewed")), build(t, s, testName("plain"))
	before, _ := os.ReadFile(on(reviewed, resultFile))
	for range 2 {
		if _, err := s.Review(t.Context(), reviewed.Name().Invocation.Short(), cutroom.Operator); err != nil {
			t.Fatal(err)
		}
	}
	after, _ := os.ReadFile(on(reviewed, resultFile))
	if !bytes.Equal(before, after) {
		t.Error("a review changed result.json")
	}
	got, err := s.Lookup(t.Context(), reviewed.Name())
	if err != nil || !got.Reviewed.Equal(now) || got.ReviewedBy != cutroom.Operator {
		t.Fatalf("%+v %v", got, err)
	}
	now = now.Add(24 * time.Hour)
	fresh := build(t, s, testName("fresh"))
	prune := func(opt PruneOptions, pruned, kept int) Report {
		t.Helper()
		rep, err := s.Prune(t.Context(), opt)
		if err != nil || len(rep.Pruned) != pruned || rep.Kept != kept {
			t.Fatalf("%+v: %+v %v", opt, rep, err)
		}
		return rep
	}
	prune(PruneOptions{}, 0, 3)
	prune(PruneOptions{OlderThan: 25 * time.Hour, Unreviewed: true}, 0, 3)
	prune(PruneOptions{OlderThan: time.Hour, DryRun: true}, 1, 2)
	prune(PruneOptions{OlderThan: time.Hour}, 1, 2)
	if r, err := s.Lookup(t.Context(), reviewed.Name()); r != nil || err != nil {
		t.Errorf("a pruned result is visible: %v %v", r, err)
	}
	// A foreign file protects the folder: it does not verify, so it stays.
	write(t, on(plain, "mine.txt"), "precious")
	rep := prune(PruneOptions{OlderThan: time.Hour, Unreviewed: true}, 0, 1)
	if len(rep.Invalid) != 1 || rep.Invalid[0] != plain.Folder() {
		t.Errorf("%+v", rep)
	}
	if b, _ := os.ReadFile(on(plain, "mine.txt")); string(b) != "precious" {
		t.Error("a prune deleted a file that no manifest lists")
	}
	os.Remove(on(plain, "mine.txt"))
	rep = prune(PruneOptions{OlderThan: time.Hour, Unreviewed: true}, 1, 1)
	if want := int64(len("alpha\r\n" + "one" + "three ")); rep.Bytes != want {
		t.Errorf("%d bytes freed, want %d", rep.Bytes, want)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(on(plain, ".")))); !os.IsNotExist(err) {
		t.Errorf("empty folders stay: %v", err)
	}
	if r, err := s.Lookup(t.Context(), fresh.Name()); r == nil || err != nil {
		t.Errorf("the fresh result: %v %v", r, err)
	}
}

func TestPruneLeavesBusyResults(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := build(t, s, testName("x"))
	lock, err := s.Acquire(t.Context(), r.Name())
	if err != nil {
		t.Fatal(err)
	}
	rep, err := s.Prune(t.Context(), PruneOptions{OlderThan: 1, Unreviewed: true, Invalid: true})
	if err != nil || len(rep.Busy) != 1 || len(rep.Pruned) != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	lock.Release()
	lock.Release()
	rep, err = s.Prune(t.Context(), PruneOptions{OlderThan: 1, Unreviewed: true})
	if err != nil || len(rep.Pruned) != 1 {
		t.Errorf("%+v %v", rep, err)
	}
}

// TestPruneEndsAKilledPrune continues from every point at which a prune can die.
func TestPruneEndsAKilledPrune(t *testing.T) {
	t.Parallel()
	for _, gone := range [][]string{{}, {"a.txt"}, {"a.txt", "frames"}, {"a.txt", "frames", resultFile}} {
		s := newStage(t)
		r := build(t, s, testName("x"))
		build(t, s, testName("y"))
		dying := filepath.Join(s.workspace, s.rel, pruningFolder, "x.1")
		if err := os.Mkdir(filepath.Dir(dying), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(on(r, "."), dying); err != nil {
			t.Fatal(err)
		}
		for _, p := range gone {
			os.RemoveAll(filepath.Join(dying, p))
		}
		if rep, err := s.Prune(t.Context(), PruneOptions{}); err != nil || rep.Kept != 1 || len(rep.Invalid) != 0 {
			t.Errorf("%+v %v", rep, err)
		}
		if _, err := os.Stat(dying); !os.IsNotExist(err) {
			t.Errorf("with %v gone already, the rest stays", gone)
		}
	}
}

// crash leaves a build folder without a holder, as kill -9 does.
func crash(t *testing.T, s *Stage, seed string, size int) {
	t.Helper()
	lock, err := s.Acquire(t.Context(), testName(seed))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Begin(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Put("frames/half.jpg", make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(b.Dir(), "bad\xff\nname"), "x")
	if err := os.Symlink("/etc/passwd", filepath.Join(b.Dir(), "link")); err != nil {
		t.Fatal(err)
	}
	b.private.held.f.Close()
	lock.held.f.Close()
}

func TestPending(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	s := newStage(t, func(o *Options) { o.PendingLimit = 2500; o.Now = func() time.Time { return now } })
	for _, seed := range []string{"1", "2", "3"} {
		crash(t, s, seed, 1000)
		now = now.Add(time.Hour)
		build(t, s, testName(seed)) // the next run of the same call is not blocked
	}
	left, err := s.Pending(t.Context())
	if err != nil || len(left) != 3 {
		t.Fatalf("%+v %v", left, err)
	}
	for i, l := range left {
		n := testName(string(rune('1' + i)))
		if !l.Recorded || l.Tool != n.Tool || l.Invocation != n.Invocation.Short() || l.Source != n.Source.Short() || len(l.Files) != 3 {
			t.Errorf("%+v", l)
		}
		if want := i == 0; l.Dropped != want {
			t.Errorf("leftover %d: dropped %t, want %t", i, l.Dropped, want)
		}
		_, err := os.Stat(filepath.Join(s.workspace, l.Folder, "frames/half.jpg"))
		if os.IsNotExist(err) != l.Dropped {
			t.Errorf("leftover %d: %v", i, err)
		}
	}
	rep, err := s.Prune(t.Context(), PruneOptions{Pending: true, OlderThan: 90 * time.Minute})
	if err != nil || len(rep.Leftovers) != 1 || rep.Bytes != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	// A file that no record lists keeps its folder.
	mine := write(t, filepath.Join(s.workspace, left[1].Folder, "mine"), "precious")
	rep, err = s.Prune(t.Context(), PruneOptions{Pending: true})
	if err != nil || len(rep.Leftovers) != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	os.Remove(mine)
	if rep, err = s.Prune(t.Context(), PruneOptions{Pending: true}); err != nil || len(rep.Leftovers) != 1 {
		t.Errorf("%+v %v", rep, err)
	}
}

// TestForgedLeftoverRecordDeletesNothing: the record is under the MAC too.
func TestForgedLeftoverRecordDeletesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	crash(t, s, "1", 10)
	left, err := s.Pending(t.Context())
	if err != nil || len(left) != 1 {
		t.Fatalf("%+v %v", left, err)
	}
	record := filepath.Join(s.workspace, left[0].Folder+".json")
	b, _ := os.ReadFile(record)
	write(t, record, strings.Replace(string(b), "frames/half.jpg", "../../../../x", 1))
	rep, err := s.Prune(t.Context(), PruneOptions{Pending: true})
	if err != nil || len(rep.Leftovers) != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	if left, err = s.Pending(t.Context()); err != nil || len(left) != 1 || left[0].Recorded {
		t.Errorf("%+v %v", left, err)
	}
}

// TestAReviewIsOfOneResult: the review of an earlier result of the same name, or of
// another, says nothing about this one.
func TestAReviewIsOfOneResult(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, seed := range []string{"x", "y"} {
		old := build(t, s, testName(seed))
		if _, err := s.Review(t.Context(), string(old.Name().Invocation), cutroom.Operator); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(on(old, reviewedFile))
		if err != nil {
			t.Fatal(err)
		}
		if rep, err := s.Prune(t.Context(), PruneOptions{OlderThan: 1}); err != nil || len(rep.Pruned) != 1 {
			t.Fatalf("%+v %v", rep, err)
		}
		fresh := build(t, s, testName("x"))
		write(t, on(fresh, reviewedFile), string(text))
		_, err = s.Lookup(t.Context(), fresh.Name())
		wantCode(t, err, cutroom.Conflict, fresh.Folder())
		if rep, err := s.Prune(t.Context(), PruneOptions{Invalid: true}); err != nil || len(rep.Rejected) != 1 {
			t.Fatalf("%+v %v", rep, err)
		}
	}
}
