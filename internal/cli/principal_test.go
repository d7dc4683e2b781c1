package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

func TestMarkersOfHostsMakeAnAgent(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{
		"CLAUDECODE=1": true, "CODEX_SANDBOX=seatbelt": true, "OPENCODE=1": true, "CUTROOM_AGENT=me": true,
		"CLAUDECODE=": false, "NOTCLAUDECODE=1": false, "CODEX=1": false, "HOME=/root": false, "CODEX_HOME=/x": false,
	} {
		if got := marked([]string{"PATH=/bin", env}); got != want {
			t.Errorf("%s: agent %v, want %v", env, got, want)
		}
	}
}

func TestProcessNamesMayHoldParentheses(t *testing.T) {
	t.Parallel()
	name, parent, ok := parseStat("4711 (a) (b)) S 42 4711 4711 0 -1")
	if !ok || name != "a) (b)" || parent != 42 {
		t.Errorf("got %q, %d, %v", name, parent, ok)
	}
	for _, broken := range []string{"", "1 (a", "1 a) S 2", "1 (a) S", "1 (a) S x"} {
		if _, _, ok := parseStat(broken); ok {
			t.Errorf("%q was read", broken)
		}
	}
}

// A program that is called as a host makes what it starts an agent, at any depth.
func TestAHostAmongTheParentsMakesAnAgent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sh, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	host := filepath.Join(t.TempDir(), "opencode")
	if err := os.WriteFile(host, sh, 0o755); err != nil {
		t.Fatal(err)
	}
	// The colon keeps the shells from replacing themselves with what they start.
	command := `sh -c '"$0" -test.run=^TestReportsItsParents$ -test.v; :' "$0"; :`
	out := testenv.Run(t, "", host, "-c", command, self)
	if want := "hosted: true"; !strings.Contains(string(out), want) {
		t.Errorf("beneath a host: %s", out)
	}
	out = testenv.Run(t, "", "sh", "-c", command, self)
	if want := fmt.Sprintf("hosted: %v", hosted(os.Getpid())); !strings.Contains(string(out), want) {
		t.Errorf("beneath a plain shell: %s", out)
	}
}

// TestReportsItsParents is started by the test above.
func TestReportsItsParents(t *testing.T) {
	t.Logf("hosted: %v", hosted(os.Getppid()))
}
