package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"cutroom"
	"cutroom/internal/host"
	"cutroom/internal/object"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// Diagnosis is what works on this machine, and what would help where it does not.
type Diagnosis struct {
	Status    tool.State           `json:"status"` // the worst of what counts
	Version   string               `json:"version"`
	Platform  string               `json:"platform"`
	Programs  []Program            `json:"programs"`
	Models    []ModelFile          `json:"models"`
	Sandbox   Box                  `json:"sandbox"`
	Folders   []Folder             `json:"folders"`
	Database  Database             `json:"database"`
	Approvals ApprovalKey          `json:"approvals"`
	Tools     []ToolState          `json:"tools"`
	Hosts     []host.Qualification `json:"hosts"`
	Notes     []string             `json:"notes"`
}

// Box is how well programs are held in.
type Box struct {
	State    tool.State        `json:"state"`
	Layers   []string          `json:"layers"`
	Required []string          `json:"required"` // besides the floor
	Problem  string            `json:"problem,omitempty"`
	Fix      string            `json:"fix,omitempty"`
	SelfTest []sandbox.Attempt `json:"self_test"`
}

// Folder is one folder that the product writes to.
type Folder struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Writable bool   `json:"writable"`
	Fix      string `json:"fix,omitempty"`
}

// ApprovalKey is the key that approvals are signed with. No passphrase is no fault, but
// everybody has to know it.
type ApprovalKey struct {
	State      tool.State `json:"state"`
	Key        bool       `json:"key"` // it was made already; that is when somebody first decides
	Passphrase bool       `json:"passphrase"`
	Problem    string     `json:"problem,omitempty"`
	Fix        string     `json:"fix,omitempty"`
}

// approvalKey looks at the key of approvals.
func (i *Installation) approvalKey() ApprovalKey {
	k := ApprovalKey{State: tool.Present}
	var err error
	if k.Key, k.Passphrase, err = i.Approvals.Keys().Present(); err != nil {
		e := cutroom.AsError(err)
		k.State, k.Problem, k.Fix = tool.Missing, e.Msg, e.Hint
		return k
	}
	if !k.Passphrase {
		k.Problem, k.Fix = "no passphrase: a program with your shell can approve what it likes", "cutroom approvals passphrase"
	}
	return k
}

// Database is where jobs and records are kept.
type Database struct {
	State   tool.State `json:"state"`
	Kind    string     `json:"kind"`  // SQLite or PostgreSQL
	Where   string     `json:"where"` // file, or host:port/name without user and password
	Version string     `json:"version,omitempty"`
	Schema  int64      `json:"schema"` // the newest migration that it has; 0 before its first use
	Problem string     `json:"problem,omitempty"`
	Fix     string     `json:"fix,omitempty"`
}

// ModelFile is one model.
type ModelFile struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Fix   string `json:"fix,omitempty"`
}

// ToolState is how one tool stands.
type ToolState struct {
	ToolID  string      `json:"tool_id"`
	State   tool.State  `json:"state"`
	Needs   []tool.Need `json:"needs"`
	Problem string      `json:"problem,omitempty"`
	Fix     string      `json:"fix,omitempty"`
}

// Unavailable is a tool that this version offers by its contract and cannot serve;
// nothing on the machine can change that, so it does not count.
const Unavailable tool.State = "unavailable"

// Doctor looks at the whole installation. It tries every pinned program in the
// sandbox, and tries to get out of it.
func Doctor(ctx context.Context, o Options) (*Diagnosis, error) {
	i, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer i.Close()
	d := &Diagnosis{
		Hosts:  host.Qualified(),
		Status: tool.Present, Version: cutroom.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Models: modelFiles(i.settings.models()), Folders: i.writable(), Notes: notes(),
	}
	d.Sandbox = i.sandboxState(ctx, o)
	d.Database = i.databaseState(ctx)
	d.Approvals = i.approvalKey()
	if d.Programs, err = i.programs(ctx); err != nil {
		return nil, err
	}
	broken := map[string]Program{}
	for _, p := range d.Programs {
		if p.State == Missing || p.State == Broken {
			broken[p.Name] = p
		}
	}
	states := map[string]ToolState{}
	for _, t := range o.Registry.Tools() {
		states[t.Name] = i.toolState(t, broken)
	}
	for _, t := range o.Registry.Tools() {
		d.Tools = append(d.Tools, composed(t, states))
	}
	d.Status = d.worst()
	return d, ctx.Err()
}

