package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
	"cutroom/internal/timeline"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// stepper notes the steps that run.
type stepper struct {
	engine.Runner
	mu    sync.Mutex
	steps []string
	coded int // runs that encode sound
}

func (r *stepper) Run(ctx context.Context, c argv.Command, g sandbox.Grant) (argv.Result, error) {
	r.mu.Lock()
	r.steps = append(r.steps, c.Step)
	if slices.Contains(c.Args, argv.Atom(argv.Word("aac"))) {
		r.coded++
	}
	r.mu.Unlock()
	return r.Runner.Run(ctx, c, g)
}

// since returns the steps of one sort that ran, and forgets them all.
func (r *stepper) since(prefixes ...string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.steps {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) }) {
			n++
		}
	}
	r.steps = nil
	return n
}

// shots makes five clips of 2 s, each of its own colour with a tone; the third has no
// sound, the fourth another size and rate, and the fifth is silent in its middle.
func (w *workspace) shots() {
	w.t.Helper()
	for i, color := range []string{"0x802020", "0x208020", "0x202080", "0x808020", "0x802080"} {
		size, rate := "160x90", "25"
		if i == 3 {
			size, rate = "200x120", "30"
		}
		args := []string{"-f", "lavfi", "-i", fmt.Sprintf("color=%s:s=%s:r=%s:d=2,noise=alls=6:allf=t", color, size, rate)}
		tone := fmt.Sprintf("0.2*sin(2*PI*%d*t)", 300+100*i)
		if i == 4 {
			tone += `*(1-between(t\,0.5\,1.5))`
		}
		if i != 2 {
			args = append(args, "-f", "lavfi", "-i", "aevalsrc='"+tone+"':s=48000:d=2", "-c:a", "aac")
		}
		args = append(args, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", filepath.Join(w.dir, fmt.Sprintf("c%d.mp4", i+1)))
		testenv.FFmpeg(w.t, args...)
	}
	testenv.FFmpeg(w.t, "-f", "lavfi", "-i", "color=white:s=32x32", "-frames:v", "1", filepath.Join(w.dir, "mark.png"))
	w.tone("song.wav", "0.3*sin(2*PI*200*t)", "3")
}

const wholeEdit = `
clips:
  - {src: c1.mp4}
  - {src: c2.mp4, in: 0.4}
  - {src: c3.mp4, speed: 1.25}
  - {src: c4.mp4, transition: {type: wipeleft, duration: 0.2}}
  - {src: c5.mp4, transition: {type: none}}
transition: {type: fade, duration: 0.4}
silence: {min_silence: 0.4, margin: 0.1}
captions:
  cues: [{start: 0.3, end: 1.6, text: "%s"}]
graphics:
  - {template: lower-third, name: "Zoë 100%%", title: Editor, start: 1, duration: 1.5}
  - {template: progress}
overlays:
  - {image: mark.png, position: top-left, margin: 4, scale: 12, start: 0.5, end: 6, fade: 0.2}
audio: {music: song.wav, music_loop: true, duck: true, fade_out: 0.3}
loudness: {lufs: -18, tp: -2}
fit: {aspect: "1:1", fit: crop}
export: {codec: h264, crf: 20}
chapters: [{at: 0, title: One}, {at: 3, title: "100%% it's: {ok}"}]
check: {platform: x}
`

// Show 2: a whole project costs one encode; all that was planned is measured on the file;
// another caption measures nothing again.
func TestRenderIsOneEncode(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	r := &stepper{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	w.shots()
	put(t, filepath.Join(w.dir, "edit.yaml"), fmt.Sprintf(wholeEdit, "100%% it's: {ok} 字"))
	out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "edit.yaml"})
	if n := r.since("encode"); n != 1 || out.Encodes != 1 {
		t.Errorf("the picture was encoded %d times", n)
	}
	if r.coded != 1 {
		t.Errorf("the sound was encoded %d times", r.coded)
	}
	w.proved(out.Verified)
	seen := map[string]bool{}
	for _, v := range out.Verified {
		seen[v.Check+" "+v.Stream] = true
	}
	for _, row := range []string{"captions_visible captions", "drawn_visible graphic 1", "drawn_visible graphic 2", "drawn_visible overlay 1", "rest_unchanged video"} {
		if !seen[row] {
			t.Errorf("not measured: %s", row)
		}
	}
	if diff := cmp.Diff([]string{"clips", "join", "silence", "fit", "captions", "graphics", "overlays", "audio", "loudness", "export"}, sorted(out.Stages)); diff != "" {
		t.Error(diff)
	}
	if out.File == nil || *out.File != "edit_render.mp4" {
		t.Fatalf("written to %v", out.File)
	}
	// 2 + 1.6 + 1.6 + 2 + (2 − 0.8 of silence) less 0.4, 0.4 and 0.2 of transitions
	if want := 7.4; math.Abs(out.EditMap.Seconds.Seconds()-want) > 0.05 || math.Abs(out.Removed.Seconds()-0.8) > 0.05 {
		t.Errorf("it lasts %s s, want %g; %s s of silence went", out.EditMap.Seconds, want, out.Removed)
	}
	if l := out.Loudness; l == nil || l.Integrated == nil || math.Abs(*l.Integrated+18) > 0.6 || *l.TruePeak > -1.9 {
		t.Errorf("loudness %+v", out.Loudness)
	}
	if v := out.Probe.FirstVideo().Video; v.DisplayWidth != 90 || v.DisplayHeight != 90 || len(out.Probe.Chapters) != 2 || out.Probe.Chapters[1].Title != "100% it's: {ok}" {
		t.Errorf("%d×%d, chapters %v", v.DisplayWidth, v.DisplayHeight, out.Probe.Chapters)
	}
	if out.Caption == nil || out.Caption.Burned != 1 || len(out.Checks) == 0 {
		t.Errorf("caption %+v, %d checks", out.Caption, len(out.Checks))
	}
	corner := testenv.Run(t, w.dir, "ffmpeg", "-v", "error", "-ss", "3", "-i", "file:edit_render.mp4", "-frames:v", "1", "-vf", "crop=8:8:6:6,scale=1:1:flags=area,format=gray", "-f", "rawvideo", "-")
	if len(corner) != 1 || corner[0] < 220 {
		t.Errorf("the overlay is not there: %v", corner)
	}
	again := strings.Replace(fmt.Sprintf(wholeEdit, "Other words"), "clips:", "output: other.mp4\nclips:", 1)
	put(t, filepath.Join(w.dir, "edit2.yaml"), again)
	r.since()
	next := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "edit2.yaml"})
	if n := r.since("loudness", "silence", "times"); n != 0 {
		t.Errorf("%d measuring runs for other captions", n)
	}
	if *next.File != "other.mp4" || next.Passes != out.Passes || next.EditMap.Seconds != out.EditMap.Seconds {
		t.Errorf("%s, %d passes then %d", *next.File, out.Passes, next.Passes)
	}
	// the same call again is answered from its record
	must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "edit2.yaml"})
	if n := r.since("encode", "loudness", "silence"); n != 0 {
		t.Errorf("%d runs for the same call", n)
	}
}

