package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cutroom/internal/tool"
)

// applying is the other half of a measuring command: the tool of the same name that
// writes what was measured. One command has the flags of both, so that one may look
// first and then add -o.
type applying struct {
	*binding
	writes []string // flags that only the writing tool has: one of them asks for it
	looks  []string // switches that only the measuring tool has: they win
}

// applying adds the flags of the tool that applies what b's tool measures, if there is
// one; its own flags are declared already.
func (a *App) applying(b *binding, cmd *cobra.Command) *applying {
	t, ok := a.registry.Find(b.tool.Name + "_apply")
	if !ok {
		return nil
	}
	w := &applying{binding: bind(t)}
	for i, f := range w.flags {
		at := slices.IndexFunc(b.flags, func(o *flagText) bool { return o.param.Flag == f.param.Flag })
		if at < 0 {
			w.writes = append(w.writes, f.param.Flag)
			continue
		}
		w.flags[i] = b.flags[at] // what is typed counts for both
	}
	for _, f := range b.flags {
		if f.param.Kind == tool.ParamBool && !slices.ContainsFunc(w.flags, func(o *flagText) bool { return o.param.Flag == f.param.Flag }) {
			w.looks = append(w.looks, f.param.Flag)
		}
	}
	w.declare(cmd)
	cmd.Long += fmt.Sprintf("\n\nWith -o%s it calls %s: %s.", w.others(), t.Name, lowerFirst(t.Summary))
	if len(w.looks) > 0 {
		cmd.Long += fmt.Sprintf(" --%s keeps it from that.", strings.Join(w.looks, " or --"))
	}
	return w
}

// asked reports whether the command line asks for a file.
func (w *applying) asked(cmd *cobra.Command) bool {
	changed := func(name string) bool {
		f := cmd.Flags().Lookup(name)
		return f.Changed && f.Value.String() != "false"
	}
	return w != nil && slices.ContainsFunc(w.writes, changed) && !slices.ContainsFunc(w.looks, changed)
}

// others names the flags that ask for a file, -o apart.
func (w *applying) others() string {
	list := slices.DeleteFunc(slices.Clone(w.writes), func(name string) bool { return name == "output" })
	if len(list) == 0 {
		return ""
	}
	return ", --" + strings.Join(list, ", --")
}
