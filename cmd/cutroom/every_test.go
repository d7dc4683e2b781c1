package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
	"cutroom/internal/docgen"
	"cutroom/internal/engine"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
)

// recorder notes which programs a call starts.
type recorder struct {
	engine.Runner
	mu   sync.Mutex
	runs []string
}

func (r *recorder) Run(ctx context.Context, c argv.Command, g sandbox.Grant) (argv.Result, error) {
	r.mu.Lock()
	r.runs = append(r.runs, c.Program)
	r.mu.Unlock()
	return r.Runner.Run(ctx, c, g)
}

// works are the tools that measure, edit and review.
func works(w *workspace) []*tool.Tool {
	var list []*tool.Tool
	for _, t := range w.Engine.Registry.Tools() {
		if f := t.Family().Name; f == "edit" || f == "review" || f == "measure" {
			list = append(list, t)
		}
	}
	return list
}

// heard is what every file sounds like: noise with gaps, the same in all, so that
// recordings can be aligned.
const heard = "anoisesrc=d=%d:a=0.3:r=48000:seed=7,volume='if(lt(mod(t,2),1),1,0.0001)':eval=frame"

// How many seconds the files of the examples last: brief is enough for the first example
// of each tool, lasting for all that any example says.
const (
	brief   = 9
	lasting = 90
)

// furnish puts a fitting file at every path that an example names.
func furnish(w *workspace, v reflect.Value, seconds int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			furnish(w, v.Elem(), seconds)
		}
	case reflect.Slice:
		for i := range v.Len() {
			furnish(w, v.Index(i), seconds)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				furnish(w, v.Field(i), seconds)
			}
		}
	}
	p, ok := v.Interface().(cutroom.InPath)
	if !ok || p == "" {
		return
	}
	path := filepath.Join(w.dir, string(p))
	if _, err := os.Stat(path); err == nil {
		return
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".srt":
		put(w.t, path, "1\n00:00:00,500 --> 00:00:01,500\nHello there\n")
	case ".vtt":
		put(w.t, path, "WEBVTT\n\n00:00.500 --> 00:01.500\nHello there\n")
	case ".txt":
		put(w.t, path, "0.5-1.5 Hello there\n")
	case ".json":
		put(w.t, path, `{"segments":[{"start":0,"end":2,"text":"um hello","words":[{"start":0.2,"end":0.5,"word":"um"},{"start":0.6,"end":1.5,"word":"hello"}]}]}`)
	case ".png", ".jpg":
		testenv.FFmpeg(w.t, "-f", "lavfi", "-i", "testsrc2=d=1:s=320x180:r=1", "-frames:v", "1", "-update", "1", path)
	case "":
		if err := os.Mkdir(path, 0o700); err != nil {
			w.t.Fatal(err)
		}
		furnish(w, reflect.ValueOf(p+"/talk.mp4"), seconds)
		furnish(w, reflect.ValueOf(p+"/more.mov"), seconds)
	case ".yaml":
		switch p {
		case "social.yaml":
			put(w.t, path, "steps: [{tool: edit.fit, with: {aspect: '1:1', fit: crop}}]\n")
			return
		case "brand.yaml":
			furnish(w, reflect.ValueOf(cutroom.InPath("logo.png")), seconds)
			put(w.t, path, "name: Example\ncolors: {primary: '#ff6600'}\nlogo: {file: logo.png}\n")
			return
		}
		furnish(w, reflect.ValueOf(cutroom.InPath("talk.mp4")), seconds)
		put(w.t, path, "clips: [{src: talk.mp4, out: 2}, {src: talk.mp4, in: 4, out: 6}]\ntransition: {duration: 0.4}\n")
	case ".fcpxml":
		furnish(w, reflect.ValueOf(cutroom.InPath("talk.mp4")), seconds)
		put(w.t, path, `<fcpxml version="1.10"><resources><format id="r1" frameDuration="1/10s" width="320" height="180"/><asset id="r2" src="./talk.mp4" duration="10s" hasVideo="1" hasAudio="1"/></resources>`+
			`<project><sequence format="r1"><spine><asset-clip ref="r2" start="1s" duration="2s"/><asset-clip ref="r2" start="5s" duration="1s"/></spine></sequence></project></fcpxml>`)
	case ".cube":
		put(w.t, path, "LUT_3D_SIZE 2\n0 0 0\n1 .1 0\n0 .9 0\n1 1 0\n0 0 1\n1 0 1\n0 1 .8\n1 1 1\n")
	case ".mp3", ".wav", ".m4a", ".flac":
		testenv.FFmpeg(w.t, "-f", "lavfi", "-i", fmt.Sprintf(heard, seconds*2/3), path)
	default:
		if one := filepath.Join(w.dir, "talk.mp4"); seconds == lasting && !testenv.Soak() && ext == ".mp4" && slices.Equal(pictured(string(p)), pictured("")) {
			if data, err := os.ReadFile(one); err == nil { // nothing runs on it: any recording will do
				put(w.t, path, string(data))
				return
			}
		}
		args := []string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=d=%d:s=320x180:r=10", seconds), "-f", "lavfi", "-i", fmt.Sprintf(heard, seconds), "-c:a", "aac"}
		testenv.FFmpeg(w.t, append(append(args, pictured(string(p))...), path)...)
	}
}