// What cannot be seen of an edit is found, whether its frames keep their own uneven times
// or are brought to one rate; what hides captions is said.
func TestRenderIsLookedAt(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", `color=0x808080:s=160x90:r=50:d=2,select='not(mod(n\,3))+lt(t\,0.5)'`, "-fps_mode", "vfr", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, "vfr.mp4"))
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=black:s=160x90", "-frames:v", "1", filepath.Join(w.dir, "lid.png"))
	const project = "clips: [{src: vfr.mp4}%s]\noutput: %s\ncaptions: {outline: 0, color: \"%s\", cues: [{start: 0.1, end: 0.18, text: Hi}, {start: 1.2, end: 1.5, text: there}]}\n%s"
	for i, c := range []struct {
		clip, color, more, note string
		ok                      bool
	}{
		{"", "FFFFFF", "", "", true},
		{", {src: vfr.mp4, in: 1}", "FFFFFF", "", "", true},
		{"", "808080", "", "differs at least", false},
		{", {src: vfr.mp4, in: 1}", "808080", "", "differs at least", false},
		{"", "FFFFFF", "overlays: [{image: lid.png, position: \"0,0\", start: 1.15}]", "overlay 1 stands on 1 captions", true},
		{"", "FFFFFF", "overlays: [{image: lid.png, position: \"0,0\"}]", "overlay 1 stands on all of them", false},
	} {
		in := edit.RenderInput{Text: fmt.Sprintf(project, c.clip, fmt.Sprintf("out%d.mp4", i), c.color, c.more)}
		if !c.ok {
			if e := w.fails("edit.render", in, cutroom.Verification); !strings.Contains(e.Msg, "captions_visible of captions") || !strings.Contains(e.Msg, c.note) {
				t.Errorf("%d: %v", i, e)
			}
			continue
		}
		out := must[edit.RenderOutput](w, "edit.render", in)
		w.proved(out.Verified)
		if got := strings.Join(out.Notes, "; "); c.note != "" && !strings.Contains(got, c.note) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

func sorted(stages []string) []string {
	order := []string{"clips", "join", "silence", "fit", "captions", "graphics", "overlays", "audio", "loudness", "export"}
	out := slices.Clone(stages)
	slices.SortFunc(out, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return out
}

// A project is held to what it says: what is wrong in it is named, all at once, and
// nothing outside of its folder is read.
func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=1:s=160x90:r=25", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "a.mp4"))
	if err := os.Mkdir(filepath.Join(w.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"clips: [{scr: a.mp4}]": `did you mean "src"`,
		"clips: []":             "has no clips",
		"clips: [{src: a.mp4, in: 5}, {src: a.mp4, in: 0.5, out: 0.2}]":                      "clip 2 (a.mp4): out",
		"clips: [{src: a.mp4}]\nfit: {aspect: '1:1'}\nexport: {preset: tiktok}":              "one encode",
		"clips: [{src: a.mp4}]\naudio: {duck: true}":                                         "audio: duck is given without music",
		"clips: [{src: a.mp4}]\ncaptions: {cues: [{start: 5, end: 6, text: x}]}":             "no cue is visible",
		"clips: [{src: a.mp4}, {src: a.mp4, transition: {duration: 2}}]":                     "too short for transitions",
		"clips: [{src: a.mp4}]\ncaptions: {cues: [{start: 0, end: 1, text: x}], srt: a.srt}": "",
		"clips: [{src: nothing.mp4}, {src: neither.mp4}]":                                    "2 inputs cannot be used",
		"clips: [{src: a.mp4}]\noverlays: [{logo: true}]":                                    "names none",
		"clips: [{src: a.mp4}]\ngraphics: [{template: title}]":                               "graphic 1: ",
		"clips: [{src: a.mp4}]\noverlays: [{text: a}, {text: b, start: 5}]":                  "overlay 2: ",
		"clips: [{src: a.mp4}]\nexport: {preset: tikok}":                                     "tikok",
		"clips: [{src: a.mp4}]\nchapters: [{at: '00:00:00:10', title: x}]":                   "timecode",
	} {
		_, err := w.call("edit.render", edit.RenderInput{Text: text, Writing: to("x.mp4")})
		if err == nil || want != "one encode" && !strings.Contains(err.Error(), want) || want == "one encode" && !strings.Contains(err.Error(), "an edit that is encoded once has one") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, path := range []string{"/etc/passwd", "../../a.mp4", "../../../etc/passwd"} {
		put(t, filepath.Join(w.dir, "sub", "p.yaml"), "clips: [{src: '"+path+"'}]")
		w.fails("edit.render", edit.RenderInput{Project: "sub/p.yaml"}, cutroom.Denied)
	}
	put(t, filepath.Join(w.dir, "sub", "p.yaml"), "clips: [{src: ../a.mp4}]\noutput: ../../x.mp4")
	w.fails("edit.render", edit.RenderInput{Project: "sub/p.yaml"}, cutroom.Denied)
	put(t, filepath.Join(w.dir, "sub", "p.yaml"), "clips: [{src: ../a.mp4}]")
	if out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "sub/p.yaml"}); *out.File != "sub/p_render.mp4" || out.EditMap.Seconds != cutroom.Second {
		t.Errorf("%+v", out.Made)
	}
}

// Captions of a source follow it through the edit.
func TestRenderCaptionsFollowTheirSource(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.blank("talk.mp4", 320, 180, 6)
	put(t, filepath.Join(w.dir, "talk.srt"), "1\n00:00:00,500 --> 00:00:01,500\ngone\n\n2\n00:00:04,200 --> 00:00:05,400\nstays\n")
	out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Text: "clips: [{src: talk.mp4, in: 2, out: 3}, {src: talk.mp4, in: 4, out: 5}]\ncaptions: {srt: talk.srt, of: talk.mp4, size: 60}", Writing: to("t.mp4")})
	if out.Caption.Dropped != 1 || out.Caption.Burned != 1 {
		t.Errorf("%+v", out.Caption)
	}
	if got := w.reads("t.mp4", "1.6", "eng"); !strings.Contains(got, "stays") {
		t.Errorf("at 1.6 s it reads %q", got)
	}
}

