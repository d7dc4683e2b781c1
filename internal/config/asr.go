package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ASR is speech to text by engines of the operator's own, asked in order: command first.
type ASR struct {
	Command   string        `yaml:"command" doc:"A program and its arguments in one line, e.g. whisper-cli -m base.bin --json {input}. {input} stands for the recording, {language} for its language, each a word of its own. Quotes hold a word with spaces together; no shell reads the line. The program is pinned by cutroom setup."`
	Endpoints []ASREndpoint `yaml:"endpoints" doc:"Further ones, tried in order: a line as command, the address of a service, or a mapping of the keys below."`
}

// ASREndpoint is one more engine: a command, or a service with OpenAI's form of
// /audio/transcriptions.
type ASREndpoint struct {
	Command string `yaml:"command" doc:"As lens.asr.command."`
	URL     string `yaml:"url" doc:"Address of the request, e.g. https://api.example.com/v1/audio/transcriptions. One of this machine is local; any other needs consent, as every upload."`
	Model   string `yaml:"model" doc:"Model that the service is asked for."`
	Key     string `yaml:"key" as:"secret" doc:"Where its keys are: env:NAME, file:/PATH or keyring:NAME, more than one with commas between. Never a key itself."`
}

// UnmarshalYAML reads a mapping, or one text for its command or address.
func (e *ASREndpoint) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		type plain ASREndpoint
		return n.Decode((*plain)(e))
	}
	if n.ShortTag() != "!!str" {
		return &yaml.TypeError{Errors: []string{at(n, "an endpoint is a text, or a mapping with command or url")}}
	}
	if strings.HasPrefix(n.Value, "http://") || strings.HasPrefix(n.Value, "https://") {
		e.URL = n.Value
		return nil
	}
	e.Command = n.Value
	return nil
}

// All are the endpoints in the order in which they are tried, command first.
func (a ASR) All() []ASREndpoint {
	if a.Command == "" {
		return a.Endpoints
	}
	return append([]ASREndpoint{{Command: a.Command}}, a.Endpoints...)
}

// Words are the program and the arguments of a command, or why it is none.
func (e ASREndpoint) Words() ([]string, error) {
	words, err := split(e.Command)
	switch {
	case err != nil:
		return nil, err
	case len(words) < 2:
		return nil, errors.New("a program and its arguments are needed")
	case strings.HasPrefix(words[0], "{"):
		return nil, errors.New("the first word is the program")
	}
	count := 0
	for _, w := range words[1:] {
		switch {
		case w == "{input}":
			count++
		case w == "{language}":
		case strings.Contains(w, "{input}"):
			return nil, fmt.Errorf("{input} is a word of its own, not a part of %q", short(w))
		}
	}
	if count != 1 {
		return nil, errors.New("{input} has to occur once")
	}
	return words, nil
}

// maxWords bounds the words of a command.
const maxWords = 64

// split reads the words of a line. Quotes hold what is between them together; nothing
// else has a meaning, so that what looks like a shell's is a word.
func split(line string) ([]string, error) {
	if !utf8.ValidString(line) {
		return nil, errors.New("a command is text in UTF-8")
	}
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case c < ' ' || c == 0x7f:
			return nil, errors.New("a control character is no part of a command")
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed", quote)
	}
	end()
	if len(words) > maxWords || slices.Contains(words, "") {
		return nil, fmt.Errorf("a word is empty, or there are more than %d", maxWords)
	}
	return words, nil
}
