package setup

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/config"
	"cutroom/internal/job"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/run"
)

// AgentOptions say how this process drives runs of agents.
type AgentOptions struct {
	// Script opens the scripted model of a file, which script:FILE names; nil knows none.
	Script func(file string) (func(context.Context, provider.Request) (provider.Reply, error), error)
	// Progress is told what the calls of runs do; may be nil.
	Progress func(runID string, p cutroom.Progress)
	// Pace is how fast leases live; zero is the usual one.
	Pace run.Pace
}

// Runs is the log of the runs of this workspace. Nothing of it is opened before it is
// needed.
func (i *Installation) Runs(p run.Pace) *run.Log {
	return run.New(run.Options{Open: i.openRecords, Space: job.Space(i.Workspace, i.StageRelative), Key: i.key, Pace: p, Log: i.log, Now: i.readers.now})
}

// Agents is the runtime of agents over this installation.
func (i *Installation) Agents(o AgentOptions) *agent.Runtime {
	return agent.New(agent.Options{
		Log: i.Runs(o.Pace), Engine: newGate(i.Engine), Models: &drivers{i.readers, o}, Sessions: filepath.Join(i.Folders.State, "agent-sessions"),
		Workspace: i.Workspace, Redact: i.redact, Progress: o.Progress, Logger: i.log, Now: i.readers.now,
	})
}

// drivers are the models that may drive runs, as the config says it at the moment.
type drivers struct {
	readers *readers
	o       AgentOptions
}

func (d *drivers) set() *readerSet {
	return &readerSet{readers: d.readers, config: d.readers.i.Live.Get().Config}
}

// script is what names a scripted model.
const script = "script:"

// Resolve returns models by their names; without any, the first of models.
func (d *drivers) Resolve(_ context.Context, names []string) ([]agent.Model, error) {
	s := d.set()
	if len(names) == 0 && len(s.config.Models) > 0 {
		names = []string{s.config.Models[0].Ref()}
	}
	var list []agent.Model
	for _, name := range names {
		if file, ok := strings.CutPrefix(name, script); ok {
			m, err := d.scripted(file)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
			continue
		}
		c, ok := s.named(name)
		if !ok {
			return nil, cutroom.Errorf(cutroom.NotFound, "no model is called %q", name).
				WithHint("write it as PROVIDER/MODEL, of a provider that models in cutroom.yaml names: `cutroom config show models`")
		}
		list = append(list, s.driver(c))
	}
	return list, nil
}

func (d *drivers) scripted(file string) (agent.Model, error) {
	if d.o.Script == nil {
		return agent.Model{}, cutroom.Errorf(cutroom.Unavailable, "this process knows no scripted models").WithHint("use `cutroom agent run`")
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.readers.i.Workspace, path)
	}
	ask, err := d.o.Script(path)
	if err != nil {
		return agent.Model{}, err
	}
	base, name := filepath.Base(file), path
	if rel, err := filepath.Rel(d.readers.i.Workspace, path); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel) // events say no more of this machine than they have to
	}
	return agent.Model{Name: script + name, Endpoint: provider.Endpoint{Name: "script", Model: base}, Ask: ask, Local: true, Pictures: true}, nil
}

// driver is an entry of models as a run asks it. A picture is a medium: it is shown to a
// model of another machine only where the operator allows that media leave.
func (s *readerSet) driver(c config.Model) agent.Model {
	m := agent.Model{
		Name: c.Ref(), Local: config.Loopback(c.BaseURL), Images: int(c.Limits.Images), Context: c.Limits.ContextTokens,
		Output: int(c.Limits.OutputTokens), Timeout: time.Duration(c.Limits.TimeoutSeconds) * time.Second,
	}
	m.Pictures = c.Reads(string(lens.Image)) && (m.Local || s.Consent() == lens.Allowed)
	m.Endpoint, m.Fault = s.endpoint(c)
	return m
}

// Chain is what drivers are asked by.
func (d *drivers) Chain() provider.Chain {
	s := d.set()
	return provider.Chain{
		Client: s.client(), Cooldowns: s.book(), Cool: time.Duration(s.config.Lens.CooldownMs) * time.Millisecond,
		Redact: s.i.redact.Text, Now: s.now,
	}
}
