package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/audit"
	"cutroom/internal/tool"
)

// auditFamily is the family whose tools stand among the commands of `cutroom audit`.
const auditFamily = "audit"

// auditCommands are what a person does with the audit beside reading it.
func (a *App) auditCommands() []*cobra.Command {
	return []*cobra.Command{a.auditShowCommand(), a.auditVerifyCommand(), a.auditExportCommand(), a.auditAnchorCommand()}
}

// auditShowCommand prints rows as a table: the tool audit.query for people, so that one
// policy holds for both.
func (a *App) auditShowCommand() *cobra.Command {
	var in struct {
		Since     string `json:"since,omitempty"`
		Until     string `json:"until,omitempty"`
		Type      string `json:"type,omitempty"`
		Tool      string `json:"tool,omitempty"`
		Principal string `json:"principal,omitempty"`
		Outcome   string `json:"outcome,omitempty"`
		RunID     string `json:"run_id,omitempty"`
		CallID    string `json:"call_id,omitempty"`
		Before    int64  `json:"before,omitempty"`
		Max       int    `json:"max"`
	}
	cmd := &cobra.Command{
		Use: "show", Short: "List what was done and refused, the newest first", Args: noArgs,
		Long:    "List what was done and refused, the newest first. Rows hold ids and digests, never what a call was given or answered. An agent sees the rows of its own name only.",
		Example: "  cutroom audit show --since 2h\n  cutroom audit show --principal agent --outcome denied\n  cutroom audit show --run 4f3c2a1b --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.showAudit(cmd.Context(), in)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Since, "since", "", "from this time on: RFC 3339, or how long ago, such as 90m, 2h or 3d")
	f.StringVar(&in.Until, "until", "", "before this time, in the same forms")
	f.StringVar(&in.Type, "type", "", "type of the rows: "+strings.Join(cutroom.AuditTypes(), ", "))
	f.StringVar(&in.Tool, "tool", "", "the tool, or a family such as 'edit.*'")
	f.StringVar(&in.Principal, "principal", "", "name of who called")
	f.StringVar(&in.Outcome, "outcome", "", "ok, unknown, or the code of an error such as denied")
	f.StringVar(&in.RunID, "run", "", "the recorded result, or the first digits of its id")
	f.StringVar(&in.CallID, "call", "", "one call, with the calls that it made")
	f.Int64Var(&in.Before, "before", 0, "rows before this one only")
	f.IntVar(&in.Max, "max", 20, "most rows, up to 200")
	return cmd
}

func (a *App) showAudit(ctx context.Context, in any) error {
	raw, err := tool.Encode(in)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.invoke(ctx, "audit.query", raw, a.principal(), &calling{})
	}
	rows, next, err := a.queryAudit(ctx, raw)
	if err != nil {
		return err
	}
	for _, r := range rows {
		what := strings.TrimSpace(r.ToolID + " " + r.Kind)
		if r.Type != string(cutroom.AuditInvoke) {
			what = strings.TrimSpace(r.Type + " " + r.ToolID)
		}
		line := fmt.Sprintf("%6d  %s  %-8s  %-28s  %-16s", r.Seq, r.At, r.Principal, what, r.Outcome)
		for _, part := range []string{r.allowed(), r.Detail, "run " + short16(r.RunID)} {
			if part != "" && part != "run " {
				line += "  " + part
			}
		}
		fmt.Fprintln(a.Stdout, clean(line))
	}
	if next > 0 {
		a.remark("there are more rows: --before %d", next)
	}
	return nil
}

