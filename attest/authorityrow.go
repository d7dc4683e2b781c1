package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cutroom"
)

// failure is the one document of failures.
type failure struct {
	Code, Message, Hint string
	Approval            string `json:"approval_id"`
}

// failuresIn finds the documents of failures in what reached the model.
func failuresIn(text string) []failure {
	var list []failure
	for l := range strings.Lines(text) {
		i := strings.Index(l, `{"status":"failed"`)
		if i < 0 {
			continue
		}
		var f struct {
			Error failure `json:"error"`
		}
		if json.NewDecoder(strings.NewReader(l[i:])).Decode(&f) == nil {
			list = append(list, f.Error)
		}
	}
	return list
}

// failureIn is the last failure in a text; the zero one when there is none.
func failureIn(text string) failure {
	list := failuresIn(text)
	if len(list) == 0 {
		return failure{}
	}
	return list[len(list)-1]
}

// waits says whether a failure names the request and the command for the operator.
func (f failure) waits() bool {
	return f.Code == string(cutroom.NeedsApproval) && f.Approval != "" && strings.Contains(f.Hint, "`cutroom approve "+f.Approval+"`")
}

// authorityRows say what became of a request that the operator approved.
func (a *attestation) authorityRows(o *ordeal) []Row {
	return []Row{o.askedRow(), o.shellRow(), o.onceRow(), o.onlyRow()}
}

// askedRow: with a passphrase no dialog stands for the operator, whoever is named.
func (o *ordeal) askedRow() Row {
	row := Row{Check: "an edit outside of what it is allowed waits for the operator", Passed: o.asked.waits() && len(o.dialogs) == 0}
	if row.Passed {
		row.Observed = "code " + code(o.asked.Code) + ", the id and " + code("cutroom approve ID") + " reach the model; no dialog while a passphrase is set"
	}
	return row
}

// shellRow: each attempt was refused, and left its row in the audit.
func (o *ordeal) shellRow() Row {
	row := Row{Check: "the host's own shell cannot approve it", Passed: o.asked.Approval != "" && o.waiting == string(cutroom.ApprovalPending)}
	var names []string
	exit := fmt.Sprint("exit code ", cutroom.Denied.Facts().Exit)
	rows := 0
	for i, try := range attempts {
		rows += try.rows
		names = append(names, try.name)
		row.Passed = row.Passed && i < len(o.tried) && strings.Contains(o.tried[i], exit)
		if row.Passed {
			f := failureIn(o.tried[i])
			row.Passed = f.Code == string(cutroom.Denied) && strings.Contains(f.Message, try.says)
		}
	}
	row.Passed = row.Passed && o.noted == rows
	if row.Passed {
		row.Observed = code("cutroom approve ID") + " is refused: " + strings.Join(names, "; ") + ". The request waits, the audit has a row of each refusal"
	}
	return row
}

// onceRow: what the operator approved ran, and by that approval alone.
func (o *ordeal) onceRow() Row {
	ran := slices.DeleteFunc(slices.Clone(o.edits), func(r auditRow) bool { return r.Outcome != cutroom.OutcomeOK })
	row := Row{Check: "once the operator approved it on another terminal, the same call runs once"}
	row.Passed = o.asked.Approval != "" && o.approved == string(cutroom.ApprovalApproved) && o.spent == string(cutroom.ApprovalSpent) && o.replaced &&
		len(failuresIn(o.ran)) == 0 && strings.Contains(o.ran, wanted) && len(ran) == 1 && ran[0].Approval == o.asked.Approval
	if row.Passed {
		row.Observed = "with the passphrase, in the same session; the file is replaced, the audit has one edit, by that approval"
	}
	return row
}

// onlyRow: the approval was for no other call, and for no second one.
func (o *ordeal) onlyRow() Row {
	row := Row{Check: "an approval serves no other call, and none twice"}
	row.Passed = o.other.waits() && o.other.Approval != o.asked.Approval && strings.Contains(o.other.Message, "other arguments") &&
		o.again.waits() && o.again.Approval != o.asked.Approval && strings.Contains(o.again.Message, "was used already") && o.untouched
	if row.Passed {
		row.Observed = "other arguments and a third call are " + code(o.again.Code) + " with requests of their own; nothing is written"
	}
	return row
}

// row: a no is final, and so is a dialog that nobody answered.
func (q question) row() Row {
	row := Row{Check: "a dialog that is refused or closed is final"}
	kept := q.untouched && q.first.Approval != "" && q.second.Approval == q.first.Approval
	waits := q.first.waits() && q.second.waits() && q.state == string(cutroom.ApprovalPending)
	denied := q.first.Code == string(cutroom.Denied) && q.second.Code == string(cutroom.Denied) && q.state == string(cutroom.ApprovalDenied)
	action := ""
	if len(q.dialogs) == 1 {
		action = q.dialogs[0].action
	}
	switch {
	case !kept:
	case !q.announced && len(q.dialogs) == 0 && waits:
		row.Passed, row.Observed = true, "it announces no dialogs and is sent none; the request waits for "+code("cutroom approve ID")
	case q.announced && action == "decline" && denied:
		row.Passed, row.Observed = true, "unattended it refuses the one dialog ("+code(action)+"): code "+code(q.first.Code)+", and the same call again is, without a second dialog"
	case q.announced && action == "cancel" && waits:
		row.Passed, row.Observed = true, "unattended it closes the one dialog ("+code(action)+"): the request waits for "+code("cutroom approve ID")+", and the same call again brings no second dialog"
	}
	return row
}
