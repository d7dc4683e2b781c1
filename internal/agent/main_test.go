package agent_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/approval"
	"cutroom/internal/audit"
	"cutroom/internal/engine"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/job"
	"cutroom/internal/policy"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/redact"
	"cutroom/internal/run"
	"cutroom/internal/stage"
	"cutroom/internal/store"
	"cutroom/internal/tool"
)

// key is the installation's in these tests.
var key = bytes.Repeat([]byte{7}, 32)

// secret is a value that nobody may see.
const secret = "swordfish-of-the-operator"

// house is everything that a run needs, over a real database: an engine with tools of
// these tests, the log, and models over HTTP.
type house struct {
	*agent.Runtime
	dir    string
	db     *sql.DB
	engine *engine.Engine
	audit  *audit.Log
	book   *approval.Book
	log    *run.Log
	models *models
}

// models are the models of a test.
type models struct {
	list      []agent.Model
	client    *provider.Client
	cooldowns provider.Cooldowns
}

func (m *models) Resolve(_ context.Context, names []string) ([]agent.Model, error) {
	if len(names) == 0 {
		return m.list, nil
	}
	var list []agent.Model
	for _, n := range names {
		i := slices.IndexFunc(m.list, func(x agent.Model) bool { return x.Name == n })
		if i < 0 {
			return nil, errors.New("no model " + n)
		}
		list = append(list, m.list[i])
	}
	return list, nil
}

func (m *models) Chain() provider.Chain {
	return provider.Chain{Client: m.client, Cooldowns: m.cooldowns}
}

// model is one of a scripted service.
func model(s *providertest.Server, name string, w provider.Wire, id string) agent.Model {
	return agent.Model{Name: name + "/" + id, Endpoint: s.Endpoint(name, w, id, "k-"+name), Local: true}
}

type toolchain struct{}

func (toolchain) Fingerprint(string) cutroom.Digest { return "" }
func (toolchain) Version(string) string             { return "" }

// fast is a pace at which nobody waits for the dead for long.
var fast = run.Pace{Look: 20 * time.Millisecond, Beat: 50 * time.Millisecond, Dead: 400 * time.Millisecond}

// build puts a house together over the database at place, in a folder.
func build(ctx context.Context, place, dir string, list ...agent.Model) (*house, error) {
	db, err := store.Open(ctx, place, job.Migration())
	if err != nil {
		return nil, err
	}
	registry, err := tool.NewRegistry(families(dir)...)
	if err != nil {
		return nil, err
	}
	s, err := stage.Open(filepath.Join(dir, ".cutroom", "stage"), stage.Options{Key: key, Workspace: dir})
	if err != nil {
		return nil, err
	}
	open := func(context.Context) (*sql.DB, error) { return db, nil }
	h := &house{dir: dir, db: db, models: &models{list: list, client: provider.New(provider.Options{Header: 2 * time.Second, Idle: time.Second})}}
	h.audit = audit.New(audit.Options{Open: open, Anchors: filepath.Join(dir, "audit.anchors"), Key: key})
	h.book = approval.New(approval.Options{Open: open, Folder: filepath.Join(dir, "keys")})
	masks := redact.New(func() []string { return []string{secret} })
	p := policy.Shipped()
	p.Rules = append([]policy.Rule{
		{Name: "closed", Effect: policy.Deny, Tools: []string{"agent.closed_test"}},
		{Name: "asked", Effect: policy.Ask, Tools: []string{"agent.asked_test"}},
		{Name: "tests", Effect: policy.Allow, Tools: []string{"agent.*"}},
	}, p.Rules...)
	h.engine = engine.New(engine.Options{
		Registry: registry, Workspace: dir, Stage: s, StageRoot: ".cutroom/stage", Audit: h.audit, Ledger: h.audit, Approvals: h.book, Policy: p, Redact: masks,
		Toolchain: toolchain{}, Abilities: func() ffmpeg.Abilities { return ffmpeg.Abilities{} },
	})
	h.log = run.New(run.Options{Open: open, Space: "test", Key: key, Pace: fast})
	h.Runtime = agent.New(agent.Options{
		Log: h.log, Engine: h.engine, Models: h.models, Sessions: filepath.Join(dir, "sessions"), Workspace: dir, Redact: masks, Logger: slog.New(slog.DiscardHandler),
	})
	return h, nil
}

// at is a house of a test over the database at place.
func at(t *testing.T, place string, list ...agent.Model) *house {
	t.Helper()
	h, err := build(t.Context(), place, t.TempDir(), list...)
	if err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	t.Cleanup(func() { h.db.Close() })
	return h
}

// small is a house over an SQLite file of its own.
func small(t *testing.T, list ...agent.Model) *house {
	t.Helper()
	return at(t, filepath.Join(t.TempDir(), store.Name), list...)
}

// spec is a run that may use all tools of the tests.
func spec(goal string) agent.Spec {
	return agent.Spec{Goal: goal, Capabilities: []string{"agent.*"}, Actor: run.Actor{Principal: cutroom.Agent}}
}

// create creates a run that is closed when the test ends.
func (h *house) create(t *testing.T, s agent.Spec) *agent.Run {
	t.Helper()
	x, err := h.CreateRun(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return x
}

// prompt works a round.
func prompt(t *testing.T, x *agent.Run) agent.Outcome {
	t.Helper()
	o, err := x.Prompt(t.Context(), "")
	if err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	return o
}

// events are all stored events of a run, with their bodies, which have to be numbered from
// 1 without gaps.
func (h *house) events(t *testing.T, id string) []run.Body {
	t.Helper()
	var list []run.Body
	for e, err := range h.log.All(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Body()
		if err != nil {
			t.Fatal(err)
		}
		if list = append(list, b); e.Seq != int64(len(list)) {
			t.Fatalf("event %d has the number %d", len(list), e.Seq)
		}
	}
	return list
}

// of are the bodies of one type.
func of[T run.Body](list []run.Body) []T {
	var out []T
	for _, b := range list {
		if v, ok := b.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// rows are what the audit says of a tool's calls.
func (h *house) rows(t *testing.T, name string) []cutroom.AuditEvent {
	t.Helper()
	list, err := h.audit.Query(t.Context(), cutroom.AuditFilter{Tool: name, Max: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
