package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// publish is step 10: the output takes its record, is checked against its schema,
// and the result becomes visible, whole, in one rename.
func (k *call) publish(ctx context.Context) error {
	t, ok := k.out.(interface{ Transient() bool })
	transient := ok && t.Transient()
	if transient {
		k.kept, k.made = nil, nil
	}
	m := stage.Manifest{
		Tool: k.tool.Name, ContractVersion: k.tool.Contract, Revision: k.tool.Revision, Invocation: k.name.Invocation,
		Sources: k.sources, Request: k.request, Toolchain: k.toolchain(),
		Parents: k.parents, Principal: k.Principal,
	}
	for i, a := range k.kept {
		m.Artifacts = append(m.Artifacts, stage.Artifact{Path: a.Path, SHA256: k.made[i].SHA256, Size: k.made[i].SizeBytes, MediaType: a.MediaType, Timestamp: a.Timestamp})
	}
	record := k.recordOf(m)
	k.out.(cutroom.Recordable).Recorded(record)
	output, err := tool.Encode(k.out)
	if err != nil {
		return err
	}
	if err := k.e.conforms(k.tool, output); err != nil {
		return err
	}
	if transient {
		// What stopped the work may pass: the answer is given, but not kept as the one.
		return k.finish(record, false)
	}
	m.Output = output
	if _, err := k.build.Seal(ctx, m, k.kept); err != nil {
		return err
	}
	k.build = nil
	return k.finish(record, false)
}

// schemas keeps resolved output schemas; resolving one costs more than a check.
var schemas sync.Map

// conforms checks an output against its tool's schema.
func (e *Engine) conforms(t *tool.Tool, output []byte) error {
	v, ok := schemas.Load(t)
	if !ok {
		resolved, err := t.OutputSchema().Resolve(&jsonschema.ResolveOptions{})
		if err != nil {
			return fmt.Errorf("output schema of %s: %w", t.Name, err)
		}
		v, _ = schemas.LoadOrStore(t, resolved)
	}
	var instance any
	dec := json.NewDecoder(bytes.NewReader(output))
	if err := dec.Decode(&instance); err != nil {
		return err
	}
	if err := v.(*jsonschema.Resolved).Validate(instance); err != nil {
		return fmt.Errorf("the output of %s does not fit its schema: %w", t.Name, err)
	}
	return nil
}

// relativePath is where an artifact of a result lies, relative to the workspace.
func (e *Engine) relativePath(n stage.Name, artifact string) string {
	return path.Join(e.StageRoot, n.Source.Short(), n.Tool, n.Invocation.Short(), artifact)
}
