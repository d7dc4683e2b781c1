package httpapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
)

// start serves a handler until the test ends; stop ends it before.
func start(t *testing.T, o ListenOptions) (address string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan net.Addr, 1)
	o.Ready = func(a net.Addr) { ready <- a }
	ended := make(chan error, 1)
	go func() { ended <- Listen(ctx, o) }()
	stop = func() error {
		cancel()
		err := <-ended
		ended <- err
		return err
	}
	t.Cleanup(func() { _ = stop() })
	select {
	case a := <-ready:
		return a.String(), stop
	case err := <-ended:
		t.Fatal(err)
		return "", nil
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]cutroom.Code{
		"127.0.0.1:0": "", "[::1]:0": "", "localhost:0": "",
		"0.0.0.0:0": cutroom.Denied, ":0": cutroom.Denied, "[::]:0": cutroom.Denied, "192.168.0.1:80": cutroom.Denied, "example.com:80": cutroom.Denied, "localhost.example.com:1": cutroom.Denied,
		"127.0.0.1": cutroom.Invalid, "": cutroom.Invalid,
	} {
		err := ListenOptions{Addr: addr}.Check()
		if e := cutroom.AsError(err); want == "" && err != nil || want != "" && (err == nil || e.Code != want || e.Hint == "") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if err := (ListenOptions{Addr: "127.0.0.1:0", Cert: "a"}).Check(); err == nil {
		t.Error("a certificate without a key")
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "[::]:0", "example.org:80"} {
		err := ListenOptions{Addr: addr, Local: true, Cert: "a", Key: "b"}.Check()
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Denied || strings.Contains(e.Hint, "tls") {
			t.Errorf("%s, for this machine: %v", addr, err)
		}
	}
	if !(ListenOptions{Addr: "0.0.0.0:1"}).Remote() || (ListenOptions{Addr: "127.0.0.1:1"}).Remote() {
		t.Error("who reaches an address")
	}
	taken, _ := start(t, ListenOptions{Addr: "127.0.0.1:0", Handler: http.NotFoundHandler()})
	if err := Listen(t.Context(), ListenOptions{Addr: taken, Handler: http.NotFoundHandler()}); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Conflict {
		t.Error(err)
	}
}

// selfSigned writes a certificate for localhost and returns whom to trust.
func selfSigned(t *testing.T, cert, key string, serial int64) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

// TestTLS: with a certificate all addresses are served, encrypted, and one that was
// renewed is shown to the next who connects.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := Listen(t.Context(), ListenOptions{Addr: "0.0.0.0:0", Cert: cert, Key: key}); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Invalid {
		t.Errorf("no certificate: %v", err)
	}
	pool := selfSigned(t, cert, key, 1)
	address, _ := start(t, ListenOptions{Addr: "0.0.0.0:0", Cert: cert, Key: key, Handler: New(Options{})})
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	get := func(pool *x509.CertPool, version uint16) (*http.Response, error) {
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: version}}} //nolint:gosec // an old version is what is tried
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://localhost:"+port+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(req)
		if err == nil {
			res.Body.Close()
		}
		return res, err
	}
	if res, err := get(pool, 0); err != nil || res.StatusCode != 200 || res.TLS.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := get(pool, tls.VersionTLS11); err == nil {
		t.Error("an old version of TLS is spoken")
	}
	renewed := selfSigned(t, cert, key, 2)
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(cert, later, later); err != nil {
		t.Fatal(err)
	}
	if res, err := get(renewed, 0); err != nil || res.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := os.WriteFile(cert, []byte("half a certif"), 0o600); err != nil { // it is being written
		t.Fatal(err)
	}
	if res, err := get(renewed, 0); err != nil || res.StatusCode != 200 {
		t.Errorf("%+v, %v", res, err)
	}
	// Plain HTTP gets nothing.
	if res, err := http.Get("http://localhost:" + port + "/healthz"); err == nil { //nolint:noctx // one request of a test
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode == 200 {
			t.Errorf("in plain text: %s", text)
		}
	}
}

// TestStop: what is at work ends by itself, and nothing new is taken.
func TestStop(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan struct{}), make(chan struct{})
	address, stop := start(t, ListenOptions{Addr: "127.0.0.1:0", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-finish
		if r.Context().Err() == nil {
			_, _ = io.WriteString(w, "whole")
		}
	})})
	answer := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + address) //nolint:noctx // one request of a test
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		answer <- string(text)
	}()
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for { // until nothing new is taken
		c, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		c.Close()
	}
	close(finish)
	if got := <-answer; got != "whole" {
		t.Error(got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestHostNames(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"a:1": "a", "a": "a", "[::1]:1": "::1", "[::1]": "::1", "a.": "a", "": "", ":1": ""} {
		if got := hostOf(host); got != want {
			t.Errorf("%q is %q", host, got)
		}
	}
}
