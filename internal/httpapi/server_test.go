package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cutroom"
)

// holders are tokens and whose they are.
var holders = map[string]cutroom.Principal{
	"good": cutroom.Agent, "other": {Name: "ci", Role: cutroom.RoleAgent},
}

func verifyNames(_ context.Context, token, scope string) (cutroom.Principal, error) {
	if token == "broken" {
		return cutroom.Principal{}, cutroom.Errorf(cutroom.Unavailable, "the database is busy").WithCause(errors.New("inside"))
	}
	who, ok := holders[token]
	if !ok || scope != "echo" && token == "other" {
		return who, cutroom.Errorf(cutroom.Denied, "the bearer token is not valid here").WithHint("make one")
	}
	return who, nil
}

// echo says who called, what was sent, and which headers a door sees.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	who := Holder(r)
	fmt.Fprintf(w, "%s %s %d %q", who.Name, r.URL.Path, len(body), r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
}

func newServer(t *testing.T, o Options) *httptest.Server {
	t.Helper()
	o.Verify = verifyNames
	o.Doors = append(o.Doors, Door{Path: "/mcp", Scope: "echo", Handler: http.HandlerFunc(echo)}, Door{Path: "/v1/", Scope: "models", Handler: http.HandlerFunc(echo), ByKey: true})
	s := httptest.NewServer(New(o))
	t.Cleanup(s.Close)
	return s
}

