package attestation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"

	"cutroom"
)

// What a statement and its predicate call themselves. The second is a name; nothing is
// ever fetched from it.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://cutroom.dev/attestation/result/v1"
)

// Statement says how one file came to be (in-toto attestation framework, Statement v1).
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"` // exactly one
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is the file: its name is for people, its digest says which bytes are meant.
type Subject struct {
	Name   string    `json:"name"`
	Digest DigestSet `json:"digest"`
}

// DigestSet holds the one digest that is used here.
type DigestSet struct {
	SHA256 cutroom.Digest `json:"sha256"`
}

// Predicate is the recorded result that the file came from.
type Predicate struct {
	Tool       Tool               `json:"tool"`
	Invocation cutroom.Digest     `json:"invocation"`        // identity of the call: tool, sources, request, toolchain
	Artifact   string             `json:"artifact"`          // the file's path inside the result
	Recorded   time.Time          `json:"recorded"`          // when the result was recorded; UTC, whole microseconds
	Principal  cutroom.Principal  `json:"principal"`         // who made the call
	ApprovalID string             `json:"approvalId"`        // the approval that allowed it; empty when none was needed
	Sources    []Source           `json:"sources"`           // the media it was made from, in the order of the call
	Parents    []cutroom.Digest   `json:"parents"`           // recorded results that it was made from
	Toolchain  []Program          `json:"toolchain"`         // what ran, in order of name
	Verified   []cutroom.Verified `json:"verified"`          // what was measured on the file before it was published
	EditMap    *DigestSet         `json:"editMap,omitempty"` // of the recorded edit map as canonical JSON (RFC 8785)
	Recorder   Recorder           `json:"recorder"`          // the program that recorded and signed
}

// Tool is the tool that made the result.
type Tool struct {
	ID              string `json:"id"`
	ContractVersion string `json:"contractVersion"`
	Revision        int    `json:"revision"`
}

// Source is one medium.
type Source struct {
	Kind    cutroom.SourceKind `json:"kind"`
	Locator string             `json:"locator"` // where it was, with nothing secret in it
	Digest  DigestSet          `json:"digest"`
	Size    int64              `json:"size"` // bytes
}

// Program is a program, library or model that took part.
type Program struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Digest  DigestSet `json:"digest"` // of the program with its libraries and models
}

// Recorder is this program.
type Recorder struct {
	Name    string `json:"name"` // always cutroom
	Version string `json:"version"`
}

// Limits of what is read.
const (
	maxStatement = 4 << 20
	maxEnvelope  = 8 << 20
	maxList      = 10_000
)

// NewStatement states the facts of p about a file. Lists are never null, and the
// toolchain is in order of name, so that the same facts are the same bytes.
func NewStatement(name string, content cutroom.Digest, p Predicate) Statement {
	p.Recorded = p.Recorded.UTC().Truncate(time.Microsecond)
	p.Sources, p.Parents, p.Verified = some(p.Sources), some(p.Parents), some(p.Verified)
	p.Toolchain = some(slices.Clone(p.Toolchain))
	slices.SortFunc(p.Toolchain, func(a, b Program) int { return cmp.Compare(a.Name, b.Name) })
	p.Recorder = Recorder{Name: "cutroom", Version: cutroom.Version}
	return Statement{
		Type: StatementType, PredicateType: PredicateType,
		Subject: []Subject{{Name: name, Digest: DigestSet{SHA256: content}}}, Predicate: p,
	}
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Bytes is the statement as it is signed: its members in the order of the type, one line.
func (s Statement) Bytes() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ParseStatement reads a statement strictly. Another type of statement or predicate is a
// verification error that names it.
func ParseStatement(text []byte) (Statement, error) {
	var s Statement
	if len(text) > maxStatement {
		return s, fault("the statement has %d bytes, more than %d", len(text), maxStatement)
	}
	var head struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
	}
	if err := strict.Unmarshal(text, &head, strict.RejectUnknownMembers(false)); err != nil {
		return s, fault("the statement is not JSON with each member once").WithCause(err)
	}
	if head.Type != StatementType {
		return s, fault("it holds a %q, not an in-toto statement (v1)", short(head.Type))
	}
	if head.PredicateType != PredicateType {
		return s, fault("its predicate is of the type %q, not %s", short(head.PredicateType), PredicateType)
	}
	if err := strict.Unmarshal(text, &s, strict.RejectUnknownMembers(true)); err != nil {
		return s, fault("the statement has not the form of %s", PredicateType).WithCause(err)
	}
	if err := s.check(); err != nil {
		return s, fault("the statement is not complete: %s", err)
	}
	return s, nil
}

// check looks at what the types do not say.
func (s Statement) check() error {
	if len(s.Subject) != 1 {
		return errors.New("it has not exactly one subject")
	}
	p := s.Predicate
	digests := []cutroom.Digest{s.Subject[0].Digest.SHA256, p.Invocation}
	digests = append(digests, p.Parents...)
	for _, src := range p.Sources {
		digests = append(digests, src.Digest.SHA256)
	}
	for _, prog := range p.Toolchain {
		digests = append(digests, prog.Digest.SHA256)
	}
	if p.EditMap != nil {
		digests = append(digests, p.EditMap.SHA256)
	}
	for _, d := range digests {
		if _, err := cutroom.ParseDigest(string(d)); err != nil {
			return errors.New("a digest is not 64 hexadecimal digits")
		}
	}
	switch {
	case s.Subject[0].Name == "" || p.Tool.ID == "" || p.Artifact == "":
		return errors.New("a name is missing")
	case p.Recorded.IsZero() || p.Recorded.Year() < 1970 || p.Recorded.Year() > 9999:
		return errors.New("it has no time")
	case len(p.Sources) > maxList || len(p.Parents) > maxList || len(p.Toolchain) > maxList || len(p.Verified) > maxList:
		return errors.New("a list is too long")
	}
	return nil
}

// fault is what is wrong with an attestation.
func fault(format string, args ...any) *cutroom.Error {
	return cutroom.Errorf(cutroom.Verification, format, args...).
		WithHint("get the attestation again from whoever made the file; do not trust it as it is")
}

// short is the beginning of a text from outside.
func short(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}
