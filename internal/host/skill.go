package host

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
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

// skill is a file that is ours as a whole. Its last line has the digest of the text
// above: one that a person changed is theirs. It also has how many folders were made
// for the file, which go with it.
type skill struct{ text string }

var sealLine = regexp.MustCompile(`<!-- cutroom: ([0-9a-f]+)(?: \+([0-9]{1,2}))? \(do not edit this line: it tells whether the text above was changed\) -->\n$`)

func sealed(text string, folders int) string {
	count := ""
	if folders > 0 {
		count = fmt.Sprintf(" +%d", folders)
	}
	return text + "<!-- cutroom: " + digest(text) + count + " (do not edit this line: it tells whether the text above was changed) -->\n"
}

func digest(text string) string { return cutroom.DigestOf([]byte(text)).Short() }

// unsealed returns the text that some version of us wrote. Another program may have
// changed the lines' ends.
func unsealed(file []byte) (text string, folders int, ok bool) {
	whole := strings.ReplaceAll(string(file), "\r\n", "\n")
	m := sealLine.FindStringSubmatchIndex(whole)
	if m == nil || whole[m[2]:m[3]] != digest(whole[:m[0]]) {
		return "", 0, false
	}
	if m[4] >= 0 {
		folders, _ = strconv.Atoi(whole[m[4]:m[5]])
	}
	return whole[:m[0]], folders, true
}

func (s skill) put(before []byte, c circumstance) (edit, error) {
	if before == nil {
		return edit{text: []byte(sealed(s.text, c.missing))}, nil
	}
	text, folders, ours := unsealed(before)
	switch {
	case ours && text == s.text:
		return edit{text: before}, nil
	case !ours && !c.replace:
		return edit{text: before}, errConflict("it was not written by cutroom, or was changed since", "move it away, or run with --replace to lose it")
	}
	return edit{text: []byte(sealed(s.text, folders))}, nil
}

func (s skill) take(before []byte) (edit, error) {
	if before == nil {
		return edit{}, nil
	}
	_, folders, ours := unsealed(before)
	if !ours {
		return edit{text: before}, errConflict("it was not written by cutroom, or was changed since", "remove it by hand if you do not need it")
	}
	return edit{made: folders}, nil
}
