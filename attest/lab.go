package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cutroom/internal/persontest"
)

// lab is a home folder with an installation of cutroom in it, as a user has it: the
// program on PATH, the models in the data folder, `cutroom setup` done.
//
//	HOME/bin/cutroom    what hosts start: for a server the tee, and behind it …
//	HOME/real/cutroom   … the program
//	HOME/messages       what passed between the last host and the server
type lab struct {
	repository string
	home       string
	client     string // the pinned host's program
	pinned     string // its version, by the name of its folder
	models     string
}

func (l *lab) path(elem ...string) string { return filepath.Join(append([]string{l.home}, elem...)...) }
func (l *lab) real() string               { return l.path("real", "cutroom") }
func (l *lab) log() string                { return l.path("messages") }

// canary is a secret in every host's environment; it must reach neither the model nor
// a program that a tool runs.
const canary = "canary-5d0c1f7e-of-the-hosts-environment"

// env is the whole environment of a host.
func (l *lab) env(more ...string) []string {
	return append([]string{
		"HOME=" + l.home, "PATH=" + l.path("bin") + ":/usr/bin:/bin:/usr/sbin:/sbin",
		"LANG=C.UTF-8", "TMPDIR=" + l.path("tmp"), "ATTEST_CANARY=" + canary,
	}, more...)
}

// newLab makes a home in dir around a built program.
func newLab(dir, repository, program, models string) (*lab, error) {
	l := &lab{repository: repository, home: dir, models: models}
	for _, d := range []string{"bin", "real", "tmp", ".config/cutroom", ".local/share/cutroom"} {
		if err := os.MkdirAll(l.path(d), 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(models, l.path(".local/share/cutroom/models")); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	// A login shell, which some hosts start, has the system's PATH and this.
	if err := errors.Join(os.WriteFile(l.real(), text, 0o755), write(l.path(".profile"), `PATH="$HOME/bin:$PATH"`+"\n")); err != nil {
		return nil, err
	}
	_, err = l.command(l.home, l.real(), "setup")
	return l, err
}

// command runs a program of ours in the lab's environment, as somebody on a terminal of
// their own does, whoever started the attestation, and returns what it printed.
func (l *lab) command(dir, program string, args ...string) (string, error) {
	complaints, err := os.CreateTemp(l.path("tmp"), "complaints-")
	if err != nil {
		return "", err
	}
	defer os.Remove(complaints.Name())
	defer complaints.Close()
	out, code, err := l.orphan(dir, l.env(), nil, complaints, append([]string{program}, args...)...)
	if err != nil {
		return "", err
	}
	if code != "0" {
		text, err := os.ReadFile(complaints.Name())
		return "", errors.Join(fmt.Errorf("%s %s: exit code %s: %s", filepath.Base(program), strings.Join(args, " "), code, tail(string(text))), err)
	}
	return string(out), nil
}

// orphan runs a program that no host is above, and returns what it printed and its exit
// code.
func (l *lab) orphan(dir string, env []string, in, complaints *os.File, args ...string) (out []byte, code string, err error) {
	file, err := os.CreateTemp(l.path("tmp"), "out-")
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if code, err = persontest.Orphan(dir, env, in, file, complaints, args...); err != nil {
		return nil, "", err
	}
	out, err = os.ReadFile(file.Name())
	return out, code, err
}

// install sets the host up, for a project or the user, with the real installer, from the place that
// the program has on PATH, and then puts the tee there.
func (l *lab) install(project, host, scope string) error {
	on := l.path("bin", "cutroom")
	if err := errors.Join(removed(on), os.Link(l.real(), on)); err != nil {
		return err
	}
	if _, err := l.command(project, on, "install", host, "--scope", scope); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = mcp ] || exec %s \"$@\"\nexec %s %s %s %s \"$@\"\n",
		quoted(l.real()), quoted(self), teeMode, quoted(l.log()), quoted(l.real()))
	return errors.Join(removed(on), os.WriteFile(on, []byte(script), 0o755))
}

// uninstall takes out what install wrote for the user.
func (l *lab) uninstall(project, host string) error {
	_, err := l.command(project, l.real(), "uninstall", host, "--scope", "user")
	return err
}

// configure writes the user's own configuration of cutroom; "" is none.
func (l *lab) configure(text string) error {
	file := l.path(".config/cutroom/cutroom.yaml")
	if text == "" {
		return removed(file)
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// quoted is a word of sh.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// tail is the end of what a program printed.
func tail(text string) string {
	const most = 2000
	if text = strings.TrimSpace(text); len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// pin installs a host's program where it is not installed yet, and returns its path
// and version.
func pin(ctx context.Context, repository, host string) (program, version string, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(repository, "scripts", "hosts.sh"), host)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return "", "", fmt.Errorf("%w: %w: %s", errNoHost, err, tail(complaints.String()))
	}
	folder := strings.TrimSpace(out.String())
	version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(folder), host+"-"), "-linux-x64")
	return filepath.Join(folder, "bin", host), version, nil
}

var errNoHost = errors.New("the host cannot be installed here")

// build makes the program that is attested.
func build(ctx context.Context, repository, to string) error {
	return buildOne(ctx, repository, "-trimpath", "-o", to, "./cmd/cutroom")
}

// findModels returns the folder of models: CUTROOM_MODELS, else where
// scripts/models.sh puts them.
func findModels() (string, error) {
	if dir := os.Getenv("CUTROOM_MODELS"); dir != "" {
		return dir, nil
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		data = filepath.Join(home, ".local", "share")
	}
	dir := filepath.Join(data, "cutroom", "models")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("no models: %w; run scripts/models.sh", err)
	}
	return dir, nil
}
