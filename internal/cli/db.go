package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/audit"
	"cutroom/internal/setup"
	"cutroom/internal/store"
)

// dbCommand is the care of the database, which is a person's.
func (a *App) dbCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "db", Short: "Back up, restore and migrate the database", GroupID: groupProgram, Args: a.unknownCommand,
		Long:    "The database holds jobs, approvals and the audit; `cutroom doctor` says where it is. Results are not in it: they lie in the workspace.\n\nA backup is the same for SQLite and PostgreSQL, so backup and restore also move the one to the other.",
		Example: "  cutroom db backup before-the-move.jsonl\n  cutroom db restore before-the-move.jsonl\n  cutroom db migrate",
		RunE:    a.help,
	}
	cmd.AddCommand(a.dbBackupCommand(), a.dbRestoreCommand(), a.dbMigrateCommand())
	return cmd
}

// contents is the JSON form of what a backup holds.
type contents struct {
	Status string           `json:"status"`
	File   string           `json:"file"`
	From   store.Dialect    `json:"from"`
	Schema int64            `json:"schema"`
	Made   time.Time        `json:"made"`
	Rows   int64            `json:"rows"`
	Tables map[string]int64 `json:"tables"`
}

func (a *App) showContents(did, file string, c store.Content) error {
	if a.flags.json {
		doc := contents{did, file, c.From, c.Schema, c.Made.UTC(), c.Rows(), map[string]int64{}}
		for _, t := range c.Tables {
			doc.Tables[t.Table] = t.Rows
		}
		a.printJSON(doc)
		return nil
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s (%d rows, schema %d, made %s from %s)\n", did, clean(file), c.Rows(), c.Schema, c.Made.Format(time.RFC3339), c.From)
	return err
}

func (a *App) dbBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Write what the database holds to a new file", Args: exactly("FILE"),
		Long: "Write what the database holds at this moment to a new file, while others work with it. Lines of JSON, readable by you alone: requests and decisions are in them. Keys are not.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.personOnly(cmd.Context(), "a backup of the database"); err != nil {
				return err
			}
			c, err := setup.BackupDatabase(cmd.Context(), a.options(), args[0])
			if err != nil {
				return err
			}
			return a.showContents("written", args[0], c)
		},
	}
}

func (a *App) dbRestoreCommand() *cobra.Command {
	var overwrite bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put back what a backup holds", Args: exactly("FILE"),
		Long: "Put what a backup holds into the database, which has to be empty, or is emptied with --overwrite. The whole backup is checked first; then all of it is there at once, or nothing has changed.\n\nWhat was asked, done and written down after the backup is gone, so --overwrite takes a terminal and a yes. Whatever was approved or granted before the restore is void, since the backup does not know what was used or taken back. The audit gets a row that says which rows are gone; `cutroom audit verify` tells it from then on.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.personOnly(cmd.Context(), "restoring the database"); err != nil {
				return err
			}
			var former audit.Anchor
			if overwrite {
				var err error
				if former, err = a.givenUp(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			c, err := setup.RestoreDatabase(cmd.Context(), a.options(), args[0], overwrite)
			if err != nil {
				return err
			}
			if err := a.restored(cmd.Context(), former); err != nil {
				return cutroom.Errorf(cutroom.AsError(err).Code, "the backup is back, but that could not be written down or what was approved could not be taken back: %s", cutroom.AsError(err).Msg).
					WithCause(err).WithHint("repeat the command once that is mended")
			}
			return a.showContents("restored", args[0], c)
		},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace what the database holds")
	return cmd
}

// givenUp has a person at a terminal agree that what the database holds is given up, and
// returns the end of its audit; the zero one where that cannot be read.
func (a *App) givenUp(ctx context.Context, file string) (audit.Anchor, error) {
	t, err := a.person(ctx, "replacing what the database holds")
	if err != nil {
		return audit.Anchor{}, err
	}
	i, err := a.open(ctx)
	if err != nil {
		return audit.Anchor{}, err
	}
	var former audit.Anchor
	if i.HasDatabase() {
		if former, err = i.Audit.Latest(ctx); err != nil {
			a.say("the present audit cannot be read: %s", cutroom.AsError(err).Msg)
			former = audit.Anchor{}
		}
	}
	a.say("%s replaces all that the database holds: jobs, requests and audit rows since that backup are gone.", file)
	a.say("Whatever was approved or granted before now is void. The audit keeps a row that says so (its last row is %d now).", former.Seq)
	a.say("`cutroom db backup NEWFILE` keeps what is there.")
	fmt.Fprint(a.Stderr, "Replace it? Type yes: ")
	return former, confirmed(t, "the database is as it was")
}

func (a *App) dbMigrateCommand() *cobra.Command {
	to, down := int64(store.Newest), false
	cmd := &cobra.Command{
		Use: "migrate", Short: "Bring the database to the schema of this version, or back", Args: noArgs,
		Long: "Bring the database to the schema of this version; every call that needs the database does so too. --down and --to go back, for an older version of cutroom: what only the newer schema keeps is lost, so make a backup first.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.personOnly(cmd.Context(), "migrating the database"); err != nil {
				return err
			}
			switch {
			case down && cmd.Flags().Changed("to"):
				return usagef("--down and --to say different things; give one")
			case cmd.Flags().Changed("to") && to < 0:
				return usagef("--to: there is no schema %d", to)
			case down:
				to = store.Previous
			}
			c, err := setup.MigrateDatabase(cmd.Context(), a.options(), to)
			if err != nil {
				return err
			}
			// On the way down the row would bring the schema up again.
			if c.Newest && c.From != c.To {
				if err := a.noted(cmd.Context(), cutroom.AuditEvent{Type: cutroom.AuditMigrated, Kind: cutroom.Approve}, func() (string, error) {
					return fmt.Sprintf("schema %d to %d", c.From, c.To), nil
				}); err != nil {
					return err
				}
			}
			if a.flags.json {
				a.printJSON(struct {
					Status string `json:"status"`
					From   int64  `json:"from"`
					To     int64  `json:"to"`
				}{"migrated", c.From, c.To})
				return nil
			}
			_, err = fmt.Fprintf(a.Stdout, "schema %d -> %d\n", c.From, c.To)
			return err
		},
	}
	cmd.Flags().Int64Var(&to, "to", store.Newest, "number of a schema")
	cmd.Flags().Lookup("to").DefValue = "that of this version"
	cmd.Flags().BoolVar(&down, "down", false, "one schema back")
	return cmd
}
