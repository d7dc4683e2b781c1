package modeltest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Script is what the model does: one step per turn of its own. Past its end the
// model says "script over".
type Script []Step

// Step makes one turn.
type Step struct {
	// Do makes the turn out of the results so far. It has to be a pure function.
	Do func(Past) Turn
	// Again, when set, is asked once the turn has its results: true plays this step
	// once more instead of the next one.
	Again func(Past) bool
}

// Turn is what the model answers: text, calls of tools, or text and then calls.
type Turn struct {
	Text  string
	Calls []Call
	// Search asks the host for tools that it holds back, in these words. The Responses
	// wire alone has it; a host of another wire offers a tool for it.
	Search string
	After  time.Duration // how long the model thinks first
}

// Call is one call of a tool.
type Call struct {
	// Tool is the name as the server of the tool knows it, or as the host lists it: a
	// host's prefix (mcp__SERVER__, SERVER_, a namespace) is found in the request. A
	// name that is not listed is sent as it is.
	Tool string
	// Arguments is a JSON object.
	Arguments json.RawMessage
}

// Past is what the model knows of its own calls, by turn.
type Past struct {
	Turns [][]Result // a turn without calls is empty
}

// Result is the answer to one call.
type Result struct {
	CallID string
	Tool   string // as it was called
	Text   string // the text blocks, one a line
	Images []Image
}

// Last is the newest result, the zero value when there is none.
func (p Past) Last() Result {
	for i := len(p.Turns) - 1; i >= 0; i-- {
		if n := len(p.Turns[i]); n > 0 {
			return p.Turns[i][n-1]
		}
	}
	return Result{}
}

// Find returns the first group (without groups: the whole) of the newest match of a
// pattern in the results, "" when there is none.
func (p Past) Find(pattern *regexp.Regexp) string {
	for i := len(p.Turns) - 1; i >= 0; i-- {
		for k := len(p.Turns[i]) - 1; k >= 0; k-- {
			if m := pattern.FindStringSubmatch(p.Turns[i][k].Text); m != nil {
				return m[min(1, len(m)-1)]
			}
		}
	}
	return ""
}

// Say is a step that says a text.
func Say(text string) Step {
	return Step{Do: func(Past) Turn { return Turn{Text: text} }}
}

// Use is a step that makes calls, side by side when there are several.
func Use(calls ...Call) Step {
	return Step{Do: func(Past) Turn { return Turn{Calls: calls} }}
}

// With makes a call out of a value that encodes as a JSON object. It panics when the
// value does not: a script is written by the test's author.
func With(tool string, arguments any) Call {
	raw, err := json.Marshal(arguments)
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		panic("modeltest: the arguments of " + tool + " are no JSON object")
	}
	return Call{Tool: tool, Arguments: raw}
}

// over is what the model says when its script is.
const over = "script over"

// turn plays the step that a conversation with that past is at.
func (s Script) turn(p Past) Turn {
	at := 0
	for n := range p.Turns {
		if at < len(s) && s[at].Again != nil && s[at].Again(Past{p.Turns[:n+1]}) {
			continue
		}
		at++
	}
	if at >= len(s) {
		return Turn{Text: over}
	}
	return s[at].Do(p)
}

// callID names a call so that its turn can be read from a later request: hosts send
// the calls of one turn back as one message, or as several.
func callID(prefix string, turn, n int, nonce string) string {
	return prefix + "t" + strconv.Itoa(turn) + "_" + strconv.Itoa(n) + "_" + nonce
}

var idTurn = regexp.MustCompile(`^[a-z]+_t(\d+)_\d+_`)

// turnOf reads the turn of a call's id, -1 when it is none of ours.
func turnOf(id string) int {
	m := idTurn.FindStringSubmatch(id)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 1<<20 {
		return -1
	}
	return n
}

// listed is the tool that a call means among those of a request: by its whole name,
// else by what stands after a host's prefix.
func listed(tools []Tool, want string) (Tool, bool) {
	for _, sep := range []string{"", "__", ".", "_"} {
		for _, t := range tools {
			if t.Name == want || sep != "" && strings.HasSuffix(t.Name, sep+want) {
				return t, true
			}
		}
	}
	return Tool{Name: want}, false
}