// allowed is what was decided, why, and what a person had to do with it.
func (r auditRow) allowed() string {
	text := strings.TrimSpace(r.Decision + " " + bracketed(r.Reason))
	switch {
	case r.Grant != "" && r.Type == string(cutroom.AuditInvoke):
		return "allowed by grant " + r.Grant + ": " + text
	case r.Approval != "" && r.Type == string(cutroom.AuditInvoke):
		return "allowed by approval " + r.Approval + ": " + text
	case r.Grant != "":
		return "grant " + r.Grant
	case r.Approval != "":
		return strings.TrimSpace("approval " + r.Approval + "  " + text)
	}
	return text
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func short16(id string) string { return cutroom.Digest(id).Short() }

func (a *App) auditVerifyCommand() *cobra.Command {
	var anchors []string
	cmd := &cobra.Command{
		Use: "verify [FILE]", Short: "Prove that no row was changed, removed, moved or cut off", Args: atMostOne("FILE"),
		Long: "Follow the chain of rows from the first to the last, and compare it with the anchors in the state folder. With a FILE that `cutroom audit export` wrote that file is checked instead, by itself; nothing of this installation is needed for it.\n\n" +
			"The exit code is 1 when something is wrong; every fault is named with its row.",
		Example: "  cutroom audit verify\n  cutroom audit verify --anchor /media/usb/anchors\n  cutroom audit verify audit.jsonl --anchor anchor.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var more []audit.Anchor
			for _, name := range anchors {
				list, err := a.readAnchors(name)
				if err != nil {
					return err
				}
				more = append(more, list...)
			}
			r, err := a.verifyAudit(cmd.Context(), args, more)
			if err != nil {
				return err
			}
			return a.showReport(r)
		},
	}
	cmd.Flags().StringArrayVar(&anchors, "anchor", nil, "file of anchors that were kept elsewhere")
	return cmd
}

func (a *App) verifyAudit(ctx context.Context, args []string, anchors []audit.Anchor) (audit.Report, error) {
	if len(args) == 0 {
		i, err := a.open(ctx)
		if err != nil {
			return audit.Report{}, err
		}
		return i.Audit.Verify(ctx, anchors...)
	}
	f, err := a.openGiven(args[0])
	if err != nil {
		return audit.Report{}, err
	}
	defer f.Close()
	return audit.VerifyExport(f, anchors...)
}

// openGiven opens a file that the command line names.
func (a *App) openGiven(name string) (*os.File, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.NotFound, "cannot read %q", name).WithCause(err).WithHint("check the path")
	}
	return f, nil
}

func (a *App) readAnchors(name string) ([]audit.Anchor, error) {
	f, err := a.openGiven(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, bad, err := audit.ReadAnchors(f)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "cannot read %q", name).WithCause(err).WithHint("give a file that `cutroom audit anchor` wrote")
	}
	if len(bad) > 0 || len(list) == 0 {
		return nil, cutroom.Errorf(cutroom.Invalid, "%q holds no anchors", name).WithHint("give a file that `cutroom audit anchor` wrote, unchanged")
	}
	return list, nil
}

// showReport prints what was found, and sets the exit code of a chain that is not
// whole.
func (a *App) showReport(r audit.Report) error {
	if !r.Valid {
		a.exit = cutroom.Verification.Facts().Exit
	}
	if a.flags.json {
		a.printJSON(r)
		return nil
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.Stdout, clean("note      "+n))
	}
	for _, f := range r.Faults {
		place := fmt.Sprintf("row %d", f.Seq)
		if f.Seq == 0 {
			place = "chain"
		}
		fmt.Fprintln(a.Stdout, clean(fmt.Sprintf("%-8s  %s: %s", f.Fault, place, f.Detail)))
	}
	if r.More > 0 {
		fmt.Fprintf(a.Stdout, "and %d more\n", r.More)
	}
	word := "valid"
	if !r.Valid {
		word = "NOT VALID"
	}
	fmt.Fprintf(a.Stdout, "%s  %d rows, up to %d, chain %s\n", word, r.Rows, r.Last, clean(r.Chain))
	fmt.Fprintf(a.Stdout, "hash   %s\n", clean(string(r.Hash)))
	fmt.Fprintf(a.Stdout, "%d anchors compared, the newest at row %d\n", r.Anchors, r.Newest)
	return nil
}

