package object

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The product by the processor's own means is the one in Go to the last bit, on
// numbers of every size.
func TestProductIsOneEverywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "n")
		panel := make([][lanes]float32, n)
		var rows [4][]float32
		number := rapid.Float32Range(-1e20, 1e20)
		for i := range panel {
			for j := range panel[i] {
				panel[i][j] = number.Draw(t, "w")
			}
		}
		for i := range rows {
			rows[i] = rapid.SliceOfN(number, n, n).Draw(t, "row")
		}
		var got, want [4][lanes]float32
		fourRows(panel, &rows, &got)
		want[0], want[1] = twoRows(panel, rows[0], rows[1])
		want[2], want[3] = twoRows(panel, rows[2], rows[3])
		for i := range got {
			for j, v := range got[i] {
				if math.Float32bits(v) != math.Float32bits(want[i][j]) && v == v {
					t.Fatalf("row %d, column %d is %v, in Go %v", i, j, v, want[i][j])
				}
			}
		}
	})
}
