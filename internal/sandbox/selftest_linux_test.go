//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

func TestSelfTest(t *testing.T) {
	t.Parallel()
	selfTest(t, newBox(t, nil))
}

func TestSelfTestWithoutNamespaces(t *testing.T) {
	t.Parallel()
	selfTest(t, newBox(t, func(o *Options) { o.NoNamespaces = true }))
}

func selfTest(t *testing.T, box *Sandbox) {
	t.Helper()
	list, err := box.SelfTest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 60 {
		t.Errorf("only %d attempts", len(list))
	}
	for _, a := range list {
		if !a.Held || a.By == "" {
			t.Errorf("%s was not held: %s", a.Name, a.Note)
		}
	}
}

// TestLayersInTheChild reads what the kernel says of a running child.
func TestLayersInTheChild(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		box := newBox(t, func(o *Options) { o.NoNamespaces = off })
		layers, err := box.Layers()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("layers: %v", layers)
		status, spaces := statusOfChild(t, box)
		for field, want := range map[string]string{
			"NoNewPrivs": "1", "Seccomp": "2", "Seccomp_filters": "2",
			"CapInh": "0000000000000000", "CapPrm": "0000000000000000", "CapEff": "0000000000000000", "CapAmb": "0000000000000000",
		} {
			if got := status[field]; got != want {
				t.Errorf("no namespaces %v: %s is %q, want %q", off, field, got, want)
			}
		}
		if os.Geteuid() == 0 && status["CapBnd"] != "0000000000000000" {
			t.Errorf("bounding set %s", status["CapBnd"])
		}
		for _, l := range []Layer{UserNS, NetNS, PidNS, IpcNS} {
			ours, err := os.Readlink("/proc/self/ns/" + string(l))
			if err != nil {
				t.Fatal(err)
			}
			if own := spaces[l] != ours; own != slices.Contains(layers, l) {
				t.Errorf("namespace %s: own %v, layers %v", l, own, layers)
			}
		}
	}
}

// statusOfChild returns /proc/PID/status and the namespaces of a sandboxed sleep.
func statusOfChild(t *testing.T, box *Sandbox) (map[string]string, map[Layer]string) {
	t.Helper()
	r := &run{box: box, cmd: argv.Command{Program: "sleep", Args: argv.Words("60")}, limits: box.limits(argv.Limits{})}
	defer r.close()
	if err := r.prepare(Grant{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	rules, err := r.ruleset()
	if err != nil {
		t.Fatal(err)
	}
	defer rules.Close()
	kid, err := box.spawn(r.spawnOf(rules, mustPipes(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = kid.proc.Wait() }()
	defer func() { _ = kid.proc.Kill() }()
	proc := "/proc/" + strconv.Itoa(kid.proc.Pid)
	raw, err := os.ReadFile(proc + "/status")
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for l := range strings.Lines(string(raw)) {
		k, v, _ := strings.Cut(l, ":")
		status[k] = strings.TrimSpace(v)
	}
	spaces := map[Layer]string{}
	for _, l := range []Layer{UserNS, NetNS, PidNS, IpcNS} {
		if spaces[l], err = os.Readlink(proc + "/ns/" + string(l)); err != nil {
			t.Fatal(err)
		}
	}
	return status, spaces
}

func mustPipes(t *testing.T, r *run) []*os.File {
	t.Helper()
	files, err := r.pipes()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRequiredLayers(t *testing.T) {
	t.Parallel()
	box := newBox(t, func(o *Options) { o.NoNamespaces, o.Require = true, []Layer{Landlock, NetNS} })
	_, err := box.Run(t.Context(), argv.Command{Program: "true"}, Grant{Dir: t.TempDir()})
	if code(err) != cutroom.MissingDependency || !strings.Contains(err.Error(), "net namespace") {
		t.Error(err)
	}
	if _, err := New(Options{Require: []Layer{"chroot"}}); code(err) != cutroom.Invalid {
		t.Error(err)
	}
}