// A timeline of an editing program is rendered, written again, and is still the same.
func TestTimelinesOfEditingPrograms(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.stairs("stairs.mp4")
	cut := &timeline.Timeline{
		Name: "cut", Rate: ffmpeg.Rational{Num: 25, Den: 1}, Width: 160, Height: 90, Sources: []timeline.Source{{Path: "stairs.mp4", Length: 50, Video: true, Audio: true}},
		Clips: []timeline.Clip{{In: 10, Length: 10}, {In: 30, Length: 12}, {In: 0, Length: 10, Lead: 5}},
		Marks: []timeline.Mark{{At: 10, Title: "Two", Chapter: true}},
	}
	for _, f := range []timeline.Format{timeline.FCPXML, timeline.EDL, timeline.OTIO} {
		text, _, err := timeline.Write(f, cut)
		if err != nil {
			t.Fatal(err)
		}
		name := "cut." + string(f)
		put(t, filepath.Join(w.dir, name), string(text))
		again := cutroom.OutPath("again." + string(f))
		out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: cutroom.InPath(name), ExportTimeline: again, Writing: to("cut_" + string(f) + ".mp4")})
		if got, want := w.steps(*out.File), "10..19 30..41 -1x5 0..9"; got != want {
			t.Errorf("%s shows %s, want %s", f, got, want)
		}
		if len(out.NotCarried) > 0 {
			t.Errorf("%s: not carried %v", f, out.NotCarried)
		}
		made, err := os.ReadFile(filepath.Join(w.dir, string(again)))
		if err != nil {
			t.Fatal(err)
		}
		got, lost, err := timeline.Read(f, made, ffmpeg.Rational{})
		if err != nil || len(lost) > 0 {
			t.Fatal(err, lost)
		}
		got.Name = cut.Name
		if diff := cmp.Diff(cut, got); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
}

