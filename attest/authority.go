package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"cutroom"
	"cutroom/internal/modeltest"
)

// What the model wants to replace by a part of the clip, and what stands there.
const (
	wanted = "out.mp4"
	before = "what stands there"
)

type cutArguments struct {
	Input     string `json:"input"`
	Start     string `json:"start"`
	End       string `json:"end"`
	Output    string `json:"output"`
	Overwrite bool   `json:"overwrite"`
}

// cutOf is the edit that the shipped policy asks a person about: it replaces a file.
func (a *attestation) cutOf(end string) modeltest.Call {
	return modeltest.With(a.tool("edit_cut"), cutArguments{"clip.mp4", "0", end, wanted, true})
}

var approvalID = regexp.MustCompile(`"approval_id":"([a-z2-7]{16})"`)

// attempt is a command of a shell that tries to approve a request.
type attempt struct {
	name string
	says string // what the refusal has to say
	rows int    // of the audit: one for each time that it is refused
	sh   string // with the id for %s
}

// attempts go from the plain command to what a shell can do at most: with the operator's
// very passphrase, without the host's environment, without the host among the parents,
// and with neither, on a terminal of its own, where only the passphrase is missing.
var attempts = []attempt{
	{"as it is", "for a person", 1, `cutroom approve %s --json; echo "exit code $?"`},
	{"with the passphrase piped", "for a person", 1, `printf '%%s\n' '` + passphrase + `' | cutroom approve %s --json; echo "exit code $?"`},
	{"without the host's environment", "for a person", 1, `env -i HOME="$HOME" PATH="$PATH" cutroom approve %s --json; echo "exit code $?"`},
	{"without the host among the parents", "for a person", 1, detached(`(cutroom approve %s --json; echo exit code $?) >shown.$d 2>&1`)},
	{"with neither, on a terminal of its own, with guesses", "passphrase", 3, detached(`(g=0; n=0; while [ $g -lt 3 ] && [ $n -lt 600 ]; do
    if [ $(grep -ao "Passphrase, to" shown.$d | wc -l) -gt $g ]; then echo guess; g=$((g+1)); fi; sleep 0.05; n=$((n+1))
  done) | env -i HOME="$HOME" PATH="$PATH" setsid script -qec "cutroom approve %s --json; echo exit code \$?" /dev/null >shown.$d 2>&1`)},
}

// detached is a command that runs once the shell which started it has ended; what it
// shows in its file is said.
func detached(command string) string {
	return `export d=$$; : >shown.$d
sh -c 'o=$$; (while kill -0 $o; do sleep 0.05; done 2>/dev/null
  ` + command + `; : >ended.$d) &'
n=0; while [ ! -e ended.$d ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done; cat shown.$d`
}

// ordeal is what was seen of a request from the first call to the last.
type ordeal struct {
	asked     failure    // of the edit, when it was first called
	tried     []string   // what the shell said to each attempt
	waiting   string     // state of the request after them
	noted     int        // rows of the audit about them
	approved  string     // state of the request once the operator had approved it
	other     failure    // of another call while it was approved
	ran       string     // what the repeated call said
	replaced  bool       // the file was another one then
	again     failure    // of a third call, in the very situation of the first
	untouched bool       // by which nothing was written
	spent     string     // state of the request at the end
	edits     []auditRow // of the audit, about the edit
	dialogs   []dialog
}

// authorityVisit: the model wants to replace a file, which a person has to allow.
func (a *attestation) authorityVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("authority")
	if err != nil {
		return nil, err
	}
	who := operator{a.lab, project}
	if err := errors.Join(write(filepath.Join(project, wanted), before), who.types(ctx, []string{passphrase, passphrase}, "approvals", "passphrase")); err != nil {
		return nil, err
	}
	o, trial := &ordeal{}, &trial{a: a, who: who, file: filepath.Join(project, wanted)}
	s, err := a.run(ctx, a.client, visit{project: project, request: "clip.mp4", script: trial.script(ctx, o), config: a.named(), allow: true})
	if err != nil {
		return nil, err
	}
	if err := trial.judge(o, s); err != nil {
		a.say("%v", err)
	}
	return a.report(s, a.authorityRows(o)), nil
}

