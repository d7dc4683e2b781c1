package approval

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Request asks for a call without making it.
var Request = tool.Add(Family, tool.Spec[RequestInput, RequestOutput]{
	Name:        "approval.request",
	Summary:     "Ask the operator to allow one call",
	Description: "Ask for a call that a person has to allow, without making it: the operator gets a sheet with what it does, on which files, and its plan. A call that needs an approval asks by itself; this asks beforehand. Asking twice for the same call is one request.",
	Kind:        cutroom.Propose,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Timeout:     2 * time.Minute,
	Examples:    []RequestInput{{ToolID: "edit.cut", Request: `{"input":"talk.mp4","start":"0","end":"10","output":"clip.mp4","overwrite":true}`}},
	Run: func(ctx context.Context, env tool.Env, in RequestInput) (RequestOutput, error) {
		var out RequestOutput
		a, err := env.Approvals().Request(ctx, in.ToolID, []byte(in.Request))
		switch {
		case err != nil:
			return out, err
		case a.ID == "":
			out.NextStep = "no approval is needed: make the call"
			return out, nil
		}
		e := entry(a, true)
		out.Approval, out.Needed, out.NextStep = &e, true, next(a)
		return out, nil
	},
})

// RequestInput names the call.
type RequestInput struct {
	ToolID  string `json:"tool_id" min:"1" max:"80" doc:"The tool."`
	Request string `json:"request" min:"2" max:"1000000" doc:"Its request, as JSON text: exactly what the call itself will have."`
}

// RequestOutput is the request.
type RequestOutput struct {
	cutroom.Unrecorded
	Needed   bool   `json:"needed" doc:"Whether the call needs an approval at all."`
	Approval *Entry `json:"approval,omitempty" doc:"The request, when one is needed."`
	NextStep string `json:"next_step" doc:"What to do now."`
}
