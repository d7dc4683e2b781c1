package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cutroom/internal/provider"
	"cutroom/internal/tool"
)

// Parse reads a script file, YAML or JSON: a list of entries with the keys goal, steps and
// final. Every key is known or refused, with its line and the nearest known one.
func Parse(data []byte) (*Script, error) {
	root, err := treeOf(data)
	if err != nil {
		return nil, err
	}
	if root.kind != list {
		return nil, fault(root.line, "the file holds %s, and not a list of entries", root.kind).WithHint("begin each entry with `- goal:`")
	}
	s := &Script{}
	for _, n := range root.items {
		e, err := entryOf(n)
		if err != nil {
			return nil, err
		}
		s.entries = append(s.entries, e)
	}
	return s, s.check()
}

// fields reads a mapping: by names the function of each known key.
func (o *node) fields(what string, known map[string]func(*node) error) error {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	if o.kind != mapping {
		return fault(o.line, "%s is %s", what, o.kind).WithHint("write it as a mapping with the keys %s", strings.Join(names, ", "))
	}
	for _, m := range o.keys {
		read, ok := known[m.name]
		if !ok {
			hint := "known keys here: " + strings.Join(names, ", ")
			if near := tool.Nearest(m.name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fault(m.line, "%s has no key %.60q", what, m.name).WithHint("%s", hint)
		}
		if err := read(m.value); err != nil {
			return err
		}
	}
	return nil
}

func entryOf(n *node) (entry, error) {
	e := entry{line: n.line}
	final := step{line: n.line}
	goal := false
	err := n.fields("an entry", map[string]func(*node) error{
		"goal": func(v *node) error { goal = true; return v.to(text, &e.Goal, "goal") },
		"steps": func(v *node) error {
			if v.kind != list {
				return fault(v.line, "steps is %s", v.kind).WithHint("begin each step with `- calls:`")
			}
			for _, item := range v.items {
				s, err := stepOf(item)
				if err != nil {
					return err
				}
				e.Steps, e.steps = append(e.Steps, s.Step), append(e.steps, s)
			}
			return nil
		},
		"final": func(v *node) (err error) {
			if v.kind == text {
				final = step{Step: Step{Say: v.text}, line: v.line}
				return nil
			}
			final, err = stepOf(v)
			return err
		},
	})
	if err == nil && !goal {
		err = fault(n.line, "the entry has no goal").WithHint("say with `goal:` which prompts it is for; \"\" is every one")
	}
	e.Final, e.steps = final.Step, append(e.steps, final)
	return e, err
}

func (o *node) to(want kind, into *string, name string) error {
	if o.kind != want {
		return fault(o.line, "%s is %s", name, o.kind).WithHint("write it as %s, in quotes if it looks like something else", want)
	}
	*into = o.text
	return nil
}

func stepOf(n *node) (step, error) {
	s := step{line: n.line}
	err := n.fields("a step", map[string]func(*node) error{
		"say":   func(v *node) error { return v.to(text, &s.Say, "say") },
		"think": func(v *node) error { return v.to(text, &s.Think, "think") },
		"calls": func(v *node) error {
			if v.kind != list {
				return fault(v.line, "calls is %s", v.kind).WithHint("begin each call with `- tool:`")
			}
			for _, item := range v.items {
				c, err := callOf(item)
				if err != nil {
					return err
				}
				s.Calls = append(s.Calls, c)
			}
			return nil
		},
		"usage": func(v *node) (err error) { s.Usage, err = usageOf(v); return err },
		"fault": func(v *node) (err error) { s.Fault, err = faultOf(v); return err },
	})
	return s, err
}

func callOf(n *node) (Call, error) {
	var c Call
	err := n.fields("a call", map[string]func(*node) error{
		"tool": func(v *node) error { return v.to(text, &c.Tool, "tool") },
		"input": func(v *node) error {
			if v.kind != mapping {
				return fault(v.line, "input is %s", v.kind).WithHint("write the tool's fields as keys, or leave input out")
			}
			c.Input = v.json()
			return nil
		},
	})
	if err == nil && c.Tool == "" {
		err = fault(n.line, "the call has no tool").WithHint("name one with `tool:`; `cutroom tool list` lists them")
	}
	return c, err
}

func (o *node) int(into *int64, name string) error {
	v, err := strconv.ParseInt(o.text, 10, 64)
	if o.kind != number || err != nil {
		return fault(o.line, "%s is no whole number", name).WithHint("write it in digits")
	}
	*into = v
	return nil
}

func usageOf(n *node) (provider.Usage, error) {
	var u provider.Usage
	whole := func(into *int64, name string) func(*node) error {
		return func(v *node) error {
			err := v.int(into, name)
			if err == nil && *into < 0 {
				err = fault(v.line, "%s is negative", name).WithHint("count tokens from 0")
			}
			return err
		}
	}
	err := n.fields("usage", map[string]func(*node) error{
		"input": whole(&u.Input, "input"), "output": whole(&u.Output, "output"), "cached": whole(&u.Cached, "cached"), "thinking": whole(&u.Thinking, "thinking"),
	})
	return u, err
}

func faultOf(n *node) (*Fault, error) {
	f := &Fault{}
	number := func(into *int, name string) func(*node) error {
		return func(v *node) error {
			var n int64
			if err := v.int(&n, name); err != nil {
				return err
			}
			if n < -1 || n > 1_000_000 {
				return fault(v.line, "%s is %d", name, n).WithHint("a number between 0 and 1000000")
			}
			*into = int(n)
			return nil
		}
	}
	yes := func(into *bool, name string) func(*node) error {
		return func(v *node) error {
			if v.kind != boolean {
				return fault(v.line, "%s is %s", name, v.kind).WithHint("write true or false")
			}
			*into = v.text == "true"
			return nil
		}
	}
	span := func(into *time.Duration, name string) func(*node) error {
		return func(v *node) (err error) {
			if *into, err = time.ParseDuration(v.text); err != nil || v.kind != text {
				return fault(v.line, "%s is no time", name).WithHint("write it as 300ms or 7s")
			}
			return nil
		}
	}
	err := n.fields("a fault", map[string]func(*node) error{
		"status": number(&f.Status, "status"), "times": number(&f.Times, "times"),
		"message": func(v *node) error { return v.to(text, &f.Message, "message") },
		"model":   func(v *node) error { return v.to(text, &f.Model, "model") },
		"cut":     yes(&f.Cut, "cut"), "hang": yes(&f.Hang, "hang"),
		"slow": span(&f.Slow, "slow"), "retry_after": span(&f.RetryAfter, "retry_after"),
	})
	return f, err
}

// String is the script as a person recognises it.
func (s *Script) String() string {
	return fmt.Sprintf("a script of %d entries", len(s.entries))
}
