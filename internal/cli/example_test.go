package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// What help shows as a command line says the same as the example of the spec.
func TestExamplesSayTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"talk.mp4", "bug.mov"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range registry.Tools() {
		for _, e := range x.Examples {
			raw, err := tool.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			b, cmd := bind(x), &cobra.Command{Use: "x"}
			b.declare(cmd)
			words := b.commandLine(raw)
			if err := cmd.ParseFlags(words); err != nil {
				t.Errorf("%s: %q: %v", x.Name, words, err)
				continue
			}
			got, err := b.input(cmd, cmd.Flags().Args(), reader{paths: paths{dir: dir, root: dir}})
			if err != nil {
				t.Errorf("%s: %q: %v", x.Name, words, err)
				continue
			}
			if diff := cmp.Diff(decoded(t, x, raw), decoded(t, x, got)); diff != "" {
				t.Errorf("%s: %q says something else (-example +command):\n%s", x.Name, words, diff)
			}
		}
	}
}

func decoded(t *testing.T, x *tool.Tool, raw []byte) any {
	t.Helper()
	in, err := x.Decode(raw)
	if err != nil {
		t.Fatalf("%s: %s: %v", x.Name, raw, err)
	}
	return in
}
