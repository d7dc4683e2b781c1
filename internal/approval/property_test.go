package approval

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// model is what has to be true, kept beside the book.
type model struct {
	until   map[string]time.Time // of what was approved, by id
	decided map[string]time.Time
	spent   map[string]bool
	signed  map[string]string
	dead    map[string]bool // taken back, or refused after it was approved
	newest  time.Time       // that was ever recorded
}

// TestNothingIsSpentTwiceOrLate: whatever is asked, approved, refused, spent, taken
// back and set back in whatever order, and wherever the clock stands, one approval is
// spent once, before its end, and never after it was taken back.
func TestNothingIsSpentTwiceOrLate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		db := open()
		run := 0
		rapid.Check(t, func(r *rapid.T) {
			run++
			d := newDesk(t, db)
			// What is left is another installation's, whose key this one never had.
			if _, err := db.ExecContext(t.Context(), `update approval set state = 'expired' where state = 'approved'`); err != nil {
				r.Fatal(err)
			}
			// Runs share a database: each has calls and an age of its own.
			d.now = d.now.Add(time.Duration(run) * 1000 * time.Hour)
			m := model{map[string]time.Time{}, map[string]time.Time{}, map[string]bool{}, map[string]string{}, map[string]bool{}, time.Time{}}
			var ids []string
			calls := make([]Bound, 2)
			for i := range calls {
				calls[i] = overwriting()
				calls[i].Arguments = digest(fmt.Sprint(run, i))
			}
			noted := func() { // a step that wrote recorded the time
				if d.Now().After(m.newest) {
					m.newest = d.Now()
				}
			}
			call := rapid.IntRange(0, len(calls)-1)
			known := func(r *rapid.T) string {
				if len(ids) == 0 {
					r.Skip("nothing was asked for")
				}
				return rapid.SampledFrom(ids).Draw(r, "id")
			}
			ask := func(r *rapid.T) string {
				a, err := d.File(t.Context(), Request{Bound: calls[call.Draw(r, "call")], Input: []byte(`{}`)})
				if err == nil && !slices.Contains(ids, a.ID) {
					ids = append(ids, a.ID)
					noted()
				}
				return a.ID
			}
			approve := func(r *rapid.T, id string) {
				life := time.Duration(rapid.IntRange(1, 90).Draw(r, "minutes")) * time.Minute
				seal, err := d.Seal(nil, d.row(id).digest, "operator")
				if err != nil {
					r.Fatal(err)
				}
				a, err := d.Approve(WithSeal(t.Context(), seal), cutroom.Operator, id, life)
				if err != nil {
					return
				}
				if id = a.ID; !slices.Contains(ids, id) { // what was refused after a yes is allowed under another id
					ids = append(ids, id)
				}
				if m.spent[id] || m.dead[id] {
					r.Fatalf("%s was over, and was approved", id)
				}
				m.until[id], m.decided[id] = a.Expires, a.Decided
				m.signed[id] = d.row(id).signature
				noted()
			}
			r.Repeat(map[string]func(*rapid.T){
				"ask":     func(r *rapid.T) { ask(r) },
				"approve": func(r *rapid.T) { approve(r, known(r)) },
				"ask and approve": func(r *rapid.T) {
					if id := ask(r); id != "" {
						approve(r, id)
					}
				},
				"end": func(r *rapid.T) {
					id := known(r)
					switch rapid.IntRange(0, 3).Draw(r, "how") {
					case 0:
						if _, err := d.Deny(t.Context(), cutroom.Operator, id); err == nil {
							_, was := m.until[id]
							m.dead[id] = was
							noted()
						}
					case 1:
						if _, err := d.Revoke(t.Context(), cutroom.Operator, id); err == nil {
							m.dead[id] = true
							noted()
						}
					case 2:
						if _, err := d.RevokeBefore(t.Context(), cutroom.Operator, d.Now()); err == nil {
							for id, at := range m.decided {
								if !at.After(d.Now()) {
									m.dead[id] = true
								}
							}
							noted()
						}
					}
				},
				"set rows back": func(r *rapid.T) { // as a copy of the database would
					for id, signature := range m.signed {
						if r := d.row(id); r.State != cutroom.ApprovalPending {
							d.exec(`update approval set state = 'approved', ended = 0, decided = $1, expires = $2, decided_by = 'operator', decided_role = 'operator', signature = $3 where id = $4`,
								m.decided[id].UnixMilli(), m.until[id].UnixMilli(), signature, id)
						}
					}
				},
				"spend": func(r *rapid.T) {
					b := calls[call.Draw(r, "call")]
					p, _, err := d.Find(t.Context(), Candidate{Bound: b})
					if err != nil || p.ID == "" {
						return
					}
					if rapid.Bool().Draw(r, "later") { // between finding and spending
						d.pass(time.Duration(rapid.IntRange(0, 60).Draw(r, "minutes")) * time.Minute)
					}
					if err := d.Spend(t.Context(), Candidate{Bound: b}, p); err != nil {
						return
					}
					until, approved := m.until[p.ID]
					switch at := d.Now(); {
					case !approved:
						r.Fatalf("%s was spent and never approved", p.ID)
					case m.spent[p.ID]:
						r.Fatalf("%s was spent twice", p.ID)
					case m.dead[p.ID]:
						r.Fatalf("%s was spent after it was taken back", p.ID)
					case !at.Before(until) || !m.newest.Before(until):
						r.Fatalf("%s was spent at %s (newest %s), after its end at %s", p.ID, at, m.newest, until)
					}
					m.spent[p.ID] = true
					noted()
				},
				"the clock is set": func(r *rapid.T) {
					d.pass(time.Duration(rapid.SampledFrom([]int{-3600, -20, -4, -1, 1, 3, 30, 60, 600, 600, 1800, 1800, 3600, 7200}).Draw(r, "seconds")) * time.Second)
				},
			})
		})
	})
}
