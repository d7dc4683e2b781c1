package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cutroom"
)

// forward takes one request to its upstream, at path beneath the upstream's base address.
func (g *Gateway) forward(rw http.ResponseWriter, r *http.Request, w wire, path string) {
	doc, err := g.body(rw, r)
	if err != nil {
		g.fail(rw, w, err)
		return
	}
	req, err := w.read(doc)
	if err != nil {
		g.fail(rw, w, err)
		return
	}
	c, err := g.choose(r.Context(), w, req.name)
	if err != nil {
		g.fail(rw, w, err)
		return
	}
	to, keys, err := c.target(path)
	if err != nil {
		g.fail(rw, w, err)
		return
	}
	if req.name != c.Model {
		doc = g.rewrite(r.Context(), g.Principal(r), w, req, c)
	}
	if r.Context().Err() != nil {
		return
	}
	g.proxy(w, to, keys, doc).ServeHTTP(rw, r)
}

// body reads a request whole.
func (g *Gateway) body(rw http.ResponseWriter, r *http.Request) ([]byte, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, cutroom.Errorf(cutroom.Invalid, "the body is compressed").WithHint("send it as it is")
	}
	doc, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, g.MaxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, cutroom.Errorf(cutroom.Limit, "the body has more than %s", cutroom.Bytes(g.MaxBody)).WithHint("name large media by their path in the workspace")
	}
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "the body did not arrive whole").WithCause(err)
	}
	return doc, nil
}

// target is where requests to the upstream go, and with which keys.
func (u Upstream) target(path string) (*url.URL, []string, error) {
	to, err := url.Parse(strings.TrimRight(u.BaseURL, "/") + path)
	if err != nil || to.Host == "" {
		return nil, nil, cutroom.Errorf(cutroom.Unavailable, "the address of the model %q is not one", short(u.Model)).WithHint("`cutroom config check` names the line")
	}
	if u.Keys == nil {
		return to, nil, nil
	}
	keys, err := u.Keys()
	if err != nil {
		return nil, nil, err
	}
	return to, keys, nil
}

// rewrite puts evidence in the place of the media that the upstream cannot take in, and
// the upstream's own name in the place of ours.
func (g *Gateway) rewrite(ctx context.Context, who cutroom.Principal, w wire, req request, c chosen) []byte {
	edits := []edit{{req.model, quoted(c.Model)}}
	blocks, err := w.media(req)
	if err != nil {
		g.Log.Warn("gateway: a request of unknown form goes on as it is", "cause", err)
	}
	return apply(req.doc, append(edits, g.reader.replace(ctx, who, blocks, c.lacks)...))
}

// transport reaches upstreams directly: a proxy of the environment would see the keys.
func transport() http.RoundTripper {
	dialer := net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second, ExpectContinueTimeout: time.Second, DisableCompression: true,
	}
}

// private are headers that end here: they speak of this door and whoever stands before it.
var private = []string{"Authorization", "X-Api-Key", "Cookie", "Origin", "Referer", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// proxy sends one body and passes the answer on as it comes.
func (g *Gateway) proxy(w wire, to *url.URL, keys []string, doc []byte) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			to.RawQuery = p.In.URL.RawQuery
			p.Out.URL, p.Out.Host = to, to.Host
			for _, name := range private {
				p.Out.Header.Del(name)
			}
			p.Out.Header.Set("Content-Length", strconv.Itoa(len(doc)))
			p.Out.ContentLength = int64(len(doc))
			p.Out.Body = io.NopCloser(bytes.NewReader(doc))
			p.Out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(doc)), nil }
		},
		Transport:      keyring{g.Transport, w, keys},
		FlushInterval:  -1,
		ModifyResponse: func(res *http.Response) error { return clean(res, keys) },
		ErrorHandler: func(rw http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				g.fail(rw, w, cutroom.Errorf(cutroom.Unavailable, "the model's service does not answer").WithCause(err).WithHint("try again; `cutroom config show` says where it is"))
			}
		},
		ErrorLog: log.New(io.Discard, "", 0), // what it would say holds addresses
	}
}

// keyring sends a request with one key after another, as long as they are refused for
// their own sake.
type keyring struct {
	http.RoundTripper
	wire wire
	keys []string
}

// RoundTrip sends a request.
func (k keyring) RoundTrip(r *http.Request) (*http.Response, error) {
	for i := 0; ; i++ {
		if i < len(k.keys) {
			if k.wire.path == messages.path {
				r.Header.Set("X-Api-Key", k.keys[i])
			} else {
				r.Header.Set("Authorization", "Bearer "+k.keys[i])
			}
		}
		res, err := k.RoundTripper.RoundTrip(r)
		if err != nil || i+1 >= len(k.keys) || !refusesKey(res.StatusCode) {
			return res, err
		}
		res.Body.Close()
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
}

func refusesKey(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusTooManyRequests
}

// maxFault bounds how much of an error's text is looked through for keys.
const maxFault = 1 << 20

// clean takes away what would say more of the upstream than its answer. Only errors are
// looked into, since services say a refused key back.
func clean(res *http.Response, keys []string) error {
	res.Header.Del("Set-Cookie")
	if res.StatusCode < http.StatusBadRequest || len(keys) == 0 {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxFault))
	if err != nil {
		return err
	}
	masked := head
	for _, k := range keys {
		if k != "" {
			masked = bytes.ReplaceAll(masked, []byte(k), bytes.Repeat([]byte("*"), len(k)))
		}
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(masked), res.Body), res.Body}
	return nil
}

func writeJSON(rw http.ResponseWriter, status int, doc any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(doc) // who is gone reads nothing
}
