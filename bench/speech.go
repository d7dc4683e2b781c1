package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
)

// hearing compares the speech engine in the sandbox with the same engine outside, on
// the same sound.
func hearing(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, talkWAV); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(l.media, talkWAV))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(l.tmp, talkWAV), raw, 0o600); err != nil {
		return nil, err
	}
	models := map[string]string{}
	for _, name := range speech.DataFiles(speech.Base) {
		models[name] = filepath.Join(modelsDir(), filepath.FromSlash(name))
	}
	pin, err := sandbox.PinProgram("speech", "", sandbox.PinOptions{Data: models})
	if err != nil {
		return nil, err
	}
	box, err := newBox(pin)
	if err != nil {
		return nil, err
	}
	cmd := speech.Command("bench", talkWAV, speech.Options{Language: "en"})
	args, err := argv.Render(cmd, argv.Programs()["speech"], argv.GrantsOf(cmd, models))
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: "speech to text", plain: "the engine, not confined", ours: "the engine in the sandbox", unit: "×", target: 1.05,
		by: []step{func(ctx context.Context, _ int) (sample, error) {
			c := l.command(ctx, l.self, args...)
			c.Args[0], c.Dir = "speech", l.tmp
			return l.run(c)
		}},
		our: boxed(box, cmd, l.tmp, nil),
	}.run(ctx, l)
	if err != nil {
		return nil, err
	}
	res, err := box.Run(ctx, cmd, sandbox.Grant{Dir: l.tmp})
	if err != nil {
		return nil, err
	}
	heard, err := speech.Result(res)
	if err != nil {
		return nil, err
	}
	f.Note = fmt.Sprintf("%d segments", len(heard.Segments))
	return []figure{f}, nil
}
