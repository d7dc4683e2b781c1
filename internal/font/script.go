package font

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"

	"cutroom"
)

// general are families that suit captions in any script that they cover.
var general = []string{"DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Open Sans", "Roboto"}

// preferred returns normalized families, the best first: the wanted one, those for the
// text's scripts, those for any.
func preferred(want, language, text string) []string {
	var order []string
	add := func(names ...string) {
		for _, n := range names {
			order = append(order, font.NormalizeFamily(n))
		}
	}
	if want != "" {
		order = append(order, want)
	}
	scripts := scriptsOf(text)
	if slices.ContainsFunc(scripts, func(s string) bool { return eastAsian[s] }) {
		for _, region := range regions(language, scripts) {
			add("Noto Sans CJK "+region, "Source Han Sans "+region)
		}
		add("WenQuanYi Micro Hei", "Droid Sans Fallback")
	}
	for _, s := range scripts {
		if s == "Arabic" {
			add("Noto Naskh Arabic", "Noto Sans Arabic")
		}
		add("Noto Sans " + s)
	}
	add(general...)
	return order
}

var eastAsian = map[string]bool{"Han": true, "Hiragana": true, "Katakana": true, "Hangul": true, "Bopomofo": true}

// regions orders the regional forms of Han: by the language, else by the scripts
// beside them.
func regions(language string, scripts []string) []string {
	all := []string{"SC", "JP", "KR", "TC", "HK"}
	first := ""
	tag := strings.ToLower(strings.ReplaceAll(language, "_", "-"))
	switch primary, rest, _ := strings.Cut(tag, "-"); {
	case primary == "ja" || primary == "jpn":
		first = "JP"
	case primary == "ko" || primary == "kor":
		first = "KR"
	case (primary == "zh" || primary == "zho" || primary == "yue") && strings.Contains(rest, "hk"), primary == "yue":
		first = "HK"
	case primary == "zh" && (strings.Contains(rest, "hant") || strings.Contains(rest, "tw")):
		first = "TC"
	case primary == "zh" || primary == "zho" || primary == "cmn":
		first = "SC"
	case slices.Contains(scripts, "Hiragana") || slices.Contains(scripts, "Katakana"):
		first = "JP"
	case slices.Contains(scripts, "Hangul"):
		first = "KR"
	}
	if first == "" {
		return all
	}
	return append([]string{first}, slices.DeleteFunc(all, func(s string) bool { return s == first })...)
}

// scriptsOf returns the scripts of the letters and signs of text, by name, in order of
// the alphabet.
func scriptsOf(text string) []string {
	var found []string
	last := (*unicode.RangeTable)(nil)
	for _, r := range text {
		if r < 0x80 || undrawn(r) || last != nil && unicode.Is(last, r) {
			continue
		}
		if name := scriptOf(r); name != "Common" && name != "Inherited" {
			last = unicode.Scripts[name]
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// scriptOf names the script of r; each character has one.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "Common"
}

// missing says which script of text no font covers, and what to install.
func missing(prints []fontscan.Footprint, text string) error {
	for _, r := range text {
		if undrawn(r) || slices.ContainsFunc(prints, func(p fontscan.Footprint) bool { return p.Runes.Contains(r) }) {
			continue
		}
		what := fmt.Sprintf("the %s character %q (U+%04X)", scriptOf(r), r, r)
		if emoji(r) {
			what = fmt.Sprintf("the emoji %q (U+%04X)", r, r)
		}
		return cutroom.Errorf(cutroom.MissingDependency, "no installed font has %s", what).
			WithHint("install a font that has it (%s), or change the text", Package(r))
	}
	return cutroom.Errorf(cutroom.MissingDependency, "no single installed font has all of the text's scripts (%s)", strings.Join(scriptsOf(text), ", ")).
		WithHint("install fonts-noto-core and fonts-noto-cjk")
}

// Package names the Debian package that has a font for r.
func Package(r rune) string {
	switch {
	case emoji(r):
		return "fonts-symbola"
	case eastAsian[scriptOf(r)] || r >= 0x3000 && r < 0x3040 || r >= 0xFF00 && r < 0xFFF0:
		return "fonts-noto-cjk"
	case r >= 0x20000 && r < 0x32000:
		return "fonts-noto-cjk-extra"
	}
	return "fonts-noto-core"
}

// emoji reports whether r is drawn as a picture by default.
func emoji(r rune) bool {
	return r >= 0x1F000 && r < 0x1FB00 || r >= 0x2600 && r < 0x27C0 || r == 0x2B50 || r == 0x2B55
}
