package ocr

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"cutroom/internal/picture"
)

// word is one word that Tesseract read.
type word struct {
	text  string
	box   Box
	score float64 // 0..1
}

// row is one line of words that Tesseract read together.
type row []word

// sheet is one picture of a list: its rows in Tesseract's reading order.
type sheet []row

// The bounds of Tesseract's output, which comes from hostile pictures.
const (
	maxTSVLine = 1 << 20 // bytes
	maxWords   = 500_000
	maxSheets  = maxFrames * maxRegions * maxCrops
)

// The columns of Tesseract's TSV output (api/renderer, 5.3).
const (
	colLevel = iota
	colPage
	colBlock
	colPar
	colLine
	colWord
	colLeft
	colTop
	colWidth
	colHeight
	colConf
	colText
	columns
)

// wordLevel is the level of a row that holds a word.
const wordLevel = 5

// readTSV reads what `tesseract LIST stdout … tsv` prints, by page number. Pages
// without words are nil or missing at the end; words of white space are dropped.
func readTSV(r io.Reader) (map[int]sheet, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxTSVLine)
	sheets := map[int]sheet{}
	words := 0
	var last [3]int // block, paragraph, line of the row in progress
	lastPage := 0
	for first := true; in.Scan(); first = false {
		text := strings.TrimSuffix(in.Text(), "\r")
		if text == "" || (first && strings.HasPrefix(text, "level\t")) {
			continue
		}
		fields := strings.SplitN(text, "\t", columns)
		n, conf, err := numbers(fields)
		if err != nil {
			return nil, fmt.Errorf("tsv line %q: %w", clip(text), err)
		}
		if n[colLevel] != wordLevel || len(fields) < columns {
			continue
		}
		w := strings.TrimSpace(fields[colText])
		if w == "" {
			continue
		}
		if words++; words > maxWords {
			return nil, errors.New("too many words")
		}
		page, at := n[colPage], [3]int{n[colBlock], n[colPar], n[colLine]}
		if s := sheets[page]; len(s) == 0 || page != lastPage || at != last {
			sheets[page] = append(s, nil)
		}
		last, lastPage = at, page
		s := sheets[page]
		s[len(s)-1] = append(s[len(s)-1], word{w, Box{n[colLeft], n[colTop], n[colWidth], n[colHeight]}, conf})
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read tsv: %w", err)
	}
	return sheets, nil
}

// numbers reads the columns before the text; the certainty comes as 0..1.
func numbers(fields []string) (n [colConf]int, conf float64, err error) {
	if len(fields) < colText {
		return n, 0, fmt.Errorf("%d columns", len(fields))
	}
	for i := range n {
		n[i], err = strconv.Atoi(fields[i])
		if err != nil || n[i] < 0 || n[i] > picture.MaxPixels {
			return n, 0, fmt.Errorf("column %d is %q", i+1, clip(fields[i]))
		}
	}
	conf, err = strconv.ParseFloat(fields[colConf], 64)
	if err != nil || !(conf >= -1 && conf <= 101) {
		return n, 0, fmt.Errorf("certainty %q", clip(fields[colConf]))
	}
	if n[colPage] < 1 || n[colPage] > maxSheets {
		return n, 0, fmt.Errorf("page %d", n[colPage])
	}
	if len(fields) == columns && !utf8.ValidString(fields[colText]) {
		return n, 0, errors.New("text is no UTF-8")
	}
	return n, max(0, min(1, conf/100)), nil
}

// clip shortens text for an error.
func clip(s string) string { return s[:min(len(s), 40)] }

// read returns the row as one line. Its score is the mean of its words' weighed by
// their length. cjk words are joined without a space.
func (r row) read() (text string, score float64, box Box) {
	var b strings.Builder
	weight := 0
	for i, w := range r {
		if i > 0 && !(wide(lastRune(r[i-1].text)) && wide(firstRune(w.text))) {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		n := utf8.RuneCountInString(w.text)
		score += w.score * float64(n)
		weight += n
		box = box.union(w.box)
	}
	return b.String(), score / float64(max(1, weight)), box
}

// weakest returns the score of the least certain word.
func (r row) weakest() float64 {
	least := 1.0
	for _, w := range r {
		least = min(least, w.score)
	}
	return least
}

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func lastRune(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

// wide reports whether r belongs to a script without spaces between words.
func wide(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff && !(r >= 0x3130 && r <= 0x318f) || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff
}
