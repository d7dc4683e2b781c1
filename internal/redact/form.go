package redact

import "strings"

// forms returns what has the form of a secret, in order and apart from each other. It
// goes through the text once; a rule looks back a bounded way, and what a rule took is
// not looked at again.
func forms(s string) []span {
	var found []span
	words := index()
	for i := 0; i < len(s); i++ {
		if c := s[i]; words.first[c] == 0 || words.first[c] == wordFirst && (i+1 >= len(s) || words.by[two(c, s[i+1])] == 0) {
			continue
		}
		f, ok := formAt(s, i, words)
		if !ok {
			continue
		}
		if last := len(found) - 1; last >= 0 && f.from < found[last].to {
			f.from = found[last].to // begins in what an earlier rule took
		}
		if f.from >= f.to {
			continue
		}
		if !isMask(s[f.from:f.to]) {
			found = append(found, f)
		}
		i = max(i, f.to-1)
	}
	return found
}

// formAt asks the rules that begin with the character at i.
func formAt(s string, i int, words *wordIndex) (span, bool) {
	switch s[i] {
	case '=':
		return pairAt(s, i, i+1, '=')
	case ':':
		if strings.HasPrefix(s[i:], "://") {
			return addressAt(s, i, i+len("://"))
		}
		if strings.HasPrefix(s[i:], ":/") && cleaned(s[:i]) {
			return addressAt(s, i, i+len(":/"))
		}
		if strings.HasPrefix(s[i:], ":=") {
			return span{}, false // the next sign's
		}
		return pairAt(s, i, i+1, ':')
	case '&':
		for _, sign := range []string{"&#61;", "&#x3d;", "&#x3D;", "&equals;"} {
			if strings.HasPrefix(s[i:], sign) {
				return pairAt(s, i, i+len(sign), '=')
			}
		}
		return span{}, false
	case '>':
		return elementAt(s, i)
	case '%':
		if i+2 < len(s) && s[i+1] == '3' && s[i+2]|0x20 == 'd' {
			return pairAt(s, i, i+3, '%')
		}
		return span{}, false
	case '-':
		if f, ok := privateKey(s, i); ok {
			return f, true
		}
		if f, ok := curlUser(s, i); ok {
			return f, true
		}
		return flagAt(s, i)
	case '/':
		if f, ok := announce(s, i); ok {
			return f, true
		}
	}
	for _, w := range words.at(s, i) {
		if f, ok := w.at(s, i); ok {
			return f, true
		}
	}
	return span{}, false
}

// cleaned reports whether s ends with the scheme of an address that was taken for a path,
// so that one of its slashes is gone.
func cleaned(s string) bool {
	return hasScheme(s, "http", "https", "ftp", "sftp", "rtmp", "rtmps", "rtsp", "postgres")
}

// announce is the key in the path of a private tracker's address: the segment before
// or after /announce.
func announce(s string, i int) (span, bool) {
	const word = "/announce"
	if strings.HasPrefix(s[i:], "/…") {
		return cutAnnounce(s, i)
	}
	if !strings.HasPrefix(s[i:], word) {
		return span{}, false
	}
	from := i
	for from > 0 && i-from < 128 && alnum(s[from-1]) {
		from--
	}
	if i-from >= 16 && from > 0 && s[from-1] == '/' {
		return span{from, i}, true
	}
	if from = i + len(word); from < len(s) && s[from] == '/' {
		to := from + 1
		for to < len(s) && alnum(s[to]) {
			to++
		}
		return span{from + 1, to}, to-from > 16
	}
	return span{}, false
}

// cutAnnounce is such a key where somebody cut the address off behind it: a segment of
// the length of an MD5 or SHA-1.
func cutAnnounce(s string, i int) (span, bool) {
	from := i
	for from > 0 && i-from <= 40 && hexDigit(s[from-1]) {
		from--
	}
	n := i - from
	return span{from, i}, n >= 32 && n <= 40 && s[max(0, from-1)] == '/'
}

// privateKey is a key in PEM, its first and last line included (RFC 7468). One without
// an end goes on as long as the text.
func privateKey(s string, i int) (span, bool) {
	const begin = "-----BEGIN "
	rest := s[i:]
	if !strings.HasPrefix(rest, begin) {
		return span{}, false
	}
	label := rest[len(begin):min(len(rest), len(begin)+64)]
	n := strings.Index(label, "-----")
	if n < 0 || !strings.Contains(label[:n], "PRIVATE KEY") {
		return span{}, false
	}
	last := "-----END " + label[:n] + "-----"
	if end := strings.Index(rest, last); end >= 0 {
		return span{i, i + end + len(last)}, true
	}
	return span{i, len(s)}, true
}

// elementAt is the content of an XML element whose name is a secret's, from the '>' at i
// that ends its first tag. The tag may have attributes.
func elementAt(s string, i int) (span, bool) {
	from := i
	for from > 0 && i-from < longestKey && s[from-1] != '<' && s[from-1] != '>' && s[from-1] != '\n' {
		from--
	}
	if from == 0 || from == i || s[from-1] != '<' || s[i-1] == '/' {
		return span{}, false
	}
	name, _, _ := strings.Cut(s[from:i], " ")
	if _, local, ok := strings.Cut(name, ":"); ok {
		name = local
	}
	if strings.TrimFunc(name, func(c rune) bool { return c < 0x80 && keyByte(byte(c)) }) != "" || grade(name) < weakKey {
		return span{}, false
	}
	to := i + 1
	for to < len(s) && s[to] != '<' && s[to] != '\n' {
		to++
	}
	return span{i + 1, to}, to > i+1 && to < len(s) && !placeholder(s[i+1:to])
}
