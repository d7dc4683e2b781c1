package tool

// Nearest returns the candidate most like word, or "" when none is near: what a
// door suggests for a mistyped command or flag.
func Nearest(word string, candidates []string) string { return nearest(word, candidates) }
