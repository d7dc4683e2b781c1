package main_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/persontest"
	"cutroom/internal/testenv"
)

// served is a server in a process of its own.
type served struct {
	cmd     *exec.Cmd
	address string // scheme, host and port
	said    sync.WaitGroup
	errors  bytes.Buffer
}

var servingAt = regexp.MustCompile(`serving (https?://\S+) `)

// bare is an installation with a home of its own in which nothing is set up: the server
// needs no program.
func bare(t *testing.T) *installation {
	t.Helper()
	return &installation{bin: install(t).bin, home: filepath.Join(t.TempDir(), "home")}
}

// serveHTTP starts the server and waits until it says where it is.
func (i *installation) serveHTTP(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	s := &served{cmd: exec.CommandContext(t.Context(), i.bin, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)}
	s.cmd.Dir, s.cmd.Env = dir, i.environ()
	said, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	s.said.Go(func() {
		defer close(ready)
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			fmt.Fprintln(&s.errors, lines.Text())
			if m := servingAt.FindStringSubmatch(lines.Text()); m != nil {
				ready <- m[1]
			}
		}
	})
	if s.address = <-ready; s.address == "" {
		s.said.Wait()
		t.Fatalf("the server did not start: %v\n%s", s.cmd.Wait(), s.errors.Bytes())
	}
	return s
}

// stop ends the server as an operator does and returns what it said.
func (s *served) stop(t *testing.T) string {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.said.Wait()
	err := s.cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || e.ExitCode() != 0) {
		t.Errorf("the server ended with %v\n%s", err, s.errors.Bytes())
	}
	return s.errors.String()
}

// makeToken makes a token as the operator, who has no host above him.
func (i *installation) makeToken(t *testing.T, dir string, args ...string) (text, id string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	code, err := persontest.Orphan(dir, i.environ(), nil, out, out, append([]string{i.bin, "token", "create", "--json", "--quiet"}, args...)...)
	raw, readErr := os.ReadFile(out.Name())
	var made struct{ Token, ID string }
	if err := errors.Join(err, readErr, json.Unmarshal(raw, &made)); err != nil || code != "0" || made.Token == "" {
		t.Fatalf("code %s, %v: %s", code, err, raw)
	}
	return made.Token, made.ID
}

// withToken adds a bearer token to every request.
type withToken struct {
	http.RoundTripper
	token string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.RoundTripper.RoundTrip(r)
}

// TestServe: real clients over real HTTP, each as its token's principal, until the token
// is revoked or the server stops.
func TestServe(t *testing.T) {
	t.Parallel()
	i := bare(t)
	dir := t.TempDir()
	config := filepath.Join(i.home, "config", "cutroom.yaml")
	err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte("principals:\n  - {name: narrow, tools: [measure.probe]}\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	plain, id := i.makeToken(t, dir, "--scope", "mcp,gateway")
	narrow, _ := i.makeToken(t, dir, "--scope", "mcp", "--as", "narrow")
	s := i.serveHTTP(t, dir)
	list := func(token string) ([]string, error) {
		c := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.address + "/mcp", HTTPClient: &http.Client{Transport: withToken{http.DefaultTransport, token}}, MaxRetries: -1}, nil)
		if err != nil {
			return nil, err
		}
		defer session.Close()
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		return names, nil
	}
	all, err := list(plain)
	if err != nil || len(all) < 5 {
		t.Errorf("%v, %v", all, err)
	}
	if few, err := list(narrow); err != nil || strings.Join(few, " ") != "measure_probe" {
		t.Errorf("%v, %v", few, err)
	}
	status := func(method, path, token, host string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, s.address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if host != "" {
			req.Host = host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	for _, row := range []struct {
		method, path, token, host string
		want                      int
	}{
		{"GET", "/healthz", "", "", 200},
		{"GET", "/healthz", "", "evil.example.com", 403},
		{"POST", "/mcp", "", "", 401},
		{"POST", "/mcp", plain + "x", "", 401},
		{"GET", "/v1/models", narrow, "", 401},
		{"GET", "/nothing", plain, "", 404},
	} {
		if got := status(row.method, row.path, row.token, row.host); got != row.want {
			t.Errorf("%s %s: %d, want %d", row.method, row.path, got, row.want)
		}
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if code, err := persontest.Orphan(dir, i.environ(), nil, out, out, i.bin, "token", "revoke", id); err != nil || code != "0" {
		t.Fatal(code, err)
	}
	if _, err := list(plain); err == nil {
		t.Error("a revoked token opens a door")
	}
	if _, err := list(narrow); err != nil {
		t.Errorf("another token is gone, too: %v", err)
	}
	// Somebody listens, by both kinds of the protocol, when the server is told to stop.
	listens(t, s.address, narrow)
	began := time.Now()
	said := s.stop(t)
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("the server waited %v for who listens", took)
	}
	for _, secret := range []string{plain, narrow} {
		if strings.Contains(said, secret) {
			t.Errorf("a token was said: %s", said)
		}
	}
	// Nothing on the disk holds one.
	if found := grep(t, i.home, []byte(plain)); len(found) > 0 {
		t.Errorf("the token stands in %v", found)
	}
}

// listens opens streams that end with the server alone.
func listens(t *testing.T, address, token string) {
	t.Helper()
	client := &http.Client{Transport: withToken{http.DefaultTransport, token}}
	c := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: address + "/mcp", HTTPClient: client, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	open := func(method, version, sessionID, body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, address+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Content-Type", "application/json")
		for name, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Session-Id": sessionID} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if res.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(res.Body)
			t.Fatalf("%s: %d %s", method, res.StatusCode, text)
		}
		return res
	}
	res := open("POST", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal("no session")
	}
	open("GET", "2025-06-18", id, "")
}

