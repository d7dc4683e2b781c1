package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/evidence"
	"cutroom/internal/setup"
	"cutroom/internal/tool"
)

func (a *App) edlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "edl", Short: "Carry captions, chapters and evidence across an edit", GroupID: groupResults, Args: a.unknownCommand,
		RunE: a.help,
	}
	cmd.AddCommand(a.remapCommand())
	return cmd
}

// remapping is one `cutroom edl remap`.
type remapping struct {
	source int
	back   bool
	output string
}

func (a *App) remapCommand() *cobra.Command {
	var m remapping
	cmd := &cobra.Command{
		Use: "remap RUN|MAP FILE", Short: "Carry the times of a file from a recording to an edit of it, or back", Args: exactly("RUN|MAP", "FILE"),
		Long: "Carry the times of a file from a recording to an edit of it. RUN is the result of a tool that cut something, MAP a JSON file with its edit map. " +
			"FILE holds captions (SRT, WebVTT), a cut list, a list of chapters, or a JSON document of timed entries such as timeline.json; what it says stays as it is. " +
			"What was cut out goes, what shows in several places is repeated, and a caption over a cut stays one.",
		Example: "  cutroom edl remap 1f3a5c7e9b2d4f60 talk.srt -o talk_tight.srt\n  cutroom edl remap map.json chapters.txt\n  cutroom edl remap map.json edited.srt --back",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.remap(cmd.Context(), args[0], args[1], m)
		},
	}
	cmd.Flags().StringVarP(&m.output, "output", "o", "", "new file to write; without it, standard output")
	cmd.Flags().IntVar(&m.source, "source", 0, "which source of the edit the times are of, counted from 0")
	cmd.Flags().BoolVar(&m.back, "back", false, "from the edit to the source")
	return cmd
}

func (a *App) remap(ctx context.Context, run, file string, m remapping) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	if m.output != "" {
		if err := a.free(ctx, m.output); err != nil {
			return err
		}
	}
	var edit *edl.Map
	if isRun(run) {
		r, err := i.Stage.Find(ctx, run)
		if err == nil {
			err = i.Engine.MayRecall(ctx, a.principal(), r)
		}
		if err != nil {
			return err
		}
		edit, err = mapIn(r.Manifest.Output)
		if err != nil {
			return err
		}
	} else if edit, err = a.mapFile(i, run); err != nil {
		return err
	}
	if m.source < 0 || m.source >= len(edit.Sources) {
		return usagef("--source: the edit has %d sources, counted from 0", len(edit.Sources))
	}
	raw, err := a.readInput(i, file, tool.MaxInput)
	if err != nil {
		return err
	}
	move, from, to := edit.Forward(m.source), edit.Sources[m.source].Seconds, edit.Seconds
	if m.back {
		move, from, to = edit.Back(m.source), to, from
	}
	text, moved, err := edl.Carry(evidence.DecodeText(raw), move, from, to)
	if err != nil {
		return err
	}
	return a.remapped(ctx, text, moved, m)
}

// remapped writes what was carried.
func (a *App) remapped(ctx context.Context, text string, moved edl.Moved, m remapping) error {
	if m.output != "" {
		if err := a.createNew(ctx, m.output, 0o644, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}); err != nil {
			return err
		}
	}
	said := fmt.Sprintf("%d entries carried, %d were cut out, %d show in several places", moved.Kept, moved.Dropped, moved.Split)
	switch {
	case a.flags.json:
		doc := struct {
			Output  string `json:"output,omitempty"`
			Text    string `json:"text,omitempty"`
			Kept    int    `json:"kept"`
			Dropped int    `json:"dropped"`
			Split   int    `json:"split"`
		}{Output: m.output, Kept: moved.Kept, Dropped: moved.Dropped, Split: moved.Split}
		if m.output == "" {
			doc.Text = text
		}
		a.printJSON(doc)
		return nil
	case m.output != "":
		_, err := fmt.Fprintf(a.Stdout, "wrote  %s: %s\n", clean(m.output), said)
		return err
	}
	a.remark("%s", said)
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}

// isRun reports whether a word is the id of a result rather than a file's name.
func isRun(s string) bool {
	return len(s) >= 16 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func (a *App) mapFile(i *setup.Installation, name string) (*edl.Map, error) {
	raw, err := a.readInput(i, name, tool.MaxInput)
	if err != nil {
		return nil, err
	}
	return mapIn(raw)
}

// mapIn finds the edit map in a tool's answer, or reads it as it is.
func mapIn(doc []byte) (*edl.Map, error) {
	var answer struct {
		EditMap *edl.Map `json:"edit_map"`
	}
	m := &edl.Map{}
	if json.Unmarshal(doc, &answer) == nil && answer.EditMap != nil {
		m = answer.EditMap
	} else if err := json.Unmarshal(doc, m); err != nil || len(m.Segments) == 0 {
		return nil, cutroom.Errorf(cutroom.Invalid, "there is no edit map in it").
			WithHint("name the result of a tool that cut something, or a JSON file with its edit_map")
	}
	if err := m.Check(); err != nil {
		return nil, cutroom.AsError(err).WithHint("take the edit_map as the tool answered it")
	}
	return m, nil
}
