package audit

import (
	"bytes"
	"os"
	"testing"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// TestAnchorsThatAreGone: anchors that were made are missed, also after the next one
// was written.
func TestAnchorsThatAreGone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(file string, lines [][]byte) error{
		"removed": func(file string, _ [][]byte) error { return os.Remove(file) },
		"emptied": func(file string, _ [][]byte) error { return os.Truncate(file, 0) },
		"cut":     func(file string, l [][]byte) error { return os.WriteFile(file, bytes.Join(l[:2], nil), 0o600) },
		"a hole": func(file string, l [][]byte) error {
			return os.WriteFile(file, bytes.Join(append(l[:1:1], l[4:]...), nil), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, open storetest.Open) {
				l := opened(t, open)
				for n := range 8 {
					record(t, l, deed(n))
				}
				valid(t, l, 8)
				text, err := os.ReadFile(l.Anchors)
				if err != nil {
					t.Fatal(err)
				}
				if err := spoil(l.Anchors, bytes.SplitAfter(text, []byte("\n"))); err != nil {
					t.Fatal(err)
				}
				again := New(l.Options) // another process, which may mend what a killed one left
				for n := range 2 {
					r, err := again.Verify(t.Context())
					if err != nil || r.Valid || r.Faults[0].Fault != FaultAnchor {
						t.Errorf("look %d: %+v, %v", n, r, err)
					}
					record(t, again, deed(100+n))
				}
			})
		})
	}
}

// TestAnchoredBeyondTheEnd: with the anchors gone as well the database still knows that
// a later row was anchored.
func TestAnchoredBeyondTheEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		must(t, db, `delete from audit_event where seq > 7`)
		must(t, db, `update audit_head set seq = 7, hash = (select hash from audit_event where seq = 7)`)
		must(t, db, `delete from audit_mark`)
		if err := os.Remove(l.Anchors); err != nil {
			t.Fatal(err)
		}
		if r, err := New(l.Options).Verify(t.Context()); err != nil || found(r) != "cut@8" {
			t.Errorf("%s, %v", found(r), err)
		}
	})
}

// TestTheNewestAnchorIsMissed when it is taken off; what a killed process did not come to
// write is not, and the next anchor follows the one that is there.
func TestTheNewestAnchorIsMissed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		db, err := l.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		record(t, l, deed(1), deed(2))
		text, err := os.ReadFile(l.Anchors)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(l.Anchors, int64(bytes.IndexByte(text, '\n')+1)); err != nil {
			t.Fatal(err)
		}
		if r, err := New(l.Options).Verify(t.Context()); err != nil || found(r) != "anchor@2" {
			t.Errorf("%s, %v", found(r), err)
		}
		must(t, db, `update audit_mark set value = '1' where value = '2'`) // as it is when the process was killed
		valid(t, New(l.Options), 2)
		record(t, New(l.Options), deed(3))
		if r := valid(t, New(l.Options), 3); r.Newest != 3 {
			t.Errorf("%+v", r)
		}
	})
}

// TestUnusableAnchors: what cannot be anchored is not begun.
func TestUnusableAnchors(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		if err := l.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(l.Anchors); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(l.Anchors, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := l.Ready(t.Context()); cutroom.AsError(err).Code != cutroom.Precondition {
			t.Errorf("ready: %v", err)
		}
		if _, err := l.Verify(t.Context()); cutroom.AsError(err).Code != cutroom.Precondition {
			t.Errorf("verified: %v", err)
		}
	})
}
