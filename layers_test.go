package cutroom_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is one level of the list: its packages may import every level below and
// nothing beside them. A folder beneath a listed one belongs to it, unless it is
// listed itself.
type layer struct {
	name   string
	units  string // folders, separated by spaces
	never  string // what no package of the level may import
	reason string
}

// stdOnly are the layers that import nothing but the standard library and ours.
var stdOnly = []string{"argv", "nouns", "child"}

// layers is the list of docs/architecture.md, from the top down.
var layers = []layer{
	{"main", "cmd/cutroom bench attest evals scripts internal/docgen/gen", "", "builds the parts and opens a door: the only place that knows concrete ones (docgen/gen writes pages from the registry; scripts holds tests only; attest drives real hosts; evals asks a model about the contract)"},
	{"doors", "internal/cli internal/mcpserver internal/httpapi internal/gateway internal/console", "", "a way in; doors do no work and never call each other"},
	{"setup", "internal/setup", "", "finds and pins programs for the commands setup and doctor, which are doors' work"},
	{"docgen", "internal/docgen", "", "contract and reference pages, written from a registry that it is given: doors' work, too"},
	{"agent", "internal/agent", "", "calls tools through the engine only"},
	{"job", "internal/job", "", "a job is a stored call of the engine"},
	{"engine", "internal/engine", "", "the one path that every call takes"},
	{"tools", "internal/tools", "os net", "the list of families, nothing else"},
	{"families", "internal/tools/*", "os net", "a tool is typed facts and pure planning: it opens no path; it calls another tool by id through its Env, never by import"},
	{"brand", "internal/brand", "os net", "a publisher's fonts and colours as a file, read as projects are"},
	{"project", "internal/project", "os net", "an edit as people write it down, and its templates: data, from which tools plan"},
	{"tool", "internal/tool", "", "what a tool is"},
	{"graph", "internal/graph internal/smartcut", "os net", "an edit as one operation graph: what it needs of ffmpeg's words, of proofs and of edit maps comes from below"},
	{"lens", "internal/lens", "os net", "how media become evidence through readers: the table of verdicts and chains, what readers are told and what of their answers counts; it asks nobody itself"},
	{"proof", "internal/proof internal/verdict", "os net", "what must be true of a written file, and how it is measured; what a finished one is worth to a platform"},
	{"timeline", "internal/timeline", "os net", "the files of editing programs: pure text, in the frames and labels of ffmpeg's words"},
	{"graphic", "internal/graphic", "os net", "what motion graphics look like, drawn with the letters that captions set"},
	{"knowledge", "internal/ffmpeg internal/evidence internal/caption internal/platform internal/align internal/rhythm internal/grade", "os net", "pure functions, no input or output"},
	{"edl", "internal/edl", "os net", "edit maps and cut lists: times only, so that all above may speak of them"},
	{"records", "internal/approval internal/audit internal/cooldown internal/meter internal/run internal/token", "", "what was allowed and what was done: kept in the store, under keys; never an engine or a door"},
	{"parts", "internal/sandbox internal/stage internal/fetch internal/origin internal/provider internal/onnx internal/picture internal/ocr internal/object internal/speech internal/policy internal/redact internal/attestation internal/event internal/store internal/font internal/sprite internal/config internal/host internal/modeltest internal/persontest internal/testenv", "", "each knows the nouns and nothing above it, nor each other"},
	{"argv", "internal/sandbox/argv", "os net", "typed program arguments: pure, so that those who plan a run need not know who runs it"},
	{"nouns", ".", "os net cutroom/internal/sandbox/child", "what is passed between the parts"},
	{"child", "internal/sandbox/child", "", "runs before main in the sandboxed process: every import, the nouns too, is start-up time of every program"},
}

// sideways are the imports between packages of one level that are allowed.
var sideways = []struct{ from, to, reason string }{
	{"internal/ocr", "internal/onnx", "PP-OCR is two ONNX models"},
	{"internal/ocr", "internal/picture", "pictures that nobody vouches for are opened in one way"},
	{"internal/object", "internal/picture", "as above"},
	{"internal/speech", "internal/onnx", "voice activity and speech to text are ONNX models"},
	{"internal/tools/media", "internal/tools/video", "media tools are made of others: they need the types of what those take and answer, and call them by id"},
	{"internal/tools/media", "internal/tools/measure", "as above"},
	{"internal/tools/review", "internal/tools/measure", "a check is made of measurements, called by id: it needs the types of what they answer"},
	{"internal/tools/review", "internal/tools/video", "as above: it reads frames for captions"},
}

// home says which packages alone may import something; "*" is every package and
// "tests" is test files and packages named ...test. An import path covers those
// beneath it; the longest that fits counts. What is neither standard nor here is a
// new dependency: it needs a line here and one in docs/decisions.
type home struct{ path, units, reason string }

