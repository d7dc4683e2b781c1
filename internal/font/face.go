package font

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

// Face is one face of one font. It is safe for concurrent use.
type Face struct {
	family string
	runes  fontscan.RuneSet
	face   *font.Face
	perEm  float64 // height of the renderer's line in em
	ascent float64 // share of that height above the baseline

	mu     sync.Mutex
	shaper shaping.HarfbuzzShaper
	widths map[string]float64
}

// shapedSize is the size at which text is shaped: large, so that rounding to 1/64
// does not add up.
const shapedSize = 1000

// maxWidths bounds the kept widths of a face.
const maxWidths = 1 << 16

func open(file *os.File, p fontscan.Footprint) (*Face, error) {
	loaders, err := opentype.NewLoaders(file)
	if err != nil {
		return nil, err
	}
	if int(p.Location.Index) >= len(loaders) {
		return nil, fmt.Errorf("the collection has %d fonts, not %d", len(loaders), p.Location.Index+1)
	}
	ld := loaders[p.Location.Index]
	ft, err := font.NewFont(ld)
	if err != nil {
		return nil, err
	}
	f := &Face{family: ft.Describe().Family, runes: p.Runes, face: font.NewFace(ft), widths: map[string]float64{}}
	if err := f.measure(ld); err != nil {
		return nil, err
	}
	return f, nil
}

// measure finds the height of a line. The renderer, as GDI does, scales a face so that
// OS/2's usWinAscent and usWinDescent together are the size that is asked for, and
// takes the face's own ascender and descender where those two are zero.
func (f *Face) measure(ld *opentype.Loader) error {
	upem := float64(f.face.Upem())
	var up, down float64
	if os2, err := ld.RawTable(opentype.MustNewTag("OS/2")); err == nil && len(os2) >= 78 {
		up, down = float64(int16(binary.BigEndian.Uint16(os2[74:]))), float64(int16(binary.BigEndian.Uint16(os2[76:])))
	}
	if up+down == 0 {
		if e, ok := f.face.FontHExtents(); ok {
			up, down = float64(e.Ascender), -float64(e.Descender)
		}
	}
	if upem <= 0 || up+down <= 0 {
		return fmt.Errorf("the font states no height")
	}
	f.perEm, f.ascent = (up+down)/upem, up/(up+down)
	return nil
}

// Family is the name that the renderer finds the face by.
func (f *Face) Family() string { return f.family }

// Ascent is the share of a line's height that lies above the baseline.
func (f *Face) Ascent() float64 { return f.ascent }

// Covers reports whether the face has a glyph for every visible character of text.
func (f *Face) Covers(text string) bool { return covers(f.runes, text) }

// Width is the advance of text, shaped and on one line, for a line height of 1.
func (f *Face) Width(text string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w, ok := f.widths[text]; ok {
		return w
	}
	runes := []rune(text)
	var advance fixed.Int26_6
	for _, r := range runsOf(runes) {
		in := shaping.Input{
			Text: runes, RunStart: r.from, RunEnd: r.to, Face: f.face, Size: fixed.I(shapedSize),
			Script: r.script, Direction: di.DirectionLTR, Language: language.DefaultLanguage(),
		}
		if rightToLeft(r.script) {
			in.Direction = di.DirectionRTL
		}
		advance += f.shaper.ShapeNoExtents(in).Advance
	}
	w := float64(advance) / 64 / shapedSize / f.perEm
	if len(f.widths) < maxWidths {
		f.widths[text] = w
	}
	return w
}

// run is a stretch of one script.
type run struct {
	from, to int
	script   language.Script
}

// runsOf splits text by script. What has no script of its own goes with what stands
// before it.
func runsOf(text []rune) []run {
	var runs []run
	for i, r := range text {
		s := language.LookupScript(r)
		neutral := s == language.Common || s == language.Inherited || s == language.Unknown
		switch n := len(runs) - 1; {
		case n < 0:
			runs = append(runs, run{i, i + 1, s})
		case neutral || runs[n].script == s:
			runs[n].to = i + 1
		case runs[n].script == language.Common || runs[n].script == language.Inherited || runs[n].script == language.Unknown:
			runs[n].script, runs[n].to = s, i+1
		default:
			runs = append(runs, run{i, i + 1, s})
		}
	}
	return runs
}

func rightToLeft(s language.Script) bool {
	switch s {
	case language.Arabic, language.Hebrew, language.Syriac, language.Thaana, language.Nko, language.Samaritan, language.Mandaic, language.Adlam:
		return true
	}
	return false
}

// covers reports whether set has every character of text that is drawn.
func covers(set fontscan.RuneSet, text string) bool {
	for _, r := range text {
		if !undrawn(r) && !set.Contains(r) {
			return false
		}
	}
	return true
}

// undrawn characters need no glyph: spaces, controls, joiners, selectors.
func undrawn(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x34F
}
