package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/httpapi"
)

const token = "the-token-of-the-test"

// door is an endpoint that a test calls without a network.
type door struct {
	t *testing.T
	h http.Handler
}

func open(t *testing.T, s *mcp.Server, o HTTPOptions) *door {
	t.Helper()
	o.Token = token
	h, err := HTTP(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return &door{t, h}
}

// request is one of a client that does everything right, changed by changes.
func request(method, body string, changes ...func(*http.Request)) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1:8765/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	for _, c := range changes {
		c(r)
	}
	return r
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func (d *door) do(method, body string, changes ...func(*http.Request)) *http.Response {
	d.t.Helper()
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, request(method, body, changes...))
	return w.Result()
}

// said is the JSON-RPC message of a response, bare or as the last event of a stream.
func (d *door) said(r *http.Response) answer {
	d.t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	text := string(body)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		_, text, _ = strings.Cut(text, "data: ")
	}
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		d.t.Fatalf("%v: %d %q", err, r.StatusCode, body)
	}
	return a
}

// begin opens a session of a version and returns its header; the handshake is complete
// when ready is set.
func (d *door) begin(version string, ready bool) func(*http.Request) {
	d.t.Helper()
	lines := strings.Split(fmt.Sprintf(handshake, version), "\n")
	r := d.do("POST", lines[0])
	if a := d.said(r); a.Error != nil {
		d.t.Fatal(a.Error.Message)
	}
	id := header(sessionHeader, r.Header.Get(sessionHeader))
	if ready {
		if r := d.do("POST", lines[1], id); r.StatusCode != http.StatusAccepted {
			d.t.Fatal(r.Status)
		}
	}
	return id
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	d := open(t, testServer(), HTTPOptions{Hosts: []string{"cut.example"}})
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for _, row := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"all right", host("127.0.0.1:8765"), 200},
		{"localhost", host("LocalHost:1"), 200},
		{"IPv6", host("[::1]:8765"), 200},
		{"IPv6 without port", host("[::1]"), 200},
		{"configured", host("CUT.example:443"), 200},
		{"rebound name", host("evil.example:8765"), 403},
		{"name that begins well", host("localhost.evil.example"), 403},
		{"number that begins well", host("127.0.0.1.evil.example"), 403},
		{"any address", host("0.0.0.0:8765"), 403},
		{"no host", host(""), 403},
		{"own origin", header("Origin", "http://127.0.0.1:8765"), 200},
		{"another port of this machine", header("Origin", "http://localhost:3000"), 200},
		{"configured origin", header("Origin", "https://cut.example"), 200},
		{"foreign origin", header("Origin", "https://evil.example"), 403},
		{"opaque origin", header("Origin", "null"), 403},
		{"empty origin", header("Origin", ""), 403},
		{"two origins", header("Origin", "http://localhost", "https://evil.example"), 403},
		{"a file", header("Origin", "file://localhost/x"), 403},
		{"user part", header("Origin", "http://localhost@evil.example"), 403},
		{"no token", header("Authorization"), 401},
		{"wrong token", header("Authorization", "Bearer "+token+"x"), 401},
		{"half a token", header("Authorization", "Bearer "+token[:5]), 401},
		{"empty token", header("Authorization", "Bearer "), 401},
		{"another scheme", header("Authorization", "Basic "+token), 401},
		{"two tokens", header("Authorization", "Bearer x", "Bearer "+token), 401},
		{"scheme in other letters", header("Authorization", "bearer  "+token), 200},
		{"wrong content type", header("Content-Type", "text/plain"), 415},
		{"content type with a set", header("Content-Type", "application/json; charset=utf-8"), 200},
		{"accepts JSON only", header("Accept", "application/json"), 406},
		{"accepts all", header("Accept", "*/*"), 200},
	} {
		r := d.do("POST", ping, row.change)
		if r.StatusCode != row.want {
			t.Errorf("%s: %s, want %d", row.name, r.Status, row.want)
		}
		if challenged := strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer"); challenged != (row.want == 401) {
			t.Errorf("%s: WWW-Authenticate %q", row.name, r.Header.Get("WWW-Authenticate"))
		}
	}
	if _, err := HTTP(testServer(), HTTPOptions{}); err == nil {
		t.Error("an endpoint without a token")
	}
}

