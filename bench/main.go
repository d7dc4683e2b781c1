// Command bench measures cutroom beside the plain programs that do only the needed
// work, and writes bench/results.
//
// Every figure is a ratio or a difference of two things measured in turn in one run,
// by the median, with processor time beside wall time: it can be compared with
// another machine's. It asserts nothing. It must never be needed by a test.
//
//	go run ./bench [-quick] [-long] [-only NAME[,NAME]] [-runs N]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cutroom/internal/speech"
)

func main() {
	if filepath.Base(os.Args[0]) == "speech" { // as the sandbox names its child
		os.Exit(speech.Child(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == partFlag {
		os.Exit(part(os.Args[2], os.Args[3:]))
	}
	var o options
	flag.BoolVar(&o.quick, "quick", false, "three runs of each, and none of long files")
	flag.BoolVar(&o.long, "long", false, "memory on a file of two hours, not twenty minutes")
	flag.IntVar(&o.runs, "runs", 5, "how often each side runs")
	only := flag.String("only", "", "names of the rows to measure, separated by commas")
	flag.Parse()
	if o.quick {
		o.runs = min(o.runs, 3)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	quick, long bool
	runs        int
	only        []string
}

// row is a group of figures that are made together.
type row struct {
	name  string
	slow  bool // left out by -quick
	times func(context.Context, *lab) ([]figure, error)
}

var rows = []row{
	{"start", false, startUp},
	{"sandbox", false, sandboxed},
	{"probe", false, probing},
	{"reuse", false, reusing},
	{"hash", false, hashing},
	{"frames", false, takingFrames},
	{"sheet", false, drawingSheet},
	{"signals", false, measuring},
	{"cut", true, cutting},
	{"sync", false, syncing},
	{"loudness", false, levelling},
	{"render", false, rendering},
	{"project", false, projecting},
	{"batch", true, batching},
	{"speech", false, hearing},
	{"memory", true, holding},
	{"gateway", false, passing},
	{"growth", false, growing},
}

func bench(ctx context.Context, o options) error {
	for _, name := range o.only {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			return fmt.Errorf("no row is called %q", name)
		}
	}
	l, err := openLab(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	report := newReport(l, time.Now())
	for _, r := range rows {
		if len(o.only) > 0 && !slices.Contains(o.only, r.name) || o.quick && r.slow {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", r.name)
		figures, err := r.times(ctx, l)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		for i := range figures {
			figures[i].Row = r.name
			fmt.Fprintf(os.Stderr, "bench:   %s\n", figures[i].line())
		}
		report.Figures = append(report.Figures, figures...)
	}
	return report.write(filepath.Join(l.root, "bench", "results"), len(o.only) > 0)
}
