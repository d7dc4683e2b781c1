package evidence

import "unicode"

// EstimateTokens estimates how many tokens a model reads s as: a token per four
// ASCII letters, per two letters of other alphabets, per ideograph or sign. It
// rather says too many.
func EstimateTokens(s string) int {
	quarters := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			quarters++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || !unicode.IsLetter(r):
			quarters += 4
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}
