package ocr

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"cutroom/internal/onnx"
)

// The recognition model's input: lines of fixed height, and the bounds of how many
// columns go into one run.
const (
	lineHeight  = 48
	leastWidth  = 320  // the width the model was trained at; shorter lines are padded
	mostWidth   = 3200 // longer lines are squeezed
	batchLines  = 6
	batchSpread = 1.3 // longest to shortest in a batch; padding is work for nothing
)

// models are the loaded networks and the recognition model's alphabet.
type models struct {
	detect, read *onnx.Session
	keys         []string
}

// find returns where im, of which small is a scaled copy, holds text.
func (m *models) find(im image.Image, small *image.RGBA) ([]region, error) {
	w, h := small.Bounds().Dx(), small.Bounds().Dy()
	data := make([]float32, 3*w*h)
	forDetection().planes(small, h, w, data)
	in := onnx.Float32(data, 1, 3, int64(h), int64(w))
	defer in.Free()
	out, err := m.detect.Run(map[string]*onnx.Tensor{m.detect.Inputs[0]: in})
	if err != nil {
		return nil, fmt.Errorf("detect: %w", err)
	}
	probs := out[m.detect.Outputs[0]]
	defer probs.Free()
	if len(probs.Floats()) != w*h {
		return nil, fmt.Errorf("detect: the map has shape %v, not %dx%d", probs.Shape(), w, h)
	}
	b := im.Bounds()
	return regions(probs.Floats(), w, h, b.Dx(), b.Dy()), nil
}

// strip is one line cut out of a picture, lineHeight high.
type strip struct {
	line int // its place among the picture's lines
	im   *image.RGBA
}

// The bounds on how many columns of lines are read per picture: about 0.17 s of
// processor time a thousand (measured), so that a run of many dense screens ends.
const (
	runColumns   = 1_200_000
	leastColumns = 12_000
	mostColumns  = 60_000
)

// columnsFor returns how many columns each of n pictures may take.
func columnsFor(n int) int { return clamp(runColumns/max(1, n), leastColumns, mostColumns) }

// readLines reads each of rs in im, as many as budget columns allow, the highest
// first: the rest stays empty. Upright columns are tried in both directions.
func (m *models) readLines(im image.Image, rs []region, budget int) ([]reading, error) {
	byHeight := make([]int, len(rs))
	for i := range byHeight {
		byHeight[i] = i
	}
	slices.SortStableFunc(byHeight, func(a, b int) int { return cmp.Compare(rs[b].rect.h, rs[a].rect.h) })
	var strips []strip
	for _, i := range byHeight {
		for _, s := range stances(rs[i].rect) {
			w := clamp(int(math.Round(s.w/s.h*lineHeight)), 16, mostWidth)
			if budget -= max(w, leastWidth); budget >= 0 {
				strips = append(strips, strip{i, cut(im, s, w, lineHeight)})
			}
		}
	}
	slices.SortStableFunc(strips, func(a, b strip) int { return cmp.Compare(a.im.Bounds().Dx(), b.im.Bounds().Dx()) })
	best := make([]reading, len(rs))
	for len(strips) > 0 {
		n := batchSize(strips)
		rs, err := m.readStrips(strips[:n])
		if err != nil {
			return nil, err
		}
		for i, r := range rs {
			if at := strips[i].line; r.score > best[at].score {
				best[at] = r
			}
		}
		strips = strips[n:]
	}
	return best, nil
}

// stances returns the ways in which r may be read: as it lies, or for a column
// upwards and downwards.
func stances(r rect) []rect {
	if r.h < 1.5*r.w {
		return []rect{r}
	}
	c := r.corners()
	return []rect{
		{origin: c[3], along: r.across().times(-1), w: r.h, h: r.w},
		{origin: c[1], along: r.across(), w: r.h, h: r.w},
	}
}

// batchSize returns how many of strips, sorted by width, go into the next run.
func batchSize(strips []strip) int {
	first := max(leastWidth, strips[0].im.Bounds().Dx())
	n := 1
	for n < len(strips) && n < batchLines && float64(strips[n].im.Bounds().Dx()) <= batchSpread*float64(first) {
		n++
	}
	return n
}

// readStrips runs the recognition model once.
func (m *models) readStrips(batch []strip) ([]reading, error) {
	width := leastWidth
	for _, s := range batch {
		width = max(width, s.im.Bounds().Dx())
	}
	each := 3 * lineHeight * width
	data := make([]float32, len(batch)*each)
	for i, s := range batch {
		forRecognition().planes(s.im, lineHeight, width, data[i*each:])
	}
	in := onnx.Float32(data, int64(len(batch)), 3, lineHeight, int64(width))
	defer in.Free()
	out, err := m.read.Run(map[string]*onnx.Tensor{m.read.Inputs[0]: in})
	if err != nil {
		return nil, fmt.Errorf("recognise: %w", err)
	}
	probs := out[m.read.Outputs[0]]
	defer probs.Free()
	shape := probs.Shape()
	if len(shape) != 3 || shape[0] != int64(len(batch)) || shape[2] != int64(len(m.keys)) {
		return nil, fmt.Errorf("recognise: shape %v does not fit an alphabet of %d", shape, len(m.keys))
	}
	steps := int(shape[1])
	rs := make([]reading, len(batch))
	for i := range rs {
		rs[i] = decodeCTC(probs.Floats()[i*steps*len(m.keys):(i+1)*steps*len(m.keys)], steps, m.keys)
	}
	return rs, nil
}
