package config

import "strings"

// meant names the key that was perhaps meant, else all there are.
func meant(key, prefix string, names []string) string {
	if best := nearest(key, names); best != "" {
		return "did you mean " + prefix + best + "?"
	}
	if part := partly(key, names); part != "" {
		return "did you mean " + prefix + part + "?"
	}
	if other := elsewhere(key); other != "" && !strings.Contains(prefix, "[") {
		return "did you mean " + other + "?"
	}
	return "known keys here: " + strings.Join(names, ", ")
}

// partly is the one name that a key ends with, or that ends with it, as api_key with key
// and url with base_url; "" when there is none, or more than one.
func partly(key string, names []string) string {
	found := ""
	for _, n := range names {
		a, b := plain(key), plain(n)
		if min(len(a), len(b)) < 3 || !strings.HasSuffix(a, b) && !strings.HasSuffix(b, a) {
			continue
		}
		if found != "" {
			return ""
		}
		found = n
	}
	return found
}

// elsewhere is the one key of that name that stands beneath another, "" when there is
// none, or more than one.
func elsewhere(key string) string {
	found := ""
	for _, k := range Keys() {
		last := k[strings.LastIndexByte(k, '.')+1:]
		if plain(last) != plain(key) || strings.Contains(k, "[") {
			continue
		}
		if found != "" {
			return ""
		}
		found = k
	}
	return found
}

// plain is a name in one style, whatever it is spelled in.
func plain(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// nearest is the name that a word was perhaps meant to be, "" when none is near. What is
// spelled in another style, as allowUpload for allow_upload, is near.
func nearest(word string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if plain(word) == plain(n) {
			return n
		}
		if d := min(distance(word, n), distance(plain(word), plain(n))); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to change, add, drop or swap; long words are far.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 100
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
