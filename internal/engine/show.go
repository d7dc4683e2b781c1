package engine

import (
	"cmp"
	"fmt"
	"strconv"

	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// showArgs writes a command's arguments for people: inputs and outputs by role
// instead of by descriptor.
func showArgs(cmd argv.Command) []string {
	args := make([]string, len(cmd.Args))
	for i, a := range cmd.Args {
		switch a := a.(type) {
		case argv.Word:
			args[i] = string(a)
		case argv.Int:
			args[i] = strconv.FormatInt(a.N, 10)
		case argv.Decimal:
			args[i] = string(a)
		case argv.In:
			args[i] = fmt.Sprintf("<input %d>", int(a))
		case argv.Out:
			args[i] = "<private>/" + string(a)
		case argv.Pipe:
			args[i] = fmt.Sprintf("pipe:%d", int(a))
		case argv.Graph:
			args[i] = string(a)
		case argv.Data:
			args[i] = fmt.Sprintf("<data %s>", string(a))
		case argv.Hole:
			args[i] = "<measured>"
		}
	}
	return args
}

// line is a run as one command line: inputs as they lie in the workspace, other files
// by their names in the private folder.
func (k *call) line(cmd argv.Command) string {
	words := append([]string{cmd.Program}, showArgs(cmd)...)
	for i, a := range cmd.Args {
		switch a := a.(type) {
		case argv.In:
			if n := int(a); n < len(cmd.Inputs) && cmd.Inputs[n] < len(k.inputs) {
				words[i+1] = cmp.Or(k.inputs[cmd.Inputs[n]].Locator, k.inputs[cmd.Inputs[n]].Text)
			}
		case argv.Out:
			words[i+1] = string(a)
		}
	}
	return tool.Shell(words)
}
