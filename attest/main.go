// Command attest drives real hosts, unattended, against a scripted model and our
// server, and says what they were seen to do: docs/reference/hosts.md for people,
// internal/host/qualified.json for the program. It does the same for the libraries by
// which programs ask models, with the gateway before a scripted model.
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
		case behindMode:
			return behind(os.Args[2:])
		}
	}
	return f()
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	names := flag.String("hosts", "claude,codex,opencode", "hosts to attest, separated by commas; none may be named")
	others := flag.String("libraries", "openai-js,anthropic-js,openai-go,anthropic-go", "libraries to attest, as hosts")
	fast := flag.Bool("fast", false, "only what the tests try, and write nothing")
	parts := flag.String("stages", "", "only watch and these stages, separated by commas, and write nothing")
	keep := flag.Bool("keep", false, "leave the hosts' home folders, for a look into a failure")
	flag.Parse()
	asked := append(strings.Split(*names, ","), strings.Split(*others, ",")...)
	seen, err := attest(ctx, asked, choose(*fast, *parts), *keep, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attest:", err)
		return 1
	}
	fmt.Print(page(seen))
	for _, v := range slices.Concat(seen.Hosts, seen.Libraries) {
		if slices.Contains(asked, v.Host) && !v.qualified() {
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

// attest tries hosts and libraries and, unless only some stages are asked for, writes down
// what was seen, beside what is known of the others.
func attest(ctx context.Context, names []string, some func(stage) bool, keep bool, log io.Writer) (known verdicts, err error) {
	repository, err := findRepository()
	if err != nil {
		return known, err
	}
	dir, err := os.MkdirTemp("", "cutroom-attest-")
	if err != nil {
		return known, err
	}
	if keep {
		fmt.Fprintln(log, "attest: the homes are in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	models, err := findModels()
	if err != nil {
		return known, err
	}
	program := filepath.Join(dir, "cutroom")
	if err := build(ctx, repository, program); err != nil {
		return known, err
	}
	if known, err = readVerdicts(repository); err != nil {
		return known, err
	}
	lab := func(name string) (*lab, error) { return newLab(filepath.Join(dir, name), repository, program, models) }
	say := func(name string) func(string, ...any) {
		return func(format string, args ...any) {
			fmt.Fprintf(log, "attest: %s: %s\n", name, fmt.Sprintf(format, args...))
		}
	}
	for _, c := range clients() {
		if !slices.Contains(names, c.name) {
			continue
		}
		l, err := lab(c.name)
		if err != nil {
			return known, err
		}
		v, err := l.attest(ctx, c, some, say(c.name))
		if err != nil {
			return known, err
		}
		known.Hosts = replace(known.Hosts, v)
	}
	seen, err := attestLibraries(ctx, lab, names, some != nil, say)
	for _, v := range seen {
		known.Libraries = replace(known.Libraries, v)
	}
	if err != nil || some != nil {
		return known, err
	}
	return known, writeVerdicts(repository, known)
}

// attestLibraries tries the libraries that are named, all with one server; still leaves
// sound and video out.
func attestLibraries(ctx context.Context, lab func(string) (*lab, error), names []string, still bool, say func(string) func(string, ...any)) ([]Verdict, error) {
	chosen := slices.DeleteFunc(libraries(), func(l library) bool { return !slices.Contains(names, l.name) })
	if len(chosen) == 0 {
		return nil, nil
	}
	l, err := lab("libraries")
	if err != nil {
		return nil, err
	}
	s, err := l.serve(ctx, "media")
	if err != nil {
		return nil, err
	}
	defer s.close()
	var list []Verdict
	for _, lib := range chosen {
		v, err := l.attestLibrary(ctx, lib, s, still, say(lib.name))
		if err != nil {
			return list, err
		}
		for _, r := range v.Rows {
			if !r.Passed {
				say(lib.name)("not passed: %s", r.Check)
			}
		}
		list = append(list, v)
	}
	return list, nil
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
