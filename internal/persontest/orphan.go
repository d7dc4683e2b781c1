package persontest

import (
	"io"
	"os"
	"os/exec"
	"strings"
)

// Orphan runs a command whose parents are gone, in dir with the environment env, and
// returns its exit code. in may be nil; out and complaints take what it writes.
func Orphan(dir string, env []string, in, out, complaints *os.File, args ...string) (string, error) {
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
		goW.Close()
		return "", err
	}
	if _, err := goW.WriteString("go\n"); err != nil {
		return "", err
	}
	goW.Close()
	code, err := io.ReadAll(ended)
	return strings.TrimSpace(string(code)), err
}