var homes = []home{
	{"C", "", "the binary is built without cgo"},
	{"os/exec", "internal/sandbox internal/testenv bench attest tests", "a program starts in the sandbox or not at all; bench runs the plain programs beside ours, attest the hosts"},
	{"plugin", "", "nothing is loaded into the process but ONNX Runtime, in its own child"},
	{"net", "internal/sandbox internal/fetch internal/provider internal/store internal/mcpserver internal/httpapi internal/gateway internal/console cmd/cutroom attest tests", "three ways out (fetch, provider, the operator's database server), four doors in, which main opens; the sandbox tries sockets to show that they fail"},
	{"net/http", "internal/fetch internal/origin internal/provider internal/mcpserver internal/httpapi internal/gateway internal/console cmd/cutroom bench attest evals tests", "two ways out, four doors in, which main opens; origin reads the headers of a request; bench asks a door as clients do, evals a model that is measured"},
	{"net/netip", "*", "addresses as values; opens nothing"},
	{"net/url", "*", "text as values; opens nothing"},
	{"database/sql", "internal/store internal/job internal/approval internal/audit internal/cooldown internal/meter internal/run internal/token internal/setup tests", "one SQL text, in one place; the queue library takes a handle; setup hands the one that there is to the parts"},
	{"syscall", ". internal/sandbox internal/stage internal/host internal/testenv cmd/cutroom bench attest tests", "kernel calls are for the sandbox and for publishing without overwriting; the nouns tell a full disk by its number; host reads a file's owner; testenv takes a file lock; main names the signals it waits for; bench starts programs in sessions of their own"},
	{"unsafe", "internal/sandbox internal/onnx tests", "system calls and a C interface without cgo"},
	{"golang.org/x/sys", "internal/sandbox internal/stage tests", "as syscall"},

	{"github.com/ebitengine/purego", "internal/onnx", "loads ONNX Runtime; its presence changes what the Go runtime can do (docs/decisions/0004)"},
	{"github.com/landlock-lsm/go-landlock", "internal/sandbox", "file rules of the sandbox"},
	{"kernel.org/pub/linux/libs/security/libcap/psx", "internal/sandbox", "comes with go-landlock"},
	{"github.com/spf13", "internal/cli cmd/cutroom", "commands and flags"},
	{"github.com/vbauerster/mpb", "internal/cli", "progress bars"},
	{"golang.org/x/term", "internal/cli internal/setup", "is it a terminal; a passphrase without echo"},
	{"github.com/zalando/go-keyring", "internal/setup", "secrets in the keyring of the user's session"},
	{"go.yaml.in/yaml", "internal/config internal/agent/script internal/project", "files that people write: the operator's, projects and recipes, a script for the scripted model"},
	{"github.com/go-json-experiment/json", "*", "strict JSON: refuses duplicate and wrongly cased keys"},
	{"github.com/google/jsonschema-go", "internal/tool internal/docgen tests", "JSON Schema from structs; contracts add words of their own"},
	{"github.com/gabriel-vasile/mimetype", "internal/engine internal/stage internal/ffmpeg", "the type of a file by its content"},
	{"golang.org/x/crypto", "internal/approval", "Argon2id: what a guess at the operator's passphrase costs"},
	{"golang.org/x/image", "internal/picture internal/ocr internal/ffmpeg internal/evidence internal/font internal/sprite tests", "scaling and WebP; the fixed-point numbers of shaped text"},
	{"golang.org/x/text", "internal/evidence internal/fetch", "encodings, Unicode"},
	{"golang.org/x/net", "internal/fetch", "IDNA (UTS 46)"},
	{"gonum.org/v1/gonum", "internal/align internal/rhythm", "Fourier transforms"},
	{"github.com/go-text/typesetting", "internal/font", "reads fonts and shapes text, as the renderer of captions does"},
	{"github.com/go-text/typesetting/segmenter", "internal/caption", "line breaks and characters by UAX #14 and #29: pure tables"},
	{"github.com/go-text/typesetting/bidi", "internal/caption", "in which order a line of both directions is seen (UAX #9)"},
	{"golang.org/x/sync", "internal/engine internal/job", "one execution for equal calls"},

	{"github.com/modelcontextprotocol/go-sdk", "internal/mcpserver cmd/cutroom attest tests", "the protocol of agents' hosts"},
	{"github.com/riverqueue/river", "internal/job", "the durable queue"},
	{"modernc.org/sqlite", "internal/store", "SQLite without cgo"},
	{"github.com/jackc/pgx/v5", "internal/store tests", "PostgreSQL without cgo"},
	{"github.com/pressly/goose/v3", "internal/store", "migrations"},
	{"github.com/tailscale/hujson", "internal/host", "edits JSON with comments and keeps them"},
	{"github.com/pelletier/go-toml/v2", "internal/host tests", "reads the hosts' TOML"},

	{"github.com/openai/openai-go/v3", "tests", "a second opinion on two wires; 25 MB in a binary (docs/decisions/0036)"},
	{"github.com/anthropics/anthropic-sdk-go/v2", "tests", "a second opinion on the third"},
	{"github.com/secure-systems-lab/go-securesystemslib", "tests", "a second opinion on our envelopes; it brings SSH along"},
	{"github.com/google/go-cmp", "tests", "differences in tests"},
	{"pgregory.net/rapid", "tests", "property tests"},
	{"github.com/rogpeppe/go-internal/diff", "internal/host tests", "shows a change of a file before it is made"},
	{"github.com/rogpeppe/go-internal", "tests", "command-line sessions as text"},
	{"github.com/santhosh-tekuri/jsonschema", "tests", "a second opinion on our schemas; its start-up costs 7 ms"},
}

