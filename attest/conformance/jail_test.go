package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom/internal/testenv"
)

// limit is when a program that hangs is ended; the slowest needs a few seconds.
const limit = 2 * time.Minute

// jail is where the programs of others run: with nothing of our environment, and where
// the machine allows it in a network of their own that has only the loopback device.
type jail struct {
	wrap []string // goes before the command
	path string   // PATH
	home string   // also the folder that programs start in
}

// newJail puts the folders bin of folders into PATH, before the system's.
func newJail(t *testing.T, folders ...string) jail {
	t.Helper()
	var path []string
	for _, f := range folders {
		path = append(path, filepath.Join(f, "bin"))
	}
	j := jail{wrap: wrapper(t), home: t.TempDir(), path: strings.Join(append(path, "/usr/bin", "/bin", "/usr/sbin", "/sbin"), ":")}
	if err := os.Mkdir(filepath.Join(j.home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	return j
}

// wrapper finds the strictest way that works here: as root, as a user who may make
// namespaces, or without one.
func wrapper(t *testing.T) []string {
	t.Helper()
	const up = `ip link set lo up && exec "$@"`
	for _, own := range [][]string{{"-n"}, {"-r", "-n"}} {
		// The process namespace ends whatever a program leaves behind.
		w := append(append([]string{"unshare"}, own...), "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", up, "sh")
		if exec.CommandContext(t.Context(), w[0], append(w[1:], "true")...).Run() == nil {
			return w
		}
	}
	t.Log("no network namespace can be made here: the programs see this machine's network")
	return nil
}

// run runs a command and returns its exit code and what it wrote.
func (j jail) run(t *testing.T, command ...string) (code int, out, complaints string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	all := append(append([]string{}, j.wrap...), command...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir = j.home
	cmd.Env = []string{"HOME=" + j.home, "PATH=" + j.path, "TMPDIR=" + filepath.Join(j.home, "tmp")}
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%s did not end: %v\n%s\n%s", command[0], ctx.Err(), stdout.Bytes(), stderr.Bytes())
	case exited:
		code = exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	return code, stdout.String(), stderr.String()
}

// build builds a command of this repository.
func build(t *testing.T, name string) string {
	t.Helper()
	root := testenv.Root(t)
	// The test cache knows what a test opened, not what a compiler it ran did.
	for dir := range strings.Lines(string(testenv.Run(t, root, "go", "list", "-deps", "-f", "{{.Dir}}", "./"+name))) {
		if dir = strings.TrimSpace(dir); !strings.HasPrefix(dir, root+string(filepath.Separator)) {
			continue
		}
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(t.TempDir(), filepath.Base(name))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./"+name)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return binary
}
