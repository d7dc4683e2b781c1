package caption

import (
	"math"
	"strings"

	"github.com/go-text/typesetting/segmenter"
)

// atom is what a line is never broken inside of: a word, a character of a script
// without spaces, a piece of a word that is wider than a line.
type atom struct {
	from, to int     // bytes of the text, white space behind it left out
	next     int     // where the next one begins
	width    float64 // for a line height of 1
	space    float64 // of the white space behind it
	penalty  float64 // of a break behind it
	inner    bool    // a break behind it lies inside a word
}

// undividedPenalty is that of a break in a script whose words are not known.
const undividedPenalty = 0.4

// atomsOf takes a text without line ends apart by UAX #14. width measures a part of it.
func atomsOf(text string, phrase bool, width func(from, to int) float64) []atom {
	var seg segmenter.Segmenter
	seg.Init([]rune(text))
	var atoms []atom
	offset := 0
	for it := seg.LineIterator(); it.Next(); {
		piece := string(it.Line().Text)
		if strings.ContainsFunc(piece, undivided) {
			atoms = append(atoms, syllables(piece, offset)...)
		} else {
			atoms = append(atoms, atom{from: offset, next: offset + len(piece)})
		}
		offset += len(piece)
	}
	for i := range atoms {
		a := &atoms[i]
		a.to = a.from + len(strings.TrimRight(text[a.from:a.next], " \t\u3000"))
		a.width = width(a.from, a.to)
		if a.next > a.to {
			a.space = width(a.to, a.next)
		}
		if phrase && i+1 < len(atoms) && !a.inner {
			a.penalty = penalty(text[a.from:a.next], text[a.next:atoms[i+1].next])
		}
	}
	return atoms
}

// syllables takes a stretch apart that only a dictionary could take apart by words.
func syllables(piece string, offset int) []atom {
	at := clusters(piece)
	var atoms []atom
	from := 0
	for i := 1; i < len(at); i++ {
		end := i == len(at)-1
		if !end && joins(piece[at[i-1]:at[i]], piece[at[i]:at[i+1]]) {
			continue
		}
		a := atom{from: offset + from, next: offset + at[i]}
		if !end {
			a.inner, a.penalty = true, undividedPenalty
		}
		atoms = append(atoms, a)
		from = at[i]
	}
	return atoms
}

// cut breaks the atoms that are wider than a line into pieces that are not. words is
// how many words were wider, broken how many of them had to be broken.
func cut(text string, atoms []atom, max float64, width func(from, to int) float64) (out []atom, broken int) {
	for i, a := range atoms {
		if a.width <= max {
			out = append(out, a)
			continue
		}
		if out == nil || len(out) < i {
			out = append([]atom{}, atoms[:i]...)
		}
		broken++
		at := clusters(text[a.from:a.to])
		from := 0
		for c := 1; c < len(at); c++ {
			last := c == len(at)-1
			if !last && width(a.from+from, a.from+at[c+1]) <= max {
				continue
			}
			p := atom{from: a.from + from, to: a.from + at[c], next: a.from + at[c], inner: true, penalty: 1}
			p.width = width(p.from, p.to)
			if last {
				p.next, p.space, p.inner, p.penalty = a.next, a.space, a.inner, a.penalty
			}
			out = append(out, p)
			from = at[c]
		}
	}
	return out, broken
}

// span is the width of the line that holds atoms[i:j].
func span(atoms []atom, i, j int) float64 {
	w := 0.0
	for k := i; k < j; k++ {
		w += atoms[k].width
		if k+1 < j {
			w += atoms[k].space
		}
	}
	return w
}

// fewest is how many lines of a width the atoms need; 0 when one of them is wider.
func fewest(atoms []atom, max float64) int {
	lines, w := 1, 0.0
	for i, a := range atoms {
		if a.width > max {
			return 0
		}
		if i > 0 && w+atoms[i-1].space+a.width <= max {
			w += atoms[i-1].space + a.width
			continue
		}
		if i > 0 {
			lines++
		}
		w = a.width
	}
	return lines
}

// narrowest is the least width that the atoms fit into n lines of.
func narrowest(atoms []atom, n int) float64 {
	low, high := 0.0, span(atoms, 0, len(atoms))
	for _, a := range atoms {
		low = max(low, a.width)
	}
	if n <= 1 || fewest(atoms, low) <= n {
		if n <= 1 {
			return high
		}
		return low
	}
	for range 24 {
		mid := (low + high) / 2
		if k := fewest(atoms, mid); k > 0 && k <= n {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// breakLines breaks atoms into exactly n lines of at most a width: of about equal
// width, broken at the edges of phrases where they have penalties. It returns the end
// of each line, nil where it cannot be done. The work is bounded by what fits a line.
func breakLines(atoms []atom, n int, limit float64) []int {
	total := span(atoms, 0, len(atoms))
	target := total / float64(n)
	best := make([][]float64, n+1)
	from := make([][]int, n+1)
	for l := range best {
		best[l], from[l] = make([]float64, len(atoms)+1), make([]int, len(atoms)+1)
		for j := range best[l] {
			best[l][j] = math.Inf(1)
		}
	}
	best[0][0] = 0
	for j := 1; j <= len(atoms); j++ {
		w := 0.0
		for i := j - 1; i >= 0; i-- {
			w += atoms[i].width
			if i < j-1 {
				w += atoms[i].space
			}
			if w > limit*(1+1e-9) {
				break
			}
			d := (w - target) / limit
			cost := d * d
			if j < len(atoms) {
				cost += atoms[j-1].penalty * phraseWeight
			}
			for l := 1; l <= n; l++ {
				if c := best[l-1][i] + cost; c < best[l][j] {
					best[l][j], from[l][j] = c, i
				}
			}
		}
	}
	if math.IsInf(best[n][len(atoms)], 1) {
		return nil
	}
	ends := make([]int, n)
	j := len(atoms)
	for l := n; l > 0; l-- {
		ends[l-1] = j
		j = from[l][j]
	}
	return ends
}

// phraseWeight is how much evenness a phrase is worth: a full stop is worth lines of
// which one is a third narrower than the other.
const phraseWeight = 0.35

// shares cuts atoms that do not fit into n lines of a width into runs that do, each
// shown after the other. It returns their ends. Sentences and phrases stay together
// where that leaves no run nearly empty.
func shares(atoms []atom, n int, limit float64) []int {
	var ends []int
	for from := 0; from < len(atoms); {
		reach := from
		lines, w := 1, 0.0
		for j := from; j < len(atoms); j++ {
			switch {
			case j == from:
				w = atoms[j].width
			case w+atoms[j-1].space+atoms[j].width <= limit:
				w += atoms[j-1].space + atoms[j].width
			default:
				lines++
				w = atoms[j].width
			}
			if lines > n {
				break
			}
			reach = j + 1
		}
		reach = max(reach, from+1)
		if reach >= len(atoms) {
			return append(ends, len(atoms))
		}
		end, score := reach, math.Inf(1)
		size := float64(reach - from)
		rest := float64(len(atoms) - reach)
		low := from + max(1, (reach-from)/2)
		for e := reach; e >= low; e-- {
			s := atoms[e-1].penalty + 0.6*float64(reach-e)/size
			if left := rest + float64(reach-e); left < size/3 {
				s += 0.5 * (1 - left/(size/3)) // a rest of one word
			}
			if s < score {
				end, score = e, s
			}
		}
		ends = append(ends, end)
		from = end
	}
	return ends
}
