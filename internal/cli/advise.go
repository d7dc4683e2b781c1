package cli

import (
	"regexp"
	"strings"

	"cutroom"
)

// anotherWord is the command that people look for under a name of their own.
func anotherWord(name string) string {
	switch name {
	case "concat", "concatenate", "merge", "append":
		return "join"
	case "trim", "clip", "split":
		return "cut"
	case "convert", "transcode", "compress":
		return "export"
	case "subtitles", "subtitle", "subs", "captions":
		return "caption"
	case "resize", "crop", "scale", "rotate", "speed":
		return "fit"
	case "normalize", "normalise":
		return "loudness"
	}
	return ""
}

// inWords says what a tool complains about in the words of its command: flags in place
// of members, and the command's own help.
func (b *binding) inWords(err error, command string) error {
	if err == nil {
		return nil
	}
	e := *cutroom.AsError(err)
	if e.Code != cutroom.Invalid && e.Code != cutroom.Precondition {
		return err
	}
	e.Hint = strings.ReplaceAll(e.Hint, "`cutroom tool show` with the tool's id", "`"+command+" --help`")
	said, advice := e.Msg, "" // what a request lacks is said with its hint in brackets
	if at := strings.LastIndex(said, " ("); at > 0 && strings.HasSuffix(said, ")") {
		said, advice = said[:at], said[at:]
	}
	for _, f := range b.flags {
		name := strings.ReplaceAll(f.param.Flag, "-", "_")
		if strings.Contains(name, "_") {
			word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
			for _, text := range []*string{&e.Hint, &said, &advice} {
				*text = word.ReplaceAllString(*text, "--"+f.param.Flag)
			}
			continue
		}
		before := `(\b(?:give|add|leave|use|with|and|or|lower)|,) `
		if name == "out" { // what is left out is no option
			before = `(\b(?:give|add|use|with|and|or|lower)|,) `
		}
		named := regexp.MustCompile(before + regexp.QuoteMeta(name) + `\b`)
		e.Hint, advice = named.ReplaceAllString(e.Hint, "${1} --"+name), named.ReplaceAllString(advice, "${1} --"+name)
		said = strings.Replace(said, b.tool.Name+": "+name+": ", b.tool.Name+": --"+name+": ", 1)
	}
	e.Msg = said + advice
	return &e
}
