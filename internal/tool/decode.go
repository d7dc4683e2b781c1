package tool

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
)

// MaxInput bounds the JSON of one request.
const MaxInput = 16 << 20

const (
	maxDepth  = 32      // deeper than any input type
	maxValues = 1 << 17 // values and keys in one request: a value takes far more memory than its text
	maxFaults = 8       // faults named in one answer
)

// Decode reads a request strictly: unknown and duplicate keys are refused, naming
// the nearest known key; null means absent; 1.0 is an integer; times are seconds
// or a clock in a string. Defaults are filled in and every bound is checked. All
// faults are reported in one error (invalid).
func (t *Tool) Decode(raw []byte) (any, error) {
	v := reflect.New(t.in).Elem()
	d := decoder{}
	if len(raw) > MaxInput {
		return nil, cutroom.Errorf(cutroom.Limit, "%s: the request has %d bytes, more than %d", t.Name, len(raw), MaxInput)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	n, err := parse(raw)
	if err == errMany {
		return nil, cutroom.Errorf(cutroom.Limit, "%s: %s", t.Name, err).WithHint("ask for less in one call")
	}
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s: the input is not one JSON document: %s", t.Name, err).
			WithHint("give one JSON object; `cutroom tool show %s` prints its schema", t.Name)
	}
	if words, ok, err := t.spoken(n); ok {
		if err == nil {
			raw, err = t.FromWords(words)
		}
		if err != nil {
			return nil, err
		}
		if n, err = parse(raw); err != nil {
			return nil, err
		}
	}
	d.value(v, n, "", "")
	if d.count == 0 {
		check(v, &d)
	}
	if d.count == 0 {
		t.checkGroups(v, &d)
	}
	if d.count > 0 {
		return nil, d.err(t.Name)
	}
	return v.Interface(), nil
}

// Validate checks a typed input as Decode does after reading it: bounds, required
// members and its own Validate method. Defaults are not filled in.
func Validate(in any) error {
	d := decoder{whole: true}
	v := reflect.ValueOf(in)
	bounds(v, "", "", &d)
	check(v, &d)
	if d.count > 0 {
		return d.err(v.Type().String())
	}
	return nil
}

// check runs the input's own Validate.
func check(v reflect.Value, d *decoder) {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	if c, ok := p.Interface().(interface{ Validate() error }); ok {
		if err := c.Validate(); err != nil {
			d.fault("", "%s", err)
		}
	}
}

// decoder collects what is wrong: the first faults by their text, all by number.
type decoder struct {
	faults []string
	count  int
	whole  bool // a finished value is checked: elements of lists too
}

func (d *decoder) fault(path, format string, args ...any) {
	if d.count++; d.count > maxFaults {
		return
	}
	msg := fmt.Sprintf(format, args...)
	if path != "" {
		msg = strings.TrimPrefix(path, "/") + ": " + msg
	}
	d.faults = append(d.faults, msg)
}

func (d *decoder) err(name string) error {
	more := ""
	if d.count > maxFaults {
		more = fmt.Sprintf("; and %d more", d.count-maxFaults)
	}
	return cutroom.Errorf(cutroom.Invalid, "%s: %s%s", name, strings.Join(d.faults, "; "), more).WithHint("mend what is named and call again; `cutroom tool show` with the tool's id lists what it takes")
}

// node is a parsed JSON value; numbers keep their digits.
type node struct {
	kind    byte // 'n', 't', 'f', '"', '0', '{', '['
	text    string
	names   []string
	members []node
}

func parse(raw []byte) (node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	left := maxValues
	n, err := parseValue(dec, 0, &left)
	if err != nil {
		return node{}, plainSyntax(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return node{}, fmt.Errorf("something follows the document")
	}
	return n, nil
}

// plainSyntax says where the text stops being JSON, in our words: a library's are
// not ours to promise.
func plainSyntax(err error) error {
	if s, ok := err.(*jsontext.SyntacticError); ok {
		if strings.Contains(s.Error(), "duplicate") {
			return fmt.Errorf("key %q is given twice", s.JSONPointer)
		}
		return fmt.Errorf("bad JSON at byte %d", s.ByteOffset)
	}
	if err == errDeep || err == errMany {
		return err
	}
	return fmt.Errorf("the text ends too early")
}

var (
	errDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	errMany = fmt.Errorf("the request holds more than %d values", maxValues)
)

// parseValue reads one value; left counts down what the document may still hold.
func parseValue(dec *jsontext.Decoder, depth int, left *int) (node, error) {
	if depth > maxDepth {
		return node{}, errDeep
	}
	if *left--; *left < 0 {
		return node{}, errMany
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return node{}, err
	}
	n := node{kind: byte(tok.Kind())}
	switch n.kind {
	case '"', '0':
		n.text = tok.String()
		return n, nil
	case '{', '[':
	default:
		return n, nil
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if n.kind == '{' {
			key, err := dec.ReadToken()
			if err != nil {
				return node{}, err
			}
			n.names = append(n.names, key.String())
		}
		m, err := parseValue(dec, depth+1, left)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, m)
	}
	_, err = dec.ReadToken()
	return n, err
}

