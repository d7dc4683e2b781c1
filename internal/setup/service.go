package setup

import (
	"context"
	"os"
	"path/filepath"

	"cutroom/internal/provider"
	"cutroom/internal/sandbox/argv"
)

// speechService is the operator's speech service, nil when the file names none. The
// token is read only when the service is asked.
func (s settings) speechService() *provider.Speech {
	e := s.config.Speech.Endpoint
	if e.URL == "" {
		return nil
	}
	return &provider.Speech{URL: e.URL, Model: e.Model}
}

// serviceSpeaks lists the languages of the service, nil when there is no service.
func (s settings) serviceSpeaks() *[]string {
	if s.speechService() == nil {
		return nil
	}
	speaks := append([]string{}, s.config.Speech.Endpoint.Speaks...)
	return &speaks
}

// ask sends the file that the command names to the speech service. Its arguments are
// the WAV file of the private folder and the language.
func (p *Pinned) ask(ctx context.Context, c argv.Command, dir string) (argv.Result, error) {
	var file, language string
	for _, a := range c.Args {
		switch a := a.(type) {
		case argv.Out:
			file = string(a)
		case argv.Word:
			language = string(a)
		}
	}
	service := *p.service
	var err error
	if service.Key, err = secretOf("speech.endpoint.key", p.key); err != nil {
		return argv.Result{}, err
	}
	wav, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		return argv.Result{}, err
	}
	defer wav.Close()
	answer, err := service.Transcribe(ctx, wav, language)
	return argv.Result{Stdout: answer}, err
}
