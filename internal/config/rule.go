package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
)

// Policy is the operator's rules, read before the shipped ones.
type Policy struct {
	Rules []Rule `yaml:"rules" doc:"Rules, in order. A deny rule that matches anywhere denies; else the first allow or ask rule that matches decides, those here before the shipped ones. Rules of a workspace only narrow: deny and ask."`
}

// Rule is one rule. A condition that is left out holds for every call.
type Rule struct {
	Name           string   `yaml:"name" doc:"What answers and explanations call it. Default: rule and its number."`
	Effect         string   `yaml:"effect" enum:"allow,deny,ask" doc:"allow, deny or ask."`
	Reason         string   `yaml:"reason" doc:"One sentence for whoever is answered by it."`
	Principals     []string `yaml:"principals" doc:"Names: operator, agent, or of principals."`
	Roles          []string `yaml:"roles" enum:"operator,agent" doc:"operator or agent."`
	Tools          []string `yaml:"tools" doc:"Globs over tool ids, e.g. edit.*."`
	Kinds          []string `yaml:"kinds" enum:"read,preview,propose,approve,execute" doc:"Kinds of call: read, preview, propose, approve, execute. To write a named file is to execute."`
	Risks          []string `yaml:"risks" enum:"low,medium,high" doc:"low, medium or high, as the tool's page says."`
	Network        Choice   `yaml:"network" doc:"true: calls that can reach a host; false: those that cannot; any. Default any, of an allow rule false."`
	Writes         Choice   `yaml:"writes" doc:"true: calls that name a file to write; false: those that do not; any. Default any."`
	Overwrite      Choice   `yaml:"overwrite" doc:"true: calls that would replace a file; false: those that would not; any. Default any, of an allow rule false."`
	Origins        []string `yaml:"origins" doc:"Globs over the host that is reached, e.g. https://*.example.com; a port that is not the scheme's own follows a colon."`
	Inputs         []string `yaml:"inputs" doc:"Folders, relative to the workspace or absolute: an input lies beneath one of them (of an allow rule: every input)."`
	InputsOutside  []string `yaml:"inputs_outside" doc:"An input lies beneath none of these (of an allow rule: every input)."`
	Outputs        []string `yaml:"outputs" doc:"An output lies beneath one of these (of an allow rule: every output)."`
	OutputsOutside []string `yaml:"outputs_outside" doc:"An output lies beneath none of these (of an allow rule: every output)."`
	Where          []Where  `yaml:"where" doc:"Conditions on the arguments; all have to hold."`
	Within         Amounts  `yaml:"within" doc:"What the call at most amounts to; all have to hold."`
	Over           Amounts  `yaml:"over" doc:"What the call has to exceed; one is enough."`
	Line           int      `yaml:"-"`
}

// Where is one condition on the arguments, with exactly one test.
type Where struct {
	At      string   `yaml:"at" doc:"JSON pointer into the input as the tool's page shows it, e.g. /limits/max_frames; * stands for every element of a list (of an allow rule: each has to hold; of another: one)."`
	Equals  Scalar   `yaml:"equals" doc:"A text, a number, true or false."`
	In      []Scalar `yaml:"in" doc:"One of these."`
	AtLeast Scalar   `yaml:"at_least" doc:"A number; times are in seconds."`
	AtMost  Scalar   `yaml:"at_most" doc:"A number; times are in seconds."`
	Glob    string   `yaml:"glob" doc:"A pattern over the whole text; * does not match /."`
	Beneath string   `yaml:"beneath" doc:"A folder, relative to the workspace or absolute, in which the path lies."`
	Present Choice   `yaml:"present" doc:"true: it is there; false: it is not."`
	Not     bool     `yaml:"not" doc:"Turns the test round. Not with present."`
	Line    int      `yaml:"-"`
}

// Amounts are quantities of one call.
type Amounts struct {
	Bytes        Scalar `yaml:"bytes" doc:"Size of all inputs together, bytes."`
	Seconds      Scalar `yaml:"seconds" doc:"Length of all inputs together, seconds. The inputs are probed for it."`
	Cost         Scalar `yaml:"cost" doc:"What the call costs, in your currency. A call whose cost is not known is within none and over any."`
	CallsPerHour Scalar `yaml:"calls_per_hour" doc:"Calls that the rule let through in this hour of the clock, this one among them, counted for each principal."`
}

// Principal is a principal with a name of its own: it may do what the plain one of its
// role may, narrowed by this.
type Principal struct {
	Name   string   `yaml:"name" doc:"What rules and records call it: lower-case letters, digits, - and _."`
	Role   string   `yaml:"role" enum:"operator,agent" default:"agent" doc:"operator or agent."`
	Tools  []string `yaml:"tools" doc:"Globs over tool ids; what matches none does not exist for it."`
	Kinds  []string `yaml:"kinds" enum:"read,preview,propose,approve,execute" doc:"Kinds of call it may make."`
	Scopes []string `yaml:"scopes" doc:"Globs over the scopes that it holds, e.g. tool:edit.*; a tool of another scope does not exist for it."`
	Limits Limits   `yaml:"limits" doc:"Largest values that its calls may ask for."`
	Line   int      `yaml:"-"`
}

// Choice is true, false, any, or "" when it is left out.
type Choice string

// UnmarshalYAML reads a truth or the word any.
func (c *Choice) UnmarshalYAML(n *yaml.Node) error {
	switch n.Value {
	case "true", "false", "any":
		*c = Choice(n.Value)
		return nil
	}
	return &yaml.TypeError{Errors: []string{at(n, "%q is not true, false or any", short(n.Value))}}
}

// Is returns what the choice fixes; nil for any. One that is left out is def.
func (c Choice) Is(def Choice) *bool {
	if c == "" {
		c = def
	}
	if c != "true" && c != "false" {
		return nil
	}
	is := c == "true"
	return &is
}

// Scalar is a text, a number or a truth, as JSON; "" when it is left out.
type Scalar string

// UnmarshalYAML keeps the digits of a number as they are written.
func (s *Scalar) UnmarshalYAML(n *yaml.Node) error {
	refuse := func(what string) error {
		return &yaml.TypeError{Errors: []string{at(n, "%s", what)}}
	}
	if n.Kind != yaml.ScalarNode {
		return refuse("this is a list or a mapping, not one value")
	}
	switch n.ShortTag() {
	case "!!str":
		*s = Scalar(quote(n.Value))
	case "!!bool":
		*s = Scalar(strings.ToLower(n.Value))
	case "!!int", "!!float":
		if !plainNumber(n.Value) {
			return refuse("write the number in decimal digits, as 1800 or 0.5")
		}
		*s = Scalar(n.Value)
	default:
		return refuse("this is not a text, a number or true or false")
	}
	return nil
}

// plainNumber says whether text is a JSON number without exponent, of a size that is
// compared exactly.
func plainNumber(text string) bool {
	whole, fraction, dotted := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && len(whole) <= 18 && (whole == "0" || whole[0] != '0') && (!dotted || digits(fraction) && len(fraction) <= 9)
}

// isNumber says whether s is one.
func (s Scalar) isNumber() bool { return plainNumber(string(s)) }

// Whole is a whole number that is not negative; nil when it is left out.
func (s Scalar) Whole() *int64 {
	n, err := strconv.ParseInt(string(s), 10, 64)
	if s == "" || err != nil {
		return nil
	}
	return &n
}

// Micros is a number to six digits after the point; nil when it is left out.
func (s Scalar) Micros() *cutroom.Micros {
	m, err := cutroom.ParseMicros(string(s))
	if s == "" || err != nil {
		return nil
	}
	return &m
}
