package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/policy"
	"cutroom/internal/setup"
)

// policyCommand is what calls are allowed, and why.
func (a *App) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "Show, check and explain what calls are allowed", GroupID: groupProgram, Args: a.unknownCommand,
		Long: "What calls are allowed: the operator's rules in cutroom.yaml, before the shipped ones, narrowed by the workspace's cutroom.yaml. docs/authority.md says how rules are written and read.",
		RunE: a.help,
	}
	cmd.AddCommand(a.policyShowCommand(), a.policyCheckCommand(), a.policyExplainCommand())
	return cmd
}

func (a *App) policyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Print the policy as it holds here: ceilings, principals and rules in order", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := setup.Policy(a.Dir, a.flags.root)
			if err != nil {
				return err
			}
			s := p.Show()
			if a.flags.json {
				a.printJSON(s)
				return nil
			}
			for _, w := range append(s.Roles, s.Principals...) {
				a.printPrincipal(w)
			}
			for n, r := range s.Rules {
				fmt.Fprintf(a.Stdout, "%3d. %-5s %s%s\n     %s\n     %s\n", n+1, r.Effect, clean(r.Rule), clean(place(r.Layer, r.Line)), clean(string(r.Conditions)), clean(r.Reason))
			}
			fmt.Fprintf(a.Stdout, "digest: %s\n", s.Digest)
			return nil
		},
	}
}

func (a *App) printPrincipal(w policy.ShownPrincipal) {
	kinds := make([]string, len(w.Kinds))
	for i, k := range w.Kinds {
		kinds[i] = string(k)
	}
	line := fmt.Sprintf("%s (%s): %s", w.Name, w.Role, orDash(strings.Join(kinds, ", ")))
	for _, globs := range w.Tools {
		line += "; tools " + strings.Join(globs, " ")
	}
	for _, globs := range w.Scopes {
		line += "; scopes " + strings.Join(globs, " ")
	}
	fmt.Fprintln(a.Stdout, clean(line))
}

// place says where a rule stands.
func place(layer string, line int) string {
	switch {
	case line == 0:
		return ""
	case layer == "":
		return fmt.Sprintf(" (cutroom.yaml, line %d)", line)
	}
	return fmt.Sprintf(" (%s, line %d)", layer, line)
}

func (a *App) policyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Say what is wrong with the rules, and which never decide", Args: perhaps("FILE"),
		Long: "Read the user's cutroom.yaml, or FILE in its place, with the workspace's, and list: faults of form by their line, rules that others leave nothing for, rules that contradict each other, names of tools, members and principals that do not exist. The exit code is 2 when something is wrong.",
		RunE: func(_ *cobra.Command, args []string) error {
			file := ""
			if len(args) > 0 {
				file = args[0]
			}
			found, err := setup.CheckPolicy(a.Dir, a.flags.root, file, a.registry)
			if err != nil {
				return err
			}
			status := "ok"
			for _, f := range found {
				if f.Fault {
					status, a.exit = "wrong", cutroom.Invalid.Facts().Exit
				}
			}
			if a.flags.json {
				a.printJSON(struct {
					Status   string                `json:"status"`
					Findings []setup.PolicyFinding `json:"findings"`
				}{status, found})
				return nil
			}
			a.printFindings(found)
			return nil
		},
	}
}

func (a *App) printFindings(found []setup.PolicyFinding) {
	for _, f := range found {
		line := f.File
		if f.Line > 0 {
			line += fmt.Sprintf(":%d", f.Line)
		}
		word := "note"
		if f.Fault {
			word = f.Kind
		}
		rule := ""
		if f.Rule != "" {
			rule = fmt.Sprintf("%q: ", f.Rule)
		}
		fmt.Fprintln(a.Stdout, clean(fmt.Sprintf("%s: %s: %s%s", line, word, rule, f.Message)))
		if f.Hint != "" {
			fmt.Fprintln(a.Stdout, clean("  "+f.Hint))
		}
	}
	if len(found) == 0 {
		fmt.Fprintln(a.Stdout, "nothing is wrong")
	}
}

