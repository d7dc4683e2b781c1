package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// TestRestored: after a backup was put back the chain is whole, and says what it lost.
func TestRestored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		former, err := l.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The backup was made when there were 7 rows: anchor 5 fits, anchor 10 does not.
		must(t, db, `delete from audit_event where seq > 7`)
		must(t, db, `update audit_head set seq = 7, hash = (select hash from audit_event where seq = 7)`)
		if err := l.Restored(t.Context(), cutroom.Operator, former); err != nil {
			t.Fatal(err)
		}
		r := valid(t, l, 8)
		if r.Anchors != 2 || r.Newest != 8 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "by operator, from a backup: rows 8 to 12 of the former chain are gone; 1 anchors of them are superseded and lie in audit.anchors.before-") {
			t.Errorf("%+v", r)
		}
		rows, err := l.Query(t.Context(), cutroom.AuditFilter{Type: cutroom.AuditRestored})
		if err != nil || len(rows) != 1 || !strings.HasSuffix(r.Notes[0], rows[0].Detail) {
			t.Errorf("%+v, %v", rows, err)
		}
		if aside, err := filepath.Glob(l.Anchors + ".before-*"); err != nil || len(aside) != 1 {
			t.Errorf("%v, %v", aside, err)
		}
		// Nothing is set aside where everything fits.
		if err := l.Restored(t.Context(), cutroom.Operator, Anchor{}); err != nil {
			t.Fatal(err)
		}
		if aside, err := filepath.Glob(l.Anchors + ".before-*"); err != nil || len(aside) != 1 {
			t.Errorf("%v, %v", aside, err)
		}
		if r := valid(t, l, 9); len(r.Notes) != 2 || !strings.HasSuffix(r.Notes[1], "no row of the former chain is known to be gone") {
			t.Errorf("%q", r.Notes)
		}
		// Who takes the rows off as well does not get away with the anchors set aside.
		must(t, db, `delete from audit_event where seq > 7`)
		must(t, db, `update audit_head set seq = 7, hash = (select hash from audit_event where seq = 7)`)
		if err := os.Rename(l.Anchors, l.Anchors+".before-1"); err != nil {
			t.Fatal(err)
		}
		if r, err := l.Verify(t.Context()); err != nil || r.Valid || r.Faults[0].Fault != FaultAnchor {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
