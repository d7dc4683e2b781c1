package rhythm

import (
	"math"

	"cutroom"
)

// motionStep is how far apart the frames are that a camera is followed by: near enough
// for one to lie on the other, far enough for slow motion to show.
const motionStep = 160 * cutroom.Second / 1000

// move is how a picture moved since the one before.
type move struct {
	at, since cutroom.Micros
	x, y      float64 // of its content, in widths and heights
	zoom      float64 // growth of its content, −0.1 is a tenth smaller
	before    float64 // mean difference of the two pictures
	after     float64 // the same once one is moved onto the other
	rough     float64 // share of the picture that clearly differs even then
}

// follower follows the camera. It keeps one small number each per step.
type follower struct {
	last  []float64
	at    cutroom.Micros
	moves []move
}

// mostMoves bounds them: six hours.
const mostMoves = 150_000

func (f *follower) add(frame *Frame, at cutroom.Micros) {
	if f.last != nil && at-f.at < motionStep || len(f.moves) >= mostMoves || len(frame.Luma) < Width*Height {
		return
	}
	now := make([]float64, Width*Height)
	for i, v := range frame.Luma[:Width*Height] {
		now[i] = float64(v)
	}
	if f.last != nil && at-f.at < 4*motionStep {
		m := align(f.last, now)
		m.at, m.since = at, f.at
		f.moves = append(f.moves, m)
	}
	f.last, f.at = now, at
}

// align finds the shift and the zoom that lay picture a onto picture b: a coarse search,
// then least squares on the brightness with outliers counted less, so that what moves
// within the picture does not steer the camera.
func align(a, b []float64) move {
	m := move{before: meanAbs(a, b)}
	m.after = m.before
	for i, v := range a {
		if math.Abs(v-b[i]) > rough {
			m.rough += 1.0 / (Width * Height)
		}
	}
	if m.before < 0.4 {
		return m
	}
	best, left, kept := fit(a, b, [3]float64{})
	if best > nearBy*m.before { // farther than least squares reach
		x, y := coarse(a, b)
		if cost, share, p := fit(a, b, [3]float64{float64(x), float64(y)}); cost < best {
			best, left, kept = cost, share, p
		}
	}
	// Between two pixels noise is less: what only that explains is no movement.
	if best < worthMoving*m.before {
		m.x, m.y, m.zoom, m.after, m.rough = kept[0]/Width, kept[1]/Height, kept[2], best, left
	}
	return m
}

// fit improves p by least squares: the mean difference that is left, the share of the
// picture that clearly differs, and the best p.
func fit(a, b []float64, p [3]float64) (best, left float64, kept [3]float64) {
	best, kept = math.Inf(1), p
	for range 10 {
		step, cost, share, ok := solve(a, b, p)
		if cost < best {
			best, left, kept = cost, share, p
		}
		if !ok {
			break
		}
		for i := range p {
			p[i] += step[i]
		}
		if math.Abs(step[0])+math.Abs(step[1])+math.Abs(step[2])*Width/2 < 0.02 {
			break
		}
	}
	return best, left, kept
}

const (
	nearBy      = 0.5
	rough       = 12.0
	worthMoving = 0.85
)

func meanAbs(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += math.Abs(v - b[i])
	}
	return sum / float64(len(a))
}

// coarse tries whole shifts of every other pixel, and returns the best one.
func coarse(a, b []float64) (x, y int) {
	const reachX, reachY = 22, 12
	best := math.Inf(1)
	for dy := -reachY; dy <= reachY; dy += 2 {
		for dx := -reachX; dx <= reachX; dx += 2 {
			var sum float64
			n := 0
			for r := max(0, dy); r < min(Height, Height+dy); r += 2 {
				for c := max(0, dx); c < min(Width, Width+dx); c += 2 {
					sum += math.Abs(b[r*Width+c] - a[(r-dy)*Width+c-dx])
					n++
				}
			}
			// Less overlap has to be worth it.
			if mean := sum / float64(n) * (1 + 0.1*math.Abs(float64(dx))/Width + 0.1*math.Abs(float64(dy))/Height); mean < best {
				best, x, y = mean, dx, dy
			}
		}
	}
	return x, y
}

// solve makes one Gauss-Newton step for b(q) = a((q − c − p)/(1 + zoom) + c), and says how
// well p fits now: the mean difference over what both pictures show.
func solve(a, b []float64, p [3]float64) (step [3]float64, cost, share float64, ok bool) {
	const cx, cy = (Width - 1) / 2.0, (Height - 1) / 2.0
	var h [3][3]float64
	var g [3]float64
	n := 0
	scale := 1 / (1 + p[2])
	for r := 1; r < Height-1; r++ {
		for c := 1; c < Width-1; c++ {
			u, v := (float64(c)-cx-p[0])*scale, (float64(r)-cy-p[1])*scale
			x, y := u+cx, v+cy
			if x < 1 || y < 1 || x >= Width-2 || y >= Height-2 {
				continue
			}
			x0, y0 := int(x), int(y)
			fx, fy := x-float64(x0), y-float64(y0)
			i := y0*Width + x0
			top, bottom := a[i]+fx*(a[i+1]-a[i]), a[i+Width]+fx*(a[i+Width+1]-a[i+Width])
			value := top + fy*(bottom-top)
			gx := (a[i+1]-a[i])*(1-fy) + (a[i+Width+1]-a[i+Width])*fy
			gy := bottom - top
			e := b[r*Width+c] - value
			w := 1.0
			if d := math.Abs(e); d > 6 {
				w = 6 / d
			}
			j := [3]float64{-gx * scale, -gy * scale, -(gx*u + gy*v) * scale}
			for k := range 3 {
				g[k] += w * j[k] * e
				for l := range 3 {
					h[k][l] += w * j[k] * j[l]
				}
			}
			cost += math.Abs(e)
			if e > rough || e < -rough {
				share++
			}
			n++
		}
	}
	if n < Width*Height/5 {
		return step, math.Inf(1), 1, false
	}
	step, ok = solve3(h, g)
	return step, cost / float64(n), share / float64(n), ok
}

// solve3 solves three linear equations; ok is false when the picture holds too little to
// tell shift and zoom by.
func solve3(h [3][3]float64, g [3]float64) (x [3]float64, ok bool) {
	det := func(m [3][3]float64) float64 {
		return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) + m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
	}
	for i := range 3 {
		h[i][i] += 1e-3 * (h[i][i] + 1)
	}
	d := det(h)
	if d < 1e-6*h[0][0]*h[1][1]*h[2][2] || d == 0 {
		return x, false
	}
	for i := range 3 {
		m := h
		for k := range 3 {
			m[k][i] = g[k]
		}
		x[i] = det(m) / d
	}
	return x, true
}
