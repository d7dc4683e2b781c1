package argv

import (
	"strconv"

	"cutroom"
)

// Grants is what one run was given: how many descriptors, and which pinned data.
type Grants struct {
	Pipes  int               // extra output pipes, Pipe(1) … Pipe(Pipes)
	Inputs int               // In(0) … In(Inputs-1)
	Data   map[string]string // pinned data files by name: real paths
	Lists  []string          // files that the run brings with it and that list files of the private folder
}

// PipeFD is the descriptor of Pipe(k) in the program: 1 for standard output, then
// 3 and up. It does not depend on the inputs, so that a filter graph can name it
// ("metadata=print:file='pipe\:3'", quoted once for the graph and once for the option).
func PipeFD(k int) int {
	if k == 0 {
		return 1
	}
	return 2 + k
}

// InputFD is the descriptor of In(n); inputs come after the pipes.
func (g Grants) InputFD(n int) int { return 3 + g.Pipes + n }

// GrantsOf returns the grants of cmd, given its program's pinned data.
func GrantsOf(cmd Command, data map[string]string) Grants {
	g := Grants{Pipes: max(len(cmd.Consume)-1, 0), Inputs: len(cmd.Inputs), Data: data}
	for _, f := range cmd.Files {
		if SafeName(f.Name) && listsFiles(f.Data) {
			g.Lists = append(g.Lists, f.Name)
		}
	}
	return g
}

// Render writes cmd's atoms as the strings that the program gets. It refuses what an
// atom alone can tell; [Check] then judges the whole, knowing nothing of the atoms.
func Render(cmd Command, t Table, g Grants) ([]string, error) {
	args := make([]string, 0, len(cmd.Args))
	for i, a := range cmd.Args {
		s, err := g.render(a, t)
		if err != nil {
			return nil, cutroom.Errorf(cutroom.Internal, "%s argument %d: %w", cmd.Program, i, err)
		}
		args = append(args, s)
	}
	return args, nil
}

func (g Grants) render(a Atom, t Table) (string, error) {
	switch a := a.(type) {
	case Word:
		return string(a), nil
	case Graph:
		return string(a), nil
	case Int:
		if a.N < a.Min || a.N > a.Max {
			return "", refuse("%d is not between %d and %d", a.N, a.Min, a.Max)
		}
		return strconv.FormatInt(a.N, 10), nil
	case Decimal:
		if !isDecimal(string(a)) {
			return "", refuse("%q is not a decimal number", string(a))
		}
		return string(a), nil
	case In:
		if a < 0 || int(a) >= g.Inputs {
			return "", refuse("input %d was not granted", int(a))
		}
		return t.Input + fdPath(g.InputFD(int(a))), nil
	case Out:
		if !SafeName(string(a)) {
			return "", refuse("%q is not a generated name", string(a))
		}
		return string(a), nil
	case Pipe:
		if a < 0 || int(a) > g.Pipes {
			return "", refuse("pipe %d has no reader", int(a))
		}
		return "pipe:" + strconv.Itoa(PipeFD(int(a))), nil
	case Hole:
		return "", refuse("%s was not measured yet", string(a))
	case Data:
		if p := g.Data[string(a)]; p != "" {
			return p, nil
		}
		return "", cutroom.Errorf(cutroom.MissingDependency, "%s has no file %q set up", t.Program, string(a)).WithHint("run `cutroom setup`")
	}
	return "", refuse("unknown kind %T", a)
}

func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
