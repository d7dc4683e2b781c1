package graph

import "math"

const pi = math.Pi

// bounding is the size of the even frame that a w×h picture fits into once it is turned.
func bounding(w, h int, degrees float64) (int, int) {
	s, c := math.Abs(math.Sin(degrees/180*pi)), math.Abs(math.Cos(degrees/180*pi))
	up := func(x float64) int { return (int(math.Ceil(x-1e-6)) + 1) &^ 1 }
	return up(float64(w)*c + float64(h)*s), up(float64(w)*s + float64(h)*c)
}

// inscribed is the largest even size of the picture's own aspect that lies wholly inside
// a w×h picture that was turned.
func inscribed(w, h int, degrees float64) (int, int) {
	s, c := math.Abs(math.Sin(degrees/180*pi)), math.Abs(math.Cos(degrees/180*pi))
	fw, fh := float64(w), float64(h)
	// A rectangle of k times the size, turned back, spans k(w·c+h·s) by k(w·s+h·c).
	k := min(fw/(fw*c+fh*s), fh/(fw*s+fh*c))
	if degrees == 0 {
		k = 1
	}
	return even(int(fw * k)), even(int(fh * k))
}
