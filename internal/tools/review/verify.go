package review

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// Verify runs the tools on the caller's own files.
var Verify = tool.Add(Family, tool.Spec[VerifyInput, VerifyOutput]{
	Name:        "review.verify",
	Summary:     "Run the tools on your own files and say which steps work",
	Description: "Find out whether this installation does its work on recordings like yours: each file is probed, measured, cut, fitted, captioned, exported and shown, and every result is proved as always. The answer is a table of steps with their times; with output it is written as Markdown, too. What the steps write is removed again unless keep is given. Its steps really run: there is no dry run.",
	Kind:        cutroom.Execute,
	Exact:       tool.EnvironmentDependent,
	Actual:      true,
	Revision:    1,
	Short:       "verify",
	Timeout:     12 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	Calls: []string{
		"measure.probe", "measure.signals", "measure.loudness", "measure.silence", "review.look",
		"edit.cut", "edit.fit", "edit.caption", "edit.overlay", "edit.export", "edit.audio",
	},
	Examples: []VerifyInput{{Inputs: []cutroom.InPath{"talk.mp4"}, Quick: true, Seconds: 2 * cutroom.Second}},
	Compose:  verify,
})

// VerifyInput is the request.
type VerifyInput struct {
	Inputs    []cutroom.InPath `json:"inputs" items:"1..100" doc:"The files."`
	Out       cutroom.InPath   `json:"out,omitempty" cli:"flag" open:"-" default:"verified" doc:"Folder for what the steps write; it is made when it is not there."`
	Keep      bool             `json:"keep,omitempty" doc:"Leave there what the steps wrote, to be looked at. Without it, it is removed, and the folder, too, when nothing else is in it."`
	Quick     bool             `json:"quick,omitempty" doc:"Only probe, cut, fit, caption and export."`
	Seconds   cutroom.Micros   `json:"seconds,omitempty" min:"0.5" max:"600" default:"6" unit:"s" doc:"How much of each file the steps that encode take, from its beginning."`
	Output    cutroom.OutPath  `json:"output,omitempty" doc:"File to write the table to, as Markdown."`
	Overwrite bool             `json:"overwrite,omitempty" key:"-" doc:"Replace the output, and what an earlier run of the steps wrote."`
}

// Intent is what the call says about writing.
func (in VerifyInput) Intent() tool.Writing {
	return tool.Writing{Output: in.Output, Overwrite: in.Overwrite}
}

// VerifyOutput is the answer.
type VerifyOutput struct {
	tool.Made
	Files    []VerifiedFile `json:"files" doc:"Each file with its steps."`
	Failures int            `json:"failed" min:"0" doc:"How many steps failed."`
	Total    int            `json:"total" min:"0" doc:"How many steps there were."`
	kept     bool           // a table was written: the call has a record
}

// VerifiedFile is one file.
type VerifiedFile struct {
	File  string       `json:"file" doc:"The file."`
	What  string       `json:"what" doc:"What it is, in words."`
	Steps []VerifyStep `json:"steps" doc:"The steps, in order."`
}

// VerifyStep is one step.
type VerifyStep struct {
	Step    string         `json:"step" doc:"What was tried."`
	Tool    string         `json:"tool" doc:"The tool."`
	OK      bool           `json:"ok" doc:"It did what it promises, as measured."`
	Seconds cutroom.Micros `json:"seconds" unit:"s" doc:"How long it took."`
	Code    string         `json:"code,omitempty" doc:"Code of the error."`
	Error   string         `json:"error,omitempty" doc:"What went wrong."`
}

// Transient: how long steps take, and whether they work, is not answered from a record,
// but where a table was written, which the record holds.
func (o *VerifyOutput) Transient() bool { return !o.kept }

// Failed says that some step failed.
func (o *VerifyOutput) Failed() bool { return o.Failures > 0 }

// Brief is the table in lines.
func (o *VerifyOutput) Brief() []string {
	lines := []string{fmt.Sprintf("steps     %d of %d work", o.Total-o.Failures, o.Total)}
	for _, f := range o.Files {
		for _, s := range f.Steps {
			lines = append(lines, fmt.Sprintf("%-9s %s: %s, %s s %s", word(s.OK), f.File, s.Step, s.Seconds, s.Error))
		}
	}
	return lines
}

