package engine

import (
	"fmt"
	"strconv"

	"cutroom/internal/sandbox/argv"
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
		}
	}
	return args
}
