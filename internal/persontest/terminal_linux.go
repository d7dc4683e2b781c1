package persontest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo-terminal: what a program shows on it, and somebody who types.
type Terminal struct {
	*os.File // the program's end
	keyboard *os.File
	shown    sync.WaitGroup
	text     strings.Builder
}

// endOfInput is what Ctrl-D sends: a program that asks once more than there are answers
// hears that nobody is there.
const endOfInput = "\x04"

// NewTerminal opens one at which somebody answers each prompt, a line that stays open
// with a colon, with the next of the answers.
func NewTerminal(answers ...string) (*Terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	slave, err := unlocked(master)
	if err != nil {
		master.Close()
		return nil, err
	}
	t := &Terminal{File: slave, keyboard: master}
	t.shown.Go(func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b) // ends with an error when the program's end is closed everywhere
			t.text.Write(b[:n])
			if err != nil {
				return
			}
			if !strings.HasSuffix(t.text.String(), ": ") {
				continue
			}
			if len(answers) == 0 {
				fmt.Fprint(master, endOfInput)
				continue
			}
			fmt.Fprintln(master, answers[0])
			answers = answers[1:]
		}
	})
	return t, nil
}

// unlocked opens the other end of a pseudo-terminal (pts(4)).
func unlocked(master *os.File) (*os.File, error) {
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	return os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
}

// Close returns what was shown. Programs at the terminal have to be gone.
func (t *Terminal) Close() string {
	t.File.Close()
	t.shown.Wait()
	t.keyboard.Close()
	return strings.ReplaceAll(t.text.String(), "\r\n", "\n")
}
