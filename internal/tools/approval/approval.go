// Package approval holds the tools about calls that a person has to allow.
package approval

import (
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Family is the approval.* tools.
var Family = tool.NewFamily("approval", "Ask for what a person has to allow", cutroom.ContractVersion)

// Entry is a request for approval as it is shown.
type Entry struct {
	ID        string                `json:"approval_id" doc:"The request."`
	State     cutroom.ApprovalState `json:"state" enum:"pending,approved,denied,spent,revoked,expired,void" doc:"pending: waits for the operator. approved: the very same call runs once. The others are over."`
	ToolID    string                `json:"tool_id" doc:"The tool that is to be called."`
	Principal string                `json:"principal" doc:"Who asked, and alone may make the call."`
	Why       string                `json:"why" doc:"Why a person has to decide."`
	PlanFirst bool                  `json:"plan_first,omitzero" doc:"Whether the caller wanted its plan approved."`
	Requested string                `json:"requested" doc:"When it was asked for, RFC 3339."`
	Decided   string                `json:"decided,omitempty" doc:"When it was decided, RFC 3339."`
	DecidedBy string                `json:"decided_by,omitempty" doc:"Who decided."`
	Expires   string                `json:"expires" doc:"When the request, or the approval, ends, RFC 3339."`
	Run       string                `json:"run_id,omitempty" doc:"The call that used it up."`
	Sheet     *cutroom.Sheet        `json:"sheet,omitempty" doc:"What the operator sees before deciding."`
}

func entry(a cutroom.Approval, whole bool) Entry {
	e := Entry{
		ID: a.ID, State: a.State, ToolID: a.Tool, Principal: a.Principal.Name, Why: a.Why, PlanFirst: a.PlanFirst,
		Requested: moment(a.Requested), Decided: moment(a.Decided), DecidedBy: a.By, Expires: moment(a.Expires), Run: string(a.Run),
	}
	if whole {
		e.Sheet = &a.Sheet
	}
	return e
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// next is what to do now.
func next(a cutroom.Approval) string {
	switch a.State {
	case cutroom.ApprovalPending:
		return "have the operator run `cutroom approve " + a.ID + "` on a terminal; then make the very same call"
	case cutroom.ApprovalApproved:
		return "make the very same call now; it runs once"
	}
	return "make the call again to ask again"
}
