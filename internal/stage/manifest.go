package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cutroom"
)

// Name says what a result was made from: the digest of its (first) source, the
// tool, and the digest of the whole invocation. Its folder is made of the first
// 16 digits of each digest.
type Name struct {
	Source     cutroom.Digest
	Tool       string
	Invocation cutroom.Digest
}

// folder is the name's path below the stage's root.
func (n Name) folder() string {
	return n.Source.Short() + "/" + n.Tool + "/" + n.Invocation.Short()
}

func (n Name) check() error {
	_, err1 := cutroom.ParseDigest(string(n.Source))
	_, err2 := cutroom.ParseDigest(string(n.Invocation))
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("name of a result: %w", err)
	}
	if !toolName(n.Tool) {
		return fmt.Errorf("name of a result: %q is not the id of a tool", n.Tool)
	}
	return nil
}

// toolName reports whether s can be the id of a tool and so the name of a folder.
func toolName(s string) bool {
	return len(s) > 0 && len(s) <= 100 && s[0] >= 'a' && s[0] <= 'z' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
}

// hex16 reports whether s can be the short form of a digest.
func hex16(s string) bool { return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == "" }

// manifestVersion is the version of result.json.
const manifestVersion = 1

// Manifest is the record of a result, kept as result.json. [Build.Seal] fills
// Version, Source, Tool, Invocation, Artifacts, MAC and, when zero, Created; the
// caller the rest.
type Manifest struct {
	Version         int                `json:"version"`          // of this record's form
	Source          cutroom.Digest     `json:"source"`           // names the folder
	Tool            string             `json:"tool"`             // id
	ContractVersion string             `json:"contract_version"` // of the tool
	Revision        int                `json:"revision"`         // of the tool
	Invocation      cutroom.Digest     `json:"invocation"`       // full digest of the call
	Sources         []Source           `json:"sources"`
	Request         json.RawMessage    `json:"request,omitempty"` // normalised; JSON
	Toolchain       map[string]Program `json:"toolchain,omitempty"`
	Artifacts       []Artifact         `json:"artifacts"`         // sorted by path
	Output          json.RawMessage    `json:"output,omitempty"`  // the tool's output; JSON
	Parents         []cutroom.Digest   `json:"parents,omitempty"` // invocations it was made from
	Principal       cutroom.Principal  `json:"principal"`         // who made the call
	Created         time.Time          `json:"created"`           // UTC, whole microseconds
	NetworkOrigin   string             `json:"network_origin,omitempty"`
	ApprovalID      string             `json:"approval_id,omitempty"`
	MAC             string             `json:"mac,omitempty"`
}

// Source is one input of a result.
type Source struct {
	Kind     cutroom.SourceKind `json:"kind"`
	SHA256   cutroom.Digest     `json:"sha256"`
	Size     int64              `json:"size"`    // bytes
	Locator  string             `json:"locator"` // safe to show
	Duration *cutroom.Micros    `json:"duration,omitempty"`
}

// Program is one program, library or model that took part.
type Program struct {
	Fingerprint cutroom.Digest `json:"fingerprint"`
	Version     string         `json:"version"` // its version line
}

// Artifact is one file of a result.
type Artifact struct {
	Path      string          `json:"path"` // inside the result, forward slashes
	SHA256    cutroom.Digest  `json:"sha256"`
	Size      int64           `json:"size"` // bytes
	MediaType string          `json:"media_type"`
	Timestamp *cutroom.Micros `json:"timestamp,omitempty"` // presentation time, when it is a frame
	Field     string          `json:"field,omitempty"`     // input field whose path it is published at
}

// Name returns what the result is named by.
func (m *Manifest) Name() Name {
	return Name{Source: m.Source, Tool: m.Tool, Invocation: m.Invocation}
}

func (m *Manifest) mac() string     { return m.MAC }
func (m *Manifest) setMAC(s string) { m.MAC = s }

// The files of a result that are no artifacts, and the kinds of the documents.
const (
	resultFile   = "result.json"
	reviewedFile = "reviewed.json"

	resultKind  = "cutroom.result/1"
	reviewKind  = "cutroom.review/1"
	pendingKind = "cutroom.pending/1"
)

// complete checks what the caller filled and makes it ready to be sealed.
func (m *Manifest) complete(name Name, artifacts []Artifact, now time.Time) error {
	m.Version, m.Source, m.Tool, m.Invocation = manifestVersion, name.Source, name.Tool, name.Invocation
	m.Artifacts = artifacts
	if m.Sources == nil {
		m.Sources = []Source{}
	}
	if m.Created.IsZero() {
		m.Created = now
	}
	m.Created = m.Created.UTC().Truncate(time.Microsecond)
	for _, raw := range []json.RawMessage{m.Request, m.Output} {
		if len(raw) == 0 {
			continue
		}
		if err := exactNumbers(raw); err != nil {
			return fmt.Errorf("manifest of %s: %w", m.Tool, err)
		}
	}
	return nil
}

// artifactPath reports whether p can name an artifact inside a result.
func artifactPath(p string) bool {
	if p == "" || len(p) > 1024 || !utf8.ValidString(p) || path.Clean(p) != p || path.IsAbs(p) ||
		strings.ContainsAny(p, "\x00\\") || p == resultFile || p == reviewedFile {
		return false
	}
	return !slices.ContainsFunc(strings.Split(p, "/"), func(c string) bool { return strings.HasPrefix(c, ".") })
}

// tree lists, for each folder of a result, the names that belong there.
func tree(paths []string) map[string][]string {
	t := map[string][]string{".": nil}
	for _, p := range paths {
		for p != "." {
			folder := path.Dir(p)
			_, known := t[folder]
			if !slices.Contains(t[folder], path.Base(p)) {
				t[folder] = append(t[folder], path.Base(p))
			}
			if known {
				break
			}
			p = folder
		}
	}
	return t
}
