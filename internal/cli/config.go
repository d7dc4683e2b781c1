package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/setup"
)

// configCommand reads and writes cutroom.yaml.
func (a *App) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check, show and change the configuration", GroupID: groupProgram, Args: a.unknownCommand,
		Long: "The configuration is cutroom.yaml in the user's config folder, and one in the workspace, which can only narrow it. docs/configuration.md explains both; docs/reference/config.md lists the keys.",
		RunE: a.help,
	}
	cmd.AddCommand(a.configCheckCommand(), a.configShowCommand(), a.configSetCommand(), a.configUnsetCommand(), a.configSchemaCommand())
	return cmd
}

func (a *App) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Say what is wrong with cutroom.yaml, each with its line", Args: perhaps("FILE"),
		Long: "Read the user's cutroom.yaml, or FILE in its place, with the workspace's, and list: unknown keys with the nearest known one, values that do not fit, keys that were written out, what a workspace may not say; and, where nothing is wrong, secrets that are not where the file says. The exit code is 2 when something is wrong.",
		RunE: func(_ *cobra.Command, args []string) error {
			file := ""
			if len(args) > 0 {
				file = args[0]
			}
			files, found, err := setup.CheckConfig(a.Dir, a.flags.root, file)
			if err != nil {
				return err
			}
			status := "ok"
			for _, f := range found {
				if f.Wrong {
					status, a.exit = "wrong", cutroom.Invalid.Facts().Exit
				}
			}
			if a.flags.json {
				a.printJSON(struct {
					Status   string                `json:"status"`
					Files    []setup.ConfigFile    `json:"files"`
					Findings []setup.ConfigFinding `json:"findings"`
				}{status, files, found})
				return nil
			}
			a.printConfigCheck(files, found)
			return nil
		},
	}
}

func (a *App) printConfigCheck(files []setup.ConfigFile, found []setup.ConfigFinding) {
	for _, file := range files {
		state := "right"
		if !file.Exists {
			state = "not there; the defaults hold"
		}
		for _, f := range found {
			if f.File == file.Path && f.Wrong {
				state = "wrong"
			}
		}
		fmt.Fprintf(a.Stdout, "%s: %s\n", clean(file.Path), state)
	}
	for _, f := range found {
		word, line := "", ""
		if !f.Wrong {
			word = "note: "
		}
		if f.Line > 0 {
			line = fmt.Sprintf("line %d: ", f.Line)
		}
		fmt.Fprintln(a.Stdout, clean(word+line+f.Message))
		if f.Hint != "" {
			fmt.Fprintln(a.Stdout, clean("  "+f.Hint))
		}
	}
}

func (a *App) configShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [KEY]", Short: "Print what every key amounts to, and where that comes from", Args: perhaps("KEY"),
		Long:    "Print every key, or those at and beneath KEY, with its value as both files make it: from the default, the user's file, or the workspace's. Secrets are shown as references.",
		Example: "  cutroom config show\n  cutroom config show lens --json",
		RunE: func(_ *cobra.Command, args []string) error {
			all, files, err := setup.ShowConfig(a.Dir, a.flags.root)
			if err != nil {
				return err
			}
			list := []config.Value{}
			for _, v := range all {
				if len(args) == 0 || v.Beneath(args[0]) {
					list = append(list, v)
				}
			}
			if len(list) == 0 {
				return cutroom.Errorf(cutroom.NotFound, "there is no key %q", short(args[0])).WithHint("`cutroom config show` lists all of them")
			}
			if a.flags.json {
				a.printJSON(struct {
					Files []setup.ConfigFile `json:"files"`
					Keys  []config.Value     `json:"keys"`
				}{files, list})
				return nil
			}
			w := tabwriter.NewWriter(a.Stdout, 0, 4, 2, ' ', 0)
			for _, v := range list {
				from := v.From
				if v.Line > 0 {
					from = fmt.Sprintf("%s, line %d", v.From, v.Line)
				}
				value := string(v.Value)
				if value == "null" {
					value = "-"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", clean(v.Key), clean(value), clean(from))
			}
			return w.Flush()
		},
	}
}

func (a *App) configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Change one key of the user's cutroom.yaml", Args: exactly("KEY", "VALUE"),
		Long: "Change one key of the user's cutroom.yaml, which is made when there is none. VALUE is a text, a number, true or false; a list may be words with commas between; anything else is YAML or JSON. " +
			"Comments and the order of the file stay. What would not check is refused, and so is a secret: write a reference (env:NAME, file:/PATH, keyring:NAME). Processes that run take lens and models up at their next call. For the operator only.",
		Example: "  cutroom config set lens.allow_upload true\n  cutroom config set lens.budget.cost_per_day 2.50\n  cutroom config set models[0] '{id: gpt-4.1-mini, provider: openai, key: env:OPENAI_API_KEY, modalities: [text, image]}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setConfig(cmd.Context(), args[0], &args[1])
		},
		ValidArgsFunction: completeKeys,
	}
}

func (a *App) configUnsetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Take one key out of the user's cutroom.yaml, so that the default holds", Args: exactly("KEY"),
		Long: "Take one key out of the user's cutroom.yaml, with all beneath it. The rest of the file stays as it is. For the operator only.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setConfig(cmd.Context(), args[0], nil)
		},
		ValidArgsFunction: completeKeys,
	}
}

func completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return config.Keys(), cobra.ShellCompDirectiveNoFileComp
}

func (a *App) setConfig(ctx context.Context, key string, value *string) error {
	c, err := setup.SetConfig(ctx, a.Dir, a.flags.root, a.principal(), key, value)
	if err != nil && a.principal().Role == cutroom.RoleAgent {
		return a.refused(ctx, err)
	}
	if err != nil {
		return err
	}
	if c.Changed {
		a.noteConfig(ctx, key)
	}
	if a.flags.json {
		a.printJSON(struct {
			Status string `json:"status"`
			setup.ConfigChange
		}{"ok", c})
		return nil
	}
	if !c.Changed {
		fmt.Fprintf(a.Stdout, "%s: %s already\n", clean(c.Key), said(c.After))
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s: %s, was %s (%s)\n", clean(c.Key), said(c.After), said(c.Before), clean(c.File))
	if c.From == config.FromWorkspace {
		fmt.Fprintf(a.Stdout, "the workspace's file makes it %s\n", clean(string(c.Effective)))
	}
	return nil
}

// said is what a file says of a key, for people.
func said(value []byte) string {
	if len(value) == 0 || string(value) == "null" {
		return "not set"
	}
	return clean(string(value))
}

// noteConfig writes a change into the audit. A database that cannot be used is no reason
// to keep a file wrong: the change may be what repairs it.
func (a *App) noteConfig(ctx context.Context, key string) {
	row := cutroom.AuditEvent{Type: cutroom.AuditConfigChanged, Kind: cutroom.Execute}
	if err := a.noted(ctx, row, func() (string, error) { return key, nil }); err != nil {
		a.remark("the change is not in the audit: %s", a.failure(err).Msg)
	}
}

func (a *App) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of cutroom.yaml, for editors", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.plain.Write(config.Schema()) // nothing of it is anybody's
			return err
		},
	}
}
