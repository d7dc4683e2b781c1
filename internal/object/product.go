package object

// twoRows is the product of two rows with a panel. The conversions keep processors
// that could from fusing a product with its sum: every machine rounds alike.
func twoRows(panel [][lanes]float32, a, b []float32) (sumsA, sumsB [lanes]float32) {
	a, b = a[:len(panel)], b[:len(panel)]
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for i := range panel {
		w := &panel[i]
		x, y := a[i], b[i]
		a0 += float32(x * w[0])
		a1 += float32(x * w[1])
		a2 += float32(x * w[2])
		a3 += float32(x * w[3])
		b0 += float32(y * w[0])
		b1 += float32(y * w[1])
		b2 += float32(y * w[2])
		b3 += float32(y * w[3])
	}
	return [lanes]float32{a0, a1, a2, a3}, [lanes]float32{b0, b1, b2, b3}
}
