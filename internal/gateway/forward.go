package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/provider"
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
	e, err := c.Endpoint()
	if err != nil {
		g.fail(rw, w, err)
		return
	}
	if err := g.keep(&c, e, req); err != nil {
		g.fail(rw, w, err)
		return
	}
	if req.name != c.Model {
		doc = g.rewrite(r.Context(), g.Principal(r), req, c)
	}
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	a, err := g.Services.Pass(r.Context(), e, provider.Raw{Path: path, Body: doc, Kind: r.Header.Get("Content-Type"), Accept: r.Header.Get("Accept"), Header: passed(r.Header)})
	switch {
	case r.Context().Err() != nil: // nobody listens
	case err != nil:
		g.fail(rw, w, cutroom.Errorf(cutroom.Unavailable, "the model's service does not answer").WithCause(err).WithHint("try again; `cutroom config show` says where it is"))
	default:
		answer(rw, a)
	}
}

// ahead is how much room a request gets for what it says that it holds; past it, room
// grows with what arrives.
const ahead = 4 << 20

// body reads a request whole.
func (g *Gateway) body(rw http.ResponseWriter, r *http.Request) ([]byte, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, cutroom.Errorf(cutroom.Invalid, "the body is compressed").WithHint("send it as it is")
	}
	var doc bytes.Buffer
	if r.ContentLength > 0 {
		doc.Grow(int(min(r.ContentLength, ahead)) + bytes.MinRead)
	}
	_, err := doc.ReadFrom(http.MaxBytesReader(rw, r.Body, g.MaxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, cutroom.Errorf(cutroom.Limit, "the body has more than %s", cutroom.Bytes(g.MaxBody)).WithHint("name large media by their path in the workspace")
	}
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "the body did not arrive whole").WithCause(err)
	}
	return doc.Bytes(), nil
}

// rewrite puts evidence in the place of the media that the upstream cannot take in, and
// the upstream's own name in the place of ours.
func (g *Gateway) rewrite(ctx context.Context, who cutroom.Principal, req request, c chosen) []byte {
	edits := []edit{{req.model, quoted(c.Model)}}
	return apply(req.body, append(edits, g.reader.replace(ctx, who, req.blocks, c.lacks)...))
}

// own are headers that end here: those of one connection (RFC 9110, 7.6.1), those that
// speak of this door and whoever stands before it, and those that are written anew.
var own = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Authorization", "X-Api-Key", "Cookie", "Origin", "Referer", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip",
	"Accept", "Accept-Encoding", "Content-Type", "Content-Length", "Expect", "Host",
}

// passed are the headers of a request that its upstream sees.
func passed(h http.Header) http.Header {
	out := h.Clone()
	for _, list := range h.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range own {
		out.Del(name)
	}
	return out
}

// withheld are headers of an answer that are none of the client's.
var withheld = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Alt-Svc", "Strict-Transport-Security"}

// answer passes on what the upstream says, as it comes.
func answer(rw http.ResponseWriter, a *provider.Answer) {
	defer a.Body.Close()
	for name, values := range a.Header {
		if !slices.Contains(withheld, name) {
			rw.Header()[name] = values
		}
	}
	rw.WriteHeader(a.Status)
	control := http.NewResponseController(rw)
	piece := make([]byte, 32<<10)
	for {
		n, err := a.Body.Read(piece)
		if n > 0 {
			if _, err := rw.Write(piece[:n]); err != nil {
				return // nobody reads any more
			}
			_ = control.Flush() // what cannot be flushed is not held back either
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client has to see that the answer is cut
		}
	}
}

func writeJSON(rw http.ResponseWriter, status int, doc any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(doc) // who is gone reads nothing
}
