package gateway

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"cutroom"
)

// medium is what a block holds.
type medium string

// The media that models may lack.
const (
	image medium = "image"
	audio medium = "audio"
	video medium = "video"
)

var all = []medium{image, audio, video}

// block is one media block of a request.
type block struct {
	span
	medium medium
	// One of the three says where the content is.
	data   func() (io.Reader, error) // in the block itself
	path   string                    // a file of the workspace
	remote bool                      // an address elsewhere

	raw []byte // what data decodes, a part of the request: the same text is the same content

	suffix string            // of the name that the content gets, by the block's own word for it
	text   string            // type of a text block in its place
	keep   map[string]string // further members that a text block takes over, as JSON
}

// place is where a text goes that stands for the block.
func (b block) place(text string) edit {
	out := append([]byte(`{"type":`), quoted(b.text)...)
	out = append(append(out, `,"text":`...), quoted(text)...)
	for _, name := range kept {
		if raw, ok := b.keep[name]; ok {
			out = append(append(append(append(out, ','), quoted(name)...), ':'), raw...)
		}
	}
	return edit{b.span, append(out, '}')}
}

// kept are members of media blocks that text blocks have as well.
var kept = []string{"cache_control"}

// finder reads the blocks of one request.
type finder struct {
	walker
	doc   document
	found []block
}

// mostBlocks is how many media blocks one request may hold.
const mostBlocks = 10_000

// content looks at a list of content blocks, or at one that stands alone; anything else is
// plain text.
func (f *finder) content() error {
	switch f.PeekKind() {
	case '{':
		return f.element()
	case '[':
		return f.elements(func() error {
			if f.PeekKind() != '{' {
				return f.skip()
			}
			return f.element()
		})
	}
	return f.skip()
}

// element looks at one content block, which may hold others: what a tool answered, or the
// parts of a document.
func (f *finder) element() error {
	before := len(f.found)
	m := map[string]span{}
	at := f.base + int(f.InputOffset())
	err := f.members(func(name string) (err error) {
		switch {
		case name == "content":
			return f.content()
		case name == "source" && f.PeekKind() == '{':
			m[name], err = f.parts()
		default:
			m[name], err = f.value()
		}
		return err
	})
	if err != nil {
		return err
	}
	kind, _ := textOf(f.doc, m["type"])
	b, ok := f.block(kind, m)
	if !ok {
		return nil
	}
	f.found = f.found[:before]
	if len(f.found) >= mostBlocks {
		return cutroom.Errorf(cutroom.Limit, "the request holds more than %d media", mostBlocks).WithHint("send fewer at once")
	}
	b.span = f.doc.in(f.since(at))
	for _, name := range kept {
		if v, ok := m[name]; ok {
			if b.keep == nil {
				b.keep = map[string]string{}
			}
			b.keep[name] = string(f.doc.of(v))
		}
	}
	f.found = append(f.found, b)
	return nil
}

// parts passes over the source of a block, which may be a list of blocks itself.
func (f *finder) parts() (span, error) {
	at := f.base + int(f.InputOffset())
	err := f.members(func(name string) error {
		if name == "content" {
			return f.content()
		}
		return f.skip()
	})
	return f.since(at), err
}

// since is the object that was read from at on, which lies behind blanks and a comma or a
// colon.
func (f *finder) since(at int) span {
	end := f.base + int(f.InputOffset())
	for at < end && f.doc.bones[at] != '{' {
		at++
	}
	return span{at, end}
}

// block reads a block by its type, in the words of the three wires; false when it is no
// medium.
func (f *finder) block(kind string, m map[string]span) (block, bool) {
	switch kind {
	case "computer_screenshot":
		return f.block("input_image", m)
	case "image_url", "video_url", "audio_url": // {image_url: {url}} or {image_url: url}
		return f.address(medium(strings.TrimSuffix(kind, "_url")), m[kind])
	case "input_image", "input_video":
		medium := medium(strings.TrimPrefix(kind, "input_"))
		if at, ok := m[string(medium)+"_url"]; ok {
			return f.address(medium, at)
		}
		return f.handle(medium, m)
	case "input_audio":
		at, ok := m["input_audio"]
		if !ok {
			return f.handle(audio, m)
		}
		inner, err := fields(f.doc, at)
		if err != nil {
			return block{medium: audio}, true
		}
		format, _ := textOf(f.doc, inner["format"])
		b := block{medium: audio, suffix: suffixOf("audio/" + format)}
		f.base64(&b, inner["data"])
		return b, true
	case "file":
		inner, err := fields(f.doc, m["file"])
		if err != nil {
			return block{}, false
		}
		return f.file(inner)
	case "input_file":
		return f.file(m)
	case "image", "audio", "video", "document":
		return f.source(medium(kind), m["source"])
	}
	return block{}, false
}

// address is a block whose content is at an address, which may hold the content itself.
func (f *finder) address(m medium, at span) (block, bool) {
	b := block{medium: m}
	address, ok := longText(f.doc, at)
	if !ok {
		inner, err := fields(f.doc, at)
		if err != nil {
			return b, true
		}
		at = inner["url"]
		if address, ok = longText(f.doc, at); !ok {
			return b, true
		}
	}
	f.locate(&b, address)
	return b, true
}