// pictured are the options that make of a picture what a file of that name is taken for.
func pictured(name string) []string {
	h264 := []string{"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"}
	switch name {
	case "phone.mov": // high dynamic range
		return []string{"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le", "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc"}
	case "tape.mov": // of fields
		return append(h264, "-vf", "tinterlace=mode=interleave_top,setfield=tff", "-flags", "+ilme+ildct", "-x264-params", "tff=1")
	case "walk.mp4": // shaken
		return append(h264, "-vf", "trim=end_frame=1,loop=loop=39:size=1:start=0,setpts=N/10/TB,crop=280:156:20+14*sin(n*1.9):12+9*cos(n*2.3),scale=320:180")
	case "screen.mp4": // with text
		return append(h264, "-vf", "drawbox=x=0:y=60:w=320:h=60:color=black:t=fill,drawtext=fontfile=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:text='mail@example.com':fontsize=26:fontcolor=white:x=20:y=78")
	}
	return h264
}

// some are the first of a table's rows; `make soak` takes them all.
func some[T any](n int, rows []T) []T {
	if testenv.Soak() {
		return rows
	}
	return rows[:n]
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists the files of a workspace with their sums, the stage apart.
func tree(t testing.TB, dir string) map[string][32]byte {
	t.Helper()
	files := map[string][32]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".cutroom" {
				return fs.SkipDir
			}
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		files[p] = sha256.Sum256(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestDryRunsStartNothing: whatever a tool does, its dry run starts no ffmpeg and makes
// no file; only ffprobe may look at the inputs.
func TestDryRunsStartNothing(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	contract := docgen.Contract(w.Engine.Registry, docgen.ContractOptions{}, nil)
	r := &recorder{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	for _, tl := range works(w) {
		for _, example := range tl.Examples {
			if tl.Actual {
				raw, err := tool.Encode(example)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.Engine.Invoke(t.Context(), engine.Call{Tool: tl.Name, Input: raw, Principal: cutroom.Operator, DryRun: true}); err == nil || !strings.Contains(err.Error(), "no dry run") {
					t.Errorf("%s: its dry run answers %v", tl.Name, err)
				}
				continue
			}
			furnish(w, reflect.ValueOf(example), lasting)
			before := tree(t, w.dir)
			raw, err := tool.Encode(example)
			if err != nil {
				t.Fatal(err)
			}
			r.runs = nil
			reply, err := w.Engine.Invoke(t.Context(), engine.Call{Tool: tl.Name, Input: raw, Principal: cutroom.Operator, DryRun: true})
			if err != nil {
				t.Errorf("%s %s: %v", tl.Name, raw, err)
				continue
			}
			promised(t, contract, tl.Name, reply.JSON)
			if slices.ContainsFunc(r.runs, func(p string) bool { return p != "ffprobe" }) {
				t.Errorf("%s %s: its dry run started %q", tl.Name, raw, r.runs)
			}
			if tl.Body() == tool.BodyPlan && tl.Name != "measure.probe" && len(reply.Plan.Commands) == 0 {
				t.Errorf("%s %s: its dry run shows no command", tl.Name, raw)
			}
			if after := tree(t, w.dir); !reflect.DeepEqual(before, after) {
				t.Errorf("%s %s: its dry run made files", tl.Name, raw)
			}
		}
	}
}

// promised checks the answer of a dry run against what the contract says of the tool.
func promised(t *testing.T, contract *docgen.Document, id string, answer []byte) {
	t.Helper()
	i := slices.IndexFunc(contract.Tools, func(e docgen.ToolEntry) bool { return e.ToolID == id })
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(contract.Tools[i].OutputSchema, s); err != nil {
		t.Fatal(err)
	}
	s.Defs = contract.Defs
	whole, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	var plan map[string]any
	if err := json.Unmarshal(answer, &plan); err != nil {
		t.Fatal(err)
	}
	if err := whole.Validate(plan); err != nil || plan["dry_run"] != true || plan["commands"] == nil || plan["probe"] != nil {
		t.Errorf("%s: its dry run answers what its contract does not: %v\n%.600s", id, err, answer)
	}
	delete(plan, "commands")
	if whole.Validate(plan) == nil {
		t.Errorf("%s: its contract takes anything for a plan", id)
	}
}

// TestExamplesWorkAndLeaveInputsAlone: every example runs, its output is there and
// proved, and no input's bytes changed.
func TestExamplesWorkAndLeaveInputsAlone(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	length := brief
	if testenv.Soak() {
		length = lasting
	}
	for _, tl := range works(w) {
		for i, example := range tl.Examples {
			if i > 0 && !testenv.Soak() {
				break
			}
			furnish(w, reflect.ValueOf(example), length)
			before := tree(t, w.dir)
			raw, err := tool.Encode(example)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := w.Engine.Invoke(t.Context(), engine.Call{Tool: tl.Name, Input: raw, Principal: cutroom.Operator})
			if err != nil {
				t.Errorf("%s %s: %v (%v)", tl.Name, raw, err, cutroom.AsError(err).Err)
				continue
			}
			w.conforms(tl.Name, reply.JSON)
			after := tree(t, w.dir)
			for name, sum := range before {
				if after[name] != sum {
					t.Errorf("%s %s changed %s", tl.Name, raw, name)
				}
			}
			checkMade(t, tl, reply, len(after)-len(before))
			for name := range after {
				if _, was := before[name]; !was {
					_ = os.Remove(filepath.Join(w.dir, name))
				}
			}
		}
	}
}

// checkMade checks what a tool that writes says of what it wrote.
func checkMade(t *testing.T, tl *tool.Tool, reply *engine.Reply, files int) {
	t.Helper()
	maker, ok := reply.Output.(tool.Maker)
	if !ok {
		return
	}
	made := maker.AsMade()
	if made.File == nil {
		return
	}
	if files == 0 {
		t.Errorf("%s says it wrote %s, and nothing is there", tl.Name, *made.File)
	}
	for _, v := range made.Verified {
		if !v.OK {
			t.Errorf("%s published what failed: %+v", tl.Name, v)
		}
	}
	if tl.Family().Name == "edit" && (len(made.Verified) == 0 || made.Probe == nil || len(made.Commands) == 0) {
		t.Errorf("%s wrote %s without proof: %s", tl.Name, *made.File, reply.JSON)
	}
}

// TestOutputsAreNeverInputs: no spelling and no link gets an input overwritten.
func TestOutputsAreNeverInputs(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, tl := range works(w) {
		example := tl.Examples[0]
		furnish(w, reflect.ValueOf(example), brief)
		v := reflect.New(reflect.TypeOf(example)).Elem()
		v.Set(reflect.ValueOf(example))
		out := v.FieldByName("Output")
		in := firstInput(v)
		if slices.Contains([]string{"review.look", "review.report"}, tl.Name) { // they write pictures or pages only, and say so first
			continue
		}
		if !out.IsValid() || out.Type() != reflect.TypeFor[cutroom.OutPath]() || in == "" {
			continue
		}
		links(t, w.dir, in)
		for _, name := range []string{in, "./" + in, "sub/../" + in, "hard-" + in, "soft-" + in, filepath.Join(w.dir, in)} {
			out.SetString(name)
			if f := v.FieldByName("Overwrite"); f.IsValid() {
				f.SetBool(true)
			}
			raw, err := tool.Encode(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Engine.Invoke(t.Context(), engine.Call{Tool: tl.Name, Input: raw, Principal: cutroom.Operator})
			if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Invalid || !strings.Contains(e.Msg, "never written over") {
				t.Errorf("%s -o %s: %v", tl.Name, name, err)
			}
		}
	}
}

// links makes further names of a file.
func links(t *testing.T, dir, name string) {
	t.Helper()
	_ = os.Mkdir(filepath.Join(dir, "sub"), 0o700)
	for _, to := range []string{"hard-" + name, "soft-" + name} {
		_ = os.Remove(filepath.Join(dir, to))
	}
	if err := os.Link(filepath.Join(dir, name), filepath.Join(dir, "hard-"+name)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(name, filepath.Join(dir, "soft-"+name)); err != nil {
		t.Fatal(err)
	}
}

// firstInput is the first path that an input reads.
func firstInput(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() > 0 {
			return firstInput(v.Index(0))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if p := firstInput(v.Field(i)); p != "" {
					return p
				}
			}
		}
	case reflect.String:
		if p, ok := v.Interface().(cutroom.InPath); ok {
			return string(p)
		}
	}
	return ""
}

// TestPicturesAreRequiredAsPromised: a file without pictures is refused by the tools of
// which the contract says so, in the words that it gives, and by no other for that reason.
func TestPicturesAreRequiredAsPromised(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "sine=d=3", filepath.Join(w.dir, "sound.wav"))
	for _, tl := range works(w) {
		example := tl.Examples[0]
		furnish(w, reflect.ValueOf(example), brief)
		place, _ := tl.Words()
		if len(place) == 0 {
			continue
		}
		raw, err := tool.Encode(example)
		if err != nil {
			t.Fatal(err)
		}
		var in map[string]json.RawMessage
		if err := json.Unmarshal(raw, &in); err != nil {
			t.Fatal(err)
		}
		in[place[0].Path[0]] = json.RawMessage(`"sound.wav"`)
		if place[0].Repeat {
			in[place[0].Path[0]] = json.RawMessage(`["sound.wav","sound.wav"]`)
		}
		delete(in, "output")
		if raw, err = json.Marshal(in); err != nil {
			t.Fatal(err)
		}
		_, err = w.Engine.Invoke(t.Context(), engine.Call{Tool: tl.Name, Input: raw, Principal: cutroom.Operator, DryRun: tl.Plannable()})
		if refused := err != nil && strings.Contains(err.Error(), "input has no video stream"); refused != tl.Video {
			t.Errorf("%s %s: %v, and the contract says video_required %v", tl.Name, raw, err, tl.Video)
		}
	}
}
