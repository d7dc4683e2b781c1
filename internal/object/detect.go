package object

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"cutroom/internal/picture"
)

// What the pinned model calls its input and outputs.
const (
	inputNode = "tower_0/images"
	scoreNode = "tower_0/keypoints"
	sizeNode  = "tower_0/wh"
)

const (
	side       = 512 // of the model's input
	overlap    = 0.4 // of two boxes that are taken for one thing: the surer one stays
	candidates = 1000
	thinnest   = 2e-4 // of a box, in parts of the picture
)

// Detector finds objects with one model. It is not safe for use by several
// goroutines at once.
type Detector struct {
	program *program
	work    *work
	input   []float32
	cell    int // pixels of the input between two places of the outputs
}

// Load reads a model from its graph and its weights, and makes it ready for that
// many threads.
func Load(graph, weights string, threads int) (*Detector, error) {
	m, err := loadModel(graph, weights)
	if err != nil {
		return nil, err
	}
	return newDetector(m, threads)
}

func newDetector(m *model, threads int) (*Detector, error) {
	p, err := compile(m, inputNode, shape{side, side, 3}, scoreNode, sizeNode)
	if err != nil {
		return nil, err
	}
	scores, sizes := p.values[p.outputs[0]].shape, p.values[p.outputs[1]].shape
	if scores.c != kinds || sizes.c != 4 || scores.h != scores.w || sizes.h != scores.h || sizes.w != scores.w || scores.h > side || side%scores.h != 0 {
		return nil, fmt.Errorf("the model answers %v and %v", scores, sizes)
	}
	return &Detector{program: p, work: newWork(p, threads), input: make([]float32, side*side*3), cell: side / scores.h}, nil
}

// Find returns what is in im, shown in that orientation, the surest first: at most
// limit objects with at least the score least. Boxes are those of what is shown.
func (d *Detector) Find(im image.Image, shown picture.Orientation, least float64, limit int) []Object {
	var f frame
	d.input, f = turn(d.input, fill(d.input, im), shown)
	out := d.program.run(d.work, d.input)
	return best(d.peaks(out[0], out[1], f, float32(least)), limit)
}

// found is one place of the model's answer.
type found struct {
	kind           int
	score          float32
	x0, y0, x1, y1 float64 // 0..1
}

// peaks are the places whose score is not exceeded by a neighbour's of that kind.
func (d *Detector) peaks(scores, sizes []float32, f frame, least float32) []found {
	n := side / d.cell
	var list []found
	for at := range n * n {
		for kind, s := range scores[at*kinds : (at+1)*kinds] {
			if s >= least && isPeak(scores, n, at, kind, s) {
				list = append(list, d.at(f, at, kind, s, sizes[at*4:][:4]))
			}
		}
	}
	list = slices.DeleteFunc(list, func(f found) bool { return !(f.x1-f.x0 > thinnest && f.y1-f.y0 > thinnest) })
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	return list[:min(len(list), candidates)]
}

func isPeak(scores []float32, n, at, kind int, s float32) bool {
	for y := max(0, at/n-1); y <= min(n-1, at/n+1); y++ {
		for x := max(0, at%n-1); x <= min(n-1, at%n+1); x++ {
			if scores[(y*n+x)*kinds+kind] > s {
				return false
			}
		}
	}
	return true
}

// at is what stands at one place: the four sizes are how far it reaches to the left,
// up, right and down, in pixels of the input.
func (d *Detector) at(f frame, at, kind int, score float32, sizes []float32) found {
	n := side / d.cell
	x, y := float64(at%n*d.cell), float64(at/n*d.cell)
	part := func(v float64, from, n int) float64 { return min(max((v-float64(from))/float64(n), 0), 1) }
	return found{
		kind: kind, score: score,
		x0: part(x-float64(sizes[0]), f.left, f.w), y0: part(y-float64(sizes[1]), f.top, f.h),
		x1: part(x+float64(sizes[2]), f.left, f.w), y1: part(y+float64(sizes[3]), f.top, f.h),
	}
}

// best leaves out what overlaps something surer.
func best(list []found, limit int) []Object {
	var kept []found
	for _, f := range list {
		if len(kept) == limit {
			break
		}
		if !slices.ContainsFunc(kept, func(k found) bool { return f.shared(k) > overlap }) {
			kept = append(kept, f)
		}
	}
	names := Labels()
	out := make([]Object, len(kept))
	for i, f := range kept {
		out[i] = Object{Label: names[f.kind], Score: rounded(float64(f.score), 1e3), Box: f.box()}
	}
	return out
}

func (f found) area() float64 { return (f.x1 - f.x0) * (f.y1 - f.y0) }

// shared is the part of what two boxes cover together that both cover.
func (f found) shared(g found) float64 {
	w, h := min(f.x1, g.x1)-max(f.x0, g.x0), min(f.y1, g.y1)-max(f.y0, g.y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	both := float64(w * h) // converted, so that no processor fuses it with the sum
	return both / (float64(f.area()) + float64(g.area()) - both)
}

// box is f in ten-thousandths of the picture; it stays within.
func (f found) box() Box {
	x, y := rounded(f.x0, 1e4), rounded(f.y0, 1e4)
	return Box{x, y, rounded(min(f.x1, 1)-x, 1e4), rounded(min(f.y1, 1)-y, 1e4)}
}

func rounded(v, parts float64) float64 { return math.Round(v*parts) / parts }
