package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cutroom"
	"cutroom/internal/tool"
)

// usageError is a command line that cannot be understood.
type usageError struct{ msg, hint string }

func (e usageError) Error() string { return e.msg }

func (e usageError) failure() *cutroom.Error {
	err := cutroom.Errorf(cutroom.Invalid, "%s", e.msg)
	if e.hint == "" {
		return err
	}
	return err.WithHint("%s", e.hint)
}

func usagef(format string, args ...any) usageError {
	return usageError{msg: fmt.Sprintf(format, args...)}
}

func (e usageError) withHint(format string, args ...any) usageError {
	e.hint = fmt.Sprintf(format, args...)
	return e
}

// plainUsage is usual without what the flag library adds to some flags only: booleans
// are bare, and a default stands as it would be typed.
func plainUsage(usual func(*cobra.Command) error) func(*cobra.Command) error {
	const choice = "[=true|false]"
	quoted := regexp.MustCompile(`\(default "(.*)"\)\n`)
	return func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var b bytes.Buffer
		cmd.SetOut(&b)
		err := usual(cmd)
		cmd.SetOut(out)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(b.String(), choice, strings.Repeat(" ", len(choice)))
		_, err = io.WriteString(out, quoted.ReplaceAllString(text, "(default $1)\n"))
		return err
	}
}

// unknownCommand is the argument check of a command that only has subcommands.
func (a *App) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	e := usagef("`%s` has no command %q", cmd.CommandPath(), short(args[0]))
	near := anotherWord(args[0])
	if !slices.Contains(names, near) {
		near = tool.Nearest(args[0], names)
	}
	if near != "" {
		return e.withHint("did you mean `%s %s`?", cmd.CommandPath(), near)
	}
	return e.withHint("`%s --help` lists the commands", cmd.CommandPath())
}

// flagError makes what the flag parser complains about ours, with the nearest
// known flag.
func flagError(cmd *cobra.Command, err error) error {
	switch err := err.(type) {
	case *pflag.NotExistError:
		name := err.GetSpecifiedName()
		e := usagef("`%s` has no flag --%s", cmd.CommandPath(), short(name))
		if word := err.GetSpecifiedShortnames(); len(name) == 1 {
			e = usagef("`%s` has no flag -%s", cmd.CommandPath(), name)
			if strings.Contains(word, ".") { // a file
				return e.withHint("a file whose name begins with - is written ./-%s, or stands behind --", short(word))
			}
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if at := strings.LastIndexByte(name, '-'); at > 0 && slices.Contains(names, name[at+1:]) { // --transition-duration for --duration
			return e.withHint("did you mean --%s?", name[at+1:])
		}
		if near := tool.Nearest(name, names); near != "" && len(name) > 1 {
			return e.withHint("did you mean --%s?", near)
		}
		return e.withHint("`%s --help` lists the flags", cmd.CommandPath())
	case *pflag.ValueRequiredError:
		return usagef("the flag --%s needs a value", err.GetSpecifiedName()).withHint("`%s --help` says what it takes", cmd.CommandPath())
	case *pflag.InvalidValueError:
		return usagef("--%s: %s", err.GetFlag().Name, reason(err.Unwrap())).withHint("`%s --help` says what it takes", cmd.CommandPath())
	case *pflag.InvalidSyntaxError:
		return usagef("%q is not a flag", short(err.GetSpecifiedFlag()))
	}
	return usagef("%s", err)
}

// reason is the part of a value's complaint that was made for callers.
func reason(err error) string {
	if err == nil {
		return "the value cannot be read"
	}
	return strings.TrimPrefix(err.Error(), "strconv.")
}

// short cuts a caller's word for a message.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
