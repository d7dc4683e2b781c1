package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/modeltest"
)

func picturesOf(data []byte) []modeltest.Image {
	return []modeltest.Image{{Media: "image/jpeg", Data: data}}
}

// The tee passes every byte, whatever it is, and keeps what passed.
func TestTee(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	const sent = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\nno json \xff\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	cmd := exec.CommandContext(t.Context(), self, teeMode, log, "/bin/sh", "-c", "cat; exit 3")
	cmd.Stdin = strings.NewReader(sent)
	out, err := cmd.Output()
	if code, _ := exitCode(err); code != 3 {
		t.Errorf("exit code %d (%v)", code, err)
	}
	if !bytes.Equal(out, []byte(sent)) {
		t.Errorf("passed %q", out)
	}
	list, err := readLog(log)
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for _, m := range list {
		methods = append(methods, m.from+" "+m.Method)
	}
	if got := strings.Join(methods, ", "); strings.Count(got, "host tools/call") != 1 || strings.Count(got, "server tools/call") != 1 || strings.Count(got, "ping") != 2 {
		t.Errorf("kept %s", got)
	}
}

// A session is read from what passed, in either era of the protocol.
func TestSessionIsReadFromTheMessages(t *testing.T) {
	t.Parallel()
	parse := func(lines string) *session {
		file := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := readLog(file)
		if err != nil {
			t.Fatal(err)
		}
		return &session{messages: list}
	}
	old := parse(`{"at":1,"from":"host","message":{"id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"9"}}}}}
{"at":2,"from":"server","message":{"id":0,"error":{"code":-32601}}}
{"at":3,"from":"host","message":{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"9"}}}}
{"at":4,"from":"server","message":{"id":1,"result":{"protocolVersion":"2025-06-18"}}}
{"at":5,"from":"host","message":{"id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}}
{"at":5,"from":"host","message":{"id":3,"method":"tools/call","params":{"name":"b"}}}
{"at":6,"from":"server","message":{"id":2,"result":{"isError":true}}}
{"at":7,"from":"host","message":{"method":"notifications/cancelled","params":{"requestId":3}}}
{"at":8,"from":"host","message":{"method":"notifications/cancelled","params":{"requestId":99}}}
{"at":9,"from":"ho`)
	if got := old.negotiated(); got != (spoken{"2025-06-18", "initialize", "c", "9"}) {
		t.Errorf("negotiated %+v", got)
	}
	calls := old.calls()
	if len(calls) != 2 || !calls[0].failed || calls[0].arguments != `{"x":1}` || calls[1].answered {
		t.Errorf("calls %+v", calls)
	}
	if at, ok := old.cancelled("b"); !ok || at.UnixMicro() != 7 {
		t.Errorf("cancelled at %v, %t", at, ok)
	}
	if _, ok := old.cancelled("a"); ok {
		t.Error("a call that was answered counts as cancelled")
	}
	modern := parse(`{"at":1,"from":"host","message":{"id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"9"}}}}}
{"at":2,"from":"server","message":{"id":0,"result":{"supportedVersions":["2026-07-28"]}}}`)
	if got := modern.negotiated(); got != (spoken{"2026-07-28", "server/discover", "c", "9"}) {
		t.Errorf("negotiated %+v", got)
	}
}
