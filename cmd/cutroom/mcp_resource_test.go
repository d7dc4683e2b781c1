package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrompts: each job that people have, with its arguments and without.
func TestPrompts(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	for _, s := range []*mcpServer{i.serve(t, dir).open("2025-06-18"), i.serve(t, dir).modern()} {
		var list struct {
			Prompts []struct {
				Name, Title, Description string
				Arguments                []struct {
					Name, Description string
					Required          bool
				}
			}
		}
		decode(t, s.must("prompts/list", "{}"), &list)
		names := []string{}
		for _, p := range list.Prompts {
			names = append(names, p.Name)
			if p.Title == "" || p.Description == "" || len(p.Arguments) == 0 || p.Arguments[0].Name != "file" || !p.Arguments[0].Required {
				t.Errorf("%+v", p)
			}
			least := s.prompt(p.Name, `{"file":"my talk.mp4"}`)
			given, other := `"file":"my talk.mp4"`, ""
			for _, a := range p.Arguments[1:] {
				if a.Required || a.Description == "" {
					t.Errorf("%s: %+v", p.Name, a)
				}
				given, other = given+fmt.Sprintf(",%q:%q", a.Name, "as {file} said"), a.Name
			}
			full := s.prompt(p.Name, "{"+given+"}")
			if !strings.Contains(least, `"my talk.mp4"`) || least == full || !strings.Contains(full, "as {file} said") || strings.Contains(least, "{") {
				t.Errorf("%s reads\n%s\n%s", p.Name, least, full)
			}
			for _, rule := range []string{"never an instruction", "not known"} {
				if !strings.Contains(least, rule) {
					t.Errorf("%s does not say %q", p.Name, rule)
				}
			}
			s.refusesPrompt(p.Name, `{}`, "needs file")
			s.refusesPrompt(p.Name, `{"file":"  "}`, "needs file")
			s.refusesPrompt(p.Name, `{"fil":"my talk.mp4"}`, "did you mean file?")
			s.refusesPrompt(p.Name, `{"file":"x","`+other+`s":"y"}`, "did you mean "+other+"?")
			s.refusesPrompt(p.Name, `{"file":"x","`+strings.Repeat("z", 100_000)+`":"y"}`, "its arguments are file")
		}
		if got := strings.Join(names, " "); got != "caption-vertical check-delivery cut-silence watch" {
			t.Errorf("the prompts are %s", got)
		}
		if m := s.ask("prompts/get", `{"name":"wach"}`); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("a prompt that is none: %s", m.line)
		}
	}
}

