package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Ids of three requests.
const (
	firstID  = "aaaaaaaaaaaaaaa2"
	secondID = "bbbbbbbbbbbbbbb3"
	thirdID  = "ccccccccccccccc4"
)

func waiting(id, why string) failure {
	return failure{Code: "needs_approval", Message: why, Hint: "have the operator run `cutroom approve " + id + "`", Approval: id}
}

// endured is what is seen when all goes as it has to.
func endured() *ordeal {
	o := &ordeal{
		asked: waiting(firstID, "ask"), waiting: "pending", approved: "approved",
		other: waiting(secondID, "the approval is for other arguments"), ran: "output: out.mp4", replaced: true,
		again: waiting(thirdID, "the approval was used already"), untouched: true, spent: "spent",
		edits: []auditRow{{Outcome: "needs_approval"}, {Outcome: "ok", Approval: firstID}, {Outcome: "needs_approval"}},
	}
	for _, try := range attempts {
		o.tried = append(o.tried, fmt.Sprintf(`{"status":"failed","error":{"code":"denied","message":"%s","hint":"x"}}`, try.says)+"\nexit code 4\n")
		o.noted += try.rows
	}
	return o
}

// Each row fails by what it is about, and by nothing else.
func TestAuthorityRows(t *testing.T) {
	t.Parallel()
	const asked, shell, once, only = 0, 1, 2, 3
	a := &attestation{}
	for name, row := range map[string]struct {
		spoil func(*ordeal)
		fails []int
	}{
		"nothing":               {func(*ordeal) {}, nil},
		"it was allowed":        {func(o *ordeal) { o.asked = failure{} }, []int{asked, shell, once}},
		"denied, not asked":     {func(o *ordeal) { o.asked.Code = "denied" }, []int{asked}},
		"no command":            {func(o *ordeal) { o.asked.Hint = "ask somebody" }, []int{asked}},
		"another's command":     {func(o *ordeal) { o.asked.Hint = strings.Replace(o.asked.Hint, firstID, secondID, 1) }, []int{asked}},
		"a dialog":              {func(o *ordeal) { o.dialogs = []dialog{{"cancel"}} }, []int{asked}},
		"the shell approved it": {func(o *ordeal) { o.waiting = "approved" }, []int{shell}},
		"an attempt succeeded":  {func(o *ordeal) { o.tried[1] = `{"state":"approved"}` + "\nexit code 0\n" }, []int{shell}},
		"refused otherwise":     {func(o *ordeal) { o.tried[0] = strings.Replace(o.tried[0], "denied", "internal", 1) }, []int{shell}},
		"the shell had no such": {func(o *ordeal) { o.tried[2] = "cutroom: not found\nexit code 127\n" }, []int{shell}},
		"no guess was made":     {func(o *ordeal) { o.tried[4] = o.tried[0] }, []int{shell}},
		"an attempt is missing": {func(o *ordeal) { o.tried = o.tried[:3] }, []int{shell}},
		"no row of an attempt":  {func(o *ordeal) { o.noted-- }, []int{shell}},
		"not approved":          {func(o *ordeal) { o.approved = "pending" }, []int{once}},
		"it failed":             {func(o *ordeal) { o.ran = `{"status":"failed","error":{"code":"internal","message":"out.mp4"}}` }, []int{once}},
		"nothing was said":      {func(o *ordeal) { o.ran = "" }, []int{once}},
		"the file is the same":  {func(o *ordeal) { o.replaced = false }, []int{once}},
		"not spent":             {func(o *ordeal) { o.spent = "approved" }, []int{once}},
		"it ran twice":          {func(o *ordeal) { o.edits = append(o.edits, o.edits[1]) }, []int{once}},
		"by another approval":   {func(o *ordeal) { o.edits[1].Approval = secondID }, []int{once}},
		"no row of the edit":    {func(o *ordeal) { o.edits = nil }, []int{once}},
		"another call ran":      {func(o *ordeal) { o.other = failure{} }, []int{only}},
		"by the same request":   {func(o *ordeal) { o.other = waiting(firstID, o.other.Message) }, []int{only}},
		"a third call ran":      {func(o *ordeal) { o.again = failure{} }, []int{only}},
		"for another reason":    {func(o *ordeal) { o.again.Message = "the approval is for another file at an output" }, []int{only}},
		"it was written":        {func(o *ordeal) { o.untouched = false }, []int{only}},
	} {
		o := endured()
		row.spoil(o)
		var failed []int
		for i, r := range a.authorityRows(o) {
			if !r.Passed {
				failed = append(failed, i)
			}
			if r.Passed != (r.Observed != "") {
				t.Errorf("%s: %q says %q", name, r.Check, r.Observed)
			}
		}
		if !slices.Equal(failed, row.fails) {
			t.Errorf("%s: the rows %v fail, want %v", name, failed, row.fails)
		}
	}
}

