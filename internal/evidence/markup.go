package evidence

import (
	"html"
	"strings"

	"cutroom"
)

// voice is what one speaker says in a cue.
type voice struct {
	speaker string
	lines   []captionLine
}

// captionTags are the elements of WebVTT and the ones SubRip files borrow. Any
// other thing in angle brackets is text ("a < b", "<laughs>") and kept.
var captionTags = map[string]bool{
	"b": true, "c": true, "em": true, "font": true, "i": true, "lang": true, "rt": true,
	"ruby": true, "s": true, "strong": true, "u": true, "v": true,
}

// maxTag bounds how far a closing bracket is looked for, so that a file of
// opening brackets is read in linear time.
const maxTag = 512

// resolveMarkup removes tags and override blocks from a cue's text and decodes
// its entities, once: text that is a tag only after decoding stays text.
func resolveMarkup(raw string, start, end cutroom.Micros, hasEnd bool) []voice {
	m := markup{start: start, at: start}
	for i := 0; i < len(raw); {
		n := 0
		switch raw[i] {
		case '<':
			n = m.tag(raw[i:])
		case '{':
			n = overrideBlock(raw[i:])
		case '&':
			n = m.entity(raw[i:])
		case '\n':
			m.newLine()
			n = 1
		}
		if n == 0 {
			m.text.WriteByte(raw[i])
			n = 1
		}
		i += n
	}
	m.newVoice("")
	return m.finish(end, hasEnd)
}

// markup is the state while a cue's text is read.
type markup struct {
	start, at cutroom.Micros // of the cue; of the word in hand
	timed     bool           // the line has time tags
	speaker   string
	text      strings.Builder // of the line
	wordFrom  int             // where the word in hand begins in text
	line      captionLine
	lines     []captionLine
	voices    []voice
}

// tag reads a tag at the start of s and returns its length, 0 when it is text.
func (m *markup) tag(s string) int {
	end := strings.IndexByte(s[:min(len(s), maxTag)], '>')
	if end < 2 || strings.IndexByte(s[1:end], '<') >= 0 {
		return 0
	}
	body := s[1:end]
	if at, n, _ := clock(body); n == len(body) {
		m.endWord()
		m.timed, m.at = true, at
		return end + 1
	}
	closing := body[0] == '/'
	body = strings.TrimPrefix(body, "/")
	stop := strings.IndexFunc(body, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if stop < 0 {
		stop = len(body)
	}
	name := strings.ToLower(body[:stop])
	if stop < len(body) && !strings.ContainsRune(" \t\n.=/", rune(body[stop])) {
		return 0
	}
	switch {
	case name == "br":
		m.newLine()
	case !captionTags[name]:
		return 0
	case name == "v" && closing:
		m.newVoice("")
	case name == "v":
		_, who, _ := strings.Cut(body, " ")
		m.newVoice(strings.TrimSpace(decodeEntities(who)))
	}
	return end + 1
}

// entity reads a character reference that ends in a semicolon.
func (m *markup) entity(s string) int {
	text, n := decodeEntity(s)
	m.text.WriteString(text)
	return n
}

// endWord closes the word in hand, when the line has time tags.
func (m *markup) endWord() {
	text := strings.TrimSpace(m.text.String()[m.wordFrom:])
	m.wordFrom = m.text.Len()
	if text != "" {
		m.line.words = append(m.line.words, Word{Start: m.at, Text: text})
	}
}

func (m *markup) newLine() {
	m.endWord()
	m.line.text = strings.TrimRight(m.text.String(), " \t")
	if !m.timed {
		m.line.words = nil
	}
	m.lines = append(m.lines, m.line)
	m.line, m.timed, m.wordFrom = captionLine{}, false, 0
	m.text.Reset()
}

// newVoice ends what the present speaker says.
func (m *markup) newVoice(next string) {
	if m.text.Len() > 0 {
		m.newLine()
	}
	if strings.TrimSpace(joinLines(m.lines)) != "" {
		m.voices = append(m.voices, voice{speaker: m.speaker, lines: m.lines})
		m.lines = nil
	}
	m.speaker = next
}

// finish gives every word its end: the start of the next, or the end of the cue.
func (m *markup) finish(end cutroom.Micros, hasEnd bool) []voice {
	var previous *Word
	for v := range m.voices {
		for l := range m.voices[v].lines {
			words := m.voices[v].lines[l].words
			for w := range words {
				if previous != nil {
					next := words[w].Start
					previous.End = &next
				}
				previous = &words[w]
			}
		}
	}
	if previous != nil && hasEnd {
		previous.End = &end
	}
	return m.voices
}

// overrideBlock returns the length of an ASS override "{\an8}" at the start of s;
// other braces are text.
func overrideBlock(s string) int {
	if len(s) < 3 || s[1] != '\\' {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), maxTag)], '}')
	return end + 1
}

// decodeEntity decodes the character reference at the start of s. n is 0 when
// there is none; a reference must end in a semicolon, or "AT&T" would change.
func decodeEntity(s string) (text string, n int) {
	end := strings.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return "", 0
	}
	for i := 1; i < end; i++ {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c != '#' || i != 1) {
			return "", 0
		}
	}
	text = html.UnescapeString(s[:end+1])
	if strings.HasSuffix(text, ";") && text != ";" {
		return "", 0 // unknown name, or a known prefix of one: left as it is
	}
	return text, end + 1
}

// decodeEntities decodes every character reference of s, once.
func decodeEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '&' {
			if text, n := decodeEntity(s[i:]); n > 0 {
				b.WriteString(text)
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