func word(ok bool) string {
	if ok {
		return "PASS"
	}
	return "FAIL"
}

// trial is one step as it is called.
type trial struct {
	step, tool string
	with       string // JSON of what is asked besides input and output
	writes     string // suffix of what it writes; "" for nothing
	list       bool   // its input is a list
}

// trials are the steps that fit a file, for the quick look or all.
func trials(d *ffmpeg.Document, quick bool, length cutroom.Micros) []trial {
	part := min(length, d.DurationSeconds)
	from := part / 4
	v := d.FirstVideo()
	moving, sound := v != nil && !v.Video.StillImage, len(d.AudioStreams()) > 0
	span := fmt.Sprintf(`"start":"%s","end":"%s"`, from, part)
	all := []trial{{"probe", "measure.probe", `{}`, "", true}}
	if moving || sound {
		all = append(all, trial{"cut, what can be copied is", "edit.cut", `{` + span + `}`, ".mkv", false}, trial{"cut, encoded", "edit.cut", `{` + span + `,"mode":"accurate"}`, ".mkv", false})
	}
	if moving {
		all = append(all, trial{"fit 9:16", "edit.fit", `{"aspect":"9:16"}`, ".mp4", false},
			trial{"captions", "edit.caption", `{"cues":[{"start":"0","end":"` + part.String() + `","text":"100% it's: {ok}"}]}`, ".mp4", false})
	}
	if moving && sound {
		all = append(all, trial{"export for x", "edit.export", `{"preset":"x"}`, ".mp4", false})
	}
	if quick {
		return all
	}
	if moving {
		all = append(all, trial{"text over the picture", "edit.overlay", `{"text":"Draft"}`, ".mp4", false}, trial{"contact sheet", "review.look", `{}`, "", false})
	}
	if moving || sound {
		all = append(all, trial{"all measurements", "measure.signals", `{}`, "", false})
	}
	if sound {
		all = append(all, trial{"loudness", "measure.loudness", `{}`, "", false}, trial{"silence", "measure.silence", `{}`, "", false})
		if d.AudioStreams()[0].Audio.Channels > 2 {
			all = append(all, trial{"surround to stereo", "edit.audio", `{"downmix":true}`, ".mkv", false})
		}
	}
	return all
}

func verify(ctx context.Context, env tool.Env, in VerifyInput) (VerifyOutput, error) {
	out := VerifyOutput{Files: []VerifiedFile{}}
	v := &verifying{env: env, in: in}
	for n, f := range env.Facts().Inputs {
		if err := env.MakeFolder(ctx, in.Out); err != nil {
			return out, err
		}
		file := VerifiedFile{File: f.Text, What: describes(f), Steps: []VerifyStep{}}
		v.source, v.stem = f.Text, fmt.Sprintf("%d_%s", n+1, strings.TrimSuffix(f.Name, path.Ext(f.Name)))
		if err := v.shorten(ctx, f.Media); err != nil {
			file.Steps = append(file.Steps, failed("the part that the steps take", "edit.cut", err))
		}
		for i, t := range trials(f.Media, in.Quick, in.Seconds) {
			if err := ctx.Err(); err != nil {
				v.remove(context.WithoutCancel(ctx))
				return out, err
			}
			env.Progress(cutroom.Progress{Stage: f.Text + ": " + t.step, Done: int64(n), Total: int64(len(in.Inputs)), Unit: "files"})
			file.Steps = append(file.Steps, v.try(ctx, i, t))
		}
		out.Notes = append(out.Notes, v.remove(ctx)...)
		for _, s := range file.Steps {
			out.Total++
			if !s.OK {
				out.Failures++
			}
		}
		out.Files = append(out.Files, file)
	}
	if in.Output == "" {
		return out, nil
	}
	out.kept = true
	const name = "verify.md"
	if _, err := env.Put(name, "text/markdown; charset=utf-8", out.markdown(), nil); err != nil {
		return out, err
	}
	_, err := env.Deliver(name, "text/markdown; charset=utf-8", "output")
	return out, err
}

