package align

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// segment is how many frames of the second recording are correlated as one. Within its
// 20 s no clock slips by more than a frame.
const segment = 1024

// maxDrift bounds the clocks that are told apart: quartzes stay within 0.0002, and
// 1000/1001 is a film rate taken for a video rate.
const maxDrift = 1250e-6

// candidate is one way in which the recordings may lie to each other.
type candidate struct {
	offset float64 // frames of the reference at which the second begins
	slope  float64 // frames of the reference per frame of the second, minus 1
	score  float64 // how many standard deviations it lies above chance
}

// search returns the best ways to lay b against a by the course of their spectra, the
// best first, out of rows, which [correlate] made of them. All drifts are tried, and all
// lags at which 4 s overlap, or nearly all of a shorter recording.
func search(a, b *Sound, rows [][]float32, most int) []candidate {
	na, nb := len(a.course[0]), len(b.course[0])
	deviation := make([]float64, len(rows))
	for s, row := range rows {
		deviation[s] = spread(row, b, s)
	}
	least := min(200, (9*min(na, nb)+9)/10)
	variance := variances(na, nb, deviation)
	lags := na + nb - 1 // lag i is the offset i − (nb−1)
	best, slopes := make([]float32, lags), make([]float32, lags)
	steps := int(math.Ceil(maxDrift * float64(min(na, nb))))
	sum := make([]float32, lags)
	for d := -steps; d <= steps; d++ {
		slope := maxDrift * float64(d) / float64(max(1, steps))
		clear(sum)
		for s, row := range rows {
			// row[k] belongs to frame k−(segment−1) of the reference; the offset is that minus
			// where the segment begins, drift taken off.
			begin := s * segment
			shift := begin + int(math.Round(slope*float64(begin+segment/2)))
			add(sum, row, nb-1-shift-(segment-1))
		}
		for i, v := range sum {
			if v > best[i] {
				best[i], slopes[i] = v, float32(slope)
			}
		}
	}
	for i := range best {
		offset := i - (nb - 1)
		if overlap := min(na, offset+nb) - max(0, offset); overlap < least || variance[i] <= 0 {
			best[i] = 0
			continue
		}
		best[i] /= float32(math.Sqrt(variance[i]))
	}
	return peaks(best, slopes, nb-1, most)
}

// add adds row to sum, shifted by at; what lies outside is left out.
func add(sum, row []float32, at int) {
	if at < 0 {
		row = row[min(len(row), -at):]
		at = 0
	}
	if at >= len(sum) {
		return
	}
	sum = sum[at:]
	n := min(len(sum), len(row))
	sum, row = sum[:n], row[:n]
	for i, v := range row {
		sum[i] += v
	}
}

