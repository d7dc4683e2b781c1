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

// verdicts are all that are known.
type verdicts struct{ Hosts, Libraries []Verdict }

// Where verdicts are kept: the data of hosts, which the program carries, that of
// libraries, and the page of both.
const (
	dataFile    = "internal/host/qualified.json"
	libraryFile = "attest/libraries.json"
	pageFile    = "docs/reference/hosts.md"
)

func readVerdicts(repository string) (v verdicts, err error) {
	for file, into := range v.files() {
		text, rerr := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
		if errors.Is(rerr, fs.ErrNotExist) {
			continue
		}
		if rerr == nil {
			rerr = json.Unmarshal(text, into)
		}
		err = errors.Join(err, rerr)
	}
	return v, err
}

func (v *verdicts) files() map[string]*[]Verdict {
	return map[string]*[]Verdict{dataFile: &v.Hosts, libraryFile: &v.Libraries}
}

// replace puts a verdict in the place of an older one of its host.
func replace(list []Verdict, v Verdict) []Verdict {
	list = slices.DeleteFunc(slices.Clone(list), func(old Verdict) bool { return old.Host == v.Host })
	list = append(list, v)
	slices.SortFunc(list, func(a, b Verdict) int { return strings.Compare(a.Host, b.Host) })
	return list
}

func writeVerdicts(repository string, v verdicts) error {
	at := func(file string) string { return filepath.Join(repository, filepath.FromSlash(file)) }
	for file, list := range v.files() {
		text, err := json.MarshalIndent(*list, "", "  ")
		if err == nil {
			err = os.WriteFile(at(file), append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(at(pageFile), []byte(page(v)), 0o644)
}

const preface = `# Hosts

What each host was seen to do with this version, unattended, with a scripted model behind it and what ` + "`cutroom install HOST --scope project`" + ` wrote.
` + "`make attest`" + ` writes this page from what it observes. A host, or a version of one, that does not stand here is not qualified.

`

const librariesPreface = `
# Libraries

The same for the libraries by which programs ask models: each asks a scripted model directly and through ` + "`cutroom serve`" + ` ([the gateway](../gateway.md)), and what it makes of the
answers is compared, as is what reached the model.

| library | version | forms | verdict |
| --- | --- | --- | --- |
`

// page is docs/reference/hosts.md. Equal verdicts give equal bytes.
func page(all verdicts) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("| host | version | protocol | verdict |\n| --- | --- | --- | --- |\n")
	var known []titled
	for _, c := range clients() {
		known = append(known, titled{c.name, c.title})
	}
	section(&b, known, all.Hosts)
	known = nil
	for _, l := range libraries() {
		known = append(known, titled{l.name, l.title})
	}
	b.WriteString(librariesPreface)
	section(&b, known, all.Libraries)
	return b.String()
}

// titled is what a verdict may be about.
type titled struct{ name, title string }

// section writes the rest of a table of verdicts, and the rows of each.
func section(b *strings.Builder, known []titled, list []Verdict) {
	at := func(t titled) int { return slices.IndexFunc(list, func(v Verdict) bool { return v.Host == t.name }) }
	for _, t := range known {
		if i := at(t); i < 0 {
			fmt.Fprintf(b, "| %s | – | – | not qualified: never attested |\n", t.title)
		} else {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(t.title), cell(list[i].Version), cell(list[i].Protocol), verdict(list[i]))
		}
	}
	for _, t := range known {
		i := at(t)
		if i < 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s %s\n\n| what | verdict | seen |\n| --- | --- | --- |\n", t.title, cell(list[i].Version))
		for _, r := range list[i].Rows {
			said := "passed"
			if !r.Passed {
				said = "**failed**"
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", cell(r.Check), said, cell(r.Observed))
		}
	}
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
