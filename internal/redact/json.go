package redact

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// JSON returns doc with every secret masked: in texts, in names, and whatever text stands
// under a name that is a secret's. A document without one comes back as it is, byte for
// byte; what is valid JSON stays so, with the same names and values. Lines may be
// documents of their own; what is no JSON is taken for text.
func (r *Redactor) JSON(doc []byte) []byte {
	if !json.Valid(doc) {
		return r.lines(doc)
	}
	w := walker{r: r, doc: doc}
	for w.at < len(doc) {
		w.next()
	}
	if w.out == nil {
		return doc
	}
	return append(w.out, doc[w.kept:]...)
}

// lines is JSON for what is no document: lines may be documents of their own.
func (r *Redactor) lines(doc []byte) []byte {
	text := string(doc)
	if line, _, ok := strings.Cut(text, "\n"); !ok || !json.Valid([]byte(line)) {
		return []byte(r.Text(text))
	}
	var b bytes.Buffer
	for line := range strings.Lines(text) {
		if json.Valid([]byte(line)) {
			b.Write(r.JSON([]byte(line)))
		} else {
			b.WriteString(r.Text(line))
		}
	}
	return b.Bytes()
}

// walker goes through a valid document.
type walker struct {
	r      *Redactor
	doc    []byte
	at     int
	out    []byte // what was written so far; nil while nothing changed
	kept   int    // doc up to here is in out
	levels []level
}

// level is an object or an array that is open.
type level struct {
	object bool
	value  bool // a name was read: a value follows
	secret bool // that name is a secret's; of an array, the name that it has
	strong bool // nothing but a secret has such a name
	names  map[string]bool
}

func (w *walker) next() {
	top := len(w.levels) - 1
	switch w.doc[w.at] {
	case '{':
		w.levels = append(w.levels, level{object: true})
	case '[':
		w.levels = append(w.levels, level{secret: top >= 0 && w.levels[top].secret, strong: top >= 0 && w.levels[top].strong})
	case '}', ']':
		w.levels = w.levels[:top]
	case ',':
		if w.levels[top].object {
			w.levels[top].value, w.levels[top].secret, w.levels[top].strong = false, false, false
		}
	case ':':
		w.levels[top].value = true
	case '"':
		w.text()
		return
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		w.number()
		return
	}
	w.at++
}

// number masks the number that begins here when it is a secret: one of several digits
// under a name that nothing else has. It becomes 0, which is a number still.
func (w *walker) number() {
	from := w.at
	for w.at < len(w.doc) && strings.IndexByte("+-.0123456789eE", w.doc[w.at]) >= 0 {
		w.at++
	}
	top := len(w.levels) - 1
	if top < 0 || !w.levels[top].strong || w.at-from < shortest || !allDigits(string(w.doc[from:w.at])) {
		return
	}
	w.out = append(append(w.out, w.doc[w.kept:from]...), '0')
	w.kept = w.at
}

// text masks the string that begins here.
func (w *walker) text() {
	from := w.at
	end := from + 1
	for ; w.doc[end] != '"'; end++ {
		if w.doc[end] == '\\' {
			end++
		}
	}
	w.at = end + 1
	raw := w.doc[from:w.at]
	plain := string(raw[1 : len(raw)-1])
	if bytes.IndexByte(raw, '\\') >= 0 && json.Unmarshal(raw, &plain) != nil {
		return // json.Valid accepted it
	}
	var l *level
	if top := len(w.levels) - 1; top >= 0 {
		l = &w.levels[top]
	}
	name := l != nil && l.object && !l.value
	safe := plain
	if l != nil && l.secret && !name {
		if plain != "" && !placeholder(plain) {
			safe = mask(len(plain))
		}
	} else {
		safe = w.r.Text(plain)
	}
	if name {
		l.secret = secretName(plain) || secretName(safe)
		l.strong = grade(plain) == strongKey || grade(safe) == strongKey
		safe = l.unused(safe, safe != plain)
	}
	if safe != plain {
		w.replace(from, safe)
	}
}

// unused keeps two names apart that became the same.
func (l *level) unused(name string, changed bool) string {
	if !changed {
		return name
	}
	if l.names == nil {
		l.names = map[string]bool{}
	}
	for n := 2; l.names[name]; n++ {
		name = name + " " + strconv.Itoa(n)
	}
	l.names[name] = true
	return name
}

func (w *walker) replace(from int, safe string) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(safe) != nil {
		return // a string always encodes
	}
	w.out = append(w.out, w.doc[w.kept:from]...)
	w.out = append(w.out, bytes.TrimSpace(b.Bytes())...)
	w.kept = w.at
}

// Sensitive reports whether a variable of the environment is a secret by its name, and
// its value is no word of a language.
func Sensitive(name, value string) bool {
	return secretName(name) && len(value) >= wordlike && lookingSecret(value)
}

// secretName reports whether whatever text stands under a name is a secret.
func secretName(name string) bool {
	return grade(name) >= weakKey && !oneOf(plainText(name), words)
}
