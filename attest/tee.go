package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// teeMode is the hidden mode that stands between a host and the server:
//
//	attest attest-tee LOG PROGRAM ARGUMENT...
//
// It passes every line on as it is and keeps it in LOG first.
const teeMode = "attest-tee"

// line is one message that passed, in the log.
type line struct {
	At      int64           `json:"at"`   // Unix time, µs
	From    string          `json:"from"` // host or server
	Message json.RawMessage `json:"message,omitempty"`
	Raw     string          `json:"raw,omitempty"` // what is no JSON
}

func tee(args []string) int {
	if len(args) < 2 {
		return 64
	}
	log, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tee:", err)
		return 70
	}
	defer log.Close()
	server := exec.Command(args[1], args[2:]...)
	server.Stderr = os.Stderr
	in, err1 := server.StdinPipe()
	out, err2 := server.StdoutPipe()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		fmt.Fprintln(os.Stderr, "tee:", err)
		return 70
	}
	go func() { // ends with the process
		for s := range signals {
			_ = server.Process.Signal(s)
		}
	}()
	k := &keeper{w: log}
	go func() { // ends with the process: the host's end of the pipe may stay open
		k.pass("host", os.Stdin, in)
		_ = in.Close()
	}()
	k.pass("server", out, os.Stdout)
	code, err := exitCode(server.Wait())
	if err != nil {
		return 70
	}
	return code
}

// keeper writes the log.
type keeper struct {
	mu sync.Mutex
	w  io.Writer
}

// pass copies lines until either side ends.
func (k *keeper) pass(name string, from io.Reader, to io.Writer) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := r.ReadBytes('\n')
		if len(text) > 0 {
			k.keep(name, text)
			if _, werr := to.Write(text); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (k *keeper) keep(from string, text []byte) {
	l := line{At: time.Now().UnixMicro(), From: from}
	if trimmed := bytes.TrimSpace(text); json.Valid(trimmed) {
		l.Message = trimmed
	} else {
		l.Raw = strings.ToValidUTF8(string(text), "�")
	}
	raw, err := json.Marshal(l)
	if err != nil {
		return // a log that lacks a line fails the attestation; the host's session goes on
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_, _ = k.w.Write(append(raw, '\n'))
}

// message is a JSON-RPC message.
type message struct {
	at     time.Time
	from   string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// readLog reads what passed. A line that a kill cut short ends it.
func readLog(path string) ([]message, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []message
	for text := range bytes.Lines(raw) {
		var l line
		if json.Unmarshal(text, &l) != nil {
			break
		}
		m := message{at: time.UnixMicro(l.At), from: l.From}
		if json.Unmarshal(l.Message, &m) != nil {
			continue
		}
		list = append(list, m)
	}
	return list, nil
}
