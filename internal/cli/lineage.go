package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/stage"
)

// lineage is how a file came to be.
type lineage struct {
	File      string         `json:"file"`
	SHA256    cutroom.Digest `json:"sha256"`
	SizeBytes int64          `json:"size_bytes"`
	Origins   []origin       `json:"origins"`        // results that made this content
	Used      []string       `json:"used_as_source"` // results that were made from it
}

// origin is one recorded result and those it was made from.
type origin struct {
	RunID           cutroom.Digest    `json:"run_id"`
	Tool            string            `json:"tool"`
	ContractVersion string            `json:"contract_version"`
	Revision        int               `json:"revision"`
	Folder          string            `json:"folder"`
	Artifact        string            `json:"artifact,omitempty"`
	Created         time.Time         `json:"created"`
	Principal       string            `json:"principal"`
	Request         json.RawMessage   `json:"request,omitempty"`
	Sources         []stage.Source    `json:"sources"`
	Programs        map[string]string `json:"programs"`
	NetworkOrigin   string            `json:"network_origin,omitempty"`
	ApprovalID      string            `json:"approval_id,omitempty"`
	Reviewed        *time.Time        `json:"reviewed,omitempty"`
	MadeFrom        []origin          `json:"made_from,omitempty"`

	content cutroom.Digest // of the artifact, where a file of the result was a source
}

// maxAncestors bounds how far back a lineage goes; a chain of tools is short.
const maxAncestors = 12

// records are the recorded results that the caller may read: what was found out about a
// medium is as much as the medium.
type records struct {
	*stage.Stage
	may func(*stage.Result) error
}

// FindArtifact is that of the stage, without what the caller may not read.
func (s *records) FindArtifact(ctx context.Context, digest cutroom.Digest) ([]stage.Found, error) {
	all, err := s.Stage.FindArtifact(ctx, digest)
	return slices.DeleteFunc(all, func(f stage.Found) bool { return s.may(f.Result) != nil }), err
}

// trace finds the origins of some content.
func trace(ctx context.Context, s *records, name string, digest cutroom.Digest, size int64) (lineage, error) {
	doc := lineage{File: name, SHA256: digest, SizeBytes: size, Origins: []origin{}, Used: []string{}}
	found, err := s.FindArtifact(ctx, digest)
	if err != nil {
		return doc, err
	}
	for _, f := range found {
		o := originOf(ctx, s, f.Result, maxAncestors)
		o.Artifact = f.Artifact.Path
		doc.Origins = append(doc.Origins, o)
	}
	for r, err := range s.List(ctx) {
		if err != nil || s.may(r) != nil {
			continue // what does not verify is no evidence; prune names it
		}
		if slices.ContainsFunc(r.Manifest.Sources, func(src stage.Source) bool { return src.SHA256 == digest }) {
			doc.Used = append(doc.Used, r.Folder())
		}
	}
	if err := ctx.Err(); err != nil {
		return doc, err
	}
	if len(doc.Origins)+len(doc.Used) == 0 {
		return doc, cutroom.Errorf(cutroom.NotFound, "no recorded result made %q or was made from it", short(name)).
			WithHint("run it from the workspace where the result was recorded, or name that with --root")
	}
	return doc, nil
}

func originOf(ctx context.Context, s *records, r *stage.Result, depth int) origin {
	m := r.Manifest
	o := origin{
		RunID: m.Invocation, Tool: m.Tool, ContractVersion: m.ContractVersion, Revision: m.Revision, Folder: r.Folder(),
		Created: m.Created, Principal: m.Principal.Name, Request: m.Request, Sources: m.Sources,
		Programs: map[string]string{}, NetworkOrigin: m.NetworkOrigin, ApprovalID: m.ApprovalID,
	}
	for name, p := range m.Toolchain {
		o.Programs[name] = p.Version
	}
	if !r.Reviewed.IsZero() {
		o.Reviewed = &r.Reviewed
	}
	for _, id := range m.Parents {
		if depth == 0 {
			break
		}
		parent, err := s.Find(ctx, string(id))
		if err != nil || s.may(parent) != nil { // pruned, or not verified: it cannot be vouched for
			o.MadeFrom = append(o.MadeFrom, origin{RunID: id, Tool: "no longer recorded", Sources: []stage.Source{}, Programs: map[string]string{}})
			continue
		}
		o.MadeFrom = append(o.MadeFrom, originOf(ctx, s, parent, depth-1))
	}
	o.MadeFrom = append(o.MadeFrom, makers(ctx, s, r, depth)...)
	return o
}

// makers are the results that made the files which r was made from: one tool's output
// is the next one's input, and its content says so.
func makers(ctx context.Context, s *records, r *stage.Result, depth int) []origin {
	var list []origin
	for _, src := range r.Manifest.Sources {
		if depth == 0 {
			break
		}
		found, err := s.FindArtifact(ctx, src.SHA256)
		if err != nil {
			break // the call was stopped: what is known is told
		}
		for _, f := range found {
			m := f.Result.Manifest
			if m.Invocation == r.Manifest.Invocation || slices.Contains(r.Manifest.Parents, m.Invocation) || !m.Created.Before(r.Manifest.Created) {
				continue
			}
			o := originOf(ctx, s, f.Result, depth-1)
			o.Artifact, o.content = f.Artifact.Path, src.SHA256
			list = append(list, o)
		}
	}
	return list
}

// write prints the lineage for people.
func (l lineage) write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n  sha256 %s, %d bytes\n", clean(l.File), l.SHA256, l.SizeBytes)
	for _, o := range l.Origins {
		o.write(&b, "")
	}
	if len(l.Used) > 0 {
		fmt.Fprintln(&b, "source of:")
		for _, p := range l.Used {
			fmt.Fprintln(&b, "  ", clean(p))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (o origin) write(b *bytes.Buffer, indent string) {
	fmt.Fprintf(b, "%smade by %s (%s)\n", indent, clean(o.Tool), o.RunID.Short())
	if o.Folder == "" {
		return
	}
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "%s  %-9s %s\n", indent, name, clean(value))
		}
	}
	line("when", o.Created.Format(time.RFC3339))
	line("by", o.Principal)
	line("as", strings.TrimSuffix(o.Folder+"/"+o.Artifact, "/"))
	line("request", string(o.Request))
	for _, name := range slices.Sorted(maps.Keys(o.Programs)) {
		line("program", name+": "+o.Programs[name])
	}
	line("approval", o.ApprovalID)
	line("network", o.NetworkOrigin)
	for _, s := range o.Sources {
		line("source", fmt.Sprintf("%s %s (sha256 %s)", s.Kind, s.Locator, s.SHA256.Short()))
	}
	for _, p := range o.MadeFrom {
		p.write(b, indent+"  ")
	}
}
