package host

import (
	_ "embed"
	"strings"

	"cutroom"
)

// body is what every host's skill says.
//
//go:embed skill/watch.md
var body string

const description = "Watch a video, listen to a recording or look at a screen capture, and answer with times and pictures"

// toolNames are the tools that a watch uses, by the names that Claude Code knows them by.
func toolNames(tools []string, prefix string) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = prefix + t
	}
	return strings.Join(names, ", ")
}

func claudeSkill(tools []string) string {
	return "---\nname: watch\ndescription: " + description + "\nargument-hint: FILE [QUESTION]\nallowed-tools: " + toolNames(tools, "mcp__"+Name+"__") + "\n---\n\n" +
		"Watch: $ARGUMENTS\n\n" + body
}

func codexSkill() string {
	return "---\nname: watch\ndescription: " + description + "\n---\n\nThe file to watch, and perhaps a question, follow the name of this skill in the user's message.\n\n" + body
}

func openCodeCommand() string {
	return "---\ndescription: " + description + "\n---\n\nWatch: $ARGUMENTS\n\n" + body
}

// skill is a file that is ours as a whole. Its last line says which text it had when
// it was written: one that a person changed is theirs.
type skill struct{ text string }

const (
	seal    = "<!-- cutroom: "
	sealEnd = " (do not edit this line: it tells whether the text above was changed) -->\n"
)

func (s skill) sealed() string { return s.text + seal + digest(s.text) + sealEnd }

func digest(text string) string { return cutroom.DigestOf([]byte(text)).Short() }

// ours says whether a text still is as some version of us wrote it.
func ours(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	i := strings.LastIndex(text, seal)
	return i >= 0 && text[i:] == seal+digest(text[:i])+sealEnd
}

func (s skill) put(before []byte) ([]byte, error) {
	if before != nil && !ours(string(before)) {
		return nil, errConflict("it was not written by cutroom, or was changed since", "move it away, or keep it and add the server alone by hand")
	}
	return []byte(s.sealed()), nil
}

func (s skill) take(before []byte) ([]byte, error) {
	if before != nil && !ours(string(before)) {
		return nil, errConflict("it was not written by cutroom, or was changed since", "remove it by hand if you do not need it")
	}
	return nil, nil
}
