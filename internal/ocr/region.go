package ocr

import (
	"cmp"
	"slices"
)

// The settings of DB text detection (Liao et al., "Real-time Scene Text Detection
// with Differentiable Binarization") as PP-OCRv4 is trained for.
const (
	textPixel  = 0.3  // probability from which a pixel counts as text
	textRegion = 0.6  // mean probability from which a region does
	unclip     = 1.6  // the map shows lines shrunk; this grows them back
	minSide    = 3    // pixels of the map; smaller regions are specks
	maxRegions = 2000 // per picture, the surest first
	sameRegion = 0.7  // of the smaller one inside the other: the same line twice
)

// region is one line of text that detection found.
type region struct {
	rect  rect // in pixels of the picture
	box   Box
	score float64 // mean probability
}

// regions finds the lines in a probability map of w by h pixels and places them in
// a picture of pw by ph. They come surest first; none lies inside another.
func regions(probs []float32, w, h, pw, ph int) []region {
	fx, fy := float64(pw)/float64(w), float64(ph)/float64(h)
	var found []region
	for _, b := range blobs(probs, w, h) {
		if b.mean < textRegion {
			continue
		}
		inMap := enclose(hull(b.edge))
		if min(inMap.w, inMap.h) < minSide {
			continue
		}
		grow := inMap.w * inMap.h * unclip / (2 * (inMap.w + inMap.h))
		r := stretch(inMap.grown(grow), fx, fy)
		box := r.upright(pw, ph)
		if box.W < 2 || box.H < 2 {
			continue
		}
		found = append(found, region{rect: r, box: box, score: b.mean})
	}
	slices.SortStableFunc(found, func(a, b region) int { return cmp.Compare(b.score, a.score) })
	return distinct(found[:min(len(found), 2*maxRegions)])
}

// distinct drops regions that lie mostly inside a larger one, and what is beyond
// maxRegions.
func distinct(found []region) []region {
	var kept []region
	for i, r := range found {
		if len(kept) == maxRegions {
			break
		}
		inside := slices.ContainsFunc(found, func(o region) bool {
			return o.box.area() > r.box.area() && float64(o.box.overlap(r.box)) > sameRegion*float64(r.box.area()) &&
				o.rect.along.dot(r.rect.along) > 0.98 && o.box.sameRow(r.box)
		})
		if !inside {
			kept = append(kept, found[i])
		}
	}
	return kept
}

// stretch maps a rectangle of the map to the picture. The two scales differ by the
// rounding of the map's sides only, so a turned rectangle stays one.
func stretch(r rect, fx, fy float64) rect {
	c := r.corners()
	for i := range c {
		c[i] = c[i].scaled(fx, fy)
	}
	return along(c[:], rightwards(unit(c[1].minus(c[0]))))
}

// blob is one connected set of text pixels.
type blob struct {
	mean float64
	edge []point // corners of the pixels at the ends of its rows
}

// blobs labels the map's text pixels by 8-connected components.
func blobs(probs []float32, w, h int) []blob {
	seen := make([]bool, w*h)
	var out []blob
	var stack []int
	for i, p := range probs[:w*h] {
		if p < textPixel || seen[i] {
			continue
		}
		seen[i] = true
		stack = append(stack[:0], i)
		ends := map[int][2]int{}
		sum, n := 0.0, 0
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			x, y := at%w, at/w
			sum += float64(probs[at])
			n++
			if e, ok := ends[y]; ok {
				ends[y] = [2]int{min(e[0], x), max(e[1], x)}
			} else {
				ends[y] = [2]int{x, x}
			}
			for ny := max(0, y-1); ny <= min(h-1, y+1); ny++ {
				for nx := max(0, x-1); nx <= min(w-1, x+1); nx++ {
					if k := ny*w + nx; !seen[k] && probs[k] >= textPixel {
						seen[k] = true
						stack = append(stack, k)
					}
				}
			}
		}
		out = append(out, blob{mean: sum / float64(n), edge: outline(ends)})
	}
	return out
}

