package video

import (
	"fmt"
	"slices"

	"cutroom/internal/tool"
)

// complaints are what a program said on standard error, as reasons for a caller:
// classes and counts, never its text.
func complaints(r tool.Results, step string) []string {
	res, ok := r.Step(step)
	if !ok {
		return nil
	}
	var reasons []string
	for kind, n := range res.Complaints.Kinds {
		if words, known := complaintWords[kind]; known {
			reasons = append(reasons, fmt.Sprintf("%s (%d times)", words, n))
		}
	}
	slices.Sort(reasons)
	return reasons
}

var complaintWords = map[string]string{
	"decode_error": "parts of the stream could not be decoded",
	"truncated":    "the file ends before what it promises",
	"invalid_data": "the file holds invalid data",
}