// inits are the folders that may have init functions.
var inits = map[string]string{
	"internal/sandbox/child": "takes over the process before main when it is started as a sandbox helper",
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, v := range importFaults(parseTree(t, os.DirFS("."))) {
		t.Error(v)
	}
}

// importFaults returns every import and init function that the tables refuse.
func importFaults(files []source) []string {
	var faults []string
	for _, f := range files {
		from, known := unitOf(f.dir)
		if !known {
			faults = append(faults, fmt.Sprintf("%s: the folder %s is in no layer of layers_test.go", f.path, f.dir))
			continue
		}
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				panic(err) // the parser accepted it
			}
			why := never(f, from, path)
			if own, isOwn := ownFolder(path); why == "" && isOwn {
				why = refusedOwn(f, from, own)
			} else if why == "" {
				why = refusedOther(f, from, path)
			}
			if why != "" {
				faults = append(faults, fmt.Sprintf("%s: imports %s: %s", f.path, path, why))
			}
		}
		if _, ok := inits[f.dir]; !ok && f.hasInit() {
			faults = append(faults, fmt.Sprintf("%s: has an init function; work starts in main", f.path))
		}
	}
	return faults
}

// never says why no package of the layer of f may import path, "" if some may.
func never(f source, from, path string) string {
	l := layers[rank(from)]
	first, _, _ := strings.Cut(path, "/")
	switch {
	case f.isTest() || strings.HasSuffix(f.dir, "test"):
		return ""
	case slices.Contains(strings.Fields(l.never), path):
		return fmt.Sprintf("never in %s: %s", l.name, l.reason)
	case slices.Contains(stdOnly, l.name) && strings.Contains(first, "."):
		return fmt.Sprintf("standard library only in %s: %s", l.name, l.reason)
	}
	return ""
}

// refusedOwn says why f, of the unit from, may not import our own folder, "" if it
// may.
func refusedOwn(f source, from, folder string) string {
	to, known := unitOf(folder)
	isTest := f.isTest()
	if strings.HasSuffix(folder, "test") || to == "internal/testenv" {
		if isTest || strings.HasSuffix(f.dir, "test") || to == from {
			return ""
		}
		return "it is for test files only"
	}
	if !known {
		return "it is in no layer"
	}
	up, down := rank(from), rank(to)
	switch {
	case from == to || up < down:
		return ""
	case up > down:
		return fmt.Sprintf("imports point down, and %s is above %s (%s)", to, from, layers[down].reason)
	case isTest: // a test is a small main: it may hand one real part to another
		return ""
	}
	for _, s := range sideways {
		if s.from == from && s.to == to {
			return ""
		}
	}
	return fmt.Sprintf("not between %s: %s", layers[up].name, layers[up].reason)
}

// refusedOther says why f may not import a package that is not ours.
func refusedOther(f source, from, path string) string {
	isTest := f.isTest() || strings.HasSuffix(f.dir, "test")
	best := home{}
	for _, h := range homes {
		if within(path, h.path) && len(h.path) > len(best.path) {
			best = h
		}
	}
	if best.path == "" {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			return "a dependency without a line in layers_test.go"
		}
		return "" // the standard library
	}
	units := strings.Fields(best.units)
	switch {
	case slices.Contains(units, "*"), slices.Contains(units, "tests") && isTest:
		return ""
	case slices.ContainsFunc(units, func(u string) bool { return within(f.dir, u) }):
		return ""
	}
	return fmt.Sprintf("only %s may: %s", cmp.Or(best.units, "nobody"), best.reason)
}

// unitOf returns the longest listed folder that dir lies in.
func unitOf(dir string) (unit string, known bool) {
	for _, l := range layers {
		for _, u := range strings.Fields(l.units) {
			if parent, ok := strings.CutSuffix(u, "/*"); ok {
				rest, inside := strings.CutPrefix(dir, parent+"/")
				if !inside {
					continue
				}
				family, _, _ := strings.Cut(rest, "/")
				u = parent + "/" + family
			}
			if within(dir, u) && len(u) > len(unit) {
				unit = u
			}
		}
	}
	return unit, unit != ""
}

// rank returns the index of unit's layer, 0 the top.
func rank(unit string) int {
	return slices.IndexFunc(layers, func(l layer) bool {
		return slices.ContainsFunc(strings.Fields(l.units), func(u string) bool {
			parent, star := strings.CutSuffix(u, "/*")
			return u == unit || star && within(unit, parent) && unit != parent
		})
	})
}

// ownFolder turns an import path of this module into a folder.
func ownFolder(path string) (folder string, own bool) {
	if path == "cutroom" {
		return ".", true
	}
	return strings.CutPrefix(path, "cutroom/")
}

// within reports whether path is folder or lies beneath it. The root folder holds
// only itself.
func within(path, folder string) bool {
	return path == folder || folder != "." && strings.HasPrefix(path, folder+"/")
}