// correlate returns for each segment of b its correlation with all of a: element k is
// for the segment beginning at frame k−(segment−1) of a.
func correlate(a, b *Sound) [][]float32 {
	na, nb := len(a.course[0]), len(b.course[0])
	const size = 2 * segment
	fft := fourier.NewCmplxFFT(size)
	// Two bands make one complex series: the real part of its correlation is the sum of
	// theirs.
	spectra := func(s *Sound, from, to int) (out [bands / 2][]complex128) {
		for p := range out {
			re, im := s.course[2*p], s.course[2*p+1]
			x := make([]complex128, size)
			for i := max(0, -from); i < size && from+i < min(to, len(re)); i++ {
				x[i] = complex(float64(re[from+i]), float64(im[from+i]))
			}
			out[p] = fft.Coefficients(x, x)
		}
		return out
	}
	var chunks [][bands / 2][]complex128
	for from := -segment; from < na; from += segment {
		chunks = append(chunks, spectra(a, from, from+size))
	}
	var rows [][]float32
	product := make([]complex128, size)
	for from := 0; from < nb; from += segment {
		seg := spectra(b, from, from+segment)
		row := make([]float32, 0, na+segment)
		for c, chunk := range chunks {
			multiply(product, chunk, seg)
			x := fft.Sequence(product, product)
			first := 0
			if c == 0 {
				first = 1 // the segment would end before the reference begins
			}
			for i := first; i < segment && len(row) < na+segment-1; i++ {
				row = append(row, float32(real(x[i])/size))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// multiply sets out to the sum over the pairs of bands of x times the conjugate of y.
func multiply(out []complex128, x, y [bands / 2][]complex128) {
	for i := range out {
		var re, im float64
		for p := range x {
			u, v := x[p][i], y[p][i]
			re += real(u)*real(v) + imag(u)*imag(v)
			im += imag(u)*real(v) - real(u)*imag(v)
		}
		out[i] = complex(re, im)
	}
}

// spread is the standard deviation of a row under chance. The row itself tells it,
// with what rhythm the two sounds have in common, but for its largest values, which may
// be the match; and it is never less than that of independent values.
func spread(row []float32, b *Sound, s int) float64 {
	from, to := s*segment, min((s+1)*segment, len(b.course[0]))
	var energy float64
	for p := range b.course {
		for _, v := range b.course[p][from:to] {
			energy += float64(v) * float64(v)
		}
	}
	sorted := make([]float32, len(row))
	for i, v := range row {
		sorted[i] = max(v, -v)
	}
	slices.Sort(sorted)
	var sum float64
	kept := sorted[:len(sorted)*199/200]
	for _, v := range kept {
		sum += float64(v) * float64(v)
	}
	// Values next to each other are alike: windows overlap, and sounds last.
	return max(math.Sqrt(1.1*sum/float64(max(1, len(kept)))), math.Sqrt(1.5*energy))
}

// variances returns the variance of the sum over all segments at every lag.
func variances(na, nb int, deviation []float64) []float64 {
	out := make([]float64, na+nb-1)
	for s, d := range deviation {
		from, to := s*segment, min((s+1)*segment, nb)
		for i := range out {
			offset := i - (nb - 1)
			if n := min(na, offset+to) - max(0, offset+from); n > 0 {
				out[i] += d * d * float64(n) / float64(to-from)
			}
		}
	}
	return out
}

// apart is how many frames two answers lie apart that are not the same one.
const apart = 8

// peaks returns the highest scores that lie apart.
func peaks(score, slope []float32, zero, most int) []candidate {
	var list []candidate
	order := []int{}
	for i, v := range score {
		if v > 0 && (i == 0 || v >= score[i-1]) && (i == len(score)-1 || v > score[i+1]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case score[i] > score[j]:
			return -1
		case score[i] < score[j]:
			return 1
		}
		return i - j
	})
	for _, i := range order {
		c := candidate{offset: float64(i - zero), slope: float64(slope[i]), score: float64(score[i])}
		if !slices.ContainsFunc(list, func(o candidate) bool { return math.Abs(o.offset-c.offset) < apart }) {
			list = append(list, c)
		}
		if len(list) == most {
			break
		}
	}
	return list
}

// coursePoints takes the peak of each segment's correlation near l, to a part of a
// frame, in samples. It is what is left to measure where waveforms have nothing in
// common.
func coursePoints(b *Sound, rows [][]float32, l line) []point {
	var out []point
	for s, row := range rows {
		from, to := s*segment, min((s+1)*segment, len(b.course[0]))
		middle := float64(from+to) / 2 * hop
		expected := l.at(middle)/hop - float64(to-from)/2 + segment - 1
		at := int(math.Round(expected))
		best, peak := -1, float32(0)
		for i := max(1, at-2); i <= min(len(row)-2, at+2); i++ {
			if row[i] > peak {
				best, peak = i, row[i]
			}
		}
		if best < 0 {
			continue
		}
		lag := float64(best) + vertex(float64(row[best-1]), float64(peak), float64(row[best+1])) - (segment - 1) - float64(from)
		out = append(out, point{middle, lag * hop, float64(peak) * float64(peak)})
	}
	return out
}

// vertex is where between −½ and ½ the parabola through three neighbouring values peaks.
func vertex(below, peak, above float64) float64 {
	d := below - 2*peak + above
	if d >= 0 {
		return 0
	}
	return max(-0.5, min(0.5, (below-above)/(2*d)))
}
