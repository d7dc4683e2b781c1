package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"cutroom/internal/modeltest"
)

// dialog is a question that the server had a host ask its user, and the answer.
type dialog struct{ action string }

// dialogs are those of a session, in either form: a request of the server's, or a result
// that asks for input, with which the host makes its call again.
func (s *session) dialogs() []dialog {
	var list []dialog
	open := map[string]int{} // requests of the server's without an answer
	asked := 0               // results that ask without an answer
	for _, m := range s.messages {
		switch {
		case m.from == "server" && m.Method == "elicitation/create":
			open[string(m.ID)] = len(list)
			list = append(list, dialog{})
		case m.from == "host" && m.Method == "":
			i, ok := open[string(m.ID)]
			if !ok {
				continue
			}
			delete(open, string(m.ID))
			var r struct {
				Action string `json:"action"`
			}
			if json.Unmarshal(m.Result, &r) == nil {
				list[i].action = r.Action
			}
		case m.from == "server" && asks(m.Result):
			asked++
			list = append(list, dialog{})
		case m.from == "host" && m.Method == "tools/call" && asked > 0:
			if action, ok := answers(m.Params); ok {
				asked--
				list[len(list)-1].action = action
			}
		}
	}
	return list
}

// asks says whether a result asks for input.
func asks(result json.RawMessage) bool {
	var r struct {
		Type string `json:"resultType"`
	}
	return json.Unmarshal(result, &r) == nil && r.Type == "input_required"
}

// answers reads the answer that a call is made again with.
func answers(params json.RawMessage) (action string, ok bool) {
	var p struct {
		Responses map[string]struct {
			Action string `json:"action"`
		} `json:"inputResponses"`
	}
	if json.Unmarshal(params, &p) != nil {
		return "", false
	}
	for _, r := range p.Responses {
		return r.Action, true
	}
	return "", false
}

// hasDialogs says whether the host announced that it can ask its user.
func (s *session) hasDialogs() bool {
	type capabilities struct {
		Elicitation *struct{} `json:"elicitation"`
	}
	for _, m := range s.messages {
		var p struct {
			Capabilities capabilities `json:"capabilities"`
			Meta         struct {
				Capabilities capabilities `json:"io.modelcontextprotocol/clientCapabilities"`
			} `json:"_meta"`
		}
		if m.from == "host" && json.Unmarshal(m.Params, &p) == nil && (p.Capabilities.Elicitation != nil || p.Meta.Capabilities.Elicitation != nil) {
			return true
		}
	}
	return false
}

// question is what was seen of a request in a host whose dialogs stand for the operator.
type question struct {
	announced     bool // the host has dialogs
	dialogs       []dialog
	first, second failure // of the call, and of the same call once more
	state         string  // of the request at the end
	untouched     bool    // nothing was written
}

// dialogVisit: the operator's file names the host, and no passphrase is set. Nobody is
// there to answer: what the host does then is its no.
func (a *attestation) dialogVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("dialog")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(project, wanted)
	if err := write(file, before); err != nil {
		return nil, err
	}
	var script modeltest.Script
	if a.reveal != nil {
		script = append(script, a.reveal([]string{"edit_cut"}))
	}
	first := len(script)
	script = append(script, modeltest.Use(a.cutOf("1")), modeltest.Use(a.cutOf("1")), modeltest.Say("done"))
	s, err := a.run(ctx, a.client, visit{project: project, request: "clip.mp4", script: script, config: a.named(), allow: true})
	if err != nil {
		return nil, err
	}
	q := question{announced: s.hasDialogs(), dialogs: s.dialogs(), first: failureIn(s.said(first)), second: failureIn(s.said(first + 1))}
	var fault error
	if q.untouched, fault = holds(file, before); q.first.Approval != "" {
		var err error
		q.state, err = operator{a.lab, project}.state(q.first.Approval)
		fault = errors.Join(fault, err)
	}
	if fault != nil {
		a.say("%v", fault)
	}
	return a.report(s, []Row{q.row()}), nil
}