func TestASessionIsOfItsToken(t *testing.T) {
	t.Parallel()
	d := open(t, testServer(), HTTPOptions{})
	id := d.begin("2025-11-25", true)
	if r := d.do("POST", ping, id, header("Authorization", "Bearer other")); r.StatusCode != 401 {
		t.Error(r.Status)
	}
	if r := d.do("DELETE", "", id, header("Authorization", "Bearer other")); r.StatusCode != 401 {
		t.Error(r.Status)
	}
	other := open(t, testServer(), HTTPOptions{})
	if r := other.do("POST", ping, id); r.StatusCode != 404 {
		t.Errorf("the session of another endpoint: %s", r.Status)
	}
	if r := d.do("POST", ping, id); r.StatusCode != 200 {
		t.Error(r.Status)
	}
}

func TestBadMessagesOverHTTP(t *testing.T) {
	t.Parallel()
	d := open(t, testServer(), HTTPOptions{MaxIn: 100_000})
	id := d.begin("2025-11-25", true)
	modern := header(versionHeader, "2026-07-28")
	for _, row := range []struct {
		name, body   string
		status, code int
		id           string
	}{
		{"no JSON", `hello`, 400, -32700, "null"},
		{"empty", ``, 400, -32700, "null"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", 400, -32700, "null"},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 10_000) + `}}`, 400, -32600, "1"},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, 400, -32600, "null"},
		{"id that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, -32600, "null"},
		{"id with a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, -32600, "1.5"},
		{"id beyond exact", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 400, -32600, "9007199254740993"},
		{"batch", `[` + ping + `]`, 400, -32600, "null"},
		{"empty batch", `[]`, 400, -32600, "null"},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, -32600, "1"},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 100_000) + `"}`, 413, -32600, "null"},
	} {
		for era, change := range map[string]func(*http.Request){"session": id, "stateless": modern} {
			r := d.do("POST", row.body, change)
			if a := d.said(r); r.StatusCode != row.status || a.Error == nil || a.Error.Code != row.code || string(a.ID) != row.id {
				t.Errorf("%s, %s: %s %s %+v", row.name, era, r.Status, a.ID, a.Error)
			}
		}
	}
	for _, row := range []struct {
		name, body   string
		status, code int
	}{
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, 200, -32601},
		{"wrong params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["secret"]}}`, 200, -32602},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 400, -32600},
		{"initialize again", strings.Split(fmt.Sprintf(handshake, "2025-11-25"), "\n")[0], 400, -32600},
		{"a notification with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, 400, -32600},
	} {
		r := d.do("POST", row.body, id)
		if a := d.said(r); r.StatusCode != row.status || a.Error == nil || a.Error.Code != row.code || strings.Contains(a.Error.Message, "secret") {
			t.Errorf("%s: %s %s %+v", row.name, r.Status, a.ID, a.Error)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
	} {
		if r := d.do("POST", body, id); r.StatusCode != http.StatusAccepted && r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", body, r.Status)
		}
	}
	if a := d.said(d.do("POST", ping, id)); a.Error != nil {
		t.Errorf("afterwards: %+v", a.Error)
	}
}

// TestHostileMessagesOverHTTP sends what the test of standard input does.
func TestHostileMessagesOverHTTP(t *testing.T) {
	t.Parallel()
	d := open(t, testServer(), HTTPOptions{MaxIn: hostileMaxIn})
	id := d.begin("2025-11-25", true)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 8 * len(hostiles) {
		h := hostiles[i%len(hostiles)](r, 1000+i)
		res := d.do("POST", h.text, id)
		if res.StatusCode == http.StatusAccepted {
			continue // a notification, or an answer
		}
		if a := d.said(res); a.Error == nil && h.code != 0 && h.id != "?" {
			t.Errorf("%.200q: %s %+v", h.text, res.Status, a)
		}
	}
	if a := d.said(d.do("POST", ping, id)); a.Error != nil {
		t.Errorf("afterwards: %+v", a.Error)
	}
}

// TestTheHandshakeOverHTTP runs in a bubble whose clock moves only when all wait.
func TestTheHandshakeOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, testServer(), HTTPOptions{SessionTimeout: time.Hour})
		const list = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
		if a := d.said(d.do("POST", ping)); a.Error != nil || string(a.ID) != "1" {
			t.Errorf("ping without a session: %+v", a.Error)
		}
		r := d.do("POST", list)
		if a := d.said(r); r.StatusCode != 400 || a.Error == nil || a.Error.Code != notInitialized || string(a.ID) != "7" {
			t.Errorf("without a session: %s %+v", r.Status, a.Error)
		}
		id := d.begin("2025-11-25", false)
		if a := d.said(d.do("POST", ping, id)); a.Error != nil {
			t.Errorf("ping before the handshake: %+v", a.Error)
		}
		start := time.Now()
		if a := d.said(d.do("POST", list, id)); a.Error == nil || a.Error.Code != notInitialized || a.Error.Message != "Server is not initialized" || time.Since(start) != burst {
			t.Errorf("before the handshake: %+v after %s", a.Error, time.Since(start))
		}
		// A host sends both at once, and the request arrives first.
		listed := make(chan answer)
		go func() { listed <- d.said(d.do("POST", list, id)) }()
		synctest.Wait()
		if r := d.do("POST", strings.Split(handshake, "\n")[1], id); r.StatusCode != http.StatusAccepted {
			t.Error(r.Status)
		}
		if a := <-listed; a.Error != nil {
			t.Errorf("in one burst: %+v", a.Error)
		}
		// An hour without a request ends it; a call is one for as long as it takes.
		ctx, hangUp := context.WithCancel(t.Context())
		go d.do("POST", fmt.Sprintf(call, "8", "wait"), id, func(r *http.Request) { *r = *r.WithContext(ctx) })
		<-time.After(3 * time.Hour)
		if r := d.do("POST", ping, id); r.StatusCode != 200 {
			t.Errorf("while a call runs: %s", r.Status)
		}
		hangUp()
		<-time.After(59 * time.Minute)
		if r := d.do("POST", ping, id); r.StatusCode != 200 {
			t.Errorf("after 59 minutes: %s", r.Status)
		}
		<-time.After(61 * time.Minute)
		if r := d.do("POST", ping, id); r.StatusCode != 404 {
			t.Errorf("after 61 minutes: %s", r.Status)
		}
	}) // the bubble fails when a goroutine of the session is left, or the call of it
}

func TestTheEndOfASessionCancelsItsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan time.Time, 1)
		d := open(t, stubborn(time.Minute, nil, cancelled), HTTPOptions{})
		id := d.begin("2025-06-18", true)
		called, streamed := make(chan *http.Response, 1), make(chan *http.Response, 1)
		go func() { called <- d.do("POST", fmt.Sprintf(call, "1", "stubborn"), id) }()
		go func() { streamed <- d.do("GET", "", id) }()
		synctest.Wait()
		start := time.Now()
		if r := d.do("DELETE", "", id); r.StatusCode != http.StatusNoContent {
			t.Error(r.Status)
		}
		if at := (<-cancelled).Sub(start); at != 0 {
			t.Errorf("cancelled after %s", at)
		}
		<-called
		<-streamed
		for method, body := range map[string]string{"POST": ping, "GET": "", "DELETE": ""} {
			if r := d.do(method, body, id); r.StatusCode != 404 {
				t.Errorf("%s afterwards: %s", method, r.Status)
			}
		}
	})
}

func TestBatchesOverHTTP(t *testing.T) {
	t.Parallel()
	d := open(t, testServer(), HTTPOptions{})
	id := d.begin("2025-03-26", true)
	r := d.do("POST", `[`+ping+`,{"jsonrpc":"2.0","id":2,"method":"ping"}]`, id)
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), `"id":1`) || !strings.Contains(string(body), `"id":2`) {
		t.Errorf("%s %s %v", r.Status, body, err)
	}
}

