package main

import (
	"context"
	"path/filepath"

	"cutroom/internal/modeltest"
)

// A workspace may forbid its agents more than the user does: one call, or a tool.
const (
	forbidden = "policy:\n  rules:\n    - name: this one stays private\n      effect: deny\n      reason: this one stays private\n      roles: [agent]\n      tools: [media.*]\n      inputs: [clip.mp4]\n"
	ceiling   = "agent:\n  kinds: [preview]\n"
)

// failureVisit: what goes wrong is said by name, and what is refused with the reason.
func (a *attestation) failureVisit(ctx context.Context) ([]Row, error) {
	project, err := a.project("failure")
	if err != nil {
		return nil, err
	}
	type wrong struct {
		Sorce source `json:"sorce"`
	}
	s, err := a.run(ctx, a.client, visit{project: project, request: "missing.mp4", script: modeltest.Script{
		modeltest.Use(a.watchOf("missing.mp4")),
		modeltest.Use(modeltest.With(a.tool("media_watch"), wrong{source{"local_file", "clip.mp4"}})),
		modeltest.Use(a.watchOf("/etc/hostname")),
		modeltest.Say("done"),
	}})
	if err != nil {
		return nil, err
	}
	got := s.results()
	rows := a.report(s, []Row{
		a.failureRow("a missing file is named", got, "not_found", "missing.mp4"),
		a.failureRow("a wrong key is named, with the right one", got, "invalid", "sorce", "source"),
		a.failureRow("a path outside of the workspace is refused", got, "denied", "/etc/hostname"),
	})
	for _, narrow := range []struct {
		config string
		row    func(*session) Row
	}{
		{forbidden, func(s *session) Row {
			return a.failureRow("what policy forbids is refused", s.results(), "denied", "this one stays private")
		}},
		{ceiling, a.ceilingRow},
	} {
		if err := write(filepath.Join(project, "cutroom.yaml"), narrow.config); err != nil {
			return nil, err
		}
		s, err := a.run(ctx, a.client, visit{project: project, request: "clip.mp4", script: modeltest.Script{modeltest.Use(a.watchOf("clip.mp4")), modeltest.Say("done")}})
		if err != nil {
			return nil, err
		}
		rows = append(rows, a.report(s, []Row{narrow.row(s)})...)
	}
	return rows, nil
}
