package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"golang.org/x/term"

	"cutroom"
	"cutroom/internal/setup"
	"cutroom/internal/tool"
)

// options are what setup and doctor take.
func (a *App) options() setup.Options {
	return setup.Options{
		Dir: a.Dir, Root: a.flags.root, Stage: a.flags.stage, Registry: a.registry, Log: a.log(), Debug: a.debugOutput(), Now: a.Now,
	}
}

// debugOutput is where programs' own words may go: to the operator's terminal under
// --debug, and nowhere else.
func (a *App) debugOutput() io.Writer {
	f, ok := a.Stderr.(*os.File)
	if !a.flags.debug || !ok || !term.IsTerminal(int(f.Fd())) || a.principal().Role == cutroom.RoleAgent {
		return nil
	}
	return cleaner{f}
}

// cleaner makes lines safe for a terminal.
type cleaner struct{ w io.Writer }

func (c cleaner) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		if _, err := fmt.Fprintln(c.w, clean(strings.TrimRight(line, "\n"))); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (a *App) setupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "setup", Short: "Find and record the programs and models that the tools run", GroupID: groupProgram, Args: noArgs,
		Long: "Find and record the programs and models that the tools run: nothing else is run later. An agent may do so where nothing is recorded yet; to record others in their place is for a person.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := a.options()
			o.First = a.principal().Role == cutroom.RoleAgent
			report, err := setup.Setup(cmd.Context(), o, func(line string) {
				for l := range strings.Lines(line) {
					a.remark("%s", strings.TrimRight(l, "\n"))
				}
			})
			if err != nil {
				return err
			}
			missing := 0
			for _, p := range report.Programs {
				if p.State == setup.Missing || p.State == setup.Broken {
					missing++
				}
			}
			if missing > 0 {
				a.exit = exitPartial
			}
			if a.flags.json {
				a.printJSON(report)
				return nil
			}
			fmt.Fprintf(a.Stdout, "recorded %d programs in %s\n", len(report.Programs)-missing-optional(report), clean(report.Toolchain))
			if missing > 0 {
				fmt.Fprintln(a.Stdout, "`cutroom doctor` says what does not work without the rest")
			}
			return nil
		},
	}
}

func optional(r *setup.Report) int {
	n := 0
	for _, p := range r.Programs {
		if p.State == setup.Optional {
			n++
		}
	}
	return n
}

// Exit codes of doctor.
const (
	doctorDegraded = 3
	doctorMissing  = 1
)

func (a *App) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what works here, and what helps where it does not", GroupID: groupProgram, Args: noArgs,
		Long: "Try every recorded program in the sandbox, try to get out of the sandbox, and say per tool what works. Exit code: 0 everything is there, 3 something optional is missing, 1 something needed is missing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := setup.Doctor(cmd.Context(), a.options())
			if err != nil {
				return err
			}
			switch d.Status {
			case tool.Degraded:
				a.exit = doctorDegraded
			case tool.Missing:
				a.exit = doctorMissing
			}
			if a.flags.json {
				a.printJSON(d)
				return nil
			}
			return a.showDiagnosis(d)
		},
	}
}

func (a *App) showDiagnosis(d *setup.Diagnosis) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		for i := range cells {
			cells[i] = clean(cells[i])
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	fmt.Fprintf(w, "cutroom %s on %s: %s\n\nPROGRAMS\n", d.Version, d.Platform, verdict(d.Status))
	for _, p := range d.Programs {
		row("  "+p.Name, string(p.State), firstOf(p.Version, strings.Join(p.Notes, "; ")), remedy(p.Fix))
	}
	fmt.Fprintln(w, "\nTOOLS")
	for _, t := range d.Tools {
		row("  "+t.ToolID, string(t.State), t.Problem, remedy(t.Fix))
	}
	fmt.Fprintln(w, "\nMODELS")
	for _, m := range d.Models {
		row("  "+m.Name, string(m.State), "", remedy(m.Fix))
	}
	fmt.Fprintln(w, "\nFOLDERS")
	for _, f := range d.Folders {
		state := "writable"
		if !f.Writable {
			state = "not writable"
		}
		row("  "+f.Name, state, f.Path, remedy(f.Fix))
	}
	fmt.Fprintln(w, "\nDATABASE")
	row("  "+strings.TrimSpace(d.Database.Kind+" "+d.Database.Version), string(d.Database.State), firstOf(d.Database.Problem, d.Database.Where), remedy(d.Database.Fix))
	row("  approvals", string(d.Approvals.State), d.Approvals.Problem, remedy(d.Approvals.Fix))
	fmt.Fprintln(w, "\nSANDBOX")
	row("  layers", string(d.Sandbox.State), strings.Join(d.Sandbox.Layers, ", "), remedy(d.Sandbox.Fix))
	if d.Sandbox.Problem != "" {
		row("  problem", d.Sandbox.Problem)
	}
	out := 0
	for _, t := range d.Sandbox.SelfTest {
		if !t.Held {
			out++
		}
	}
	row("  attempts to get out", fmt.Sprintf("%d of %d succeeded", out, len(d.Sandbox.SelfTest)))
	for _, t := range d.Sandbox.SelfTest {
		held := "held"
		if !t.Held {
			held = "NOT HELD"
		}
		row("  "+t.Name, held, strings.TrimSpace(t.By+" "+t.Note))
	}
	fmt.Fprintln(w, "\nHOSTS")
	for _, h := range d.Hosts {
		row("  "+h.Title, h.Say())
	}
	fmt.Fprintln(w, "\nTO KNOW")
	for _, n := range d.Notes {
		fmt.Fprintln(w, "  -", clean(n))
	}
	return w.Flush()
}

// verdict is what doctor's exit code says.
func verdict(s tool.State) string {
	switch s {
	case tool.Degraded:
		return "something optional is missing"
	case tool.Missing:
		return "something needed is missing"
	}
	return "everything is there"
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func remedy(fix string) string {
	if fix == "" {
		return ""
	}
	return "fix: " + fix
}

func (a *App) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages to a folder", Hidden: true, Args: exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := paths{dir: a.Dir}.absolute(args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return cutroom.Errorf(cutroom.Invalid, "cannot make %q", args[0]).WithCause(err)
			}
			cmd.Root().DisableAutoGenTag = true
			if err := doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "CUTROOM", Section: "1", Source: "cutroom " + cutroom.Version, Manual: "cutroom"}, dir); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
			if err != nil {
				return err
			}
			if a.flags.json {
				a.printJSON(struct {
					Pages int `json:"pages"`
				}{len(pages)})
				return nil
			}
			_, err = fmt.Fprintf(a.Stdout, "%d manual pages in %s\n", len(pages), clean(args[0]))
			return err
		},
	}
}
