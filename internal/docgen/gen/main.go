// Command gen writes the generated documents: docs/reference, the plugin folder, the table of tools in the
// README, and the first snapshot of a new tool's schemas. It is what `make generate` runs, from any folder of the
// repository.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cutroom"
	"cutroom/internal/cli"
	"cutroom/internal/docgen"
	"cutroom/internal/host"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate() error {
	root, err := repository()
	if err != nil {
		return err
	}
	files, err := documents(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := write(filepath.Join(root, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	if err := firstSnapshots(root); err != nil {
		return err
	}
	return removeOld(root, files)
}

// firstSnapshots writes the schemas of tools that have no snapshot yet. One that is
// there is left alone: changing a contract is a decision of its own.
func firstSnapshots(root string) error {
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		return err
	}
	for _, t := range registry.Tools() {
		path := filepath.Join(root, "testdata", "schema", t.Name+".json")
		if _, err := os.Stat(path); err == nil {
			continue
		}
		text, err := t.Snapshot()
		if err != nil {
			return err
		}
		if err := write(path, text); err != nil {
			return err
		}
	}
	return nil
}

// repository returns the nearest folder upwards that holds go.mod.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod at or above the current folder")
		}
		dir = up
	}
}

const reference = "docs/reference/"

// documents returns every generated file, by its path in the repository.
func documents(root string) (map[string][]byte, error) {
	families := tools.Families()
	registry, err := tool.NewRegistry(families...)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, text := range docgen.Pages(registry) {
		files[reference+name] = text
	}
	if files[reference+"cli.md"], err = cli.Reference(families); err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	if files["README.md"], err = docgen.Readme(readme, registry); err != nil {
		return nil, err
	}
	plugin, err := host.Plugin(cutroom.Version, host.SkillTools)
	for name, text := range plugin {
		files["plugin/"+name] = text
	}
	return files, err
}

// write replaces a file whose content differs.
func write(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// removeOld removes pages of tools that are gone.
func removeOld(root string, files map[string][]byte) error {
	dir := filepath.Join(root, reference, "tools")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if _, ok := files[reference+"tools/"+e.Name()]; !ok {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