func TestRenderTemplatesAndSchema(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	if out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{ListTemplates: true}); len(out.Templates) != 9 || out.File != nil {
		t.Errorf("%+v", out)
	}
	if out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Schema: true}); !strings.Contains(out.Schema, `"title": "A cutroom project"`) {
		t.Errorf("%s", out.Schema)
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=2:s=320x180:r=25", "-f", "lavfi", "-i", "aevalsrc='0.1*sin(2*PI*300*t)':s=48000:d=2", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "talk.mp4"))
	out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "talk.mp4", Template: "podcast"})
	if *out.File != "talk_render.m4a" || out.Failed() || math.Abs(*out.Loudness.Integrated+16) > 1 {
		t.Errorf("%s, %v", *out.File, out.Checks)
	}
	if out.Probe.FirstVideo() != nil {
		t.Error("a podcast with a picture")
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=32x32", "-frames:v", "1", filepath.Join(w.dir, "mark.png"))
	if e := w.fails("edit.render", edit.RenderInput{Project: "talk.mp4", Template: "podcast", Logo: "mark.png", Writing: to("no.m4a")}, cutroom.Invalid); !strings.Contains(e.Msg, "no place for a logo") {
		t.Error(e)
	}
	full := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "talk.mp4", Template: "x", Logo: "mark.png", Title: "100% it's: {ok}", WriteProject: "x.json"})
	w.proved(full.Verified)
	var seen []string
	for _, v := range full.Verified {
		if v.Check == "drawn_visible" {
			seen = append(seen, v.Stream)
		}
	}
	written, err := os.ReadFile(filepath.Join(w.dir, "x.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"graphic 1", "overlay 1"}, seen); diff != "" || !strings.Contains(string(written), "100% it's: {ok}") {
		t.Errorf("%s%s", diff, written)
	}
}

