package redact

import (
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// longestKey bounds how far a rule looks back for a key, in bytes.
const longestKey = 64

// The grades of a key: what stands behind it is a secret only in an address, only when
// it looks like one, or whatever it is.
const (
	noKey = iota
	queryKey
	weakKey
	strongKey
)

// strong are the ends of keys whose values are secret, without '-', '_', '.' and case.
var strong = []string{
	"password", "passwd", "passwort", "passphrase", "passkey", "pwd", "apikey", "apitoken", "accesstoken", "authtoken", "refreshtoken", "idtoken",
	"sessiontoken", "securitytoken", "bearertoken", "accesskey", "secretkey", "secretaccesskey", "privatekey", "encryptionkey", "signingkey", "accountkey", "authkey",
	"clientsecret", "sessionid", "sessid", "credential", "credentials", "xamzsignature", "xgoogsignature", "csrftoken", "xsrftoken", "webhooksecret", "licensekey",
}

// weak are ends of keys that are words as well.
var weak = []string{"secret", "token", "cookie", "cookies", "authorization", "jwt"}

// words are keys that are weak only when they stand alone.
var words = []string{"pass", "pw", "auth"}

// query are keys that are secret in an address alone.
var query = []string{
	"sig", "signature", "sign", "key", "code", "ticket", "hdnts", "hdnea", "hdntl", "policy", "accesskeyid", "awsaccesskeyid",
	"xamzcredential", "xgoogcredential", "torrentpass", "rsskey", "sid", "hmac",
}

// headers are keys whose whole line is secret.
var headers = []string{"authorization", "proxyauthorization", "cookie", "setcookie", "xapikey", "xauthtoken", "xamzsecuritytoken"}

// schemes are the words before the credentials of an Authorization header.
var schemes = []string{"bearer", "basic", "digest", "token", "negotiate", "apikey", "aws4-hmac-sha256", "hmac", "oauth", "ntlm", "hawk"}

func keyByte(c byte) bool { return keyBytes[c] }

var keyBytes = set("A-Za-z0-9_.[]-")

// plain writes a key without what does not matter in it into b.
func plain(b *[longestKey]byte, key string) []byte {
	n := 0
	for i := 0; i < len(key) && n < len(b); i++ {
		if c := key[i]; alnum(c) {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			b[n] = c
			n++
		}
	}
	return b[:n]
}

// plainText is a key without what does not matter in it.
func plainText(key string) string {
	var b [longestKey]byte
	return string(plain(&b, key))
}

// ending is the end of a key, or a whole one, and its grade.
type ending struct {
	text  string
	whole bool
	grade int
}

// endings are all that makes a key one, by its last letter.
var endings = sync.OnceValue(func() *['z' + 1][]ending {
	var by ['z' + 1][]ending
	add := func(list []string, whole bool, grade int) {
		for _, text := range list {
			last := text[len(text)-1]
			by[last] = append(by[last], ending{text, whole, grade})
		}
	}
	add(strong, false, strongKey)
	add(weak, false, weakKey)
	add(words, true, weakKey)
	add(query, true, queryKey)
	return &by
})

// grade says how a key is to be taken.
func grade(key string) int {
	var b [longestKey]byte
	p := plain(&b, key)
	if len(p) == 0 {
		return noKey
	}
	for _, e := range endings()[p[len(p)-1]] {
		if n := len(p) - len(e.text); n >= 0 && (n == 0 || !e.whole) && string(p[n:]) == e.text {
			return e.grade
		}
	}
	// Of DB_PASS and db.pass the last part counts; a filter such as highpass has none.
	if n := strings.LastIndexAny(key, "_."); n > 0 && oneOf(strings.ToLower(key[n+1:]), words) {
		return weakKey
	}
	return noKey
}

func oneOf(s string, list []string) bool { return slices.Contains(list, s) }

// keyBefore returns where the key that ends before i begins and ends. It may be quoted,
// also inside a string, and be followed by a blank.
func keyBefore(s string, i int) (from, to int) {
	to = i
	for to > 0 && i-to < 2 && s[to-1] == ' ' {
		to--
	}
	if to == i && to > 1 && i < len(s) && s[i] == '=' && s[to-1] == ':' { // a := b
		for to--; to > 0 && i-to < 4 && s[to-1] == ' '; to-- {
		}
	}
	if to > 0 && (s[to-1] == '"' || s[to-1] == '\'') {
		for to--; to > 0 && s[to-1] == '\\'; to-- {
		}
	}
	from = to
	for from > 0 && to-from < longestKey && keyByte(s[from-1]) {
		from--
	}
	return from, to
}

// pairAt is the value behind the separator that ends at after. kind is '=', ':' or, of an
// escaped address, '%'.
func pairAt(s string, i, after int, kind byte) (span, bool) {
	from, to := keyBefore(s, i)
	if from == to {
		return span{}, false
	}
	key := s[from:to]
	address := inQuery(s, from, kind)
	g := grade(key)
	if g < strongKey && to-from <= 12 && from > 1 && s[from-1] == ' ' {
		g = max(g, spacedGrade(s, from, key))
	}
	if g == noKey || g == queryKey && !address {
		return span{}, false
	}
	if !address && kind == ':' && oneOf(plainText(key), headers) {
		return header(s, from, after)
	}
	near := window(s, after)
	v := valueAt(near, after, kind, address)
	number := kind == ':' && g == strongKey && s[to] != ':' && s[to] != ' ' && v.to-v.from >= 6 && allDigits(near[v.from:v.to])
	if !number && !taken(near, v, kind, address, g) || i > 0 && s[i-1] == ':' && !v.quoted(near) && code(near[v.from:v.to]) {
		return span{}, false
	}
	if v.to == len(near) {
		v = valueAt(s, after, kind, address)
	}
	return v, true
}

// window is s up to so far behind i as a rule looks to decide: what it takes then can
// be longer. So a text of nothing but beginnings costs no more than others.
func window(s string, i int) string { return s[:min(len(s), i+decides)] }

const decides = 64

// taken decides whether the value v of a key of grade g is a secret.
func taken(s string, v span, kind byte, address bool, g int) bool {
	text := s[v.from:v.to]
	switch {
	case v.from == v.to || placeholder(text):
		return false
	case g == weakKey && !v.quoted(s) && choice(text):
		return false
	case address && g == queryKey:
		return len(text) >= 6
	case kind == ':' && g == weakKey:
		return len(text) >= 12 && lookingSecret(text)
	case kind == ':' && !v.quoted(s):
		return len(text) >= 6 && lookingSecret(text)
	case g == weakKey && !address:
		return len(text) >= 4
	}
	return true
}

// quoted reports whether the value stands in quotes.
func (v span) quoted(s string) bool { return v.from > 0 && (s[v.from-1] == '"' || s[v.from-1] == '\'') }

// spacedGrade is the grade of a key of two words, such as "API key".
func spacedGrade(s string, from int, key string) int {
	end := from - 1
	begin := end
	for begin > 0 && end-begin < 16 && alnum(s[begin-1]) {
		begin--
	}
	if g := grade(s[begin:end] + key); g == strongKey {
		return g
	}
	return noKey
}

// inQuery reports whether the key that begins at from stands in an address's query or
// fragment.
func inQuery(s string, from int, kind byte) bool {
	if kind == '%' {
		return true
	}
	if from == 0 || kind != '=' {
		return false
	}
	switch s[from-1] {
	case '?', '&', '#':
		return true
	case ';':
		return from > 4 && s[from-5:from] == "&amp;"
	}
	return from > 6 && s[from-6:from] == `\u0026`
}

// header is the content of a header line from behind its name: to the end of the line,
// or to the quote that began it. The scheme stays.
func header(s string, key, after int) (span, bool) {
	near := window(s, after)
	f, ok := headerIn(near, key, after)
	if ok && f.to == len(near) {
		return headerIn(s, key, after)
	}
	return f, ok
}

func headerIn(s string, key, after int) (span, bool) {
	name := plainText(s[key:after])
	from := after
	for from < len(s) && s[from] == ' ' {
		from++
	}
	if from < len(s) && (s[from] == '"' || s[from] == '\'' || s[from] == '\\') {
		v := valueAt(s, from, ':', false)
		return v, v.to > v.from && !placeholder(s[v.from:v.to]) && headerLike(name, s[v.from:v.to])
	}
	to := lineEnd(s, key, from)
	if !headerLike(name, s[from:to]) {
		return span{}, false
	}
	if word, _, ok := strings.Cut(s[from:to], " "); ok && oneOf(strings.ToLower(word), schemes) {
		from += len(word) + 1
	}
	return span{from, to}, from < to && !placeholder(s[from:to])
}

// lineEnd is where the line of a header ends: at its end, written out or escaped, or at
// the quote that stands before its name.
func lineEnd(s string, key, i int) int {
	quote := byte('\n')
	if key > 0 && (s[key-1] == '"' || s[key-1] == '\'') {
		quote = s[key-1]
	}
	to := i
	for to < len(s) && s[to] != '\n' && s[to] != '\r' && s[to] != quote {
		if s[to] == '\\' && to+1 < len(s) && strings.IndexByte(`nr"'`, s[to+1]) >= 0 || s[to] == '"' && endsString(s[to+1:]) {
			break
		}
		to++
	}
	for to > i && s[to-1] == ' ' {
		to--
	}
	return to
}

// endsString reports whether a quote before s ends a string of JSON, rather than a part
// of a header.
func endsString(s string) bool {
	return s == "" || s[0] == '}' || s[0] == ']' || s[0] == '\n' || strings.HasPrefix(s, `,"`) || strings.HasPrefix(s, `, "`)
}

// headerLike reports whether a line that begins like a header is one: "Cookie: I love
// them" is not.
func headerLike(key, value string) bool {
	first, rest, more := strings.Cut(value, " ")
	switch {
	case key == "cookie" || key == "setcookie":
		name, _, ok := strings.Cut(first, "=")
		return ok && name != "" && strings.Trim(name, "=;,\"") == name
	case !more:
		return len(first) >= 8 && lookingSecret(first)
	case !oneOf(strings.ToLower(first), schemes):
		return false
	}
	word, _, several := strings.Cut(rest, " ")
	return !several && len(word) >= 6 || lookingSecret(word) || strings.Contains(word, "=")
}

// flagAt is the value of a command line's option whose name is a secret's, from its "--".
func flagAt(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], "--") || wordBefore(s, i) || i > 0 && s[i-1] == '-' {
		return span{}, false
	}
	to := i + 2
	for to < len(s) && to-i < longestKey && keyByte(s[to]) {
		to++
	}
	if to >= len(s) || s[to] != ' ' || grade(s[i+2:to]) < weakKey {
		return span{}, false
	}
	near := window(s, to)
	v := valueAt(near, to, ' ', false)
	text := near[v.from:v.to]
	if len(text) < 4 || text[0] == '-' || placeholder(text) || grade(s[i+2:to]) < strongKey && !lookingSecret(text) {
		return span{}, false
	}
	return valueAt(s, to, ' ', false), true
}

// bearer is a token behind the word bearer, wherever it stands.
func bearer(s string, i int) (span, bool) {
	from := i + len("bearer ")
	to := from
	for to < len(s) && (alnum(s[to]) || strings.IndexByte("-._~+/=", s[to]) >= 0) {
		to++
	}
	return span{from, to}, to-from >= 12 && lookingSecret(s[from:to])
}

// basic is base64 behind the word basic that holds a name and a password.
func basic(s string, i int) (span, bool) {
	from := i + len("basic ")
	to := from
	for to < len(s) && (alnum(s[to]) || strings.IndexByte("+/=", s[to]) >= 0) {
		to++
	}
	if to-from < 8 || to-from > 4096 {
		return span{}, false
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[from:to], "="))
	return span{from, to}, err == nil && utf8.Valid(text) && strings.Contains(string(text), ":")
}
