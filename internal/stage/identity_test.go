package stage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cutroom"
)

// later is a clock in which every file of the test is long settled.
func later() time.Time { return time.Now().Add(time.Hour) }

func openFile(t testing.TB, p string) *os.File {
	t.Helper()
	f, err := os.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t testing.TB, p, text string) string {
	t.Helper()
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestIdentityCache(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "state", "identity")
	c := NewIdentityCache(folder, later)
	p := write(t, filepath.Join(t.TempDir(), "f"), "one")
	f := openFile(t, p)
	d, id, err := c.Digest(t.Context(), f)
	if err != nil || d != cutroom.DigestOf([]byte("one")) || id.Size != 3 {
		t.Fatalf("%s %+v %v", d, id, err)
	}
	// A planted entry shows whether the file was read again.
	planted := cutroom.DigestOf([]byte("planted"))
	c.remember(entry{id: id, hashed: later().UnixNano(), digest: planted})
	if d, _, _ := c.Digest(t.Context(), f); d != planted {
		t.Error("an unchanged file was read again")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v %v", entries, err)
	}
	if st, _ := entries[0].Info(); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	// The same size, and the time of change set back: still noticed.
	st, _ := os.Stat(p)
	write(t, p, "two")
	if err := os.Chtimes(p, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if d, _, err := c.Digest(t.Context(), f); d != cutroom.DigestOf([]byte("two")) || err != nil {
		t.Errorf("after a change: %s %v", d, err)
	}
	write(t, filepath.Join(folder, entries[0].Name()), "1 garbage")
	if d, _, err := c.Digest(t.Context(), f); d != cutroom.DigestOf([]byte("two")) || err != nil {
		t.Errorf("with a broken entry: %s %v", d, err)
	}
}

// TestFreshFilesAreNotRemembered: a file changed less than two seconds before
// hashing could change again within the clock's grain.
func TestFreshFilesAreNotRemembered(t *testing.T) {
	t.Parallel()
	f := openFile(t, write(t, filepath.Join(t.TempDir(), "f"), "one"))
	id, err := IdentityOf(f)
	if err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]int{-time.Hour: 0, 0: 0, settle - 1: 0, settle: 1, time.Hour: 1} {
		folder := t.TempDir()
		c := NewIdentityCache(folder, func() time.Time { return time.Unix(0, id.CtimeNS).Add(age) })
		if _, _, err := c.Digest(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if entries, _ := os.ReadDir(folder); len(entries) != want {
			t.Errorf("changed %v before hashing: %d entries, want %d", age, len(entries), want)
		}
	}
}

func TestDigestOfAChangingFile(t *testing.T) {
	t.Parallel()
	p := write(t, filepath.Join(t.TempDir(), "f"), "one")
	f := openFile(t, p)
	// The clock is read between the look at the file and its reading.
	c := NewIdentityCache(t.TempDir(), func() time.Time { write(t, p, "longer"); return time.Now() })
	_, _, err := c.Digest(t.Context(), f)
	wantCode(t, err, cutroom.Conflict)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (*IdentityCache)(nil).Digest(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled hashing ended with %v", err)
	}
}

func TestDigestSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, readBlock - 1, readBlock, readBlock + 1, 3*readBlock + 7} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i * 7)
		}
		f := openFile(t, write(t, filepath.Join(t.TempDir(), "f"), string(b)))
		if _, err := f.Seek(int64(n/2), 0); err != nil {
			t.Fatal(err)
		}
		d, id, err := (*IdentityCache)(nil).Digest(t.Context(), f)
		if err != nil || d != cutroom.DigestOf(b) || id.Size != int64(n) {
			t.Errorf("%d bytes: %s %v", n, d, err)
		}
		if at, _ := f.Seek(0, 1); at != int64(n/2) {
			t.Errorf("the offset moved to %d", at)
		}
	}
}

func TestEntryRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := entry{
			id: Identity{
				Dev: rapid.Uint64().Draw(t, "dev"), Ino: rapid.Uint64().Draw(t, "ino"), Size: rapid.Int64().Draw(t, "size"),
				MtimeNS: rapid.Int64().Draw(t, "mtime"), CtimeNS: rapid.Int64().Draw(t, "ctime"),
			},
			hashed: rapid.Int64().Draw(t, "hashed"),
			digest: cutroom.DigestOf(rapid.SliceOf(rapid.Byte()).Draw(t, "content")),
		}
		got, err := parseEntry(e.String())
		if err != nil || got != e {
			t.Fatalf("%v became %v, %v", e, got, err)
		}
	})
}

func FuzzParseEntry(f *testing.F) {
	f.Add("1 1 2 3 4 5 6 " + string(cutroom.DigestOf(nil)) + "\n")
	f.Add("1 -1 2 3 4 5 6 x")
	f.Add("")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := parseEntry(line)
		if err != nil {
			return
		}
		if again, err := parseEntry(e.String()); err != nil || again != e {
			t.Fatalf("%q does not come back", line)
		}
	})
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	p := filepath.Join(t.TempDir(), "a", "b", "stage.key")
	keys := make([][]byte, 20)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := KeyFile(p)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, k := range keys {
		if len(k) != keySize || string(k) != string(keys[0]) || string(k) == string(make([]byte, keySize)) {
			t.Fatalf("keys %x and %x", k, keys[0])
		}
	}
	left, _ := os.ReadDir(filepath.Dir(p))
	st, err := os.Stat(p)
	if err != nil || st.Mode().Perm() != 0o600 || len(left) != 1 {
		t.Errorf("mode %v, %d files, %v", st.Mode(), len(left), err)
	}
	if err := os.Chmod(p, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = KeyFile(p)
	wantCode(t, err, cutroom.Denied, "0600")
	short := write(t, filepath.Join(t.TempDir(), "k"), "short")
	if _, err := KeyFile(short); err == nil {
		t.Error("a short key was taken")
	}
	link := filepath.Join(t.TempDir(), "k")
	if err := os.Symlink(p, link); err != nil {
		t.Fatal(err)
	}
	if _, err := KeyFile(link); err == nil {
		t.Error("a key behind a link was taken")
	}
}
