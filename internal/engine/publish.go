package engine

import (
	"context"
	"path"
	"strings"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// publish is step 10: the output takes its record, secrets in it are masked, it is
// checked against its schema, and the result becomes visible, whole, in one rename.
func (k *call) publish(ctx context.Context) error {
	t, ok := k.out.(interface{ Transient() bool })
	transient := ok && t.Transient() || k.tool.Live
	if transient {
		k.kept, k.made = nil, nil
	}
	m := stage.Manifest{
		Tool: k.tool.Name, ContractVersion: k.tool.Contract, Revision: k.tool.Revision, Invocation: k.name.Invocation,
		Sources: k.masked(k.sources), Request: k.e.Redact.JSON(k.request), Toolchain: k.toolchain(),
		Parents: k.parents, Principal: k.Principal, ApprovalID: k.approval, NetworkOrigin: strings.Join(k.contacted, " "),
	}
	for i, a := range k.kept {
		m.Artifacts = append(m.Artifacts, stage.Artifact{Path: a.Path, SHA256: k.made[i].SHA256, Size: k.made[i].SizeBytes, MediaType: a.MediaType, Timestamp: a.Timestamp, Field: a.Field})
	}
	if made, ok := k.out.(tool.Maker); ok {
		made.AsMade().Commands = k.lines
		k.nameOutput()
	}
	record := k.recordOf(m)
	k.out.(cutroom.Recordable).Recorded(record)
	output, err := k.encoded()
	if err != nil {
		return err
	}
	if err := k.tool.CheckOutput(k.out); err != nil {
		return err
	}
	if transient {
		// What stopped the work may pass: the answer is given, but not kept as the one.
		err := k.finish(record, false)
		if err == nil {
			k.reply.Transient = true
		}
		return err
	}
	m.Output = output
	r, err := k.build.Seal(ctx, m, k.kept)
	if err != nil {
		return err
	}
	k.build = nil
	if err := k.deliver(ctx, r); err != nil {
		return err
	}
	return k.finish(record, false)
}

// relativePath is where an artifact of a result lies, relative to the workspace.
func (e *Engine) relativePath(n stage.Name, artifact string) string {
	return path.Join(e.StageRoot, n.Source.Short(), n.Tool, n.Invocation.Short(), artifact)
}
