package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/engine"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
)

// answerName is what the question to the operator is called in a result.
const answerName = "approval"

// asked answers a call that needs an approval with a question to the operator in the
// host's own dialog, when the operator's file names this host and nothing forbids it.
// Everywhere else the answer is nil: the failure names the command to run. A call that
// comes back with an answer is not asked about again, nor is one whose dialog was closed.
func (s *server) asked(ctx context.Context, req *mcp.CallToolRequest, id string) *mcp.CallToolResult {
	if len(req.Params.InputResponses) > 0 || req.Params.RequestState != "" {
		return nil
	}
	request, sheet, _, ok := s.elicitable(ctx, req, id)
	if !ok || s.closed.has(request.ID) {
		return nil
	}
	var b strings.Builder
	for _, r := range sheet.Rows() {
		fmt.Fprintf(&b, "%s: %s\n", r.Name, evidence.Terminal(r.Value))
	}
	fmt.Fprintf(&b, "Allow exactly this call, once? The request is %s.", request.ID)
	return &mcp.CallToolResult{
		RequestState: request.ID,
		InputRequests: mcp.InputRequestMap{answerName: &mcp.ElicitParams{
			Mode: "form", Message: clip(s.Redact.Text(s.scrub(b.String(), req.Params.Arguments)), maxText), RequestedSchema: question{},
		}},
	}
}

// closed are the requests whose dialog a person closed, until the server ends. They wait
// for the command: a model that makes its call again and again does not make a person
// say no again and again.
type closed struct {
	mu  sync.Mutex
	ids map[string]bool
}

// mostClosed bounds what is remembered; beyond it they may be asked about once more.
const mostClosed = 1000

func (c *closed) has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[id]
}

func (c *closed) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil || len(c.ids) >= mostClosed {
		c.ids = map[string]bool{}
	}
	c.ids[id] = true
}

// question is the form of the dialog: a plain accept is not enough.
type question struct{}

// MarshalJSON returns the schema of the form.
func (question) MarshalJSON() ([]byte, error) {
	return []byte(`{"type":"object","properties":{"decision":{"type":"string","enum":["allow once","refuse"],"description":"What you decide about exactly this call."}},"required":["decision"]}`), nil
}

// answered takes the operator's answer, if the call comes with one. A no is final.
func (s *server) answered(ctx context.Context, req *mcp.CallToolRequest) error {
	id := req.Params.RequestState
	answer, ok := req.Params.InputResponses[answerName].(*mcp.ElicitResult)
	if !ok || answer == nil || id == "" {
		return nil
	}
	request, _, bound, ok := s.elicitable(ctx, req, id)
	if !ok {
		return nil // the call itself says what it needs
	}
	host := clientName(req)
	v := cutroom.SayDeny
	switch said, _ := answer.Content["decision"].(string); {
	case answer.Action == "cancel":
		s.closed.add(request.ID)
		return nil
	case answer.Action == "accept" && said == "allow once":
		seal, err := s.Approvals.Seal(nil, bound, "operator in "+host)
		if err != nil {
			return err
		}
		v, ctx = cutroom.SayApprove, approval.WithSeal(ctx, seal)
	}
	in, err := tool.Encode(struct {
		ID       string `json:"id"`
		Decision string `json:"decision"`
	}{request.ID, v})
	if err != nil {
		return err
	}
	_, err = s.Engine.Invoke(ctx, engine.Call{Tool: "approval.decide", Input: in, Principal: cutroom.Operator})
	return err
}

// elicitable says whether this host's dialog may stand for the operator about a
// request: only a host that the operator's file names, one that has dialogs, never
// where a passphrase is asked for, and never for a call that reaches the network.
func (s *server) elicitable(ctx context.Context, req *mcp.CallToolRequest, id string) (request cutroom.Approval, sheet cutroom.Sheet, bound cutroom.Digest, ok bool) {
	if s.Approvals == nil || !slices.Contains(s.ElicitationHosts, clientName(req)) || !hasDialogs(req) {
		return request, sheet, bound, false
	}
	if _, wrapped, err := s.Approvals.Keys().Present(); err != nil || wrapped {
		return request, sheet, bound, false
	}
	request, err := s.Approvals.Get(ctx, s.Principal, id)
	if err != nil || request.State != cutroom.ApprovalPending || request.Workspace != s.Engine.Workspace {
		return request, sheet, bound, false
	}
	sheet, bound, err = s.Engine.Review(ctx, request)
	return request, sheet, bound, err == nil && bound == request.Bound && sheet.Destination == ""
}

// clientName is how the host calls itself, "" when it did not say.
func clientName(req *mcp.CallToolRequest) string {
	if c := req.ClientInfo(); c != nil {
		return c.Name
	}
	return ""
}

func hasDialogs(req *mcp.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil
}
