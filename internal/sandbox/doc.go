// Package sandbox runs one pinned program with exactly what it was granted.
//
// It promises that a child sees its inputs (by descriptor), its own libraries and
// data, and one private folder, and nothing else: no network, no other file, no
// other process, no new process; that time, memory and bytes are bounded; that
// nothing of it is left when a run ends; and that where the kernel does not allow
// the layers that this takes, nothing runs at all. There is no switch that runs
// anything outside. The layers are proved, not assumed: see [Sandbox.SelfTest].
//
// It is the only user of os/exec and its like. It must never know a tool, a policy or
// what the programs are for.
package sandbox

import (
	"io"
	"os"

	"cutroom/internal/sandbox/argv"
	_ "cutroom/internal/sandbox/child" // the helper, in every binary that can start a sandbox
)

// Layer is one thing that holds a child in.
type Layer string

// The layers. The floor — Landlock, seccomp and resource limits — is always there
// or nothing runs; the namespaces are added where the kernel permits them.
const (
	Landlock    Layer = "landlock"    // files, TCP, signals and abstract sockets by rule
	Seccomp     Layer = "seccomp"     // an allow-list of system calls
	Rlimits     Layer = "rlimits"     // resource limits of the process
	UserNS      Layer = "user"        // a user namespace: no capability counts outside
	NetNS       Layer = "net"         // a network namespace with no way out
	PidNS       Layer = "pid"         // a process-id namespace: no other process has a number
	IpcNS       Layer = "ipc"         // an IPC namespace
	Supervision Layer = "supervision" // the parent: deadlines, quotas, the parent-death signal
	Kernel      Layer = "kernel"      // refused by the kernel whoever asks
)

// Options say how a sandbox is made. The zero value runs nothing, for want of a
// toolchain.
type Options struct {
	Toolchain *Toolchain
	// Tables adds programs of the operator's own, by argv.Plain; a known program's
	// table cannot be replaced.
	Tables []argv.Table
	// Require names layers that must be there besides the floor; without them every
	// run answers missing_dependency.
	Require []Layer
	// NoNamespaces does without namespaces although the kernel would allow them.
	NoNamespaces bool
	// Limits replace the defaults for commands that name none.
	Limits argv.Limits
	// Debug gets what programs say on standard error, for the operator's terminal.
	// Without it the text is counted and dropped.
	Debug io.Writer
}

// Grant is what one run may touch, beyond its own program.
type Grant struct {
	// Dir is the private folder: the working folder, and the only place to write.
	Dir string
	// Inputs are the call's inputs, regular files open for reading. A command's
	// Inputs index them. Their offsets are not moved.
	Inputs []*os.File
}

// Attempt is one try of the self-test to get out.
type Attempt struct {
	Name string `json:"attempt"`
	Held bool   `json:"held"`
	By   string `json:"by"`             // the layer that held it, and how
	Note string `json:"note,omitempty"` // what happened when it did not hold
}
