package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/host"
	"cutroom/internal/modeltest"
)

// attestation is a host in a lab, and what is known before it runs.
type attestation struct {
	*lab
	client
	tools   []listedTool // that the server lists by default, in its order
	grounds []colour     // of the clip's scenes
	seen    spoken
	say     func(format string, args ...any) // for people who look into a failure
}

type listedTool struct {
	name  string
	reads bool // readOnlyHint
}

// newAttestation makes a host ready.
func newAttestation(ctx context.Context, l *lab, c client, say func(string, ...any)) (*attestation, error) {
	a := &attestation{lab: l, client: c, say: say}
	var err error
	if a.lab.client, a.pinned, err = pin(ctx, l.repository, c.name); err != nil {
		return nil, err
	}
	if a.tools, err = l.listTools(ctx); err != nil {
		return nil, err
	}
	a.grounds, err = grounds(ctx, filepath.Join(l.repository, filepath.FromSlash(clipFile)))
	return a, err
}

// listTools asks the server itself, as a client of another maker.
func (l *lab) listTools(ctx context.Context) ([]listedTool, error) {
	cmd := exec.Command(l.real(), "mcp")
	cmd.Env, cmd.Dir = l.env(), l.home
	c := mcp.NewClient(&mcp.Implementation{Name: "attest", Version: "1"}, nil)
	s, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var tools []listedTool
	for _, t := range list.Tools {
		tools = append(tools, listedTool{t.Name, t.Annotations != nil && t.Annotations.ReadOnlyHint})
	}
	return tools, nil
}

// project makes a folder with the clip in it and the host set up.
func (a *attestation) project(name string) (string, error) {
	dir := a.path("projects", name)
	if err := a.putClip(dir); err != nil {
		return "", err
	}
	return dir, a.install(dir, a.name, "project")
}

// stage is one part of an attestation.
type stage struct {
	name string
	fast bool // it is tried by the tests, too
	run  func(context.Context) ([]Row, error)
}

// stages are what is tried, in order. The first says how the host calls itself.
func (a *attestation) stages() []stage {
	list := []stage{
		{"watch", true, a.watchVisit},
		{"user", false, a.userVisit},
		{"job", false, a.jobVisit},
		{"failure", false, a.failureVisit},
		{"gateway", false, a.gatewayVisit},
		{"dialog", true, a.dialogVisit},       // while no passphrase is set
		{"authority", true, a.authorityVisit}, // which sets it
		{"cancel", false, a.cancelVisit},
	}
	if a.searching != nil {
		list = append(list, stage{"search", false, a.searchVisit})
	}
	return list
}

// source is the argument that names a file.
type source struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type watchArguments struct {
	Source source `json:"source"`
}

func (a *attestation) watchOf(file string) modeltest.Call {
	return modeltest.With(a.tool("media_watch"), watchArguments{source{"local_file", file}})
}

var (
	runID   = regexp.MustCompile(`run_id[" :]+([0-9a-f]{16})`)
	jobID   = regexp.MustCompile(`job_id[" :]+([a-z0-9]{8,})`)
	pending = regexp.MustCompile(`"status":"running","job_id"|state[" :]+(running|queued)`)
)

// watchVisit is what the product is for: the clip is watched by the skill alone, then
// every other tool is called that the skill may use and that only reads.
func (a *attestation) watchVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("watch")
	if err != nil {
		return nil, err
	}
	script := modeltest.Script{a.watchThrough("clip.mp4")}
	var rest []string
	for _, t := range a.tools {
		// What the skill does not name, a person allows.
		if t.reads && t.name != "media_watch" && slices.Contains(host.SkillTools, t.name) {
			rest = append(rest, t.name)
		}
	}
	if a.reveal != nil {
		script = append(script, a.reveal(rest))
	}
	script = append(script, modeltest.Step{Do: func(p modeltest.Past) modeltest.Turn {
		var t modeltest.Turn
		for _, name := range rest {
			t.Calls = append(t.Calls, a.someCall(name, p.Find(runID)))
		}
		return t
	}}, modeltest.Say("done"))
	s, err := a.run(ctx, a.client, visit{project: project, request: "clip.mp4", script: script})
	if err != nil {
		return nil, err
	}
	a.seen = s.negotiated()
	rows := a.watchRows(s, project)
	rows = append(rows, a.readRow(s, rest), a.secretRow(s))
	return a.report(s, rows), nil
}

// someCall calls a tool with arguments that it can work with.
func (a *attestation) someCall(name, run string) modeltest.Call {
	type ref struct {
		Run string `json:"run"`
	}
	switch name {
	case "media_ask":
		return modeltest.With(a.tool(name), struct {
			Run      ref    `json:"run"`
			Question string `json:"question"`
		}{ref{run}, "what was the problem?"})
	case "tool_search":
		return modeltest.With(a.tool(name), struct {
			Query string `json:"query"`
		}{"loudness"})
	case "review_check":
		return modeltest.With(a.tool(name), struct {
			Input string `json:"input"`
		}{"clip.mp4"})
	case "measure_probe":
		return modeltest.With(a.tool(name), struct {
			Inputs []string `json:"inputs"`
		}{[]string{"clip.mp4"}})
	case "job_get", "job_wait":
		return modeltest.With(a.tool(name), struct {
			ID string `json:"id"`
		}{"no0such0job000000000"})
	}
	return modeltest.With(a.tool(name), struct{}{}) // is answered with what is missing
}