// outline returns the corners of the first and last pixel of each row.
func outline(ends map[int][2]int) []point {
	pts := make([]point, 0, 4*len(ends))
	for y, e := range ends {
		l, r, t := float64(e[0]), float64(e[1]+1), float64(y)
		pts = append(pts, point{l, t}, point{r, t}, point{l, t + 1}, point{r, t + 1})
	}
	return pts
}

// span is a run of neighbouring regions on one visual row, read as one line.
type span []region

// spans groups rs, which stand in no order, into the lines of the picture in
// reading order. Detection cuts a line at wide spaces, small print at every one: a
// gap of up to spanGap heights between regions of like height is taken for a space
// in a line, and beneath wordGap the two are one region.
func spans(rs []region) []span {
	var out []span
	for _, row := range readingOrder(rs, func(r region) Box { return r.box }) {
		var last region
		for i, r := range row {
			switch s := len(out) - 1; {
			case i == 0 || !continues(last, r, spanGap):
				out = append(out, span{r})
			case continues(last, r, wordGap):
				r = last.joined(r)
				out[s][len(out[s])-1] = r
			default:
				out[s] = append(out[s], r)
			}
			last = r
		}
	}
	return out
}

// joined returns one region around two straight ones.
func (r region) joined(o region) region {
	return region{rect: span{r, o}.rect(), box: r.box.union(o.box), score: min(r.score, o.score)}
}

// wordGap is how many heights apart two words may be.
const wordGap = 1.2

// spanGap is how many heights apart two parts of a line may be.
const spanGap = 3

// continues reports whether b carries on the line of a, which stands left of it,
// after a gap of fewer than so many heights.
func continues(a, b region, gaps float64) bool {
	gap := float64(b.box.X - a.box.X - a.box.W)
	low, high := min(a.rect.h, b.rect.h), max(a.rect.h, b.rect.h)
	straight := a.rect.along.x == 1 && b.rect.along.x == 1
	return straight && high < 2*low && gap < gaps*low && max(a.rect.h/a.rect.w, b.rect.h/b.rect.w) < 1.5
}

// rect returns the rectangle around the whole line.
func (s span) rect() rect {
	r := s[0].rect
	for _, o := range s[1:] { // straight ones only: see continues
		x0, y0 := min(r.origin.x, o.rect.origin.x), min(r.origin.y, o.rect.origin.y)
		x1 := max(r.origin.x+r.w, o.rect.origin.x+o.rect.w)
		y1 := max(r.origin.y+r.h, o.rect.origin.y+o.rect.h)
		r = rect{origin: point{x0, y0}, along: point{1, 0}, w: x1 - x0, h: y1 - y0}
	}
	return r
}

// readingOrder sorts by visual rows from the top, and by x within a row. box
// returns an element's box.
func readingOrder[T any](items []T, box func(T) Box) [][]T {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b T) int {
		p, q := box(a), box(b)
		return cmp.Or(cmp.Compare(2*p.Y+p.H, 2*q.Y+q.H), cmp.Compare(p.X, q.X))
	})
	var rows [][]T
	for _, it := range sorted {
		if n := len(rows); n > 0 && fitsRow(rows[n-1], box(it), box) {
			rows[n-1] = append(rows[n-1], it)
			continue
		}
		rows = append(rows, []T{it})
	}
	for _, r := range rows {
		slices.SortStableFunc(r, func(a, b T) int { return cmp.Compare(box(a).X, box(b).X) })
	}
	return rows
}

// fitsRow reports whether b stands on the row: on one line with all of it, and
// beside each rather than over it.
func fitsRow[T any](row []T, b Box, box func(T) Box) bool {
	for _, it := range row {
		o := box(it)
		side := min(o.X+o.W, b.X+b.W) - max(o.X, b.X)
		if !o.sameRow(b) || 2*side > min(o.W, b.W) {
			return false
		}
	}
	return true
}
