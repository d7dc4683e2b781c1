package approval

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// Bound is everything that an approval is bound to. Two calls with the same bound are
// the same call; whatever differs makes another one, which needs its own approval.
type Bound struct {
	Workspace string            `json:"workspace"` // absolute
	StageRoot string            `json:"stage"`     // folder of results, relative to the workspace
	Principal cutroom.Principal `json:"principal"`
	Tool      string            `json:"tool"`
	Revision  int               `json:"revision"`
	// Arguments is the digest of the whole canonical request, with the paths of outputs
	// and the wish to overwrite.
	Arguments cutroom.Digest `json:"arguments"`
	// Inputs are the digests of what the call reads, in its order.
	Inputs []cutroom.Digest `json:"inputs"`
	// Run is the identity of the result: tool, inputs, request, programs and settings.
	// The plan follows from it alone.
	Run         cutroom.Digest `json:"run"`
	Outputs     []Output       `json:"outputs"`
	Destination string         `json:"destination,omitempty"` // network origin, "" for none
	MaxBytes    int64          `json:"max_bytes,omitempty"`   // that may come in from there
	Policy      cutroom.Digest `json:"policy"`                // of the rules that said ask
}

// Output is a file that the call writes.
type Output struct {
	Path     string         `json:"path"`               // absolute
	Replaces cutroom.Digest `json:"replaces,omitempty"` // content of the file that stands there
}

// Network says that the call reaches out.
func (b Bound) Network() bool { return b.Destination != "" }

// Digest is SHA-256 over every field with its name and length, so that no two bounds
// have the same text.
func (b Bound) Digest() cutroom.Digest {
	f := form{}
	f.text("bound of an approval", "1")
	f.text("workspace", b.Workspace)
	f.text("stage", b.StageRoot)
	f.text("principal", b.Principal.Name)
	f.text("role", string(b.Principal.Role))
	f.text("tool", b.Tool)
	f.number("revision", int64(b.Revision))
	f.text("arguments", string(b.Arguments))
	f.number("inputs", int64(len(b.Inputs)))
	for _, d := range b.Inputs {
		f.text("input", string(d))
	}
	f.text("run", string(b.Run))
	f.number("outputs", int64(len(b.Outputs)))
	for _, o := range b.Outputs {
		f.text("output", o.Path)
		f.text("replaces", string(o.Replaces))
	}
	f.text("destination", b.Destination)
	f.number("max_bytes", b.MaxBytes)
	f.text("policy", string(b.Policy))
	return f.digest()
}

// differs says in which way o is another call than b, "" when it is none. What a
// caller can mend is named first.
func (b Bound) differs(o Bound) string {
	switch {
	case b.Principal != o.Principal:
		return "for another principal"
	case b.Workspace != o.Workspace || b.StageRoot != o.StageRoot:
		return "for another workspace"
	case b.Tool != o.Tool || b.Revision != o.Revision:
		return "for another tool"
	case b.Arguments != o.Arguments:
		return "for other arguments"
	case !slices.Equal(b.Inputs, o.Inputs):
		return "for other content of an input"
	case !slices.Equal(b.Outputs, o.Outputs):
		return "for another file at an output"
	case b.Destination != o.Destination || b.MaxBytes != o.MaxBytes:
		return "for another destination"
	case b.Run != o.Run:
		return "for other programs or settings"
	case b.Policy != o.Policy:
		return "under another policy"
	}
	return ""
}

// distance is how many fields of o are others than b's.
func (b Bound) distance(o Bound) int {
	n := 0
	for _, other := range []bool{
		b.Principal != o.Principal, b.Workspace != o.Workspace, b.StageRoot != o.StageRoot, b.Tool != o.Tool, b.Revision != o.Revision,
		b.Arguments != o.Arguments, !slices.Equal(b.Inputs, o.Inputs), !slices.Equal(b.Outputs, o.Outputs),
		b.Destination != o.Destination, b.MaxBytes != o.MaxBytes, b.Policy != o.Policy,
	} {
		if other {
			n++
		}
	}
	return n
}

// form is a text that can be read in one way only: each field with its name, and both
// with their lengths.
type form []byte

func (f *form) text(name, value string) {
	for _, s := range []string{name, value} {
		*f = binary.BigEndian.AppendUint64(*f, uint64(len(s)))
		*f = append(*f, s...)
	}
}

func (f *form) number(name string, n int64) { f.text(name, strconv.FormatInt(n, 10)) }

func (f *form) list(name string, values []string) {
	f.number(name, int64(len(values)))
	for _, v := range values {
		f.text(name, v)
	}
}

func (f *form) digest() cutroom.Digest {
	sum := sha256.Sum256(*f)
	return cutroom.Digest(hex.EncodeToString(sum[:]))
}

// idLength is the length of an id: 80 bits, short enough to be typed. The signature
// speaks of the whole digest, so no promise hangs on it.
const idLength = 16

// idOf derives the id of a request from what it is bound to and how often that was
// asked for before.
func idOf(bound cutroom.Digest, round int64) string {
	f := form{}
	f.text("request for approval", "1")
	f.text("bound", string(bound))
	f.number("round", round)
	sum := sha256.Sum256(f)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:idLength]
}

// encode writes a value of ours, whose strings are JSON's.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(b)
}
