package audit

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Query reads the audit.
var Query = tool.Add(Family, tool.Spec[QueryInput, QueryOutput]{
	Name:        "audit.query",
	Summary:     "List what was done and refused, the newest first",
	Description: "List calls and decisions as they were written down, the newest first: who, which tool, what was decided and why, what became of it. Rows hold ids and digests, never what was given or answered. An agent sees the rows of its own name only; the operator sees all.",
	Kind:        cutroom.Read,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Timeout:     30 * time.Second,
	Examples:    []QueryInput{{Max: 50}, {Since: "2h", Tool: "edit.*", Outcome: "denied", Max: 50}},
	Run:         query,
})

// QueryInput chooses rows. What is empty chooses nothing away.
type QueryInput struct {
	Since     string `json:"since,omitempty" max:"40" doc:"From this time on: RFC 3339 such as 2026-05-01T12:00:00Z, or how long ago, such as 90m, 2h or 3d."`
	Until     string `json:"until,omitempty" max:"40" doc:"Before this time, in the same forms."`
	Type      string `json:"type,omitempty" max:"100" doc:"Type of the rows: capability.invoke, approval.decided, approval.revoked, decision.refused, grant.changed, policy.changed, key.rotated, attestation.signed, operation.settled, config.changed, token.changed, database.restored or database.migrated."`
	Tool      string `json:"tool,omitempty" max:"100" doc:"The tool, or a family such as edit.*"`
	Principal string `json:"principal,omitempty" max:"100" doc:"Name of who called."`
	Outcome   string `json:"outcome,omitempty" max:"40" doc:"ok, unknown, or the code of an error such as denied or needs_approval."`
	RunID     string `json:"run_id,omitempty" max:"64" doc:"The recorded result, or the first digits of its id."`
	CallID    string `json:"call_id,omitempty" max:"40" doc:"One call, with the calls that it made."`
	Before    int64  `json:"before,omitzero" min:"1" doc:"Rows before this one only: next_before of an earlier answer."`
	Max       int    `json:"max,omitzero" min:"1" max:"200" default:"50" doc:"Most rows."`
}

// Validate checks the times and the type.
func (q QueryInput) Validate() error {
	for _, t := range []struct{ name, text string }{{"since", q.Since}, {"until", q.Until}} {
		if _, err := when(t.text, time.Time{}); err != nil {
			return cutroom.Errorf(cutroom.Invalid, "%s: %q is neither a time as in RFC 3339 nor a length of time such as 2h or 3d", t.name, t.text)
		}
	}
	if q.Type != "" && !slices.Contains(cutroom.AuditTypes(), q.Type) {
		return cutroom.Errorf(cutroom.Invalid, "no rows have the type %q", q.Type).WithHint("the types are %s", strings.Join(cutroom.AuditTypes(), ", "))
	}
	return nil
}

// when reads a point in time; nothing is none.
func when(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, cutroom.Errorf(cutroom.Invalid, "%q is no time", text)
	}
	return now.Add(-d), nil
}

// QueryOutput is the answer.
type QueryOutput struct {
	cutroom.Unrecorded
	Rows       []Row `json:"rows" doc:"The rows, the newest first."`
	NextBefore int64 `json:"next_before,omitzero" min:"0" doc:"Give it as before to read on; absent when there are no more rows."`
}

// Row is one row.
type Row struct {
	Seq       int64          `json:"seq" min:"1" doc:"Place in the chain."`
	At        string         `json:"at" doc:"When it was written down, RFC 3339."`
	Type      string         `json:"type" doc:"What the row speaks of."`
	CallID    string         `json:"call_id,omitempty" doc:"The call."`
	ParentID  string         `json:"parent_id,omitempty" doc:"The call that made this one, or that the row is about."`
	Principal string         `json:"principal" doc:"Who."`
	Role      string         `json:"role" doc:"operator or agent."`
	ToolID    string         `json:"tool_id,omitempty" doc:"The tool as it was named."`
	Kind      string         `json:"kind,omitempty" doc:"The authority that the call took."`
	Decision  string         `json:"decision,omitempty" doc:"allow, deny or ask; absent when the rules were not asked."`
	Reason    string         `json:"reason,omitempty" doc:"Why it was decided so."`
	Approval  string         `json:"approval_id,omitempty" doc:"The approval that was spent."`
	Grant     string         `json:"grant_id,omitempty" doc:"The grant that allowed it."`
	Outcome   string         `json:"outcome" doc:"ok, unknown, or the code of an error."`
	RunID     string         `json:"run_id,omitempty" doc:"The recorded result."`
	Input     string         `json:"input_sha256,omitempty" doc:"Of the request."`
	Output    string         `json:"output_sha256,omitempty" doc:"Of the answer."`
	Seconds   cutroom.Micros `json:"seconds" min:"0" unit:"s" doc:"How long it took."`
	Detail    string         `json:"detail,omitempty" doc:"What else is to be said."`
	Hash      string         `json:"hash" doc:"Of this row and all before it."`
}

func query(ctx context.Context, env tool.Env, in QueryInput) (QueryOutput, error) {
	out := QueryOutput{Rows: []Row{}}
	now := time.Now()
	since, err := when(in.Since, now)
	if err != nil {
		return out, err
	}
	until, err := when(in.Until, now)
	if err != nil {
		return out, err
	}
	rows, err := env.Audit().Query(ctx, cutroom.AuditFilter{
		Since: since, Until: until, Principal: in.Principal, Type: cutroom.AuditType(in.Type), Tool: in.Tool, Outcome: in.Outcome,
		Run: in.RunID, Call: in.CallID, Before: in.Before, Max: in.Max + 1,
	})
	if err != nil {
		return out, err
	}
	if len(rows) > in.Max {
		rows = rows[:in.Max]
		out.NextBefore = rows[in.Max-1].Seq
	}
	for _, e := range rows {
		out.Rows = append(out.Rows, Row{
			Seq: e.Seq, At: e.At.UTC().Format("2006-01-02T15:04:05.000Z"), Type: string(e.Type), CallID: e.Call, ParentID: e.Parent,
			Principal: e.Principal.Name, Role: string(e.Principal.Role), ToolID: e.Tool, Kind: string(e.Kind),
			Decision: e.Decision, Reason: e.Reason, Approval: e.Approval, Grant: e.Grant, Outcome: e.Outcome, RunID: string(e.Run),
			Input: string(e.Input), Output: string(e.Output), Seconds: cutroom.Micros(e.Elapsed.Microseconds()), Detail: e.Detail, Hash: string(e.Hash),
		})
	}
	return out, nil
}
