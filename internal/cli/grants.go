package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
)

// grantDocument is a grant under --json.
type grantDocument struct {
	ID        string   `json:"grant_id"`
	Principal string   `json:"principal"`
	Workspace string   `json:"workspace"`
	Tools     []string `json:"tools"`
	Beneath   []string `json:"beneath"`
	Where     []string `json:"where"`
	Overwrite bool     `json:"overwrite"`
	Origins   []string `json:"origins"`
	MaxBytes  int64    `json:"max_bytes"`
	Uses      int64    `json:"uses"`
	Used      int64    `json:"used"`
	Created   string   `json:"created"`
	Expires   string   `json:"expires"`
	Revoked   string   `json:"revoked,omitempty"`
	Fault     string   `json:"fault,omitempty"` // why it allows nothing
}

func documentOf(g cutroom.Grant) grantDocument {
	list := func(l []string) []string { return append([]string{}, l...) }
	d := grantDocument{
		ID: g.ID, Principal: g.Principal, Workspace: g.Workspace, Tools: list(g.Tools), Beneath: list(g.Beneath), Where: list(g.Where),
		Overwrite: g.Overwrite, Origins: list(g.Origins), MaxBytes: g.MaxBytes, Uses: g.Uses, Used: g.Used,
		Fault: g.Fault, Created: g.Created.UTC().Format(time.RFC3339), Expires: g.Expires.UTC().Format(time.RFC3339),
	}
	if !g.Revoked.IsZero() {
		d.Revoked = g.Revoked.UTC().Format(time.RFC3339)
	}
	return d
}

// grantsCommand is the operator's standing permissions.
func (a *App) grantsCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return a.listGrants(cmd.Context()) }
	cmd := &cobra.Command{
		Use: "grants", Short: "Allow calls within bounds without being asked each time", GroupID: groupProgram, Args: a.unknownCommand,
		Long:    "A grant is a standing permission of yours: calls that the policy would ask about run without asking, within its bounds, as often as it says, until it ends. What the policy refuses stays refused.",
		Example: "  cutroom grants add edit.* --beneath clips --overwrite --uses 20 --for 8h\n  cutroom grants\n  cutroom grants revoke g3v5q7x2m4n6p7ra",
		RunE:    list,
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the grants, the newest first", Args: noArgs, RunE: list},
		a.grantAddCommand(),
		&cobra.Command{
			Use: "revoke ID", Short: "Take a grant back", Args: exactly("ID"),
			Long: "Take a grant back. It takes no terminal: it can only narrow what is allowed.",
			RunE: func(cmd *cobra.Command, args []string) error {
				if err := a.personOnly(cmd.Context(), "taking a grant back"); err != nil {
					return err
				}
				i, err := a.open(cmd.Context())
				if err != nil {
					return err
				}
				if err := i.Approvals.RevokeGrant(cmd.Context(), a.principal(), args[0]); err != nil {
					return err
				}
				if a.flags.json {
					a.printJSON(struct {
						ID      string `json:"grant_id"`
						Revoked bool   `json:"revoked"`
					}{args[0], true})
					return nil
				}
				a.remark("taken back")
				return nil
			},
		},
	)
	return cmd
}

func (a *App) listGrants(ctx context.Context) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	list, err := i.Approvals.Grants(ctx, a.principal())
	if err != nil {
		return err
	}
	docs := []grantDocument{}
	for _, g := range list {
		docs = append(docs, documentOf(g))
	}
	if a.flags.json {
		a.printJSON(struct {
			Grants []grantDocument `json:"grants"`
		}{docs})
		return nil
	}
	if len(docs) == 0 {
		a.remark("no grants")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tWHO\tTOOLS\tUSED\tUNTIL\tBOUNDS")
	for _, g := range docs {
		until := g.Expires
		switch g.Fault {
		case "", "expired", "is used up":
		case "was taken back":
			until = "taken back"
		default:
			until = "void: " + g.Fault
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d of %d\t%s\t%s\n", g.ID, clean(g.Principal), clean(strings.Join(g.Tools, " ")), g.Used, g.Uses, until, clean(boundsText(g)))
	}
	return w.Flush()
}

// boundsText is what a grant covers, in words.
func boundsText(g grantDocument) string {
	words := []string{"in " + g.Workspace}
	if len(g.Beneath) > 0 {
		words = append(words, "beneath "+strings.Join(g.Beneath, ", "))
	}
	words = append(words, g.Where...)
	if g.Overwrite {
		words = append(words, "may replace files")
	}
	if len(g.Origins) > 0 {
		words = append(words, fmt.Sprintf("from %s, at most %s each", strings.Join(g.Origins, ", "), cutroom.Bytes(g.MaxBytes)))
	}
	return strings.Join(words, "; ")
}

func (a *App) grantAddCommand() *cobra.Command {
	var g cutroom.Grant
	life := duration(time.Hour)
	cmd := &cobra.Command{
		Use: "add TOOL...", Short: "Allow calls within bounds", Args: first("TOOL"),
		Long: "Allow calls of tools (globs over their ids) in this workspace, for an hour unless --for says otherwise. It takes a terminal and, once one is set, your passphrase.",
		RunE: func(cmd *cobra.Command, args []string) error {
			g.Tools = args
			return a.addGrant(cmd.Context(), g, time.Duration(life))
		},
	}
	f := cmd.Flags()
	f.StringVar(&g.Principal, "to", cutroom.Agent.Name, "name of the principal that may make the calls")
	f.StringSliceVar(&g.Beneath, "beneath", nil, "folders of the workspace that every file of a call has to lie in (default: the workspace)")
	f.StringSliceVar(&g.Where, "where", nil, "bounds on arguments, such as crf>=18 or preset=fast; an argument that is not there does not fit")
	f.BoolVar(&g.Overwrite, "overwrite", false, "a call may replace files")
	f.StringSliceVar(&g.Origins, "origin", nil, "network origins that a call may reach, such as https://media.example.com (default: none)")
	f.Int64Var(&g.MaxBytes, "max-bytes", 0, "most bytes that one call may bring in over the network")
	f.Int64Var(&g.Uses, "uses", 1, "how many calls in all")
	f.Var(&life, "for", "how long the grant holds, such as 8h; at most 2160h (default: 1h)")
	return cmd
}

// notGranted is what a no leaves behind.
const notGranted = "no grant was made: `cutroom grants` lists those that hold"

func (a *App) addGrant(ctx context.Context, g cutroom.Grant, life time.Duration) error {
	t, err := a.person(ctx, "granting")
	if err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	g.Workspace = i.Workspace
	_, wrapped, err := i.Approvals.Keys().Present()
	if err != nil {
		return err
	}
	a.say("%s may call %s %d times in the next %s, without asking: %s", g.Principal, strings.Join(g.Tools, ", "), g.Uses, life, boundsText(documentOf(g)))
	var pass []byte
	if wrapped {
		if pass, err = a.passphrase(t, "Passphrase, to allow that: ", notGranted); err != nil {
			return err
		}
	} else {
		a.say("%s", boundary)
		fmt.Fprint(a.Stderr, "Allow that? Type yes: ")
		if err := confirmed(t, notGranted); err != nil {
			return err
		}
	}
	made, err := i.Approvals.Grant(ctx, a.principal(), pass, g, life)
	if err != nil {
		return a.refused(ctx, err)
	}
	if a.flags.json {
		a.printJSON(documentOf(made))
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s\n", made.ID)
	return nil
}
