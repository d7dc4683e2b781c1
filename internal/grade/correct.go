package grade

import (
	"math"

	"cutroom"
)

// Correction is a primary correction. The zero value changes nothing.
type Correction struct {
	Exposure    float64  // stops of light
	Temperature float64  // K of the light that the picture is to look lit by: less is warmer; 0 and 6500 are neutral
	Tint        float64  // −1 green to 1 magenta
	Contrast    *float64 // around the middle of the signal; nil is 1
	Saturation  *float64 // nil is 1
	Lift        float64  // −1 to 1, of the darks
	Gamma       float64  // of the middle: more is brighter; 0 is 1
	Gain        float64  // −1 to 1, of the brights
	// Levels are black and white of the input, then of the output, of 255; nil leaves
	// them.
	Levels *[4]int
}

// Grade is a correction ready to be applied to signals of one curve and one matrix: a
// table for each channel, a mix of the channels, a table for each channel.
type Grade struct {
	Before *Cube
	Mix    *[3][3]float64 // nil where the channels are not mixed
	After  *Cube
}

// tableSize is that of the tables: between two entries a curve is as good as straight.
const tableSize = 4096

// For prepares the correction. luma are the weights of red, green and blue in the luma
// of the picture's matrix.
func (c Correction) For(t Transfer, luma Color) Grade {
	gains := c.gains()
	contrast, saturation := orOne(c.Contrast), orOne(c.Saturation)
	g := Grade{
		Before: table(func(k int, x float64) float64 {
			if gains[k] != 1 {
				x = t.Signal(t.Light(x) * gains[k])
			}
			return clamp(0.5 + (x-0.5)*contrast)
		}),
		After: table(func(_ int, x float64) float64 { return c.tone(x) }),
	}
	if saturation != 1 {
		g.Mix = &[3][3]float64{}
		for i := range 3 {
			for j := range 3 {
				g.Mix[i][j] = luma[j] * (1 - saturation)
			}
			g.Mix[i][i] += saturation
		}
	}
	return g
}

// tone is what lift, gamma, gain and levels make of a signal.
func (c Correction) tone(x float64) float64 {
	gamma := c.Gamma
	if gamma == 0 {
		gamma = 1
	}
	x = clamp((1 + c.Gain) * clamp(x+c.Lift*(1-x)))
	x = math.Pow(x, 1/gamma)
	if l := c.Levels; l != nil {
		x = (x*255 - float64(l[0])) / float64(l[1]-l[0])
		x = (float64(l[2]) + clamp(x)*float64(l[3]-l[2])) / 255
	}
	return clamp(x)
}

func orOne(p *float64) float64 {
	if p == nil {
		return 1
	}
	return *p
}

func table(f func(channel int, x float64) float64) *Cube {
	c := &Cube{Lines: true, Size: tableSize, Max: Color{1, 1, 1}, Table: make([]Color, tableSize)}
	for i := range c.Table {
		for k := range 3 {
			c.Table[i][k] = f(k, float64(i)/(tableSize-1))
		}
	}
	return c
}

// At returns what the grade makes of a colour.
func (g Grade) At(in Color) Color {
	out := g.Before.At(in)
	if g.Mix != nil {
		var m Color
		for i := range m {
			for j := range m {
				m[i] += g.Mix[i][j] * out[j]
			}
			m[i] = clamp(m[i])
		}
		out = m
	}
	return g.After.At(out)
}

// gains are what exposure, temperature and tint multiply the light of each channel by.
// Temperature and tint leave the luma of white as it is.
func (c Correction) gains() Color {
	g := Color{1, 1, 1}
	if c.Temperature != 0 && c.Temperature != 6500 {
		to, from := white(c.Temperature), white(6500)
		for k := range g {
			g[k] = to[k] / from[k]
		}
	}
	g[1] *= math.Exp2(-c.Tint / 2)
	y := 0.2126*g[0] + 0.7152*g[1] + 0.0722*g[2]
	for k := range g {
		g[k] *= math.Exp2(c.Exposure) / y
		if math.Abs(g[k]-1) < 1e-9 {
			g[k] = 1
		}
	}
	return g
}

// white is the light of a black body of that temperature in linear BT.709 (Kim et al.,
// cubic splines of the Planckian locus), 2000 K to 25000 K.
func white(kelvin float64) Color {
	k := 1000 / kelvin
	var x, y float64
	if kelvin <= 4000 {
		x = -0.2661239*k*k*k - 0.2343589*k*k + 0.8776956*k + 0.179910
	} else {
		x = -3.0258469*k*k*k + 2.1070379*k*k + 0.2226347*k + 0.240390
	}
	switch {
	case kelvin <= 2222:
		y = -1.1063814*x*x*x - 1.34811020*x*x + 2.18555832*x - 0.20219683
	case kelvin <= 4000:
		y = -0.9549476*x*x*x - 1.37418593*x*x + 2.09137015*x - 0.16748867
	default:
		y = 3.0817580*x*x*x - 5.87338670*x*x + 3.75112997*x - 0.37001483
	}
	X, Z := x/y, (1-x-y)/y
	return Color{
		max(0.02, 3.2404542*X-1.5371385-0.4985314*Z),
		max(0.02, -0.9692660*X+1.8760108+0.0415560*Z),
		max(0.02, 0.0556434*X-0.2040259+1.0572252*Z),
	}
}

// Check refuses what is out of range.
func (c Correction) Check() error {
	l := c.Levels
	if l == nil {
		return nil
	}
	if l[0] >= l[1] {
		return cutroom.Errorf(cutroom.Invalid, "the black level %d is not below the white level %d", l[0], l[1]).WithHint("choose levels_in_black below levels_in_white")
	}
	return nil
}

// LumaOf are the weights of red, green and blue in the luma of a matrix (ITU-T H.273).
func LumaOf(matrix string) Color {
	switch matrix {
	case "smpte170m", "bt470bg", "fcc":
		return Color{0.299, 0.587, 0.114}
	case "bt2020nc", "bt2020c":
		return Color{0.2627, 0.678, 0.0593}
	case "smpte240m":
		return Color{0.212, 0.701, 0.087}
	}
	return Color{0.2126, 0.7152, 0.0722}
}
