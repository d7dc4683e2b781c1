package timeline

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"cutroom"
)

// element is one element of an XML document.
type element struct {
	name  string
	attrs map[string]string
	kids  []*element
}

const maxElements = 200_000

// parseXML reads a document that declares no entities and nothing of its own.
func parseXML(text []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		return nil, bad("the XML is not in UTF-8")
	}
	root := &element{}
	stack := []*element{root}
	count := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, bad("the file is no well-formed XML").(*cutroom.Error).WithCause(err)
		}
		switch t := token.(type) {
		case xml.Directive:
			if !strings.HasPrefix(string(t), "DOCTYPE") || bytes.ContainsAny(t, "[<") {
				return nil, bad("the XML declares entities or a grammar of its own, which is not read")
			}
		case xml.StartElement:
			if count++; count > maxElements || len(stack) > maxDepth {
				return nil, cutroom.Errorf(cutroom.Limit, "the XML has too many elements, or they lie too deep").WithHint("export a simpler timeline")
			}
			e := &element{name: t.Name.Local, attrs: map[string]string{}}
			for _, a := range t.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top := stack[len(stack)-1]
			top.kids = append(top.kids, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		}
	}
	if len(root.kids) != 1 {
		return nil, bad("the file is no XML document")
	}
	return root.kids[0], nil
}

// all are the children of that name.
func (e *element) all(name string) (list []*element) {
	for _, k := range e.kids {
		if k.name == name {
			list = append(list, k)
		}
	}
	return list
}

// find is the first element of that name in or beneath e, nil for none.
func (e *element) find(name string) *element {
	if e.name == name {
		return e
	}
	for _, k := range e.kids {
		if f := k.find(name); f != nil {
			return f
		}
	}
	return nil
}

// tag writes one opening tag; attributes come in pairs, those with "" are left out.
func tag(b *strings.Builder, depth int, name string, closed bool, attrs ...string) {
	b.WriteString(strings.Repeat("  ", depth) + "<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] == "" {
			continue
		}
		b.WriteString(" " + attrs[i] + `="`)
		xml.EscapeText(b, []byte(attrs[i+1])) // a Builder takes everything
		b.WriteString(`"`)
	}
	if closed {
		b.WriteString("/")
	}
	b.WriteString(">\n")
}

func end(b *strings.Builder, depth int, name string) {
	b.WriteString(strings.Repeat("  ", depth) + "</" + name + ">\n")
}
