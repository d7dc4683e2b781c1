package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sh runs a line of sh in a jail and returns what it prints.
func sh(t *testing.T, ctx context.Context, line string, started func(int)) (out string, code int, confined bool) {
	t.Helper()
	var printed, complaints bytes.Buffer
	j, err := openJail(&printed, &complaints)
	if err != nil {
		t.Fatal(err)
	}
	defer j.listener.Close()
	code, err = j.run(ctx, program{Path: "/bin/sh", Args: []string{"-c", line}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin", "ONLY=this"}}, started)
	if err != nil {
		t.Fatalf("%v\n%s", err, &complaints)
	}
	return printed.String(), code, j.confined
}

func TestJail(t *testing.T) {
	t.Parallel()
	out, code, confined := sh(t, t.Context(), `env | sort | tr '\n' ' '; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \n'; exit 7`, func(int) {})
	if code != 7 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(out, "ONLY=this") || strings.Contains(out, "HOME=") {
		t.Errorf("the environment is not the given one: %s", out)
	}
	if !confined {
		t.Log("no namespaces here: the rest cannot be shown")
		return
	}
	if !strings.HasSuffix(out, " lo") {
		t.Errorf("more than loopback, or less: %s", out)
	}
}

// running counts the processes whose command line ends with a word.
func running(t *testing.T, word string) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range lines {
		text, err := os.ReadFile(l) // one that has ended cannot be read
		if err == nil && strings.HasSuffix(string(text), "\x00"+word+"\x00") {
			n++
		}
	}
	return n
}

// What a host leaves behind ends with it, and with the time that it was given.
func TestJailLeavesNothing(t *testing.T) {
	t.Parallel()
	// A time to sleep that nobody else sleeps tells our processes.
	word := strconv.Itoa(100_000 + os.Getpid())
	seen := filepath.Join(t.TempDir(), "seen")
	line := "sleep " + word + " >/dev/null 2>&1 & setsid sleep " + word + " >/dev/null 2>&1 & until test -e " + seen + "; do sleep 0.02; done"
	_, code, confined := sh(t, t.Context(), line, func(int) {
		for range 10_000 { // some seconds
			if running(t, word) == 2 {
				break
			}
		}
		if n := running(t, word); n != 2 {
			t.Errorf("%d processes are seen", n)
		}
		if err := os.WriteFile(seen, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if n := running(t, word); code != 0 || confined && n != 0 {
		t.Errorf("exit code %d, %d processes left", code, n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, code, _ = sh(t, ctx, "exec sleep "+word, func(int) {})
	if n := running(t, word); code != -1 || confined && n != 0 {
		t.Errorf("killed: exit code %d, %d processes left", code, n)
	}
}
