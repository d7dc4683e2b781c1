package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
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
	if service.Key, err = secret("the token of the speech service", "speech.endpoint.key", p.key); err != nil {
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

// secret reads what env:NAME or file:PATH names; what and key say in an error which
// secret it is.
func secret(what, key, reference string) (string, error) {
	missing := func() (string, error) {
		return "", cutroom.Errorf(cutroom.Precondition, "%s is not where %s says", what, key).
			WithHint("set the variable, or write the file")
	}
	if name, ok := strings.CutPrefix(reference, "env:"); ok {
		if value := os.Getenv(name); value != "" {
			return value, nil
		}
		return missing()
	}
	if path, ok := strings.CutPrefix(reference, "file:"); ok {
		data, err := os.ReadFile(path)
		if err != nil {
			return missing()
		}
		return strings.TrimSpace(string(data)), nil
	}
	return "", nil
}
