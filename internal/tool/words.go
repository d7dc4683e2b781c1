package tool

import (
	"slices"
	"strings"
)

// everyFlag are the flags of every command, whose names no parameter may take.
var everyFlag = []string{"json", "quiet", "debug", "root", "stage", "timeout", "dry-run", "plan", "help", "source-kind", "media-type"}

// Words says how the parameters stand on a command line: those given by position,
// in order, and those given by flag. Inputs stand by position; a tool without any
// takes recorded results and its required texts so. A flag's name that is taken
// already, by another parameter or by every command, is made of the whole path.
func (t *Tool) Words() (place, flags []Param) {
	params := t.Params()
	byPlace := Param.Positional
	if !slices.ContainsFunc(params, byPlace) {
		byPlace = func(p Param) bool {
			return (p.Required || p.Place) && (p.Kind == ParamRef || p.Kind == ParamText && !p.Repeat)
		}
	}
	taken := slices.Clone(everyFlag)
	for _, p := range params {
		if byPlace(p) {
			place = append(place, p)
			continue
		}
		if slices.Contains(taken, p.Flag) {
			p.Flag = strings.ReplaceAll(strings.Join(p.Path, "-"), "_", "-")
		}
		taken = append(taken, p.Flag)
		flags = append(flags, p)
	}
	return place, flags
}

// Word is the name of a positional parameter as help shows it.
func (p Param) Word() string {
	w := strings.ToUpper(p.Path[len(p.Path)-1])
	if p.Repeat {
		w += "..."
	}
	if !p.Required {
		w = "[" + w + "]"
	}
	return w
}

// Shell joins words as a POSIX shell reads them, so that a person can see where each
// begins.
func Shell(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()*?[]{}!#~") {
			shown[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}
