package tool

import "slices"

// Needs are the capabilities of the machine that a tool uses.
type Needs struct {
	Programs []string // pinned programs that it cannot do without
	Filters  []string // ffmpeg filters that it cannot do without
	Encoders []string
	Decoders []string
	Optional []Optional
	Fonts    bool // draws text with the machine's fonts
	Copies   bool // writes media, and encodes none of it
	Readers  bool // may show media to models: who they are is part of the key
}

// Optional is a capability that only some calls use.
type Optional struct {
	Program string // a pinned program …
	Filter  string // … or an ffmpeg filter
	When    string // in words: which calls use it, what is missing without it
}

// State is how a capability stands on this machine.
type State string

// The three states.
const (
	Present  State = "present"
	Degraded State = "degraded" // optional and missing: some calls say so in their result
	Missing  State = "missing"  // required and missing: the tool refuses
)

// Need is one capability with its state.
type Need struct {
	Capability string `json:"capability"`
	State      State  `json:"state"`
	When       string `json:"when,omitempty"`
}

// Machine is what needs are checked against.
type Machine interface {
	HasProgram(name string) bool
	HasFilter(name string) bool
	HasEncoder(name string) bool
	HasDecoder(name string) bool
	HasLayer(name string) bool // of the sandbox
}

// Check returns every capability of n with its state, and the worst of them.
func (n Needs) Check(m Machine) ([]Need, State) {
	var needs []Need
	worst := Present
	add := func(capability string, ok, optional bool, when string) {
		state := Present
		switch {
		case ok:
		case optional:
			state = Degraded
			if worst == Present {
				worst = Degraded
			}
		default:
			state, worst = Missing, Missing
		}
		needs = append(needs, Need{capability, state, when})
	}
	for _, p := range n.Programs {
		add(p, m.HasProgram(p), false, "")
	}
	for _, f := range n.Filters {
		add("filter:"+f, m.HasFilter(f), false, "")
	}
	for _, e := range n.Encoders {
		add("encoder:"+e, m.HasEncoder(e), false, "")
	}
	for _, d := range n.Decoders {
		add("decoder:"+d, m.HasDecoder(d), false, "")
	}
	for _, o := range n.Optional {
		if o.Program != "" {
			add(o.Program, m.HasProgram(o.Program), true, o.When)
		}
		if o.Filter != "" {
			add("filter:"+o.Filter, m.HasFilter(o.Filter), true, o.When)
		}
	}
	return needs, worst
}

// AllPrograms lists required and optional programs.
func (n Needs) AllPrograms() []string {
	all := slices.Clone(n.Programs)
	for _, o := range n.Optional {
		if o.Program != "" && !slices.Contains(all, o.Program) {
			all = append(all, o.Program)
		}
	}
	return all
}

func (n Needs) has(program string) bool { return slices.Contains(n.Programs, program) }
