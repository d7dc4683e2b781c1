package agent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/run"
)

// entry is one message of the conversation, with what is shown beside its text.
type entry struct {
	provider.Message
	turn     int
	index    int // of the call that a tool's message answers
	pictures []picture
	summary  bool
}

// picture is a recorded picture with what it shows.
type picture struct {
	Ref     cutroom.ArtifactRef `json:"ref"`
	Caption string              `json:"caption"`
}

// The kinds of lines of a transcript.
const (
	lineUser       = "user"
	lineTurn       = "turn"
	lineResult     = "result"
	lineCompaction = "compaction"
)

// line is one line of a transcript.
type line struct {
	Kind     string           `json:"kind"`
	Turn     int              `json:"turn,omitzero"`
	Index    int              `json:"index,omitzero"`
	Message  provider.Message `json:"message,omitzero"`
	Pictures []picture        `json:"pictures,omitempty"`
	Answer   *run.Answer      `json:"answer,omitzero"` // of a turn
	End      *run.End         `json:"end,omitzero"`    // of a result
	Rejected *run.Rejected    `json:"rejected,omitzero"`
	Summary  *run.Compacted   `json:"summary,omitzero"`
	Keep     int              `json:"keep,omitzero"` // of a compaction: how many of the last messages stay
}

// transcript is the conversation of a run on the disk, JSON Lines, with messages as services
// wrote them. It is for recovery: it may be one step ahead of the store, which is then told,
// or behind or gone, and the store tells it. Each line has a seal over itself and the one
// before: what somebody else wrote, moved or left out is no line, nor is what follows.
type transcript struct {
	f    *os.File
	key  []byte
	id   string
	last []byte // seal of the last line
}

// seal is HMAC-SHA256 of a line, behind the seal of the one before it; the first one's
// is of the run's id.
func (t *transcript) seal(text []byte) []byte {
	h := hmac.New(sha256.New, t.key)
	if t.last == nil {
		h.Write([]byte(t.id + "\n"))
	}
	h.Write(t.last)
	h.Write(text)
	return h.Sum(nil)
}

// sealed is how a line ends.
const sealed = `,"mac":"`

// sealedEnd is how many bytes that are.
const sealedEnd = len(sealed) + 2*sha256.Size + len(`"}`)

// maxTranscript bounds what is read of one.
const maxTranscript = 1 << 30

// openTranscript opens the transcript of a run, made when it is not there, and reads its
// lines. What a crash left of a line is cut off.
func openTranscript(folder, id string, key []byte) (*transcript, []line, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, noTranscript(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, noTranscript(err)
	}
	defer root.Close()
	name := id + ".jsonl"
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, nil, noTranscript(fs.ErrInvalid)
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, noTranscript(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTranscript))
	if err != nil {
		return nil, nil, noTranscript(errors.Join(err, f.Close()))
	}
	t := &transcript{f: f, key: key, id: id}
	lines, whole := t.read(data)
	if whole < len(data) {
		if err := f.Truncate(int64(whole)); err != nil {
			return nil, nil, noTranscript(errors.Join(err, f.Close()))
		}
	}
	return t, lines, nil
}

func noTranscript(err error) error {
	return cutroom.Errorf(cutroom.Precondition, "the transcript of the run cannot be written").WithCause(err).
		WithHint("make its folder one that your user may write, on a disk with space (`cutroom doctor` names the state folder)")
}

// read reads the lines up to the first that is none, and how many bytes they are.
func (t *transcript) read(data []byte) (lines []line, whole int) {
	for {
		end := bytes.IndexByte(data[whole:], '\n')
		if end < sealedEnd {
			return lines, whole
		}
		text, mac := data[whole:whole+end-sealedEnd], data[whole+end-sealedEnd:whole+end]
		seal := t.seal(text)
		if !hmac.Equal(mac, sealOf(seal)) {
			return lines, whole
		}
		var l line
		if err := json.Unmarshal(append(bytes.Clone(text), '}'), &l); err != nil {
			return lines, whole
		}
		t.last, lines, whole = seal, append(lines, l), whole+end+1
	}
}

// sealOf is the end of a line with its seal.
func sealOf(seal []byte) []byte { return fmt.Appendf(nil, `%s%x"}`, sealed, seal) }

// add writes a line.
func (t *transcript) add(l line) error {
	text, err := json.Marshal(l, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	text = text[:len(text)-1] // "kind" is always there, so that a comma may follow
	seal := t.seal(text)
	if _, err = t.f.Write(append(append(text, sealOf(seal)...), '\n')); err != nil {
		return noTranscript(err)
	}
	t.last = seal
	return nil
}

// rewrite puts a conversation in the place of what the transcript holds.
func (t *transcript) rewrite(talk []entry) error {
	if err := t.f.Truncate(0); err != nil {
		return noTranscript(err)
	}
	t.last = nil
	for _, e := range talk {
		l := line{Kind: lineUser, Turn: e.turn, Index: e.index, Message: e.Message, Pictures: e.pictures}
		switch e.Role {
		case provider.RoleAssistant:
			l.Kind = lineTurn
		case provider.RoleTool:
			l.Kind = lineResult
		}
		if err := t.add(l); err != nil {
			return err
		}
	}
	return nil
}

func (t *transcript) close() { t.f.Close() }

// talkOf puts the conversation together that lines hold. Answers of tools stand in the
// order of the calls.
func talkOf(lines []line) []entry {
	var talk []entry
	for _, l := range lines {
		switch e := (entry{Message: l.Message, turn: l.Turn, index: l.Index, pictures: l.Pictures}); l.Kind {
		case lineUser, lineTurn:
			_, e.summary = summaryOf(e.Message)
			talk = append(talk, e)
		case lineResult:
			talk = insertResult(talk, e)
		case lineCompaction:
			e.summary = true
			talk = compacted(talk, e, l.Keep)
		}
	}
	return talk
}

// insertResult adds a tool's answer behind those of earlier calls of its turn.
func insertResult(talk []entry, e entry) []entry {
	at := len(talk)
	for at > 0 && talk[at-1].Role == provider.RoleTool && talk[at-1].turn == e.turn && talk[at-1].index > e.index {
		at--
	}
	if at > 0 && talk[at-1].Role == provider.RoleTool && talk[at-1].turn == e.turn && talk[at-1].index == e.index {
		talk[at-1] = e
		return talk
	}
	return slices.Insert(talk, at, e)
}

// compacted is the conversation with a summary in the place of all but its first message
// and its last ones.
func compacted(talk []entry, summary entry, keep int) []entry {
	keep = min(max(keep, 0), max(len(talk)-1, 0))
	var short []entry
	if len(talk) > 0 {
		short = append(short, talk[0])
	}
	short = append(short, summary)
	return append(short, talk[len(talk)-keep:]...)
}
