package lens

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 4 << 20

// ErrAnswer is an answer that gives no evidence: empty, prose, or of another form.
var ErrAnswer = errors.New("the answer is empty or not of the form that was asked for")

// Parse reads a reader's answer. It is one JSON object of the form of [Findings], or it
// is repaired once: the object is taken out of what stands around it, and pieces that are
// not of the form are left out. The note says that, "" when there was nothing to repair.
// What gives no evidence then is [ErrAnswer].
func Parse(answer string) (f Findings, note string, err error) {
	if len(answer) > maxAnswer {
		return Findings{}, "", fmt.Errorf("%w: it has %d bytes", ErrAnswer, len(answer))
	}
	text := strings.TrimSpace(answer)
	if json.Unmarshal([]byte(text), &f, json.RejectUnknownMembers(true)) == nil {
		if f.Empty() {
			return Findings{}, "", fmt.Errorf("%w: it holds nothing", ErrAnswer)
		}
		return f, "", nil
	}
	object, ok := objectIn(text)
	if !ok {
		return Findings{}, "", ErrAnswer
	}
	f, lost, ok := pieces([]byte(object))
	if !ok || f.Empty() {
		return Findings{}, "", ErrAnswer
	}
	if lost > 0 {
		return f, fmt.Sprintf("the answer was not of the form that was asked for: %d of its pieces were left out", lost), nil
	}
	return f, "the answer was not of the form that was asked for, and was repaired", nil
}

// objectIn finds the JSON object in a text: the whole of it, or what begins at the first
// brace and is one value.
func objectIn(text string) (string, bool) {
	for tries := 0; tries < 8; tries++ {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			return "", false
		}
		text = text[i:]
		d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
		if v, err := d.ReadValue(); err == nil {
			return string(v), true
		}
		text = text[1:]
	}
	return "", false
}

// loose is [Findings] whose pieces are read one by one.
type loose struct {
	Timeline   []jsontext.Value `json:"timeline"`
	Transcript []jsontext.Value `json:"transcript"`
	Regions    []jsontext.Value `json:"regions"`
	Summary    *string          `json:"summary"`
}

// pieces reads what can be read of an object, and counts what cannot.
func pieces(raw []byte) (f Findings, lost int, ok bool) {
	var l loose
	if json.Unmarshal(raw, &l, jsontext.AllowDuplicateNames(true)) != nil {
		return f, 0, false
	}
	if l.Summary != nil {
		f.Summary = *l.Summary
	}
	f.Timeline = each[Moment](l.Timeline, &lost)
	f.Transcript = each[Line](l.Transcript, &lost)
	f.Regions = each[Region](l.Regions, &lost)
	return f, lost, true
}

func each[T any](values []jsontext.Value, lost *int) []T {
	var list []T
	for _, v := range values {
		var one T
		if v.Kind() != '{' || json.Unmarshal(v, &one, jsontext.AllowDuplicateNames(true)) != nil {
			*lost++
			continue
		}
		list = append(list, one)
	}
	return list
}
