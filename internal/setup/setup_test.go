package setup

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// The models that setup accepts are those that the installer brings.
func TestModelsAreThoseOfTheLock(t *testing.T) {
	t.Parallel()
	var want, got []testenv.ModelFile
	want = testenv.ModelFiles(t)
	for _, m := range models() {
		got = append(got, testenv.ModelFile{Path: m.path, SHA256: string(m.sha256), Size: m.size})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scripts/models.lock and the list in model.go differ (-lock +list):\n%s", diff)
	}
}

func TestStageRootIsTheFirstThatIsSaid(t *testing.T) {
	t.Parallel()
	old := t.TempDir()
	if err := os.MkdirAll(filepath.Join(old, "ops", "staging", "watch"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ workspace, asked, configured, want string }{
		{t.TempDir(), "", "", ".cutroom/stage"},
		{old, "", "", "ops/staging/watch"},
		{old, "", "kept", "kept"},
		{old, "mine/here/", "kept", "mine/here"},
		{old, filepath.Join(old, "absolute"), "", "absolute"},
	} {
		s := settings{workspace: tt.workspace}
		s.config.Stage.Root = tt.configured
		if got := s.stageRoot(tt.asked); got != tt.want {
			t.Errorf("asked %q, configured %q: %q, want %q", tt.asked, tt.configured, got, tt.want)
		}
	}
}

// A set of models counts whole or not at all; the smaller speech model is an extra.
func TestChildrenNeedTheirModels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(names ...string) {
		for _, n := range names {
			path := filepath.Join(dir, filepath.FromSlash(n))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	talk := children()[0]
	if _, missing := talk.data(dir); len(missing) == 0 {
		t.Error("an empty folder is enough")
	}
	write("lib/libonnxruntime.so", "vad/silero_vad_v6.onnx", "asr/vocab.txt", "asr/base/quantized/encoder_model.onnx", "asr/tiny/quantized/encoder_model.onnx")
	if _, missing := talk.data(dir); len(missing) != 1 || missing[0] != "asr/base/quantized/decoder_model_merged.onnx" {
		t.Errorf("missing: %v", missing)
	}
	write("asr/base/quantized/decoder_model_merged.onnx")
	data, missing := talk.data(dir)
	if len(missing) > 0 || len(data) != 5 || data["asr/tiny/quantized/encoder_model.onnx"] != "" {
		t.Errorf("missing %v, data %v", missing, data)
	}
	write("asr/tiny/quantized/decoder_model_merged.onnx")
	if data, _ := talk.data(dir); len(data) != 7 {
		t.Errorf("with the smaller model: %v", data)
	}
}

// home makes a user of its own whose models are links to the real ones.
func home(t *testing.T) string {
	t.Helper()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract")
	dir := t.TempDir()
	t.Setenv("CUTROOM_HOME", dir)
	real := testenv.Models(t)
	for _, m := range models() {
		link := filepath.Join(dir, "data", "models", filepath.FromSlash(m.path))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(real, filepath.FromSlash(m.path)), link); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func stateOf(programs []Program, name string) State {
	for _, p := range programs {
		if p.Name == name {
			return p.State
		}
	}
	return ""
}

// copyOf copies a program to a folder of its own.
func copyOf(t *testing.T, program string) string {
	t.Helper()
	found := sandbox.Find(program)
	if len(found) == 0 {
		t.Fatalf("%s is not installed", program)
	}
	from, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(t.TempDir(), program)
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if cerr := to.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	return path
}

// Setup records what works, says what does not, and what was recorded is what runs:
// a model or a program that is another file than before does not.
func TestSetupAndDoctor(t *testing.T) {
	dir := home(t)
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	ffprobe := copyOf(t, "ffprobe")
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "programs: [" + filepath.Dir(ffprobe) + "]\nlens: {asr: {command: 'no-such-scribe {input}'}}\n"
	if err := os.WriteFile(filepath.Join(dir, "config", config.Name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(dir, "data", "models", "ocr", "ppocr_keys_v1.txt")
	if err := os.Remove(keys); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte("another alphabet\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: t.TempDir(), Registry: registry}
	var said []string
	report, err := Setup(t.Context(), o, func(line string) { said = append(said, line) })
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]State{"ffmpeg": Ready, "ffprobe": Ready, "tesseract": Ready, "speech": Ready, "ocr": Broken, "object": Ready, "yt-dlp": Optional, "asr-1": Broken} {
		if got := stateOf(report.Programs, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "ocr/ppocr_keys_v1.txt is not the file") || !strings.Contains(all, ffprobe) {
		t.Errorf("said:\n%s", all)
	}
	info, err := os.Stat(report.Toolchain)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record: %v, %v", info, err)
	}
	changedProgram(t, o, ffprobe)
}

// changedProgram changes a recorded program and expects that it never starts, that
// the doctor says so, and that tools which need it refuse.
func changedProgram(t *testing.T, o Options, ffprobe string) {
	t.Helper()
	run := func() error {
		i, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer i.Close()
		_, err = i.Toolchain.Run(t.Context(), argv.Command{Step: "v", Program: "ffprobe", Args: argv.Words("-version")}, sandbox.Grant{Dir: t.TempDir()})
		return err
	}
	if err := run(); err != nil {
		t.Fatalf("the recorded program: %v", err)
	}
	f, err := os.OpenFile(ffprobe, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if e := cutroom.AsError(run()); e == nil || e.Code != cutroom.MissingDependency || !strings.Contains(e.Hint, "cutroom setup") {
		t.Errorf("a changed program: %v, want missing_dependency", e)
	}
	d, err := Doctor(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if d.Status != tool.Missing || stateOf(d.Programs, "ffprobe") != Broken || stateOf(d.Programs, "ffmpeg") != Ready {
		t.Errorf("the doctor says %s: %+v", d.Status, d.Programs)
	}
	own := slices.IndexFunc(d.Programs, func(p Program) bool { return p.Name == "asr-1" })
	if own < 0 || d.Programs[own].State != Missing || !strings.HasPrefix(d.Programs[own].Fix, "install no-such-scribe or correct lens.asr") {
		t.Errorf("a program of lens.asr that is not there: %+v", d.Programs)
	}
	for _, s := range d.Tools {
		if s.ToolID == "video.probe" && (s.State != tool.Missing || s.Fix != "cutroom setup") {
			t.Errorf("video.probe: %+v", s)
		}
	}
	if len(d.Sandbox.SelfTest) < 20 {
		t.Errorf("%d attempts in the self-test, not at least 20", len(d.Sandbox.SelfTest))
	}
}

// A folder in which nothing can be written is said, not stumbled over.
func TestDoctorNamesFoldersThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if !canWrite(t.TempDir()) || !canWrite(filepath.Join(t.TempDir(), "not", "yet")) {
		t.Error("a folder of our own is not writable")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if canWrite(file) || canWrite("/proc/1") {
		t.Error("a file, or /proc, is writable as a folder")
	}
}

// An engine of the operator's own is pinned and tried; arguments that it does not
// take are found by setup; and one that is configured no more is in nobody's way.
func TestSpeechEngineOfTheOperator(t *testing.T) {
	dir := home(t)
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: t.TempDir(), Registry: registry}
	setup := func(text string) State {
		t.Helper()
		file := filepath.Join(dir, "config", config.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Setup(t.Context(), o, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return stateOf(report.Programs, "speech-engine")
	}
	if got := setup("speech: {engine: {program: cat, args: ['--no-such-option', '{input}']}}\n"); got != Broken {
		t.Errorf("an option that the program does not take: %q, want broken", got)
	}
	if got := setup("speech: {engine: {program: no-such-engine, args: ['{input}']}}\n"); got != Broken {
		t.Errorf("a program that is not there: %q, want broken", got)
	}
	if got := setup("speech: {engine: {program: cat, args: ['{input}']}}\n"); got != Ready {
		t.Errorf("an engine that runs: %q, want ready", got)
	}
	if err := os.Remove(filepath.Join(dir, "config", config.Name)); err != nil {
		t.Fatal(err)
	}
	i, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if _, err := i.Toolchain.Run(t.Context(), argv.Command{Step: "v", Program: "ffprobe", Args: argv.Words("-version")}, sandbox.Grant{Dir: t.TempDir()}); err != nil {
		t.Errorf("ffprobe, once the engine is configured no more: %v", err)
	}
}

// A config file of a workspace is read only when it is a plain, small file: no link
// shows another file's lines in an error, no FIFO holds the call up.
func TestConfigOfAHostileWorkspace(t *testing.T) {
	dir := home(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2: x\nspeech: hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":   func(p string) error { return os.Symlink(secret, p) },
		"device": func(p string) error { return os.Symlink("/dev/zero", p) },
		"fifo":   func(p string) error { return exec.Command("mkfifo", p).Run() },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"huge":   func(p string) error { return os.WriteFile(p, make([]byte, config.MaxFile+1), 0o600) },
	} {
		workspace := t.TempDir()
		if err := put(filepath.Join(workspace, config.Name)); err != nil {
			t.Fatal(err)
		}
		_, err := settle(workspace, "")
		if e := cutroom.AsError(err); e == nil || e.Code == cutroom.Internal || strings.Contains(e.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(plain, []byte("limits: {max_frames: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plain, filepath.Join(dir, "config", config.Name)); err != nil {
		t.Fatal(err)
	}
	if s, err := settle(t.TempDir(), ""); err != nil || s.config.Limits.MaxFrames != 7 {
		t.Errorf("the user's own file may be a link: %+v, %v", s.config.Limits, err)
	}
}

// What is wrong with the state folder is said, and is no fault of the program.
func TestStateFolderThatCannotBeUsed(t *testing.T) {
	for name, spoil := range map[string]func(state string) error{
		"is a file": func(state string) error { return os.WriteFile(state, nil, 0o600) },
		"has half a key": func(state string) error {
			for _, dir := range []string{state, filepath.Join(state, "keys")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			key := settings{folders: config.Folders{State: state}}.keyFile()
			return os.WriteFile(key, []byte("half"), 0o600)
		},
	} {
		dir := t.TempDir()
		t.Setenv("CUTROOM_HOME", dir)
		if err := spoil(filepath.Join(dir, "state")); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Options{Dir: t.TempDir()})
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Precondition || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
