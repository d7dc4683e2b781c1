package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lab is where everything is measured: our binary with an installation of its own,
// and a workspace that holds the media.
type lab struct {
	options
	root  string // of the repository
	bin   string // cutroom
	self  string // this program
	media string // workspace, kept between runs of the bench
	home  string // CUTROOM_HOME
	tmp   string
	calls int
}

func openLab(ctx context.Context, o options) (*lab, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	l := &lab{options: o, root: root}
	if l.self, err = os.Executable(); err != nil {
		return nil, err
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	l.media = filepath.Join(base, "cutroom-bench")
	if err := os.MkdirAll(l.media, 0o755); err != nil {
		return nil, err
	}
	if l.tmp, err = os.MkdirTemp("", "cutroom-bench-"); err != nil {
		return nil, err
	}
	l.bin, l.home = filepath.Join(l.tmp, "cutroom"), filepath.Join(l.tmp, "home")
	if err := l.install(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// install makes an installation that is the bench's own: it can then empty the
// caches, and another build meanwhile changes nothing.
func (l *lab) install(ctx context.Context) error {
	built, err := os.ReadFile(filepath.Join(l.root, "bin", "cutroom"))
	if err != nil {
		return fmt.Errorf("%w: run `make build` first", err)
	}
	if err := os.WriteFile(l.bin, built, 0o700); err != nil {
		return err
	}
	data := filepath.Join(l.home, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(modelsDir(), filepath.Join(data, "models")); err != nil {
		return err
	}
	_, err = l.run(l.command(ctx, l.bin, "setup"))
	return err
}

func modelsDir() string {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(os.Getenv("HOME"), ".local", "share")
	}
	return filepath.Join(data, "cutroom", "models")
}

func (l *lab) close() {
	os.RemoveAll(filepath.Join(l.media, filepath.Base(l.tmp)))
	os.RemoveAll(l.tmp)
}

// repository walks up from the current folder.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("run it inside the repository")
		}
		dir = up
	}
}

// command prepares a process in the workspace.
func (l *lab) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = l.media
	c.Env = append(os.Environ(), "CUTROOM_HOME="+l.home)
	apart(c)
	return c
}

// run runs a process to its end.
func (l *lab) run(c *exec.Cmd) (sample, error) {
	var said bytes.Buffer
	c.Stderr = &said
	began := time.Now()
	err := c.Run()
	s := sample{wall: time.Since(began)}
	if err != nil {
		return s, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args[:min(len(c.Args), 12)], " "), err, bytes.TrimSpace(said.Bytes()))
	}
	s.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return s, nil
}

// plain is a step that runs a program.
func (l *lab) plain(program string, args ...string) step {
	return func(ctx context.Context, _ int) (sample, error) { return l.run(l.command(ctx, program, args...)) }
}

// fresh returns a folder of results, relative to the workspace, that nothing has
// used.
func (l *lab) fresh() string {
	l.calls++
	return filepath.Join(filepath.Base(l.tmp), strconv.Itoa(l.calls))
}

// invocation is a call of a tool in a folder that holds no result of it.
type invocation struct {
	tool    string
	request any
	out     *bytes.Buffer                // gets the answer of the last run
	results func(dir string) error       // sees the folder of results before it is removed
	before  func() error                 // prepares, outside the time taken
	after   func(sample) (sample, error) // adds to what the call took
}

func (l *lab) invoke(i invocation) (step, error) {
	raw, err := json.Marshal(i.request)
	if err != nil {
		return nil, err
	}
	l.calls++
	file := filepath.Join(l.tmp, fmt.Sprintf("request-%d.json", l.calls))
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return nil, err
	}
	dir := l.fresh()
	return func(ctx context.Context, _ int) (sample, error) { return l.call(ctx, i, file, dir) }, nil
}

func (l *lab) call(ctx context.Context, i invocation, file, dir string) (sample, error) {
	if i.before != nil {
		if err := i.before(); err != nil {
			return sample{}, err
		}
	}
	c := l.command(ctx, l.bin, "tool", "invoke", i.tool, "--input", file, "--json", "--quiet", "--root", l.media, "--stage", dir)
	if i.out != nil {
		i.out.Reset()
		c.Stdout = i.out
	}
	s, err := l.run(c)
	if err == nil && i.results != nil {
		err = i.results(filepath.Join(l.media, dir))
	}
	if err == nil && i.after != nil {
		s, err = i.after(s)
	}
	return s, errors.Join(err, empty(filepath.Join(l.media, dir)))
}

// empty removes the results of a folder of results; what belongs to the folder itself
// begins with a dot and stays, as in a workspace that is in use.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// forget empties the named caches of the installation.
func (l *lab) forget(caches ...string) func() error {
	return func() error {
		for _, c := range caches {
			if err := os.RemoveAll(filepath.Join(l.home, "state", c)); err != nil {
				return err
			}
		}
		return nil
	}
}

func firstLineOf(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return program + ": " + err.Error()
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
