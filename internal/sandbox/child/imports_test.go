package child

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOnlyLightImports keeps the helper quick: its init waits for all that it
// imports, and a heavy package would be paid at every start of a program.
func TestOnlyLightImports(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	allowed := map[string]bool{"encoding/binary": true, "errors": true, "os": true, "slices": true, "strconv": true, "syscall": true, "unsafe": true}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil || !allowed[path] {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
