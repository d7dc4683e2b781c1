package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// hostShop is a copy of hosts.sh with a lock of its own and an npm that installs one
// package, and notes each time it is asked.
type hostShop struct{ dir, target string }

// oddNPM does what npm does with --prefix: a package, and what its archive's hash was.
const oddNPM = `#!/bin/sh
echo "$*" >>"$SHOP/asked"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/@a/thing/bin"
echo 'echo it runs' >"$2/node_modules/@a/thing/bin/run"
cat >"$2/node_modules/.package-lock.json" <<L
{ "packages": {
    "node_modules/@a/other": { "integrity": "sha512-other==" },
    "node_modules/@a/thing": {
      "version": "1.0.0",
      "integrity": "$(cat "$SHOP/sum")"
    } } }
L
`

func newHostShop(t *testing.T) *hostShop {
	t.Helper()
	s := &hostShop{t.TempDir(), filepath.Join(t.TempDir(), "with space", "hosts")}
	script, err := os.ReadFile("hosts.sh")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "hosts.sh", string(script))
	s.write(t, "hosts.lock", "# comment\nbefore 2026-01-02\nthing  @a/thing@1.0.0  sha512-right==  odd=bin/run\n")
	s.write(t, "sum", "sha512-right==")
	s.write(t, "bin/npm", oddNPM)
	return s
}

func (s *hostShop) write(t *testing.T, name, text string) {
	t.Helper()
	p := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (s *hostShop) run(t *testing.T, names ...string) (out, said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(s.dir, "hosts.sh")}, names...)...)
	cmd.Env = append(os.Environ(), "SHOP="+s.dir, "CUTROOM_HOSTS="+s.target, "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	b, err := cmd.Output()
	return string(b), complaints.String(), err
}

func (s *hostShop) asked(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "asked"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// left returns what an install that failed left behind, but for the log and the lock.
func (s *hostShop) left(t *testing.T) []string {
	t.Helper()
	made, err := filepath.Glob(filepath.Join(s.target, "*thing-*"))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestHostsAreInstalledOnce(t *testing.T) {
	t.Parallel()
	s := newHostShop(t)
	want := filepath.Join(s.target, "thing-1.0.0")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if out, said, err := s.run(t); err != nil || out != want+"\n" {
				t.Errorf("%q, %v: %s", out, err, said)
			}
		})
	}
	both.Wait()
	asked := s.asked(t)
	if strings.Count(asked, "\n") != 1 {
		t.Errorf("two installers at once fetched: %s", asked)
	}
	for _, part := range []string{"--ignore-scripts", "--before 2026-01-02", "@a/thing@1.0.0"} {
		if !strings.Contains(asked, part) {
			t.Errorf("npm was not told %q: %s", part, asked)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(want, "bin", "odd")).Output(); err != nil || string(out) != "it runs\n" {
		t.Errorf("the program says %q, %v", out, err)
	}
	if info, err := os.Stat(filepath.Join(want, "bin", "odd")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("not executable: %v, %v", info, err)
	}
}

func TestHostsThatAreNotThePinnedOnesAreRefused(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*hostShop){
		"another SHA-512": func(s *hostShop) { s.write(t, "sum", "sha512-wrong==") },
		"holds no bin/walk": func(s *hostShop) {
			s.write(t, "hosts.lock", "before 2026-01-02\nthing @a/thing@1.0.0 sha512-right== odd=bin/walk\n")
		},
		"could not install": func(s *hostShop) { s.write(t, "bin/npm", "#!/bin/sh\necho npm error no way >&2\nexit 1\n") },
		"aarch64": func(s *hostShop) {
			s.write(t, "bin/uname", "#!/bin/sh\n[ \"$1\" = -m ] && echo aarch64 || echo Linux\n")
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newHostShop(t)
			change(s)
			out, said, err := s.run(t, "thing")
			words := what
			if what == "aarch64" {
				words = "Linux on x86-64"
			}
			if err == nil || out != "" || !strings.Contains(said, words) {
				t.Errorf("accepted (%q, %v): %s", out, err, said)
			}
			if left := s.left(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	s := newHostShop(t)
	if _, said, err := s.run(t, "nothing"); err == nil || !strings.Contains(said, "it has: thing") {
		t.Errorf("an unknown name (%v): %s", err, said)
	}
}
