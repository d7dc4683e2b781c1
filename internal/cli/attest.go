package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/attestation"
	"cutroom/internal/setup"
	"cutroom/internal/stage"
)

// attestationSuffix is what an attestation is called behind the name of its file.
const attestationSuffix = ".intoto.jsonl"

func (a *App) attestCommand() *cobra.Command {
	var verify bool
	var output, key string
	cmd := &cobra.Command{
		Use: "attest FILE", Short: "State signed how a file came to be, or verify such a statement", GroupID: groupResults,
		Long: "Sign a statement how FILE came to be: which tool, from which sources, by whose call, and what was measured on it. It is an in-toto statement in a DSSE envelope, signed with this user's key (`cutroom keys`).\n\n" +
			"With --verify check FILE against an attestation: who signed, whether the statement is about exactly these bytes, and what it says. That needs the file, the attestation and the signer's public key, no workspace and no set-up.",
		Example: "  cutroom attest cut.mp4\n  cutroom attest cut.mp4 --verify\n  cutroom attest cut.mp4 --verify cut.mp4.intoto.jsonl --key signer.pem",
		Args: func(cmd *cobra.Command, args []string) error {
			if verify && len(args) == 2 {
				return nil
			}
			return exactly("FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case verify && output != "":
				return usagef("--verify writes nothing").withHint("leave --output away")
			case !verify && key != "":
				return usagef("--key is for --verify").withHint("`cutroom keys list` shows the key that signs")
			case verify:
				return a.verifyAttestation(cmd.Context(), args, key)
			}
			return a.attest(cmd.Context(), args[0], output)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "", "new file for the attestation; - is standard output (default FILE"+attestationSuffix+")")
	f.BoolVar(&verify, "verify", false, "verify FILE against an attestation: the second argument, else FILE"+attestationSuffix)
	f.StringVar(&key, "key", "", "file with the signer's public key in PEM (default: this user's own keys)")
	return cmd
}

// attested is what attest answers.
type attested struct {
	Status      cutroom.Status `json:"status"`
	File        string         `json:"file"`
	SHA256      cutroom.Digest `json:"sha256"`
	Attestation string         `json:"attestation"`
	KeyID       string         `json:"key_id"`
	Tool        string         `json:"tool"`
	RunID       cutroom.Digest `json:"run_id"`
}

func (a *App) attest(ctx context.Context, file, output string) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	who := a.principal()
	if who.Role == cutroom.RoleAgent && output != "" && output != "-" {
		return cutroom.Errorf(cutroom.Denied, "an agent's attestation lies beside its file").WithHint("leave --output away, or name - for standard output")
	}
	path, err := paths{dir: a.Dir, root: i.Workspace, roots: i.Config.Roots, agent: who.Role == cutroom.RoleAgent}.convert(file)
	if err != nil {
		return err
	}
	s, err := i.Engine.Statement(ctx, who, path)
	if err != nil {
		return err
	}
	if output == "" {
		output = file + attestationSuffix
	}
	if output != "-" { // nothing is signed in vain
		if err := a.free(ctx, output); err != nil {
			return err
		}
	}
	var envelope []byte
	var keyID string
	if err := a.noted(ctx, cutroom.AuditEvent{Type: cutroom.AuditAttested, Kind: cutroom.Execute, Run: s.Predicate.Invocation}, func() (string, error) {
		k, err := i.Keys().Signer()
		if err != nil {
			return "", err
		}
		keyID = k.Public().ID()
		envelope, err = attestation.Sign(s, k)
		return fmt.Sprintf("file %s by key %s", s.Subject[0].Digest.SHA256.Short(), keyID[:16]), err
	}); err != nil {
		return err
	}
	if output == "-" {
		return a.printRaw(envelope)
	}
	if err := a.createNew(ctx, output, 0o644, func(w io.Writer) error {
		_, err := w.Write(append(envelope, '\n'))
		return err
	}); err != nil {
		return err
	}
	doc := attested{
		Status: cutroom.Completed, File: file, SHA256: s.Subject[0].Digest.SHA256, Attestation: output,
		KeyID: keyID, Tool: s.Predicate.Tool.ID, RunID: s.Predicate.Invocation,
	}
	if a.flags.json {
		a.printJSON(doc)
		return nil
	}
	_, err = fmt.Fprintf(a.Stdout, "wrote  %s: %s made it (%s), signed by %s\n", clean(output), doc.Tool, doc.RunID.Short(), doc.KeyID[:16])
	return err
}

// verified is what attest --verify answers.
type verified struct {
	Status      cutroom.Status        `json:"status"`
	Verified    bool                  `json:"verified"` // always true: what does not verify is a failure
	File        string                `json:"file"`
	SHA256      cutroom.Digest        `json:"sha256"`
	Attestation string                `json:"attestation"`
	KeyID       string                `json:"key_id"`
	KeyRetired  *time.Time            `json:"key_retired,omitempty"`
	Statement   attestation.Statement `json:"statement"`
}

