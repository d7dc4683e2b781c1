package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// hosts are the programs that drive a shell for a model, by the name the kernel
// shows (proc(5), comm: at most 15 bytes).
var hosts = []string{"claude", "codex", "opencode", "gemini", "goose", "aider", "cursor-agent", "amp", "crush", "qwen"}

// principal is who makes the call. An agent's marker in the environment, or a host
// among the parent processes, makes it the agent; a marker cannot make anyone the
// operator.
func (a *App) principal() cutroom.Principal {
	if a.As != nil {
		return *a.As
	}
	if marked(a.Environ) || hosted(os.Getppid()) {
		return cutroom.Agent
	}
	return cutroom.Operator
}

// marked looks for the variables that hosts set for what they start. CODEX_HOME is one
// that people set, to say where Codex keeps its files.
func marked(environ []string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		if value == "" {
			return false
		}
		return name == "CLAUDECODE" || name == "CUTROOM_AGENT" || name == "OPENCODE" || strings.HasPrefix(name, "CODEX_") && name != "CODEX_HOME"
	})
}

// hosted walks up the parents of a process; it knows none where there is no /proc.
func hosted(pid int) bool {
	for range 64 {
		if pid <= 1 {
			return false
		}
		name, parent, ok := process(pid)
		if !ok {
			return false
		}
		if slices.Contains(hosts, name) {
			return true
		}
		pid = parent
	}
	return false
}

// process reads a process's name and parent. The name stands in parentheses and may
// itself contain some (proc(5), stat).
func process(pid int) (name string, parent int, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	return parseStat(string(raw))
}

func parseStat(line string) (name string, parent int, ok bool) {
	from, to := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if from < 0 || to < from {
		return "", 0, false
	}
	fields := strings.Fields(line[to+1:]) // state, ppid, …
	if len(fields) < 2 {
		return "", 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return line[from+1 : to], parent, err == nil
}
