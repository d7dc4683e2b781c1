package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/project"
	"cutroom/internal/tool"
	"cutroom/internal/verdict"
)

// Render makes a whole edit out of a project file.
var Render = tool.Add(Family, tool.Spec[RenderInput, RenderOutput]{
	Name:        "edit.render",
	Summary:     "Render a project file: clips, captions, graphics, music, loudness, export, in one encode",
	Description: "Make a whole edit out of a project (YAML or JSON), a template for a platform, or a timeline of an editing program (FCPXML, CMX 3600, OpenTimelineIO): clips with their transitions, dead air taken out, captions, graphics, overlays, music with ducking, loudness, fit, export, chapters and the platform's checks cost one encode of the picture. What has to be measured first is measured once for the same content: a project whose captions alone changed is rendered without measuring again. Paths in a project are relative to it and stay inside the workspace. Ask with schema for the project's JSON Schema, with list_templates for the templates.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "render",
	Exclusive:   [][]string{{"project", "text"}, {"template", "text"}, {"srt", "cues"}},
	OneOf:       [][]string{{"project", "text", "list_templates", "schema"}},
	Timeout:     6 * time.Hour,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Fonts: true, Optional: []tool.Optional{
		{Filter: "xfade", When: "transitions between videos"},
		{Filter: "acrossfade", When: "transitions with sound"},
		{Filter: "ass", When: "captions, graphics, text over the picture"},
		{Filter: "overlay", When: "overlays of pictures and videos"},
		{Filter: "chromakey", When: "overlays with chromakey"},
		{Filter: "sidechaincompress", When: "audio.duck"},
		{Filter: "afftdn", When: "audio.denoise, audio.voice medium and strong"},
		{Filter: "boxblur", When: "fit blur"},
		{Filter: "minterpolate", When: "fit.smooth"},
		{Filter: "zscale", When: "high dynamic range for a platform that shows standard range only"},
		{Filter: "tonemap", When: "high dynamic range for a platform that shows standard range only"},
	}},
	CheckWith: []string{"measure.probe", "review.check", "review.look"},
	Examples: []RenderInput{
		{Project: "edit.yaml"},
		{Project: "talk.mp4", Template: "tiktok", SRT: "talk.srt"},
		{Project: "cut.fcpxml", ExportTimeline: "cut.otio"},
	},
	Expand:    expandRender,
	Plan:      planRender,
	Interpret: answerRender,
})

// RenderInput is the request.
type RenderInput struct {
	Project  cutroom.InPath `json:"project,omitempty" probe:"-" doc:"The project file (.yaml, .json) or a timeline (.fcpxml, .edl, .otio); with template, the recording. One of project and text is needed."`
	Text     string         `json:"text,omitempty" max:"400000" doc:"The project itself, YAML or JSON, in place of a file. Its paths are the workspace's."`
	Template string         `json:"template,omitempty" max:"40" doc:"Make the project of a recording by a template: tiktok, reels, shorts, youtube, x, linkedin, facebook, podcast or audiogram."`

	SRT      cutroom.InPath `json:"srt,omitempty" cli:"flag" probe:"-" doc:"Captions for a template."`
	Cues     cutroom.InPath `json:"cues,omitempty" cli:"flag" probe:"-" doc:"Cue file for a template, in place of srt."`
	Chapters cutroom.InPath `json:"chapters,omitempty" cli:"flag" probe:"-" doc:"List of chapters for a template."`
	Music    cutroom.InPath `json:"music,omitempty" cli:"flag" doc:"Music for a template, ducked under the speech."`
	Brand    cutroom.InPath `json:"brand,omitempty" cli:"flag" probe:"-" doc:"Brand file for a template."`
	Logo     cutroom.InPath `json:"logo,omitempty" cli:"flag" doc:"Picture that a template lays on."`
	Title    string         `json:"title,omitempty" max:"200" doc:"Title that a template shows at the beginning; an audiogram's stays."`
	Image    cutroom.InPath `json:"image,omitempty" cli:"flag" rare:"true" doc:"Ground of the template audiogram."`
	Fit      string         `json:"fit,omitempty" enum:"pad,crop,blur" rare:"true" doc:"How the picture gets into a template's frame, in place of what the template says."`

	FPS            float64         `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" rare:"true" doc:"Frame rate of a timeline that states none: a CMX 3600 list."`
	StopAfter      string          `json:"stop_after,omitempty" enum:"clips,join,silence,fit,captions,graphics,overlays,audio,loudness,export" doc:"Leave out what comes after this part of the edit."`
	WriteProject   cutroom.OutPath `json:"write_project,omitempty" doc:"Write the project as it was understood to a JSON file, too."`
	ExportTimeline cutroom.OutPath `json:"export_timeline,omitempty" doc:"Write the cut for an editing program, too: .fcpxml (1.10), .edl (CMX 3600) or .otio. What it cannot carry is listed."`
	ListTemplates  bool            `json:"list_templates,omitempty" doc:"Answer the templates; nothing is read or written."`
	Schema         bool            `json:"schema,omitempty" doc:"Answer the JSON Schema of project files; nothing is read or written."`
	tool.Writing

	// Edit is the project once it was read. Callers give it as a file or as text; what it
	// says is part of the call's identity by these.
	Edit project.Project `json:"-"`
	// BrandLogo is the brand's logo, where an overlay shows it.
	BrandLogo cutroom.InPath `json:"-"`
	// NotCarried is what of a timeline a project has no place for.
	NotCarried []string `json:"-"`
}

