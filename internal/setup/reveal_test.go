package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/redact"
	"cutroom/internal/testenv"
)

// revealChild is the process that reveals one reference: the connection to the session's
// bus is kept by a process for good.
func revealChild(reference string) int {
	values, err := revealAll("a.key", reference)
	if err != nil {
		e := cutroom.AsError(err)
		fmt.Printf("%s: %s (%s)\n", e.Code, e.Msg, e.Hint)
		return 1
	}
	fmt.Printf("%q\n", values)
	return 0
}

func TestReveal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte("  of-a-file \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUTROOM_TEST_ONE", "first-value")
	t.Setenv("CUTROOM_TEST_MANY", "second-value, third-value,")
	r := redact.New(nil)
	i := &Installation{redact: r}
	values, err := i.Reveal("models[0].key", "env:CUTROOM_TEST_ONE, env:CUTROOM_TEST_MANY,file:"+file)
	if err != nil || !slices.Equal(values, []string{"first-value", "second-value", "third-value", "of-a-file"}) {
		t.Fatalf("%q, %v", values, err)
	}
	for _, v := range values {
		if got := r.Text("it is " + v + " here"); strings.Contains(got, v) {
			t.Errorf("not known to the redactor: %s", got)
		}
	}
	if values, err := i.Reveal("models[0].key", ""); err != nil || len(values) != 0 {
		t.Errorf("%q, %v", values, err)
	}
	for reference, want := range map[string]cutroom.Code{
		"env:CUTROOM_TEST_NONE":                       cutroom.Precondition,
		"file:" + dir:                                 cutroom.Precondition,
		"file:" + filepath.Join(dir, "gone"):          cutroom.Precondition,
		"file:/dev/zero":                              cutroom.Precondition,
		"sk-hush-hush":                                cutroom.Invalid,
		"env:CUTROOM_TEST_ONE,sk-hush-hush":           cutroom.Invalid,
		"env:CUTROOM_TEST_ONE, env:CUTROOM_TEST_NONE": cutroom.Precondition,
		"file:relative":                               cutroom.Invalid,
		"vault:x":                                     cutroom.Invalid,
	} {
		_, err := i.Reveal("models[0].key", reference)
		e := cutroom.AsError(err)
		if e == nil || e.Code != want || e.Hint == "" || !strings.Contains(e.Msg, "models[0].key") || strings.Contains(e.Msg+e.Hint, "hush") || strings.Contains(e.Msg+e.Hint, dir) {
			t.Errorf("%s: %v (%+v)", reference, err, e)
		}
	}
}

// session starts a bus of its own, on which nothing is started by itself.
func busOf(t *testing.T, dir string) (address string) {
	t.Helper()
	file := filepath.Join(dir, "bus.conf")
	text := `<busconfig><type>session</type><listen>unix:dir=` + dir + `</listen><policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	line := make(chan string, 1)
	daemon(t, line, nil, nil, "dbus-daemon", "--nofork", "--nopidfile", "--config-file="+file, "--print-address")
	return <-line
}

// daemon runs a program until the test ends; its first line of output is sent to line.
func daemon(t *testing.T, line chan<- string, env []string, in io.Reader, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), env...), in
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s := bufio.NewScanner(out)
		if s.Scan() && line != nil {
			line <- s.Text()
		}
		_, _ = io.Copy(io.Discard, out)
		if line != nil {
			close(line)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-read
		_ = cmd.Wait()
	})
}

// TestKeyring: a secret of a real keyring is found, one that is not there and a missing
// service are said as such.
func TestKeyring(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "dbus-daemon", "gnome-keyring-daemon", "secret-tool")
	dir := t.TempDir()
	env := []string{"DBUS_SESSION_BUS_ADDRESS=" + busOf(t, dir), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "XDG_DATA_HOME=" + dir, "DISPLAY=", "WAYLAND_DISPLAY="}
	run := func(in string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		if args[0] == "reveal" {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd = &exec.Cmd{Path: exe, Args: args}
		}
		cmd.Env, cmd.Stdin = append(os.Environ(), env...), strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// No service on the bus.
	if out, err := run("", "reveal", "keyring:mine"); err == nil || !strings.Contains(out, "precondition: a.key: no keyring answers here") || !strings.Contains(out, "env:NAME") {
		t.Errorf("%s%v", out, err)
	}
	daemon(t, nil, env, strings.NewReader("a passphrase"), "gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets", "--control-directory="+dir)
	stored := func() error {
		out, err := run("of-a-keyring, the-other", "secret-tool", "store", "--label=test", "service", "cutroom", "username", "mine")
		return errors.Join(err, silence(out))
	}
	deadline := time.Now().Add(20 * time.Second)
	err := stored()
	for ; err != nil && time.Now().Before(deadline); err = stored() { // until the service has its name on the bus
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run("", "reveal", "keyring:mine"); err != nil || out != "[\"of-a-keyring\" \"the-other\"]\n" {
		t.Errorf("%s%v", out, err)
	}
	if out, err := run("", "reveal", "keyring:other"); err == nil || !strings.Contains(out, "there is no secret at keyring:other (store it as secret-tool store") {
		t.Errorf("%s%v", out, err)
	}
}

func silence(out string) error {
	if out != "" {
		return errors.New(out)
	}
	return nil
}
