package caption

import (
	"strings"
	"sync"
	"unicode"
)

// clinging are words that belong to what follows them: a line does not end in one.
// Articles, prepositions, conjunctions and possessives of some languages; a word that
// means something else in another one costs nothing but a preference.
const clinging = ` a an the of to in on at by for from with without and or but nor as if than that this these those my your his her its our their
 is are was were be been not no very into onto over under about between through during before after
 der die das den dem des ein eine einen einem einer und oder aber mit von zu zum zur im in am auf für aus bei nach ohne durch mein dein sein ihr unser
 le la les un une des du de et ou mais dans sur avec pour par sans ce cette ces mon ton son notre votre leur
 el los las una unos unas del al y o pero en con por para sin su mi tu nuestro
 il lo gli i uno e ma nel nella di da su per tra fra
 o os as um uma e mas em no na com por sem
 het een van op met voor
 и а но или в во на с со к ко у о об от до по за из без для не ни что как
 `

// opening are words that begin a phrase: a line likes to start with one.
const opening = ` and but or because which who that when while where if although so then und aber oder weil dass wenn et mais ou parce que qui y pero o porque que cuando
 ma perché che и а но или потому что который когда если `

// role is what a word is to the phrase that it stands in.
type role int

const (
	clings role = iota + 1
	opens
)

// roles are read from the lists once.
var roles = sync.OnceValue(func() map[string]role {
	m := map[string]role{}
	for w := range strings.FieldsSeq(opening) {
		m[w] = opens
	}
	for w := range strings.FieldsSeq(clinging) {
		m[w] |= clings
	}
	return m
})

// penalty says how bad a line break behind the word before and ahead of the word after
// is: below 0 at the edge of a phrase, above 0 inside one.
func penalty(before, after string) float64 {
	before, after = strings.TrimSpace(before), strings.TrimSpace(after)
	last := lastRune(strings.TrimRight(before, `"'”’»)]}`))
	switch {
	case strings.ContainsRune(".?!…。！？؟।", last):
		return -0.5
	case strings.ContainsRune(",;:—–،؛，、；：", last):
		return -0.3
	}
	p := 0.0
	word := strings.ToLower(strings.TrimFunc(before, unicode.IsPunct))
	next := strings.ToLower(strings.TrimFunc(after, unicode.IsPunct))
	switch {
	case roles()[word]&clings != 0:
		p += 0.3
	case roles()[next]&opens != 0:
		p -= 0.15
	}
	if unicode.IsDigit(last) && roles()[next]&opens == 0 {
		p += 0.15 // a number and what it counts
	}
	if unicode.IsUpper(firstRune(before)) && unicode.IsUpper(firstRune(after)) {
		p += 0.1 // a name
	}
	if last == '-' {
		p += 0.2
	}
	if unicode.Is(unicode.Katakana, last) && unicode.Is(unicode.Katakana, firstRune(after)) {
		p += 0.2
	}
	return p
}
