package setup

import (
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
	"cutroom/internal/tools/media"
)

// asrCommand is a program of lens.asr.
type asrCommand struct {
	speech.Template
	run   string // the program, as the file names it
	model string // a file that its arguments name; "" for none
}

// asrCommands are the programs of lens.asr, each under its number there.
func (s settings) asrCommands() []asrCommand {
	var list []asrCommand
	for n, e := range s.config.Lens.ASR.All() {
		words, err := e.Words()
		if e.Command == "" || err != nil || n >= media.MostCommands {
			continue
		}
		c := asrCommand{run: words[0], Template: speech.Template{Name: filepath.Base(words[0]), Program: media.ASRProgram + string(rune('1'+n)), Format: speech.JSON}}
		for _, w := range words[1:] {
			if filepath.IsAbs(w) && c.model == "" { // a model's file, which the sandbox is told of
				c.model, c.Model, w = w, engineModel, "{model}"
			}
			c.Args = append(c.Args, w)
		}
		list = append(list, c)
	}
	return list
}

// asrTemplates are the commands as tools see them.
func (s settings) asrTemplates() []speech.Template {
	var list []speech.Template
	for _, c := range s.asrCommands() {
		list = append(list, c.Template)
	}
	return list
}

// asr finds and pins the operator's programs for transcribing.
func (f *finder) asr() {
	for _, c := range f.asrCommands() {
		p := Program{Name: c.Program, State: Missing, Fix: "correct lens.asr in cutroom.yaml, then run `cutroom setup`"}
		pin, err := f.pinASR(c)
		if err != nil {
			p.State, p.Notes = Broken, []string{cutroom.AsError(err).Error()}
			f.add(p)
			continue
		}
		f.pins = append(f.pins, pin)
		f.add(described(pin))
	}
}

func (f *finder) pinASR(c asrCommand) (sandbox.Pin, error) {
	if err := c.Check(); err != nil {
		return sandbox.Pin{}, err
	}
	paths := []string{c.run}
	if !strings.Contains(c.run, string(filepath.Separator)) {
		paths = f.places(c.run)
	}
	if len(paths) == 0 {
		return sandbox.Pin{}, cutroom.Errorf(cutroom.MissingDependency, "no program %s was found", c.run)
	}
	o := sandbox.PinOptions{}
	if c.model != "" {
		o.Data = map[string]string{engineModel: c.model}
	}
	pin, err := sandbox.PinProgram(c.Program, paths[0], o)
	if err != nil {
		return pin, err
	}
	pin.Seal(c.Name+" "+pin.Objects[0].SHA256.Short(), nil)
	return pin, nil
}

// asrTables are what the checker lets these programs be given.
func (s settings) asrTables() []argv.Table {
	var list []argv.Table
	for _, c := range s.asrCommands() {
		if c.Check() == nil {
			list = append(list, c.Table())
		}
	}
	return list
}

// hasASR says whether the toolchain's name is that of a configured program.
func (s settings) hasASR(program string) bool {
	for _, c := range s.asrCommands() {
		if c.Program == program {
			return true
		}
	}
	return false
}
