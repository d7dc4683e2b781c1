package provider

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cutroom"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"http://127.0.0.1:8080/v1/audio/transcriptions", "http://[::1]:1/x", "https://localhost/x", "http://LOCALHOST/x", "http://127.9.9.9/x"} {
		if err := (Speech{URL: u}).Check(); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
	for u, code := range map[string]cutroom.Code{
		"https://api.example.com/v1/audio/transcriptions": cutroom.Denied, "http://10.0.0.1/x": cutroom.Denied, "http://127.0.0.1.example.com/": cutroom.Denied,
		"http://localhost.evil.com/": cutroom.Denied, "http://0.0.0.0/": cutroom.Denied, "http://2130706433/": cutroom.Denied,
		"ftp://127.0.0.1/x": cutroom.Invalid, "": cutroom.Invalid, "http://u:p@127.0.0.1/": cutroom.Invalid,
	} {
		if err := (Speech{URL: u}).Check(); cutroom.AsError(err).Code != code {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestTranscribe(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		data, _ := io.ReadAll(file)
		if string(data) != "samples" || r.FormValue("model") != "m" || r.FormValue("language") != "es" || r.FormValue("response_format") != "verbose_json" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("got %q, %v, %v", data, r.Form, r.Header)
		}
		_, _ = io.WriteString(w, `{"segments":[]}`)
	}))
	defer srv.Close()
	answer, err := Speech{URL: srv.URL + "/v1/audio/transcriptions", Model: "m", Key: "k"}.Transcribe(t.Context(), strings.NewReader("samples"), "es-MX")
	if err != nil || string(answer) != `{"segments":[]}` {
		t.Errorf("%s, %v", answer, err)
	}
}

func TestTranscribeFails(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer close(stop)
	for path, code := range map[string]cutroom.Code{"/busy": cutroom.ToolFailed, "/away": cutroom.ToolFailed} {
		if _, err := (Speech{URL: srv.URL + path}).Transcribe(t.Context(), strings.NewReader("x"), ""); cutroom.AsError(err).Code != code {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (Speech{URL: srv.URL + "/slow"}).Transcribe(ctx, strings.NewReader("x"), ""); cutroom.AsError(err).Code != cutroom.Timeout {
		t.Errorf("a slow service: %v", err)
	}
	if _, err := (Speech{URL: "http://127.0.0.1:1/"}).Transcribe(t.Context(), strings.NewReader("x"), ""); cutroom.AsError(err).Code != cutroom.Unavailable {
		t.Errorf("no service: %v", err)
	}
}

// TestNothingLeavesTheMachine: a name that passes as text and resolves elsewhere is
// stopped when it is dialled.
func TestNothingLeavesTheMachine(t *testing.T) {
	t.Parallel()
	_, err := local().Get("http://192.0.2.1:9/")
	if err == nil || !strings.Contains(err.Error(), errElsewhere.Error()) {
		t.Errorf("%v", err)
	}
}