func TestMethodsOfTheEras(t *testing.T) {
	t.Parallel()
	d := open(t, testServer(), HTTPOptions{})
	modern := header(versionHeader, "2026-07-28")
	for _, row := range []struct {
		method string
		change func(*http.Request)
		want   int
		allow  string
	}{
		{"GET", modern, 405, "POST"},
		{"DELETE", modern, 405, "POST"},
		{"PUT", header("X"), 405, "GET, POST, DELETE"},
		{"GET", header("X"), 400, ""},
		{"DELETE", header("X"), 400, ""},
		{"GET", header(sessionHeader, "nonesuch"), 404, ""},
		{"POST", header(versionHeader, "1999-01-01"), 400, ""},
	} {
		if r := d.do(row.method, ping, row.change); r.StatusCode != row.want || r.Header.Get("Allow") != row.allow {
			t.Errorf("%s: %s, Allow %q", row.method, r.Status, r.Header.Get("Allow"))
		}
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	r := d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},`+meta+`}}`,
		modern, header("Mcp-Method", "tools/call"), header("Mcp-Name", "echo"))
	if a := d.said(r); a.Error != nil || r.Header.Get(sessionHeader) != "" {
		t.Errorf("stateless call: %s %+v", r.Status, a.Error)
	}
	r = d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`)
	if a := d.said(r); r.StatusCode != 400 || a.Error == nil {
		t.Errorf("stateless without its header: %s %+v", r.Status, a)
	}
}

// serveAt serves a handler as the command does.
func serveAt(ctx context.Context, h http.Handler, address chan<- net.Addr) error {
	life := NewLifetime(ctx)
	return httpapi.Listen(ctx, httpapi.ListenOptions{
		Addr: "127.0.0.1:0", Handler: h, Ready: func(a net.Addr) { address <- a },
		Base: func(context.Context) context.Context { return life.With(ctx) }, After: life.Wait,
	})
}

// TestListenEndsInOrder stops a server that has a call, a stream and an idle client.
func TestListenEndsInOrder(t *testing.T) {
	t.Parallel()
	began, cancelled := make(chan struct{}, 1), make(chan time.Time, 1)
	h, err := HTTP(stubborn(0, began, cancelled), HTTPOptions{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- serveAt(ctx, h, address) }()
	url := "http://" + (<-address).String() + "/"
	send := func(method, body, session string) *http.Response {
		r := request(method, body, header(sessionHeader, session))
		out, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		out.Header = r.Header
		if session == "" {
			out.Header.Del(sessionHeader)
		}
		res, err := http.DefaultClient.Do(out)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	lines := strings.Split(fmt.Sprintf(handshake, "2025-11-25"), "\n")
	session := send("POST", lines[0], "").Header.Get(sessionHeader)
	send("POST", lines[1], session)
	stream := send("GET", "", session)
	if first, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || first != ": ok\n" {
		t.Errorf("%q, %v", first, err)
	}
	called := make(chan struct{})
	go func() {
		defer close(called)
		r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(fmt.Sprintf(call, "1", "stubborn")))
		if err != nil {
			return
		}
		r.Header = request("POST", "", header(sessionHeader, session)).Header
		if res, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	select {
	case <-began:
	case <-time.After(20 * time.Second):
		t.Fatal("the call does not begin")
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(stopGrace + 20*time.Second):
		t.Fatal("the server does not end")
	}
	select {
	case <-cancelled:
	default:
		t.Error("the call was not cancelled")
	}
	<-called
}
