package speech

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"cutroom"
)

// vocabularySize is the number of text tokens; ids from here on are marks of the
// model that have no text.
const vocabularySize = 32000

// vocabulary maps a token's id to its bytes. A token may be part of a character.
type vocabulary [][]byte

// loadVocabulary reads one token per line, the line's number being its id. "▁"
// stands for a space and <0xNN> for one byte, as in SentencePiece.
func loadVocabulary(path string) (vocabulary, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the vocabulary of the speech model is not installed").
			WithHint("run `cutroom setup`").WithCause(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(lines) != vocabularySize {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the vocabulary of the speech model has %d tokens instead of %d", len(lines), vocabularySize).
			WithHint("run `cutroom setup` to fetch it again")
	}
	v := make(vocabulary, len(lines))
	for i, line := range lines {
		v[i] = tokenBytes(line)
	}
	return v, nil
}

func tokenBytes(line []byte) []byte {
	s := string(line)
	if len(s) == 6 && strings.HasPrefix(s, "<0x") && s[5] == '>' {
		if n, err := strconv.ParseUint(s[3:5], 16, 8); err == nil {
			return []byte{byte(n)}
		}
	}
	if s == "<unk>" || s == "<s>" || s == "</s>" {
		return nil
	}
	return []byte(strings.ReplaceAll(s, "▁", " "))
}

// text joins tokens into valid UTF-8 without blanks around it.
func (v vocabulary) text(ids []int) string {
	var b []byte
	for _, id := range ids {
		if id >= 0 && id < len(v) {
			b = append(b, v[id]...)
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
}
