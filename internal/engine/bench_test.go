package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// BenchmarkOverhead is what authorisation, ledger and audit add to a call: the difference
// between its rows.
func BenchmarkOverhead(b *testing.B) {
	for _, row := range []struct {
		name    string
		audited bool
		input   string
	}{{"repeat without audit", false, `{"input":"a"}`}, {"repeat", true, `{"input":"a"}`}} {
		b.Run(row.name, func(b *testing.B) {
			h := build(b, nil)
			if !row.audited {
				h.Audit, h.Ledger = nil, nil
			}
			times := []time.Duration{}
			for b.Loop() {
				began := time.Now()
				if _, err := h.Invoke(b.Context(), Call{Tool: "engine.engine_test", Input: []byte(row.input), Principal: cutroom.Agent}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs/median")
		})
	}
	b.Run("execute", func(b *testing.B) {
		d := newDeeds(b, nil)
		times := []time.Duration{}
		for n := 1; b.Loop(); n++ {
			began := time.Now()
			raw, err := tool.Encode(deedInput{Input: "a", Number: n})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := d.Invoke(context.Background(), Call{Tool: "engine.ledger_test", Input: raw, Principal: cutroom.Operator}); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs/median")
	})
}
