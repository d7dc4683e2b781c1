package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Bounds of a word of base64 that is looked into, in characters. A longer one is a file;
// the longest is shorter than what a [Writer] keeps back.
const (
	leastBase64 = 20
	mostBase64  = 6000
	firstBase64 = 24 // that tell whether it is a text
)

var base64Bytes = set("A-Za-z0-9+/_-")

// wrapped returns the words of base64 that stand for a text in which something has the
// form of a secret: the key of a kubeconfig, a line of settings. It is undone once.
func wrapped(s string) []span {
	var found []span
	for i := 0; i < len(s); i++ {
		if !base64Bytes[s[i]] {
			continue
		}
		from := i
		for i < len(s) && base64Bytes[s[i]] {
			i++
		}
		if n := i - from; n < leastBase64 || n > mostBase64 || !isText(s[from:min(i, from+firstBase64)]) {
			continue
		}
		text, ok := unwrapped(s[from:i])
		for n := 0; n < 2 && i < len(s) && s[i] == '='; n++ {
			i++
		}
		if ok && len(forms(text)) > 0 {
			found = append(found, span{from, i})
		}
	}
	return found
}

// isText reports whether the beginning of a word of base64 stands for a text.
func isText(head string) bool {
	_, ok := unwrapped(head[:len(head)&^3])
	return ok
}

// unwrapped is the text that a word of base64 stands for; false when it is none. A
// character may be cut in two at its end.
func unwrapped(word string) (string, bool) {
	coding := base64.RawStdEncoding
	if strings.ContainsAny(word, "-_") {
		coding = base64.RawURLEncoding
	}
	raw, err := coding.DecodeString(word)
	if err != nil {
		return "", false
	}
	text := string(raw)
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		if c == utf8.RuneError && n == 1 {
			return text[:i], i > 0 && len(text)-i < utf8.UTFMax && !utf8.FullRuneInString(text[i:])
		}
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return "", false
		}
		i += n
	}
	return text, true
}

// curlUser is the name and password that curl is told by an option.
func curlUser(s string, i int) (span, bool) {
	if i == 0 || s[i-1] != ' ' {
		return span{}, false
	}
	after := i
	for _, option := range []string{"--user ", "--user=", "--proxy-user ", "--proxy-user=", "-u", "-U"} {
		if strings.HasPrefix(s[i:], option) {
			after = i + len(option)
			break
		}
	}
	before := s[max(0, i-lookBack):i]
	at := strings.LastIndex(before, "curl")
	if after == i || at < 0 || strings.ContainsAny(before[at:], "\n|;&") {
		return span{}, false
	}
	near := window(s, after)
	v := valueAt(near, after, ' ', false)
	name, password, ok := strings.Cut(near[v.from:v.to], ":")
	if !ok || name == "" || password == "" || placeholder(password) || strings.HasPrefix(password, "//") {
		return span{}, false
	}
	return valueAt(s, after, ' ', false), true
}

// keyWords are words for a password, or a key, that are written in other letters.
var keyWords = []string{
	"密码", "密碼", "口令", "密钥", "密鑰", "令牌", "パスワード", "비밀번호", "암호", "пароль", "Пароль", "ПАРОЛЬ", "contraseña", "Contraseña",
}

// keyWord is the rule for such a word with what is said of it behind a sign.
func keyWord(text string) word {
	return word{text, false, func(s string, i int) (span, bool) {
		at := i + len(text)
		for n := 0; n < 2 && at < len(s) && (s[at] == ' ' || s[at] == '"'); n++ {
			at++
		}
		sign := ""
		for _, x := range []string{":", "=", "：", "＝"} {
			if strings.HasPrefix(s[at:], x) {
				sign = x
			}
		}
		if sign == "" {
			return span{}, false
		}
		v := valueAt(s, at+len(sign), ':', false)
		if !v.quoted(s) { // a sentence may go on in those letters
			if end := strings.IndexFunc(s[v.from:v.to], func(c rune) bool { return c >= utf8.RuneSelf }); end >= 0 {
				v.to = v.from + end
			}
		}
		value := s[v.from:v.to]
		return v, len(value) >= 6 && !placeholder(value) && (v.quoted(s) || lookingSecret(value))
	}}
}
