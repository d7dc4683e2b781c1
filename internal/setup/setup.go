package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/sandbox"
	"cutroom/internal/stage"
)

// Report says what setup found and recorded.
type Report struct {
	Toolchain string    `json:"toolchain"` // the file it was written to
	Config    string    `json:"config"`    // the user's config file, whether it exists or not
	Models    string    `json:"models"`    // folder of models
	Programs  []Program `json:"programs"`
	Layers    []string  `json:"sandbox_layers"`
}

// Program is one program as setup or the doctor found it.
type Program struct {
	Name      string         `json:"name"`
	State     State          `json:"state"`
	Path      string         `json:"path,omitempty"`
	Version   string         `json:"version,omitempty"`
	SHA256    cutroom.Digest `json:"sha256,omitempty"`
	Libraries int            `json:"libraries,omitempty"` // shared objects pinned with it
	Data      int            `json:"data,omitempty"`      // models and word lists pinned with it
	Notes     []string       `json:"notes,omitempty"`
	Fix       string         `json:"fix,omitempty"` // the command that helps
}

// State is how something stands.
type State string

// The states of a program.
const (
	Ready    State = "ready"
	Optional State = "optional" // not there, and nothing in this version needs it
	Missing  State = "missing"
	Broken   State = "broken" // there, but not what it should be
)

// wordLists is the toolchain's name of tesseract's data folder.
const wordLists = "tessdata"

// foreign are the programs that setup looks for, in the order it shows them.
func foreign() []string { return []string{"ffmpeg", "ffprobe", "tesseract"} }

// Setup looks for programs and models, runs each once in the sandbox to learn what
// it is, and records what works. say gets one line per step. What is missing is
// said and does not stop the rest.
func Setup(ctx context.Context, o Options, say func(string)) (*Report, error) {
	s, err := settle(o.Dir, o.Root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(s.toolchain()); o.First && err == nil {
		return nil, cutroom.Errorf(cutroom.Denied, "recording other programs in place of those that are recorded is for a person").
			WithHint("ask the operator to run `cutroom setup` in a terminal of their own")
	}
	for _, dir := range []string{s.folders.State, s.folders.Config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, stateFault(s, fmt.Errorf("make %s: %w", dir, err))
		}
	}
	key, err := stage.KeyFile(s.keyFile())
	if err != nil {
		return nil, stateFault(s, err)
	}
	f := finder{settings: s, ctx: ctx, say: say, debug: o.Debug}
	if err := f.layers(); err != nil {
		return nil, err
	}
	for _, name := range foreign() {
		f.foreign(name)
	}
	for _, c := range children() {
		f.child(c)
	}
	f.engine()
	f.asr()
	f.downloader()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sandbox.NewToolchain(f.pins...).Save(s.toolchain(), key); err != nil {
		return nil, stateFault(s, err)
	}
	return &Report{
		Toolchain: s.toolchain(), Config: filepath.Join(s.folders.Config, config.Name), Models: s.models(),
		Programs: f.programs, Layers: f.held,
	}, nil
}

// finder collects what setup finds.
type finder struct {
	settings
	ctx   context.Context
	say   func(string)
	debug interface{ Write([]byte) (int, error) }

	pins     []sandbox.Pin
	programs []Program
	held     []string
}

// layers finds out what the kernel gives. Without the floor nothing can be run, so
// nothing can be recorded.
func (f *finder) layers() error {
	box, err := sandbox.New(sandbox.Options{Require: require(f.config)})
	if err != nil {
		return err
	}
	layers, err := box.Layers()
	if err != nil {
		return err
	}
	for _, l := range layers {
		f.held = append(f.held, string(l))
	}
	f.say("sandbox: " + strings.Join(f.held, ", "))
	return nil
}

func (f *finder) add(p Program) {
	f.programs = append(f.programs, p)
	line := fmt.Sprintf("%s: %s", p.Name, p.State)
	if p.Version != "" {
		line = fmt.Sprintf("%s: %s", p.Name, p.Version)
	}
	if p.Path != "" {
		line += " at " + p.Path
	}
	for _, n := range p.Notes {
		line += "; " + n
	}
	if p.Fix != "" {
		line += "\n  to fix it: " + p.Fix
	}
	f.say(line)
}

// foreign finds, pins and tries a program that is not ours. The first place where
// it works counts.
func (f *finder) foreign(name string) {
	var last error
	for _, path := range f.places(name) {
		pin, err := f.learn(name, path)
		if err != nil {
			last = err
			continue
		}
		f.pins = append(f.pins, pin)
		p := described(pin)
		p.Notes = f.remarks(pin)
		f.add(p)
		return
	}
	p := Program{Name: name, State: Missing, Fix: fix(name)}
	if last != nil {
		e := cutroom.AsError(last)
		p.State, p.Notes = Broken, []string{e.Error()}
	}
	f.add(p)
}

// places are where a program may lie: the operator's folders first.
func (f *finder) places(name string) []string {
	var paths []string
	for _, dir := range f.config.Programs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	return append(paths, sandbox.Find(name)...)
}

// described is a pin as people see it.
func described(pin sandbox.Pin) Program {
	p := Program{Name: pin.Name, State: Ready, Path: pin.Path, Version: pin.Version, Data: len(pin.Data)}
	p.Libraries = len(pin.Objects)
	if pin.Path != "" && len(pin.Objects) > 0 {
		p.SHA256, p.Libraries = pin.Objects[0].SHA256, len(pin.Objects)-1
	}
	return p
}

// child pins one of our own engines with its models and tries it.
func (f *finder) child(c child) {
	p := Program{Name: c.program, State: Missing, Fix: modelsFix}
	data, missing := c.data(f.models())
	if len(missing) > 0 {
		p.Notes = []string{"no " + strings.Join(missing, ", ") + " in " + f.models()}
		f.add(p)
		return
	}
	pin, err := sandbox.PinProgram(c.program, "", sandbox.PinOptions{Data: data})
	if err == nil {
		if wrong := wrongModel(pin); wrong != "" {
			err = cutroom.Errorf(cutroom.Verification, "%s is not the file that this version was built for", wrong)
		}
	}
	if err == nil {
		pin.Seal(childVersion(c), nil)
		err = f.try(pin)
	}
	if err != nil {
		p.State, p.Notes = Broken, []string{cutroom.AsError(err).Error()}
		f.add(p)
		return
	}
	f.pins = append(f.pins, pin)
	f.add(described(pin))
}

// downloader looks for yt-dlp only to say what became of it.
func (f *finder) downloader() {
	p := Program{Name: "yt-dlp", State: Optional, Notes: []string{"not used: this version has no executor that binds a download to its approved destination"}}
	if found := f.places("yt-dlp"); len(found) > 0 {
		p.Path = found[0]
	}
	f.programs = append(f.programs, p)
}
