package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Verdict is what one version of a host was seen to do.
type Verdict struct {
	Host     string `json:"host"`
	Title    string `json:"title"`
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	Rows     []Row  `json:"rows"`
}

// qualified says whether everything that was tried went as it has to.
func (v Verdict) qualified() bool {
	return len(v.Rows) > 0 && !slices.ContainsFunc(v.Rows, func(r Row) bool { return !r.Passed })
}

// Where verdicts are kept: the data, which the program carries, and the page of it.
const (
	dataFile = "internal/host/qualified.json"
	pageFile = "docs/reference/hosts.md"
)

func readVerdicts(repository string) ([]Verdict, error) {
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(dataFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Verdict
	return list, json.Unmarshal(text, &list)
}

// replace puts a verdict in the place of an older one of its host.
func replace(list []Verdict, v Verdict) []Verdict {
	list = slices.DeleteFunc(slices.Clone(list), func(old Verdict) bool { return old.Host == v.Host })
	list = append(list, v)
	slices.SortFunc(list, func(a, b Verdict) int { return strings.Compare(a.Host, b.Host) })
	return list
}

func writeVerdicts(repository string, list []Verdict) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(repository, filepath.FromSlash(dataFile)), append(text, '\n'), 0o644),
		os.WriteFile(filepath.Join(repository, filepath.FromSlash(pageFile)), []byte(page(list)), 0o644),
	)
}

const preface = `# Hosts

What each host was seen to do with this version, unattended, with a scripted model behind it and what ` + "`cutroom install HOST --scope project`" + ` wrote.
` + "`make attest`" + ` writes this page from what it observes. A host, or a version of one, that does not stand here is not qualified.

`

// page is docs/reference/hosts.md. Equal verdicts give equal bytes.
func page(list []Verdict) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("| host | version | protocol | verdict |\n| --- | --- | --- | --- |\n")
	for _, c := range clients() {
		i := slices.IndexFunc(list, func(v Verdict) bool { return v.Host == c.name })
		if i < 0 {
			fmt.Fprintf(&b, "| %s | – | – | not qualified: never attested |\n", c.title)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.title), cell(list[i].Version), cell(list[i].Protocol), verdict(list[i]))
	}
	for _, c := range clients() {
		i := slices.IndexFunc(list, func(v Verdict) bool { return v.Host == c.name })
		if i < 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s %s\n\n| what | verdict | seen |\n| --- | --- | --- |\n", c.title, cell(list[i].Version))
		for _, r := range list[i].Rows {
			said := "passed"
			if !r.Passed {
				said = "**failed**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.Check), said, cell(r.Observed))
		}
	}
	return b.String()
}

func verdict(v Verdict) string {
	if v.qualified() {
		return "qualified"
	}
	failed := 0
	for _, r := range v.Rows {
		if !r.Passed {
			failed++
		}
	}
	return fmt.Sprintf("not qualified: %d of %d rows failed", failed, len(v.Rows))
}

// cell keeps a text within its cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(text)
}
