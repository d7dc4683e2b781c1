package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cutroom/internal/provider"
)

// library is a library by which programs ask models, made by the maker of the models.
type library struct {
	name   string
	title  string
	pinned string // name in scripts/hosts.lock; "" for one in Go, which go.mod pins
	module string // of one in Go
	models string // what lists the models is ordered by
	wires  []provider.Wire
}

func libraries() []library {
	openAI := []provider.Wire{provider.Chat, provider.Responses}
	anthropic := []provider.Wire{provider.Messages}
	return []library{
		{"openai-js", "openai for JavaScript", "openai-js", "", "models", openAI},
		{"anthropic-js", "@anthropic-ai/sdk", "anthropic-js", "", "models", anthropic},
		{"openai-go", "openai-go", "", "github.com/openai/openai-go/v3", "models", openAI},
		{"anthropic-go", "anthropic-sdk-go", "", "github.com/anthropics/anthropic-sdk-go/v2", "anthropic-models", anthropic},
	}
}

// clientFolder holds the programs that use the libraries.
const clientFolder = "attest/testdata/client"

// order is what such a program is told to do: to ask over a wire, or to list models.
type order struct {
	Do     string   `json:"do"`
	Base   string   `json:"base"` // address without a path
	Key    string   `json:"key"`
	Model  string   `json:"model"`
	Text   string   `json:"text"`
	Stream bool     `json:"stream"`
	Tools  bool     `json:"tools"`
	Again  bool     `json:"again"` // the question goes on
	Media  []medium `json:"media"`
}

// medium is a block of a question: content, or the path of a file.
type medium struct {
	Kind string `json:"kind"`
	Type string `json:"type"`
	Data []byte `json:"data,omitempty"`
	Path string `json:"path,omitempty"`
	Name string `json:"name"`
}

// told is what the program says that its library made of the answer.
type told struct {
	Begun bool            `json:"begun"` // only that the first event came
	Doc   json.RawMessage `json:"doc"`   // the answer, or all events
	Text  string          `json:"text"`
	Calls []struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"calls"`
	Usage   []int64           `json:"usage"` // in, out, of them cached
	Models  []string          `json:"models"`
	Headers map[string]string `json:"headers"`
	Fault   *struct {
		Name    string          `json:"name"` // of the error's type
		Status  int             `json:"status"`
		Doc     json.RawMessage `json:"doc"`
		Message string          `json:"message"`
	} `json:"fault"`
}

// customer is a running program that uses a library.
type customer struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	complains bytes.Buffer
}

// open starts the program of a library, and returns the library's version.
func (l library) open(ctx context.Context, repository, dir string) (*customer, string, error) {
	name, args, version, err := l.program(ctx, repository, dir)
	if err != nil {
		return nil, "", err
	}
	c := &customer{cmd: exec.CommandContext(ctx, name, args...)}
	c.cmd.Dir, c.cmd.Stderr = dir, &c.complains
	c.cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=" + dir}
	c.in, err = c.cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	c.out = bufio.NewReader(out)
	return c, version, c.cmd.Start()
}

// program is the command line by which a library is used.
func (l library) program(ctx context.Context, repository, dir string) (name string, args []string, version string, err error) {
	if l.module != "" {
		to := filepath.Join(dir, "client")
		version, err = goVersion(ctx, repository, l.module)
		return to, nil, version, errors.Join(err, buildOne(ctx, repository, "-o", to, "./"+clientFolder))
	}
	node, _, err := folder(ctx, repository, "node22")
	if err != nil {
		return "", nil, "", err
	}
	pack, version, err := folder(ctx, repository, l.pinned)
	if err != nil {
		return "", nil, "", err
	}
	script := strings.TrimSuffix(l.pinned, "-js") + ".mjs"
	return filepath.Join(node, "bin", "node"), []string{filepath.Join(repository, filepath.FromSlash(clientFolder), script), filepath.Join(pack, "bin", script)}, version, nil
}

// goVersion is the version of a module that the program is built with.
func goVersion(ctx context.Context, repository, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", module)
	cmd.Dir = repository
	out, err := cmd.Output()
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), err
}

// askTime bounds one question: on a busy machine a video is read in a few seconds.
const askTime = 90 * time.Second

// ask has the program do one thing; begun is called when the first event of a stream came.
func (c *customer) ask(o order, begun func()) (told, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return told{}, err
	}
	defer time.AfterFunc(askTime, func() { _ = c.cmd.Process.Kill() }).Stop()
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return told{}, c.failed(err)
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return told{}, c.failed(err)
		}
		var t told
		if err := json.Unmarshal(line, &t); err != nil {
			return told{}, err
		}
		if !t.Begun {
			return t, nil
		}
		begun()
	}
}

func (c *customer) failed(err error) error {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // so that what it said is whole
	return fmt.Errorf("the client ended: %w: %s", err, tail(c.complains.String()))
}

// close ends the program.
func (c *customer) close() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// folder installs what scripts/hosts.lock pins under a name where it is not installed yet.
func folder(ctx context.Context, repository, name string) (path, version string, err error) {
	program, version, err := pin(ctx, repository, name)
	return filepath.Dir(filepath.Dir(program)), version, err
}

// buildOne builds a program of the repository.
func buildOne(ctx context.Context, repository string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build"}, args...)...)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", args[len(args)-1], err, tail(string(out)))
	}
	return nil
}
