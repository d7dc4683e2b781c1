package docgen

import (
	"cmp"
	"slices"
	"strings"

	"cutroom/internal/tool"
)

// ToolCapabilities are what a tool uses of the machine, that of the tools it calls
// included.
type ToolCapabilities struct {
	Required []string   `json:"required"`
	Optional []Optional `json:"optional"`
}

// Optional is a capability that only some calls need.
type Optional struct {
	Capability string `json:"capability"`
	When       string `json:"when"`
}

// Capabilities are those of all tools together. The last four lists are there when the
// machine was looked at: what is there, what is not, and what cannot be told because the
// program that has it is missing.
type Capabilities struct {
	Required        []string `json:"required"`
	Optional        []string `json:"optional"`
	Available       []string `json:"available,omitzero"`
	Missing         []string `json:"missing,omitzero"`
	MissingOptional []string `json:"missing_optional,omitzero"`
	Unknown         []string `json:"unknown,omitzero"`
}

// own are the programs that are this binary with models.
var own = []string{"speech", "ocr", "object"}

// capability is the name of a program as contracts write it.
func capability(program string) string {
	switch {
	case program == "ffmpeg" || program == "ffprobe":
		return program
	case slices.Contains(own, program):
		return "model:" + program
	}
	return "external:" + program
}

// needed are the capabilities of a tool. What a called tool requires a caller needs, too,
// for the part that it calls for.
func needed(r *tool.Registry, t *tool.Tool) ToolCapabilities {
	c := ToolCapabilities{Required: []string{}, Optional: []Optional{}}
	add := func(prefix string, names []string) {
		for _, n := range names {
			c.Required = append(c.Required, prefix+n)
		}
	}
	for _, p := range t.Needs.Programs {
		add("", []string{capability(p)})
	}
	add("filter:", t.Needs.Filters)
	add("encoder:", t.Needs.Encoders)
	add("decoder:", t.Needs.Decoders)
	for _, o := range t.Needs.Optional {
		if o.Program != "" {
			c.Optional = append(c.Optional, Optional{capability(o.Program), o.When})
		}
		if o.Filter != "" {
			c.Optional = append(c.Optional, Optional{"filter:" + o.Filter, o.When})
		}
	}
	for _, id := range t.Calls {
		callee, ok := r.Find(id)
		if !ok {
			continue // the registry refused it
		}
		theirs := needed(r, callee)
		for _, name := range theirs.Required {
			c.Optional = append(c.Optional, Optional{name, "the part made by " + id})
		}
		c.Optional = append(c.Optional, theirs.Optional...)
	}
	slices.Sort(c.Required)
	c.Required = slices.Compact(c.Required)
	known := map[string]bool{}
	c.Optional = slices.DeleteFunc(c.Optional, func(o Optional) bool {
		again := known[o.Capability] || slices.Contains(c.Required, o.Capability)
		known[o.Capability] = true
		return again
	})
	slices.SortFunc(c.Optional, func(a, b Optional) int { return cmp.Compare(a.Capability, b.Capability) })
	return c
}

// capabilities is the union over the tools. A capability that some tool requires and
// another uses now and then stands in both lists.
func capabilities(tools []ToolEntry, m tool.Machine) Capabilities {
	c := Capabilities{Required: []string{}, Optional: []string{}}
	for _, e := range tools {
		c.Required = append(c.Required, e.Capabilities.Required...)
		for _, o := range e.Capabilities.Optional {
			c.Optional = append(c.Optional, o.Capability)
		}
	}
	for _, list := range []*[]string{&c.Required, &c.Optional} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if m == nil {
		return c
	}
	c.Available, c.Missing, c.MissingOptional, c.Unknown = []string{}, []string{}, []string{}, []string{}
	all := slices.Concat(c.Required, c.Optional)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		switch has, known := present(m, name); {
		case !known:
			c.Unknown = append(c.Unknown, name)
		case has:
			c.Available = append(c.Available, name)
		case slices.Contains(c.Required, name):
			c.Missing = append(c.Missing, name)
		default:
			c.MissingOptional = append(c.MissingOptional, name)
		}
	}
	return c
}

// present asks the machine; known is false for a part of an ffmpeg that is not there.
func present(m tool.Machine, capability string) (has, known bool) {
	kind, name, parts := strings.Cut(capability, ":")
	if !parts {
		return m.HasProgram(capability), true
	}
	ask := map[string]func(string) bool{"filter": m.HasFilter, "encoder": m.HasEncoder, "decoder": m.HasDecoder}[kind]
	if ask == nil {
		return m.HasProgram(name), true
	}
	if !m.HasProgram("ffmpeg") {
		return false, false
	}
	return ask(name), true
}
