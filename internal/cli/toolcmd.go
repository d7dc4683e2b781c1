package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/docgen"
	"cutroom/internal/policy"
	"cutroom/internal/setup"
	"cutroom/internal/tool"
)

// toolCommands is `cutroom tool`: the registry itself.
func (a *App) toolCommands() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tool", Short: "List, describe and call tools by their id", GroupID: groupProgram, Args: a.unknownCommand,
		RunE: a.help,
	}
	cmd.AddCommand(a.toolListCommand(), a.toolShowCommand(), a.toolInvokeCommand(), a.serveVideoCommand())
	for _, f := range a.registry.Families() {
		if f.Name != toolFamily {
			continue
		}
		for _, t := range f.Tools() {
			cmd.AddCommand(a.toolCommand(t, "cutroom tool", dashed(t.Verb()), false))
		}
	}
	if t, ok := a.registry.Find("media.watch"); ok {
		cmd.AddCommand(a.toolCommand(t, "cutroom tool", "watch", true))
	}
	return cmd
}

func (a *App) toolListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tools with their limits", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			listed, err := a.listed()
			if err != nil {
				return err
			}
			if a.flags.json {
				a.printJSON(docgen.Contract(a.registry, docgen.ContractOptions{}, among(listed)))
				return nil
			}
			w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "TOOL\tKIND\tTIME\tFRAMES\tNETWORK\tPROGRAMS\tWHAT FOR")
			for _, t := range listed {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.Kind, seconds(t), frames(t), network(t),
					orDash(strings.Join(a.registry.Programs(t), ",")), t.Summary)
			}
			return w.Flush()
		},
	}
}

// listed are the tools that exist for the caller.
func (a *App) listed() ([]*tool.Tool, error) {
	p, err := setup.Policy(a.Dir, a.flags.root)
	if err != nil {
		return nil, err
	}
	who := a.principal()
	var listed []*tool.Tool
	for _, t := range a.registry.Tools() {
		if p.Lists(who, policy.Tool{Name: t.Name, Scope: t.Scope}) && p.Ceiling(who, t.Kind).Effect == policy.Allow {
			listed = append(listed, t)
		}
	}
	return listed, nil
}

func seconds(t *tool.Tool) string { return fmt.Sprintf("%ds", int(t.Timeout.Seconds())) }

func frames(t *tool.Tool) string {
	if t.MaxFrames == 0 {
		return "-"
	}
	return fmt.Sprint(t.MaxFrames)
}

func network(t *tool.Tool) string {
	if t.Network {
		return "asks"
	}
	return "none"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// findTool returns the tool of that id, or says which is nearest.
func (a *App) findTool(id string) (*tool.Tool, error) {
	listed, err := a.listed()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range listed {
		if t.Name == id || t.MCPName() == id {
			return t, nil
		}
		names = append(names, t.Name)
	}
	e := cutroom.Errorf(cutroom.NotFound, "there is no tool %q", short(id))
	if near := tool.Nearest(id, names); near != "" {
		return nil, e.WithHint("did you mean %s? `cutroom tool list` shows all", near)
	}
	return nil, e.WithHint("`cutroom tool list` shows all")
}

func (a *App) toolShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Describe one tool, with its schemas", Args: exactly("ID"),
		ValidArgsFunction: a.completeTools,
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := a.findTool(args[0])
			if err != nil {
				return err
			}
			if a.flags.json {
				a.printJSON(docgen.Entry(a.registry, t, docgen.ContractOptions{}))
				return nil
			}
			_, err = a.Stdout.Write(docgen.ToolPage(a.registry, t))
			return err
		},
	}
}

func (a *App) toolInvokeCommand() *cobra.Command {
	var file string
	c := &calling{}
	cmd := &cobra.Command{
		Use: "invoke ID --input FILE|-", Short: "Call a tool with a JSON document", Args: exactly("ID"),
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := a.request(file, "cutroom tool invoke "+args[0])
			if err != nil {
				return err
			}
			return a.invoke(cmd.Context(), args[0], input, a.principal(), c)
		},
	}
	cmd.Flags().StringVarP(&file, "input", "i", "", "file with the JSON of the request; - reads standard input")
	c.declare(cmd, nil)
	return cmd
}

// request reads the JSON that --input names, for the command that is given.
func (a *App) request(file, command string) ([]byte, error) {
	switch file {
	case "":
		return nil, usagef("--input is missing").withHint("%s --input FILE, or - for standard input", command)
	case "-":
		return limited(a.Stdin, "standard input")
	}
	return readLimited(paths{dir: a.Dir}.absolute(file), file)
}

func (a *App) completeTools(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, t := range a.registry.Tools() {
		ids = append(ids, t.Name+"\t"+t.Summary)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// exactly is the argument check of a command with these words and no other.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s is missing", names[len(args)]).withHint("%s %s", cmd.CommandPath(), strings.Join(names, " "))
		case len(args) > len(names):
			return usagef("%q is one argument too many", short(args[len(names)])).withHint("%s %s", cmd.CommandPath(), strings.Join(names, " "))
		}
		return nil
	}
}
