package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tools/video"
)

const hello = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"

// startUp compares the start of cutroom with that of the smallest Go program.
func startUp(ctx context.Context, l *lab) ([]figure, error) {
	dir := filepath.Join(l.tmp, "hello")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"main.go": hello, "go.mod": "module hello\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	build := l.command(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", "hello", ".")
	build.Dir, build.Env = dir, append(build.Env, "CGO_ENABLED=0")
	if _, err := l.run(build); err != nil {
		return nil, err
	}
	plain := []step{l.plain(filepath.Join(dir, "hello"))}
	var figures []figure
	for _, c := range []contest{
		{what: "start", plain: "hello world in Go", ours: "cutroom version", unit: "ms", target: 30, wall: true, cheap: 4, by: plain, our: l.plain(l.bin, "version")},
		{what: "start to tools listed", plain: "hello world in Go", ours: "cutroom mcp, initialize and tools/list answered", unit: "ms", target: 60, wall: true, cheap: 4, by: plain, our: l.listed},
	} {
		f, err := c.run(ctx, l)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// greeting is what a host says before it knows the tools.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// listed starts the MCP server and takes the time until it has listed its tools.
func (l *lab) listed(ctx context.Context, _ int) (sample, error) {
	c := l.command(ctx, l.bin, "mcp")
	c.Dir = l.media
	in, err := c.StdinPipe()
	if err != nil {
		return sample{}, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return sample{}, err
	}
	_, err = io.WriteString(in, greeting)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for answers := 0; err == nil && answers < 2 && lines.Scan(); answers++ {
	}
	took := time.Since(began)
	err = errors.Join(err, lines.Err(), in.Close(), c.Wait())
	return sample{took, c.ProcessState.UserTime() + c.ProcessState.SystemTime()}, err
}

func sourceOf(file string) video.ProbeInput {
	return video.ProbeInput{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: file}}
}

// look is the ffprobe that a probe runs: its arguments, with the file as descriptor 3.
func (l *lab) look(file string) (cmd argv.Command, args []string, open func() (*os.File, error), err error) {
	path := filepath.Join(l.media, file)
	open = func() (*os.File, error) { return os.Open(path) }
	f, err := open()
	if err != nil {
		return cmd, nil, nil, err
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return cmd, nil, nil, err
	}
	format, err := ffmpeg.Sniff(head[:n], file)
	if err != nil {
		return cmd, nil, nil, err
	}
	cmd = ffmpeg.Look(0, format)
	args, err = argv.Render(cmd, argv.Programs()["ffprobe"], argv.GrantsOf(cmd, nil))
	return cmd, args, open, err
}

// given is a step that runs a program with a file as descriptor 3.
func (l *lab) given(open func() (*os.File, error), program string, args []string) step {
	return func(ctx context.Context, _ int) (sample, error) {
		f, err := open()
		if err != nil {
			return sample{}, err
		}
		defer f.Close()
		c := l.command(ctx, program, args...)
		c.ExtraFiles = []*os.File{f}
		return l.run(c)
	}
}

// boxed is a step that runs a command in a sandbox of this process.
func boxed(box *sandbox.Sandbox, cmd argv.Command, dir string, open func() (*os.File, error)) step {
	return func(ctx context.Context, _ int) (sample, error) {
		grant := sandbox.Grant{Dir: dir}
		if open != nil {
			f, err := open()
			if err != nil {
				return sample{}, err
			}
			defer f.Close()
			grant.Inputs = []*os.File{f}
		}
		began := time.Now()
		r, err := box.Run(ctx, cmd, grant)
		if err == nil && r.Exit != 0 {
			err = fmt.Errorf("%s in the sandbox: exit %d", cmd.Program, r.Exit)
		}
		return sample{time.Since(began), time.Duration(r.CPU) * time.Microsecond}, err
	}
}

// newBox pins the named programs and makes a sandbox for them.
func newBox(pins ...sandbox.Pin) (*sandbox.Sandbox, error) {
	return sandbox.New(sandbox.Options{
		Toolchain: sandbox.NewToolchain(pins...), Tables: []argv.Table{argv.Plain("true", nil, nil)},
	})
}

func pin(name string) (sandbox.Pin, string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return sandbox.Pin{}, "", err
	}
	p, err := sandbox.PinProgram(name, path, sandbox.PinOptions{})
	return p, path, err
}

// sandboxed compares a program in the sandbox with the same one outside.
func sandboxed(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, small); err != nil {
		return nil, err
	}
	truth, truePath, err := pin("true")
	if err != nil {
		return nil, err
	}
	probe, probePath, err := pin("ffprobe")
	if err != nil {
		return nil, err
	}
	box, err := newBox(truth, probe)
	if err != nil {
		return nil, err
	}
	cmd, args, open, err := l.look(small)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, c := range []contest{
		{
			what: "sandbox of true", plain: "true", ours: "true in the sandbox",
			by: []step{l.plain(truePath)}, our: boxed(box, argv.Command{Program: "true"}, l.tmp, nil),
		},
		{
			what: "sandbox of ffprobe", plain: "ffprobe", ours: "ffprobe in the sandbox",
			by: []step{l.given(open, probePath, args)}, our: boxed(box, cmd, l.tmp, open),
		},
	} {
		c.unit, c.target, c.wall, c.cheap = "ms", 10, true, 4
		f, err := c.run(ctx, l)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// probing compares a call of a tool with the program that it runs, beyond the start
// of the process.
func probing(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, small); err != nil {
		return nil, err
	}
	_, args, open, err := l.look(small)
	if err != nil {
		return nil, err
	}
	cold, err := l.invoke(invocation{tool: "video.probe", request: sourceOf(small), before: l.forget("facts", "identity")})
	if err != nil {
		return nil, err
	}
	known, err := l.invoke(invocation{tool: "video.probe", request: sourceOf(small)})
	if err != nil {
		return nil, err
	}
	version := l.plain(l.bin, "version")
	first, err := contest{
		what: "first probe of a file", plain: "ffprobe with the same arguments + cutroom version", ours: "cutroom tool invoke video.probe",
		unit: "ms", target: 15, wall: true, cheap: 4, by: []step{version, l.given(open, "ffprobe", args)}, our: cold,
	}.run(ctx, l)
	if err != nil {
		return nil, err
	}
	second, err := contest{
		what: "probe of a known file, recorded anew", plain: "cutroom version", ours: "cutroom tool invoke video.probe",
		unit: "ms", target: 15, wall: true, cheap: 4, by: []step{version}, our: known,
	}.run(ctx, l)
	return []figure{first, second}, err
}

// reusing compares the repetition of a watch with a start of the process.
func reusing(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, talk); err != nil {
		return nil, err
	}
	dir := l.fresh()
	defer os.RemoveAll(filepath.Join(l.media, dir))
	watch := l.plain(l.bin, "watch", talk, "--mode", "timeline", "--json", "--quiet", "--root", l.media, "--stage", dir)
	if _, err := watch(ctx, 0); err != nil {
		return nil, err
	}
	f, err := contest{
		what: "repeated watch", plain: "cutroom version", ours: "cutroom watch, everything recorded", unit: "ms", target: 50, wall: true, cheap: 4,
		by: []step{l.plain(l.bin, "version")}, our: watch,
	}.run(ctx, l)
	return []figure{f}, err
}
