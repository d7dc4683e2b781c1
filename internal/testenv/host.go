package testenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Hosts installs what scripts/hosts.lock pins under names, unless it is there, and
// returns the folder of each, in their order; the program is in its folder bin. Where
// no install is possible it says so on standard error, too, and skips the test, or
// fails it under CUTROOM_HOSTS_REQUIRED=1: those programs come from others, and a
// machine without a way to them can still prove everything else.
func Hosts(t testing.TB, names ...string) []string {
	t.Helper()
	scripts := filepath.Join(Root(t), "scripts")
	for _, read := range []string{"hosts.sh", "hosts.lock"} { // tells the test cache what the script reads
		if _, err := os.ReadFile(filepath.Join(scripts, read)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(scripts, "hosts.sh"), names...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		why := fmt.Sprintf("NOT RUN: %s: %s cannot be installed (%v): %s", t.Name(), strings.Join(names, ", "), err, bytes.TrimSpace(said.Bytes()))
		fmt.Fprintln(os.Stderr, why)
		if os.Getenv("CUTROOM_HOSTS_REQUIRED") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	folders := strings.Fields(out.String())
	if len(folders) != len(names) {
		t.Fatalf("hosts.sh printed %q for %q", folders, names)
	}
	return folders
}
