package cli

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// commandInText finds a command that a message names, and perhaps its first flag.
var commandInText = regexp.MustCompile("(?:`|^|then |run )cutroom ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?(?: --([a-z-]+))?")

// Every command that a hint anywhere in the product names has to exist: a hint is
// an action.
func TestHintsNameCommandsThatExist(t *testing.T) {
	t.Parallel()
	families := tools.Families()
	registry, err := tool.NewRegistry(families...)
	if err != nil {
		t.Fatal(err)
	}
	root := (&App{Families: families, registry: registry}).root()
	root.InitDefaultHelpCmd()
	seen := 0
	eachText(t, func(at, text string) {
		if strings.HasSuffix(text, "\n") {
			return // what a MAC begins with, or a line that is no hint
		}
		for _, m := range commandInText.FindAllStringSubmatch(text, -1) {
			seen++
			if fault := missing(root, m); fault != "" {
				t.Errorf("%s: %q names %s", at, text, fault)
			}
		}
	})
	if seen < 10 {
		t.Errorf("only %d commands were found in texts", seen)
	}
}

// missing says which part of the match does not exist, "" when all does.
func missing(root *cobra.Command, m []string) string {
	cmd, _, err := root.Find([]string{m[1]})
	if err != nil || cmd == root {
		return "the command " + m[1]
	}
	if cmd.HasSubCommands() && m[2] != "" {
		sub, _, err := root.Find([]string{m[1], m[2]})
		if err != nil || sub == cmd {
			return "the command " + m[1] + " " + m[2]
		}
		cmd = sub
	}
	has := false
	for _, set := range []*pflag.FlagSet{cmd.Flags(), root.PersistentFlags()} {
		has = has || m[3] == "" || set.Lookup(m[3]) != nil
	}
	if !has {
		return "the flag --" + m[3] + " of " + cmd.CommandPath()
	}
	return ""
}

// eachText visits every string of the product's own source but its tests.
func eachText(t *testing.T, visit func(at, text string)) {
	t.Helper()
	root := testenv.Root(t)
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pos := token.NewFileSet()
		file, err := parser.ParseFile(pos, path, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					rel, _ := filepath.Rel(root, pos.Position(lit.Pos()).Filename)
					visit(rel+":"+strconv.Itoa(pos.Position(lit.Pos()).Line), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWrongArgumentsAreTheCallersFault: no number of words is an internal fault, and no
// flag is demanded by the library, whose complaint would be one.
func TestWrongArgumentsAreTheCallersFault(t *testing.T) {
	t.Parallel()
	families := tools.Families()
	registry, err := tool.NewRegistry(families...)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		for _, n := range []int{0, 1, 9} {
			err := cmd.ValidateArgs(strings.Fields(strings.Repeat("w ", n)))
			if err == nil {
				continue
			}
			refused++
			if _, ok := errors.AsType[usageError](err); !ok {
				t.Errorf("%s with %d words: %v", cmd.CommandPath(), n, err)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := f.Annotations[cobra.BashCompOneRequiredFlag]; ok {
				t.Errorf("%s demands --%s by itself", cmd.CommandPath(), f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			each(c)
		}
	}
	each((&App{Families: families, registry: registry}).root())
	if refused < 20 {
		t.Errorf("only %d were refused", refused)
	}
}
