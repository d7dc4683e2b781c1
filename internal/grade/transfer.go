package grade

import "math"

// Transfer is how light becomes a signal.
type Transfer string

// The curves. Every other one counts as standard range.
const (
	SDR Transfer = ""    // ITU-R BT.1886: a power of 2.4
	PQ  Transfer = "pq"  // SMPTE ST 2084: absolute, 1 is 10000 cd/m²
	HLG Transfer = "hlg" // ITU-R BT.2100, scene light
)

// The constants of SMPTE ST 2084.
const (
	pqM1, pqM2       = 2610.0 / 16384, 2523.0 / 4096 * 128
	pqC1, pqC2, pqC3 = 3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32
)

// The constants of ARIB STD-B67.
const (
	hlgA, hlgB, hlgC = 0.17883277, 0.28466892, 0.55991073
)

// Light returns the light of a signal, 0 to 1.
func (t Transfer) Light(x float64) float64 {
	x = clamp(x)
	switch t {
	case PQ:
		p := math.Pow(x, 1/pqM2)
		return math.Pow(max(p-pqC1, 0)/(pqC2-pqC3*p), 1/pqM1)
	case HLG:
		if x <= 0.5 {
			return x * x / 3
		}
		return (math.Exp((x-hlgC)/hlgA) + hlgB) / 12
	}
	return math.Pow(x, 2.4)
}

// Signal returns the signal of light, 0 to 1.
func (t Transfer) Signal(l float64) float64 {
	l = clamp(l)
	switch t {
	case PQ:
		p := math.Pow(l, pqM1)
		return clamp(math.Pow((pqC1+pqC2*p)/(1+pqC3*p), pqM2))
	case HLG:
		if l <= 1.0/12 {
			return math.Sqrt(3 * l)
		}
		return clamp(hlgA*math.Log(12*l-hlgB) + hlgC)
	}
	return math.Pow(l, 1/2.4)
}

// BT2390 is the electrical-electrical transfer function of Report ITU-R BT.2390 (5.4.1)
// as a table over the PQ signal: light up to peak is brought to light up to target, both
// in cd/m², with a Hermite spline above the knee.
func BT2390(peak, target float64) *Cube {
	const size = 4096
	top, most := PQ.Signal(peak/10000), PQ.Signal(target/10000)/PQ.Signal(peak/10000)
	knee := 1.5*most - 0.5
	c := &Cube{Lines: true, Size: size, Max: Color{1, 1, 1}, Table: make([]Color, size)}
	for i := range c.Table {
		e := min(float64(i)/(size-1)/top, 1)
		if e > knee && most < 1 {
			t := (e - knee) / (1 - knee)
			t2, t3 := t*t, t*t*t
			e = (2*t3-3*t2+1)*knee + (t3-2*t2+t)*(1-knee) + (-2*t3+3*t2)*most
		}
		x := clamp(e * top)
		c.Table[i] = Color{x, x, x}
	}
	return c
}
