package edit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/ocr"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// mostMoments is at how many moments it is proved that something is hidden.
const mostMoments = 8

// moments are those at which the written file is compared: in the middle of each path and
// between two points of it, where it is least sure to be right, evenly chosen.
func (r *redacting) moments() []cutroom.Micros {
	length := r.length()
	var list []cutroom.Micros
	for _, p := range r.paths {
		from, to := cutroom.Micros(0), length
		if n := len(p.Points); n > 1 {
			from, to = p.Points[0].At, min(length, p.Points[n-1].At)
		}
		if n := len(r.times); n > 0 { // what is shown beyond the frames where it was seen may be nothing
			from, to = max(from, r.times[0]), min(to, r.times[n-1])
		}
		for _, part := range []cutroom.Micros{1, 2, 3} {
			list = append(list, from+(to-from)*part/4)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if n := len(list); n > mostMoments {
		var few []cutroom.Micros
		for i := range mostMoments {
			few = append(few, list[i*(n-1)/(mostMoments-1)])
		}
		list = slices.Compact(few)
	}
	return list
}

// hiddenAt are the rectangles that are hidden at a moment of the edit.
func (r *redacting) hiddenAt(t cutroom.Micros) []graph.Box {
	var list []graph.Box
	for _, p := range r.paths {
		if b, ok := p.At(t); ok {
			list = append(list, b)
		}
	}
	return list
}

// mostLeft is the largest share of the detail that may be left of what was hidden.
const mostLeft = 0.3

// judge measures how much of the detail is left within what was hidden, and that the
// rest of the picture is as it was.
func (r *redacting) judge() []cutroom.Verified {
	v := r.l.video.Video
	worst, compared := 0.0, 0
	for i, t := range r.l.moments {
		if i >= len(r.l.beside.Source) {
			break
		}
		for _, b := range r.hiddenAt(t) {
			b = within(b, v.DisplayWidth, v.DisplayHeight, r.l.beside.Width, r.l.beside.Height)
			if left, ok := r.l.beside.DetailLeft(i, b.X, b.Y, b.Width, b.Height); ok {
				worst = max(worst, left)
				compared++
			}
		}
	}
	rows := []cutroom.Verified{{
		Check: "hidden", Stream: "video", OK: worst <= mostLeft, Expected: fmt.Sprintf("at most %.0f %% of the detail left in what was hidden", 100*mostLeft),
		Measured: fmt.Sprintf("%.0f %% at most, in %d places", 100*worst, compared),
	}}
	return append(rows, r.elsewhere())
}

// elsewhere demands that what was not hidden is as it was.
func (r *redacting) elsewhere() cutroom.Verified {
	v, b := r.l.video.Video, r.l.beside
	mean, worst := b.Outside(func(i, x, y int) bool {
		if i >= len(r.l.moments) {
			return true
		}
		fx, fy := x*v.DisplayWidth/b.Width, y*v.DisplayHeight/b.Height
		return slices.ContainsFunc(r.hiddenAt(r.l.moments[i]), func(h graph.Box) bool {
			const near = 16 // the codec's blocks
			return fx >= h.X-near && fy >= h.Y-near && fx < h.X+h.Width+near && fy < h.Y+h.Height+near
		})
	})
	return cutroom.Verified{
		Check: "elsewhere", Stream: "video", OK: mean <= colorsApart && worst <= 2*colorsApart, Expected: fmt.Sprintf("the rest as in the input, within %g of 255", colorsApart),
		Measured: fmt.Sprintf("%.2f apart in the mean, %.2f in the worst frame", mean, worst),
	}
}

// within is a box of a w×h picture in one of another size, a little inside of it.
func within(b graph.Box, w, h, fw, fh int) graph.Box {
	x, y := (b.X*fw+w-1)/w+1, (b.Y*fh+h-1)/h+1
	return graph.Box{X: x, Y: y, Width: max(0, (b.X+b.Width)*fw/w-1-x), Height: max(0, (b.Y+b.Height)*fh/h-1-y)}
}

// readable plans to read the words in what was hidden, in the input and in what was
// written.
func (r *redacting) readable() (tool.Plan, error) {
	t := r.l.graph.Target
	formats := [2]ffmpeg.Format{r.l.file.Format, ffmpeg.MadeFormat(t.File, madeBy(t.Container))}
	docs := [2]*ffmpeg.Document{r.l.file.Media, r.l.result.Probe}
	for i := range r.before {
		times := make([]cutroom.Micros, len(r.l.moments))
		for k, m := range r.l.moments {
			times[k] = m + max(0, docs[i].FirstVideo().StartSeconds)
		}
		var err error
		if r.before[i], err = ffmpeg.NewFrameJob(r.l.file.Index, formats[i], docs[i], &r.l.facts.Abilities, ffmpeg.FrameOptions{Times: times, Name: fmt.Sprintf("read%d-", i)}); err != nil {
			return tool.Plan{}, err
		}
	}
	return tool.Follow(r.before[0], r.l, func(tool.Results) (tool.Plan, error) {
		return tool.Follow(r.before[1], r.l, func(tool.Results) (tool.Plan, error) { return r.read() })
	})
}

// read reads both.
func (r *redacting) read() (tool.Plan, error) {
	var files []string
	var count [2]int
	for i, j := range r.before {
		taken, _ := j.Frames()
		count[i] = len(taken)
		for _, f := range taken {
			files = append(files, f.File)
		}
	}
	if count[0] == 0 || count[0] != count[1] {
		r.l.rows = append(r.l.rows, cutroom.Verified{Check: "unreadable", Stream: "video", Expected: "frames to read", Measured: fmt.Sprintf("%d of the input, %d of the output", count[0], count[1])})
		return tool.Plan{State: r.l}, proof.Failure(r.l.rows)
	}
	cmd := ocr.FirstOf("reading", files, reader)
	return tool.Plan{State: r.l, Steps: []argv.Command{cmd}, Then: func(res tool.Results) (tool.Plan, error) {
		step, _ := res.Step(cmd.Step)
		pages, err := pagesOf(step)
		if err != nil {
			return tool.Plan{}, err
		}
		words, left := 0, 0
		taken, _ := r.before[0].Frames()
		for i := range count[0] {
			at := max(0, taken[i].Requested-max(0, r.l.video.StartSeconds))
			hidden := r.hiddenAt(at)
			was, is := r.wordsIn(pages[i], hidden, 0.6), r.wordsIn(pages[count[0]+i], hidden, 0.2)
			for w := range was {
				words++
				if is[w] {
					left++
				}
			}
		}
		r.l.rows = append(r.l.rows, cutroom.Verified{
			Check: "unreadable", Stream: "video", OK: left == 0, Expected: fmt.Sprintf("none of %d words that could be read there", words), Measured: fmt.Sprint(left),
		})
		return tool.Plan{State: r.l}, proof.Failure(r.l.rows)
	}}, nil
}

// wordsIn are the words of lines of which that share lies within what was hidden.
func (r *redacting) wordsIn(p ocr.Page, hidden []graph.Box, share float64) map[string]bool {
	words := map[string]bool{}
	if p.Width == 0 || p.Height == 0 {
		return words
	}
	for _, l := range p.Lines {
		b := r.scaled(float64(l.Box.X)/float64(p.Width), float64(l.Box.Y)/float64(p.Height), float64(l.Box.W)/float64(p.Width), float64(l.Box.H)/float64(p.Height))
		inside := 0.0
		for _, h := range hidden {
			w, ht := min(b.X+b.Width, h.X+h.Width)-max(b.X, h.X), min(b.Y+b.Height, h.Y+h.Height)-max(b.Y, h.Y)
			if w > 0 && ht > 0 {
				inside = math.Max(inside, float64(w*ht)/float64(b.Width*b.Height))
			}
		}
		if inside < share {
			continue
		}
		for _, w := range strings.FieldsFunc(strings.ToLower(l.Text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			if n := len([]rune(w)); n >= 3 || n == 2 && w[0] >= 0x80 {
				words[w] = true
			}
		}
	}
	return words
}