// userVisit: the host is set up for the user, and the project holds nothing for it.
func (a *attestation) userVisit(ctx context.Context) ([]Row, error) {
	dir := a.path("projects", "user")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s, err := a.run(ctx, a.client, visit{
		project: dir, request: "missing.mp4", user: true, script: modeltest.Script{modeltest.Use(a.watchOf("missing.mp4")), modeltest.Say("done")},
	})
	if err != nil {
		return nil, err
	}
	skill, err := s.holdsSkill(a.path(a.userSkill))
	if err != nil {
		a.say("%v", err)
	}
	if err := a.uninstall(dir, a.name); err != nil { // what is tried later finds the project's alone
		return nil, err
	}
	row := Row{Check: "set up for the user, it is the same", Passed: skill && a.failureRow("", s.results(), "not_found", "missing.mp4").Passed}
	if row.Passed {
		row.Observed = code("--scope user") + ": the skill is loaded, the tool called"
	}
	return a.report(s, []Row{row}), nil
}

// searchVisit: models that the host knows get the tools of servers by a search only.
func (a *attestation) searchVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("search")
	if err != nil {
		return nil, err
	}
	c := a.client
	c.prepare = a.searching
	s, err := a.run(ctx, c, visit{project: project, request: "clip.mp4", script: modeltest.Script{
		{Do: func(modeltest.Past) modeltest.Turn { return modeltest.Turn{Search: "watch a video"} }},
		a.watchThrough("clip.mp4"), modeltest.Say("done"),
	}})
	if err != nil {
		return nil, err
	}
	first, _ := s.after(0)
	held := !slices.ContainsFunc(first.Tools(), func(t modeltest.Tool) bool { return t.Name == "media_watch" })
	done, _ := s.watched()
	n := heard(strings.Join(done.Texts(), "\n"))
	shown, _ := seen(done.Images(), a.grounds)
	row := Row{Check: "a model that has to search for tools finds the watch", Passed: held && n == len(said) && shown >= 3}
	if row.Passed {
		row.Observed = "by the words “watch a video”; text and pictures reach it"
	}
	return a.report(s, []Row{row}), nil
}

// watchThrough is what the skill tells a model: watch, and wait while that is a job.
func (a *attestation) watchThrough(file string) modeltest.Step {
	type wait struct {
		ID      string `json:"id"`
		Seconds int    `json:"seconds"`
	}
	const most = 40 // times that a job is waited for
	return modeltest.Step{
		Do: func(p modeltest.Past) modeltest.Turn {
			if id := p.Find(jobID); id != "" {
				return modeltest.Turn{Calls: []modeltest.Call{modeltest.With(a.tool("job_wait"), wait{id, 10})}}
			}
			return modeltest.Turn{Calls: []modeltest.Call{a.watchOf(file)}}
		},
		Again: func(p modeltest.Past) bool { return pending.MatchString(p.Last().Text) && len(p.Turns) < most },
	}
}

// jobVisit: a call that takes longer than the server is patient.
func (a *attestation) jobVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("job")
	if err != nil {
		return nil, err
	}
	s, err := a.run(ctx, a.client, visit{
		project: project, request: "clip.mp4", config: "mcp:\n  patience_seconds: 1\n",
		script: modeltest.Script{a.watchThrough("clip.mp4"), modeltest.Say("done")},
	})
	if err != nil {
		return nil, err
	}
	first, _ := s.after(1)
	handed := jobID.MatchString(first.Past().Last().Text)
	done, _ := s.watched()
	n := heard(strings.Join(done.Texts(), "\n"))
	shown, _ := seen(done.Images(), a.grounds)
	waited := slices.ContainsFunc(s.calls(), func(c call) bool { return c.name == "job_wait" && c.answered && !c.failed })
	row := Row{Check: "a long call goes on as a job", Passed: handed && waited && n == len(said) && shown >= 3}
	if row.Passed {
		row.Observed = "after 1 s a job; " + code("job_wait") + " brings its text and pictures"
	}
	return a.report(s, []Row{row}), nil
}

// cancelVisit: a host that gives a call up says so, and its programs end.
func (a *attestation) cancelVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("cancel")
	if err != nil {
		return nil, err
	}
	if err := longClip(ctx, filepath.Join(project, "clip.mp4"), filepath.Join(project, "long.mp4"), 40); err != nil {
		return nil, err
	}
	s, err := a.run(ctx, a.client, visit{
		project: project, request: "long.mp4", hurry: 4 * time.Second,
		script: modeltest.Script{
			modeltest.Use(a.watchOf("long.mp4")),
			{Do: func(modeltest.Past) modeltest.Turn { return modeltest.Turn{Text: "done", After: 2 * time.Second} }},
		},
	})
	if err != nil {
		return nil, err
	}
	row := Row{Check: "a call that is given up ends its programs within 1 s"}
	if at, ok := s.cancelled("media_watch"); ok {
		before, left := s.around(at)
		a.say("%d programs ran when the call was given up; the last was seen %v later; the host went on for %v", before, left, s.ended.Sub(at))
		row.Passed = before > 0 && left <= time.Second && s.ended.Sub(at) > time.Second
	}
	if row.Passed {
		row.Observed = code("notifications/cancelled")
	}
	return a.report(s, []Row{row}), nil
}
