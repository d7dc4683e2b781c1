package ocr

import (
	"image"
	"slices"
)

// The picture of one line that is made for Tesseract: black letters on white.
const (
	inkHeight = 64 // of the line in it; Tesseract was trained near it
	inkMargin = 12 // white around it
	inkSlope  = 48 // levels over which ink fades at the threshold: keeps letters smooth
	inkWidth  = 4000
	closeCall = 0.4 // the other polarity is tried too unless it is this much worse
	speck     = 6   // pixels; smaller pieces are noise
)

// threshold is one way to tell ink from ground: what is brighter (light) or darker
// than level.
type threshold struct {
	light bool
	level int
	score float64
}

// inked returns one or two pictures of the line in g, a strip of brightness: the
// surest separation of letters from ground first, then that of the other polarity,
// for an outline looks like letters too and only reading tells. Subtitles, white
// letters with an outline over a photograph, mostly take a fixed high level; other
// lines take their own.
func inked(g *image.Gray) []*image.Gray {
	best := candidates(g)
	out := []*image.Gray{render(g, best[0])}
	for _, c := range best[1:] {
		if c.light != best[0].light {
			if c.score > closeCall*best[0].score {
				out = append(out, render(g, c))
			}
			break
		}
	}
	return out
}

// candidates returns the thresholds for g, best first.
func candidates(g *image.Gray) []threshold {
	o := otsu(g)
	all := []threshold{
		{light: true, level: o},
		{light: true, level: (o + 255) / 2},
		{light: true, level: 200},
		{light: true, level: 225},
		{light: false, level: o},
		{light: false, level: o / 2},
		{light: false, level: 30},
	}
	for i := range all {
		all[i].score = legibility(mask(g, all[i]), g.Bounds().Dx(), g.Bounds().Dy())
	}
	slices.SortStableFunc(all, func(a, b threshold) int { return cmpFloat(b.score, a.score) })
	return all
}

// otsu returns the level that separates g's brightness into two classes of least
// variance (Otsu 1979).
func otsu(g *image.Gray) int {
	var count [256]int
	total, sum := 0, 0
	eachPixel(g, func(_ int, v uint8) {
		count[v]++
		total++
		sum += int(v)
	})
	best, level := -1.0, 127
	below, belowSum := 0, 0
	for v, n := range count {
		below += n
		belowSum += n * v
		if below == 0 || below == total {
			continue
		}
		d := float64(belowSum)/float64(below) - float64(sum-belowSum)/float64(total-below)
		if between := d * d * float64(below) * float64(total-below); between > best {
			best, level = between, v
		}
	}
	return level
}

// eachPixel calls do with the place, counted row by row, and value of each pixel.
func eachPixel(g *image.Gray, do func(at int, v uint8)) {
	size := g.Bounds().Size()
	for y := range size.Y {
		for x, v := range g.Pix[y*g.Stride : y*g.Stride+size.X] {
			do(y*size.X+x, v)
		}
	}
}

// mask returns which pixels of g are ink under t.
func mask(g *image.Gray, t threshold) []bool {
	m := make([]bool, g.Bounds().Dx()*g.Bounds().Dy())
	eachPixel(g, func(at int, v uint8) { m[at] = (int(v) > t.level) == t.light })
	return m
}

// legibility judges a mask of w by h: the share of its ink in shapes that could be
// letters, times the share of columns where such shapes stand.
func legibility(m []bool, w, h int) float64 {
	good, all := 0, 0
	columns := make([]bool, w)
	for _, s := range shapes(m, w, h) {
		all += s.pixels
		if !s.letter(w, h) {
			continue
		}
		good += s.pixels
		for x := s.x0; x <= s.x1; x++ {
			columns[x] = true
		}
	}
	covered := 0
	for _, c := range columns {
		if c {
			covered++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(good) / float64(all) * float64(covered) / float64(w)
}

// shape is one connected piece of ink.
type shape struct {
	x0, y0, x1, y1 int
	pixels         int
	members        []int
}

// letter reports whether the shape could be a letter, or a word of a joined
// script, in a strip of w by h: high enough, within the strip, not a solid block.
func (s shape) letter(w, h int) bool {
	sw, sh := s.x1-s.x0+1, s.y1-s.y0+1
	if sh < h/5 || s.spills(h) {
		return false
	}
	fill := float64(s.pixels) / float64(sw*sh)
	return fill < 0.95 || sw < sh
}

// spills reports whether the shape reaches beyond the strip's upper or lower edge:
// it is ground, or a neighbouring line.
func (s shape) spills(h int) bool { return s.y0 == 0 || s.y1 == h-1 }

// foreign reports whether the shape reaches in from a neighbouring line: it touches
// the strip's upper or lower edge and most of it lies near there.
func (s shape) foreign(w, h int) bool {
	if !s.spills(h) {
		return false
	}
	sum := 0
	for _, at := range s.members {
		sum += at / w
	}
	middle := float64(sum) / float64(s.pixels) / float64(h)
	return middle < 0.25 || middle > 0.75
}

// shapes returns the 8-connected pieces of m.
func shapes(m []bool, w, h int) []shape {
	seen := make([]bool, len(m))
	var out []shape
	for i, ink := range m {
		if !ink || seen[i] {
			continue
		}
		seen[i] = true
		s := shape{x0: w, y0: h, members: []int{i}}
		for at := 0; at < len(s.members); at++ {
			x, y := s.members[at]%w, s.members[at]/w
			s.x0, s.x1, s.y0, s.y1 = min(s.x0, x), max(s.x1, x), min(s.y0, y), max(s.y1, y)
			for ny := max(0, y-1); ny <= min(h-1, y+1); ny++ {
				for nx := max(0, x-1); nx <= min(w-1, x+1); nx++ {
					if k := ny*w + nx; m[k] && !seen[k] {
						seen[k] = true
						s.members = append(s.members, k)
					}
				}
			}
		}
		s.pixels = len(s.members)
		out = append(out, s)
	}
	return out
}

// render returns g as smooth black ink on white under t, without specks and the
// pieces that spill over the edges, and with a margin.
func render(g *image.Gray, t threshold) *image.Gray {
	size := g.Bounds().Size()
	near := make([]bool, size.X*size.Y)
	for _, s := range shapes(mask(g, t), size.X, size.Y) {
		if !s.spills(size.Y) && s.pixels >= speck {
			spreadInto(near, s.members, size.X)
		}
	}
	out := image.NewGray(image.Rect(0, 0, size.X+2*inkMargin, size.Y+2*inkMargin))
	for i := range out.Pix {
		out.Pix[i] = 255
	}
	eachPixel(g, func(at int, v uint8) {
		if !near[at] {
			return
		}
		above := int(v) - t.level
		if !t.light {
			above = -above
		}
		ink := clamp(127+above*255/inkSlope, 0, 255)
		out.Pix[(at/size.X+inkMargin)*out.Stride+at%size.X+inkMargin] = uint8(255 - ink)
	})
	return out
}

// spreadInto marks the members and their neighbours, whose soft edge they are, in a
// field of rows w long.
func spreadInto(near []bool, members []int, w int) {
	for _, at := range members {
		near[at] = true
		for _, k := range [...]int{at - w, at - 1, at + 1, at + w} {
			if k >= 0 && k < len(near) {
				near[k] = true
			}
		}
	}
}
