package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/run"
)

// TestRunLines: what a person sees of each event.
func TestRunLines(t *testing.T) {
	t.Parallel()
	usage := run.Usage{Turns: 1, Input: 1000, Output: 200}
	for _, c := range []struct {
		name  string
		event []run.Body
		want  string
	}{
		{"a run begins", []run.Body{run.Started{
			Round: 1, Goal: "Cut it\n\nFiles:\n- a.mp4", Models: []string{"p/m", "q/n"}, Tools: []string{"edit.cut", "measure.probe"}, Kinds: []cutroom.Kind{cutroom.Read, cutroom.Execute},
			Budget: run.Amounts{Steps: 1, Tokens: 200_000, Cost: 500_000, Bytes: 20_000_000, Time: 600_000_000}, PlanFirst: true,
		}}, `
run     round 1, for a plan: Cut it
models  p/m, q/n
tools   edit.cut, measure.probe  (read, execute)
budget  1 step, 200k tokens, 20 MB sent, cost 0.5, 10m0s`},
		{"it goes on", []run.Body{run.Started{Round: 2, Goal: "Cut it", Resumed: true, Pending: 1, Models: []string{"m"}, Prompt: "Go on."}}, `
run     round 2, gone on with: Cut it
said    Go on.
models  m
tools     ()
        not finished: 1 operation`},
		{"a text in pieces", []run.Body{
			run.Thinking{Turn: 1, Text: "hm "},
			run.Thinking{Turn: 1, Text: "so"},
			run.Text{Turn: 1, Text: "I lo"},
			run.Text{Turn: 1, Text: "ok.\nThen I cut."},
			run.Text{Turn: 1, Answer: &run.Answer{Stop: provider.StopTools, Calls: 1, Usage: usage}},
		}, `
thinks  hm so
says    I look.
        Then I cut.`},
		{"another model", []run.Body{
			run.Text{Turn: 1, Text: "half"},
			run.Text{Turn: 1, Again: true, Text: "whole"},
			run.Text{Turn: 1, Answer: &run.Answer{Provider: "agent:b", Model: "n", From: "agent:a/m", Stop: provider.StopTools, Calls: 1, Warnings: []string{"failover: agent:a failed (unavailable), going on to agent:b (n)"}}},
		}, `
warning failover: agent:a failed (unavailable), going on to agent:b (n)
model   agent:b/n goes on in the place of agent:a/m
says    whole`},
		{"the last words are shown elsewhere", []run.Body{run.Text{Turn: 1, Text: "Done."}, run.Text{Turn: 1, Answer: &run.Answer{Stop: provider.StopEnd}}}, ""},
		{"a call that looks", []run.Body{run.Start{Tool: "measure.probe", Kind: cutroom.Read, Input: `{"inputs":["a.mp4","b c.mp4"],"source":{"kind":"local_file","value":"x"},"n":1.50}`}}, `
call    measure.probe  inputs a.mp4, b c.mp4, source kind local_file  value x, n 1.50`},
		{"a call that does", []run.Body{run.Start{Tool: "edit.cut", Kind: cutroom.Execute, Replay: "never", Input: `{"input":"a.mp4","output":"b.mp4","segments":["0-1"]}`, Recovery: run.Approved, Cut: true}}, `
call    edit.cut (after approval); never twice (execute)
          input     a.mp4
          output    b.mp4
          segments  0-1
          …`},
		{"input that is none", []run.Body{run.Start{Tool: "edit.cut", Kind: cutroom.Read, Input: `{"a":`}}, `
call    edit.cut   {"a":`},
		{"it worked", []run.Body{
			run.End{Tool: "edit.cut", Status: run.Succeeded, MS: 1234, Files: []string{"b.mp4", "x"}, Result: "completed"},
			run.End{Tool: "media.watch", Status: run.Succeeded, Reused: true, Result: "partial"},
			run.End{Tool: "agent.delegate", Status: run.Succeeded, MS: 20, Child: "k3v5"},
		}, `
ok      edit.cut  1.23s, b.mp4 and 1 more
ok      media.watch  recorded earlier; nothing ran, partial
ok      agent.delegate  20ms, run k3v5`},
		{"it failed", []run.Body{
			run.End{Tool: "edit.cut", Status: run.CallFailed, Code: cutroom.NotFound, Output: `{"status":"failed","error":{"code":"not_found","message":"no such file: \"a\""}}`},
			run.End{Tool: "edit.cut", Status: run.CallFailed, Code: cutroom.Canceled, Output: "the run was stopped"},
			run.End{Tool: "edit.cut", Status: run.CallFailed, Code: cutroom.MissingDependency, Output: `{"status":"failed","error":{"message":"it needs ffprobe","hint":"run ` + "`cutroom setup`" + `"}}`},
			run.End{Tool: "edit.cut", Status: run.CallFailed, Code: cutroom.MissingDependency, Output: "cut off"},
		}, `
failed  edit.cut  not_found: no such file: "a"
failed  edit.cut  canceled: the run was stopped
failed  edit.cut  missing_dependency: it needs ffprobe
        run ` + "`cutroom setup`" + `
failed  edit.cut  missing_dependency: cut off`},
		{"refusals", []run.Body{
			run.Rejected{Tool: "bash", Input: `{"command":"rm"}`, Message: "unavailable"}, run.Rejected{Tool: "edit.cut", Input: `{}`, Message: "edit.cut: a person decides", Waits: true},
		}, `
refused bash  unavailable
          command  rm
waits   edit.cut  a person decides`},
		{"a summary", []run.Body{run.Compacted{Phase: run.CompactionStart}, run.Compacted{Phase: run.CompactionEnd, By: "p/m", Messages: 3, Tokens: 12_345}}, `
summary older messages were summed up by p/m; 3 messages, about 12.3k tokens are left`},
		{"the end", []run.Body{run.Done{Text: "Done.", Usage: run.Usage{Turns: 3, Calls: 1, Input: 1_000_000, Output: 230_000}, Spent: run.Amounts{Time: 61_500_000, Cost: 12_300}}}, `
done    3 answers, 1 call, 1.23M tokens, 1m1.5s, cost 0.0123`},
		{"a budget", []run.Body{
			run.Text{Text: "half a word"},
			run.Broken{Reason: run.Budget, Message: "over", Hint: "more", Usage: usage, Attempts: []provider.Attempt{{Provider: "agent:a", Model: "m", Class: provider.Auth, Message: "no key"}, {Provider: "agent:b", Model: "n", Skipped: "budget"}}},
		}, `
says    half a word
stopped over
        more
        agent:a/m  auth  no key
        agent:b/n  budget  
        1 answer, 0 calls, 1200 tokens, 0s`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var l runLines
			var got []string
			for _, b := range c.event {
				got = append(got, l.of(b)...)
			}
			if diff := cmp.Diff(strings.Split(strings.TrimPrefix(c.want, "\n"), "\n"), append(got, make([]string, len(got)+1)[:max(0, 1-len(got))]...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSpending: what was spent of what there is.
func TestSpending(t *testing.T) {
	t.Parallel()
	s := spending{steps: 3, tokens: 12_000, bytes: 1_500_000, cost: 250_000, before: time.Minute}
	for want, most := range map[string]run.Amounts{
		"step 3, 12k tokens, cost 0.25, 1m5s":                                 {},
		"step 3/40, 12k/200k tokens, cost 0.25/0.5, 1.5 MB/20 MB, 1m5s/10m0s": {Steps: 40, Tokens: 200_000, Cost: 500_000, Bytes: 20_000_000, Time: 600_000_000},
	} {
		if got := strings.Join(s.words(most, 5*time.Second), ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAmounts: numbers and money as people write them.
func TestAmounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "40": 40, "200k": 200_000, "1.5M": 1_500_000, "2G": 2_000_000_000, "0": 0, "-1": 0, "1.5": 0, "x": 0, "1e99": 0, "NaN": 0, "infk": 0} {
		var n amount
		if err := n.Set(text); (err == nil) != (want > 0) || want > 0 && int64(n) != want {
			t.Errorf("%s is %d, %v", text, n, err)
		}
	}
	for text, want := range map[string]int64{"0.50": 500_000, "3": 3_000_000, "0.000001": 1, "0": 0, "-1": 0, "NaN": 0, "Inf": 0, "1e12": 0} {
		var m money
		if err := m.Set(text); (err == nil) != (want > 0) || want > 0 && int64(m) != want {
			t.Errorf("%s is %d, %v", text, m, err)
		}
	}
}

// TestEventJSON: an event is one line of JSON, whatever is in it, with the members that
// its readers look for.
func TestEventJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		payload, err := json.Marshal(struct {
			Text string `json:"text"`
		}{text})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		a := &App{Stdout: &b}
		if err := a.printEvent(run.Event{RunID: "k3v5", Seq: 7, Type: run.TextDelta, Payload: payload}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n != 1 {
			t.Fatalf("%d lines: %q", n, b.String())
		}
		var got struct {
			RunID string `json:"runId"`
			Seq   int64  `json:"seq"`
			Type  string `json:"type"`
			Text  string `json:"text"`
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.RunID != "k3v5" || got.Seq != 7 || got.Type != "text_delta" || got.Text != strings.ToValidUTF8(text, "\uFFFD") {
			t.Fatalf("%v %+v", err, got)
		}
	})
}

// TestFilesOfAPrompt: what the command names is what a script finds.
func TestFilesOfAPrompt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		goal := rapid.SampledFrom([]string{"x", "Cut it.\n", "a\n\nFiles:\n- not this\nb"}).Draw(t, "goal")
		files := rapid.SliceOf(rapid.StringMatching(`[^\x00-\x1f\x7f\x{2028}\x{0085}]{1,20}`)).Draw(t, "files")
		got := script.Files(script.WithFiles(goal, files))
		if len(files) > 0 && fmt.Sprint(got) != fmt.Sprint(files) {
			t.Fatalf("%q, want %q", got, files)
		}
	})
}

// TestLiveLine: on a terminal a line below says what goes on, is taken away before every
// other line and at the end, and never wraps or holds what a terminal would obey.
func TestLiveLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := &runView{a: &App{Stderr: &out}, out: &out, live: true, width: 40, started: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	close(v.stopped)
	event := func(b run.Body) {
		t.Helper()
		payload, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.event(run.Event{RunID: "k3v5", Seq: 1, Type: b.Type(), At: time.Now(), Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	event(run.Started{Round: 1, Goal: "x", Budget: run.Amounts{Steps: 9}})
	v.progress("k3v5", cutroom.Progress{Tool: "edit.cut", Stage: "encoding \x1b[2J\r\n" + strings.Repeat("x", 90), Done: 1, Total: 4})
	event(run.Start{Tool: "edit.cut", Kind: cutroom.Execute, Input: `{"input":"a\u001b[2Jb.mp4"}`})
	event(run.Done{Text: "done"})
	v.end()
	text := out.String()
	for _, line := range strings.Split(text, "\n") {
		pieces := strings.Split(line, "\r\x1b[K")
		for i, p := range pieces {
			if n := len([]rune(p)); i > 0 && i < len(pieces)-1 && n > 39 || strings.ContainsAny(p, "\x1b\r") {
				t.Errorf("%d characters: %q", n, p)
			}
		}
	}
	if !strings.HasSuffix(text, "\r\x1b[K") && !strings.HasSuffix(text, "\n") || !strings.Contains(text, "step 0/9") || !strings.Contains(text, "call    edit.cut (execute)\n") {
		t.Errorf("%q", text)
	}
}

// TestShortTime: a bound on time that is shorter than what is counted is still a bound.
func TestShortTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cutroom.Micros{"1ns": 1, "1500ns": 2, "1us": 1, "10m": 600_000_000} {
		var d duration
		if err := d.Set(text); err != nil || d.micros() != want {
			t.Errorf("%s: %d, %v", text, int64(d.micros()), err)
		}
	}
	if duration(0).micros() != 0 {
		t.Error("no bound became one")
	}
}
