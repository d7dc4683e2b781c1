// Command cutroom watches and edits media through sandboxed programs.
//
// main builds the parts, opens a door and exits with its code. Started under the
// name of one of the sandboxed engines it is that engine and nothing else.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"cutroom/internal/cli"
	"cutroom/internal/object"
	"cutroom/internal/ocr"
	"cutroom/internal/redact"
	"cutroom/internal/setup"
	"cutroom/internal/speech"
	"cutroom/internal/tools"
)

func main() { os.Exit(run()) }

func run() int {
	if engine := engineOf(filepath.Base(os.Args[0])); engine != nil {
		return engine(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	deferCollection()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cutroom: the current folder is gone; change to another one")
		return 1
	}
	ctx, code, stop := untilSignal()
	defer stop()
	app := &cli.App{
		Redact:   redact.New(setup.Secrets),
		Families: tools.Families(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Dir: dir, Interrupted: code, MCP: serveMCP, Serve: serve,
	}
	return app.Run(ctx, os.Args[1:])
}

// deferCollection lets a short call end before the collector of garbage has run: it
// would take a third of the call's processor time. In a process that lasts it runs
// more often than usual: most of the garbage is whole pictures, and little else is
// kept.
func deferCollection() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(400)
	time.AfterFunc(time.Second, func() { debug.SetGCPercent(50) })
}

// engineOf returns the main function of the engine that runs under that name, nil
// when the name is not one's. The sandbox starts an engine by the name it has in the
// toolchain.
func engineOf(name string) func([]string, io.Reader, io.Writer, io.Writer) int {
	switch strings.TrimPrefix(name, "cutroom-") {
	case "speech":
		return speech.Child
	case "ocr":
		return ocr.Child
	case object.Program:
		return object.Child
	}
	return nil
}

// untilSignal returns a context that the first SIGINT or SIGTERM cancels, and the
// exit code that the signal asks for. The second signal ends the process; what runs
// in the sandbox dies with it.
func untilSignal() (ctx context.Context, code func() int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var asked atomic.Int32
	asked.Store(130)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for n := 0; ; n++ {
			s, open := <-signals
			if !open {
				return
			}
			if s == syscall.SIGTERM {
				asked.Store(143)
			}
			if n > 0 {
				os.Exit(int(asked.Load()))
			}
			cancel()
		}
	}()
	return ctx, func() int { return int(asked.Load()) }, func() {
		signal.Stop(signals)
		close(signals)
		<-finished
		cancel()
	}
}
