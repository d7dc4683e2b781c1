package argv

import (
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// Limits of an argument list as a whole; Linux takes 128 KiB in one string.
const (
	maxArgs   = 4096
	maxArgLen = 120 << 10
)

// refuse is the checker's answer. It is ours to make good argument lists, so a
// refusal is a fault of ours or an attack; either way nothing starts.
func refuse(format string, args ...any) error {
	return cutroom.Errorf(cutroom.Denied, format, args...)
}

// Check reads the finished argument list of one run and refuses whatever its
// program's table does not allow: unknown options, values of another kind, files
// that were not granted, filters that are not known. It does not look at how the
// list was made.
func Check(t Table, args []string, g Grants) error {
	if t.grammar == nil {
		return refuse("%s has no table of arguments", t.Program)
	}
	if len(args) > maxArgs {
		return refuse("%s: %d arguments are too many", t.Program, len(args))
	}
	for i, a := range args {
		if len(a) > maxArgLen || !printable(a) {
			return refuse("%s argument %d is too long or has control characters", t.Program, i)
		}
	}
	if slices.ContainsFunc(t.Inspect, func(whole []string) bool { return slices.Equal(whole, args) }) {
		return nil
	}
	c := &checker{table: t, grants: g, rest: args}
	if err := t.grammar(c); err != nil {
		return cutroom.Errorf(cutroom.Denied, "%s argument %d: %w", t.Program, len(args)-len(c.rest)-1, err)
	}
	return nil
}

// CheckEnv refuses variables that the program's table does not have.
func CheckEnv(t Table, env map[string]string) error {
	for name, value := range env {
		o, ok := t.Env[name]
		if !ok {
			return refuse("%s may not be given the variable %q", t.Program, name)
		}
		if err := (&checker{table: t}).value(o, value); err != nil {
			return refuse("%s variable %s: %w", t.Program, name, err)
		}
	}
	return nil
}

func printable(s string) bool {
	for _, r := range s {
		if r < ' ' && r != '\n' || r == 0x7f || r == 0xfffd {
			return false
		}
	}
	return true
}

// checker walks one argument list.
type checker struct {
	table  Table
	grants Grants
	rest   []string
}

// next takes the next argument.
func (c *checker) next() (string, bool) {
	if len(c.rest) == 0 {
		return "", false
	}
	a := c.rest[0]
	c.rest = c.rest[1:]
	return a, true
}

// option checks the option a and takes its value from the list.
func (c *checker) option(a string) (name, value string, err error) {
	name, spec, has := strings.Cut(a, ":")
	o, ok := c.table.Options[name]
	if !ok || has && !only(spec, ":#_", 32) {
		return "", "", refuse("option %q is not allowed", a)
	}
	if o.Kind == Flag {
		return name, "", nil
	}
	value, ok = c.next()
	if !ok {
		return "", "", refuse("option %q has no value", a)
	}
	if err := c.value(o, value); err != nil {
		return "", "", refuse("option %s: %w", name, err)
	}
	return name, value, nil
}

// value checks one value against its kind.
func (c *checker) value(o Option, v string) error {
	ok := false
	switch o.Kind {
	case Number:
		ok = isNumber(v)
	case Name:
		ok = isWord(v)
	case Size:
		ok = isSize(v)
	case Text:
		ok = len(v) <= 4096
	case Ratio:
		ok = isRatio(v)
	case Expr:
		ok = isExpr(v)
	case StreamMap:
		ok = isStreamMap(v)
	case Protocols:
		ok = v == "file" || v == "pipe" || v == "file,pipe"
	case Format:
		ok = formats()[v]
	case FilterArg:
		return checkGraph(v, c.grants)
	case BitFilter:
		return checkBitFilters(v)
	case Params, Setting:
		return checkParams(o, v)
	case FromInput:
		ok = c.input(v)
	case ToOutput:
		ok = SafeName(v) || slices.Contains(o.Values, v)
		o.Values = nil
	case ToPipe:
		ok = c.grants.pipe(v)
	case FromData:
		ok = c.grants.isData(v)
	}
	if !ok || len(o.Values) > 0 && o.Kind != Params && !slices.Contains(o.Values, v) {
		return refuse("%q is not a %s", clip(v), o.Kind)
	}
	return nil
}

// input reports whether v is a granted descriptor or a file of the private folder.
func (c *checker) input(v string) bool {
	name, ok := strings.CutPrefix(v, c.table.Input)
	return ok && c.grants.isInput(name) || SafeName(v) || ok && SafeName(name)
}

func (g Grants) isInput(path string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(path, "/proc/self/fd/"))
	return err == nil && path == fdPath(n) && n >= g.InputFD(0) && n < g.InputFD(g.Inputs)
}

func (g Grants) isData(path string) bool {
	for _, p := range g.Data {
		if p == path && path != "" {
			return true
		}
	}
	return false
}

// pipe reports whether v is a granted output pipe.
func (g Grants) pipe(v string) bool {
	if v == "-" || v == "pipe:1" {
		return true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(v, "pipe:"))
	return err == nil && v == "pipe:"+strconv.Itoa(n) && n >= 3 && n < 3+g.Pipes
}

func checkParams(o Option, v string) error {
	pairs := []string{v}
	if o.Kind == Params {
		pairs = strings.Split(v, ":")
	}
	for _, p := range pairs {
		key, val, has := strings.Cut(p, "=")
		if !slices.Contains(o.Values, key) {
			return refuse("parameter %q is not allowed", clip(key))
		}
		if has && (len(val) > 512 || strings.ContainsAny(val, "/\\")) {
			return refuse("parameter %s: %q is not allowed", key, clip(val))
		}
	}
	return nil
}

// checkBitFilters checks a chain of bitstream filters, `name=options,name`.
func checkBitFilters(v string) error {
	if !only(v, "_+*()<>=.,:;!&|'\\/ -", 1024) {
		return refuse("%q is not a chain of bitstream filters", clip(v))
	}
	for _, f := range splitOutside(v, ',') {
		name, _, _ := strings.Cut(f, "=")
		if !bitFilters()[name] {
			return refuse("bitstream filter %q is not allowed", clip(name))
		}
	}
	return nil
}

// splitOutside splits s at sep outside of quotes and of a backslash's reach.
func splitOutside(s string, sep byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case quoted:
		case s[i] == '\\':
			i++
		case s[i] == sep:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// clip keeps a refused value short and on one line in a message.
func clip(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return s
}

// plain is the grammar of programs that read options and operands in any order.
func (c *checker) plain() error {
	operand := 0
	for {
		a, ok := c.next()
		if !ok {
			return nil
		}
		if len(a) > 1 && a[0] == '-' {
			if _, _, err := c.option(a); err != nil {
				return err
			}
			continue
		}
		if len(c.table.Operands) == 0 {
			return refuse("%q is one operand too many", clip(a))
		}
		if err := c.value(c.table.Operands[min(operand, len(c.table.Operands)-1)], a); err != nil {
			return err
		}
		operand++
	}
}

// own is the grammar of our own binary's children: long options, numbers, words, and
// files by the same rule as everywhere.
func (c *checker) own() error {
	for {
		a, ok := c.next()
		if !ok {
			return nil
		}
		name, value, has := strings.Cut(a, "=")
		switch {
		case isLongOption(name) && (!has || c.ownValue(value)):
		case !has && c.ownValue(a):
		default:
			return refuse("%q is not allowed", clip(a))
		}
	}
}

func (c *checker) ownValue(v string) bool {
	return isWord(v) || c.grants.isInput(v) || c.grants.isData(v) || c.grants.pipe(v)
}
