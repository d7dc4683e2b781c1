package redact

import (
	"strings"
	"sync"
)

// word is a rule that begins at a fixed word.
type word struct {
	text string // as it stands, or in lower case when fold is set
	fold bool
	at   func(s string, i int) (span, bool) // the word stands at i
}

// charset is a set of bytes.
type charset [256]bool

func set(parts string) charset {
	var c charset
	for i := 0; i < len(parts); i++ {
		if i+2 < len(parts) && parts[i+1] == '-' {
			for b := int(parts[i]); b <= int(parts[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[parts[i]] = true
	}
	return c
}

// shape is a family of tokens that begin alike: prefix, then at least least characters.
type shape struct {
	prefix string
	chars  string // ranges and characters; '-' stands last
	least  int
	keep   int // bytes of the prefix that stay
}

const (
	upper = "A-Z0-9"
	mixed = "A-Za-z0-9"
	wide  = "A-Za-z0-9_-"
)

// shapes are the tokens of services that say themselves what they are.
var shapes = []shape{
	{"AKIA", upper, 16, 0},
	{"ASIA", upper, 16, 0},
	{"AROA", upper, 16, 0},
	{"AIDA", upper, 16, 0},
	{"ABIA", upper, 16, 0},
	{"cutroom_", upper, 32, 0}, // our own: internal/token
	{"ghp_", mixed, 30, 0},
	{"gho_", mixed, 30, 0},
	{"ghu_", mixed, 30, 0},
	{"ghs_", mixed, 30, 0},
	{"ghr_", mixed, 30, 0},
	{"github_pat_", mixed + "_", 30, 0},
	{"glpat-", wide, 18, 0},
	{"gldt-", wide, 18, 0},
	{"glrt-", wide, 18, 0},
	{"glcbt-", wide, 18, 0},
	{"glptt-", wide, 18, 0},
	{"xoxb-", wide, 16, 0},
	{"xoxp-", wide, 16, 0},
	{"xoxa-", wide, 16, 0},
	{"xoxe-", wide, 16, 0},
	{"xoxe.", mixed + ".-", 16, 0},
	{"xoxr-", wide, 16, 0},
	{"xoxs-", wide, 16, 0},
	{"xapp-", wide, 16, 0},
	{"sk-", wide, 20, 0},
	{"sk_live_", mixed, 16, 0},
	{"sk_test_", mixed, 16, 0},
	{"rk_live_", mixed, 16, 0},
	{"rk_test_", mixed, 16, 0},
	{"whsec_", mixed + "+/=", 16, 0},
	{"AIza", wide, 35, 0},
	{"ya29.", wide, 20, 0},
	{"GOCSPX-", wide, 20, 0},
	{"hf_", mixed, 30, 0},
	{"r8_", mixed, 30, 0},
	{"gsk_", mixed, 40, 0},
	{"xai-", mixed, 40, 0},
	{"nvapi-", wide, 40, 0},
	{"pplx-", mixed, 40, 0},
	{"tvly-", wide, 20, 0},
	{"npm_", mixed, 30, 0},
	{"pypi-", wide, 40, 0},
	{"dckr_pat_", wide, 20, 0},
	{"dop_v1_", mixed, 40, 0},
	{"doo_v1_", mixed, 40, 0},
	{"shpat_", mixed, 30, 0},
	{"shpss_", mixed, 30, 0},
	{"SG.", mixed + "_.-", 50, 0},
	{"glsa_", mixed + "_", 30, 0},
	{"lin_api_", mixed, 30, 0},
	{"ntn_", mixed, 40, 0},
	{"figd_", wide, 30, 0},
	{"PMAK-", mixed + "-", 40, 0},
	{"NRAK-", upper, 25, 0},
	{"hvs.", wide, 24, 0},
	{"hvb.", wide, 24, 0},
	{"dp.pt.", mixed, 30, 0},
	{"AGE-SECRET-KEY-1", upper, 40, 0},
	{"tskey-", wide, 20, 0},
	{"pul-", mixed, 40, 0},
	{"sntrys_", mixed + "_=+/-", 40, 0},
	{"sbp_", mixed, 40, 0},
	{"CFPAT-", wide, 40, 0},
	{"ATATT3", wide + "=", 40, 0},
	{"eyJ", mixed + "_.-", 0, 0}, // a JSON Web Token: see jwt
	{"hooks.slack.com/services/", mixed + "/", 20, 25},
	{"hooks.slack.com/workflows/", mixed + "/", 20, 26},
	{"discord.com/api/webhooks/", mixed + "/_-", 30, 25},
	{"discordapp.com/api/webhooks/", mixed + "/_-", 30, 28},
	{"api.telegram.org/bot", mixed + ":_-", 30, 20},
}

// rule is how the tokens of a shape are found.
func (sh shape) rule() word {
	chars := set(sh.chars)
	end := func(s string, i int) int {
		for i < len(s) && chars[s[i]] {
			i++
		}
		return i
	}
	return word{sh.prefix, false, func(s string, i int) (span, bool) {
		if !begins(s, i) {
			return span{}, false
		}
		// A word that is only looked at ends where the next can begin.
		if sh.unsure() && i > 0 && chars[s[i-1]] && !alnum(s[i-1]) {
			return span{}, false
		}
		to := end(s, i+len(sh.prefix))
		return span{i + sh.keep, to}, sh.fits(s[i:to], s[to:]) && !amidBase64(s, i, to)
	}}
}

// unsure are shapes that a long word can begin like without being one.
func (sh shape) unsure() bool {
	return sh.prefix == "eyJ" || sh.prefix == "sk-" || sh.prefix == "xai-" || sh.prefix == "pul-"
}

// fits reports whether text is a token of the shape, or the half that somebody left who
// cut the text; after follows it.
func (sh shape) fits(text, after string) bool {
	tail := text[len(sh.prefix):]
	switch {
	case sh.prefix == "eyJ":
		return jwt(text)
	case len(tail) < sh.least:
		return len(tail) >= 6 && (strings.HasPrefix(after, "…") || strings.HasPrefix(after, "..."))
	case sh.unsure():
		return random(tail)
	}
	return true
}

// random reports whether a word is none that people made of words: letters and digits in
// one long run, or of both cases with several digits.
func random(s string) bool {
	run, digits, digitsIn, lettersIn, small, large := 0, 0, 0, 0, false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !alnum(c) {
			run, digitsIn, lettersIn = 0, 0, 0
			continue
		}
		run++
		switch {
		case digit(c):
			digits++
			digitsIn++
		case c >= 'a':
			lettersIn++
			small = true
		default:
			lettersIn++
			large = true
		}
		if run >= 2*wordlike && digitsIn > 0 && lettersIn > 0 {
			return true
		}
	}
	return small && large && digits >= 3
}

// begins reports whether a token can begin at i: not in the middle of a word.
func begins(s string, i int) bool {
	if i == 0 || !alnum(s[i-1]) {
		return true
	}
	escape := i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
	percent := i > 2 && s[i-3] == '%' && hexDigit(s[i-1]) && hexDigit(s[i-2])
	return escape || percent
}

// amidBase64 reports whether a long run of base64 goes on around a token: anything can
// stand in one by chance.
func amidBase64(s string, i, to int) bool {
	run := 0
	for from := i; from > 0 && run < longRun && base64Byte(s[from-1]); from-- {
		run++
	}
	for ; to < len(s) && run < longRun && base64Byte(s[to]); to++ {
		run++
	}
	return run >= longRun
}

// longRun is how many characters around a token, beside its own, make it a part of
// something else.
const longRun = 200

func base64Byte(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }
func hexDigit(c byte) bool   { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// jwt reports whether s has the three parts of a signed token or the five of an
// encrypted one (RFC 7519), or was cut off in its payload.
func jwt(s string) bool {
	parts := strings.Split(strings.TrimRight(s, "."), ".")
	return len(parts) >= 2 && len(parts) <= 5 && len(parts[0]) >= 10 && len(parts[1]) >= 4
}

// wordIndex finds the rules that can begin at a place by its first two bytes.
type wordIndex struct {
	first [256]uint8     // what can begin with a byte: nothing, a word, another rule
	by    [1 << 16]uint8 // 1 + index into lists
	lists [][]word
}

const (
	wordFirst = 1
	ruleFirst = 2
)

var index = sync.OnceValue(func() *wordIndex {
	x := &wordIndex{}
	for _, sh := range shapes {
		x.add(sh.rule())
	}
	x.add(word{"bearer ", true, bearer})
	x.add(word{"basic ", true, basic})
	for _, text := range keyWords {
		x.add(keyWord(text))
	}
	for _, c := range "=:>%-/&" {
		x.first[c] = ruleFirst
	}
	return x
})

func (x *wordIndex) add(w word) {
	keys := []uint16{pairOf(w.text, 0)}
	if w.fold {
		a, b := w.text[0], w.text[1]
		keys = []uint16{two(a, b), two(a&^0x20, b), two(a, b&^0x20), two(a&^0x20, b&^0x20)}
	}
	for _, k := range keys {
		if x.by[k] == 0 {
			x.lists = append(x.lists, nil)
			x.by[k] = uint8(len(x.lists))
		}
		x.first[k>>8] = wordFirst
		x.lists[x.by[k]-1] = append(x.lists[x.by[k]-1], w)
	}
}

func two(a, b byte) uint16          { return uint16(a)<<8 | uint16(b) }
func pairOf(s string, i int) uint16 { return two(s[i], s[i+1]) }
func hasFold(s, lower string) bool {
	return len(s) >= len(lower) && strings.EqualFold(s[:len(lower)], lower)
}

func (w word) begins(s string) bool {
	return !w.fold && strings.HasPrefix(s, w.text) || w.fold && hasFold(s, w.text)
}

// at returns the rules whose word stands at i.
func (x *wordIndex) at(s string, i int) []word {
	if i+1 >= len(s) {
		return nil
	}
	list := x.by[pairOf(s, i)]
	if list == 0 {
		return nil
	}
	for n, w := range x.lists[list-1] {
		if w.begins(s[i:]) {
			return x.lists[list-1][n : n+1]
		}
	}
	return nil
}
