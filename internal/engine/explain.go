package engine

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/policy"
)

// Verdict is what would become of a call, as far as that is a question of authority.
type Verdict struct {
	Tool      string            `json:"tool"`
	Principal cutroom.Principal `json:"principal"`
	Kind      cutroom.Kind      `json:"kind,omitempty"`
	// Answer is the one thing that would become of the call: refused before the rules,
	// or what they say, which is allow, deny or ask.
	Answer string `json:"answer"`
	// Guards are what a call passes in order. A refused one ends it, whatever follows.
	Guards []Guard `json:"guards"`
	// Policy is the answer of the rules; nil when they cannot be asked. Of a call that is
	// refused before them it is what they would say.
	Policy *policy.Explanation `json:"policy,omitempty"`
}

// Guard is one question that a call is asked before and while the policy decides.
type Guard struct {
	Guard  string                 `json:"guard"`
	Passes bool                   `json:"passes"`
	Error  *cutroom.FailureDetail `json:"error,omitempty"`
}

// Explain asks every guard as a call would be asked, and runs nothing. Inputs that cannot
// be opened are not known to the policy.
func (e *Engine) Explain(ctx context.Context, c Call) *Verdict {
	k := &call{Call: c, e: e, started: e.Now()}
	k.Progress = nil
	defer k.close()
	v := &Verdict{Tool: c.Tool, Principal: c.Principal, Answer: Refused, Guards: []Guard{}}
	if !v.pass("the tool is offered", k.find()) {
		return v
	}
	v.Tool = k.tool.Name
	if !v.pass("the arguments are valid", k.decode()) {
		return v
	}
	k.DryRun = true // nothing is counted
	opened := v.pass("the files are there and may be used", k.open(ctx))
	q, err := k.question(ctx)
	if err == nil && !opened {
		k.guess(&q)
	}
	v.Kind = q.Kind
	if d := e.Policy.Ceiling(k.Principal, q.Kind); err == nil && d.Effect != policy.Allow {
		err = cutroom.Errorf(cutroom.Denied, "%s", d.Reason)
	}
	if !v.pass("the kind is within the ceiling", err) {
		return v
	}
	if _, err = k.decide(ctx, &q); !v.pass("the policy can be asked", err) {
		return v
	}
	x := e.Policy.Explain(q)
	v.Policy = &x
	if v.Refusal() == nil {
		v.Answer = string(x.Effect)
	}
	return v
}

// Refused is the answer to a call that the rules are not asked about.
const Refused = "refused"

// Refusal is the error that ends the call before the rules, nil when none does.
func (v *Verdict) Refusal() *cutroom.FailureDetail {
	for _, g := range v.Guards {
		if !g.Passes {
			return g.Error
		}
	}
	return nil
}

// guess fills in what an unopened call is known to be: where its outputs would lie, and
// that nothing is known of its inputs.
func (k *call) guess(q *policy.Request) {
	q.Inputs, q.Outputs, q.Bytes = []string{""}, nil, nil
	// Visiting alone fails nowhere.
	_ = eachOut(reflect.ValueOf(k.in), func(_, text string) error {
		where := ""
		if root, rel, err := k.e.writable(k.Principal, text); err == nil {
			where = k.e.real(root + "/" + rel)
		}
		q.Outputs = append(q.Outputs, where)
		return nil
	})
	if q.Writes = len(q.Outputs) > 0; q.Writes && (q.Kind == cutroom.Read || q.Kind == cutroom.Preview) {
		q.Kind = cutroom.Execute
	}
	q.Overwrite = q.Writes && k.intent().Overwrite
}

// pass notes a guard's answer and returns whether it let the call through.
func (v *Verdict) pass(guard string, err error) bool {
	g := Guard{Guard: guard, Passes: err == nil}
	if err != nil {
		f := cutroom.AsError(err).Failure().Error
		g.Error = &f
	}
	v.Guards = append(v.Guards, g)
	return err == nil
}

// longestHint bounds a call that is spelled out in a hint, in bytes.
const longestHint = 400

// explained is a hint that says which rule decides about the call: the command that
// explains it, as it can be typed in the workspace.
func (k *call) explained() string {
	const other = "`cutroom policy show` lists the rules; the reason above is that of the one that decides"
	var members map[string]json.RawMessage
	if json.Unmarshal(k.Input, &members) != nil {
		return other
	}
	words := []string{"cutroom policy explain", k.tool.Name}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		word, ok := typed(name, members[name])
		if !ok {
			return other
		}
		words = append(words, word)
	}
	line := strings.Join(append(words, "--as", k.Principal.Name), " ")
	if len(line) > longestHint {
		return other
	}
	return "`" + line + "` says which rule decides"
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,%+-]+$`)

// typed is a member of a request as a word of a command line; false where it cannot be
// said in one, or names a place outside of the workspace.
func typed(name string, value json.RawMessage) (string, bool) {
	word := string(value)
	var text string
	if json.Unmarshal(value, &text) == nil {
		if strings.HasPrefix(text, "/") {
			return "", false
		}
		if !json.Valid([]byte(text)) { // else it would be read as what it spells
			word = text
		}
	}
	word = name + "=" + word
	switch {
	case strings.ContainsAny(word, "`'\\") || strings.Contains(word, `"/`) || !strconv.CanBackquote(word):
		return "", false
	case plainWord.MatchString(word):
		return word, true
	}
	return "'" + word + "'", true
}
