package cli

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"cutroom"
)

// graph is a lineage as nodes and edges, each once: files, the results that made them,
// and the recordings that no result made.
type graph struct {
	File  string `json:"file"`
	Nodes []node `json:"nodes"`
	Edges []edge `json:"edges"`
}

// The kinds of nodes.
const (
	nodeFile      = "file"      // some result made it
	nodeResult    = "result"    // a recorded call of a tool
	nodeRecording = "recording" // no result here made it: where a lineage begins
)

// node is a file by its content, or a result by its run.
type node struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`
	Name      string         `json:"name"` // of the tool, or where the file was
	SHA256    cutroom.Digest `json:"sha256,omitempty"`
	RunID     cutroom.Digest `json:"run_id,omitempty"`
	Recorded  *time.Time     `json:"recorded,omitempty"`
	Principal string         `json:"principal,omitempty"`
	Approval  string         `json:"approval_id,omitempty"`
}

// edge leads from what was there to what was made of it.
type edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	As   string `json:"as,omitempty"` // of a result to its file: the path inside the result
}

// grapher makes a graph of a lineage.
type grapher struct {
	graph
	known map[string]bool
}

// graph returns the lineage as one.
func (l lineage) graph() graph {
	g := &grapher{graph: graph{File: l.File, Nodes: []node{}, Edges: []edge{}}, known: map[string]bool{}}
	kind := nodeFile
	if len(l.Origins) == 0 {
		kind = nodeRecording
	}
	g.add(node{ID: fileID(l.SHA256), Kind: kind, Name: l.File, SHA256: l.SHA256})
	for _, o := range l.Origins {
		g.origin(o)
		g.join(edge{runID(o.RunID), fileID(l.SHA256), o.Artifact})
	}
	return g.graph
}

func fileID(d cutroom.Digest) string { return "file:" + string(d) }
func runID(d cutroom.Digest) string  { return "run:" + string(d) }

// origin adds a result with all that it came from.
func (g *grapher) origin(o origin) {
	n := node{ID: runID(o.RunID), Kind: nodeResult, Name: o.Tool, RunID: o.RunID, Principal: o.Principal, Approval: o.ApprovalID}
	if !o.Created.IsZero() {
		n.Recorded = &o.Created
	}
	if !g.add(n) {
		return
	}
	for _, m := range o.MadeFrom {
		g.origin(m)
		if m.content == "" {
			g.join(edge{From: runID(m.RunID), To: runID(o.RunID)})
			continue
		}
		g.add(node{ID: fileID(m.content), Kind: nodeFile, Name: nameOf(o, m.content), SHA256: m.content})
		g.join(edge{runID(m.RunID), fileID(m.content), m.Artifact})
	}
	for _, s := range o.Sources {
		if s.SHA256 != "" {
			g.add(node{ID: fileID(s.SHA256), Kind: nodeRecording, Name: s.Locator, SHA256: s.SHA256})
			g.join(edge{From: fileID(s.SHA256), To: runID(o.RunID)})
		}
	}
}

// nameOf is what a result calls the source of that content.
func nameOf(o origin, content cutroom.Digest) string {
	for _, s := range o.Sources {
		if s.SHA256 == content {
			return s.Locator
		}
	}
	return ""
}

// add adds a node; false when it is there.
func (g *grapher) add(n node) bool {
	if g.known[n.ID] {
		return false
	}
	g.known[n.ID] = true
	g.Nodes = append(g.Nodes, n)
	return true
}

func (g *grapher) join(e edge) {
	key := e.From + "\n" + e.To + "\n" + e.As
	if !g.known[key] {
		g.known[key] = true
		g.Edges = append(g.Edges, e)
	}
}

// dot writes the graph for Graphviz.
func (g graph) dot(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprint(&b, "digraph lineage {\n  rankdir=LR;\n")
	for _, n := range g.Nodes {
		shape := map[string]string{nodeFile: "note", nodeResult: "box", nodeRecording: "folder"}[n.Kind]
		fmt.Fprintf(&b, "  %s [shape=%s, label=%s];\n", quoted(n.ID), shape, quoted(n.label()))
	}
	for _, e := range g.Edges {
		label := ""
		if e.As != "" {
			label = " [label=" + quoted(clean(e.As)) + "]"
		}
		fmt.Fprintf(&b, "  %s -> %s%s;\n", quoted(e.From), quoted(e.To), label)
	}
	fmt.Fprint(&b, "}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// quoted is a string of the DOT language: only quotes and backslashes are special.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s) + `"`
}

// label is a node in words.
func (n node) label() string {
	digest := n.SHA256
	if n.Kind == nodeResult {
		digest = n.RunID
	}
	return clean(n.Name) + " (" + digest.Short() + ")"
}

// tree writes the graph from the file back to the recordings. What was shown above is
// only named again.
func (g graph) tree(w io.Writer) error {
	t := treeWriter{nodes: map[string]node{}, into: map[string][]edge{}, shown: map[string]bool{}}
	for _, n := range g.Nodes {
		t.nodes[n.ID] = n
	}
	for _, e := range g.Edges {
		t.into[e.To] = append(t.into[e.To], e)
	}
	if len(g.Nodes) > 0 {
		t.write(g.Nodes[0].ID, "", "")
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

type treeWriter struct {
	b     bytes.Buffer
	nodes map[string]node
	into  map[string][]edge // by where they lead
	shown map[string]bool
}

func (t *treeWriter) write(id, lead, below string) {
	n := t.nodes[id]
	words := []string{n.label()}
	if n.Kind == nodeRecording {
		words = append(words, "recording")
	}
	if n.Recorded != nil {
		words = append(words, n.Recorded.Format(time.RFC3339), "by "+clean(n.Principal))
	}
	if n.Approval != "" {
		words = append(words, "approval "+clean(n.Approval))
	}
	from := t.into[id]
	if t.shown[id] && len(from) > 0 {
		words, from = append(words, "as above"), nil
	}
	t.shown[id] = true
	t.b.WriteString(lead + strings.Join(words, "  ") + "\n")
	for i, e := range from {
		branch, rest := "├─ ", "│  "
		if i == len(from)-1 {
			branch, rest = "└─ ", "   "
		}
		t.write(e.From, below+branch, below+rest)
	}
}

// graphForm is the flag --graph.
type graphForm string

func (f *graphForm) String() string { return string(*f) }
func (f *graphForm) Type() string   { return "form" }

func (f *graphForm) Set(text string) error {
	if text != "tree" && text != "dot" {
		return fmt.Errorf("%s is not tree or dot", strconv.Quote(short(text)))
	}
	*f = graphForm(text)
	return nil
}
