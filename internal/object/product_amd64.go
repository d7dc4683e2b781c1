package object

//go:noescape
func sumRows(panel *[lanes]float32, n int, a, b, c, d *float32, sums *[4][lanes]float32)

// fourRows is the product of four rows with a panel, as [twoRows] makes it.
func fourRows(panel [][lanes]float32, rows *[4][]float32, sums *[4][lanes]float32) {
	n := len(panel)
	a, b, c, d := rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n]
	sumRows(&panel[0], n, &a[0], &b[0], &c[0], &d[0], sums)
}
