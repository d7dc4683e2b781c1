package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/token"
)

// tokenCommand is the bearer tokens of the server.
func (a *App) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Make, list and revoke the bearer tokens of `cutroom serve`", GroupID: groupProgram, Args: a.unknownCommand, RunE: a.help,
		Long: "A bearer token opens the doors of its scopes (gateway: models at /v1; mcp: tools at /mcp) for its principal, until it expires or is revoked. It is shown once: only a hash of it is kept. For the operator only.",
	}
	cmd.AddCommand(a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	return cmd
}

func (a *App) tokenCreateCommand() *cobra.Command {
	var t token.Token
	var as string
	life := lifetime(token.UsualLife)
	cmd := &cobra.Command{
		Use: "create", Short: "Make a token, and print it once", Args: noArgs,
		Long: "Make a token and print it, alone on a line. It cannot be shown again. Whoever holds it is an agent: the plain one, or with --as one that cutroom.yaml names, which may do less; " +
			"an operator's opens the gateway alone.",
		Example: "  cutroom token create --scope gateway,mcp --name laptop\n  cutroom token create --scope mcp --as ci --for 720h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.createToken(cmd.Context(), t, as, time.Duration(life))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&t.Scopes, "scope", nil, "doors that it opens: "+strings.Join(token.Scopes(), ", "))
	f.StringVar(&t.Label, "name", "", "what `cutroom token list` calls it")
	f.StringVar(&as, "as", "", "principal that holds it, one of the principals of cutroom.yaml (default agent)")
	f.Var(&life, "for", "how long it lives, such as 30d or 720h (default 90d, at most 366d)")
	return cmd
}

// lifetime is a flag that takes days, too.
type lifetime time.Duration

func (l *lifetime) Set(text string) error {
	v, err := age(text)
	if err != nil || v == 0 {
		if v, err = deadline(text); err != nil {
			return usagef("%q is not a length of time: give days or hours, such as 30d or 720h", short(text))
		}
	}
	*l = lifetime(v)
	return nil
}

func (l *lifetime) String() string { return "" }
func (l *lifetime) Type() string   { return "time" }

func (a *App) createToken(ctx context.Context, t token.Token, as string, life time.Duration) error {
	if err := a.operatorOnly(ctx, "makes tokens"); err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	t.Principal = cutroom.Agent
	if as != "" {
		who, ok := i.Engine.Policy.Named(as)
		if !ok {
			return cutroom.Errorf(cutroom.NotFound, "there is no principal %q", short(as)).
				WithHint("name it among principals in the user's cutroom.yaml; `cutroom policy show` lists them")
		}
		t.Principal = who
	}
	text, made, err := i.Tokens.Create(ctx, a.principal(), t, life)
	if err != nil {
		return err
	}
	// This is the one place where it is said: the redactor knows its form.
	if a.flags.json {
		doc, err := json.Marshal(struct {
			Token string `json:"token"`
			tokenRow
		}{text, a.rowOfToken(made)})
		if err == nil {
			_, err = a.out.plain.Write(append(doc, '\n'))
		}
		return err
	}
	a.remark("token %s for %s (%s), until %s; it is not shown again", made.ID, made.Principal.Name, strings.Join(made.Scopes, ", "), made.Expires.Format(time.RFC3339))
	_, err = fmt.Fprintln(a.out.plain, text)
	return err
}

// operatorOnly refuses agents, and writes down that one tried.
func (a *App) operatorOnly(ctx context.Context, does string) error {
	if a.principal().Role == cutroom.RoleOperator {
		return nil
	}
	return a.refused(ctx, cutroom.Errorf(cutroom.Denied, "only the operator %s", does).WithHint("ask the operator to run the command in a terminal of their own"))
}

// tokenRow is a token as it is listed.
type tokenRow struct {
	token.Token
	State string `json:"state"` // live, expired or revoked
}

func (a *App) rowOfToken(t token.Token) tokenRow {
	now := time.Now()
	if a.Now != nil {
		now = a.Now()
	}
	return tokenRow{t, t.State(now)}
}

func (a *App) tokenListCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the tokens that open doors now", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.operatorOnly(cmd.Context(), "sees the tokens"); err != nil {
				return err
			}
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			list, err := i.Tokens.List(cmd.Context(), a.principal(), all)
			if err != nil {
				return err
			}
			return a.printTokens(list)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list expired and revoked ones, too")
	return cmd
}

func (a *App) printTokens(list []token.Token) error {
	rows := []tokenRow{}
	for _, t := range list {
		rows = append(rows, a.rowOfToken(t))
	}
	if a.flags.json {
		a.printJSON(struct {
			Tokens []tokenRow `json:"tokens"`
		}{rows})
		return nil
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.Stdout, "no token opens anything")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "id\tstate\tprincipal\tscopes\texpires\tlast used\tname")
	for _, r := range rows {
		used := "-"
		if r.Used != nil {
			used = r.Used.Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.State, clean(r.Principal.Name), strings.Join(r.Scopes, ","), r.Expires.Format(time.DateTime), used, clean(orDash(r.Label)))
	}
	return w.Flush()
}

func (a *App) tokenRevokeCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "revoke ID | --all", Short: "End a token at once, in every process", Args: atMostOne("ID"),
		Long: "End a token at once, in every process. It is named by its id, as `cutroom token list` has it, or by its own text, where that is all that is known of it. For the operator only.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usagef("name one token, or use --all").withHint("`cutroom token list` shows them")
			}
			if err := a.operatorOnly(cmd.Context(), "revokes tokens"); err != nil {
				return err
			}
			return a.revokeTokens(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end every token")
	return cmd
}

// revokeTokens ends the token named, or all.
func (a *App) revokeTokens(ctx context.Context, ids []string) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		n, err := i.Tokens.RevokeAll(ctx, a.principal())
		if err != nil {
			return err
		}
		if a.flags.json {
			a.printJSON(struct {
				Status  string `json:"status"`
				Revoked int64  `json:"revoked"`
			}{"ok", n})
			return nil
		}
		fmt.Fprintf(a.Stdout, "revoked: %d\n", n)
		return nil
	}
	t, err := i.Tokens.Revoke(ctx, a.principal(), ids[0])
	if err != nil {
		return err
	}
	if a.flags.json {
		a.printJSON(a.rowOfToken(t))
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s: revoked\n", t.ID)
	return nil
}
