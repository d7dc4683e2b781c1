package review

import (
	"context"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
	"cutroom/internal/verdict"
)

// Report writes a page about a file that is handed over.
var Report = tool.Add(Family, tool.Spec[ReportInput, ReportOutput]{
	Name:        "review.report",
	Summary:     "Write one HTML page about a finished file, with before and after",
	Description: "Write a report that can be handed over with a file: one HTML page that holds all it shows and opens without a network. Contact sheets before and after, what both files are, the rows of review.check, the sound with its loudness, what was measured when the file was made, where it comes from, commands and notes. Everything from files is shown as text, never as markup. Light and dark follow the reader's own setting.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "report",
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe"}},
	Calls:       []string{"review.look", "review.check"},
	Examples:    []ReportInput{{Input: "talk_reels.mp4", Before: "talk.mp4", Platform: "reels"}, {Input: "talk.mp4", Title: "Delivery 3", Notes: "Cut as agreed."}},
	Names: func(in ReportInput) ReportInput {
		if in.Output == "" {
			in.Output = tool.NameAfter(in.Input, "report", ".html")
		}
		return in
	},
	Compose: report,
})

// ReportInput is the request.
type ReportInput struct {
	Input    cutroom.InPath `json:"input" doc:"The finished file: a video, or sound alone."`
	Before   cutroom.InPath `json:"before,omitempty" cli:"flag" doc:"What it was made from, shown beside it."`
	Edit     cutroom.Ref    `json:"edit,omitzero" cli:"flag" doc:"The run that made the file: its commands and what it verified are shown."`
	Platform string         `json:"platform,omitempty" max:"40" doc:"Where it goes, as review.check takes it."`
	Title    string         `json:"title,omitempty" max:"200" doc:"Heading of the page; without it, the file's name."`
	Notes    string         `json:"notes,omitempty" max:"20000" doc:"Words of your own, shown as they are."`
	Commands []string       `json:"commands,omitempty" items:"..200" max:"4000" doc:"Commands to show besides those of edit."`
	NoSheets bool           `json:"no_sheets,omitempty" doc:"Leave the contact sheets out."`
	tool.Writing
	Limits measure.Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses an unknown platform and another kind of file.
func (in ReportInput) Validate() error {
	if in.Output != "" && !hasSuffix(string(in.Output), ".html", ".htm") {
		return cutroom.Errorf(cutroom.Invalid, "a report is written as .html").WithHint("give output the suffix .html")
	}
	_, err := CheckInput{Platform: in.Platform}.target()
	return err
}

// Bounds are the limits of the call.
func (in ReportInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// ReportOutput is the answer.
type ReportOutput struct {
	tool.Made
	Ready    bool                `json:"ready" doc:"No row of the check failed."`
	Failures int                 `json:"failed" min:"0" doc:"How many rows failed."`
	Warnings int                 `json:"warnings" min:"0" doc:"How many rows warn."`
	Checks   []verdict.Row       `json:"checks" doc:"The rows."`
	Page     cutroom.ArtifactRef `json:"page" doc:"The page."`
}

// Brief says what the page says first.
func (o *ReportOutput) Brief() []string {
	word := "ready"
	if !o.Ready {
		word = fmt.Sprintf("%d rows fail", o.Failures)
	}
	return []string{fmt.Sprintf("check     %s, %d warn", word, o.Warnings)}
}

const (
	reportFile = "report.html"
	mostSheet  = 16 << 20
)

func report(ctx context.Context, env tool.Env, in ReportInput) (ReportOutput, error) {
	out := ReportOutput{}
	r, err := env.Call(ctx, "review.check", CheckInput{Input: in.Input, Platform: in.Platform, Content: true, Limits: in.Limits})
	if err != nil {
		return out, err
	}
	c := r.Output.(*CheckOutput)
	out.Ready, out.Failures, out.Warnings, out.Checks = c.OK, c.Failures, c.Warnings, c.Checks
	p := page{Title: in.Title, Notes: in.Notes, Commands: in.Commands, Check: c, Version: cutroom.Version}
	names := []cutroom.InPath{in.Before, in.Input}
	inputs := env.Facts().Inputs
	for i, what := range []string{"Before", "After"} {
		for _, f := range inputs {
			if names[i] == "" || f.Text != string(names[i]) || len(p.Files) > i {
				continue
			}
			side := sideOf(what, f)
			if side.Sheet, err = sheet(ctx, env, in, names[i], f); err != nil {
				return out, err
			}
			p.Files = append(p.Files, side)
			break
		}
	}
	if p.Title == "" {
		p.Title = baseName(string(in.Input))
	}
	if p.Sound, err = strip(ctx, env, in); err != nil {
		return out, err
	}
	if err := p.edit(ctx, env, in.Edit); err != nil {
		return out, err
	}
	text, err := p.html()
	if err != nil {
		return out, err
	}
	if _, err = env.Put(reportFile, "text/html; charset=utf-8", text, nil); err != nil {
		return out, err
	}
	out.Page, err = env.Deliver(reportFile, "text/html; charset=utf-8", "output")
	return out, err
}

// sheet is the contact sheet of one file, nil for one without moving pictures.
func sheet(ctx context.Context, env tool.Env, in ReportInput, name cutroom.InPath, f tool.Input) ([]byte, error) {
	if in.NoSheets || f.Media.FirstVideo() == nil {
		return nil, nil
	}
	return look(ctx, env, LookInput{Input: name, Tiles: "4x3", Width: 1280, Limits: in.Limits})
}

// strip is the sound of the finished file with its loudness, nil for one without sound.
func strip(ctx context.Context, env tool.Env, in ReportInput) ([]byte, error) {
	for _, f := range env.Facts().Inputs {
		if f.Text == string(in.Input) && len(f.Media.AudioStreams()) > 0 {
			return look(ctx, env, LookInput{Input: in.Input, Tiles: "4x3", Width: 1280, Waveform: true, Limits: in.Limits})
		}
	}
	return nil, nil
}

func look(ctx context.Context, env tool.Env, in LookInput) ([]byte, error) {
	r, err := env.Call(ctx, "review.look", in)
	if err != nil {
		return nil, err
	}
	pictures := r.Output.(*LookOutput).Pictures
	if len(pictures) == 0 {
		return nil, nil
	}
	return env.ReadArtifact(ctx, pictures[0].Picture, mostSheet)
}
