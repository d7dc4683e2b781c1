package script

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom/internal/provider"
)

// past is where a conversation stands.
type past struct {
	entry, round int // which prompt it works on; entry is -1 before the first one
	steps        int // of the entry that are done
	finished     bool
	results      map[place]string
	files        []string                  // that the prompt names
	kept         map[string]jsontext.Value // by a reference's source: what a summary kept
}

// place is a call of a prompt.
type place struct{ round, step, call int }

// callID names a call so that its place can be read from a later request, whatever of the
// conversation is left then.
func callID(p past, step, call int) string {
	return fmt.Sprintf("call_%d_%d_%d_%d", p.round, p.entry, step, call)
}

var callForm = regexp.MustCompile(`^call_(\d{1,6})_(\d{1,4})_(\d{1,5})_(\d{1,2})$`)

// placeOf reads a call's id; ok is false when it is none of ours.
func (s *Script) placeOf(id string) (entry int, at place, ok bool) {
	m := callForm.FindStringSubmatch(id)
	if m == nil {
		return 0, place{}, false
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1])
	}
	if n[1] >= len(s.entries) || n[2] >= len(s.entries[n[1]].Steps) || n[3] >= len(s.entries[n[1]].Steps[n[2]].Calls) {
		return 0, place{}, false
	}
	return n[1], place{n[0], n[2], n[3]}, true
}

// read finds out where a conversation stands. A prompt is a message of the user that fits
// a goal, once the one before was answered; a run that is told its goal by its
// instructions alone begins with those.
func (s *Script) read(messages []provider.Message) past {
	p := past{entry: -1, round: -1, results: map[place]string{}, kept: map[string]jsontext.Value{}}
	for _, m := range messages {
		if m.Role == provider.RoleTool {
			if _, at, ok := s.placeOf(m.CallID); ok {
				p.results[at] = m.Text()
			}
			continue
		}
		if note, ok := s.note(m.Text()); ok {
			p.take(note)
			continue
		}
		switch m.Role {
		case provider.RoleUser:
			s.prompted(&p, m)
		case provider.RoleAssistant:
			s.answered(&p, m)
		}
	}
	if p.entry < 0 {
		for _, m := range messages {
			if e := s.find(m.Text()); m.Role == provider.RoleSystem && e >= 0 {
				p.entry, p.round, p.files = e, p.round+1, Files(m.Text())
				break
			}
		}
	}
	return p
}

func (s *Script) prompted(p *past, m provider.Message) {
	for _, part := range m.Parts {
		if part.Kind != provider.Text {
			return // pictures that a tool answered, where a wire has no other place for them
		}
	}
	e := s.find(m.Text())
	if e < 0 {
		return
	}
	files := Files(m.Text())
	if e == p.entry && !p.finished { // said once more
		if files != nil {
			p.files = files
		}
		return
	}
	p.files = files
	p.entry, p.round, p.steps, p.finished = e, p.round+1, 0, false
}

func (s *Script) answered(p *past, m provider.Message) {
	if len(m.Calls) == 0 {
		p.finished = p.entry >= 0 && m.Text() != ""
		return
	}
	for _, c := range m.Calls {
		entry, at, ok := s.placeOf(c.ID)
		if !ok {
			continue
		}
		if entry != p.entry || at.round != p.round {
			p.entry, p.round, p.steps = entry, at.round, 0
		}
		p.steps, p.finished = max(p.steps, at.step+1), false
	}
}

// find is the first entry that a prompt fits, -1 for none.
func (s *Script) find(prompt string) int {
	for i := range s.entries {
		if s.entries[i].fits(prompt) {
			return i
		}
	}
	return -1
}

// note is what a summary holds for the model's own later self.
type note struct {
	Entry    int                       `json:"entry"`
	Round    int                       `json:"round"`
	Steps    int                       `json:"steps"`
	Finished bool                      `json:"finished"`
	Values   map[string]jsontext.Value `json:"values"`
}

const (
	noteBegins = "```script-state\n"
	noteEnds   = "\n```"
)

// note reads the newest note of a text.
func (s *Script) note(text string) (n note, ok bool) {
	at := strings.LastIndex(text, noteBegins)
	if at < 0 {
		return n, false
	}
	doc, _, closed := strings.Cut(text[at+len(noteBegins):], noteEnds)
	if !closed || json.Unmarshal([]byte(doc), &n, json.RejectUnknownMembers(true)) != nil {
		return n, false
	}
	ok = n.Entry >= 0 && n.Entry < len(s.entries) && n.Round >= 0 && n.Steps >= 0 && n.Steps <= len(s.entries[n.Entry].Steps)
	return n, ok
}

func (p *past) take(n note) {
	p.entry, p.round, p.steps, p.finished = n.Entry, n.Round, n.Steps, n.Finished
	for source, v := range n.Values {
		p.kept[source] = v
	}
}

// value is what a reference names, without what it adds.
func (p past) value(r *ref) (jsontext.Value, string) {
	if r.fromPrompt && r.file < len(p.files) {
		return quoted(p.files[r.file]), ""
	}
	if result, ok := p.results[place{p.round, r.step, r.call}]; ok {
		return r.in(result)
	}
	if v, ok := p.kept[r.source]; ok {
		return v, ""
	}
	if r.fromPrompt {
		return nil, "the prompt names fewer files"
	}
	return nil, "the conversation no longer holds that result"
}

// summary is what the model says when it is asked to sum the conversation up: how many
// steps are done, and the values that later ones need.
func (s *Script) summary(p past) string {
	n := note{p.entry, p.round, p.steps, p.finished, map[string]jsontext.Value{}}
	steps := s.entries[p.entry].steps
	for _, st := range steps[min(p.steps, len(steps)):] {
		for r := range st.refs() {
			if v, why := p.value(r); why == "" && (r.fromPrompt || r.step < p.steps) {
				n.Values[r.source] = v
			}
		}
	}
	doc, err := json.Marshal(n, json.Deterministic(true))
	if err != nil {
		panic(err) // values of valid documents
	}
	return fmt.Sprintf("%d of %d steps of the script are done.\n%s%s%s", p.steps, len(steps)-1, noteBegins, doc, noteEnds)
}
