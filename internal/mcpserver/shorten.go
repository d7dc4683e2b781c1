package mcpserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// shorten makes an answer fit into so many characters and still match its schema:
// long texts lose their end, then the longest lists do. What was left out stands in
// partial_reasons, with where the whole is. A document that fits is returned as it is.
func shorten(doc []byte, room int, rest string) ([]byte, error) {
	if len(doc) <= room {
		return doc, nil
	}
	n, err := parse(doc)
	if err != nil {
		return nil, err
	}
	const reserve = 700 // for the reasons
	size := func() int { return n.size() }
	for _, longest := range []int{2000, 500, 200} {
		if size() > room-reserve {
			n.clipTexts(longest)
		}
	}
	whole := map[*node]int{}
	var cut []*list
	for size() > room-reserve {
		l := n.largest("")
		if l == nil {
			break
		}
		if _, seen := whole[l.node]; !seen {
			whole[l.node] = len(l.node.items)
			cut = append(cut, l)
		}
		keep := len(l.node.items) * 3 / 4
		if over := size() - (room - reserve); keep > 0 && l.size > over {
			keep = min(keep+1, max(0, len(l.node.items)*(l.size-over)/l.size))
		}
		l.node.items = l.node.items[:keep]
	}
	var lost []string
	for _, l := range cut {
		lost = append(lost, fmt.Sprintf("%s %d of %d", l.path, len(l.node.items), whole[l.node]))
	}
	n.partial(reason(lost, rest))
	return []byte(n.String()), nil
}

// reason says what an answer leaves out.
func reason(lost []string, rest string) string {
	text := "shortened to fit this answer"
	if len(lost) > 0 {
		text += ", it holds " + strings.Join(lost[:min(len(lost), 8)], ", ")
	}
	if rest != "" {
		text += "; the whole is the resource " + rest
	}
	return clip(text, 600)
}

// partial marks an answer that has a status as partial, for a reason.
func (n *node) partial(reason string) {
	status, reasons := n.member("status"), n.member("partial_reasons")
	if status == nil || reasons == nil {
		return
	}
	if status.leaf == `"completed"` {
		status.leaf = `"partial"`
	}
	reasons.items = append(reasons.items, &node{kind: '"', leaf: quote(reason)})
}

func quote(text string) string {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return strconv.QuoteToASCII(text) // not UTF-8, which our own words are
	}
	return string(b)
}

// list is a list inside a document.
type list struct {
	path string
	node *node
	size int
}

// largest is the list that takes the most room, not counting the lists inside it
// twice: the outermost wins. The reasons themselves stay.
func (n *node) largest(path string) *list {
	var best *list
	for i, item := range n.items {
		at := path
		if n.kind == '{' {
			at = strings.TrimPrefix(path+"."+n.names[i], ".")
		}
		if at == "partial_reasons" {
			continue
		}
		var l *list
		if item.kind == '[' && len(item.items) > 0 {
			l = &list{at, item, item.size()}
		} else {
			l = item.largest(at)
		}
		if l != nil && (best == nil || l.size > best.size) {
			best = l
		}
	}
	return best
}

// clipTexts cuts every text longer than so many characters.
func (n *node) clipTexts(longest int) {
	if n.kind == '"' && len(n.leaf) > longest {
		if text, err := jsontext.AppendUnquote(nil, n.leaf); err == nil {
			n.leaf = quote(clip(string(text), longest))
		}
	}
	for _, item := range n.items {
		item.clipTexts(longest)
	}
}

// size is how many bytes the value takes, which is at least its characters.
func (n *node) size() int {
	if n.kind != '{' && n.kind != '[' {
		return len(n.leaf)
	}
	size := 2
	for i, item := range n.items {
		size += item.size() + 1
		if n.kind == '{' {
			size += len(n.names[i]) + 3
		}
	}
	return size
}

// String is the value as JSON.
func (n *node) String() string {
	if n.kind != '{' && n.kind != '[' {
		return n.leaf
	}
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n.kind != '{' && n.kind != '[' {
		b.WriteString(n.leaf)
		return
	}
	b.WriteByte(byte(n.kind))
	for i, item := range n.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.kind == '{' {
			b.WriteString(quote(n.names[i]) + ":")
		}
		item.write(b)
	}
	b.WriteByte(byte(n.kind) + 2) // ASCII: the closing mark stands two after the opening one
}
