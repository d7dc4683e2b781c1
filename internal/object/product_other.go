//go:build !amd64

package object

// fourRows is the product of four rows with a panel.
func fourRows(panel [][lanes]float32, rows *[4][]float32, sums *[4][lanes]float32) {
	sums[0], sums[1] = twoRows(panel, rows[0], rows[1])
	sums[2], sums[3] = twoRows(panel, rows[2], rows[3])
}