// worst is the state that the exit code speaks of.
func (d *Diagnosis) worst() tool.State {
	worst := tool.Present
	lower := func(s tool.State) {
		if s == tool.Missing || s == tool.Degraded && worst == tool.Present {
			worst = s
		}
	}
	lower(d.Sandbox.State)
	lower(d.Database.State)
	lower(d.Approvals.State)
	for _, f := range d.Folders {
		if !f.Writable {
			lower(tool.Missing)
		}
	}
	for _, p := range d.Programs {
		switch p.State {
		case Broken:
			lower(tool.Missing)
		case Missing:
			lower(tool.Degraded) // how bad it is, the tools say
		}
	}
	for _, t := range d.Tools {
		lower(t.State)
	}
	return worst
}

// programs tries every pinned program, and names those that are not pinned.
func (i *Installation) programs(ctx context.Context) ([]Program, error) {
	var list []Program
	fault := i.Toolchain.fault()
	names := foreign()
	for _, c := range children() {
		names = append(names, c.program)
	}
	if i.settings.speechEngine() != nil {
		names = append(names, video.SpeechEngine)
	}
	for _, name := range names {
		pin, ok := i.Toolchain.pin(name)
		if !ok {
			p := Program{Name: name, State: Missing, Fix: i.fixFor(name)}
			if fault != nil {
				p.Notes = []string{fault.Msg}
			}
			list = append(list, p)
			continue
		}
		p := described(pin)
		if err := i.tryPinned(ctx, name); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			e := cutroom.AsError(err)
			p.State, p.Notes, p.Fix = Broken, []string{e.Msg}, "cutroom setup"
		}
		list = append(list, p)
	}
	return append(list, i.asrPrograms()...), nil
}

// asrPrograms are the operator's own for transcribing. They are not tried: what makes one
// do nothing is not known.
func (i *Installation) asrPrograms() []Program {
	var list []Program
	for _, c := range i.settings.asrCommands() {
		if pin, ok := i.Toolchain.pin(c.Program); ok {
			list = append(list, described(pin))
			continue
		}
		list = append(list, Program{
			Name: c.Program, State: Missing, Notes: []string{"lens.asr names " + c.Name},
			Fix: "install " + c.Name + " or correct lens.asr in cutroom.yaml, then run cutroom setup",
		})
	}
	return list
}

// fixFor is what brings a program that is not pinned: recording it, when it is there
// already.
func (i *Installation) fixFor(name string) string {
	if name == video.SpeechEngine {
		return "cutroom setup"
	}
	for _, c := range children() {
		if c.program != name {
			continue
		}
		if _, missing := c.data(i.settings.models()); len(missing) > 0 {
			return modelsFix
		}
		return "cutroom setup"
	}
	if len(sandbox.Find(name)) > 0 {
		return "cutroom setup"
	}
	return fix(name)
}