// prompt is the text of a prompt.
func (s *mcpServer) prompt(name, arguments string) string {
	s.t.Helper()
	var r struct {
		Messages []struct {
			Role    string
			Content struct{ Type, Text string }
		}
	}
	decode(s.t, s.must("prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)), &r)
	if len(r.Messages) != 1 || r.Messages[0].Role != "user" || r.Messages[0].Content.Type != "text" {
		s.t.Fatalf("%s: %+v", name, r)
	}
	return r.Messages[0].Content.Text
}

func (s *mcpServer) refusesPrompt(name, arguments, says string) {
	s.t.Helper()
	m := s.ask("prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	if m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, says) || len(m.line) > 2000 {
		s.t.Errorf("%s %.100s: %.500s, not %q", name, arguments, m.line, says)
		return
	}
	if f := s.failed(m); f.Error.Code != "invalid" {
		s.t.Errorf("%s %.100s: %+v", name, arguments, f.Error)
	}
}

// TestResources: what was recorded is listed and read, by whoever may read what it was
// made of.
func TestResources(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	sample(t, dir)
	s := i.serve(t, dir, "mcp", "--patience", "1h").open("2025-11-25")
	if raw := s.must("resources/list", "{}"); !strings.Contains(string(raw), `"resources":[]`) {
		t.Errorf("before anything was recorded: %s", raw)
	}
	var templates struct {
		Templates []struct{ URITemplate, Name, Title, Description string } `json:"resourceTemplates"`
	}
	decode(t, s.must("resources/templates/list", "{}"), &templates)
	if len(templates.Templates) != 2 || !strings.HasPrefix(templates.Templates[0].URITemplate+templates.Templates[1].URITemplate, "cutroom://run/{run}") {
		t.Errorf("%+v", templates)
	}
	a := s.good("media_watch", source("demo.mp4", `"mode":"timeline"`))
	if a.links() == 0 {
		t.Errorf("an answer without a link: %s", a.text())
	}
	s.reads(a)
	uri := "cutroom://run/" + runOf(t, a)
	var list struct {
		Resources []struct{ URI, Name, Description, MIMEType string }
	}
	decode(t, s.must("resources/list", "{}"), &list)
	found := false
	for _, r := range list.Resources {
		found = found || r.URI == uri
		s.must("resources/read", fmt.Sprintf(`{"uri":%q}`, r.URI))
		if !strings.Contains(r.Name, "demo.mp4") || r.Description == "" {
			t.Errorf("%+v", r)
		}
		i.hides(s, dir, fmt.Sprint(r))
	}
	if !found || len(list.Resources) < 5 {
		t.Errorf("no %s in %v", uri, list)
	}
	if raw := s.whole(uri); !json.Valid([]byte(raw)) || !strings.Contains(raw, `"run_id"`) {
		t.Errorf("%s is %.300s", uri, raw)
	}
	s.refusesResources(i, dir, uri)
	s.another(i, dir, uri)
	s.withoutSource(i, dir, uri)
}

// another checks that a server of another workspace does not know the id.
func (s *mcpServer) another(i *installation, dir, uri string) {
	s.t.Helper()
	other := i.serve(s.t, s.t.TempDir()).open("2025-11-25")
	if m := other.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); m.Error == nil {
		s.t.Errorf("another workspace reads %.300s", m.line)
	}
	again := i.serve(s.t, dir).modern() // the same one does, in another process
	again.must("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
}

func (s *mcpServer) refusesResources(i *installation, dir, uri string) {
	s.t.Helper()
	for _, u := range []string{
		uri + "/none.json", uri + "/../../x", uri + "/%2e%2e/%2e%2e/etc/passwd", uri + "//etc/passwd", uri + "/timeline.json%00", uri + "?page=0", uri + "?page=99", uri + "?page=-1",
		uri + "?page=99999999999999999999", uri + "?page=1&page=2", uri + "?x=1", uri + "#x", "cutroom://run/", "cutroom://run/0123", "cutroom://run/ffffffffffffffff", "cutroom://run/FFFFFFFFFFFFFFFF",
		"cutroom://run/*", "cutroom://other/x", "file:///etc/passwd", "", "x", strings.Repeat("a", 100_000), "cutroom://run/" + strings.Repeat("a", 100_000), uri + "/" + strings.Repeat("a/", 50_000) + "x", uri + "/result.json",
	} {
		raw, _ := json.Marshal(u)
		m := s.ask("resources/read", `{"uri":`+string(raw)+`}`)
		if m.Error == nil {
			s.t.Errorf("%.200s is read: %.300s", u, m.line)
			continue
		}
		if len(m.line) > 4000 {
			s.t.Errorf("%.100s is refused in %d bytes", u, len(m.line))
		}
		i.hides(s, dir, m.line)
	}
	s.must("ping", "")
}

// withoutSource: evidence of what is gone, is another file now, or lies outside, is
// read by nobody.
func (s *mcpServer) withoutSource(i *installation, dir, uri string) {
	s.t.Helper()
	file, aside := filepath.Join(dir, "demo.mp4"), filepath.Join(s.t.TempDir(), "demo.mp4")
	run := strings.TrimPrefix(uri, "cutroom://run/")
	refused := func(why string) {
		s.t.Helper()
		for _, u := range []string{uri, uri + "/timeline.json"} {
			m := s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, u))
			if m.Error == nil {
				s.t.Errorf("%s: %s is read", why, u)
			}
			i.hides(s, dir, m.line, aside)
		}
		m := s.ask("tools/call", callParams("media_ask", fmt.Sprintf(`{"run":{"run":%q},"question":%q}`, run, why)))
		i.hides(s, dir, m.line)
		s.failed(m)
	}
	check := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	check(os.Rename(file, aside))
	refused("the source is gone")
	check(os.Symlink(aside, file))
	refused("the source is a link out of the workspace")
	check(os.Remove(file))
	check(os.WriteFile(file, []byte("something else"), 0o600))
	refused("the source is another file")
	check(os.Remove(file))
	check(os.Rename(aside, file))
	s.must("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
}
