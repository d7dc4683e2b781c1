package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/engine"
)

// A recorded result is cutroom://run/ID, one of its files cutroom://run/ID/PATH; a
// text longer than a page goes on under ?page=2.
const scheme = "cutroom://run/"

// Largest pieces of a resource: one page of text, and one file that is no text, which
// a message still holds as base64.
const (
	pageText = 32_000 // characters
	maxBlob  = 4 << 20
	maxRead  = 64 << 20
)

// newest is how many results are listed; any other is read by its id.
const newest = 20

func resourceURI(run, file string) string {
	run = cutroom.Digest(run).Short()
	if file == "" {
		return scheme + run
	}
	return scheme + run + "/" + (&url.URL{Path: file}).EscapedPath()
}

func (s *server) addResources(m *mcp.Server) {
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: scheme + "{run}{?page}", Name: "result", Title: "A recorded result",
		Description: "The answer of an earlier call as JSON, whole: its run_id or invocation_sha256, or the first 16 digits of it. Long ones come in pages.",
		MIMEType:    "application/json",
	}, s.readResource)
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: scheme + "{run}/{+file}{?page}", Name: "artifact", Title: "A file of a recorded result",
		Description: "A timeline, a transcript, a frame or another file of a recorded result, by its path inside that result.",
	}, s.readResource)
}

// listResources lists the files to read of the newest results.
func (s *server) listResources(ctx context.Context, req *mcp.ListResourcesRequest, next mcp.MethodHandler) (mcp.Result, error) {
	res, err := next(ctx, "resources/list", req)
	list, ok := res.(*mcp.ListResourcesResult)
	if err != nil || !ok {
		return res, err
	}
	for _, r := range s.Engine.Newest(ctx, s.Principal, newest) {
		name := r.Tool
		if r.Source != "" {
			name += ": " + r.Source
		}
		list.Resources = append(list.Resources, &mcp.Resource{
			URI: resourceURI(string(r.Run), ""), Name: clip(name, 200), MIMEType: "application/json",
			Description: "recorded " + r.Created.UTC().Format("2006-01-02 15:04 UTC"),
		})
	}
	return list, nil
}

func (s *server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	run, file, page, err := parseURI(req.Params.URI)
	if err != nil {
		return nil, protocolError(err)
	}
	r, err := s.Engine.Recorded(ctx, s.Principal, run)
	if err != nil {
		return nil, s.resourceError(err)
	}
	contents, err := s.read1(ctx, r, file, page)
	if err != nil {
		return nil, s.resourceError(err)
	}
	contents.URI = req.Params.URI
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// resourceError answers a resource that cannot be read.
func (s *server) resourceError(err error) error {
	e := cutroom.AsError(err)
	s.Log.Warn("resource", "code", e.Code, "message", e.Msg, "cause", e.Err)
	e = &cutroom.Error{Code: e.Code, Msg: s.scrub(e.Msg, nil), Hint: s.scrub(e.Hint, nil)}
	if e.Code == cutroom.Internal {
		data, _ := json.Marshal(e.Failure())
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: e.Msg, Data: data}
	}
	return protocolError(e)
}

// longestURI is far more than any address of ours has.
const longestURI = 4096

// parseURI takes a resource's address apart. Only digits name a run, and a file lies
// inside its result.
func parseURI(uri string) (run, file string, page int, err error) {
	fault := func() (string, string, int, error) {
		shown := uri // in words, so that what is a secret is seen to be one
		if plain, err := url.PathUnescape(uri); err == nil {
			shown = plain
		}
		return "", "", 0, cutroom.Errorf(cutroom.NotFound, "there is no resource %q", clip(shown, 200)).
			WithHint("resources are %sID and %sID/PATH, ID being a run_id", scheme, scheme)
	}
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok || len(uri) > longestURI {
		return fault()
	}
	rest, query, _ := strings.Cut(rest, "?")
	run, file, _ = strings.Cut(rest, "/")
	if file, err = url.PathUnescape(file); err != nil {
		return fault()
	}
	digits := strings.Trim(run, "0123456789abcdef") == ""
	if !digits || len(run) < 16 || len(run) > 64 || file == "." || file != "" && !fs.ValidPath(file) {
		return fault()
	}
	page = 1
	if text, ok := strings.CutPrefix(query, "page="); ok {
		if page, err = strconv.Atoi(text); err != nil || page < 1 {
			return fault()
		}
	} else if query != "" {
		return fault()
	}
	return run, file, page, nil
}

// read1 reads one page of a result or of one of its files.
func (s *server) read1(ctx context.Context, r *engine.Recorded, file string, page int) (*mcp.ResourceContents, error) {
	if file == "" {
		return pageOf(s.Redact.JSON(r.JSON), "application/json", page)
	}
	f, err := r.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	media := ""
	for _, a := range r.Artifacts() {
		if strings.HasSuffix(a.RelativePath, "/"+file) {
			media = a.MediaType
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err != nil {
		return nil, err
	}
	if isText(media) && len(data) <= maxRead && utf8.Valid(data) {
		return pageOf(s.safeText(data, media), media, page) // masked before it is cut
	}
	if len(data) > maxBlob {
		return nil, cutroom.Errorf(cutroom.Limit, "the file %q has more than %d bytes", file, maxBlob).
			WithHint("it lies in the workspace; open it there")
	}
	return &mcp.ResourceContents{MIMEType: media, Blob: data}, nil
}

func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || slices.Contains([]string{"application/json", "application/x-subrip"}, media)
}

// pageOf is one page of a text, which ends at a line where it can.
func pageOf(data []byte, media string, page int) (*mcp.ResourceContents, error) {
	pages := paginate(string(data), pageText)
	if page > len(pages) {
		return nil, cutroom.Errorf(cutroom.NotFound, "there is no page %d", page).WithHint("the last page is %d", len(pages))
	}
	c := &mcp.ResourceContents{MIMEType: media, Text: pages[page-1]}
	if len(pages) > 1 {
		c.Meta = mcp.Meta{"page": page, "pages": len(pages)}
		if page < len(pages) {
			c.Text += fmt.Sprintf("\n[page %d of %d; the next is ?page=%d]", page, len(pages), page+1)
		}
	}
	return c, nil
}

// paginate cuts a text into pages of at most so many characters, after a line's end
// where one is in the second half of the page. The pages together are the text.
func paginate(text string, room int) []string {
	pages := []string{}
	for {
		end, n := len(text), 0
		for i := range text {
			if n == room {
				end = i
				break
			}
			n++
		}
		if end < len(text) {
			if nl := strings.LastIndexByte(text[:end], '\n'); nl > end/2 {
				end = nl + 1
			}
		}
		pages = append(pages, text[:end])
		if text = text[end:]; text == "" {
			return pages
		}
	}
}
