package setup

import (
	"context"
	"io"
	"strings"
	"sync"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/ocr"
	"cutroom/internal/provider"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tools/video"
)

// Pinned is the recorded programs as the engine sees them. Nothing is read before it
// is needed, and no record at all is the same as a record of nothing: every call
// that needs a program then says so.
type Pinned struct {
	load      func() (*sandbox.Toolchain, error)
	box       func() (*sandbox.Sandbox, error)
	abilities func() ffmpeg.Abilities
	service   *provider.Speech // the operator's speech service, nil when there is none
	key       string           // where its token is
}

func newPinned(s settings, key []byte, debug io.Writer) *Pinned {
	p := &Pinned{service: s.speechService(), key: s.config.Speech.Endpoint.Key}
	p.load = sync.OnceValues(func() (*sandbox.Toolchain, error) {
		t, err := sandbox.LoadToolchain(s.toolchain(), key)
		if err != nil {
			return sandbox.NewToolchain(), err
		}
		if s.speechEngine() == nil { // one that was pinned and is configured no more
			delete(t.Pins, video.SpeechEngine)
		}
		return t, nil
	})
	p.box = sync.OnceValues(func() (*sandbox.Sandbox, error) {
		t, err := p.load()
		if err != nil {
			return nil, err
		}
		o := sandbox.Options{Toolchain: t, Require: require(s.config), Debug: debug}
		o.Tables = append(o.Tables, s.asrTables()...)
		if e := s.speechEngine(); e != nil {
			if err := e.Check(); err != nil {
				return nil, err
			}
			o.Tables = append(o.Tables, e.Table())
		}
		return sandbox.New(o)
	})
	p.abilities = sync.OnceValue(func() ffmpeg.Abilities {
		pin, ok := p.pin("ffmpeg")
		if !ok {
			return ffmpeg.Abilities{}
		}
		return ffmpeg.RecallAbilities(pin.Version, pin.Abilities)
	})
	return p
}

// require is the layers that the operator insists on besides the floor.
func require(c config.Config) []sandbox.Layer {
	if c.Sandbox.Require == "namespaces" {
		return []sandbox.Layer{sandbox.UserNS, sandbox.NetNS, sandbox.PidNS, sandbox.IpcNS}
	}
	return nil
}

func (p *Pinned) pin(program string) (sandbox.Pin, bool) {
	t, _ := p.load() // a record that cannot be read pins nothing; Run says why
	pin, ok := t.Pins[program]
	return pin, ok
}

// Fingerprint identifies a program with its libraries and models; "" when it is not
// pinned.
func (p *Pinned) Fingerprint(program string) cutroom.Digest {
	if program == video.SpeechService && p.service != nil {
		return p.service.ID()
	}
	pin, _ := p.pin(program)
	return pin.Fingerprint
}

// Version is the program's version line.
func (p *Pinned) Version(program string) string {
	if program == video.SpeechService && p.service != nil {
		return "speech service " + p.service.ID().Short()
	}
	pin, _ := p.pin(program)
	return pin.Version
}

// Abilities are those of the pinned ffmpeg.
func (p *Pinned) Abilities() ffmpeg.Abilities { return p.abilities() }

// Languages are those that the pinned tesseract reads.
func (p *Pinned) Languages() []string {
	pin, _ := p.pin("tesseract")
	var files []string
	for name := range pin.Data {
		if file, ok := strings.CutPrefix(name, wordLists+"/"); ok {
			files = append(files, file)
		}
	}
	return ocr.Languages(files)
}

// Run runs one program in the sandbox. The operator's speech service is no program:
// it is asked over a loopback address.
func (p *Pinned) Run(ctx context.Context, c argv.Command, g sandbox.Grant) (argv.Result, error) {
	if c.Program == video.SpeechService && p.service != nil {
		return p.ask(ctx, c, g.Dir)
	}
	box, err := p.box()
	if err != nil {
		return argv.Result{}, err
	}
	return box.Run(ctx, c, g)
}

// fault is what is wrong with the record itself, nil when it can be read.
func (p *Pinned) fault() *cutroom.Error {
	if _, err := p.load(); err != nil {
		return cutroom.AsError(err)
	}
	return nil
}

// Close releases what runs hold. The sandbox holds nothing between runs.
func (p *Pinned) Close() error { return nil }
