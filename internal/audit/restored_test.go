package audit

import (
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// TestRestored: after a backup was put back the chain is whole, and says what it lost.
func TestRestored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		// The backup was made when there were 7 rows: anchor 5 fits, anchor 10 does not.
		must(t, db, `delete from audit_event where seq > 7`)
		must(t, db, `update audit_head set seq = 7, hash = (select hash from audit_event where seq = 7)`)
		if err := l.Restored(t.Context(), cutroom.Operator); err != nil {
			t.Fatal(err)
		}
		if r := valid(t, l, 8); r.Anchors != 2 || r.Newest != 8 {
			t.Errorf("%+v", r)
		}
		rows, err := l.Query(t.Context(), cutroom.AuditFilter{Type: cutroom.AuditRestored})
		if err != nil || len(rows) != 1 || rows[0].Detail != "from a backup, which does not have the rows that were anchored at 10 to 10" {
			t.Errorf("%+v, %v", rows, err)
		}
		if aside, err := filepath.Glob(l.Anchors + ".before-*"); err != nil || len(aside) != 1 {
			t.Errorf("%v, %v", aside, err)
		}
		// Nothing is set aside where everything fits.
		if err := l.Restored(t.Context(), cutroom.Operator); err != nil {
			t.Fatal(err)
		}
		if aside, err := filepath.Glob(l.Anchors + ".before-*"); err != nil || len(aside) != 1 {
			t.Errorf("%v, %v", aside, err)
		}
		valid(t, l, 9)
	})
}
