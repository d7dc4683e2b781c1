package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/setup"
	"cutroom/internal/stage"
)

func (a *App) keepCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keep RUN", Short: "Mark a result as reviewed by you", GroupID: groupResults, Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.personOnly(cmd.Context(), "marking a result as reviewed"); err != nil {
				return err
			}
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			r, err := i.Stage.Review(cmd.Context(), args[0], a.principal())
			if err != nil {
				return err
			}
			if a.flags.json {
				a.printJSON(struct {
					RunID    cutroom.Digest `json:"run_id"`
					Folder   string         `json:"folder"`
					Reviewed time.Time      `json:"reviewed"`
				}{r.Name().Invocation, r.Folder(), r.Reviewed})
				return nil
			}
			fmt.Fprintf(a.Stdout, "reviewed  %s\n", clean(r.Folder()))
			return nil
		},
	}
}

func (a *App) pruneCommand() *cobra.Command {
	var olderThan, unreviewed string
	var opt stage.PruneOptions
	cmd := &cobra.Command{
		Use: "prune", Short: "Delete old results, leftovers and what does not verify", GroupID: groupResults, Args: noArgs,
		Long: "Without a flag nothing is deleted. Results that nobody reviewed stay unless --unreviewed delete says otherwise; what does not verify is set aside, never deleted.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if opt.OlderThan, err = age(olderThan); err != nil {
				return err
			}
			switch unreviewed {
			case "keep":
			case "delete":
				opt.Unreviewed = true
			default:
				return usagef("--unreviewed: %q is not keep or delete", short(unreviewed))
			}
			if deletes := (opt.OlderThan > 0 || opt.Pending) && !opt.DryRun; deletes {
				if err := a.personOnly(cmd.Context(), "deleting results"); err != nil {
					return err
				}
			}
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			rep, err := i.Stage.Prune(cmd.Context(), opt)
			if err != nil {
				return err
			}
			return a.showPruned(rep, opt.DryRun)
		},
	}
	f := cmd.Flags()
	f.StringVar(&olderThan, "older-than", "", "delete reviewed results older than this, such as 30d or 12h")
	f.StringVar(&unreviewed, "unreviewed", "keep", "keep or delete results that nobody reviewed")
	f.BoolVar(&opt.Invalid, "invalid", false, "set aside results that do not verify")
	f.BoolVar(&opt.Pending, "pending", false, "delete leftovers of crashes")
	f.BoolVar(&opt.DryRun, "dry-run", false, "only say what would happen")
	return cmd
}

// age reads a length of time with days and weeks.
func age(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, ok := strings.CutSuffix(text, suffix)
		if n, err := strconv.ParseFloat(number, 64); ok && err == nil && n > 0 && n < 1e4 {
			return time.Duration(n * float64(unit)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, usagef("--older-than: %q is not an age", short(text)).withHint("give days or hours, such as 30d or 12h")
}

// pruned is the JSON form of a stage's report.
type pruned struct {
	DryRun    bool     `json:"dry_run"`
	Pruned    []string `json:"pruned"`
	Kept      int      `json:"kept"`
	Busy      []string `json:"busy"`
	Invalid   []string `json:"invalid"`
	Rejected  []string `json:"rejected"`
	Leftovers []string `json:"leftovers"`
	Bytes     int64    `json:"bytes"`
}

func (a *App) showPruned(r stage.Report, dry bool) error {
	if a.flags.json {
		a.printJSON(pruned{dry, some(r.Pruned), r.Kept, some(r.Busy), some(r.Invalid), some(r.Rejected), some(r.Leftovers), r.Bytes})
		return nil
	}
	did, set := "deleted", "set aside"
	if dry {
		did, set = "would delete", "would set aside"
	}
	for _, group := range []struct {
		word  string
		paths []string
	}{{did, r.Pruned}, {did, r.Leftovers}, {set, r.Rejected}, {"does not verify, left alone (--invalid sets it aside)", r.Invalid}, {"in use, left alone", r.Busy}} {
		for _, p := range group.paths {
			fmt.Fprintf(a.Stdout, "%s  %s\n", group.word, clean(p))
		}
	}
	fmt.Fprintf(a.Stdout, "%d results kept, %d bytes freed\n", r.Kept, r.Bytes)
	return nil
}

// some is a list that JSON writes as [] when it is empty.
func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// records are those of the workspace that the caller may read.
func (a *App) records(ctx context.Context, i *setup.Installation) *records {
	who := a.principal()
	return &records{Stage: i.Stage, may: func(r *stage.Result) error { return i.Engine.MayRecall(ctx, who, r) }}
}

func (a *App) provenanceCommand() *cobra.Command {
	var form graphForm
	cmd := &cobra.Command{
		Use: "provenance FILE", Short: "Say how a file came to be, back to its sources", GroupID: groupResults, Args: exactly("FILE"),
		Long:    "Say how a file came to be: the recorded results that made exactly its content, what they were made from, and so on back to the recordings.\n\nWith --graph only who made what from what: as a tree, for Graphviz (--graph=dot), or with --json as nodes and edges.",
		Example: "  cutroom provenance cut.mp4\n  cutroom provenance cut.mp4 --graph\n  cutroom provenance cut.mp4 --graph=dot | dot -Tsvg",
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			f, err := a.openInput(i, args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			digest, id, err := i.Identity.Digest(cmd.Context(), f)
			if err != nil {
				return err
			}
			doc, err := trace(cmd.Context(), a.records(cmd.Context(), i), args[0], digest, id.Size)
			if err != nil {
				return err
			}
			switch {
			case a.flags.json && form != "":
				a.printJSON(doc.graph())
			case a.flags.json:
				a.printJSON(doc)
			case form == "dot":
				return doc.graph().dot(a.Stdout)
			case form != "":
				return doc.graph().tree(a.Stdout)
			default:
				return doc.write(a.Stdout)
			}
			return nil
		},
	}
	cmd.Flags().Var(&form, "graph", "only who made what from what: tree, or dot for Graphviz")
	cmd.Flags().Lookup("graph").NoOptDefVal = "tree"
	return cmd
}
