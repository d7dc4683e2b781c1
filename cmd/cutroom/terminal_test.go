package main_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what a program shows on it, and somebody who types.
type terminal struct {
	*os.File // the program's end
	keyboard *os.File
	shown    sync.WaitGroup
	text     strings.Builder
}

// newTerminal opens one at which somebody answers each prompt, a line that stays open
// with a colon, with the next of the answers.
func newTerminal(answers []string) (*terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t := &terminal{File: slave, keyboard: master}
	t.shown.Go(func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b) // ends with an error when the program's end is closed everywhere
			t.text.Write(b[:n])
			if err != nil {
				return
			}
			if strings.HasSuffix(t.text.String(), ": ") && len(answers) > 0 {
				fmt.Fprintln(master, answers[0])
				answers = answers[1:]
			}
		}
	})
	return t, nil
}

// close returns what was shown. Programs at the terminal have to be gone.
func (t *terminal) close() string {
	t.File.Close()
	t.shown.Wait()
	t.keyboard.Close()
	return strings.ReplaceAll(t.text.String(), "\r\n", "\n")
}

// orphan runs a command whose parents are gone, as a terminal of the operator's own
// would, and returns its exit code: so a test is the same whoever started it.
func orphan(dir string, env []string, in, out, complaints *os.File, args ...string) (string, error) {
	ended, endedW, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer ended.Close()
	goR, goW, err := os.Pipe()
	if err != nil {
		return "", err
	}
	if in == nil {
		if in, err = os.Open(os.DevNull); err != nil {
			return "", err
		}
		defer in.Close()
	}
	// The inner shell waits until the outer one, its parent, has ended.
	cmd := exec.Command("sh", append([]string{"-c", `(read go <&4; "$@" <&5; echo $? >&3) &`, "sh"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, out, complaints, env
	cmd.ExtraFiles = []*os.File{endedW, goR, in}
	err = cmd.Run()
	endedW.Close()
	goR.Close()
	if err != nil {
		return "", err
	}
	if _, err := goW.WriteString("go\n"); err != nil {
		return "", err
	}
	goW.Close()
	code, err := io.ReadAll(ended)
	return strings.TrimSpace(string(code)), err
}
