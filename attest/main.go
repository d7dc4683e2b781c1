// Command attest drives real hosts, unattended, against a scripted model and our
// server, and says what they were seen to do: docs/reference/hosts.md for people,
// internal/host/qualified.json for the program.
//
// It promises that a row stands for something observed in this very run: that a host
// called a tool is read from what passed between the two, that a text or a picture
// reached the model from the request that the model got. The hosts are pinned
// (scripts/hosts.lock), get dummy keys and nothing of our environment, and run where
// only loopback can be reached. It must never know how a tool does its work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() { os.Exit(hiddenOr(run)) }

// hiddenOr runs one of the modes that this program starts itself in, or f.
func hiddenOr(f func() int) int {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case insideMode:
			return inside()
		case teeMode:
			return tee(os.Args[2:])
		}
	}
	return f()
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	names := flag.String("hosts", "claude,codex,opencode", "hosts to attest, separated by commas")
	fast := flag.Bool("fast", false, "only what the tests try, and write nothing")
	parts := flag.String("stages", "", "only watch and these stages, separated by commas, and write nothing")
	keep := flag.Bool("keep", false, "leave the hosts' home folders, for a look into a failure")
	flag.Parse()
	verdict, err := attest(ctx, strings.Split(*names, ","), choose(*fast, *parts), *keep, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attest:", err)
		return 1
	}
	fmt.Print(page(verdict))
	for _, h := range verdict {
		if slices.Contains(strings.Split(*names, ","), h.Host) && !h.qualified() {
			return 1
		}
	}
	return 0
}

// choose says which stages are tried; nil is all.
func choose(fast bool, parts string) func(stage) bool {
	switch {
	case fast:
		return quick
	case parts != "":
		return func(s stage) bool { return s.name == "watch" || slices.Contains(strings.Split(parts, ","), s.name) }
	}
	return nil
}

func quick(s stage) bool { return s.fast }

// attest tries the hosts and, unless only some stages are asked for, writes down what
// was seen, beside what is known of the other hosts.
func attest(ctx context.Context, names []string, some func(stage) bool, keep bool, log io.Writer) ([]Verdict, error) {
	repository, err := findRepository()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cutroom-attest-")
	if err != nil {
		return nil, err
	}
	if keep {
		fmt.Fprintln(log, "attest: the homes are in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	models, err := findModels()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "cutroom")
	if err := build(ctx, repository, program); err != nil {
		return nil, err
	}
	known, err := readVerdicts(repository)
	if err != nil {
		return nil, err
	}
	for _, c := range clients() {
		if !slices.Contains(names, c.name) {
			continue
		}
		say := func(format string, args ...any) {
			fmt.Fprintf(log, "attest: %s: %s\n", c.name, fmt.Sprintf(format, args...))
		}
		l, err := newLab(filepath.Join(dir, c.name), repository, program, models)
		if err != nil {
			return nil, err
		}
		v, err := l.attest(ctx, c, some, say)
		if err != nil {
			return nil, err
		}
		known = replace(known, v)
	}
	if some != nil {
		return known, nil
	}
	return known, writeVerdicts(repository, known)
}

// attest tries one host.
func (l *lab) attest(ctx context.Context, c client, some func(stage) bool, say func(string, ...any)) (Verdict, error) {
	a, err := newAttestation(ctx, l, c, say)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Host: c.name, Title: c.title}
	for _, part := range a.stages() {
		if some != nil && !some(part) {
			continue
		}
		rows, err := part.run(ctx)
		if err != nil {
			return v, fmt.Errorf("%s, %s: %w", c.name, part.name, err)
		}
		v.Rows = append(v.Rows, rows...)
	}
	v.Version, v.Protocol = a.pinned, a.seen.protocol
	return v, nil
}

// findRepository is the nearest folder at or above this one that holds go.mod.
func findRepository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run it in the repository")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
