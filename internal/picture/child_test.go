package picture

import (
	"errors"
	"io"
	"strings"
	"testing"
)

type said struct {
	lines []string
	fault error
}

func (s said) Run(stdout io.Writer) error {
	return Each(stdout, s.lines, func(i int, path string) (map[string]int, error) {
		if path == "broken" {
			return nil, s.fault
		}
		return map[string]int{path: i}, nil
	})
}

// TestChild: the exit code tells a wrong argument from work that failed, and what was seen
// before is written.
func TestChild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args        []string
		code        int
		out, broken string
	}{
		{[]string{"a", "b"}, 0, "{\"a\":0}\n{\"b\":1}\n", ""},
		{nil, 2, "", "no pictures\n"},
		{[]string{"a", "broken", "c"}, 1, "{\"a\":0}\n", "picture 1: the model is gone\n"},
	} {
		var out, broken strings.Builder
		code := Child(c.args, &out, &broken, func(args []string, _ io.Writer) (said, error) {
			if len(args) == 0 {
				return said{}, errors.New("no pictures")
			}
			return said{args, errors.New("the model is gone")}, nil
		})
		if code != c.code || out.String() != c.out || broken.String() != c.broken {
			t.Errorf("%v: %d, %q, %q", c.args, code, out.String(), broken.String())
		}
	}
	if code := Child([]string{"a"}, full{}, io.Discard, func(args []string, _ io.Writer) (said, error) { return said{lines: args}, nil }); code != 1 {
		t.Errorf("what cannot be written: %d", code)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }
