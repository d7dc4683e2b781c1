package ocr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cutroom"
)

// The scores at which readings are believed.
const (
	highScore   = 0.9
	mediumScore = 0.75
	aloneScore  = 0.7  // a line of a page that only Tesseract saw
	otherScript = 0.5  // a line of a script that PP-OCRv4 does not read
	surelyOurs  = 0.95 // beyond what PP-OCRv4 gives to a script it does not read
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
		lines = append(lines, m.line(l, f.Flat))
	}
	for _, r := range m.pages[f.Page] {
		l := Line{Engine: Tesseract}
		l.Text, l.Score, l.Box = r.read()
		l.Box = l.Box.scaled(f.Scale, f.Width, f.Height)
		if l.Score >= aloneScore && hasText(l.Text) {
			lines = append(lines, l)
		}
	}
	return inOrder(lines)
}

// inOrder drops what is no text and joins the rest by visual rows.
func inOrder(lines []Line) (string, []Line) {
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

// opinion is Tesseract's reading of a line.
type opinion struct {
	Line
	weakest float64 // the score of its least certain word
}

// believed reports whether the reading is to be trusted over PP-OCRv4's where both
// engines can read. The bounds are the best of a sweep over 342 rendered lines of
// code, prose and shell output: what Tesseract cannot read, such as a bar of plus
// signs, has words of no certainty at all.
func (o opinion) believed() bool { return o.Score >= 0.7 && o.weakest >= 0.2 }

// line chooses between PP-OCRv4's reading of a line and Tesseract's of its crops.
func (m merger) line(f Found, flat bool) Line {
	ours := f.read()
	theirs := opinion{Line: Line{Box: f.Box, Engine: Tesseract}}
	for _, c := range f.Crops {
		for _, r := range m.crops[c] {
			if text, score, _ := r.read(); score > theirs.Score {
				theirs.Text, theirs.Score, theirs.weakest = text, score, r.weakest()
			}
		}
	}
	if m.askAll {
		return otherLanguage(ours, theirs)
	}
	return sameLanguage(ours, theirs, flat)
}

// read joins the parts of the line as PP-OCRv4 read them; the score is their mean
// by length.
func (f Found) read() Line {
	l := Line{Box: f.Box, Engine: PaddleOCR}
	weight := 0
	for _, p := range f.Parts {
		l.Text = strings.TrimSpace(l.Text + " " + p.Text)
		n := utf8.RuneCountInString(p.Text)
		l.Score += min(1, p.Score) * float64(n)
		weight += n
	}
	l.Score /= float64(max(1, weight))
	return l
}

// otherLanguage chooses where another script than PP-OCRv4's is expected: it reads
// Cyrillic as look-alike Latin, mostly with a fair score only, but Chinese, English
// and figures truly.
func otherLanguage(ours Line, theirs opinion) Line {
	switch {
	case theirs.Text == "":
		if ours.Score < surely {
			ours.Text = "" // look-alikes, no reading
		}
		return ours
	case hasWide(ours.Text) && ours.Score >= surely:
		return ours
	case ours.Score >= surelyOurs && !lookAlike(ours.Text) && theirs.Score < surely:
		return ours
	case theirs.Score >= otherScript || ours.Score < surely:
		return theirs.Line
	}
	return ours
}

// lookAlike reports whether all letters of s have a twin in another alphabet, so
// that a Cyrillic or Greek word may have been read as them.
func lookAlike(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsLetter(r) && !strings.ContainsRune("ABCEHIKMNOPTXYZacekmopuxy", r)
	})
}

// sameLanguage chooses between two readings of a line that both engines can read:
// Tesseract's of a clean page or of what PP-OCRv4 was not sure of, when it is sure
// itself. It never reads Chinese better.
func sameLanguage(ours Line, theirs opinion, flat bool) Line {
	switch {
	case theirs.Text == "" || (hasWide(ours.Text) && ours.Score >= faint):
		return ours
	case ours.Text == "":
		return theirs.Line
	case (flat || ours.Score < surely) && theirs.believed():
		return theirs.Line
	case ours.Score < faint && theirs.Score > ours.Score:
		return theirs.Line
	}
	return ours
}

// scaled maps b from a picture enlarged by f to the original of w by h.
func (b Box) scaled(f float64, w, h int) Box {
	x0, y0 := clamp(int(float64(b.X)/f), 0, w-1), clamp(int(float64(b.Y)/f), 0, h-1)
	x1, y1 := clamp(int(float64(b.X+b.W)/f+0.5), x0+1, w), clamp(int(float64(b.Y+b.H)/f+0.5), y0+1, h)
	return Box{x0, y0, x1 - x0, y1 - y0}
}

// hasWide reports whether s holds a character of a script without spaces.
func hasWide(s string) bool { return strings.ContainsFunc(s, wide) }

// hasText reports whether s holds a letter or a figure.
func hasText(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
