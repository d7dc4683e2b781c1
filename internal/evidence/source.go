package evidence

import "strings"

// Source is a tool's output that holds evidence for a timeline. id names the
// recorded result.
type Source interface {
	Evidence(in *Inputs, id string)
}

// LooksLikeTranscript reports whether the first bytes of a file without a telling
// name are a transcript with times: cues in any form and encoding that
// [ParseTranscript] reads.
func LooksLikeTranscript(head []byte) bool {
	d := decodeText(head)
	if len(head) == 0 || !plausibleText(d.text) {
		return false
	}
	// High bytes alone are no proof of an old encoding; text also has spaces.
	return strings.HasPrefix(d.encoding, "utf-") || len(head) < 256 || strings.ContainsAny(d.text, " \n\r")
}

// Lines returns the lines of a text that hold more than space.
func Lines(text string) []string {
	var lines []string
	for l := range strings.Lines(text) {
		if l = strings.TrimRight(l, "\r\n"); strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return lines
}
