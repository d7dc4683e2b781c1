// Package agenttest is the scripted model ([script.Script]) as a service over real HTTP: on
// the Chat Completions and the Messages wire, whole and in events, with what the script
// wants to go wrong.
//
// It promises that a conversation which a service would refuse is refused here, too: an
// answer to no call, a call without an answer, roles out of turn. It is for tests; the
// program itself plays scripts in its own process.
package agenttest

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// Server is a scripted model at an address.
type Server struct {
	*providertest.Server

	script *script.Script
	faults script.Faults

	mu      sync.Mutex
	turns   []script.Turn
	refused []string
}

// New starts a server until the test ends.
func New(t testing.TB, s *script.Script) *Server {
	t.Helper()
	srv := &Server{Server: providertest.New(t), script: s}
	srv.Answer(srv.step)
	return srv
}

// Turns lists what was answered so far, in order; what went wrong on purpose is listed
// with its Fault.
func (s *Server) Turns() []script.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]script.Turn{}, s.turns...)
}

// Refused lists why requests were refused as a service would have, or had no answer in
// the script.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.refused...)
}

func (s *Server) step(in providertest.Request) providertest.Step {
	r, err := Read(in)
	if err != nil {
		return s.refuse(err.Error())
	}
	t, err := s.script.Turn(r)
	if err != nil {
		why := err.Error()
		if f, ok := errors.AsType[*provider.Fault](err); ok {
			why = f.Message
		}
		return s.refuse(why)
	}
	t.Fault = s.faults.Due(in.Model, t)
	s.mu.Lock()
	s.turns = append(s.turns, t)
	s.mu.Unlock()
	step := providertest.Step{Text: t.Say, Thinking: t.Think, Calls: t.Calls, Usage: t.Usage}
	if f := t.Fault; f != nil {
		return with(step, f)
	}
	return step
}

func (s *Server) refuse(why string) providertest.Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, why)
	return providertest.Fail(http.StatusBadRequest, why)
}

// with is a step in which something goes wrong.
func with(step providertest.Step, f *script.Fault) providertest.Step {
	if f.Status != 0 {
		step = providertest.Fail(f.Status, f.Text())
		if f.RetryAfter > 0 {
			step = step.Later(strconv.Itoa(int(f.RetryAfter.Round(time.Second).Seconds())))
		}
	}
	step.Hang, step.Cut, step.Slow = f.Hang, f.Cut, f.Slow
	return step
}
