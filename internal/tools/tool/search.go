package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"cutroom"
	registry "cutroom/internal/tool"
)

// Search finds tools.
var Search = registry.Add(Family, registry.Spec[SearchInput, SearchOutput]{
	Name:        "tool.search",
	Summary:     "Find the tools for a job, with their input schemas",
	Description: "Find the tool for what you want to do with media: hosts list only the main ones. Give words (\"extract frames\", \"silence\") or a tool's name; the best matches come with their input schema and an example, and can be called by their mcp_name at once. Without a query every tool is named.",
	Kind:        cutroom.Read,
	Exact:       registry.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Timeout:     10 * time.Second,
	Examples:    []SearchInput{{Query: "extract frames"}},
	Run:         search,
})

// SearchInput is the request.
type SearchInput struct {
	Query string `json:"query" max:"500" doc:"What you want to do, or the name of a tool; empty names every tool."`
	Max   int    `json:"max,omitzero" min:"1" max:"10" default:"3" doc:"Most tools with their schemas."`
}

// SearchOutput is the answer.
type SearchOutput struct {
	cutroom.Unrecorded
	Tools []Found `json:"tools" doc:"The best matches, best first; without a query none."`
	Other []Named `json:"other" doc:"Further tools, by name."`
}

// Found is a tool as a model calls it.
type Found struct {
	ToolID      string `json:"tool_id" doc:"The tool."`
	MCPName     string `json:"mcp_name" doc:"Its name to call it by over MCP."`
	Description string `json:"description" doc:"What it is for."`
	Kind        string `json:"kind" enum:"read,preview,propose,approve,execute" doc:"What a call does; read looks and changes nothing."`
	InputSchema string `json:"input_schema" doc:"JSON Schema of its input, as text."`
	Example     string `json:"example" doc:"An input, as JSON text."`
}

// Named is a tool by name.
type Named struct {
	ToolID  string `json:"tool_id" doc:"The tool."`
	MCPName string `json:"mcp_name" doc:"Its name over MCP."`
	Summary string `json:"summary" doc:"What it does, in a line."`
}

func search(_ context.Context, env registry.Env, in SearchInput) (SearchOutput, error) {
	out := SearchOutput{Tools: []Found{}, Other: []Named{}}
	matches, rest := rank(env.Registry(), in.Query)
	n := min(in.Max, len(matches))
	for _, t := range matches[:n] {
		f, err := found(t)
		if err != nil {
			return out, err
		}
		out.Tools = append(out.Tools, f)
	}
	for _, t := range append(matches[n:], rest...) {
		out.Other = append(out.Other, Named{t.Name, t.MCPName(), t.Summary})
	}
	return out, nil
}

func found(t *registry.Tool) (Found, error) {
	schema, err := json.Marshal(t.InputSchema())
	if err != nil {
		return Found{}, err
	}
	example, err := registry.Encode(t.Examples[0])
	if err != nil {
		return Found{}, err
	}
	return Found{
		ToolID: t.Name, MCPName: t.MCPName(), Description: t.Description, Kind: string(t.Kind),
		InputSchema: string(schema), Example: string(example),
	}, nil
}

// rank parts the tools into those that the query speaks of, best first, and the
// others by name.
func rank(all []*registry.Tool, query string) (matches, rest []*registry.Tool) {
	asked := words(query)
	score := map[*registry.Tool]int{}
	for _, t := range all {
		if s := scoreOf(t, asked); s > 0 || exact(t, query) {
			score[t] = s
			matches = append(matches, t)
		} else {
			rest = append(rest, t)
		}
	}
	slices.SortStableFunc(matches, func(a, b *registry.Tool) int {
		if x, y := exact(a, query), exact(b, query); x != y {
			if x {
				return -1
			}
			return 1
		}
		return score[b] - score[a]
	})
	return matches, rest
}

func exact(t *registry.Tool, query string) bool {
	q := strings.TrimSpace(query)
	return q == t.Name || q == t.MCPName()
}

// scoreOf counts the words of the query that a tool's own words hold: most for its
// name, less for what it says of itself, least for its fields.
func scoreOf(t *registry.Tool, asked []string) int {
	var fields []string
	for _, p := range t.Params() {
		fields = append(fields, strings.Join(p.Path, " "), p.Doc, strings.Join(p.Enum, " "))
	}
	score := 0
	for _, place := range []struct {
		text   string
		weight int
	}{{t.Name, 8}, {t.Summary, 4}, {t.Description, 2}, {strings.Join(fields, " "), 1}} {
		have := words(place.text)
		for _, w := range asked {
			if slices.ContainsFunc(have, func(h string) bool { return alike(h, w) }) {
				score += place.weight
			}
		}
	}
	return score
}

// alike compares words by their stems: frames is frame, probing is probe.
func alike(a, b string) bool {
	a, b = stem(a), stem(b)
	return a == b || len(a) >= 5 && strings.HasPrefix(b, a) || len(b) >= 5 && strings.HasPrefix(a, b)
}

func stem(w string) string {
	for _, end := range []string{"ing", "es", "ed", "s", "e"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 {
			return s
		}
	}
	return w
}

// small are words that say nothing of what a tool does.
var small = []string{"a", "an", "and", "are", "at", "be", "by", "for", "from", "how", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that", "the", "this", "to", "was", "what", "with"}

// words are the words of a text in lower case, without the small ones.
func words(text string) []string {
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(list, func(w string) bool { return slices.Contains(small, w) })
}