func (a *App) verifyAttestation(ctx context.Context, args []string, keyFile string) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	file, from := args[0], args[0]+attestationSuffix
	if len(args) == 2 {
		from = args[1]
	}
	keys, err := a.verifyingKeys(i, keyFile)
	if err != nil {
		return err
	}
	text, err := a.readInput(i, from, maxAttestation)
	if e := cutroom.AsError(err); e != nil && e.Code == cutroom.NotFound && len(args) == 1 {
		return cutroom.Errorf(cutroom.NotFound, "there is no attestation %q beside the file", from).
			WithHint("name it behind --verify: `cutroom attest FILE --verify ATTESTATION`; `cutroom attest FILE` makes one where the file was made")
	}
	if err != nil {
		return err
	}
	digest, err := a.digestOf(ctx, i, file)
	if err != nil {
		return err
	}
	c, err := verifyLines(text, keys, digest)
	if err != nil {
		return err
	}
	doc := verified{
		Status: cutroom.Completed, Verified: true, File: file, SHA256: digest, Attestation: from, KeyID: c.Key.ID(), Statement: c.Statement,
	}
	if !c.Key.Retired.IsZero() {
		doc.KeyRetired = &c.Key.Retired
	}
	if a.flags.json {
		a.printJSON(doc)
		return nil
	}
	return doc.write(a.Stdout)
}

// maxAttestation bounds a file of attestations, in bytes.
const maxAttestation = 16 << 20

// verifyingKeys are the keys of a file, else this user's own.
func (a *App) verifyingKeys(i *setup.Installation, file string) ([]attestation.PublicKey, error) {
	if file == "" {
		return i.Keys().Keys()
	}
	text, err := a.readInput(i, file, 1<<20)
	if err != nil {
		return nil, err
	}
	return attestation.ParsePublic(text)
}

// openInput opens a file that a caller named, as every tool's input is opened.
func (a *App) openInput(i *setup.Installation, name string) (*os.File, error) {
	p := paths{dir: a.Dir, root: i.Workspace, roots: i.Config.Roots, agent: a.principal().Role == cutroom.RoleAgent}
	path, err := p.convert(name)
	if err != nil {
		return nil, err
	}
	root := i.Workspace
	if filepath.IsAbs(path) {
		root, path = filepath.Dir(path), filepath.Base(path)
	}
	return stage.OpenBeneath(root, path)
}

func (a *App) readInput(i *setup.Installation, name string, most int64) ([]byte, error) {
	f, err := a.openInput(i, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = cutroom.Errorf(cutroom.Limit, "%q has more than %d bytes", name, most).WithHint("give a smaller file")
	}
	return text, err
}

// digestOf hashes a file now, whatever is remembered of it.
func (a *App) digestOf(ctx context.Context, i *setup.Installation, name string) (cutroom.Digest, error) {
	f, err := a.openInput(i, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest, _, err := (*stage.IdentityCache)(nil).Digest(ctx, f)
	return digest, err
}

// verifyLines verifies the attestations of a file, one on each line: one of them has to
// verify and to be about the content. Else the first one's fault is told.
func verifyLines(text []byte, keys []attestation.PublicKey, content cutroom.Digest) (attestation.Checked, error) {
	var first error
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		c, err := attestation.Verify(line, keys)
		if err == nil && c.Statement.Subject[0].Digest.SHA256 != content {
			err = cutroom.Errorf(cutroom.Verification, "the file is not the one that was attested: it has the SHA-256 %s, the statement says %s", content.Short(), c.Statement.Subject[0].Digest.SHA256.Short()).
				WithHint("get the file again, or its own attestation")
		}
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = cutroom.Errorf(cutroom.Verification, "the attestation is empty").WithHint("`cutroom attest FILE` writes one")
	}
	return attestation.Checked{}, first
}

// write says for people what was verified.
func (v verified) write(w io.Writer) error {
	var b bytes.Buffer
	p := v.Statement.Predicate
	fmt.Fprintf(&b, "verified  %s\n", clean(v.File))
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name, clean(value))
		}
	}
	line("sha256", string(v.SHA256))
	signed := v.KeyID
	if v.KeyRetired != nil {
		signed += ", in use until " + v.KeyRetired.Format(time.DateOnly)
	}
	line("signed by", signed)
	line("made by", fmt.Sprintf("%s (%s)", p.Tool.ID, p.Invocation.Short()))
	line("recorded", p.Recorded.Format(time.RFC3339))
	line("for", p.Principal.Name)
	line("approval", p.ApprovalID)
	for _, s := range p.Sources {
		line("source", fmt.Sprintf("%s %s (sha256 %s)", s.Kind, s.Locator, s.Digest.SHA256.Short()))
	}
	for _, parent := range p.Parents {
		line("from run", parent.Short())
	}
	for _, program := range p.Toolchain {
		line("program", strings.TrimSuffix(program.Name+": "+program.Version, ": "))
	}
	for _, r := range p.Verified {
		line("measured", strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", r.Stream, r.Check, r.Measured, r.Unit)))
	}
	if p.EditMap != nil {
		line("edit map", "sha256 "+string(p.EditMap.SHA256))
	}
	_, err := w.Write(b.Bytes())
	return err
}
