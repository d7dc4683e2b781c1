//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sandbox/child"
)

// noise is an endless source of noise, written by what follows.
func noise(more ...argv.Atom) argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=30,noise=alls=100:allf=t")
	return argv.Command{Program: "ffmpeg", Args: append(args, more...), Limits: argv.Limits{Wall: 5 * time.Minute}}
}

func TestLimitsEndARun(t *testing.T) {
	t.Parallel()
	raw := append(argv.Words("-f", "rawvideo"), argv.Out("o.raw"))
	frames := append(argv.Words("-f", "image2"), argv.Out("f%06d.bmp"))
	null := argv.Words("-f", "null", "-")
	for _, c := range []struct {
		name   string
		args   []argv.Atom
		limits argv.Limits
		want   cutroom.Code
	}{
		{"wall", null, argv.Limits{Wall: 300 * time.Millisecond}, cutroom.Timeout},
		{"cpu", null, argv.Limits{CPU: time.Second}, cutroom.Limit},
		{"memory", append(argv.Words("-vf", "scale=8000:8000"), null...), argv.Limits{Memory: 400 << 20, Wall: time.Minute}, cutroom.Limit},
		{"file size", raw, argv.Limits{FileSize: 4 << 20}, cutroom.Limit},
		{"written", frames, argv.Limits{Written: 8 << 20}, cutroom.Limit},
		{"written in one file", raw, argv.Limits{Written: 4 << 20}, cutroom.Limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := noise(c.args...)
			cmd.Limits = c.limits
			res, err := newBox(t, nil).Run(t.Context(), cmd, Grant{Dir: t.TempDir()})
			if code(err) != c.want {
				t.Fatalf("%v, want %s; %+v", err, c.want, res)
			}
			if cutroom.AsError(err).Hint == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestCancelKillsTheProgram(t *testing.T) {
	t.Parallel()
	box := newBox(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := noise(append(argv.Words("-f", "rawvideo"), argv.Pipe(0))...)
	seen := false
	cmd.Consume = []argv.Consumer{func(r io.Reader) (any, error) {
		n, err := io.CopyN(io.Discard, r, 1<<20)
		seen = err == nil
		cancel()
		m, err := io.Copy(io.Discard, r)
		return n + m, err
	}}
	_, err := box.Run(ctx, cmd, Grant{Dir: t.TempDir()})
	if code(err) != cutroom.Canceled || !seen {
		t.Fatalf("%v, saw output: %v", err, seen)
	}
}

func TestAConsumersErrorStopsTheProgram(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	cmd := noise(append(argv.Words("-f", "rawvideo"), argv.Pipe(0))...)
	cmd.Consume = []argv.Consumer{func(r io.Reader) (any, error) {
		n, _ := io.CopyN(io.Discard, r, 1<<16)
		return n, enough
	}}
	res, err := newBox(t, nil).Run(t.Context(), cmd, Grant{Dir: t.TempDir()})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if res.Values[0] != int64(1<<16) {
		t.Errorf("value %v", res.Values[0])
	}
}

func TestStdoutIsKeptUpToItsCap(t *testing.T) {
	t.Parallel()
	cmd := noise(append(argv.Words("-frames:v", "3", "-f", "rawvideo"), argv.Pipe(0))...)
	cmd.Limits.StdoutCap = 1000
	res, err := newBox(t, nil).Run(t.Context(), cmd, Grant{Dir: t.TempDir()})
	if err != nil || len(res.Stdout) != 1000 || !res.Cut {
		t.Fatalf("%v: %d bytes, cut %v", err, len(res.Stdout), res.Cut)
	}
}

func TestFailuresAreClassified(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "not-media")
	if err := os.WriteFile(text, []byte(strings.Repeat("no media here\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := argv.Command{
		Program: "ffprobe", Inputs: []int{0},
		Args: append(argv.Words("-v", "error", "-protocol_whitelist", "file", "-show_streams"), argv.In(0)),
	}
	var debug bytes.Buffer
	box := newBox(t, func(o *Options) { o.Debug = &debug })
	res, err := box.Run(t.Context(), cmd, Grant{Dir: dir, Inputs: []*os.File{f}})
	if code(err) != cutroom.ToolFailed || res.Exit != 1 || res.Complaints.Kinds["invalid_data"] == 0 {
		t.Fatalf("%v %+v", err, res)
	}
	if strings.Contains(err.Error(), "fd/") || !strings.Contains(debug.String(), "Invalid data found") {
		t.Errorf("error %q, debug %q", err, debug.String())
	}
	cmd.MayFail = true
	if res, err := box.Run(t.Context(), cmd, Grant{Dir: dir, Inputs: []*os.File{f}}); err != nil || res.Exit != 1 {
		t.Errorf("may fail: %v %+v", err, res)
	}
}

func TestAMissingOutputIsAFailure(t *testing.T) {
	t.Parallel()
	cmd := argv.Command{Program: "true", Outputs: []string{"o.mp4"}}
	_, err := newBox(t, nil).Run(t.Context(), cmd, Grant{Dir: t.TempDir()})
	if code(err) != cutroom.ToolFailed {
		t.Error(err)
	}
}

func TestWhatIsRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	box, dir := newBox(t, nil), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	cat := argv.Command{Program: "cat", Inputs: []int{0}, Args: []argv.Atom{argv.In(0)}}
	for _, c := range []struct {
		name string
		cmd  argv.Command
		g    Grant
		want cutroom.Code
	}{
		{"unknown program", argv.Command{Program: "sh"}, Grant{Dir: dir}, cutroom.MissingDependency},
		{"argument", argv.Command{Program: "cat", Args: argv.Words("/etc/passwd")}, Grant{Dir: dir}, cutroom.Denied},
		{"variable", argv.Command{Program: "true", Env: map[string]string{"LD_PRELOAD": "x"}}, Grant{Dir: dir}, cutroom.Denied},
		{"folder is a link", argv.Command{Program: "true"}, Grant{Dir: link}, cutroom.Internal},
		{"input is a folder", cat, Grant{Dir: dir, Inputs: []*os.File{folder}}, cutroom.Invalid},
		{"input was not granted", cat, Grant{Dir: dir}, cutroom.Internal},
	} {
		if _, err := box.Run(t.Context(), c.cmd, c.g); code(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestAFullDiskIsSaid(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("only root can mount a small file system")
		return
	}
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Logf("mounting is not permitted here: %v", err)
		return
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	cmd := noise(append(argv.Words("-t", "5", "-f", "rawvideo"), argv.Out("o.raw"))...)
	res, err := newBox(t, nil).Run(t.Context(), cmd, Grant{Dir: dir})
	if code(err) != cutroom.Unavailable || !strings.Contains(err.Error(), "disk is full") {
		t.Fatalf("%v %+v", err, res)
	}
}

// A program that fails leaves its consumer with half an answer: what is said is why
// the program failed, and what a consumer cannot read is no fault of ours.
func TestTheProgramsFailureComesFirst(t *testing.T) {
	t.Parallel()
	short := func(r io.Reader) (any, error) {
		n, err := io.Copy(io.Discard, r)
		return nil, errors.Join(fmt.Errorf("%d bytes of many", n), err)
	}
	for name, row := range map[string]struct {
		cmd  argv.Command
		want string
	}{
		"fails":    {argv.Command{Program: "ffmpeg", Args: argv.Words("-nostdin", "-f", "lavfi", "-i", "testsrc2=s=0x0", "-f", "null", "-")}, "exit code"},
		"succeeds": {noise(argv.Words("-t", "0.1", "-f", "rawvideo", "pipe:1")...), "cannot be used"},
	} {
		row.cmd.Consume = []argv.Consumer{short}
		_, err := newBox(t, nil).Run(t.Context(), row.cmd, Grant{Dir: t.TempDir()})
		if code(err) != cutroom.ToolFailed || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Setenv("CUTROOM_SECRET", "leak")
	dir := t.TempDir()
	pin, err := PinProgram("env", "/usr/bin/env", PinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pwd, err := PinProgram("pwd", "/usr/bin/pwd", PinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	box, err := New(Options{Toolchain: NewToolchain(pin, pwd), Tables: []argv.Table{argv.Plain("env", nil, nil), argv.Plain("pwd", nil, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := box.Run(t.Context(), argv.Command{Program: "env"}, Grant{Dir: dir})
	if want := "LANG=C.UTF-8\nLC_ALL=C.UTF-8\nTMPDIR=" + dir + "\n"; err != nil || string(res.Stdout) != want {
		t.Errorf("%v: %s", err, res.Stdout)
	}
	res, err = box.Run(t.Context(), argv.Command{Program: "pwd"}, Grant{Dir: dir})
	if err != nil || string(res.Stdout) != dir+"\n" {
		t.Errorf("%v: %s", err, res.Stdout)
	}
}

// TestNoLeaks runs and cancels many programs and finds neither goroutines nor
// processes left over. Not parallel: it counts.
func TestNoLeaks(t *testing.T) {
	box := newBox(t, nil)
	dir := t.TempDir()
	if _, err := box.Run(t.Context(), argv.Command{Program: "true"}, Grant{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	fds := openFiles(t)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*2*time.Millisecond)
		_, err := box.Run(ctx, argv.Command{Program: "sleep", Args: argv.Words("60")}, Grant{Dir: dir})
		cancel()
		if code(err) != cutroom.Timeout {
			t.Errorf("run %d: %v", i, err)
		}
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	if n := openFiles(t); n > fds {
		t.Errorf("%d descriptors, %d before", n, fds)
	}
	var ws syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("a child is left: %d %v", pid, err)
	}
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestTheAttemptsAreReal makes the self-test's tries without a sandbox: a try that
// fails there, too, would prove nothing.
func TestTheAttemptsAreReal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("victim"), 0o644); err != nil {
		t.Fatal(err)
	}
	input, err := os.OpenFile(filepath.Join(dir, "input"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	// Not among them: what would hit this test (ptrace of the parent) or need root.
	names := []string{
		"network_ipv4", "network_ipv6", "unix_socket", "socket_pair", "read_passwd", "read_other_file", "list_root", "write_other_file", "truncate_other_file",
		"create_outside", "write_input", "chmod_other_file", "chmod_input", "chown_other_file", "utime_other_file", "utime_input", "symlink", "hard_link",
		"device_node", "move_in", "spare_self_from_oom", "status_of_init", "list_processes", "kill_parent", "kill_by_descriptor", "signal_by_owner",
		"limits_of_parent", "fork",
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Args = append([]string{child.AttemptName, "all"}, names...)
	cmd.Dir, cmd.ExtraFiles = dir, []*os.File{input}
	cmd.Env = []string{child.EnvVictim + "=" + victim, fmt.Sprintf("%s=%d", child.EnvParent, os.Getpid())}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, errno, _ := strings.Cut(l, " ")
		held[name] = errno != "0"
	}
	for _, name := range names {
		if was, tried := held[name]; was || !tried {
			t.Errorf("%s does not succeed without a sandbox either (tried: %v)", name, tried)
		}
	}
}

// TestAsOrdinaryUser runs the tests of this package that matter again as nobody.
func TestAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("the other tests run as an ordinary user already")
		return
	}
	dir, err := os.MkdirTemp("", "cutroom-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v",
		"-test.run", "^(TestTrueRuns|TestFfprobeReadsAnInput|TestFfmpegWritesPipesAndFiles|TestSelfTest|TestSelfTestWithoutNamespaces|TestLayersInTheChild)$")
	cmd.Env = []string{"TMPDIR=" + dir, "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	passed, skipped := strings.Count(string(out), "--- PASS"), strings.Count(string(out), "--- SKIP")
	if err != nil || passed+skipped != 6 || passed < 4 { // two want the shared files
		t.Errorf("%v, %d passed\n%s", err, passed, out)
	}
}