// verifying is the state over the files.
type verifying struct {
	env          tool.Env
	in           VerifyInput
	source, stem string
	wrote        []tool.Reply // of the steps that wrote a file
}

// remove takes back what the steps of a file wrote, and says what has to stay.
func (v *verifying) remove(ctx context.Context) (notes []string) {
	if v.in.Keep {
		return nil
	}
	for _, r := range v.wrote {
		if err := v.env.Withdraw(ctx, r); err != nil {
			notes = append(notes, "left of the steps: "+cutroom.AsError(err).Msg)
		}
	}
	v.wrote = nil
	_ = v.env.DropFolder(ctx, v.in.Out) // an empty folder does no harm
	return notes
}

// shorten makes the steps take the beginning of a long file alone.
func (v *verifying) shorten(ctx context.Context, d *ffmpeg.Document) error {
	if d.DurationSeconds <= v.in.Seconds || len(d.AudioStreams()) == 0 && (d.FirstVideo() == nil || d.FirstVideo().Video.StillImage) {
		return nil
	}
	part := v.named("part", ".mkv")
	if err := v.call(ctx, trial{"", "edit.cut", fmt.Sprintf(`{"start":"0","end":"%s"}`, v.in.Seconds), ".mkv", false}, part); err != nil {
		return err
	}
	v.source = part
	return nil
}

func (v *verifying) named(what, suffix string) string {
	return path.Join(string(v.in.Out), v.stem+"_"+what+suffix)
}

func (v *verifying) try(ctx context.Context, i int, t trial) VerifyStep {
	from := v.env.Now()
	s := VerifyStep{Step: t.step, Tool: t.tool, OK: true}
	if err := v.call(ctx, t, v.named(fmt.Sprintf("%d_%s", i+1, strings.ReplaceAll(t.tool, ".", "_")), t.writes)); err != nil {
		s = failed(t.step, t.tool, err)
	}
	s.Seconds = cutroom.Micros(v.env.Now().Sub(from).Microseconds())
	return s
}

func failed(step, id string, err error) VerifyStep {
	e := cutroom.AsError(err)
	return VerifyStep{Step: step, Tool: id, Code: string(e.Code), Error: e.Msg}
}

func (v *verifying) call(ctx context.Context, t trial, output string) error {
	var with map[string]json.RawMessage
	if err := json.Unmarshal([]byte(t.with), &with); err != nil {
		return fmt.Errorf("step %s: %w", t.step, err)
	}
	text := func(s string) json.RawMessage {
		raw, _ := json.Marshal(s) // a text always encodes
		return raw
	}
	if with["input"] = text(v.source); t.list {
		delete(with, "input")
		with["inputs"] = json.RawMessage("[" + string(text(v.source)) + "]")
	}
	if t.writes != "" {
		with["output"] = text(output)
		if v.in.Overwrite {
			with["overwrite"] = json.RawMessage("true")
		}
	}
	raw, err := json.Marshal(with)
	if err != nil {
		return fmt.Errorf("step %s: %w", t.step, err)
	}
	r, err := v.env.Call(ctx, t.tool, json.RawMessage(raw))
	if err == nil && t.writes != "" {
		v.wrote = append(v.wrote, r)
	}
	return err
}

// describes says what a file is.
func describes(f tool.Input) string {
	var words []string
	for _, fact := range sideOf("", f).Facts {
		words = append(words, fact[1])
	}
	return strings.Join(words, ", ")
}

// markdown is the table as a page.
func (o *VerifyOutput) markdown() []byte {
	var b strings.Builder
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace
	fmt.Fprintf(&b, "# Do the tools work on these files?\n\n%d of %d steps work.\n", o.Total-o.Failures, o.Total)
	for _, f := range o.Files {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| step | tool | | seconds | |\n|---|---|---|---|---|\n", cell(f.File), cell(f.What))
		for _, s := range f.Steps {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(s.Step), cell(s.Tool), word(s.OK), s.Seconds, cell(s.Error))
		}
	}
	return []byte(b.String())
}
