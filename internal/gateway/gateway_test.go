package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/provider"
)

// TestEveryBlockOfEveryWire: what a text-only model cannot take in arrives as text, in the
// form that the wire has for it; all else arrives byte for byte.
func TestEveryBlockOfEveryWire(t *testing.T) {
	t.Parallel()
	b64 := base64.StdEncoding.EncodeToString([]byte(png))
	seenPNG := evidence(image, `.png holding `+fmt.Sprintf("%q", png))
	for name, c := range map[string]struct{ path, model, block, want string }{
		"image_url":            {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"` + data("image/png", png) + `","detail":"low"}}`, `{"type":"text","text":` + asJSON(seenPNG) + `}`},
		"image_url as text":    {"/chat/completions", "blind", `{ "image_url" : "` + data("image/png", png) + `", "type":"image_url"}`, `{"type":"text","text":` + asJSON(seenPNG) + `}`},
		"jpeg that is a png":   {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"` + data("image/jpeg", png) + `"}}`, `{"type":"text","text":` + asJSON(seenPNG) + `}`},
		"input_audio":          {"/chat/completions", "blind", `{"type":"input_audio","input_audio":{"data":"c291bmQ=","format":"wav"}}`, `{"type":"text","text":` + asJSON(evidence(audio, `.wav holding "sound"`)) + `}`},
		"video_url":            {"/chat/completions", "blind", `{"type":"video_url","video_url":{"url":"` + data("video/mp4", "film") + `"}}`, `{"type":"text","text":` + asJSON(evidence(video, `.mp4 holding "film"`)) + `}`},
		"file of media":        {"/chat/completions", "blind", `{"type":"file","file":{"filename":"a.mov","file_data":"` + data("video/quicktime", "film") + `"}}`, `{"type":"text","text":` + asJSON(evidence(video, `.mov holding "film"`)) + `}`},
		"file handle":          {"/chat/completions", "blind", `{"type":"file","file":{"file_id":"talks/a.mp4"}}`, `{"type":"text","text":` + asJSON(evidence(video, `talks/a.mp4`)) + `}`},
		"path":                 {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"shots/a.png"}}`, `{"type":"text","text":` + asJSON(evidence(image, `shots/a.png`)) + `}`},
		"file address":         {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"file:///srv/shots/a%20b.png"}}`, `{"type":"text","text":` + asJSON(evidence(image, `/srv/shots/a b.png`)) + `}`},
		"remote":               {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`, `{"type":"text","text":` + asJSON(placeholder(image, cutroom.Denied)) + `}`},
		"broken base64":        {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"data:image/png;base64,%%%"}}`, ``},
		"no content":           {"/chat/completions", "blind", `{"type":"image_url"}`, `{"type":"text","text":` + asJSON(placeholder(image, cutroom.Invalid)) + `}`},
		"pdf":                  {"/chat/completions", "blind", `{"type":"file","file":{"filename":"a.pdf","file_data":"` + data("application/pdf", "pdf") + `"}}`, "same"},
		"text":                 {"/chat/completions", "blind", `{"type":"text", "text":"data:image/png;base64,aaaa","n":1e400}`, "same"},
		"unknown":              {"/chat/completions", "blind", `{"type":"thinking","image_url":{"url":"data:image/png;base64,AAAA"}}`, "same"},
		"image for sighted":    {"/chat/completions", "sighted", `{"type":"image_url","image_url":{"url":"` + data("image/png", png) + `"}}`, "same"},
		"remote for sighted":   {"/chat/completions", "sighted", `{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`, "same"},
		"audio for sighted":    {"/chat/completions", "sighted", `{"type":"input_audio","input_audio":{"data":"c291bmQ=","format":"mp3"}}`, `{"type":"text","text":` + asJSON(evidence(audio, `.mp3 holding "sound"`)) + `}`},
		"input_image":          {"/responses", "blind", `{"type":"input_image","detail":"auto","image_url":"` + data("image/png", png) + `"}`, `{"type":"input_text","text":` + asJSON(seenPNG) + `}`},
		"input_image handle":   {"/responses", "blind", `{"type":"input_image","file_id":"file-123"}`, `{"type":"input_text","text":` + asJSON(placeholder(image, cutroom.Invalid)) + `}`},
		"input_file":           {"/responses", "blind", `{"type":"input_file","filename":"a.flac","file_data":"` + data("", "sound") + `"}`, `{"type":"input_text","text":` + asJSON(evidence(audio, `flac holding "sound"`)) + `}`},
		"anthropic image":      {"/messages", "lab/claude", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + b64 + `"},"cache_control":{"type":"ephemeral"}}`, `{"type":"text","text":` + asJSON(seenPNG) + `,"cache_control":{"type":"ephemeral"}}`},
		"anthropic tool image": {"/messages", "lab/claude", `{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + b64 + `"}}]}`, `{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":` + asJSON(seenPNG) + `}]}`},
		"document of parts":    {"/messages", "lab/claude", `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"}, {"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + b64 + `"}}]},"title":"t"}`, `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"}, {"type":"text","text":` + asJSON(seenPNG) + `}]},"title":"t"}`},
		"another tool's image": {"/messages", "lab/claude", `{"type":"mcp_tool_result","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + b64 + `"}}]}`, `{"type":"mcp_tool_result","content":[{"type":"text","text":` + asJSON(seenPNG) + `}]}`},
		"file without a name":  {"/chat/completions", "blind", `{"type":"file","file":{"file_data":"` + b64 + `"}}`, `{"type":"text","text":` + asJSON(seenPNG) + `}`},
		"file of no type":      {"/chat/completions", "blind", `{"type":"file","file":{"filename":"a.bin","file_data":"DATA:application/octet-stream;base64,` + b64 + `"}}`, `{"type":"text","text":` + asJSON(seenPNG) + `}`},
		"broken escape":        {"/chat/completions", "blind", `{"type":"image_url","image_url":{"url":"data:image/png,%zz"}}`, `{"type":"text","text":` + asJSON(placeholder(image, cutroom.Invalid)) + `}`},
		"half a character":     {"/chat/completions", "blind", `{"type":"text","text":"cut in \ud83d"}`, "same"},
		"anthropic document":   {"/messages", "lab/claude", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`, "same"},
		"anthropic address":    {"/messages", "lab/claude", `{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`, `{"type":"text","text":` + asJSON(placeholder(image, cutroom.Denied)) + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t)
			s := openGateway(t, u, &eyes{})
			member := "messages"
			if c.path == "/responses" {
				member = "input"
			}
			frame := `{ "unknown": [1.0, 1E2, "\u00e9\/"],"` + member + `":[{"role":"user","content":[ %s ,{"type":"text","text":"what?"}]},{"role":"user","content":"plain"}], "model" : "%s","stream":false}` + "\n"
			if status, answer, _ := post(t, s.URL+"/v1"+c.path, fmt.Sprintf(frame, c.block, Prefix+c.model)); status != 200 {
				t.Fatal(status, answer)
			}
			got, _ := u.last()
			want := c.want
			if want == "same" {
				want = c.block
			}
			if want == "" {
				if strings.Contains(got, "%%%") || !strings.Contains(got, "could not be read") {
					t.Error(got)
				}
				return
			}
			if diff := cmp.Diff(fmt.Sprintf(frame, want, c.model), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWhatACallAnswered: pictures that a tool of the host answered with are media, too.
func TestWhatACallAnswered(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	s := openGateway(t, u, &eyes{})
	body := `{"model":"cutroom-vision-blind","input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"` + data("image/png", png) + `"}]},{"role":"assistant","content":[{"type":"output_text","text":"a"}]},"odd"]}`
	if status, answer, _ := post(t, s.URL+"/v1/responses", body); status != 200 {
		t.Fatal(status, answer)
	}
	got, _ := u.last()
	want := `{"model":"blind","input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":` + asJSON(evidence(image, `.png holding `+fmt.Sprintf("%q", png))) + `}]},{"role":"assistant","content":[{"type":"output_text","text":"a"}]},"odd"]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAScreenshot: what a computer showed, which is no list.
func TestAScreenshot(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	s := openGateway(t, u, &eyes{})
	form := `{"model":"%s","input":[{"type":"computer_call_output","output": %s}]}`
	if status, answer, _ := post(t, s.URL+"/v1/responses", fmt.Sprintf(form, "cutroom-vision-blind", `{"type":"computer_screenshot","image_url":"`+data("image/png", png)+`"}`)); status != 200 {
		t.Fatal(status, answer)
	}
	got, _ := u.last()
	want := fmt.Sprintf(form, "blind", `{"type":"input_text","text":`+asJSON(evidence(image, `.png holding `+fmt.Sprintf("%q", png)))+`}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAFloodOfBlocks: ten thousand media are looked at, a few at a time; one more is
// refused before anything is read.
func TestAFloodOfBlocks(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	s := openGateway(t, u, &eyes{})
	flood := func(n int) string {
		return `{"model":"cutroom-vision-blind","messages":[{"role":"user","content":[` + strings.Repeat(`{"type":"image_url"},`, n-1) + `{"type":"image_url"}]}]}`
	}
	if status, answer, _ := post(t, s.URL+"/v1/chat/completions", flood(mostBlocks)); status != 200 {
		t.Fatal(status, answer)
	}
	if got, _ := u.last(); strings.Count(got, asJSON(placeholder(image, cutroom.Invalid))) != mostBlocks {
		t.Errorf("%.300s", got)
	}
	status, answer, _ := post(t, s.URL+"/v1/chat/completions", flood(mostBlocks+1))
	if status != cutroom.Limit.Facts().HTTP || !strings.Contains(answer, "more than 10000 media; send fewer at once") || len(u.bodies) != 1 {
		t.Error(status, answer, len(u.bodies))
	}
}

// TestTheUpstreamAsItIs: under its own name a model gets the very bytes, and its answer
// comes back as it is.
func TestTheUpstreamAsItIs(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	e := &eyes{}
	s := openGateway(t, u, e)
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ratelimit-Remaining", "7")
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"error": {"message":"bad key upstream-key-1"}}`)
	}
	body := `{"model":"blind","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + data("image/png", png) + `"}}]}]}`
	status, answer, head := post(t, s.URL+"/v1/chat/completions?beta=true", body)
	if status != http.StatusTeapot || answer != `{"error": {"message":"bad key **************"}}` || head.Get("X-Ratelimit-Remaining") != "7" || head.Get("Set-Cookie") != "" {
		t.Error(status, answer, head)
	}
	got, sent := u.last()
	if got != body || len(e.calls) > 0 {
		t.Errorf("sent %s after %d reads", got, len(e.calls))
	}
	if a := sent.Get("Authorization"); a != "Bearer upstream-key-1" || strings.Contains(fmt.Sprint(sent), "token-of-the-door") || sent.Get("Anthropic-Version") == "" {
		t.Error(sent)
	}
}

// TestKeysRotate: a key that is refused gives way to the next one, with the whole body.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "second" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	g := New(Options{
		Engine: &eyes{}, Uploads: t.TempDir(), Services: services(t), Wraps: func(string) (string, bool) { return "", true },
		Principal: func(*http.Request) cutroom.Principal { return cutroom.Agent },
		Upstreams: func() []Upstream {
			return []Upstream{{Model: "m", Wire: provider.Messages, Endpoint: func() (provider.Endpoint, error) {
				return provider.Endpoint{Name: "lab", Wire: provider.Messages, Model: "m", BaseURL: u.URL, Keys: []string{"first", "second"}}, nil
			}}}
		},
	})
	s := httptest.NewServer(g)
	defer s.Close()
	if status, answer, _ := post(t, s.URL+"/v1/messages", `{"model":"m","messages":[]}`); status != 200 {
		t.Error(status, answer)
	}
	if diff := cmp.Diff([]string{`{"model":"m","messages":[]}`, `{"model":"m","messages":[]}`}, u.bodies); diff != "" {
		t.Error(diff)
	}
}

// TestNothingIsReadTwice: one content is read once, in whatever block and message it lies;
// a fault is not kept.
func TestNothingIsReadTwice(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	e := &eyes{fault: cutroom.Errorf(cutroom.Unavailable, "no reader")}
	s := openGateway(t, u, e)
	body := `{"model":"cutroom-vision-blind","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + data("image/png", png) + `"}}]}]}`
	ask := func() string {
		if status, answer, _ := post(t, s.URL+"/v1/chat/completions", body); status != 200 {
			t.Error(status, answer)
		}
		got, _ := u.last()
		return got
	}
	if got := ask(); !strings.Contains(got, "could not be read (unavailable)") {
		t.Error(got)
	}
	e.fault = nil
	first := ask()
	body = strings.Replace(body, `"type":"image_url",`, `"cache":1,  "type":"image_url",`, 1)
	if again := ask(); again != first || len(e.calls) != 2 {
		t.Errorf("%d reads; %s", len(e.calls), again)
	}
}

// TestChoosing: what is not there, not wrapped or of another wire is refused loudly, in
// the wire's own form, and says what to do.
func TestChoosing(t *testing.T) {
	t.Parallel()
	s := openGateway(t, nil, &eyes{})
	for name, c := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"omni":      {"/chat/completions", `{"model":"cutroom-vision-omni"}`, 400, `ask for \"omni\" directly`},
		"vision":    {"/chat/completions", `{"model":"cutroom-vision-some-vision"}`, 400, `the model is made for pictures; ask for \"some-vision\" directly`},
		"unknown":   {"/responses", `{"model":"nothing"}`, 404, `GET /v1/models`},
		"wire":      {"/chat/completions", `{"model":"lab/claude"}`, 400, `send the request to /v1/messages`},
		"no model":  {"/messages", `{"messages":[]}`, 400, `"type":"error","error":{"type":"invalid_request_error"`},
		"no JSON":   {"/messages", `{"model":`, 400, `not a JSON object`},
		"twice":     {"/messages", `{"model":"a","model":"b"}`, 400, `not a JSON object`},
		"a list":    {"/chat/completions", `[]`, 400, `not a JSON object`},
		"no answer": {"/chat/completions", `{"model":"some-vision"}`, 503, `"code":"unavailable"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer, _ := post(t, s.URL+"/v1"+c.path, c.body)
			if status != c.status || !strings.Contains(answer, c.want) {
				t.Errorf("%d %s, want %d %s", status, answer, c.status, c.want)
			}
		})
	}
}

// TestNothingLeaves: where no medium may leave the machine, a model's own name is refused
// what holds one, and its second name sends evidence even to a model that sees.
func TestNothingLeaves(t *testing.T) {
	t.Parallel()
	var sent []string
	g := New(Options{
		Engine: &eyes{}, Uploads: t.TempDir(), Wraps: func(string) (string, bool) { return "", true }, Strict: func() bool { return true },
		Principal: func(*http.Request) cutroom.Principal { return cutroom.Agent },
		Upstreams: func() []Upstream {
			return []Upstream{{Model: "m", Modalities: []string{"text", "image"}, Endpoint: func() (provider.Endpoint, error) {
				return provider.Endpoint{Name: "lab", Model: "m", BaseURL: "https://lab.example/v1"}, nil
			}}}
		},
		Services: passer(func(raw provider.Raw) { sent = append(sent, string(raw.Body)) }),
	})
	s := httptest.NewServer(g)
	defer s.Close()
	const frame = `{"model":"%s","messages":[{"content":[%s]}]}`
	block := `{"type":"image_url","image_url":{"url":"` + data("image/png", png) + `"}}`
	if status, answer, _ := post(t, s.URL+"/v1/chat/completions", fmt.Sprintf(frame, "m", block)); status != 403 || !strings.Contains(answer, "cutroom-vision-m") {
		t.Error(status, answer)
	}
	for _, body := range []string{fmt.Sprintf(frame, "m", `{"type":"text","text":"a"}`), fmt.Sprintf(frame, Prefix+"m", block)} {
		if status, answer, _ := post(t, s.URL+"/v1/chat/completions", body); status != 200 {
			t.Error(status, answer)
		}
	}
	if len(sent) != 2 || strings.Contains(strings.Join(sent, ""), "base64") || !strings.Contains(sent[1], "SEEN") {
		t.Error(sent)
	}
}

// passer stands for services of other machines.
type passer func(provider.Raw)

func (p passer) Pass(_ context.Context, _ provider.Endpoint, raw provider.Raw) (*provider.Answer, error) {
	p(raw)
	return &provider.Answer{Status: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// TestModels lists each model, and its second name where there is one.
func TestModels(t *testing.T) {
	t.Parallel()
	s := openGateway(t, nil, &eyes{})
	res, err := http.Get(s.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var doc struct {
		Object string
		Data   []struct {
			ID          string
			DisplayName string `json:"display_name"`
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range doc.Data {
		got = append(got, m.ID+" = "+m.DisplayName)
	}
	want := []string{
		"blind = blind", "cutroom-vision-blind = blind (cutroom vision)", "sighted = sighted", "cutroom-vision-sighted = sighted (cutroom vision)",
		"omni = omni", "lab/claude = Claude", "cutroom-vision-lab/claude = Claude (cutroom vision)", "some-vision = some-vision",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"cutroom-vision-lab/claude", "blind"} {
		res, err := http.Get(s.URL + "/v1/models/" + id)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Error(id, res.StatusCode)
		}
	}
}

// TestStreams: each event arrives while the upstream still speaks, and a client that goes
// away ends the upstream's work.
func TestStreams(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	var ended atomic.Bool
	over := make(chan struct{})
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"n\":1}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		ended.Store(true)
		close(over)
	}
	s := openGateway(t, u, &eyes{})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(`{"model":"cutroom-vision-blind","stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	first := make([]byte, len("data: {\"n\":1}\n\n"))
	if _, err := io.ReadFull(res.Body, first); err != nil || ended.Load() {
		t.Fatal(string(first), err)
	}
	cancel()
	<-over
}