// named is a configuration that lets this host's dialogs stand for the operator.
func (a *attestation) named() string {
	return fmt.Sprintf("approvals:\n  elicitation_hosts: [%s]\n", a.seen.client)
}

// trial plays the model and, at its moments, the operator.
type trial struct {
	a    *attestation
	who  operator
	file string

	first int // the turn of the first call
	mu    sync.Mutex
	err   error
}

// once does what the operator does before a turn of the model. The turn may be asked for
// again, the deed is done once.
func (t *trial) once(deed func(modeltest.Past) error, call modeltest.Call) modeltest.Step {
	var done sync.Once
	return modeltest.Step{Do: func(p modeltest.Past) modeltest.Turn {
		done.Do(func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.err == nil {
				t.err = deed(p)
			}
		})
		return modeltest.Turn{Calls: []modeltest.Call{call}}
	}}
}

// script is what the model does: it asks, tries to approve that itself, makes another
// call once the operator has approved it, then the very same call, and that once more.
func (t *trial) script(ctx context.Context, o *ordeal) modeltest.Script {
	var script modeltest.Script
	if t.a.reveal != nil {
		script = append(script, t.a.reveal([]string{"edit_cut"}))
	}
	t.first = len(script)
	script = append(script, modeltest.Use(t.a.cutOf("1")))
	for _, try := range attempts {
		script = append(script, modeltest.Step{Do: func(p modeltest.Past) modeltest.Turn {
			return modeltest.Turn{Calls: []modeltest.Call{t.a.shell(fmt.Sprintf(try.sh, p.Find(approvalID)))}}
		}})
	}
	return append(script,
		t.once(func(p modeltest.Past) error { return t.approve(ctx, p.Find(approvalID), o) }, t.a.cutOf("2")),
		modeltest.Use(t.a.cutOf("1")),
		t.once(func(modeltest.Past) error { return t.putBack(o) }, t.a.cutOf("1")),
		modeltest.Say("done"))
}

// approve looks at what the shell's attempts came to, and then is the operator.
func (t *trial) approve(ctx context.Context, id string, o *ordeal) (err error) {
	if o.waiting, err = t.who.state(id); err != nil {
		return err
	}
	rows, err := t.who.rows("--type", string(cutroom.AuditDecisionRefused))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Approval == id && r.Outcome == string(cutroom.Denied) {
			o.noted++
		}
	}
	if err := t.who.types(ctx, []string{passphrase}, "approve", id); err != nil {
		return err
	}
	o.approved, err = t.who.state(id)
	return err
}

// putBack makes the situation of the first call again.
func (t *trial) putBack(o *ordeal) error {
	same, err := holds(t.file, before)
	if err != nil {
		return err
	}
	o.replaced = !same
	return os.WriteFile(t.file, []byte(before), 0o600)
}

// judge reads what reached the model, and asks the operator's side.
func (t *trial) judge(o *ordeal, s *session) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := func(n int) string { return s.said(t.first + n) }
	o.asked = failureIn(said(0))
	for i := range attempts {
		o.tried = append(o.tried, said(1+i))
	}
	n := 1 + len(attempts)
	o.other, o.ran, o.again, o.dialogs = failureIn(said(n)), said(n+1), failureIn(said(n+2)), s.dialogs()
	var err error
	o.untouched, err = holds(t.file, before)
	if t.err != nil || err != nil || o.asked.Approval == "" {
		return errors.Join(t.err, err)
	}
	if o.spent, err = t.who.state(o.asked.Approval); err != nil {
		return err
	}
	o.edits, err = t.who.rows("--tool", "edit.cut", "--type", string(cutroom.AuditInvoke))
	return err
}

// holds says whether a file holds a text.
func holds(file, text string) (bool, error) {
	now, err := os.ReadFile(file)
	return err == nil && string(now) == text, err
}
