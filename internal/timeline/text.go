package timeline

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

// href is a path as a URL's text: relative paths stay relative.
func href(p string) string {
	u := url.URL{Path: p}
	switch {
	case strings.HasPrefix(p, "/"):
		u.Scheme = "file"
		return "file://" + u.EscapedPath()
	case strings.HasPrefix(p, "./"), strings.HasPrefix(p, "../"):
		return u.EscapedPath()
	}
	return "./" + u.EscapedPath() // a colon in the first part would read as a scheme
}

// pathOf is the path that a URL names; what is no URL is a path already.
func pathOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Path == "" && u.Opaque == "" {
		return clean(s)
	}
	if len(u.Scheme) > 1 && u.Scheme != "file" {
		return clean(s) // an address, which names no file; a drive letter is no scheme
	}
	if len(u.Scheme) == 1 {
		return clean(strings.ReplaceAll(s, `\`, "/"))
	}
	return clean(u.Path)
}

// clean takes the "./" off, and what no name may hold.
func clean(p string) string {
	p = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, p)
	return strings.TrimPrefix(p, "./")
}

// nameOf is a name for a source that has none.
func nameOf(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

// line is text without what would end a line.
func line(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}
