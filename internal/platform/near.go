package platform

import "strings"

// nearest returns the candidate that word is most likely meant to be, "" when none is
// near: at most a third of the word differs.
func nearest(word string, candidates []string) string {
	word = strings.ToLower(clip(word))
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if d := edits(word, c); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	return best
}

// edits counts the letters to insert, remove or replace between a and b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// clip bounds what an error repeats.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func join(names []string) string { return strings.Join(names, ", ") }
