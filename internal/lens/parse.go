package lens

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
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
		f, _, _ = pieces([]byte(text)) // which knows of times that were not given
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
		return f, "the answer was not of the form that was asked for: " + counted(lost, "of its pieces was left out", "of its pieces were left out"), nil
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
		one, ok := piece[T](v)
		if !ok {
			*lost++
			continue
		}
		list = append(list, one)
	}
	return list
}

// essential are the members without which a piece says nothing that counts. Any other of
// the wrong kind, such as a frame's number in the place of its name, is left out alone.
var essential = []string{"start", "text", "box"}

func piece[T any](raw jsontext.Value) (one T, ok bool) {
	var members map[string]jsontext.Value
	if raw.Kind() != '{' || json.Unmarshal(raw, &members, jsontext.AllowDuplicateNames(true)) != nil {
		return one, false
	}
	if json.Unmarshal(raw, &one, jsontext.AllowDuplicateNames(true)) != nil {
		one = *new(T)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if members[name].Kind() == 'n' {
				continue
			}
			alone, err := json.Marshal(map[string]jsontext.Value{name: members[name]})
			if err != nil || json.Unmarshal(alone, &one) != nil && slices.Contains(essential, name) {
				return one, false
			}
		}
	}
	if at, timed := any(&one).(interface{ begin() *cutroom.Micros }); timed && (members["start"] == nil || members["start"].Kind() == 'n') {
		*at.begin() = noTime
	}
	return one, true
}

// noTime stands for a time that was not given: it lies outside of everything, so that
// nothing begins at zero because nobody said when.
const noTime = -cutroom.MaxMicros

func (m *Moment) begin() *cutroom.Micros { return &m.Start }

func (l *Line) begin() *cutroom.Micros { return &l.Start }

// counted is a number with what it counts.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
