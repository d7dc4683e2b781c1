package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cutroom"
)

// The groups of the root's help.
const (
	groupTools   = "tools"
	groupResults = "results"
	groupProgram = "program"
)

// root builds the whole tree of commands.
func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "cutroom",
		Short:         "Eyes, hands and accountability for media, for people and their agents",
		SilenceErrors: true, SilenceUsage: true,
		Version: cutroom.Version,
		Args:    a.unknownCommand,
		RunE:    a.help,
	}
	root.SetVersionTemplate("cutroom {{.Version}}\n")
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetIn(a.Stdin)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(plainUsage(root.UsageFunc()))
	root.AddGroup(
		&cobra.Group{ID: groupTools, Title: "Tools:"},
		&cobra.Group{ID: groupResults, Title: "Results:"},
		&cobra.Group{ID: groupProgram, Title: "Program:"},
	)
	f := root.PersistentFlags()
	f.BoolVar(&a.flags.json, "json", false, "print exactly one JSON document on standard output")
	f.BoolVar(&a.flags.quiet, "quiet", false, "no progress and no remarks")
	f.BoolVar(&a.flags.debug, "debug", false, "say what happened inside, on standard error")
	f.StringVar(&a.flags.root, "root", "", "workspace (default: nearest folder with .cutroom or cutroom.yaml, else the current one)")
	f.StringVar(&a.flags.stage, "stage", "", "folder of recorded results, inside the workspace")
	a.addTools(root)
	root.AddCommand(a.toolCommands(), a.applyCommand(), a.edlCommand(), a.lensCommand(), a.contractCommand(), a.provenanceCommand(), a.attestCommand(), a.keysCommand(), a.pruneCommand(), a.keepCommand(), a.operationsCommand(), a.jobsCommand(), a.agentCommand(),
		a.approveCommand(), a.denyCommand(), a.approvalsCommand(), a.grantsCommand(), a.dbCommand(),
		a.mcpCommand(), a.serveCommand(), a.tokenCommand(), a.installCommand(), a.uninstallCommand(), a.setupCommand(), a.doctorCommand(), a.configCommand(), a.policyCommand(), a.versionCommand(), a.manCommand())
	root.SetHelpCommandGroupID(groupProgram)
	root.SetCompletionCommandGroupID(groupProgram)
	a.strict(root)
	return root
}

// strict makes the commands that cobra adds refuse what they do not know: by
// themselves they print some help and call that success.
func (a *App) strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				topic, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return a.unknownCommand(topic, rest)
			}
		case "completion":
			c.Args, c.RunE = a.unknownCommand, a.help
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// help is what a command with subcommands does by itself. It is no answer that a
// program can read, so under --json it is a wrong command line.
func (a *App) help(cmd *cobra.Command, _ []string) error {
	if a.flags.json {
		return usagef("`%s` needs a command", cmd.CommandPath()).withHint("`%s --help` lists the commands", cmd.CommandPath())
	}
	return cmd.Help()
}

// addTools adds a command per family with one per tool, and the short commands.
func (a *App) addTools(root *cobra.Command) {
	for _, f := range a.registry.Families() {
		if f.Name == toolFamily || len(f.Tools()) == 0 {
			continue // its tools stand among the commands of `cutroom tool`, or are for runs of agents alone
		}
		family := &cobra.Command{
			Use: f.Name, Short: f.Summary, GroupID: groupTools, Args: a.unknownCommand,
			RunE: a.help,
		}
		if f.Name == auditFamily {
			family.AddCommand(a.auditCommands()...)
		}
		for _, t := range f.Tools() {
			family.AddCommand(a.toolCommand(t, "cutroom "+f.Name, dashed(t.Verb()), false))
			if t.Short != "" {
				short := a.toolCommand(t, "cutroom", dashed(t.Short), false)
				short.GroupID = groupTools
				root.AddCommand(short)
			}
		}
		root.AddCommand(family)
	}
}

// toolFamily is the family of the tools about tools.
const toolFamily = "tool"

// dashed is a tool's word as a command: no one has to type an underscore.
func dashed(word string) string { return strings.ReplaceAll(word, "_", "-") }

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", GroupID: groupProgram, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.flags.json {
				a.printJSON(struct {
					Version         string `json:"version"`
					ContractVersion string `json:"contract_version"`
				}{cutroom.Version, cutroom.ContractVersion})
				return nil
			}
			_, err := fmt.Fprintln(a.Stdout, "cutroom", cutroom.Version)
			return err
		},
	}
}
