package cutroom

import "testing"

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "LocalHost": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "::1%lo": false, "localhost.": false, "localhost.example.com": false, "127.0.0.1.nip.io": false, "2130706433": false, "127.1": false, "192.168.0.1": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
		if d := Dialled(host); want && !Loopback(d) || d == "localhost" {
			t.Errorf("%q is dialled as %q", host, d)
		}
	}
}
