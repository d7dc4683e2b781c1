package cutroom_test

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	testName = regexp.MustCompile("`([a-z][a-z0-9_/]*)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	mdLink   = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	rowStart = regexp.MustCompile(`^\| [A-Z]\d+ \|`)
)

// pages returns every Markdown page of the repository with its text.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !d.IsDir() && path.Ext(p) == ".md" {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			texts[filepath.ToSlash(p)] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestPagesLinkToWhatExists(t *testing.T) {
	t.Parallel()
	for page, text := range pages(t) {
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// A page that says a test shows something has to name one that is there.
func TestPagesNameRealTests(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, f := range parseTree(t, os.DirFS(".")) {
		dir := f.dir
		if dir == "." {
			dir = "cutroom"
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.isTest() {
				known[dir+"."+fn.Name.Name] = true
			}
		}
	}
	for page, text := range pages(t) {
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			if !known[m[1]+"."+m[2]] {
				t.Errorf("%s names %s.%s, which is no test", page, m[1], m[2])
			}
		}
	}
}

func TestEveryThreatHasATestOrIsOpen(t *testing.T) {
	t.Parallel()
	rows := 0
	for line := range strings.Lines(pages(t)["docs/security.md"]) {
		if !rowStart.MatchString(line) {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		if len(cells) != 4 || !testName.MatchString(last) && !strings.HasPrefix(last, "open") {
			t.Errorf("neither a test nor open: %s", line)
		}
	}
	if rows < 20 {
		t.Errorf("docs/security.md has %d rows of threats; was its form changed?", rows)
	}
}

// Every dependency that the code imports has its page of reasons.
func TestDependenciesAreDecided(t *testing.T) {
	t.Parallel()
	var decided strings.Builder
	for page, text := range pages(t) {
		if strings.HasPrefix(page, "docs/decisions/") {
			decided.WriteString(text)
		}
	}
	seen := map[string]bool{}
	for _, f := range parseTree(t, os.DirFS(".")) {
		for _, spec := range f.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			for _, h := range homes {
				if first, _, _ := strings.Cut(p, "/"); within(p, h.path) && strings.Contains(first, ".") && !seen[h.path] {
					seen[h.path] = true
					if !strings.Contains(decided.String(), h.path) {
						t.Errorf("%s imports %s, which no page in docs/decisions names", f.path, h.path)
					}
				}
			}
		}
	}
	if len(seen) == 0 {
		t.Error("no dependency found; is the table of homes empty?")
	}
}
