package redact

import (
	"strings"
	"unicode/utf8"
)

// valueAt returns the value that begins at i.
func valueAt(s string, i int, kind byte, address bool) span {
	if !address {
		for n := 0; n < 3 && i < len(s) && s[i] == ' '; n++ {
			i++
		}
	}
	if !address && kind == '=' && i < len(s) && s[i] == '>' { // a => b
		for i++; i < len(s) && s[i] == ' '; i++ {
		}
	}
	if !address && i < len(s) && s[i] == '[' {
		if v, ok := listAt(s, i+1); ok {
			return v
		}
	}
	slashes := i
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') && !address {
		return quotedAt(s, i+1, s[i], i-slashes)
	}
	i = slashes
	to := i
	for to < len(s) && !endsValue(s, to, kind, address) {
		to++
	}
	for to > i && strings.IndexByte(",;)]}.:", s[to-1]) >= 0 && !address {
		to--
	}
	return span{i, to}
}

// listAt is what stands in a list of quoted values, from the first one to the last.
func listAt(s string, i int) (span, bool) {
	for n := 0; n < 3 && i < len(s) && s[i] == ' '; n++ {
		i++
	}
	slashes := i
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i == len(s) || s[i] != '"' && s[i] != '\'' {
		return span{}, false
	}
	quote, depth := s[i], i-slashes
	v := quotedAt(s, i+1, quote, depth)
	for {
		next := v.to + depth + 1
		for next < len(s) && (s[next] == ' ' || s[next] == ',') {
			next++
		}
		for next < len(s) && s[next] == '\\' {
			next++
		}
		if next >= len(s) || s[next] != quote {
			return v, true
		}
		v.to = quotedAt(s, next+1, quote, depth).to
	}
}

// choice reports whether an unquoted value begins with a short number or a setting's
// word: pass=1:seed=7, auth=none.
func choice(v string) bool {
	if n := strings.IndexAny(v, ":,;"); n > 0 {
		v = v[:n]
	}
	return len(v) <= 3 && allDigits(v) || setting(v)
}

// code reports whether what a program's variable is set to is another name or a call.
func code(v string) bool {
	return strings.ContainsAny(v, "([{") || !strings.ContainsAny(v, "0123456789")
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// setting reports whether a value is a word that says what a key is rather than being it.
func setting(v string) bool {
	return len(v) <= longestSetting && oneOf(strings.ToLower(v), settings)
}

const longestSetting = len("undefined")

var settings = []string{
	"none", "null", "nil", "true", "false", "yes", "no", "on", "off", "required", "optional", "undefined", "default", "enabled", "disabled", "unset", "empty",
	"string", "str", "bool", "boolean", "auto", "hidden", "masked",
}

// quotedAt is the value up to the quote that has as many backslashes as the first one,
// or to the line's end.
func quotedAt(s string, i int, quote byte, slashes int) span {
	back := 0
	for to := i; to < len(s); to++ {
		switch c := s[to]; {
		case c == quote && back <= slashes:
			return span{i, to - back}
		case c == '\n':
			return span{i, to}
		case c == '\\':
			back++
			continue
		}
		back = 0
	}
	return span{i, len(s)}
}

// endsValue reports whether an unquoted value ends before the byte at i.
func endsValue(s string, i int, kind byte, address bool) bool {
	switch c := s[i]; {
	case c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`' || c == '|':
		return true
	case c == '\\':
		return i+1 < len(s) && strings.IndexByte(`nrtu"'\`, s[i+1]) >= 0
	case kind == '%' && c == '%':
		return i+2 < len(s) && s[i+1] == '2' && (s[i+2] == '6' || s[i+2] == '3')
	case address:
		return c == '&' || c == '#' || c == ';' || c == ')' || c == ']' || c == ',' || c == 0xe2
	case c == '&' || c == ',' || c == ';':
		n := i + 1
		for n < len(s) && n-i <= longestKey && keyByte(s[n]) {
			n++
		}
		return n > i+1 && n < len(s) && (s[n] == '=' || s[n] == ':')
	}
	return false
}

// placeholder reports whether a value only says where the secret is.
func placeholder(v string) bool {
	return isMask(v) || setting(v) || strings.HasPrefix(v, Mask[:len(Mask)-1]) || strings.HasPrefix(v, "***") || strings.HasPrefix(v, "…") || v[0] == '$' || v[0] == '<' || v[0] == '{' || v[0] == '%' && strings.HasSuffix(v, "%") ||
		strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "file:")
}

// lookingSecret reports whether a word is none of a language and no number or time.
func lookingSecret(v string) bool {
	digits, letters, signs, inner := 0, 0, 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case digit(c):
			digits++
		case alnum(c):
			letters++
			inner = inner || i > 0 && c < 'a' && v[i-1] >= 'a' && alnum(v[i-1])
		case c >= utf8.RuneSelf:
			letters++
		case strings.IndexByte(":.,-'", c) < 0:
			signs++
		}
	}
	return letters > 0 && (digits > 0 || signs > 0 || inner)
}
