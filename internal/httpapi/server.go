package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/origin"
)

// Options are the parts a server is made of.
type Options struct {
	// Verify returns whose token a text is, for the door of a scope; its errors are for the
	// caller.
	Verify func(ctx context.Context, token, scope string) (cutroom.Principal, error)
	// Doors are what stands behind: each serves one path, or all beneath it when the path
	// ends in a slash.
	Doors   []Door
	Hosts   origin.Names // names that the server is reached by, besides those of this machine
	MaxBody int64        // bytes of a request; 0 is 64 MiB
	// How long a request and an answer may stand still; 0 is half a minute and a minute.
	// Both may take as long as they have to while they move.
	ReadTime, WriteTime time.Duration
	Log                 *slog.Logger
}

// Door is one handler.
type Door struct {
	Path    string
	Scope   string // of the tokens that open it
	Handler http.Handler
	// ByKey lets X-Api-Key carry the token, too, as some clients of models send theirs.
	ByKey bool
}

const maxBody = 64 << 20

// server checks every request before a door sees it.
type server struct {
	Options
	mux *http.ServeMux
}

// New returns the handler of a server.
func New(o Options) http.Handler {
	if o.MaxBody <= 0 {
		o.MaxBody = maxBody
	}
	o.ReadTime, o.WriteTime = cmp.Or(o.ReadTime, 30*time.Second), cmp.Or(o.WriteTime, time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{Options: o, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /healthz", health)
	for _, d := range o.Doors {
		s.mux.Handle(d.Path, s.guarded(d))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, cutroom.Errorf(cutroom.NotFound, "nothing is served at this path"))
	})
	return s
}

// ServeHTTP serves one request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	p := s.patient(w, r)
	defer p.done()
	switch {
	case !s.Hosts.Has(hostOf(r.Host)):
		s.refuse(w, r, cutroom.Errorf(cutroom.Denied, "this host name is not served here").WithHint("--host of `cutroom serve` adds one"))
	case !s.Hosts.Allow(r.Header):
		s.refuse(w, r, cutroom.Errorf(cutroom.Denied, "requests from this origin are refused"))
	case r.ContentLength > s.MaxBody:
		w.Header().Set("Connection", "close") // rather than read it all
		s.refuse(w, r, tooLarge(s.MaxBody))
	default:
		s.mux.ServeHTTP(p, r)
	}
}

func tooLarge(most int64) error {
	return cutroom.Errorf(cutroom.Limit, "a request has at most %s", cutroom.Bytes(most)).WithHint("send less at once; a file of the workspace can be named by its path")
}

// health answers whoever watches over the server. It says nothing of the inside.
func health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // who is gone reads nothing
}

// hostOf is the name in a Host header.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

// guarded is a door that a token opens.
func (s *server) guarded(d Door) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.holder(r, d)
		if err != nil {
			if cutroom.AsError(err).Code == cutroom.Denied {
				w.Header().Set("WWW-Authenticate", `Bearer realm="cutroom"`)
			}
			s.refuse(w, r, err)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), holderKey{}, who))
		r.Header.Del("Authorization")
		r.Header.Del("X-Api-Key")
		d.Handler.ServeHTTP(w, r)
	})
}

// errNoToken is the answer to a request without a token.
func errNoToken() error {
	return cutroom.Errorf(cutroom.Denied, "a bearer token is needed").WithHint("`cutroom token create` makes one; send it as Authorization: Bearer TOKEN")
}

// holder is whose token a request carries.
func (s *server) holder(r *http.Request, d Door) (cutroom.Principal, error) {
	given, keys := r.Header.Values("Authorization"), r.Header.Values("X-Api-Key")
	token := ""
	switch {
	case len(given) == 1:
		scheme, rest, _ := strings.Cut(given[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return cutroom.Principal{}, errNoToken()
		}
		token = strings.TrimSpace(rest)
	case d.ByKey && len(given) == 0 && len(keys) == 1:
		token = strings.TrimSpace(keys[0])
	}
	if token == "" {
		return cutroom.Principal{}, errNoToken()
	}
	return s.Verify(r.Context(), token, d.Scope)
}

type holderKey struct{}

// Holder is whose token opened the door to a request; the zero principal, which may
// nothing, of one that came by no guarded door.
func Holder(r *http.Request) cutroom.Principal {
	who, _ := r.Context().Value(holderKey{}).(cutroom.Principal)
	return who
}

// problem is a failure in the form of RFC 9457, with the members that clients of models
// look for.
type problem struct {
	Type   string `json:"type"` // "error": Anthropic's clients look for it
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Hint   string `json:"hint,omitempty"`
	Error  struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	} `json:"error"`
}

// refuse answers an error. What is denied for the want of a token is unauthorized.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := cutroom.AsError(err)
	f := e.Code.Facts()
	status, kind := f.HTTP, "invalid_request_error"
	switch {
	case w.Header().Get("WWW-Authenticate") != "":
		status, kind = http.StatusUnauthorized, "authentication_error"
	case e.Code == cutroom.Denied:
		kind = "permission_error"
	case e.Code == cutroom.NotFound:
		kind = "not_found_error"
	case e.Code == cutroom.Limit:
		status, kind = http.StatusRequestEntityTooLarge, "request_too_large"
	case status >= http.StatusInternalServerError:
		kind = "api_error"
		s.Log.Error("http", "path", r.URL.Path, "cause", err)
	}
	p := problem{Type: "error", Title: http.StatusText(status), Status: status, Detail: e.Msg, Code: string(e.Code), Hint: e.Hint}
	p.Error.Message, p.Error.Type, p.Error.Code = e.Msg, kind, string(e.Code)
	if e.Hint != "" {
		p.Error.Message += " (" + e.Hint + ")"
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(p) // who is gone reads nothing
	}
}
