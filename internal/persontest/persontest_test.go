package persontest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

// asked runs sh as somebody at a terminal would, and returns its exit code, what it
// wrote to standard output and what the terminal showed.
func asked(t *testing.T, script string, answers ...string) (code, wrote, shown string) {
	t.Helper()
	testenv.Needs(t, "sh")
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	terminal, err := NewTerminal(answers...)
	if err != nil {
		t.Fatal(err)
	}
	code, err = Orphan(dir, []string{"PATH=" + os.Getenv("PATH"), "ONLY=this"}, terminal.File, out, terminal.File, "sh", "-c", script)
	shown = terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text), shown
}

func TestSomebodyAnswers(t *testing.T) {
	t.Parallel()
	code, wrote, shown := asked(t, `test -t 0 && test -t 2 && ! test -t 1 || exit 9
printf 'Name: ' >&2; read a; printf 'no prompt\n' >&2; printf 'Age: ' >&2; read b; echo "$a is $b, $ONLY"; exit 3`, "Ann", "40")
	if code != "3" || wrote != "Ann is 40, this\n" || !strings.Contains(shown, "Name: ") || !strings.Contains(shown, "no prompt\nAge: ") {
		t.Errorf("exit code %s, %q, the terminal shows %q", code, wrote, shown)
	}
}

// A question that nobody answers ends, and does not hang.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	code, wrote, _ := asked(t, `printf 'One: ' >&2; read a; printf 'Two: ' >&2; read b || echo "nobody after $a"`, "1")
	if code != "0" || wrote != "nobody after 1\n" {
		t.Errorf("exit code %s, %q", code, wrote)
	}
}

// None of the test's own processes is above an orphan.
func TestOrphanHasNoParents(t *testing.T) {
	t.Parallel()
	code, wrote, _ := asked(t, `p=$$; while [ "$p" -gt 1 ]; do echo "$p"; read -r _ _ _ p _ < "/proc/$p/stat" || exit 8; done`)
	ours := strconv.Itoa(os.Getpid())
	for l := range strings.Lines(wrote) {
		if strings.TrimSpace(l) == ours {
			t.Errorf("the test itself (%s) is among the parents: %s", ours, wrote)
		}
	}
	if code != "0" || wrote == "" {
		t.Errorf("exit code %s, %q", code, wrote)
	}
}
