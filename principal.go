package cutroom

// Kind is what a call does, and so what authority it takes.
type Kind string

// The kinds, from the least authority to the most.
const (
	Read    Kind = "read"    // looks; writes nothing but the stage's own record
	Preview Kind = "preview" // shows what would be done
	Propose Kind = "propose" // writes down an intention for a person
	Approve Kind = "approve" // decides; never available to a model
	Execute Kind = "execute" // does: a new file, the network, money
)

// Kinds lists every kind in order of authority.
var Kinds = []Kind{Read, Preview, Propose, Approve, Execute}

// Role is what sort of actor makes a call.
type Role string

// The roles. An operator is a person at a terminal of their own; an agent is
// anything a model drives.
const (
	RoleOperator Role = "operator"
	RoleAgent    Role = "agent"
)

// Principal is who makes a call.
type Principal struct {
	Name string `json:"name" doc:"Its name."`
	Role Role   `json:"role" doc:"operator or agent."`
}

// The two principals that exist without any set-up.
var (
	Operator = Principal{Name: "operator", Role: RoleOperator}
	Agent    = Principal{Name: "agent", Role: RoleAgent}
)