// TestGuards: what a request has to be before a door sees it.
func TestGuards(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{Hosts: []string{"media.example.com"}, MaxBody: 1000})
	for _, row := range []struct {
		name, method, path, host, body string
		header                         [][2]string
		status                         int
		part                           string
	}{
		{"health needs no token", "GET", "/healthz", "", "", nil, 200, `{"status":"ok"}`},
		{"health is read", "POST", "/healthz", "", "", nil, 404, ""},
		{"no token", "POST", "/mcp", "", "x", nil, 401, "a bearer token is needed"},
		{"a token", "POST", "/mcp", "", "four", [][2]string{{"Authorization", "Bearer good"}}, 200, `agent /mcp 4 ""`},
		{"scheme in other letters", "POST", "/mcp", "", "", [][2]string{{"Authorization", "bEARER   good "}}, 200, "agent"},
		{"another principal", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer other"}}, 200, "ci /mcp"},
		{"not for this door", "GET", "/v1/models", "", "", [][2]string{{"Authorization", "Bearer other"}}, 401, "not valid here"},
		{"an unknown token", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer bad"}}, 401, "not valid here"},
		{"another scheme", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Basic good"}}, 401, "is needed"},
		{"two tokens", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer good"}, {"Authorization", "Bearer good"}}, 401, "is needed"},
		{"the token in the address", "POST", "/mcp?access_token=good", "", "", nil, 401, "is needed"},
		{"the token in a cookie", "POST", "/mcp", "", "", [][2]string{{"Cookie", "token=good"}}, 401, "is needed"},
		{"a key where models are", "GET", "/v1/models", "", "", [][2]string{{"X-Api-Key", "good"}}, 200, `agent /v1/models 0 ""`},
		{"a key where tools are", "POST", "/mcp", "", "", [][2]string{{"X-Api-Key", "good"}}, 401, "is needed"},
		{"two keys", "GET", "/v1/models", "", "", [][2]string{{"X-Api-Key", "good"}, {"X-Api-Key", "good"}}, 401, "is needed"},
		{"a bad token and a good key", "GET", "/v1/models", "", "", [][2]string{{"Authorization", "Bearer bad"}, {"X-Api-Key", "good"}}, 401, "not valid"},
		{"a database at fault", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer broken"}}, 503, "the database is busy"},
		{"a host of our own", "GET", "/healthz", "media.example.com", "", nil, 200, "ok"},
		{"in other letters", "GET", "/healthz", "MEDIA.example.com:7788", "", nil, 200, "ok"},
		{"localhost", "GET", "/healthz", "localhost:1", "", nil, 200, "ok"},
		{"this machine by IPv6", "GET", "/healthz", "[::1]:7788", "", nil, 200, "ok"},
		{"a name that resolves to this machine", "GET", "/healthz", "evil.example.com", "", nil, 403, "this host name"},
		{"a name that begins alike", "GET", "/healthz", "localhost.evil.example.com", "", nil, 403, "this host name"},
		{"an address of a network", "GET", "/healthz", "192.168.0.7:7788", "", nil, 403, "this host name"},
		{"a page of this machine", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer good"}, {"Origin", "http://localhost:3000"}}, 200, "agent"},
		{"a page elsewhere", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer good"}, {"Origin", "https://evil.example.com"}}, 403, "this origin"},
		{"a page of nowhere", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer good"}, {"Origin", "null"}}, 403, "this origin"},
		{"two origins", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer good"}, {"Origin", "http://localhost"}, {"Origin", "http://localhost"}}, 403, "this origin"},
		{"an origin of another scheme", "POST", "/mcp", "", "", [][2]string{{"Authorization", "Bearer good"}, {"Origin", "file://localhost"}}, 403, "this origin"},
		{"as much as there may be", "POST", "/mcp", "", strings.Repeat("x", 1000), [][2]string{{"Authorization", "Bearer good"}}, 200, "agent /mcp 1000"},
		{"one byte more", "POST", "/mcp", "", strings.Repeat("x", 1001), [][2]string{{"Authorization", "Bearer good"}}, 413, "at most"},
		{"nothing there", "GET", "/", "", "", [][2]string{{"Authorization", "Bearer good"}}, 404, "nothing is served"},
		{"beside a door", "GET", "/mcp/x", "", "", [][2]string{{"Authorization", "Bearer good"}}, 404, "nothing is served"},
		{"up from a door", "GET", "/v1/../healthz", "", "", nil, 200, "ok"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), row.method, s.URL+row.path, strings.NewReader(row.body))
		if err != nil {
			t.Fatal(err)
		}
		if row.host != "" {
			req.Host = row.host
		}
		for _, h := range row.header {
			req.Header.Add(h[0], h[1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != row.status || !strings.Contains(string(text), row.part) {
			t.Errorf("%s: %d %s, %v", row.name, res.StatusCode, text, err)
		}
		if (res.StatusCode == 401) != (res.Header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: WWW-Authenticate %q", row.name, res.Header.Get("WWW-Authenticate"))
		}
		if strings.Contains(string(text), "inside") || res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s, %v", row.name, text, res.Header)
		}
		if res.StatusCode >= 400 {
			checkProblem(t, row.name, res, text)
		}
	}
}

// checkProblem: a failure reads as a problem document and as the errors of both APIs.
func checkProblem(t *testing.T, name string, res *http.Response, text []byte) {
	t.Helper()
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
		Error                     struct{ Message, Type, Code string }
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Errorf("%s: %v in %s", name, err, text)
		return
	}
	if p.Type != "error" || p.Status != res.StatusCode || p.Title == "" || p.Detail == "" || p.Code == "" || !strings.HasPrefix(p.Error.Message, p.Detail) || !strings.HasSuffix(p.Error.Type, "_error") && p.Error.Type != "request_too_large" {
		t.Errorf("%s: %s", name, text)
	}
	if kind := res.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("%s: %s", name, kind)
	}
}

// TestTooLargeWithoutALength: a body whose length nobody said is cut off all the same.
func TestTooLargeWithoutALength(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{MaxBody: 1000})
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/mcp", io.MultiReader(strings.NewReader(strings.Repeat("x", 900)), strings.NewReader(strings.Repeat("x", 900))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer good")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == 200 {
		t.Error("it was read whole")
	}
}

// TestStandingStill: a client that stops sending, or stops reading, is given up; one that
// is slow and moves is not.
func TestStandingStill(t *testing.T) {
	t.Parallel()
	const still = 300 * time.Millisecond
	ended := make(chan error, 1)
	s := newServer(t, Options{ReadTime: still, WriteTime: still, Doors: []Door{{Path: "/flood", Scope: "echo", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for {
			if _, err := w.Write(piece); err != nil {
				ended <- err
				return
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				ended <- err
				return
			}
		}
	})}}})
	dial := func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\nContent-Length: 10\r\n\r\n"
	stalled := dial()
	fmt.Fprint(stalled, head+"12345")
	res, err := http.ReadResponse(bufio.NewReader(stalled), nil)
	if err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("%+v, %v", res, err)
	}
	slow := dial()
	fmt.Fprint(slow, head)
	for i := range 10 {
		<-time.After(still / 6)
		fmt.Fprint(slow, i)
	}
	res, err = http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%+v, %v", res, err)
	}
	deaf := dial()
	fmt.Fprint(deaf, "GET /flood HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\n\r\n")
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "timeout") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("who does not read is waited for")
	}
	// A door that thinks for longer than a client may stand still is not cut off.
	thinking := dial()
	fmt.Fprint(thinking, head+"1234567890")
	res, err = http.ReadResponse(bufio.NewReader(thinking), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%+v, %v", res, err)
	}
}

// FuzzRequest: whatever a client sends, no door is reached without a token, and the
// server goes on.
func FuzzRequest(f *testing.F) {
	f.Add("GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
	f.Add("GET //v1/x HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: bad\r\n\r\n")
	f.Add("OPTIONS * HTTP/1.0\r\n\r\n")
	f.Add("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	h := New(Options{
		Verify: func(context.Context, string, string) (cutroom.Principal, error) {
			return cutroom.Principal{}, cutroom.Errorf(cutroom.Denied, "no")
		},
		Doors: []Door{{Path: "/mcp", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a door was reached") })}, {Path: "/v1/", ByKey: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a door was reached") })}},
	})
	f.Fuzz(func(t *testing.T, text string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusOK && r.URL.Path != "/healthz" {
			t.Errorf("%q is served: %s", text, w.Body)
		}
	})
}