// grep lists the files beneath a folder that hold a text.
func grep(t *testing.T, folder string, text []byte) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestServeTLS: another machine's address takes a certificate and a token, and then
// speaks TLS.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "openssl")
	i := bare(t)
	dir := t.TempDir()
	make := exec.CommandContext(t.Context(), "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem")
	make.Dir = dir
	if text, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	refused := exec.CommandContext(t.Context(), i.bin, "serve", "--addr", "0.0.0.0:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	refused.Dir, refused.Env = dir, i.environ()
	if text, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(text), "there is no token") {
		t.Fatalf("%v\n%s", err, text)
	}
	i.makeToken(t, dir, "--scope", "mcp")
	s := i.serveHTTP(t, dir, "--addr", "0.0.0.0:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--host", "media.example.com")
	pem, err := os.ReadFile(filepath.Join(dir, "cert.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}, Timeout: 20 * time.Second}
	_, port, _ := strings.Cut(strings.TrimPrefix(s.address, "https://"), "]:")
	for host, want := range map[string]int{"media.example.com": 200, "evil.example.com": 403, "": 200} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://localhost:"+port+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", host, res.StatusCode)
		}
	}
	s.stop(t)
}

// TestServeSeesChanges: a broken edit is said once and changes nothing.
func TestServeSeesChanges(t *testing.T) {
	t.Parallel()
	i := bare(t)
	dir := t.TempDir()
	token, _ := i.makeToken(t, dir, "--scope", "gateway")
	s := i.serveHTTP(t, dir)
	config := filepath.Join(i.home, "config", "cutroom.yaml")
	models := func() []string {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.address+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var list struct{ Data []struct{ ID string } }
		if err := json.NewDecoder(res.Body).Decode(&list); err != nil || res.StatusCode != 200 {
			t.Fatal(res.StatusCode, err)
		}
		ids := []string{}
		for _, m := range list.Data {
			ids = append(ids, m.ID)
		}
		return ids
	}
	write := func(text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(ids ...string) {
		t.Helper()
		if got := models(); strings.Join(got, " ") != strings.Join(ids, " ") {
			t.Errorf("%v, want %v", got, ids)
		}
	}
	want()
	write("models:\n  - {id: deepseek-chat, provider: mine, base_url: http://127.0.0.1:9/v1, modalities: [text]}\n")
	want("deepseek-chat")
	write("lens: {inject: {enabled: true, families: [\"\"]}}\nmodels:\n  - {id: deepseek-chat, provider: mine, base_url: http://127.0.0.1:9/v1, modalities: [text]}\n")
	want("deepseek-chat", "cutroom-vision-deepseek-chat")
	write("models: [{id: x]\n")
	want("deepseek-chat", "cutroom-vision-deepseek-chat")
	want("deepseek-chat", "cutroom-vision-deepseek-chat")
	write("# no models\n")
	want()
	if said := s.stop(t); strings.Count(said, "a config file changed and is wrong") != 1 {
		t.Errorf("said:\n%s", said)
	}
}
