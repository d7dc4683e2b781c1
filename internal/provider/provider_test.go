package provider_test

import (
	"errors"
	"testing"

	"cutroom/internal/provider"
)

func faultOf(t *testing.T, err error) *provider.Fault {
	t.Helper()
	f, ok := errors.AsType[*provider.Fault](err)
	if !ok {
		t.Fatalf("no fault: %v", err)
	}
	return f
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:1/v1": true, "http://[::1]/v1": true, "https://localhost/v1": true, "http://LocalHost:1/v1": true, "http://127.1.2.3": true,
		"http://localhost.example.com/v1": false, "http://a.localhost/v1": false, "http://127.0.0.1.nip.io/": false, "http://2130706433/": false, "http://0.0.0.0/": false,
		"http://[::ffff:127.0.0.1]/": true, "http://10.0.0.1/": false, "": false, "http://127.0.0.1@evil.com/": false,
	} {
		if got := (provider.Endpoint{BaseURL: address}).Loopback(); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
