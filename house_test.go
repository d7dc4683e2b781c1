package cutroom_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forbiddenNames say nothing of what is in them.
var forbiddenNames = []string{"pkg", "util", "utils", "common", "helper", "helpers", "types", "core", "manager", "misc", "base", "lib", "shared"}

// longFiles are the files that may exceed maxLines.
var longFiles = map[string]string{}

const maxLines = 500

// mapParameters are exported functions that may take a map of anything.
var mapParameters = map[string]string{}

// skippers may call t.Skip outside internal/testenv.
var skippers = map[string]string{}

// reference is what makes a TODO findable: an issue's number.
var reference = regexp.MustCompile(`TODO\([^)]*#\d+\)`)

// source is one parsed Go file.
type source struct {
	path string // relative to the root, forward slashes
	dir  string // "." is the root
	ast  *ast.File
	pos  *token.FileSet
	line int // number of lines
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) at(p token.Pos) string {
	return fmt.Sprintf("%s:%d", s.path, s.pos.Position(p).Line)
}

func (s source) hasInit() bool {
	return slices.ContainsFunc(s.ast.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == "init"
	})
}

// parseTree parses every Go file of the repository. It reads the files itself: the
// test cache knows which files a test opened, not what a program it ran did.
func parseTree(t *testing.T, root fs.FS) []source {
	t.Helper()
	var files []source
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if p != "." && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "bin", "node_modules"}, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(p) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		pos := token.NewFileSet()
		f, err := parser.ParseFile(pos, p, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, source{p, path.Dir(p), f, pos, bytes.Count(text, []byte("\n"))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go file found")
	}
	return files
}

func TestHouseRules(t *testing.T) {
	t.Parallel()
	for _, v := range houseFaults(parseTree(t, os.DirFS("."))) {
		t.Error(v)
	}
}

func TestLicenceIsApache(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("LICENSE lacks %q", part)
		}
	}
}

// houseFaults returns what the tree does against the conventions of
// docs/architecture.md that a parser can see.
func houseFaults(files []source) []string {
	faults := packageFaults(files)
	for _, f := range files {
		if _, ok := longFiles[f.path]; !ok && f.line > maxLines {
			faults = append(faults, fmt.Sprintf("%s: %d lines; split it, or list it with a reason", f.path, f.line))
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if strings.Contains(c.Text, "TODO") && !reference.MatchString(c.Text) && f.path != "house_test.go" {
					faults = append(faults, fmt.Sprintf("%s: a TODO without TODO(#issue)", f.at(c.Pos())))
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if fault := nodeFault(f, n); fault != "" {
				faults = append(faults, f.at(n.Pos())+": "+fault)
			}
			return true
		})
	}
	return faults
}

// nodeFault says what is wrong with one node of f.
func nodeFault(f source, n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		switch name := x.Name + "." + n.Sel.Name; {
		case name == "context.TODO":
			return "context.TODO: a context comes from the caller"
		case name == "time.Sleep" && f.isTest():
			return "time.Sleep in a test: wait for the event itself, or use testing/synctest"
		case (name == "t.Skip" || name == "t.Skipf" || name == "t.SkipNow") && f.dir != "internal/testenv" && skippers[f.path] == "":
			return name + ": only testenv.Shared skips a test"
		}
	case *ast.FuncDecl:
		if f.isTest() || !n.Name.IsExported() || mapParameters[f.dir+"."+n.Name.Name] != "" {
			return ""
		}
		for _, p := range n.Type.Params.List {
			if isMapOfAny(p.Type) {
				return n.Name.Name + ": a map of anything as parameter; use a type"
			}
		}
	}
	return ""
}

func isMapOfAny(e ast.Expr) bool {
	m, ok := e.(*ast.MapType)
	if !ok {
		return false
	}
	switch v := m.Value.(type) {
	case *ast.Ident:
		return v.Name == "any"
	case *ast.InterfaceType:
		return len(v.Methods.List) == 0
	}
	return false
}

// packageFaults checks names, and that each package says once what it is for.
func packageFaults(files []source) []string {
	var faults, dirs []string
	comments, names := map[string][]string{}, map[string]string{}
	for _, f := range files {
		if f.isTest() {
			continue
		}
		if _, seen := names[f.dir]; !seen {
			dirs = append(dirs, f.dir)
		}
		names[f.dir] = f.ast.Name.Name
		if f.ast.Doc != nil {
			comments[f.dir] = append(comments[f.dir], f.path)
		}
	}
	for _, dir := range dirs {
		if n := len(comments[dir]); n != 1 {
			faults = append(faults, fmt.Sprintf("%s: %d package comments, not one %v", dir, n, comments[dir]))
		}
		base := path.Base(dir)
		if slices.Contains(forbiddenNames, base) || slices.Contains(forbiddenNames, names[dir]) {
			faults = append(faults, dir+": the name says nothing of what is in it")
		}
		if names[dir] != base && names[dir] != "main" && dir != "." {
			faults = append(faults, fmt.Sprintf("%s: holds package %s; name the package as the folder", dir, names[dir]))
		}
	}
	return faults
}