// value sets v from n.
func (d *decoder) value(v reflect.Value, n node, path string, tag reflect.StructTag) {
	t := v.Type()
	before := d.count
	switch {
	case t.Kind() == reflect.Pointer:
		p := reflect.New(t.Elem())
		d.value(p.Elem(), n, path, tag)
		v.Set(p)
	case t == microsType:
		d.micros(v, n, path)
	case t == momentType:
		d.moment(v, n, path)
	case t.Kind() == reflect.Struct:
		d.object(v, n, path)
	case t.Kind() == reflect.Slice:
		d.list(v, n, path, tag)
	case t.Kind() == reflect.Map:
		d.mapping(v, n, path)
	case t.Kind() == reflect.String:
		if n.kind != '"' {
			d.fault(path, "it has to be a string, not %s", n.what())
			return
		}
		v.SetString(n.text)
	case t.Kind() == reflect.Bool:
		if n.kind != 't' && n.kind != 'f' {
			d.fault(path, "it has to be true or false, not %s", n.what())
			return
		}
		v.SetBool(n.kind == 't')
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		d.integer(v, n, path)
	case t.Kind() == reflect.Float64:
		f, err := strconv.ParseFloat(n.text, 64)
		if n.kind != '0' || err != nil {
			d.fault(path, "it has to be a number, not %s", n.what())
			return
		}
		v.SetFloat(f)
	default:
		d.fault(path, "it cannot be given")
		return
	}
	if d.count == before && t.Kind() != reflect.Struct && t.Kind() != reflect.Pointer {
		bounds(v, path, tag, d)
	}
}

