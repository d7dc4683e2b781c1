package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"cutroom/internal/docgen"
	"cutroom/internal/tool"
)

// contracting are the flags of `cutroom contract`.
type contracting struct {
	static, full bool
	tool, mcp    string
}

func (a *App) contractCommand() *cobra.Command {
	o := contracting{}
	cmd := &cobra.Command{
		Use: "contract", Short: "Print what the tools promise, as one JSON document", GroupID: groupProgram, Args: noArgs,
		Long: "Print the contract of this installation: every tool with its schemas, limits and needs, derived from the registry. It is JSON with and without --json. " +
			"With --tool it is that of one tool, at most 8 kB; --full leaves nothing out.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			listed, err := a.listed()
			if err != nil {
				return err
			}
			if o.tool != "" {
				t, err := a.findTool(o.tool)
				if err != nil {
					return err
				}
				listed = []*tool.Tool{t}
			}
			return a.printContract(cmd, o, listed)
		},
	}
	cmd.Flags().BoolVar(&o.static, "static", false, "only what does not depend on this machine")
	cmd.Flags().StringVar(&o.tool, "tool", "", "one tool, by its id")
	cmd.Flags().BoolVar(&o.full, "full", false, "with --tool: all of it, however long")
	cmd.Flags().StringVar(&o.mcp, "mcp", "", "the tools as a host could list them: full says with unions which members exclude each other")
	// The flag was declared two lines before, so this cannot fail.
	_ = cmd.RegisterFlagCompletionFunc("mcp", cobra.FixedCompletions([]string{"full"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	return cmd
}

func (a *App) printContract(cmd *cobra.Command, o contracting, listed []*tool.Tool) error {
	switch o.mcp {
	case "":
	case "full":
		a.printJSON(docgen.Full(listed))
		return nil
	default:
		return usagef("--mcp: %q is not full", short(o.mcp)).withHint("`cutroom contract --mcp full`; a host asks `cutroom mcp` for its list")
	}
	opt := docgen.ContractOptions{}
	if !o.static {
		i, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		opt.Machine, opt.StageRoot = i.Engine.Machine(), i.StageRelative
	}
	if o.tool != "" && !o.full {
		a.printJSON(docgen.ShortContract(a.registry, listed[0], opt))
		return nil
	}
	a.printJSON(docgen.Contract(a.registry, opt, among(listed)))
	return nil
}

// among says which tools are listed.
func among(listed []*tool.Tool) func(*tool.Tool) bool {
	return func(t *tool.Tool) bool { return slices.Contains(listed, t) }
}
