package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/attestation"
)

// keysCommand is the keys that attestations are signed with.
func (a *App) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "List, change and revoke the keys that attestations are signed with", GroupID: groupProgram, Args: a.unknownCommand, RunE: a.help,
		Long: "Attestations (`cutroom attest`) are signed with a key of this user, made when it is first needed. Its public part is for whoever verifies on another machine.",
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the keys with their dates", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.listKeys(cmd.Context()) },
		},
		&cobra.Command{
			Use: "public [KEY]", Short: "Print a public key in PEM, for whoever verifies: the one that signs, or the one named", Args: atMostOne("KEY"),
			RunE: func(cmd *cobra.Command, args []string) error { return a.publicKey(cmd.Context(), args) },
		},
		&cobra.Command{
			Use: "rotate", Short: "Make a new key that signs from now on; what the old one signed still verifies", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.rotateKey(cmd.Context()) },
		},
		&cobra.Command{
			Use: "revoke KEY", Short: "Make everything that a key signed worthless", Args: exactly("KEY"),
			RunE: func(cmd *cobra.Command, args []string) error { return a.revokeKey(cmd.Context(), args[0]) },
		},
	)
	return cmd
}

// atMostOne takes one positional word or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return exactly(name)(cmd, args)
	}
}

// keyRow is a key as it is listed.
type keyRow struct {
	ID      string     `json:"key_id"`
	State   string     `json:"state"` // signs, retired or revoked
	Created time.Time  `json:"created"`
	Retired *time.Time `json:"retired,omitempty"`
	Revoked *time.Time `json:"revoked,omitempty"`
	Public  string     `json:"public_key"` // PEM
}

func rowOfKey(k attestation.PublicKey) keyRow {
	r := keyRow{ID: k.ID(), State: "signs", Created: k.Created, Public: string(k.PEM())}
	if !k.Retired.IsZero() {
		r.State, r.Retired = "retired", &k.Retired
	}
	if !k.Revoked.IsZero() {
		r.State, r.Revoked = "revoked", &k.Revoked
	}
	return r
}

func (a *App) listKeys(ctx context.Context) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	keys, err := i.Keys().Keys()
	if err != nil {
		return err
	}
	rows := []keyRow{}
	for _, k := range keys {
		rows = append(rows, rowOfKey(k))
	}
	if a.flags.json {
		a.printJSON(struct {
			Keys []keyRow `json:"keys"`
		}{rows})
		return nil
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.Stdout, "no key yet; the first `cutroom attest` makes one")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		until := ""
		if r.Retired != nil {
			until = "until " + r.Retired.Format(time.DateOnly)
		}
		fmt.Fprintf(w, "%s\t%s\tsince %s\t%s\n", r.ID[:16], r.State, r.Created.Format(time.DateOnly), until)
	}
	return w.Flush()
}

func (a *App) publicKey(ctx context.Context, args []string) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	key, err := i.Keys().Public(append(args, "")[0])
	if err != nil {
		return err
	}
	return a.showKey("", key)
}

// showKey prints a key: as a row, or what was done with it, else in PEM.
func (a *App) showKey(did string, key attestation.PublicKey) error {
	if a.flags.json {
		a.printJSON(rowOfKey(key))
		return nil
	}
	text := string(key.PEM())
	if did != "" {
		text = did + "  " + key.ID() + "\n"
	}
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}

func (a *App) rotateKey(ctx context.Context) error {
	return a.changeKeys(ctx, "changing the signing key", "signs from now on", (*attestation.Ring).Rotate)
}

func (a *App) revokeKey(ctx context.Context, id string) error {
	return a.changeKeys(ctx, "revoking a key", "revoked", func(r *attestation.Ring) (attestation.PublicKey, error) { return r.Revoke(id) })
}

func (a *App) changeKeys(ctx context.Context, what, did string, change func(*attestation.Ring) (attestation.PublicKey, error)) error {
	if err := a.personOnly(ctx, what); err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	var key attestation.PublicKey
	err = a.noted(ctx, cutroom.AuditEvent{Type: cutroom.AuditKeyRotated, Kind: cutroom.Approve}, func() (string, error) {
		var err error
		key, err = change(i.Keys())
		return "attestation key " + key.ID() + " " + did, err
	})
	if err != nil {
		return err
	}
	return a.showKey(did, key)
}
