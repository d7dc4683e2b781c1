package rhythm

import "testing"

// BenchmarkOnsets is a second of sound at 48 kHz.
func BenchmarkOnsets(b *testing.B) {
	p := newPlayer(48_000, 1, 1)
	p.hiss(0.3)
	o := NewOnsets(p.rate, 0)
	for b.Loop() {
		o.Add(p.x)
	}
}
