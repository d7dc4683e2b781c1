package edit

import (
	"context"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Batch does one thing with many files.
var Batch = tool.Add(Family, tool.Spec[BatchInput, BatchOutput]{
	Name:        "edit.batch",
	Summary:     "Run a recipe of tools, or a project, over all files of a folder",
	Description: "Do the same with many recordings: a recipe (YAML or JSON) of steps by tool name, or a project in which a clip's src is $INPUT, over a folder or a pattern in one. Every file that cannot be read and every two that would be written to one name are named before any work. Each result is recorded as the steps' own calls are: a batch that was stopped goes on where it was, and one that is run again only looks. With watch it waits for further files.",
	Kind:        cutroom.Execute,
	Exact:       tool.Cached,
	Revision:    1,
	Short:       "batch",
	Timeout:     24 * time.Hour,
	Calls:       []string{"edit.*", "measure.*", "review.check"},
	CheckWith:   []string{"measure.probe", "review.check"},
	Examples: []BatchInput{
		{Folder: "shoot", Recipe: "social.yaml"},
		{Folder: "shoot/*.mov", Text: "steps: [{tool: edit.export, with: {preset: tiktok}}]", Jobs: 2},
	},
	Compose: batch,
})

// BatchInput is the request.
type BatchInput struct {
	Folder cutroom.InPath `json:"folder" open:"-" doc:"The folder, or a pattern in one, such as shoot/*.mov. Hidden files are left alone, and links are not followed."`
	Recipe cutroom.InPath `json:"recipe,omitempty" cli:"flag" probe:"-" doc:"The recipe. One of recipe and text is needed."`
	Text   string         `json:"text,omitempty" max:"200000" doc:"The recipe itself, in place of a file. Its paths are the workspace's."`
	Out    cutroom.InPath `json:"out,omitempty" cli:"flag" open:"-" doc:"Folder of the results; without it, done in the folder itself. It is made when it is not there."`

	Jobs      int            `json:"jobs,omitempty" min:"1" max:"8" default:"1" doc:"How many files are worked on side by side. An encode uses all processors by itself."`
	OnBad     string         `json:"on_bad,omitempty" enum:"fail,skip" default:"fail" doc:"What files that cannot be read do: all are named and nothing is done, or they are left out."`
	Watch     cutroom.Micros `json:"watch,omitempty" min:"0.2" max:"3600" unit:"s" doc:"Look for further files this often, until the call is stopped or idle. A file is taken when two looks found it alike."`
	Idle      cutroom.Micros `json:"idle,omitempty" min:"0.2" max:"86400" unit:"s" doc:"Stop watching when nothing came for so long. Needs watch."`
	Recursive bool           `json:"recursive,omitempty" doc:"Take the folders below, too; results lie in folders of the same names."`
	Tidy      bool           `json:"tidy,omitempty" rare:"true" doc:"Remove what lies between two steps (.work) once a file is done. A further run puts it there again, from the record."`
	Overwrite bool           `json:"overwrite,omitempty" key:"-" doc:"Replace results that are not this batch's own."`
	DryRun    bool           `json:"dry_run,omitempty" key:"-" cli:"-" doc:"Answer which tools it may call; nothing runs and nothing is written."`
}

// Intent is what the call says about writing: the files are the steps' own.
func (in BatchInput) Intent() tool.Writing { return tool.Writing{DryRun: in.DryRun} }

// Validate refuses what contradicts itself.
func (in BatchInput) Validate() error {
	switch {
	case (in.Recipe == "") == (in.Text == ""):
		return cutroom.Errorf(cutroom.Invalid, "one of recipe and text is needed").WithHint("name a recipe's file, or give it as text")
	case in.Idle > 0 && in.Watch == 0:
		return cutroom.Errorf(cutroom.Invalid, "idle is given without watch").WithHint("add watch, or leave idle out")
	}
	return nil
}

// BatchOutput is the answer.
type BatchOutput struct {
	tool.Made
	Total    int         `json:"total" min:"0" doc:"How many files there were."`
	Done     int         `json:"processed" min:"0" doc:"How many are finished, those that were before among them."`
	Reused   int         `json:"cached" min:"0" doc:"How many of them had been finished before: nothing was run."`
	Failures int         `json:"failed" min:"0" doc:"How many failed."`
	Bad      []BatchBad  `json:"bad" doc:"Files that cannot be read, when they were left out; with watch, as the last look found them."`
	Jobs     int         `json:"jobs" min:"1" doc:"How many were worked on side by side."`
	Results  []BatchItem `json:"results" doc:"Each file, in order of its name."`
}

// BatchBad is a file that cannot be read.
type BatchBad struct {
	File  string `json:"file" doc:"The file."`
	Error string `json:"error" doc:"Why."`
}

// BatchItem is what became of one file.
type BatchItem struct {
	File    string         `json:"file" doc:"The file."`
	Output  string         `json:"output,omitempty" doc:"What was written."`
	OK      bool           `json:"ok" doc:"All steps went well."`
	Cached  bool           `json:"cached" doc:"All of them had been done before."`
	Seconds cutroom.Micros `json:"seconds" unit:"s" doc:"How long it took."`
	Step    int            `json:"step,omitempty" doc:"The step that failed, counted from 1."`
	Code    string         `json:"code,omitempty" doc:"Code of the error."`
	Error   string         `json:"error,omitempty" doc:"What went wrong."`
}

// Transient: the files of a folder change, so that a batch is never answered from a
// record of its own; its steps are.
func (o *BatchOutput) Transient() bool { return true }

// Failed says that some file failed.
func (o *BatchOutput) Failed() bool { return o.Failures > 0 }

// Brief says how it went.
func (o *BatchOutput) Brief() []string {
	lines := []string{fmt.Sprintf("files     %d of %d done, %d of them before, %d failed", o.Done, o.Total, o.Reused, o.Failures)}
	for _, b := range o.Bad {
		lines = append(lines, fmt.Sprintf("left out  %s: %s", b.File, b.Error))
	}
	for _, i := range o.Results {
		if !i.OK {
			lines = append(lines, fmt.Sprintf("failed    %s, step %d: %s", i.File, i.Step, i.Error))
		}
	}
	return lines
}

func batch(ctx context.Context, env tool.Env, in BatchInput) (BatchOutput, error) {
	b := &batching{env: env, in: in, seen: map[string]look{}, bad: map[string]BatchBad{}, last: env.Now(), out: BatchOutput{Jobs: max(1, in.Jobs), Bad: []BatchBad{}, Results: []BatchItem{}}}
	if err := b.open(); err != nil {
		return b.out, err
	}
	err := b.round(ctx)
	for err == nil && in.Watch > 0 && b.wait(ctx) {
		err = b.round(ctx)
	}
	b.close()
	b.out.Made.Probe = nil
	return b.out, err
}
