package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/provider"
)

// Bounds of a script.
const (
	MaxEntries = 1000
	MaxSteps   = 10_000 // of one entry
	MaxCalls   = 64     // of one step
)

// Script is what the model plays. It is a value that does not change; [New] and [Parse]
// make it.
type Script struct{ entries []entry }

// Entry is what the model does for one goal.
type Entry struct {
	Goal  string // a part of the prompt, or /a regular expression/; "" fits every prompt
	Steps []Step
	Final Step // the last answer, which has no calls
}

// Step is one answer of the model: a text, calls of tools, or both. A text within Say and
// within the strings of an input may hold references to earlier results of the entry:
// ${steps[0].calls[1].output.FIELD[0].X}, with " + 20" or " - 0.5" behind a number,
// and " as time" behind seconds that shall read h:mm:ss.mmm;
// ${steps[0].calls[1].text} is the whole result as the model was shown it, ${files[0]} a
// file that the prompt names ([Files]), and $${ is ${.
// A string of an input that is one reference and nothing else becomes what it refers to,
// whatever that is.
type Step struct {
	Say   string
	Think string // shown as thought where the wire has a place for it
	Calls []Call // made side by side
	Usage provider.Usage
	Fault *Fault // goes wrong first
}

// Call is one call of a tool.
type Call struct {
	Tool  string         // as cutroom names it (edit.cut), or as the request offers it (edit_cut)
	Input jsontext.Value // a JSON object; empty is {}
}

// Fault is what goes wrong before an answer comes. Zero fields do nothing.
type Fault struct {
	Status     int           // of HTTP, from 400 on, in the place of the answer
	Message    string        // what the service says of it
	RetryAfter time.Duration // what it asks for, in whole seconds
	Cut        bool          // half of the answer comes, then the connection ends
	Hang       bool          // nothing comes, until the caller gives up
	Slow       time.Duration // the answer waits this long; it comes, unless something else is set
	Times      int           // how often, in this process, for each model; 0 is once, -1 always
	Model      string        // only where this model is asked; "" is every one
}

// entry is an Entry that was checked.
type entry struct {
	Entry
	goal  *regexp.Regexp // nil: Goal is a part of the prompt
	steps []step         // with the final one behind them
	line  int
}

type step struct {
	Step
	line int
	say  template
	in   [][]template // the strings of each input, in order
}

// New checks a script that a program wrote.
func New(entries ...Entry) (*Script, error) {
	s := &Script{}
	for _, e := range entries {
		out := entry{Entry: e}
		for _, st := range append(slices.Clone(e.Steps), e.Final) {
			st.Calls = slices.Clone(st.Calls)
			out.steps = append(out.steps, step{Step: st})
		}
		s.entries = append(s.entries, out)
	}
	return s, s.check()
}

// Must is New for scripts that are part of a test's own text.
func Must(entries ...Entry) *Script {
	s, err := New(entries...)
	if err != nil {
		panic(err)
	}
	return s
}

// Do makes a call out of JSON, for [Step].Calls.
func Do(tool, input string) Call { return Call{Tool: tool, Input: jsontext.Value(input)} }

// Goals lists what the entries wait for, in order.
func (s *Script) Goals() []string {
	var list []string
	for _, e := range s.entries {
		list = append(list, e.Goal)
	}
	return list
}

// Tools lists the tools that the script calls, each once, in order.
func (s *Script) Tools() []string {
	var list []string
	seen := map[string]bool{}
	for _, e := range s.entries {
		for _, st := range e.Steps {
			for _, c := range st.Calls {
				if !seen[c.Tool] {
					seen[c.Tool] = true
					list = append(list, c.Tool)
				}
			}
		}
	}
	return list
}

