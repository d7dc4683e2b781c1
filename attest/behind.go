package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// behindMode is the hidden mode that starts `cutroom serve` and then a host behind it:
// where the host runs nothing else can be reached.
//
//	attest-behind SERVER FILE HOST [ARGUMENT]...
const behindMode = "attest-behind"

// addressWord stands for the gateway's address in the host's environment, in its
// arguments and in its file: it is not known before the server listens.
const addressWord = "{gateway}"

// behind runs the host and returns its exit code.
func behind(args []string) int {
	server := exec.Command(args[0], "serve", "--addr", "127.0.0.1:0")
	said, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "behind:", err)
		return 70
	}
	address, ended, err := listening(said, os.Stderr)
	if err == nil {
		err = fill(args[1], address)
	}
	code := 70
	if err == nil {
		code, err = hostBehind(address, args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "behind:", err)
	}
	_ = server.Process.Signal(syscall.SIGTERM)
	<-ended
	_ = server.Wait()
	return code
}

func hostBehind(address string, args []string) (int, error) {
	filled := func(list []string) []string {
		var out []string
		for _, word := range list {
			out = append(out, strings.ReplaceAll(word, addressWord, address))
		}
		return out
	}
	args = filled(args)
	host := exec.Command(args[0], args[1:]...)
	host.Env, host.Stdout, host.Stderr = filled(os.Environ()), os.Stdout, os.Stderr
	return exitCode(host.Run())
}

// fill puts the address into a file; "" is none.
func fill(file, address string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), addressWord, address)), 0o600)
}
