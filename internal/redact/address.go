package redact

import "strings"

const longestUserinfo = 2048

// nobody stands for a name where we say how an address is written.
const nobody = "USER"

// addressAt is what is secret in an address whose scheme ends at i, from the given place
// on: what stands before its @, then the key of a stream.
func addressAt(s string, i, from int) (span, bool) {
	if i == 0 || !alnum(s[i-1]) {
		return span{}, false
	}
	f, ok := userinfo(s, i, from)
	if ok && !isMask(s[f.from:f.to]) && s[f.from:f.to] != nobody {
		return f, true
	}
	return streamKey(s, i, from)
}

// userinfo is what stands before the @ of an address. A password may hold a slash, which
// it should not: then it is no port that stands before that.
func userinfo(s string, i, from int) (span, bool) {
	end, at, colon, slash := from, -1, -1, -1
	for ; end < len(s) && end-from < longestUserinfo && !endsAddress(s[end]); end++ {
		switch c := s[end]; {
		case c == '@':
			at = end
		case c == ':' && colon < 0:
			colon = end
			if strings.HasPrefix(s[end:], "://") {
				return span{from, at}, at > from
			}
		case strings.IndexByte("/?#", c) >= 0:
			if at >= 0 || c != '/' || colon <= from || s[from] == '[' || slash < 0 && !passwordBefore(s, i, colon, end) {
				return span{from, at}, at > from
			}
			slash = end
		case slash >= 0 && strings.HasPrefix(s[end:], "://"):
			return span{}, false
		}
	}
	return span{from, at}, at > from
}

// passwordBefore reports whether what stands between the colon and the slash of an
// address is the beginning of a password rather than a port.
func passwordBefore(s string, i, colon, slash int) bool {
	text := s[colon+1 : slash]
	if strings.Trim(text, "0123456789") != "" {
		return true
	}
	return hasScheme(s[:i], "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "amqp", "amqps")
}

func endsAddress(c byte) bool { return c <= ' ' || strings.IndexByte("\\\"'<>`", c) >= 0 }

// hasScheme reports whether s ends with one of the schemes.
func hasScheme(s string, schemes ...string) bool {
	for _, scheme := range schemes {
		if n := len(s) - len(scheme); n >= 0 && strings.EqualFold(s[n:], scheme) && !wordBefore(s, n) {
			return true
		}
	}
	return false
}

// streamKey is what follows the application in the address of a live stream:
// rtmp://host/app/KEY. A name of letters alone is none.
func streamKey(s string, i, from int) (span, bool) {
	if !hasScheme(s[:i], "rtmp", "rtmps", "rtmpt", "rtmpe", "rtmpts") {
		return span{}, false
	}
	end, slashes, key := from, 0, 0
	for ; end < len(s) && end-from < longestUserinfo && !endsAddress(s[end]) && strings.IndexByte("?#,;|)", s[end]) < 0; end++ {
		if s[end] == '/' {
			if slashes++; slashes == 2 {
				key = end + 1
			}
		}
	}
	if slashes < 2 || end-key < shortest || placeholder(s[key:end]) {
		return span{}, false
	}
	text := s[key:end]
	return span{key, end}, len(text) >= 2*wordlike || strings.ContainsAny(text, "0123456789")
}
