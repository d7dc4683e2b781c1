package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/policy"
)

// TestRecordsAskThePolicy: what a tool found out about a medium is read by whom the
// policy lets use the tool on it, and each read of a record is one row.
func TestRecordsAskThePolicy(t *testing.T) {
	t.Parallel()
	agents := []cutroom.Role{cutroom.RoleAgent}
	for name, row := range map[string]struct {
		rule    policy.Rule
		by      cutroom.Principal // who made the result
		allowed bool
	}{
		"no rule":                    {rule: policy.Rule{Effect: policy.Allow, Tools: []string{"other.*"}}, by: cutroom.Operator, allowed: true},
		"the folder is denied":       {rule: policy.Rule{Effect: policy.Deny, Roles: agents, Inputs: []string{"secret"}}, by: cutroom.Operator},
		"another folder is denied":   {rule: policy.Rule{Effect: policy.Deny, Roles: agents, Inputs: []string{"sec"}}, by: cutroom.Operator, allowed: true},
		"the tool is denied":         {rule: policy.Rule{Effect: policy.Deny, Roles: agents, Tools: []string{"engine.*"}}, by: cutroom.Operator},
		"an argument is denied":      {rule: policy.Rule{Effect: policy.Deny, Roles: agents, Where: []policy.Where{{At: "/input", Beneath: []string{"secret"}}}}, by: cutroom.Operator},
		"denied since, its own":      {rule: policy.Rule{Effect: policy.Deny, Roles: agents, Inputs: []string{"secret"}}, by: cutroom.Agent},
		"asked about, the operators": {rule: policy.Rule{Effect: policy.Ask, Roles: agents, Inputs: []string{"secret"}}, by: cutroom.Operator},
		"asked about, its own":       {rule: policy.Rule{Effect: policy.Ask, Roles: agents, Inputs: []string{"secret"}}, by: cutroom.Agent, allowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			if err := os.Mkdir(filepath.Join(h.dir, "secret"), 0o700); err != nil {
				t.Fatal(err)
			}
			h.write("secret/s", "hidden")
			made, err := h.Invoke(t.Context(), Call{Tool: "engine.engine_test", Input: []byte(`{"input":"secret/s"}`), Principal: row.by})
			if err != nil {
				t.Fatal(err)
			}
			row.rule.Name = "the rule"
			h.Policy.Rules = append([]policy.Rule{row.rule}, h.Policy.Rules...)
			h.Policy.Root = h.dir
			before := len(h.rows())
			r, err := h.Recorded(t.Context(), cutroom.Agent, string(made.Run))
			if (err == nil) != row.allowed || err != nil && cutroom.AsError(err).Code != cutroom.Denied {
				t.Errorf("read: %v, %v", r, err)
			}
			rows := h.rows()[before:]
			want := "engine.engine_test read allow ok a record was read"
			switch {
			case !row.allowed:
				want = "denied a record was asked for"
			case row.rule.Effect == policy.Ask:
				want = "ask ok a record was read"
			}
			if len(rows) != 1 || !strings.Contains(rows[0], want) {
				t.Errorf("the rows are %q, want %q", rows, want)
			}
			if list := h.Newest(t.Context(), cutroom.Agent, 10); (len(list) == 1) != row.allowed {
				t.Errorf("listed: %+v", list)
			}
			answer, err := h.Answer(t.Context(), cutroom.Agent, string(made.Run))
			if row.rule.Effect == policy.Deny && !row.allowed && err == nil {
				t.Errorf("answered: %s", answer.JSON)
			}
			found, err := h.Stage.Find(t.Context(), string(made.Run))
			if err != nil {
				t.Fatal(err)
			}
			if err := h.MayRecall(t.Context(), cutroom.Agent, found); (err == nil) != row.allowed {
				t.Errorf("what it came from: %v", err)
			}
			if _, err := h.Recorded(t.Context(), cutroom.Operator, string(made.Run)); err != nil {
				t.Errorf("the operator: %v", err)
			}
		})
	}
}
