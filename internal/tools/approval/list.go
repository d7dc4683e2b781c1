package approval

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// List lists requests.
var List = tool.Add(Family, tool.Spec[ListInput, ListOutput]{
	Name:        "approval.list",
	Summary:     "List requests for approval, the newest first",
	Description: "List the requests for approval of this principal and what became of them, the newest first. Those that ended are listed for 30 days.",
	Kind:        cutroom.Read,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Timeout:     30 * time.Second,
	Examples:    []ListInput{{Max: 20}, {States: []cutroom.ApprovalState{cutroom.ApprovalPending}}},
	Run: func(ctx context.Context, env tool.Env, in ListInput) (ListOutput, error) {
		out := ListOutput{Approvals: []Entry{}}
		most := in.Max
		if in.ID != "" {
			most = everything
		}
		list, err := env.Approvals().List(ctx, most, in.States...)
		for _, a := range list {
			if in.ID == "" || a.ID == in.ID {
				out.Approvals = append(out.Approvals, entry(a, in.Sheets))
			}
		}
		if err == nil && in.ID != "" && len(out.Approvals) == 0 {
			err = cutroom.Errorf(cutroom.NotFound, "there is no request %q", in.ID).WithHint("`cutroom approvals` lists them")
		}
		return out, err
	},
})

// everything is more requests than are kept.
const everything = 1000

// ListInput is the request.
type ListInput struct {
	States []cutroom.ApprovalState `json:"states,omitempty" enum:"pending,approved,denied,spent,revoked,expired,void" doc:"Only requests in these states."`
	ID     string                  `json:"id,omitempty" max:"64" doc:"Only this request: its approval_id."`
	Max    int                     `json:"max,omitzero" min:"1" max:"200" default:"20" doc:"Most requests."`
	Sheets bool                    `json:"sheets,omitzero" doc:"With the sheet of each."`
}

// ListOutput is the answer.
type ListOutput struct {
	cutroom.Unrecorded
	Approvals []Entry `json:"approvals" doc:"The requests."`
}