// TestACutStreamIsCut: a client can tell an answer that broke off from one that ended.
func TestACutStreamIsCut(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	s := openGateway(t, u, &eyes{})
	res, err := http.Post(s.URL+"/v1/responses", "application/json", strings.NewReader(`{"model":"blind"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err == nil || string(got) != "data: 1\n\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestUploadsDoNotStay: what was handed to a tool is gone when the request has ended.
func TestUploadsDoNotStay(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	dir := t.TempDir()
	g := New(Options{
		Engine: &eyes{}, Uploads: dir, Services: services(t), Wraps: func(string) (string, bool) { return "", true },
		Principal: func(*http.Request) cutroom.Principal { return cutroom.Agent },
		Upstreams: func() []Upstream {
			return []Upstream{{Model: "m", Endpoint: func() (provider.Endpoint, error) {
				return provider.Endpoint{Name: "lab", Model: "m", BaseURL: u.URL}, nil
			}}}
		},
	})
	s := httptest.NewServer(g)
	defer s.Close()
	post(t, s.URL+"/v1/chat/completions", `{"model":"cutroom-vision-m","messages":[{"content":[{"type":"image_url","image_url":{"url":"`+data("image/png", png)+`"}}]}]}`)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// FuzzRewrite: a body that is JSON stays JSON, and one that holds no medium changes in its
// model only.
func FuzzRewrite(f *testing.F) {
	f.Add(`{"model":"cutroom-vision-m","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`, uint8(0))
	f.Add(`{"model":"m","input":[{"output":[{"type":"input_file","filename":"a.png","file_data":"AAAA"}]}]}`, uint8(1))
	f.Add(`{"model":""}00`, uint8(0))
	f.Add(`{"messages":[{"content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","data":"-_8="}}]}]}],"model":"\u0061"}`, uint8(2))
	r := newReader(Options{Engine: &eyes{}, Uploads: f.TempDir(), Log: discard(), Now: now})
	f.Fuzz(func(t *testing.T, doc string, which uint8) {
		w := []wire{chat, responses, messages}[which%3]
		req, err := w.read([]byte(doc))
		if err != nil {
			return
		}
		edits := append([]edit{{req.model, quoted("m")}}, r.replace(t.Context(), cutroom.Agent, req.blocks, []medium{image, audio, video})...)
		out := apply(req.body, edits)
		if !json.Valid(out) {
			t.Errorf("%s became %s", doc, out)
		}
		again, err := w.read(out)
		if err != nil || again.name != "m" {
			t.Fatalf("%s names %q: %v", out, again.name, err)
		}
		if len(again.blocks) > 0 {
			t.Errorf("%s still holds %d blocks", out, len(again.blocks))
		}
	})
}

// TestNobodyAnswers: a service that cannot be reached is a failure of the server in the
// words of each wire, which clients try again.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := openGateway(t, nil, &eyes{})
	for path, want := range map[string][2]string{
		"/chat/completions": {"blind", `"type":"server_error"`}, "/responses": {"blind", `"type":"server_error"`}, "/messages": {"lab/claude", `{"type":"error","error":{"type":"api_error"`},
	} {
		status, answer, _ := post(t, s.URL+"/v1"+path, `{"model":"`+want[0]+`"}`)
		if status != http.StatusServiceUnavailable || !strings.Contains(answer, want[1]) || !strings.Contains(answer, "does not answer") || strings.Contains(answer, "127.0.0.1") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

// TestNothingServed: what the gateway does not serve is a failure that clients can read.
func TestNothingServed(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	s := openGateway(t, u, &eyes{})
	for _, path := range []string{"/embeddings", "/files", "/chat/completions/x", "/messages/batches", "/"} {
		status, answer, head := post(t, s.URL+"/v1"+path, `{"model":"blind"}`)
		if status != http.StatusNotFound || !strings.HasPrefix(answer, `{"type":"error","error":{"type":"not_found_error","message":"the gateway does not serve POST /v1`+path) || head.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/chat/completions", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusNotFound || !strings.Contains(string(answer), `"code":"not_found"`) {
		t.Errorf("%d %s %v", res.StatusCode, answer, err)
	}
	if got, _ := u.last(); got != "" {
		t.Errorf("the upstream was sent %s", got)
	}
}