// locate says where the content of an address is.
func (f *finder) locate(b *block, address []byte) {
	scheme, rest, _ := bytes.Cut(address, []byte(":"))
	switch {
	case is(scheme, "data"):
		b.suffix = suffixOf(headOf(rest))
		b.raw = rest
		b.data = func() (io.Reader, error) { return dataURL(rest) }
	case is(scheme, "http"), is(scheme, "https"):
		b.remote = true
	case is(scheme, "file"):
		if u, err := url.Parse(string(address)); err == nil && (u.Host == "" || u.Host == "localhost") {
			b.path = u.Path
		}
	default:
		b.path = string(address)
	}
}

// is compares a scheme with one in lower case, by the letters of ASCII alone.
func is(scheme []byte, name string) bool {
	return len(scheme) == len(name) && strings.EqualFold(string(scheme), name)
}

// headOf is what stands before the comma of a data URL.
func headOf(rest []byte) string {
	head, _, _ := bytes.Cut(rest, []byte(","))
	return string(head)
}

// handle is a block that names a file by an id: a path of the workspace, or one that
// only the service knows which made it.
func (f *finder) handle(m medium, at map[string]span) (block, bool) {
	b := block{medium: m}
	if id, ok := textOf(f.doc, at["file_id"]); ok && named(id) == m {
		b.path = id
	}
	return b, true
}

// file is a block of any type of file; only media are ours.
func (f *finder) file(m map[string]span) (block, bool) {
	var b block
	name, _ := textOf(f.doc, m["filename"])
	if data, ok := longText(f.doc, m["file_data"]); ok {
		if scheme, rest, _ := bytes.Cut(data, []byte(":")); is(scheme, "data") {
			f.locate(&b, data)
			b.medium = mediumOf(headOf(rest))
		} else {
			f.base64(&b, m["file_data"])
		}
		if b.medium == "" {
			b.suffix, b.medium = strings.ToLower(path.Ext(name)), named(name)
		}
		if b.medium == "" {
			b.suffix, b.medium = b.sniffed()
		}
		return b, b.medium != ""
	}
	for _, member := range []string{"file_url", "file_id"} {
		if address, ok := textOf(f.doc, m[member]); ok {
			f.locate(&b, []byte(address))
			b.medium = cmp.Or(named(address), named(name))
			return b, b.medium != ""
		}
	}
	return b, false
}

// sniffed is what the first bytes say of a file that neither its type nor its name calls a
// medium.
func (b block) sniffed() (string, medium) {
	content, err := b.data()
	if err != nil {
		return "", ""
	}
	head := make([]byte, sniffLen)
	n, _ := io.ReadFull(content, head) // what cannot be decoded is no medium
	kind := http.DetectContentType(head[:n])
	return suffixOf(kind), mediumOf(kind)
}

// source is a block in the form of Anthropic's Messages.
func (f *finder) source(m medium, at span) (block, bool) {
	b := block{medium: m}
	s, err := fields(f.doc, at)
	if err != nil {
		return b, m != "document"
	}
	kind, _ := textOf(f.doc, s["media_type"])
	if m == "document" {
		if b.medium = mediumOf(kind); b.medium == "" {
			return b, false
		}
	}
	switch form, _ := textOf(f.doc, s["type"]); form {
	case "base64":
		b.suffix = suffixOf(kind)
		f.base64(&b, s["data"])
	case "url":
		address, _ := longText(f.doc, s["url"])
		f.locate(&b, address)
	case "file":
		if id, ok := textOf(f.doc, s["file_id"]); ok && named(id) == b.medium {
			b.path = id
		}
	}
	return b, true
}

// base64 takes the text at a place for the content; without one there is none.
func (f *finder) base64(b *block, at span) {
	t, ok := longText(f.doc, at)
	if ok {
		b.raw = t
		b.data = func() (io.Reader, error) { return decoded(t), nil }
	}
}

// decoded reads base64 in either alphabet, with line breaks and with or without padding.
func decoded(t []byte) io.Reader {
	if bytes.IndexByte(t, '-') >= 0 || bytes.IndexByte(t, '_') >= 0 {
		t = bytes.ReplaceAll(bytes.ReplaceAll(t, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	}
	return base64.NewDecoder(base64.RawStdEncoding, bytes.NewReader(bytes.TrimRight(t, "=\r\n ")))
}

// dataURL reads what follows "data:" (RFC 2397).
func dataURL(rest []byte) (io.Reader, error) {
	head, body, ok := bytes.Cut(rest, []byte(","))
	if !ok {
		return nil, cutroom.Errorf(cutroom.Invalid, "the data URL has no data")
	}
	plain, is64 := bytes.CutSuffix(bytes.TrimSpace(head), []byte("base64"))
	is64 = is64 && bytes.HasSuffix(bytes.TrimSpace(plain), []byte(";"))
	if !is64 || bytes.IndexByte(body, '%') >= 0 {
		text, err := url.PathUnescape(string(body))
		if err != nil {
			return nil, errEscapes(err)
		}
		body = []byte(text)
	}
	if is64 {
		return decoded(body), nil
	}
	return bytes.NewReader(body), nil
}

func errEscapes(cause error) error {
	return cutroom.Errorf(cutroom.Invalid, "the data URL holds a broken escape").WithCause(cause)
}
