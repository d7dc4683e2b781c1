package origin

import (
	"net/http"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	n := Names{"Media.example.com"}
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "::1": true, "media.EXAMPLE.com": true,
		"": false, "example.com": false, "evil.media.example.com": false, "media.example.com.evil": false,
	} {
		if n.Has(host) != want {
			t.Errorf("host %q: %v", host, !want)
		}
	}
	for text, want := range map[string]bool{
		"http://localhost:3000": true, "https://media.example.com": true,
		"": false, "null": false, "file://localhost": false, "http://evil.example": false, "http://localhost@evil.example": false,
	} {
		if n.Allow(http.Header{"Origin": {text}}) != want {
			t.Errorf("origin %q: %v", text, !want)
		}
	}
	if !n.Allow(http.Header{}) || n.Allow(http.Header{"Origin": {"http://localhost", "http://localhost"}}) {
		t.Error("none, or two")
	}
}
