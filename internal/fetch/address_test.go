package fetch

import (
	"strings"
	"testing"

	"cutroom"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"https://Media.Example.COM/a.mp4?x=1#frag": "https://media.example.com/a.mp4?x=1",
		"HTTP://example.com:80/":                   "http://example.com/",
		"https://example.com:443/v":                "https://example.com/v",
		"http://example.com:443/v":                 "http://example.com:443/v",
		"https://bücher.de/x":                      "https://xn--bcher-kva.de/x",
		"https://93.184.216.34/x":                  "https://93.184.216.34/x",
		"https://0x5db8d822/x":                     "https://93.184.216.34/x",
		"https://[2606:2800:220:1::1]/x":           "https://[2606:2800:220:1::1]/x",
		"https://example.com./x":                   "https://example.com/x",
	}
	for in, want := range good {
		u, err := ParseAddress(in)
		if err != nil || u.String() != want {
			t.Errorf("%s: got %v, %v; want %s", in, u, err, want)
		}
	}
	bad := []string{
		"", "example.com/x", "ftp://example.com/x", "file:///etc/passwd", "https:///x", "https://user@example.com/", "https://u:p@example.com/",
		"https://example.com:8080/", "https://example.com:/", "https://localhost/", "https://intranet/", "https://a.local/", "https://a.internal/",
		"https://a.lan/", "https://a.home.arpa/", "https://a.onion/", "https://x.localhost/", "http://127.0.0.1/", "http://127.1/", "http://2130706433/",
		"http://0x7f000001/", "http://0177.0.0.1/", "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/",
		"http://100.64.0.1/", "http://0.0.0.0/", "http://224.0.0.1/", "http://255.255.255.255/", "http://[::1]/", "http://[::]/", "http://[fe80::1]/",
		"http://[fc00::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:10.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
		"https://exa mple.com/", "https://example.com\\@evil.com/", "https://example.com/\x00", "https://example.com/\n", "http://１２７.0.0.1/",
		"https://" + strings.Repeat("a", maxAddress) + ".com/", "https://a..b.com/", "javascript:alert(1)", "https:example.com",
	}
	for _, in := range bad {
		u, err := ParseAddress(in)
		if err == nil {
			t.Errorf("%q passed as %s", in, u)
			continue
		}
		if e := cutroom.AsError(err); e.Code != cutroom.Invalid || e.Hint == "" {
			t.Errorf("%q: %v is not an invalid error with a hint", in, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("https://example.com/a")
	f.Add("http://0x7f.1/")
	f.Fuzz(func(t *testing.T, in string) {
		u, err := ParseAddress(in)
		if err != nil {
			return
		}
		again, err := ParseAddress(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("%q became %q, which became %v (%v)", in, u, again, err)
		}
	})
}