func (s *Script) check() error {
	if n := len(s.entries); n == 0 || n > MaxEntries {
		return fault(0, "it has %d entries", n).WithHint("write between 1 and %d entries, each with a goal", MaxEntries)
	}
	for i := range s.entries {
		if err := s.entries[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) check() error {
	if pattern, ok := strings.CutPrefix(e.Goal, "/"); ok && strings.HasSuffix(pattern, "/") && len(pattern) > 1 {
		var err error
		if e.goal, err = regexp.Compile(strings.TrimSuffix(pattern, "/")); err != nil {
			return fault(e.line, "the goal %.60q is no regular expression", e.Goal).WithHint("see https://pkg.go.dev/regexp/syntax, or write a part of the goal without slashes")
		}
	}
	if n := len(e.steps) - 1; n > MaxSteps {
		return fault(e.line, "the entry has %d steps", n).WithHint("at most %d", MaxSteps)
	}
	for i := range e.steps {
		last := i == len(e.steps)-1
		if err := e.steps[i].check(e.steps[:i], last); err != nil {
			return err
		}
	}
	return nil
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// check checks a step by what stands before it.
func (s *step) check(before []step, last bool) error {
	switch {
	case last && strings.TrimSpace(s.Say) == "":
		return fault(s.line, "the entry has no final text").WithHint("say with `final:` what the model answers at the end")
	case last && len(s.Calls) > 0:
		return fault(s.line, "the final answer has calls").WithHint("make them a step of `steps`")
	case !last && len(s.Calls) == 0:
		return fault(s.line, "the step has no calls").WithHint("a run ends with an answer without calls: write its text as `final`")
	case len(s.Calls) > MaxCalls:
		return fault(s.line, "the step has %d calls", len(s.Calls)).WithHint("at most %d", MaxCalls)
	}
	if err := s.Fault.check(s.line); err != nil {
		return err
	}
	var err error
	if s.say, err = s.template(s.Say, before); err != nil {
		return err
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		if !toolName.MatchString(c.Tool) {
			return fault(s.line, "%.60q is no name of a tool", c.Tool).WithHint("`cutroom tool list` lists them")
		}
		if len(c.Input) == 0 {
			c.Input = jsontext.Value("{}")
		}
		if !c.Input.IsValid() || c.Input.Kind() != '{' {
			return fault(s.line, "the input of %s is no mapping of keys", c.Tool).WithHint("`cutroom tool show %s` shows what it takes", c.Tool)
		}
		var in []template
		for text := range strs(c.Input) {
			t, err := s.template(text, before)
			if err != nil {
				return err
			}
			in = append(in, t)
		}
		s.in = append(s.in, in)
	}
	return nil
}

func (f *Fault) check(line int) error {
	if f == nil {
		return nil
	}
	ends := 0
	for _, is := range []bool{f.Status != 0, f.Cut, f.Hang} {
		if is {
			ends++
		}
	}
	switch {
	case ends > 1:
		return fault(line, "the fault is several at once").WithHint("keep one of status, cut and hang; slow may stand beside them")
	case ends == 0 && f.Slow == 0:
		return fault(line, "the fault is none").WithHint("set one of status, cut, hang, slow")
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return fault(line, "the fault's status is %d", f.Status).WithHint("between 400 and 599")
	case f.Slow < 0 || f.Slow > time.Hour || f.RetryAfter < 0 || f.RetryAfter > 24*time.Hour:
		return fault(line, "the fault's times are out of bounds").WithHint("slow: at most 1h, retry_after: at most 24h")
	case f.Times < -1 || f.Times > MaxSteps:
		return fault(line, "the fault comes %d times", f.Times).WithHint("1 to %d, or -1 for always", MaxSteps)
	}
	return nil
}

// fits says whether a prompt is the entry's.
func (e *entry) fits(prompt string) bool {
	if e.goal != nil {
		return e.goal.MatchString(prompt)
	}
	return strings.Contains(prompt, e.Goal)
}

// badRequest is what a script cannot answer.
func badRequest(format string, args ...any) *provider.Fault {
	text := fmt.Sprintf(format, args...)
	return &provider.Fault{
		Class: provider.BadRequest, Status: 400, Message: "script: " + text,
		Err: cutroom.Errorf(cutroom.Invalid, "script: %s", text),
	}
}