func (i *Installation) tryPinned(ctx context.Context, name string) error {
	word := "-version"
	switch name {
	case "speech", "ocr", object.Program:
		return tryChild(ctx, i.Toolchain, name)
	case video.SpeechEngine:
		return tryOwn(ctx, i.Toolchain, i.settings.speechEngine())
	case "tesseract":
		word = "--version"
	}
	dir, err := os.MkdirTemp("", "cutroom-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	_, err = i.Toolchain.Run(ctx, argv.Command{Step: "try", Program: name, Args: argv.Words(word)}, sandbox.Grant{Dir: dir})
	return err
}

// toolState says whether a tool can be called here.
func (i *Installation) toolState(t *tool.Tool, broken map[string]Program) ToolState {
	s := ToolState{ToolID: t.Name}
	if err := t.Available(t.Examples[0]); err != nil {
		e := cutroom.AsError(err)
		s.State, s.Problem, s.Needs = Unavailable, e.Msg, []tool.Need{}
		return s
	}
	needs, state := i.settings.applicable(t.Needs).Check(whole{i.Engine.Machine(), broken})
	s.State, s.Needs = state, append([]tool.Need{}, needs...)
	for _, n := range s.Needs {
		if n.State == tool.Present {
			continue
		}
		s.Problem, s.Fix = n.Capability+" is missing", "install a full build of ffmpeg, then run cutroom setup"
		if p, ok := broken[n.Capability]; ok {
			s.Fix = p.Fix
		}
		if n.State == tool.Missing {
			break
		}
	}
	return s
}

// composed is the state of a tool with regard to those it calls: without one of
// them it still answers, in part.
func composed(t *tool.Tool, states map[string]ToolState) ToolState {
	s := states[t.Name]
	for _, id := range t.Calls {
		if callee := states[id]; s.State == tool.Present && (callee.State == tool.Missing || callee.State == tool.Degraded) {
			s.State, s.Problem, s.Fix = tool.Degraded, id+": "+callee.Problem, callee.Fix
		}
	}
	return s
}

// whole is the machine without the programs that are pinned but do not run.
type whole struct {
	tool.Machine
	broken map[string]Program
}

func (m whole) HasProgram(name string) bool {
	_, bad := m.broken[name]
	return !bad && m.Machine.HasProgram(name)
}

// sandboxState proves the layers and runs the self-test.
func (i *Installation) sandboxState(ctx context.Context, o Options) Box {
	b := Box{State: tool.Present, Layers: []string{}, Required: []string{}, SelfTest: []sandbox.Attempt{}}
	for _, l := range require(i.Config) {
		b.Required = append(b.Required, string(l))
	}
	refuse := func(err error) Box {
		e := cutroom.AsError(err)
		b.State, b.Problem, b.Fix = tool.Missing, e.Msg, e.Hint
		return b
	}
	box, err := sandbox.New(sandbox.Options{Require: require(i.Config), Debug: o.Debug})
	if err != nil {
		return refuse(err)
	}
	layers, err := box.Layers()
	if err != nil {
		return refuse(err)
	}
	for _, l := range layers {
		b.Layers = append(b.Layers, string(l))
	}
	if b.SelfTest, err = box.SelfTest(ctx); err != nil {
		return refuse(err)
	}
	for _, a := range b.SelfTest {
		if !a.Held {
			b.State, b.Problem = tool.Missing, fmt.Sprintf("the sandbox does not hold: %s", a.Name)
		}
	}
	return b
}

// writable tries the folders that the product writes to.
func (i *Installation) writable() []Folder {
	var list []Folder
	for _, f := range []Folder{
		{Name: "state", Path: i.Folders.State},
		{Name: "workspace", Path: i.Workspace},
		{Name: "stage", Path: filepath.Join(i.Workspace, filepath.FromSlash(i.StageRelative))},
	} {
		f.Writable = canWrite(f.Path)
		if !f.Writable {
			f.Fix = "allow your user to write to " + f.Path
		}
		list = append(list, f)
	}
	return list
}

// canWrite makes and removes a file in dir, or in the nearest folder above it that
// exists.
func canWrite(dir string) bool {
	for {
		_, err := os.Lstat(dir)
		if err == nil || !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".cutroom-try-")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// modelFiles says which models are there; their content is checked when they are
// pinned and whenever they change.
func modelFiles(folder string) []ModelFile {
	var list []ModelFile
	for _, m := range models() {
		f := ModelFile{Name: m.path, State: Ready}
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(m.path)))
		switch {
		case err != nil && slices.Contains(speech.DataFiles(speech.Tiny), m.path) && !slices.Contains(speech.DataFiles(speech.Base), m.path):
			f.State, f.Fix = Optional, modelsFix
		case err != nil:
			f.State, f.Fix = Missing, modelsFix
		case info.Size() != m.size:
			f.State, f.Fix = Broken, modelsFix
		}
		list = append(list, f)
	}
	return list
}

// notes are the limits that everybody has to know.
func notes() []string {
	return []string{
		"a program with your shell can do what you can do; this is no boundary against it",
		"built-in speech to text is English; text on the screen is read in the languages of tesseract, Chinese and English also over a picture",
	}
}
