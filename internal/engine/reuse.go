package engine

import (
	"cmp"
	"context"

	"cutroom"
	"cutroom/internal/stage"
)

// reuse is step 7: a verified result of the same call answers. A concurrent equal
// call is waited for, then its result answers. A result that does not verify is a
// conflict, never a reason to run again. One that was made from results of which
// some were pruned would point at files that are gone: it is set aside and made anew.
func (k *call) reuse(ctx context.Context) error {
	if k.DryRun || k.tool.Live {
		return nil
	}
	r, gone, err := k.lookup(ctx)
	if err != nil || r != nil && !gone {
		return k.answer(ctx, r, err)
	}
	if k.byRecord {
		return cutroom.Errorf(cutroom.Conflict, "the recorded answer went away meanwhile").WithHint("make the same call again")
	}
	if k.lock, err = k.e.Stage.Acquire(ctx, k.name); err != nil {
		return err
	}
	r, gone, err = k.lookup(ctx)
	if err != nil || r != nil && !gone {
		return k.answer(ctx, r, err)
	}
	if err := k.refuseExisting(); err != nil {
		return err
	}
	if r != nil {
		if err := k.e.Stage.SetAside(k.lock, r); err != nil {
			return err
		}
	}
	k.build, err = k.e.Stage.Begin(ctx, k.lock)
	return err
}

// lookup finds the recorded result of this call, and whether one of the results
// that it was made from is gone.
func (k *call) lookup(ctx context.Context) (r *stage.Result, gone bool, err error) {
	if r, err = k.e.Stage.Lookup(ctx, k.name); err != nil || r == nil {
		return nil, false, err
	}
	gone, err = k.e.Stage.VerifyParents(ctx, r)
	return r, gone, err
}

// answer replies with a recorded result. What depends on this very call, the
// locator of the source, is filled in anew.
func (k *call) answer(ctx context.Context, r *stage.Result, err error) error {
	if err != nil {
		return err
	}
	for _, s := range r.Manifest.Sources {
		if limit := k.bounds.Duration; limit > 0 && s.Duration != nil && *s.Duration > limit {
			return tooLong(s.Locator, *s.Duration, limit)
		}
	}
	out, err := k.tool.DecodeOutput(r.Manifest.Output)
	if err != nil {
		return cutroom.Errorf(cutroom.Conflict, "the recorded result %s has another shape than its tool", r.Manifest.Invocation.Short()).
			WithCause(err).WithHint("run `cutroom prune --invalid`, then call again")
	}
	k.out = out
	record := k.recordOf(r.Manifest)
	out.(cutroom.Recordable).Recorded(record)
	if m, ok := out.(interface{ Locate([]string) }); ok {
		m.Locate(k.locators())
	}
	if m, ok := out.(interface{ MarkReused() }); ok {
		m.MarkReused()
	}
	k.nameOutput()
	if len(k.outlets) > 0 { // publishing a recorded file again is a use, too
		if err := k.spend(ctx); err != nil {
			return err
		}
	}
	if err := k.deliver(ctx, r); err != nil {
		return err
	}
	return k.finish(record, true)
}

func tooLong(name string, is, limit cutroom.Micros) error {
	return cutroom.Errorf(cutroom.Limit, "%q lasts %s s, more than the limit of %s s", name, is, limit).
		WithHint("raise limits.max_duration_seconds (--max-duration-seconds), at most 86400")
}

// recordOf makes the shared part of an output from a manifest.
func (k *call) recordOf(m stage.Manifest) cutroom.Record {
	r := cutroom.Record{Run: m.Invocation, Artifacts: []cutroom.ArtifactRef{}, Provenance: cutroom.Provenance{
		ToolID: m.Tool, ToolContractVersion: m.ContractVersion, InvocationSHA256: m.Invocation,
		ExecutableVersions: map[string]string{}, OutputHashes: map[string]cutroom.Digest{},
		NetworkDestination: m.NetworkOrigin, ApprovalID: m.ApprovalID,
		UntrustedContent: true, RetentionPolicy: cutroom.RetainUntilReview,
	}}
	for name, p := range m.Toolchain {
		if p.Version != "" {
			r.Provenance.ExecutableVersions[name] = p.Version
		}
	}
	for _, a := range m.Artifacts {
		ref := k.refOf(a)
		r.Artifacts = append(r.Artifacts, ref)
		r.Provenance.OutputHashes[ref.RelativePath] = ref.SHA256
	}
	r.Provenance.SourceIdentity = k.identity()
	return r
}

// identity is the source as this call named it.
func (k *call) identity() cutroom.SourceIdentity {
	if len(k.sources) == 0 {
		return cutroom.SourceIdentity{Kind: cutroom.Transcript, SHA256: k.subject(), SafeLocator: "inline:" + k.subject().Short()}
	}
	s := k.sources[0]
	id := cutroom.SourceIdentity{Kind: s.Kind, SHA256: s.SHA256, SafeLocator: s.Locator}
	if s.Kind != cutroom.URL {
		id.SizeBytes = &s.Size
	}
	return id
}

// locators are where this call's inputs are, in the order of the request.
func (k *call) locators() []string {
	list := make([]string, len(k.inputs))
	for i, in := range k.inputs {
		list[i] = in.Locator
	}
	return list
}

// finish makes the reply.
func (k *call) finish(record cutroom.Record, reused bool) error {
	encoded, err := k.encoded()
	if err != nil {
		return err
	}
	k.reply = &Reply{Tool: k.tool.Name, Output: k.out, JSON: encoded, Run: record.Run, Reused: reused, Record: record, Approval: cmp.Or(k.approval, k.grant)}
	return nil
}