// A dry run of a render shows every run that would be, and starts none but ffprobe.
func TestRenderDryRun(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.shots()
	r := &recorder{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	put(t, filepath.Join(w.dir, "edit.yaml"), fmt.Sprintf(wholeEdit, "x"))
	raw, err := tool.Encode(edit.RenderInput{Project: "edit.yaml", ExportTimeline: "edit.otio"})
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, w.dir)
	reply, err := w.Engine.Invoke(t.Context(), engine.Call{Tool: "edit.render", Input: raw, Principal: cutroom.Operator, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(r.runs, func(p string) bool { return p != "ffprobe" }) {
		t.Errorf("it started %q", r.runs)
	}
	commands := strings.Join(reply.Plan.Commands, "\n")
	for _, want := range []string{"<measured>", "c5.mp4", "song.wav", "libx264"} {
		if !strings.Contains(commands, want) {
			t.Errorf("the commands do not show %s:\n%s", want, commands)
		}
	}
	if len(reply.Plan.Sources) != 8 { // the project, five clips, the music, the mark
		t.Errorf("%d sources: %v", len(reply.Plan.Sources), reply.Plan.Sources)
	}
	if diff := cmp.Diff(before, tree(t, w.dir)); diff != "" {
		t.Error(diff)
	}
}

// Clips that ask for it begin and end on beats, and what is beneath min_confidence is
// refused.
func TestRenderSnapsToBeats(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=8:s=160x90:r=50", "-f", "lavfi", "-i", `aevalsrc='if(lt(mod(t\,0.5)\,0.03)\,0.8*sin(2*PI*1000*t)\,0)':s=48000:d=8`,
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "beat.mp4"))
	out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Text: "clips: [{src: beat.mp4, in: 1.06, out: 3.43, snap: true}, {src: beat.mp4, in: 5.06, out: 6}]", Writing: to("s.mp4")})
	s := out.EditMap.Segments
	if len(s) != 2 || math.Abs(s[0].SourceStart.Seconds()-1) > 0.03 || math.Abs(s[0].SourceEnd.Seconds()-3.5) > 0.03 || math.Abs(s[1].SourceStart.Seconds()-5.06) > 0.02 {
		t.Errorf("%+v", s)
	}
	w.blank("even.mp4", 160, 90, 4)
	if e := w.fails("edit.render", edit.RenderInput{Text: "clips: [{src: even.mp4, in: 1, out: 3, snap: true}]", Writing: to("e.mp4")}, cutroom.Precondition); !strings.Contains(e.Msg, "not sure enough") {
		t.Error(e)
	}
}
