package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/cli"
	"cutroom/internal/engine"
	"cutroom/internal/mcpserver"
	"cutroom/internal/tools"
)

// refusal is the code that a failure document carries, "" for an answer.
func refusal(t *testing.T, where string, doc []byte) cutroom.Code {
	t.Helper()
	var f cutroom.Failure
	if err := json.Unmarshal(doc, &f); err != nil {
		t.Errorf("%s: %v: %s", where, err, doc)
	}
	if f.Status != "failed" {
		return ""
	}
	return f.Error.Code
}

// door is a way in: it makes a call as an agent and says with which code it was refused.
type door struct {
	name string
	call func(t *testing.T, id string, input string) cutroom.Code
}

// doors opens every way in to a workspace.
func doors(t *testing.T, w *workspace) []door {
	t.Helper()
	line := func(stdin string, args ...string) []byte {
		var out, said bytes.Buffer
		app := &cli.App{Families: tools.Families(), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &said, Environ: os.Environ(), Dir: w.dir, As: &cutroom.Agent}
		app.Run(t.Context(), append(args, "--json"))
		return out.Bytes()
	}
	host := hosted(t, w)
	return []door{
		{"command line", func(t *testing.T, id, input string) cutroom.Code {
			return refusal(t, id, line(input, "tool", "invoke", id, "--input", "-"))
		}},
		{"plan", func(t *testing.T, id, input string) cutroom.Code {
			plan := filepath.Join(t.TempDir(), "plan.json")
			text := `{"plan_version":1,"tool":"` + id + `","run":"` + string(cutroom.DigestOf(nil)) + `","request_sha256":"` + string(cutroom.DigestOf(nil)) + `","sources":[],"input":` + input + `}`
			if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return refusal(t, id, line("", "apply", plan))
		}},
		{"host", func(t *testing.T, id, input string) cutroom.Code {
			res, err := host.CallTool(t.Context(), &mcp.CallToolParams{Name: strings.ReplaceAll(id, ".", "_"), Arguments: json.RawMessage(input)})
			switch {
			case err != nil && strings.Contains(err.Error(), "there is no tool"):
				return cutroom.NotFound
			case err != nil:
				t.Errorf("%s: %v", id, err)
				return ""
			case !res.IsError:
				return ""
			}
			return refusal(t, id, []byte(res.Content[0].(*mcp.TextContent).Text))
		}},
		{"call that may become a job", func(_ *testing.T, id, input string) cutroom.Code {
			_, _, err := w.Jobs.Call(t.Context(), engine.Call{Tool: id, Input: []byte(input), Principal: cutroom.Agent}, time.Minute)
			if err == nil {
				return ""
			}
			return cutroom.AsError(err).Code
		}},
	}
}

// hosted is a host that speaks to the workspace's server.
func hosted(t *testing.T, w *workspace) *mcp.ClientSession {
	t.Helper()
	s, err := mcpserver.New(mcpserver.Options{Engine: w.Engine, Jobs: w.Jobs, Toolsets: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	server, err := s.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); _ = server.Wait() })
	return client
}

// TestEveryDoorAsksThePolicy walks all doors with all tools under three policies: what is
// not in the allow-list is not there, what is above the ceiling is denied, and nothing
// else is refused for that.
func TestEveryDoorAsksThePolicy(t *testing.T) {
	rows := map[string]struct {
		config string
		want   func(cutroom.Kind, string) cutroom.Code
	}{
		"shipped": {"", func(k cutroom.Kind, _ string) cutroom.Code {
			if k == cutroom.Approve {
				return cutroom.Denied
			}
			return ""
		}},
		"reads only": {"agent: {kinds: [read, preview]}", func(k cutroom.Kind, _ string) cutroom.Code {
			if k != cutroom.Read && k != cutroom.Preview {
				return cutroom.Denied
			}
			return ""
		}},
		"a list": {"agent: {tools: [measure.*, job.*, review.look], kinds: [read, execute]}", func(k cutroom.Kind, id string) cutroom.Code {
			switch {
			case !strings.HasPrefix(id, "measure.") && !strings.HasPrefix(id, "job.") && id != "review.look":
				return cutroom.NotFound
			case k != cutroom.Read && k != cutroom.Execute:
				return cutroom.Denied
			}
			return ""
		}},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "cutroom.yaml"), r.config)
			w := open(t, dir)
			defer w.Close()
			listed := map[string]bool{}
			for tl, err := range hosted(t, w).Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				listed[tl.Name] = true
			}
			all := doors(t, w)
			for _, tl := range w.Engine.Registry.Tools() {
				want := r.want(tl.Kind, tl.Name)
				if listed[tl.MCPName()] != (want == "") {
					t.Errorf("%s is listed: %v", tl.Name, listed[tl.MCPName()])
				}
				for _, d := range all {
					// A member that no tool has: a call that passes the guards ends there.
					got := d.call(t, tl.Name, `{"the_user_agreed":true}`)
					if want == "" {
						want = cutroom.Invalid
					}
					if got != want {
						t.Errorf("%s: %s: %q, want %q", d.name, tl.Name, got, want)
					}
				}
			}
		})
	}
}