func (a *App) auditExportCommand() *cobra.Command {
	var from, to int64
	var out string
	cmd := &cobra.Command{
		Use: "export", Short: "Write rows as JSON Lines that can be verified elsewhere", Args: noArgs,
		Long: "Write rows as JSON Lines: a header, then each row with its hash. `cutroom audit verify FILE` checks such a file anywhere; how to do so without cutroom is in docs/authority.md.\n\n" +
			"Without -o nothing else is printed on standard output, also under --json. The exit code is 1 when the chain is not whole.",
		Example: "  cutroom audit export -o audit.jsonl\n  cutroom audit export --from 1000 --to 2000 | gzip > part.jsonl.gz",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.personOnly(cmd.Context(), "exporting the audit"); err != nil {
				return err
			}
			if from < 0 || to < 0 || to > 0 && to < from {
				return usagef("--from %d --to %d is no range of rows", from, to)
			}
			return a.intoNew(cmd.Context(), out, func(w io.Writer) error {
				i, err := a.open(cmd.Context())
				if err != nil {
					return err
				}
				r, err := i.Audit.Export(cmd.Context(), w, from, to)
				if err == nil && !r.Valid {
					a.exit = cutroom.Verification.Facts().Exit
					a.say("the chain is not whole; `cutroom audit verify` names the rows")
				}
				return err
			})
		},
	}
	cmd.Flags().Int64Var(&from, "from", 0, "first row (default: the first there is)")
	cmd.Flags().Int64Var(&to, "to", 0, "last row (default: the last there is)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "new file to write; without it standard output")
	return cmd
}

func (a *App) auditAnchorCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "anchor", Short: "Print the end of the chain, to be kept elsewhere", Args: noArgs,
		Long: "Print the end of the chain now, as one line of JSON. Kept where whoever can write the state folder cannot, it shows later that no row up to here was changed or cut off: `cutroom audit verify --anchor FILE`. A file may hold any number of such lines.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.personOnly(cmd.Context(), "taking an anchor"); err != nil {
				return err
			}
			return a.intoNew(cmd.Context(), out, func(w io.Writer) error {
				i, err := a.open(cmd.Context())
				if err != nil {
					return err
				}
				return i.Audit.WriteAnchor(cmd.Context(), w)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "new file to write; without it standard output")
	return cmd
}

// intoNew has write write to a new file, or to standard output byte by byte: what has
// hashes over it may not be altered on its way.
func (a *App) intoNew(ctx context.Context, name string, write func(io.Writer) error) error {
	if name == "" {
		return write(a.out.plain)
	}
	if err := a.createNew(ctx, name, 0o600, write); err != nil {
		return err
	}
	if a.flags.json {
		a.printJSON(struct {
			Status cutroom.Status `json:"status"`
			File   string         `json:"file"`
		}{cutroom.Completed, name})
		return nil
	}
	_, err := fmt.Fprintf(a.Stdout, "wrote  %s\n", clean(name))
	return err
}

// noted does what the caller asked for and writes it down as row: where nothing can be
// written down nothing is done.
func (a *App) noted(ctx context.Context, row cutroom.AuditEvent, do func() (detail string, err error)) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := i.Audit.Ready(ctx); err != nil {
		return err
	}
	if row.Detail, err = do(); err != nil {
		return err
	}
	row.Principal, row.Outcome = a.principal(), cutroom.OutcomeOK
	return i.Audit.Record(ctx, row, nil)
}

// restored writes down that a backup was put back, and takes back all that was decided
// before: what the backup says of it may have been used or taken back since.
func (a *App) restored(ctx context.Context, former audit.Anchor) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := i.Audit.Restored(ctx, a.principal(), former); err != nil {
		return err
	}
	now, err := a.moment("now")
	if err != nil {
		return err
	}
	if _, err = i.Approvals.RevokeBefore(ctx, a.principal(), now); err != nil {
		return err
	}
	_, err = i.Tokens.RevokeAll(ctx, a.principal())
	return err
}