func (n node) what() string {
	switch n.kind {
	case '"':
		return "a string"
	case '0':
		return cut(n.text)
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return "null"
}

func (d *decoder) list(v reflect.Value, n node, path string, tag reflect.StructTag) {
	if n.kind != '[' {
		d.fault(path, "it has to be a list, not %s", n.what())
		return
	}
	if len(n.members) == 0 {
		return // an empty list and an absent one are the same request
	}
	out := reflect.MakeSlice(v.Type(), len(n.members), len(n.members))
	for i, m := range n.members {
		d.value(out.Index(i), m, fmt.Sprintf("%s/%d", path, i), elemTag(tag))
	}
	v.Set(out)
}

func (d *decoder) mapping(v reflect.Value, n node, path string) {
	if n.kind != '{' {
		d.fault(path, "it has to be an object, not %s", n.what())
		return
	}
	out := reflect.MakeMap(v.Type())
	for i, m := range n.members {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(e, m, path+"/"+n.names[i], "")
		out.SetMapIndex(reflect.ValueOf(n.names[i]).Convert(v.Type().Key()), e)
	}
	v.Set(out)
}

func (d *decoder) object(v reflect.Value, n node, path string) {
	if n.kind != '{' {
		d.fault(path, "it has to be an object, not %s", n.what())
		return
	}
	fields := fieldsOf(v.Type())
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	given := make([]bool, len(fields))
	for i, name := range n.names {
		k := slices.Index(names, name)
		switch {
		case k < 0:
			hint := ""
			if near := nearest(name, names); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			d.fault(path, "unknown key %q%s", cut(name), hint)
		case n.members[i].kind != 'n': // null means absent
			given[k] = true
			d.value(v.FieldByIndex(fields[k].index), n.members[i], path+"/"+name, fields[k].tag)
		}
	}
	for i, f := range fields {
		if !given[i] {
			d.absent(v.FieldByIndex(f.index), f, path)
		}
	}
}

// absent fills a default in, or complains. A struct that is absent gets the
// defaults of its members.
func (d *decoder) absent(v reflect.Value, f field, path string) {
	at := path + "/" + f.name
	if def, ok := f.tag.Lookup("default"); ok {
		n, err := parse([]byte(defaultJSON(f.typ, def)))
		if err != nil {
			d.fault(at, "its default is broken")
			return
		}
		d.value(v, n, at, f.tag)
		return
	}
	if !f.optional {
		d.fault(path, "key %q is missing", f.name)
		return
	}
	if f.typ.Kind() == reflect.Struct && f.typ != sourceType && f.typ != refType && f.typ != frameType {
		d.object(v, node{kind: '{'}, at)
	}
}

// bounds checks a value against its tags, down through structs and lists.
func bounds(v reflect.Value, path string, tag reflect.StructTag, d *decoder) {
	t := v.Type()
	lo, hi := bound(tag, "min"), bound(tag, "max")
	switch {
	case t.Kind() == reflect.Pointer:
		if !v.IsNil() {
			bounds(v.Elem(), path, tag, d)
		}
	case t == microsType:
		within(cutroom.Micros(v.Int()).Seconds(), lo, hi, path, "s", d)
	case t == digestType:
		if _, err := cutroom.ParseDigest(v.String()); err != nil {
			d.fault(path, "%s", err)
		}
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		if e := tag.Get("enum"); e != "" && !slices.Contains(strings.Split(e, ","), strconv.FormatInt(v.Int(), 10)) {
			d.fault(path, "%d is not one of %s", v.Int(), e)
		}
		within(float64(v.Int()), lo, hi, path, "", d)
	case t.Kind() == reflect.Float64:
		within(v.Float(), lo, hi, path, "", d)
	case t.Kind() == reflect.String:
		boundText(v, path, tag, lo, hi, d)
	case t.Kind() == reflect.Slice:
		if lo, hi := itemBounds(tag); (lo != nil && v.Len() < *lo) || (hi != nil && v.Len() > *hi) {
			d.fault(path, "it has %d items; %s are allowed", v.Len(), tag.Get("items"))
		}
		for i := 0; d.whole && i < v.Len(); i++ {
			bounds(v.Index(i), fmt.Sprintf("%s/%d", path, i), elemTag(tag), d)
		}
	case t.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			bounds(v.MapIndex(key), path+"/"+key.String(), "", d)
		}
	case t.Kind() == reflect.Struct:
		for _, f := range fieldsOf(t) {
			if fv := v.FieldByIndex(f.index); !f.optional || !fv.IsZero() {
				bounds(fv, path+"/"+f.name, f.tag, d)
			}
		}
	}
}

func boundText(v reflect.Value, path string, tag reflect.StructTag, lo, hi *float64, d *decoder) {
	s := v.String()
	if v.Type() == inPathType || v.Type() == outPathType {
		lo, hi = ptr(1.0), ptr(4096.0)
	}
	if e := tag.Get("enum"); e != "" && !slices.Contains(strings.Split(e, ","), s) {
		hint := ""
		if near := nearest(s, strings.Split(e, ",")); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		d.fault(path, "%q is not one of %s%s", cut(s), e, hint)
		return
	}
	if strings.ContainsRune(s, 0) {
		d.fault(path, "it holds a NUL character")
	}
	switch n := float64(utf8.RuneCountInString(s)); {
	case lo != nil && n < *lo && n == 0:
		d.fault(path, "it is empty")
	case lo != nil && n < *lo:
		d.fault(path, "%q is shorter than %.0f characters", cut(s), *lo)
	case hi != nil && n > *hi:
		d.fault(path, "it has %.0f characters; at most %.0f are allowed", n, *hi)
	}
}

func within(x float64, lo, hi *float64, path, unit string, d *decoder) {
	num := func(f float64) string { return strings.TrimSpace(strconv.FormatFloat(f, 'f', -1, 64) + " " + unit) }
	if lo != nil && x < *lo {
		d.fault(path, "%s is less than %s", num(x), num(*lo))
	}
	if hi != nil && x > *hi {
		d.fault(path, "%s is more than %s", num(x), num(*hi))
	}
}

// cut shortens a caller's word for an error message.
func cut(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// nearest returns the candidate most like word, or "" when none is near.
func nearest(word string, candidates []string) string {
	best, at := "", len(word)/3+2
	for _, c := range candidates {
		if len(word) > 64 {
			break
		}
		if d := distance(strings.ToLower(word), c); d < at {
			best, at = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
