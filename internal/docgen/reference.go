package docgen

import (
	"bytes"
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/project"
	"cutroom/internal/tool"
)

// Pages returns every generated page of the registry, by its path beneath
// docs/reference.
func Pages(r *tool.Registry) map[string][]byte {
	pages := map[string][]byte{"project.schema.json": project.Schema(), "errors.md": errorsPage(), "config.md": configPage(), "config.schema.json": config.Schema(), "tools.md": toolsPage(r)}
	for _, t := range r.Tools() {
		pages["tools/"+t.Name+".md"] = append([]byte(header), ToolPage(r, t)...)
	}
	return pages
}

func errorsPage() []byte {
	var b bytes.Buffer
	b.WriteString(header + "# Errors\n\nEvery failure has a code. Under `--json` it is one document, `{\"status\":\"failed\",\"error\":{\"kind\",\"code\",\"message\",\"hint\"}}`; over MCP a result with `isError` and the same members.\n\n" +
		"| code | kind | exit | HTTP | retry | meaning |\n|---|---|---|---|---|---|\n")
	for _, f := range cutroom.Codes {
		retry := "no"
		if f.Retry {
			retry = "can help"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %s | %s |\n", f.Code, f.Group, f.Exit, f.HTTP, retry, f.Meaning)
	}
	b.WriteString("\nOther exit codes: 0 success, 3 a partial result, 143 ended by SIGTERM. `cutroom doctor` has its own: 0 everything is there, 3 something optional is missing, 1 something needed is missing.\n")
	return b.Bytes()
}

func configPage() []byte {
	var b bytes.Buffer
	b.WriteString(header + "# Configuration\n\n`cutroom.yaml` in the user's config folder (`~/.config/cutroom`), and one in a workspace, which can only narrow it. Unknown keys are refused; `cutroom config check` says which. " +
		"`CUTROOM_HOME` puts the config, state and data folders beneath one folder. [config.schema.json](config.schema.json) is its JSON Schema; [configuration](../configuration.md) explains the sections.\n\n| key | what | default |\n|---|---|---|\n")
	for _, k := range config.Reference() {
		def := ""
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, cell(k.Doc), cell(def))
	}
	return b.Bytes()
}

func toolsPage(r *tool.Registry) []byte {
	return []byte(header + "# Tools\n\n" + table(r, "tools/"))
}

// table lists the tools, each with a link to its page.
func table(r *tool.Registry, folder string) string {
	var b strings.Builder
	b.WriteString("| tool | command | what for |\n|---|---|---|\n")
	for _, t := range r.Tools() {
		command := Executable(t)
		if t.Short != "" {
			command = "cutroom " + t.Short
		}
		fmt.Fprintf(&b, "| [%s](%s%s.md) | `%s` | %s |\n", t.Name, folder, t.Name, command, cell(t.Summary))
	}
	return b.String()
}

// The marks in the README between which the table of tools stands.
const (
	tableBegin = "<!-- tools: begin, made by `make generate` -->\n"
	tableEnd   = "<!-- tools: end -->"
)

// Readme returns the text of the README with its table of tools renewed.
func Readme(text []byte, r *tool.Registry) ([]byte, error) {
	head, rest, ok := strings.Cut(string(text), tableBegin)
	_, tail, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return nil, fmt.Errorf("the README lacks the marks of the table of tools")
	}
	return []byte(head + tableBegin + table(r, "docs/reference/tools/") + tableEnd + tail), nil
}
