package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cutroom/internal/modeltest"
)

// Row is one thing that was tried with a host.
type Row struct {
	Check    string `json:"check"`
	Passed   bool   `json:"passed"`
	Observed string `json:"observed,omitempty"` // the same in every run that sees the same
}

// watchRows are the rows of a watch of the clip.
func (a *attestation) watchRows(s *session, project string) []Row {
	skill, err := s.holdsSkill(filepath.Join(project, a.client.skill))
	if err != nil {
		a.say("%v", err)
	}
	ran := slices.ContainsFunc(s.calls(), func(c call) bool { return c.name == "media_watch" && c.answered && !c.failed })
	rows := []Row{
		{"connects", a.seen.protocol != "" && a.seen.version == a.pinned, ""},
		{"watch command loads the skill", skill, code(strings.Join(a.watch("clip.mp4"), " "))},
		{"the watch runs unattended", ran, code("media_watch")},
	}
	rows[0].Observed = fmt.Sprintf("protocol %s, by %s", a.seen.protocol, code(a.seen.by))
	text, pictures := Row{Check: "what was said reaches the model"}, Row{Check: "pictures of the clip reach the model"}
	if next, ok := s.watched(); ok {
		n := heard(strings.Join(next.Texts(), "\n"))
		shown, count := seen(next.Images(), a.grounds)
		text.Passed, text.Observed = n == len(said), fmt.Sprintf("%d of %d sentences", n, len(said))
		pictures.Passed, pictures.Observed = shown >= 3 && count > 0, fmt.Sprintf("%d pictures, %d of %d scenes", count, shown, len(a.grounds))
	}
	return append(rows, text, pictures)
}

// readRow shows that the host lets every tool run that only reads.
func (a *attestation) readRow(s *session, tools []string) Row {
	row := Row{Check: "tools that only read run unattended", Passed: true}
	var ran []string
	for _, name := range tools {
		if slices.ContainsFunc(s.calls(), func(c call) bool { return c.name == name && c.answered }) {
			ran = append(ran, code(name))
		} else {
			row.Passed = false
			a.say("%s was not passed on", name)
		}
	}
	row.Observed = strings.Join(ran, ", ")
	return row
}

// secretRow shows that what a host has in its environment goes no further.
func (a *attestation) secretRow(s *session) Row {
	row := Row{Check: "the host's environment stays with it"}
	read, leaked := 0, false
	for _, p := range s.programs {
		if p.read {
			read++
		}
		if p.leaked {
			leaked = true
			a.say("%s was given the host's environment", p.name)
		}
	}
	for _, r := range s.requests {
		leaked = leaked || strings.Contains(string(r.Body), canary)
	}
	// Hosts themselves show the model where they keep a picture; the server must not.
	answers, places := 0, false
	for _, m := range s.messages {
		if m.from == "server" {
			answers++
			places = places || strings.Contains(string(m.Result)+string(m.Error)+string(m.Params), a.home)
		}
	}
	row.Passed = read > 0 && answers > 0 && !leaked && !places
	if !row.Passed {
		a.say("%d programs whose environment could be read, %d answers; the secret was seen: %t, a path: %t", read, answers, leaked, places)
	}
	if row.Passed {
		row.Observed = "not in a program that a tool ran, nor in an answer; no path of the machine either"
	}
	return row
}

// watched is the first request that holds the answer of the watch, not just its job.
func (s *session) watched() (modeltest.Request, bool) {
	for _, r := range s.requests {
		if last := r.Past().Last().Text; r.IsTurn && last != "" && !pending.MatchString(last) {
			return r, true
		}
	}
	return modeltest.Request{}, false
}

// failureRow looks for the one document of failures in what reached the model.
func (a *attestation) failureRow(check, results, want string, words ...string) Row {
	row := Row{Check: check}
	for _, f := range failuresIn(results) {
		if f.Code != want || f.Hint == "" {
			continue
		}
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(f.Message, w) }) {
			row.Passed, row.Observed = true, "code "+code(want)+", message and hint"
		}
	}
	return row
}

// ceilingRow: the host was connected, and offered the model no tool above the ceiling;
// a call of one was not made.
func (a *attestation) ceilingRow(s *session) Row {
	r, ok := s.last()
	above := func(name string) bool { return strings.HasSuffix(name, "media_watch") }
	row := Row{Check: "what is above the ceiling is not offered"}
	row.Passed = ok && s.negotiated().protocol != "" && len(r.Past().Turns) > 0 &&
		!slices.ContainsFunc(r.Tools(), func(t modeltest.Tool) bool { return above(t.Name) }) &&
		!slices.ContainsFunc(s.calls(), func(c call) bool { return above(c.name) && !c.failed })
	if row.Passed {
		row.Observed = code("media_watch") + " is not among the model's tools, and a call of it does nothing"
	}
	return row
}

// cancelled returns when the host gave a call of a tool up that was not answered.
func (s *session) cancelled(tool string) (time.Time, bool) {
	for _, c := range s.calls() {
		if c.name != tool || c.answered && !c.failed {
			continue
		}
		for _, m := range s.messages {
			var p struct {
				ID json.RawMessage `json:"requestId"`
			}
			if m.from == "host" && m.Method == "notifications/cancelled" && json.Unmarshal(m.Params, &p) == nil && string(p.ID) == c.id {
				return m.at, true
			}
		}
	}
	return time.Time{}, false
}

// around says how many programs ran at a time, and how long after it the last of
// them was seen.
func (s *session) around(at time.Time) (before int, left time.Duration) {
	for _, p := range s.programs {
		if p.first.Before(at) && p.last.After(at.Add(-4*lookEvery)) {
			before++
		}
		left = max(left, p.last.Sub(at))
	}
	return before, left
}

// report shows what a session was, when a row of it did not pass.
func (a *attestation) report(s *session, rows []Row) []Row {
	if !s.confined {
		a.say("ran without namespaces: the kernel grants none")
	}
	failed := false
	for _, r := range rows {
		if !r.Passed {
			failed = true
			a.say("not passed: %s (%s)", r.Check, r.Observed)
		}
	}
	if failed {
		for _, c := range s.calls() {
			a.say("  call %s %s: answered %t, failed %t", c.name, c.arguments, c.answered, c.failed)
		}
		if r, ok := s.last(); ok {
			var names []string
			for _, t := range r.Tools() {
				names = append(names, t.Name)
			}
			a.say("  tools: %s", strings.Join(names, " "))
		}
		a.say("  results: %s", tail(s.results()))
		a.say("  exit code %d; the host printed: %s", s.code, s.printed)
	}
	return rows
}

func code(text string) string { return "`" + text + "`" }
