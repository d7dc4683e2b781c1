package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"cutroom"
	"cutroom/internal/attestation"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// Statement states how a file came to be, from the recorded result that made exactly its
// bytes; of several the oldest. The principal has to be able to open the file. A file
// that a result wrote and that was changed since is a conflict, any other not_found.
func (e *Engine) Statement(ctx context.Context, who cutroom.Principal, path string) (attestation.Statement, error) {
	s, err := e.statement(ctx, who, path)
	return s, e.Redact.Error(err)
}

func (e *Engine) statement(ctx context.Context, who cutroom.Principal, path string) (attestation.Statement, error) {
	f, locator, err := e.openBeneath(who, path)
	if err != nil {
		return attestation.Statement{}, err
	}
	defer f.Close()
	digest, _, err := e.Identity.Digest(ctx, f)
	if err != nil {
		return attestation.Statement{}, err
	}
	found, err := e.Stage.FindArtifact(ctx, digest)
	if err != nil {
		return attestation.Statement{}, err
	}
	if len(found) == 0 {
		return attestation.Statement{}, e.noOrigin(ctx, path, locator)
	}
	for _, f := range found { // of those that who may read, the oldest
		if _, err = e.mayRecall(ctx, who, &f.Result.Manifest); err == nil {
			found[0] = f
			break
		}
	}
	if err != nil {
		return attestation.Statement{}, err
	}
	p, err := e.predicate(found[0])
	if err != nil {
		return attestation.Statement{}, err
	}
	return attestation.NewStatement(e.Redact.Text(filepath.Base(filepath.FromSlash(locator))), digest, p), nil
}

// predicate is what a result's manifest says, with nothing secret in it.
func (e *Engine) predicate(found stage.Found) (attestation.Predicate, error) {
	m := found.Result.Manifest
	var said struct {
		Verified []cutroom.Verified `json:"verified"`
		EditMap  json.RawMessage    `json:"edit_map"`
	}
	if err := json.Unmarshal(e.Redact.JSON(m.Output), &said); err != nil {
		return attestation.Predicate{}, fmt.Errorf("the output of %s: %w", m.Tool, err)
	}
	p := attestation.Predicate{
		Tool:       attestation.Tool{ID: m.Tool, ContractVersion: m.ContractVersion, Revision: m.Revision},
		Invocation: m.Invocation, Artifact: found.Artifact.Path, Recorded: m.Created, Principal: m.Principal,
		ApprovalID: m.ApprovalID, Parents: m.Parents, Verified: said.Verified,
	}
	for _, s := range m.Sources {
		p.Sources = append(p.Sources, attestation.Source{
			Kind: s.Kind, Locator: e.Redact.Text(s.Locator), Digest: attestation.DigestSet{SHA256: s.SHA256}, Size: s.Size,
		})
	}
	for name, program := range m.Toolchain {
		p.Toolchain = append(p.Toolchain, attestation.Program{
			Name: name, Version: program.Version, Digest: attestation.DigestSet{SHA256: program.Fingerprint},
		})
	}
	if len(said.EditMap) > 0 && string(said.EditMap) != "null" {
		canonical, err := tool.Canonical(said.EditMap)
		if err != nil {
			return attestation.Predicate{}, err
		}
		p.EditMap = &attestation.DigestSet{SHA256: cutroom.DigestOf(canonical)}
	}
	return p, nil
}

// noOrigin says why a file cannot be attested: a result wrote a file of that name, and
// the bytes are other ones, or none did.
func (e *Engine) noOrigin(ctx context.Context, path, locator string) error {
	for r, err := range e.Stage.List(ctx) {
		var made struct {
			Output *string `json:"output"` // of whatever writes a file
		}
		if err != nil || json.Unmarshal(r.Manifest.Output, &made) != nil || made.Output == nil {
			continue
		}
		if filepath.ToSlash(filepath.Clean(*made.Output)) == locator {
			return cutroom.Errorf(cutroom.Conflict, "%q is not the file that %s wrote: its bytes were changed since", path, r.Manifest.Tool).
				WithHint("call the tool again, or attest the file as it was written; `cutroom provenance` finds it by its content")
		}
	}
	return cutroom.Errorf(cutroom.NotFound, "no recorded result made the bytes of %q", path).
		WithHint("when the file was changed since it was made, attest it as it was written or make it again; else run this from the workspace where it was made, or name that with --root")
}
