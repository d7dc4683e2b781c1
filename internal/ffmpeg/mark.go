package ffmpeg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cutroom/internal/edl"
)

// MoveChapters returns the chapters of an edit's source 0 where the edit shows them: one
// that is cut into is shorter, one that is cut out is gone, parts that meet stay one.
func MoveChapters(chapters []Chapter, m *edl.Map) []Chapter {
	var list []Chapter
	forward := m.Forward(0)
	for _, c := range chapters {
		for _, r := range forward(edl.Range{Start: c.StartSeconds, End: c.EndSeconds}) {
			list = append(list, Chapter{StartSeconds: r.Start, EndSeconds: r.End, Title: c.Title})
		}
	}
	slices.SortStableFunc(list, func(a, b Chapter) int { return cmp.Compare(a.StartSeconds, b.StartSeconds) })
	return list
}

// ChapterFile writes chapters in ffmpeg's metadata form (ffmpeg-formats(1), "metadata").
func ChapterFile(list []Chapter) []byte {
	var b strings.Builder
	b.WriteString(";FFMETADATA1\n")
	escape := strings.NewReplacer(`\`, `\\`, "=", `\=`, ";", `\;`, "#", `\#`)
	for _, c := range list {
		fmt.Fprintf(&b, "[CHAPTER]\nTIMEBASE=1/1000000\nSTART=%d\nEND=%d\ntitle=%s\n", int64(c.StartSeconds), int64(c.EndSeconds), escape.Replace(TagText(c.Title)))
	}
	return []byte(b.String())
}

// TagText is text of a file as one line of a tag: no control characters, at most 500
// characters.
func TagText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 500 {
		s = string(r[:500])
	}
	return strings.TrimSpace(s)
}