// TestJobsRunAsWhoSubmittedThem: the policy that holds when a job runs decides, for the
// principal who submitted it.
func TestJobsRunAsWhoSubmittedThem(t *testing.T) {
	dir := t.TempDir()
	clip(t, filepath.Join(dir, "clip.mp4"))
	before := open(t, dir)
	submit := func(w *workspace, id, input string, who cutroom.Principal) string {
		t.Helper()
		j, err := w.Jobs.Submit(t.Context(), engine.Call{Tool: id, Input: []byte(input), Principal: who})
		if err != nil {
			t.Fatal(err)
		}
		return j.ID
	}
	cut := `{"input":"clip.mp4","start":0,"end":1,"output":"OUT"}`
	late := submit(before, "edit.cut", strings.Replace(cut, "OUT", "agent.mp4", 1), cutroom.Agent)
	mine := submit(before, "edit.cut", strings.Replace(cut, "OUT", "operator.mp4", 1), cutroom.Operator)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "cutroom.yaml"), "policy: {rules: [{effect: deny, roles: [agent], tools: [edit.*], reason: no edits since this morning}]}")
	after := open(t, dir)
	defer after.Close()
	if err := after.Jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait := func(id string, who cutroom.Principal) cutroom.Job {
		t.Helper()
		for {
			j, err := after.Jobs.For(who).Wait(t.Context(), id, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if j.State != cutroom.JobQueued && j.State != cutroom.JobRunning {
				return j
			}
		}
	}
	if j := wait(late, cutroom.Agent); j.State != cutroom.JobFailed || j.Error == nil || j.Error.Code != cutroom.Denied || !strings.Contains(j.Error.Message, "no edits since this morning") {
		t.Errorf("the agent's job: %+v", j)
	}
	if _, err := os.Lstat(filepath.Join(dir, "agent.mp4")); err == nil {
		t.Error("the agent's job wrote its file")
	}
	if j := wait(mine, cutroom.Operator); j.State != cutroom.JobCompleted {
		t.Errorf("the operator's job: %+v, %+v", j, j.Error)
	}
	if _, err := after.Jobs.For(cutroom.Agent).Get(t.Context(), mine); cutroom.AsError(err).Code != cutroom.NotFound {
		t.Errorf("the operator's job is there for an agent: %v", err)
	}
}

// TestLengthIsFoundOutWhenARuleTurnsOnIt: a rule on the length of inputs probes them, and
// a file that cannot be probed is of no length that helps.
func TestLengthIsFoundOutWhenARuleTurnsOnIt(t *testing.T) {
	dir := t.TempDir()
	clip(t, filepath.Join(dir, "clip.mp4"))
	put(t, filepath.Join(dir, "noise.mp4"), "no recording")
	for seconds, want := range map[string]map[string]cutroom.Code{
		"1":    {"clip.mp4": cutroom.Denied, "noise.mp4": cutroom.Denied},
		"3600": {"clip.mp4": "", "noise.mp4": cutroom.Denied},
	} {
		put(t, filepath.Join(dir, "cutroom.yaml"), "policy: {rules: [{effect: deny, tools: [edit.cut], over: {seconds: "+seconds+"}, reason: too long}]}")
		w := open(t, dir)
		for file, code := range want {
			_, err := w.Engine.Invoke(t.Context(), engine.Call{
				Tool: "edit.cut", Input: []byte(`{"input":"` + file + `","start":0,"end":1,"output":"x.mp4"}`), Principal: cutroom.Agent, DryRun: true,
			})
			if code == "" && err != nil || code != "" && (err == nil || cutroom.AsError(err).Code != code || !strings.Contains(err.Error(), "too long")) {
				t.Errorf("over %s s, %s: %v, want %q", seconds, file, err, code)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOperatorsLimitsHold: what a call asks for beyond the operator's limits is lowered,
// or refused where there is nothing to lower.
func TestOperatorsLimitsHold(t *testing.T) {
	dir := t.TempDir()
	clip(t, filepath.Join(dir, "clip.mp4"))
	put(t, filepath.Join(dir, "cutroom.yaml"), "limits: {max_frames: 2, max_file_bytes: 100000000}")
	w := open(t, dir)
	defer w.Close()
	call := func(id, input string) (*engine.Reply, error) {
		return w.Engine.Invoke(t.Context(), engine.Call{Tool: id, Input: []byte(input), Principal: cutroom.Agent})
	}
	_, err := call("video.extract_frames", `{"source":{"kind":"local_file","value":"clip.mp4"},"timestamps_seconds":[0,0.5,1],"limits":{"max_frames":9}}`)
	if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Invalid || !strings.Contains(e.Msg, "more than the limit of 2 frames") || strings.Contains(e.Msg, "Input") {
		t.Errorf("three frames of two: %v", err)
	}
	put(t, filepath.Join(dir, "cutroom.yaml"), "limits: {max_file_bytes: 1000}")
	small := open(t, dir)
	defer small.Close()
	_, err = small.Engine.Invoke(t.Context(), engine.Call{Tool: "edit.cut", Input: []byte(`{"input":"clip.mp4","start":0,"end":1,"output":"x.mp4"}`), Principal: cutroom.Agent})
	if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Limit {
		t.Errorf("a file beyond the limit: %v", err)
	}
}
