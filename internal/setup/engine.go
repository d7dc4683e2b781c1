package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
	"cutroom/internal/tool"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/video"
)

// engineModel is the toolchain's name of the model of the operator's speech engine.
const engineModel = "model"

// speechEngine is the operator's own speech engine as its file describes it, nil when
// it names none.
func (s settings) speechEngine() *speech.Template {
	e := s.config.Speech.Engine
	if e.Run == "" {
		return nil
	}
	t := &speech.Template{
		Name: e.Name, Program: video.SpeechEngine, Args: e.Args,
		Format: speech.Format(e.Format), Suffix: e.Suffix, Languages: e.Speaks,
	}
	if t.Name == "" {
		t.Name = filepath.Base(e.Run)
	}
	if t.Format == "" {
		t.Format = speech.JSON
	}
	if e.Model != "" {
		t.Model = engineModel
	}
	return t
}

// engine finds and pins the operator's speech engine.
func (f *finder) engine() {
	t := f.speechEngine()
	if t == nil {
		return
	}
	e := f.config.Speech.Engine
	p := Program{Name: video.SpeechEngine, State: Missing, Fix: "correct speech.engine in cutroom.yaml, then run `cutroom setup`"}
	paths := []string{e.Run}
	if !strings.Contains(e.Run, string(filepath.Separator)) {
		paths = f.places(e.Run)
	}
	err := t.Check()
	if err == nil && len(paths) == 0 {
		err = cutroom.Errorf(cutroom.MissingDependency, "no program %s was found", e.Run)
	}
	var pin sandbox.Pin
	if err == nil {
		o := sandbox.PinOptions{}
		if e.Model != "" {
			o.Data = map[string]string{engineModel: e.Model}
		}
		pin, err = sandbox.PinProgram(video.SpeechEngine, paths[0], o)
	}
	if err != nil {
		p.State, p.Notes = Broken, []string{cutroom.AsError(err).Error()}
		f.add(p)
		return
	}
	// Such a program states no version in a form of its own: its bytes are it.
	pin.Seal(t.Name+" "+pin.Objects[0].SHA256.Short(), nil)
	if err := f.tryEngine(pin, t); err != nil {
		p.State, p.Notes = Broken, []string{cutroom.AsError(err).Error()}
		f.add(p)
		return
	}
	f.pins = append(f.pins, pin)
	f.add(described(pin))
}

// tryEngine has the engine listen to silence, so that arguments it does not take are
// found here and not in the middle of a call.
func (f *finder) tryEngine(pin sandbox.Pin, t *speech.Template) error {
	box, err := sandbox.New(sandbox.Options{
		Toolchain: sandbox.NewToolchain(pin), Tables: []argv.Table{t.Table()}, Require: require(f.config), Debug: f.debug,
	})
	if err != nil {
		return err
	}
	return tryOwn(f.ctx, box, t)
}

// applicable leaves out what only an engine of the operator's own would need, when
// none is configured.
func (s settings) applicable(n tool.Needs) tool.Needs {
	n.Optional = slices.DeleteFunc(slices.Clone(n.Optional), func(o tool.Optional) bool {
		return strings.HasPrefix(o.Program, media.ASRProgram) && !s.hasASR(o.Program) || o.Program == video.SpeechEngine && s.speechEngine() == nil || o.Program == video.SpeechService && s.speechService() == nil
	})
	return n
}
