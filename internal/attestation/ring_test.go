package attestation

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cutroom"
)

func newRing(t *testing.T) (*Ring, *time.Time) {
	t.Helper()
	now := day
	return NewRing(filepath.Join(t.TempDir(), "keys", "attestation"), func() time.Time { return now }), &now
}

func TestALifeOfKeys(t *testing.T) {
	t.Parallel()
	r, now := newRing(t)
	if keys, err := r.Keys(); err != nil || len(keys) != 0 {
		t.Fatalf("%v, %v", keys, err)
	}
	first, err := r.Signer()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Signer(); err != nil || again.Public().ID() != first.Public().ID() {
		t.Fatalf("another key signs: %v", err)
	}
	s := example()
	s.Predicate.Recorded = day
	old := sign(t, s, first)

	*now = day.Add(24 * time.Hour)
	second, err := r.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	if k, err := r.Signer(); err != nil || k.Public().ID() != second.ID() || second.ID() == first.Public().ID() {
		t.Fatalf("the new key does not sign: %v", err)
	}
	keys, err := r.Keys()
	if err != nil || len(keys) != 2 || !keys[0].Retired.Equal(*now) || !keys[1].Retired.IsZero() || !keys[0].Created.Equal(day) {
		t.Fatalf("%+v, %v", keys, err)
	}
	if _, err := Verify(old, keys); err != nil {
		t.Errorf("what the old key signed: %v", err)
	}
	// Who stole the old key cannot sign what was recorded later.
	s.Predicate.Recorded = day.Add(48 * time.Hour)
	if _, err := Verify(sign(t, s, first), keys); err == nil || !strings.Contains(err.Error(), "was retired") {
		t.Errorf("%v", err)
	}
	// The private part of a key that signs no more is gone.
	if _, err := os.Stat(r.keyFile(first.Public().ID())); !os.IsNotExist(err) {
		t.Errorf("the old private key is there: %v", err)
	}

	if _, err := r.Revoke(first.Public().ID()[:8]); err != nil {
		t.Fatal(err)
	}
	keys, err = r.Keys()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(old, keys); err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("%v", err)
	}
	// The one that signs is revoked: the next signature makes a new one.
	if _, err := r.Revoke(second.ID()); err != nil {
		t.Fatal(err)
	}
	third, err := r.Signer()
	if err != nil || third.Public().ID() == second.ID() {
		t.Fatalf("%v", err)
	}
	for _, id := range []string{"", "abc", "0123456789abcdef", first.Public().ID()[:7]} {
		if _, err := r.Revoke(id); err == nil || cutroom.AsError(err).Code != cutroom.NotFound {
			t.Errorf("revoke %q: %v", id, err)
		}
	}
}

// TestManyAtOnce has many writers change the keys: each change is in the list, one key
// signs, and its private part is there.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	r, _ := newRing(t)
	var wg sync.WaitGroup
	signers := make([]string, 8)
	for i := range signers {
		wg.Go(func() {
			k, err := NewRing(r.dir, nil).Signer()
			if err != nil {
				t.Error(err)
				return
			}
			signers[i] = k.Public().ID()
		})
	}
	wg.Wait()
	keys, err := r.Keys()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, k := range keys {
		listed[k.ID()] = true
	}
	for _, id := range signers {
		if !listed[id] {
			t.Errorf("the signer %s is not listed", id)
		}
	}
	before := len(keys)
	for range 8 {
		wg.Go(func() {
			if _, err := NewRing(r.dir, nil).Rotate(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if keys, err = r.Keys(); err != nil || len(keys) != before+8 {
		t.Fatalf("%d keys, want %d: %v", len(keys), before+8, err)
	}
	if _, err := r.Signer(); err != nil {
		t.Error(err)
	}
}

func TestKeysAreTheUsersOwn(t *testing.T) {
	t.Parallel()
	r, _ := newRing(t)
	k, err := r.Signer()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	path := r.keyFile(k.Public().ID())
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Signer(); err == nil || cutroom.AsError(err).Code != cutroom.Denied {
		t.Errorf("a key that others read signs: %v", err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Signer(); err == nil || cutroom.AsError(err).Code != cutroom.Precondition {
		t.Errorf("a damaged key signs: %v", err)
	}
	if _, err := r.Rotate(); err != nil {
		t.Errorf("rotate does not help: %v", err)
	}
	if _, err := r.Signer(); err != nil {
		t.Error(err)
	}
}

// TestFaultsOfTheDisk: a full disk is called one, what cannot be told is the folder's.
func TestFaultsOfTheDisk(t *testing.T) {
	t.Parallel()
	r, _ := newRing(t)
	for err, code := range map[error]cutroom.Code{
		syscall.ENOSPC: cutroom.Unavailable, syscall.EDQUOT: cutroom.Unavailable, syscall.EACCES: cutroom.Precondition,
	} {
		if e := cutroom.AsError(r.fault(&fs.PathError{Op: "write", Path: r.dir, Err: err})); e.Code != code || strings.Contains(e.Error(), r.dir) {
			t.Errorf("%v: %v", err, e)
		}
	}
}

// TestForgedRings are lists that somebody else wrote.
func TestForgedRings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{}", `{"version":2,"keys":[]}`, `{"version":1,"keys":[],"x":1}`, `{"version":1,"version":1,"keys":[]}`,
		`{"version":1,"keys":[{"key_id":"00","public_key":"x","created":"2026-01-01T00:00:00Z"}]}`,
	} {
		r, _ := newRing(t)
		if err := os.MkdirAll(r.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.versionFile(1), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Keys(); err == nil || cutroom.AsError(err).Code != cutroom.Precondition {
			t.Errorf("%q: %v", text, err)
		}
	}
}