// A no is final only when nobody was asked again, and what the host can do is told apart.
func TestDialogRow(t *testing.T) {
	t.Parallel()
	denied := failure{Code: "denied", Message: "the operator refused this very call", Approval: firstID}
	wait := waiting(firstID, "ask")
	refused := question{true, []dialog{{"decline"}}, denied, denied, "denied", true}
	closed := question{true, []dialog{{"cancel"}}, wait, wait, "pending", true}
	none := question{false, nil, wait, wait, "pending", true}
	for name, row := range map[string]struct {
		from  question
		spoil func(*question)
		want  string // part of what is observed; "" fails
	}{
		"refused":                {refused, func(*question) {}, "`decline`"},
		"closed":                 {closed, func(*question) {}, "`cancel`"},
		"no dialogs":             {none, func(*question) {}, "announces no dialogs"},
		"asked again":            {refused, func(q *question) { q.dialogs = append(q.dialogs, q.dialogs[0]) }, ""},
		"closed and asked again": {closed, func(q *question) { q.dialogs = append(q.dialogs, q.dialogs[0]) }, ""},
		"never asked":            {closed, func(q *question) { q.dialogs = nil }, ""},
		"asked unannounced":      {none, func(q *question) { q.dialogs = []dialog{{"cancel"}} }, ""},
		"never answered":         {closed, func(q *question) { q.dialogs[0].action = "" }, ""},
		"accepted":               {closed, func(q *question) { q.dialogs = []dialog{{"accept"}} }, ""},
		"refused, and it waits":  {refused, func(q *question) { q.first, q.second, q.state = wait, wait, "pending" }, ""},
		"refused, and it ran":    {refused, func(q *question) { q.second = failure{} }, ""},
		"closed, and it ran":     {closed, func(q *question) { q.untouched = false }, ""},
		"closed, and it is gone": {closed, func(q *question) { q.state = "void" }, ""},
		"another request":        {closed, func(q *question) { q.second = waiting(secondID, "ask") }, ""},
	} {
		q := row.from
		q.dialogs = slices.Clone(q.dialogs)
		row.spoil(&q)
		r := q.row()
		if r.Passed != (row.want != "") || !strings.Contains(r.Observed, row.want) {
			t.Errorf("%s: passed %t, %q", name, r.Passed, r.Observed)
		}
	}
}

// Both forms of a dialog are seen, with the answers that belong to them.
func TestDialogsAreSeen(t *testing.T) {
	t.Parallel()
	passed := func(from, id, method, params, result string) message {
		m := message{from: from, Method: method, Params: []byte(params), Result: []byte(result)}
		if id != "" {
			m.ID = []byte(id)
		}
		return m
	}
	legacy := &session{messages: []message{
		passed("host", "0", "initialize", `{"capabilities":{"elicitation":{"form":{}}}}`, ""),
		passed("host", "1", "tools/call", `{"name":"edit_cut"}`, ""),
		passed("server", "1", "elicitation/create", `{"message":"?"}`, ""),
		passed("host", "2", "ping", `{}`, ""),
		passed("host", "1", "", "", `{"action":"decline"}`),
		passed("server", "1", "", "", `{"isError":true}`),
		passed("server", "5", "elicitation/create", `{"message":"?"}`, ""),
	}}
	modern := &session{messages: []message{
		passed("host", "1", "tools/call", `{"name":"edit_cut","_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}`, ""),
		passed("server", "1", "", "", `{"resultType":"input_required","inputRequests":{"approval":{}}}`),
		passed("host", "2", "tools/call", `{"name":"edit_cut","inputResponses":{"approval":{"action":"cancel"}}}`, ""),
		passed("server", "2", "", "", `{"isError":true}`),
	}}
	silent := &session{messages: []message{
		passed("host", "0", "initialize", `{"capabilities":{"roots":{}}}`, ""),
		passed("host", "1", "tools/call", `{"name":"edit_cut"}`, ""),
		passed("server", "1", "", "", `{"isError":true}`),
	}}
	for _, row := range []struct {
		s         *session
		want      []dialog
		announced bool
	}{
		{legacy, []dialog{{"decline"}, {""}}, true},
		{modern, []dialog{{"cancel"}}, true},
		{silent, nil, false},
	} {
		if d := cmp.Diff(row.want, row.s.dialogs(), cmp.AllowUnexported(dialog{})); d != "" || row.s.hasDialogs() != row.announced {
			t.Errorf("announced %t: %s", row.s.hasDialogs(), d)
		}
	}
}
