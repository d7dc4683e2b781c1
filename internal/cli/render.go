package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/engine"
)

// render prints an answer for people: a timeline and what bears on a question as
// such, a written file summed up, anything else as its members, one a line.
func (a *App) render(reply *engine.Reply) error {
	var b bytes.Buffer
	var err error
	if told(&b, reply) {
		// it says itself
	} else if w, ok := timelineOf(reply.JSON); ok {
		w.write(&b)
	} else if answer, ok := answerOf(reply.JSON); ok {
		answer.write(&b)
	} else if made, ok := writtenOf(reply); ok {
		err = written(&b, made, reply)
	} else {
		err = readable(&b, reply.JSON)
	}
	if err != nil {
		return err
	}
	a.closing(&b, reply)
	_, err = a.Stdout.Write(b.Bytes())
	return err
}

// closing says where the files are and what can be done next.
func (a *App) closing(b *bytes.Buffer, reply *engine.Reply) {
	named := !a.flags.quiet && reply.Run != "" && !reply.Transient // what is not recorded has no name
	if !bytes.HasSuffix(b.Bytes(), []byte("\n")) || len(reply.Record.Artifacts) > 0 || named {
		fmt.Fprintln(b)
	}
	if len(reply.Record.Artifacts) > 0 {
		fmt.Fprintf(b, "files   %s\n", clean(commonFolder(reply.Record.Artifacts)))
	}
	if !named {
		return
	}
	reused := ""
	if reply.Reused {
		reused = "   (recorded earlier; nothing ran)"
	}
	fmt.Fprintf(b, "result  %s%s\n", reply.Run.Short(), reused)
	// A watch that was blocked kept nothing that could be asked about.
	if _, ok := a.registry.Find("media.ask"); ok && reply.Tool == "media.watch" && len(reply.Record.Artifacts) > 0 {
		fmt.Fprintf(b, "next    cutroom ask %s \"your question\"\n", reply.Run.Short())
	}
}

// commonFolder is the folder that holds every artifact.
func commonFolder(refs []cutroom.ArtifactRef) string {
	dir := path.Dir(refs[0].RelativePath)
	for _, r := range refs[1:] {
		for dir != "." && !strings.HasPrefix(r.RelativePath, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return dir + "/"
}

// hidden are members that a person finds elsewhere in the rendering.
// Command lines are long; --json and a dry run have them.
var hidden = []string{"provenance", "artifacts", "untrusted_content", "retention_policy", "commands"}

// hiddenWithin is what says nothing at every single entry.
var hiddenWithin = []string{"untrusted_content"}

// readable writes a JSON document as indented lines. Member order is the
// document's own; what is empty is left out.
func readable(w io.Writer, doc []byte) error {
	return object(w, jsontext.Value(doc), "", hidden)
}

func object(w io.Writer, doc jsontext.Value, indent string, skip []string) error {
	members, err := membersOf(doc)
	if err != nil {
		return err
	}
	width := 0
	for _, m := range members {
		width = max(width, len(m.name))
	}
	for _, m := range members {
		if slices.Contains(skip, m.name) || m.empty() {
			continue
		}
		name := fmt.Sprintf("%s%-*s  ", indent, min(width, 24), clean(m.name))
		if err := member(w, name, m.value, indent); err != nil {
			return err
		}
	}
	return nil
}

// member writes one value behind its name.
func member(w io.Writer, name string, v jsontext.Value, indent string) error {
	switch v.Kind() {
	case '{':
		if f, ok := artifactOf(v); ok {
			fmt.Fprintln(w, name+artifactText(f))
			return nil
		}
		if line, ok := oneLine(v); ok {
			fmt.Fprintln(w, name+line)
			return nil
		}
		fmt.Fprintln(w, strings.TrimRight(name, " "))
		return object(w, v, indent+"  ", hiddenWithin)
	case '[':
		items, err := itemsOf(v)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, strings.TrimRight(name, " "))
		for _, it := range items {
			if err := item(w, it, indent+"  "); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintln(w, name+scalarText(v))
	return nil
}

func item(w io.Writer, v jsontext.Value, indent string) error {
	if v.Kind() == '[' {
		fmt.Fprintln(w, indent+"- "+clean(string(v)))
		return nil
	}
	if v.Kind() != '{' {
		fmt.Fprintln(w, indent+"- "+scalarText(v))
		return nil
	}
	if f, ok := artifactOf(v); ok {
		fmt.Fprintln(w, indent+"- "+artifactText(f))
		return nil
	}
	if c, ok := cueOf(v); ok {
		fmt.Fprintln(w, indent+c.text())
		return nil
	}
	if r, ok := rowOf(v); ok {
		fmt.Fprintln(w, indent+clean(r.String()))
		return nil
	}
	if line, ok := oneLine(v); ok {
		fmt.Fprintln(w, indent+"- "+line)
		return nil
	}
	fmt.Fprintln(w, indent+"-")
	return object(w, v, indent+"  ", hiddenWithin)
}

// oneLine writes a small object of scalars on one line.
func oneLine(v jsontext.Value) (string, bool) {
	members, err := membersOf(v)
	if err != nil {
		return "", false
	}
	var parts []string
	for _, m := range members {
		if m.empty() {
			continue
		}
		if k := m.value.Kind(); k == '{' || k == '[' {
			return "", false
		}
		parts = append(parts, clean(m.name)+" "+scalarText(m.value))
	}
	line := strings.Join(parts, "  ")
	return line, len(line) <= 110
}

// scalarText is a JSON scalar as people read it, safe for a terminal.
func scalarText(v jsontext.Value) string {
	if v.Kind() != '"' {
		return string(v)
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return clean(string(v))
	}
	return clean(s)
}

// jsonMember is one member of an object, in the document's order.
type jsonMember struct {
	name  string
	value jsontext.Value
}

func (m jsonMember) empty() bool {
	return slices.Contains([]string{"null", `""`, "[]", "{}"}, string(m.value))
}

func membersOf(doc jsontext.Value) ([]jsonMember, error) {
	d := jsontext.NewDecoder(bytes.NewReader(doc))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var ms []jsonMember
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		ms = append(ms, jsonMember{key, v.Clone()})
	}
	return ms, nil
}

func itemsOf(doc jsontext.Value) ([]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(doc))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var vs []jsontext.Value
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		vs = append(vs, v.Clone())
	}
	return vs, nil
}
