package docgen

import (
	"cmp"
	"slices"
	"strings"

	"cutroom/internal/graph"
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

// whisper is the one name of all programs of the operator's own that turn speech to text.
const whisper = "external:whisper"

// hears says whether a program is one of those: the media tools have eight places for
// them, the video tools one.
func hears(program string) bool {
	return program == "speech-engine" || strings.HasPrefix(program, "asr-")
}

// floor are the layers of the sandbox without which no program runs, added those that
// hold besides where the kernel has them.
var (
	floor = []string{"landlock", "rlimits", "seccomp"}
	added = []string{"ipc", "net", "pid", "user"}
)

// boxed are the layers of the sandbox that a tool's programs run in.
func (c *ToolCapabilities) boxed() {
	for _, l := range floor {
		c.Required = append(c.Required, "sandbox:"+l)
	}
	for _, l := range added {
		c.Optional = append(c.Optional, Optional{"sandbox:" + l, "where the kernel permits it, and where the configuration demands it"})
	}
}

// withoutParts leaves out what only some calls need and is alike for all tools that encode
// or run a program.
func (c *ToolCapabilities) withoutParts() {
	c.Optional = slices.DeleteFunc(slices.Clone(c.Optional), func(o Optional) bool {
		return strings.HasPrefix(o.Capability, "sandbox:") || strings.HasPrefix(o.Capability, "encoder:")
	})
}

// encodes says whether a tool hands what it writes to ffmpeg's encoders.
func encodes(t *tool.Tool) bool {
	return t.Writes() && !t.Needs.Copies && slices.Contains(t.Needs.Programs, "ffmpeg") && (t.Role() == tool.Execution || t.Role() == tool.AnalysisAndExecution)
}

// capability is the name of a program as contracts write it.
func capability(program string) string {
	switch {
	case program == "ffmpeg" || program == "ffprobe":
		return program
	case slices.Contains(own, program):
		return "model:" + program
	case hears(program):
		return whisper
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
	if len(t.Needs.AllPrograms()) > 0 {
		c.boxed()
	}
	if encodes(t) {
		for _, n := range graph.EncoderNeeds() {
			c.Optional = append(c.Optional, Optional{"encoder:" + n.Encoder, n.When})
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
func capabilities(tools []ToolEntry, ears []string, m tool.Machine) Capabilities {
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
		switch has, known := present(m, name, ears); {
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

// ears are the programs of the operator's own that tools name for turning speech to text.
func ears(tools []*tool.Tool) (names []string) {
	for _, t := range tools {
		for _, p := range t.Needs.AllPrograms() {
			if hears(p) && !slices.Contains(names, p) {
				names = append(names, p)
			}
		}
	}
	return names
}

// present asks the machine; known is false for a part of an ffmpeg that is not there.
func present(m tool.Machine, capability string, ears []string) (has, known bool) {
	kind, name, parts := strings.Cut(capability, ":")
	if !parts {
		return m.HasProgram(capability), true
	}
	switch {
	case capability == whisper:
		return slices.ContainsFunc(ears, m.HasProgram), true
	case kind == "sandbox":
		return m.HasLayer(name), true
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