func (in RenderInput) asks() bool { return in.ListTemplates || in.Schema }

// Validate refuses what contradicts itself.
func (in RenderInput) Validate() error {
	switch {
	case in.asks():
		return nil
	case in.Project == "" && in.Text == "" && len(in.Edit.Clips) == 0:
		return cutroom.Errorf(cutroom.Invalid, "no project is given").WithHint("name a project file, or give the project as text; schema describes it")
	case in.Project != "" && in.Text != "":
		return cutroom.Errorf(cutroom.Invalid, "project and text are given at once").WithHint("leave one of them out")
	case in.Template != "" && in.Text != "":
		return cutroom.Errorf(cutroom.Invalid, "template takes a recording, and text is a project").WithHint("name the template in the project, as its template")
	case in.Template == "" && (firstPath(in.SRT, in.Cues, in.Chapters, in.Music, in.Brand, in.Logo, in.Image) != "" || in.Title != "" || in.Fit != ""):
		return cutroom.Errorf(cutroom.Invalid, "srt, cues, chapters, music, brand, logo, title, image and fit fill in a template, and none is named").WithHint("add template, or write them into the project")
	}
	return nil
}

// RenderOutput is the answer.
type RenderOutput struct {
	tool.Made
	Stages     []string         `json:"stages" doc:"The parts of the project that were rendered, in their order."`
	Encodes    int              `json:"encodes" min:"0" doc:"How often the picture was encoded: once, unless a lossy codec overshot the true peak."`
	Passes     int              `json:"measuring_passes" min:"0" doc:"How often the sound was measured before, counting what was known already."`
	Removed    cutroom.Micros   `json:"silence_removed,omitempty" unit:"s" doc:"How much dead air was taken out."`
	Caption    *CaptionReport   `json:"caption,omitempty" doc:"What was done to the cues."`
	Emoji      *EmojiReport     `json:"emoji,omitempty" doc:"What became of emoji, when there are any."`
	Loudness   *ffmpeg.Loudness `json:"loudness,omitempty" doc:"How loud the written file is, where that was asked for."`
	Checks     []verdict.Row    `json:"checks,omitempty" doc:"The platform's rules, measured on the written file."`
	NotCarried []string         `json:"not_carried,omitempty" doc:"What of the timeline that was read has no place in a project."`
	NotWritten []string         `json:"not_exported,omitempty" doc:"What of the project the timeline that was written cannot carry."`
	Templates  []RenderTemplate `json:"templates,omitempty" doc:"The templates, when list_templates was asked for."`
	Schema     string           `json:"schema,omitempty" doc:"The JSON Schema of project files, when schema was asked for."`
}

// RenderTemplate is one template of the list.
type RenderTemplate struct {
	Name    string   `json:"name" doc:"What template takes."`
	Aliases []string `json:"aliases" doc:"Further names."`
	Title   string   `json:"title" doc:"What it makes."`
}

// Failed says that the file is not what the platform of check asks for.
func (o *RenderOutput) Failed() bool {
	failed, _ := verdict.Count(o.Checks)
	return failed > 0
}

// Brief says what was rendered, or what was asked for.
func (o *RenderOutput) Brief() []string {
	var lines []string
	for _, t := range o.Templates {
		lines = append(lines, fmt.Sprintf("%-10s %s", t.Name, t.Title))
	}
	if o.Schema != "" {
		lines = append(lines, o.Schema)
	}
	for _, r := range o.Checks {
		if r.Status != verdict.Pass {
			lines = append(lines, r.String())
		}
	}
	for _, s := range o.NotCarried {
		lines = append(lines, "not carried   "+s)
	}
	for _, s := range o.NotWritten {
		lines = append(lines, "not exported  "+s)
	}
	return lines
}

func planRender(f tool.Facts, in RenderInput) (tool.Plan, error) {
	if in.asks() {
		return tool.Plan{State: &rendering{}}, nil
	}
	r := &rendering{f: f, in: in, p: in.Edit.Until(in.StopAfter)}
	r.out.NotCarried = in.NotCarried
	if err := r.resolve(); err != nil {
		return tool.Plan{}, err
	}
	return r.plan()
}

func answerRender(_ tool.Facts, in RenderInput, res tool.Results) (RenderOutput, error) {
	r := res.State().(*rendering)
	if in.Schema {
		r.out.Schema = string(project.Schema())
		return r.out, nil
	}
	if in.ListTemplates {
		for _, t := range project.Templates() {
			r.out.Templates = append(r.out.Templates, RenderTemplate{t.Name, append([]string{}, t.Aliases...), t.Title})
		}
		return r.out, nil
	}
	return r.answer(res)
}