func (a *App) policyExplainCommand() *cobra.Command {
	var file, as string
	cmd := &cobra.Command{
		Use: "explain TOOL [MEMBER=VALUE]…", Short: "Say whether a call would be allowed, which rule decides, and what would have to change",
		Long: "Ask every guard as the call would be asked, and run nothing. The input is given as members (limits.max_frames=8; a value that is JSON is read as such) or as a JSON document with --input. " +
			"Paths are relative to the workspace. The exit code is 0 when the call is allowed, 4 when the rules or a ceiling refuse it or ask, and that of the call when it is refused before the rules, such as 2 for an input that is not there.",
		Example: "  cutroom policy explain edit.export input=talk.mp4 preset=youtube output=talk_youtube.mp4 --as agent\n  cutroom policy explain video.probe --input request.json",
		Args:    first("TOOL"), ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			who, err := a.asked(i.Engine.Policy, as)
			if err != nil {
				return err
			}
			input, err := a.members(file, args[0], args[1:])
			if err != nil {
				return err
			}
			v := i.Engine.Explain(cmd.Context(), engine.Call{Tool: args[0], Input: input, Principal: who})
			if refusal := v.Refusal(); refusal != nil {
				a.exit = refusal.Code.Facts().Exit
			} else if v.Answer != string(policy.Allow) {
				a.exit = cutroom.Denied.Facts().Exit
			}
			if a.flags.json {
				a.printJSON(v)
				return nil
			}
			a.printVerdict(v)
			return nil
		},
	}
	cmd.Flags().StringVarP(&file, "input", "i", "", "file with the JSON of the request; - reads standard input")
	cmd.Flags().StringVar(&as, "as", "", "principal that would make the call (default: who calls now)")
	return cmd
}

// perhaps is the argument check of a command that takes one word or none.
func perhaps(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%q is one argument too many", short(args[1])).withHint("%s [%s]", cmd.CommandPath(), name)
		}
		return nil
	}
}

// first is the argument check of a command that takes one word and perhaps more.
func first(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s is missing", name).withHint("`%s --help` says what it takes", cmd.CommandPath())
		}
		return nil
	}
}

// asked is the principal of that name. An agent learns what agents may do: asked about
// the operator's call, the answer would tell of files that it cannot see.
func (a *App) asked(p policy.Policy, name string) (cutroom.Principal, error) {
	me := a.principal()
	if name == "" {
		return me, nil
	}
	who, ok := p.Named(name)
	if !ok {
		return who, cutroom.Errorf(cutroom.NotFound, "there is no principal %q", short(name)).WithHint("`cutroom policy show` lists them")
	}
	if me.Role == cutroom.RoleAgent && who.Role != cutroom.RoleAgent {
		return who, cutroom.Errorf(cutroom.Denied, "an agent cannot ask as %s", who.Name).WithHint("leave --as away, or have a person ask")
	}
	return who, nil
}

// members puts the input of a call together.
func (a *App) members(file, id string, args []string) ([]byte, error) {
	if file != "" {
		if len(args) > 0 {
			return nil, usagef("the input is given twice").withHint("give members, or --input")
		}
		return a.request(file, "cutroom policy explain "+id)
	}
	doc := document{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, usagef("%q is not MEMBER=VALUE", short(arg)).withHint("cutroom policy explain %s input=talk.mp4", id)
		}
		var v any = value
		if raw := json.RawMessage(value); json.Valid(raw) {
			v = raw
		}
		doc.set(strings.Split(name, "."), v)
	}
	return json.Marshal(doc)
}

// printVerdict says what would become of a call.
func (a *App) printVerdict(v *engine.Verdict) {
	out := func(format string, args ...any) { fmt.Fprintln(a.Stdout, clean(fmt.Sprintf(format, args...))) }
	if e := v.Refusal(); e != nil {
		out("refused before the rules: %s: %s", e.Code, e.Message)
		if e.Hint != "" {
			out("  %s", e.Hint)
		}
		return
	}
	x := v.Policy
	out("%s %s by %s: %s", x.Effect, v.Tool, v.Principal.Name, x.Reason)
	if x.Rule == "" && x.Effect == policy.Deny {
		out("no rule decides: what nothing allows is denied")
	}
	for _, r := range x.Rules {
		mark := "  "
		if r.Decides {
			mark = "* "
		}
		name := r.Rule
		if r.As != v.Principal.Name {
			name += " (for every " + r.As + ")"
		}
		out("%s%-5s %s%s", mark, r.Effect, name, place(r.Layer, r.Line))
		for _, c := range r.Conditions {
			if c.Holds != policy.Yes {
				word := "not met"
				if c.Holds == policy.Unknown {
					word = "not known"
				}
				out("        %s: %s: wants %s, is %s", word, c.Condition, c.Wants, c.Finds)
			}
		}
	}
	for _, s := range x.Change {
		out("to change it: %s", s)
	}
}
