package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cutroom/internal/modeltest"
)

// visit is one run of a host: what the user types and what the model does.
type visit struct {
	project string
	request string // what stands after /watch
	script  modeltest.Script
	config  string        // the user's cutroom.yaml
	hurry   time.Duration // when the host gives a call up; 0 is what install wrote
	user    bool          // the host is set up for the user, once it knows the model
	allow   bool          // the user lets the model edit, and use the host's own shell
}

// session is what one run of a host was seen to do.
type session struct {
	messages []message           // between host and server, in order
	requests []modeltest.Request // to the model, in order
	programs []sighting          // what the server started
	code     int
	confined bool
	ended    time.Time
	printed  string // by the host, for people who look into a failure
}

// runTime bounds one run: a host whose model cannot be reached tries for minutes.
const runTime = 4 * time.Minute

// run runs a host in a project that it was installed in.
func (l *lab) run(ctx context.Context, c client, v visit) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	var out, complaints bytes.Buffer
	j, err := openJail(&out, &complaints)
	if err != nil {
		return nil, err
	}
	model, err := modeltest.New(modeltest.Options{Script: v.script, Listener: j.listener})
	if err != nil {
		return nil, err
	}
	defer model.Close()
	if err := l.ready(ctx, c, v, model.URL); err != nil {
		j.close()
		return nil, err
	}
	args := c.watch(v.request)
	if v.allow {
		args = append(args, c.allow...)
	}
	var watch *watcher
	code, err := j.run(ctx, program{
		Path: l.client, Args: args, Dir: v.project, Env: l.env(c.env(model.URL)...),
	}, func(pid int) { watch = watchPrograms(pid, l.real()) })
	s := &session{requests: model.Requests(), code: code, confined: j.confined, ended: time.Now()}
	if watch != nil {
		s.programs = watch.stop()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.title, err)
	}
	s.printed = tail(out.String()) + "\n" + tail(complaints.String())
	s.messages, err = readLog(l.log())
	return s, err
}

// ready writes what the host finds when it starts.
func (l *lab) ready(ctx context.Context, c client, v visit, url string) error {
	if err := removed(l.log()); err != nil {
		return err
	}
	if err := l.configure(v.config); err != nil {
		return err
	}
	if err := c.prepare(l, v.project, url); err != nil {
		return err
	}
	if v.user {
		return l.install(v.project, c.name, "user")
	}
	if v.hurry > 0 {
		return c.hurry(l, v.project, v.hurry)
	}
	return nil
}

// call is a call of a tool that reached the server.
type call struct {
	id        string
	name      string
	arguments string
	at        time.Time
	answered  bool
	failed    bool // by the result's isError, or a JSON-RPC error
}

// calls are the calls that reached the server, with their answers.
func (s *session) calls() []call {
	var list []call
	for _, m := range s.messages {
		switch {
		case m.from == "host" && m.Method == "tools/call":
			var p struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if json.Unmarshal(m.Params, &p) == nil {
				list = append(list, call{id: string(m.ID), name: p.Name, arguments: string(p.Arguments), at: m.at})
			}
		case m.from == "server" && m.Method == "":
			i := slices.IndexFunc(list, func(c call) bool { return c.id == string(m.ID) })
			if i < 0 {
				continue
			}
			var r struct {
				IsError bool `json:"isError"`
			}
			_ = json.Unmarshal(m.Result, &r)
			list[i].answered, list[i].failed = true, r.IsError || len(m.Error) > 0
		}
	}
	return list
}

// spoken is a protocol that was negotiated, and how.
type spoken struct{ protocol, by, client, version string }

// negotiated reads how host and server came to terms.
func (s *session) negotiated() spoken {
	var got spoken
	type info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	asked := map[string]spoken{}
	for _, m := range s.messages {
		if m.from == "server" && m.Method == "" && len(m.Result) > 0 {
			a, ok := asked[string(m.ID)]
			if !ok || got.protocol != "" {
				continue
			}
			var r struct {
				Version string `json:"protocolVersion"`
			}
			if json.Unmarshal(m.Result, &r) == nil && r.Version != "" {
				a.protocol = r.Version
			}
			got = a
			continue
		}
		if m.from != "host" || m.Method != "initialize" && m.Method != "server/discover" {
			continue
		}
		var p struct {
			Client info `json:"clientInfo"`
			Meta   struct {
				Client   info   `json:"io.modelcontextprotocol/clientInfo"`
				Protocol string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			continue
		}
		if m.Method == "server/discover" {
			p.Client = p.Meta.Client
		}
		asked[string(m.ID)] = spoken{p.Meta.Protocol, m.Method, p.Client.Name, p.Client.Version}
	}
	return got
}

// after returns the first request that follows n turns of the model.
func (s *session) after(n int) (modeltest.Request, bool) {
	for _, r := range s.requests {
		if r.IsTurn && r.Turn >= n {
			return r, true
		}
	}
	return modeltest.Request{}, false
}

// last is the last request that is a turn.
func (s *session) last() (modeltest.Request, bool) {
	for _, r := range slices.Backward(s.requests) {
		if r.IsTurn {
			return r, true
		}
	}
	return modeltest.Request{}, false
}

// results joins the texts of all results that reached the model.
func (s *session) results() string {
	r, ok := s.last()
	if !ok {
		return ""
	}
	var b strings.Builder
	for n := range r.Past().Turns {
		b.WriteString(s.said(n))
		b.WriteByte('\n')
	}
	return b.String()
}

// said is what reached the model of the results of its turn n.
func (s *session) said(n int) string {
	r, ok := s.last()
	if !ok || n >= len(r.Past().Turns) {
		return ""
	}
	var texts []string
	for _, result := range r.Past().Turns[n] {
		texts = append(texts, result.Text)
	}
	return strings.Join(texts, "\n")
}

// holdsSkill says whether the text of an installed skill is in what reached the model:
// every line of it that the host does not fill in.
func (s *session) holdsSkill(file string) (bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	_, body, ok := strings.Cut(strings.TrimPrefix(string(text), "---"), "\n---\n")
	if !ok {
		return false, fmt.Errorf("%s has no head", file)
	}
	r, ok := s.after(0)
	if !ok {
		return false, nil
	}
	told, lines := strings.Join(r.Texts(), "\n"), 0
	for l := range strings.Lines(body) {
		if l = strings.TrimSpace(l); len(l) < 40 || strings.Contains(l, "$") || strings.HasPrefix(l, "<!--") {
			continue
		}
		if !strings.Contains(told, l) {
			return false, nil
		}
		lines++
	}
	return lines >= 3, nil
}
