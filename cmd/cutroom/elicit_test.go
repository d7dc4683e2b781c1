package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/mcpserver"
)

// TestDialogs: a host's dialog stands for the operator only where the operator's file
// names the host and no passphrase is asked for; a no is final, and so is a dialog that
// was closed: nobody is asked again, and what was closed waits for the command.
func TestDialogs(t *testing.T) {
	for _, row := range []struct {
		name, host  string
		answer      mcp.ElicitResult
		passphrase  bool
		asked, runs bool
		code        cutroom.Code
	}{
		{name: "allowed", host: "named", answer: mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow once"}}, asked: true, runs: true},
		{name: "refused", host: "named", answer: mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "refuse"}}, asked: true, code: cutroom.Denied},
		{name: "declined", host: "named", answer: mcp.ElicitResult{Action: "decline"}, asked: true, code: cutroom.Denied},
		{name: "closed", host: "named", answer: mcp.ElicitResult{Action: "cancel"}, asked: true, code: cutroom.NeedsApproval},
		{name: "another host", host: "other", answer: mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow once"}}, code: cutroom.NeedsApproval},
		{name: "with a passphrase", host: "named", passphrase: true, answer: mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow once"}}, code: cutroom.NeedsApproval},
	} {
		for _, version := range []string{"", "2025-11-25"} { // the stateless protocol, and one with a session
			t.Run(row.name+" "+version, func(t *testing.T) {
				a := ask(t)
				if row.passphrase {
					if err := a.Approvals.Keys().SetPassphrase(nil, []byte("correct horse")); err != nil {
						t.Fatal(err)
					}
				}
				s, err := mcpserver.New(mcpserver.Options{Engine: a.Engine, Jobs: a.Jobs, Approvals: a.Approvals, ElicitationHosts: []string{"named"}})
				if err != nil {
					t.Fatal(err)
				}
				near, far := mcp.NewInMemoryTransports()
				if _, err := s.Connect(t.Context(), far, nil); err != nil {
					t.Fatal(err)
				}
				var shown []string
				client := mcp.NewClient(&mcp.Implementation{Name: row.host, Version: "1"}, &mcp.ClientOptions{
					ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						shown = append(shown, r.Params.Message)
						return &row.answer, nil
					},
				})
				c, err := client.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "edit_cut", Arguments: json.RawMessage(a.call.Input)})
				if err != nil {
					t.Fatal(err)
				}
				if (len(shown) == 1) != row.asked || len(shown) > 1 {
					t.Errorf("asked %d times", len(shown))
				}
				for _, m := range shown {
					if !strings.Contains(m, "Writes: out.mp4  REPLACES a file of 17 bytes") || !strings.Contains(m, "Who: agent (agent)") || strings.Contains(m, a.dir) {
						t.Errorf("the dialog shows %s", m)
					}
				}
				if r.IsError == row.runs {
					t.Fatalf("%v: %v", r.IsError, r.Content[0])
				}
				now, err := os.ReadFile(filepath.Join(a.dir, "out.mp4"))
				if err != nil || (string(now) == "what stands there") == row.runs {
					t.Errorf("the file: %d bytes, %v", len(now), err)
				}
				if row.runs {
					rows, err := a.Audit.Query(t.Context(), cutroom.AuditFilter{Tool: "edit.cut", Outcome: "ok", Max: 1})
					if err != nil || len(rows) != 1 || rows[0].Approval == "" {
						t.Errorf("%+v, %v", rows, err)
					}
					return
				}
				var f cutroom.Failure
				if err := json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &f); err != nil || f.Error.Code != row.code || f.Error.ApprovalID == "" {
					t.Errorf("%+v, %v", f, err)
				}
				if !row.asked {
					return
				}
				for range 3 { // final: nobody is asked again
					r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "edit_cut", Arguments: json.RawMessage(a.call.Input)})
					if err != nil || !r.IsError || len(shown) != 1 {
						t.Fatalf("%v, %v, asked %d times", r, err, len(shown))
					}
					var again cutroom.Failure
					if err := json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &again); err != nil || again.Error.Code != row.code || again.Error.ApprovalID != f.Error.ApprovalID {
						t.Errorf("%+v, %v", again, err)
					}
				}
				state := cutroom.ApprovalPending
				if row.code == cutroom.Denied {
					state = cutroom.ApprovalDenied
				}
				if r, err := a.Approvals.Get(t.Context(), cutroom.Operator, f.Error.ApprovalID); err != nil || r.State != state {
					t.Errorf("the request is %s, %v", r.State, err)
				}
				// Another call is another question.
				other := strings.Replace(string(a.call.Input), `"1"`, `"2"`, 1)
				if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "edit_cut", Arguments: json.RawMessage(other)}); err != nil || len(shown) != 2 {
					t.Errorf("%v, asked %d times", err, len(shown))
				}
			})
		}
	}
}
