package agent

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-json-experiment/json"

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
	Keep     int              `json:"keep,omitzero"` // of a compaction: how many of the last messages stay
}

// transcript is the conversation of a run on the disk, JSON Lines, with messages as services
// wrote them. It is for recovery: it may be one step ahead of the store, which is then told,
// or behind or gone, and the store tells it.
type transcript struct{ f *os.File }

// maxTranscript bounds what is read of one.
const maxTranscript = 1 << 30

// openTranscript opens the transcript of a run, made when it is not there, and reads its
// lines. What a crash left of a line is cut off.
func openTranscript(folder, id string) (*transcript, []line, error) {
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
	lines, whole := readLines(data)
	if whole < len(data) {
		if err := f.Truncate(int64(whole)); err != nil {
			return nil, nil, noTranscript(errors.Join(err, f.Close()))
		}
	}
	return &transcript{f}, lines, nil
}

func noTranscript(err error) error {
	return cutroom.Errorf(cutroom.Precondition, "the transcript of the run cannot be written").WithCause(err).
		WithHint("make its folder one that your user may write, on a disk with space (`cutroom doctor` names the state folder)")
}

// readLines reads the lines up to the first that is none, and how many bytes they are.
func readLines(data []byte) (lines []line, whole int) {
	for {
		end := bytes.IndexByte(data[whole:], '\n')
		if end < 0 {
			return lines, whole
		}
		var l line
		if err := json.Unmarshal(data[whole:whole+end], &l); err != nil {
			return lines, whole
		}
		lines = append(lines, l)
		whole += end + 1
	}
}

// add writes a line.
func (t *transcript) add(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err = t.f.Write(append(text, '\n')); err != nil {
		return noTranscript(err)
	}
	return nil
}

// rewrite puts a conversation in the place of what the transcript holds.
func (t *transcript) rewrite(talk []entry) error {
	if err := t.f.Truncate(0); err != nil {
		return noTranscript(err)
	}
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
