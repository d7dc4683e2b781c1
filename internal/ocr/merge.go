package ocr

import (
	"strings"
	"unicode"

	"cutroom"
)

// The scores at which readings are believed.
const (
	highScore   = 0.9
	mediumScore = 0.75
	aloneScore  = 0.7 // a line of a page that only Tesseract saw
	otherScript = 0.5 // a line of a script that PP-OCRv4 does not read
)

// Merge joins what both engines read into one page a picture, in the order of
// frames. readings are the first values of [Second]'s results, in any order.
func Merge(frames []Frame, readings []Reading, o Options) []Page {
	m := merger{askAll: true}
	if names, err := languages(o.Language); err == nil {
		m.askAll = !paddleReadsAll(names)
	}
	for _, r := range readings {
		if r.crops {
			m.crops = r.sheets
		} else {
			m.pages = r.sheets
		}
	}
	pages := make([]Page, len(frames))
	for i, f := range frames {
		pages[i] = Page{
			Index: f.Index, Width: f.Width, Height: f.Height, Flat: f.Flat,
			Language: o.language(), Problem: f.Problem,
		}
		pages[i].Text, pages[i].Lines = m.lines(f)
	}
	return pages
}

// merger holds what Tesseract read and how to choose.
type merger struct {
	crops, pages map[int]sheet
	askAll       bool // a language that PP-OCRv4 does not read is wanted
}

// lines returns f's text and lines in reading order.
func (m merger) lines(f Frame) (string, []Line) {
	lines := make([]Line, 0, len(f.Lines))
	for _, l := range f.Lines {
		lines = append(lines, m.single(l))
	}
	if s := m.pages[f.Page]; f.Page > 0 {
		lines = m.page(lines, s, f)
	}
	var text strings.Builder
	out := make([]Line, 0, len(lines))
	for _, row := range readingOrder(lines, func(l Line) Box { return l.Box }) {
		started := false
		for _, l := range row {
			if l.Text == "" || l.Score < faint {
				continue
			}
			switch {
			case started:
				text.WriteByte(' ')
			case text.Len() > 0:
				text.WriteByte('\n')
			}
			started = true
			text.WriteString(l.Text)
			l.Confidence = grade(l.Score)
			out = append(out, l)
		}
	}
	return text.String(), out
}

// grade puts a score in words.
func grade(score float64) cutroom.Confidence {
	switch {
	case score >= highScore:
		return cutroom.High
	case score >= mediumScore:
		return cutroom.Medium
	}
	return cutroom.Low
}

// single chooses between PP-OCRv4's reading of a line and Tesseract's of its crops.
func (m merger) single(l Found) Line {
	ours := Line{Text: l.Text, Box: l.Box, Score: min(1, l.Score), Engine: PaddleOCR}
	best := Line{Box: l.Box, Engine: Tesseract}
	for _, c := range l.Crops {
		for _, r := range m.crops[c] {
			if text, score, _ := r.read(); score > best.Score {
				best.Text, best.Score = text, score
			}
		}
	}
	if m.askAll {
		return otherLanguage(ours, best)
	}
	return agree(ours, best)
}

// otherLanguage chooses where another script than PP-OCRv4's is expected: it reads
// Cyrillic as look-alike Latin, often with a fair score, but Chinese and
// figures truly.
func otherLanguage(ours, theirs Line) Line {
	switch {
	case theirs.Text == "":
		if ours.Score < surely {
			ours.Text = "" // look-alikes, no reading
		}
		return ours
	case hasWide(ours.Text) && ours.Score >= surely:
		return ours
	case theirs.Score >= otherScript || ours.Score < surely:
		return theirs
	}
	return ours
}

// agree chooses between two readings of a line that both engines can read. When
// they differ in spaces only, Tesseract's are taken, who measures them.
func agree(ours, theirs Line) Line {
	switch {
	case theirs.Text == "":
		return ours
	case ours.Text == "":
		return theirs
	case squeeze(ours.Text) == squeeze(theirs.Text):
		ours.Text = theirs.Text
		ours.Score = max(ours.Score, theirs.Score)
		return ours
	case theirs.Score > ours.Score:
		return theirs
	}
	return ours
}

// page joins the lines of a flat picture with what Tesseract read of all of it.
func (m merger) page(lines []Line, s sheet, f Frame) []Line {
	var out []Line
	taken := make([]bool, len(lines))
	for _, r := range s {
		theirs := Line{Engine: Tesseract}
		theirs.Text, theirs.Score, theirs.Box = r.read()
		theirs.Box = theirs.Box.scaled(f.Scale, f.Width, f.Height)
		var parts []int
		for i, l := range lines {
			if !taken[i] && 2*l.Box.overlap(theirs.Box) > min(l.Box.area(), theirs.Box.area()) {
				parts = append(parts, i)
			}
		}
		if len(parts) == 0 {
			if theirs.Score >= aloneScore && hasText(theirs.Text) {
				out = append(out, theirs)
			}
			continue
		}
		for _, i := range parts {
			taken[i] = true
		}
		out = append(out, m.choose(lines, parts, theirs)...)
	}
	for i, l := range lines {
		if !taken[i] {
			out = append(out, l)
		}
	}
	return out
}

// choose decides between the lines at parts and Tesseract's reading of all of them.
func (m merger) choose(lines []Line, parts []int, theirs Line) []Line {
	ours := Line{Engine: PaddleOCR, Score: 1}
	own := make([]Line, 0, len(parts))
	for _, row := range readingOrder(parts, func(i int) Box { return lines[i].Box }) {
		for _, i := range row {
			l := lines[i]
			own = append(own, l)
			ours.Text = strings.TrimSpace(ours.Text + " " + l.Text)
			ours.Box = ours.Box.union(l.Box)
			ours.Score = min(ours.Score, l.Score)
		}
	}
	pick := agree
	if m.askAll {
		pick = otherLanguage
	}
	if p := pick(ours, theirs); p.Engine == Tesseract || p.Text != ours.Text {
		return []Line{p}
	}
	return own
}

// scaled maps b from a picture enlarged by f to the original of w by h.
func (b Box) scaled(f float64, w, h int) Box {
	x0, y0 := clamp(int(float64(b.X)/f), 0, w-1), clamp(int(float64(b.Y)/f), 0, h-1)
	x1, y1 := clamp(int(float64(b.X+b.W)/f+0.5), x0+1, w), clamp(int(float64(b.Y+b.H)/f+0.5), y0+1, h)
	return Box{x0, y0, x1 - x0, y1 - y0}
}

// squeeze drops white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// hasWide reports whether s holds a character of a script without spaces.
func hasWide(s string) bool { return strings.ContainsFunc(s, wide) }

// hasText reports whether s holds a letter or a figure.
func hasText(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
