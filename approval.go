package cutroom

import "time"

// ApprovalState is how a request for approval stands.
type ApprovalState string

// The states. Only the first two can change; a call that is asked for again after
// that is a new request.
const (
	ApprovalPending  ApprovalState = "pending"  // waits for a person
	ApprovalApproved ApprovalState = "approved" // may be spent, once
	ApprovalDenied   ApprovalState = "denied"   // the person said no
	ApprovalSpent    ApprovalState = "spent"    // the call ran
	ApprovalRevoked  ApprovalState = "revoked"  // taken back before it was spent
	ApprovalExpired  ApprovalState = "expired"  // nobody decided, or nobody called, in time
	ApprovalVoid     ApprovalState = "void"     // its row is not what was signed
)

// ApprovalStates lists every state.
var ApprovalStates = []ApprovalState{
	ApprovalPending, ApprovalApproved, ApprovalDenied, ApprovalSpent, ApprovalRevoked, ApprovalExpired, ApprovalVoid,
}

// Approval is one request for a person's approval, and what became of it.
type Approval struct {
	ID        string
	Bound     Digest // of everything that it is bound to
	State     ApprovalState
	Principal Principal // who asked, and alone may use it
	Tool      string
	Input     []byte // JSON of the call as it was decoded; for the door that shows the sheet again
	Workspace string // absolute; never for an agent
	StageRoot string // folder of results, relative to the workspace
	PlanFirst bool   // asked for by the caller, not by the policy
	Why       string // why a person has to decide
	Sheet     Sheet
	Requested time.Time
	Decided   time.Time // zero: not yet
	Expires   time.Time // of the request while it is pending, of the approval afterwards
	Ended     time.Time // spent, revoked or expired
	By        string    // who decided
	Run       Digest    // of the call that spent it
}

// Verdict is what a person says about requests.
type Verdict struct {
	ID     string        // the request; "" with Before
	Say    string        // approve, deny or revoke
	Life   time.Duration // of the approval; 0 is the usual one
	Before time.Time     // of revoke: everything up to then, instead of one request
}

// The words of a verdict.
const (
	SayApprove = "approve"
	SayDeny    = "deny"
	SayRevoke  = "revoke"
)

// Sheet is what a person sees before deciding: every surface shows the same.
type Sheet struct {
	ToolID      string        `json:"tool_id" doc:"The tool."`
	Summary     string        `json:"summary" doc:"What the tool does."`
	Kind        Kind          `json:"kind" doc:"Kind of the call."`
	Risk        string        `json:"risk" doc:"What a wrong call can cost: low, medium or high."`
	Who         Principal     `json:"who" doc:"Who makes the call."`
	Why         string        `json:"why" doc:"Why a person has to decide."`
	Arguments   []SheetValue  `json:"arguments" doc:"The request, one value each."`
	Inputs      []SheetFile   `json:"inputs" doc:"What is read."`
	Outputs     []SheetOutput `json:"outputs" doc:"Files that are written."`
	Destination string        `json:"destination,omitempty" doc:"Network origin that is contacted."`
	MaxBytes    int64         `json:"max_bytes,omitempty" doc:"Most bytes that may come in over the network."` // that may come in over the network
	Cost        string        `json:"cost" doc:"What the call costs."`
	Commands    []string      `json:"commands" doc:"Command lines of the plan; <measured> where an earlier step supplies a value."`
	Calls       []string      `json:"calls,omitempty" doc:"Tools that it calls."`
	More        string        `json:"more,omitempty" doc:"What the plan leaves open."`
}

// SheetValue is one argument in words.
type SheetValue struct {
	Name  string `json:"name" doc:"Name of the argument."`
	Value string `json:"value" doc:"Its value."`
}

// SheetFile is one input of the call.
type SheetFile struct {
	Path   string `json:"path" doc:"The file, as the caller named it."`
	Size   int64  `json:"size_bytes" doc:"Its size."`
	SHA256 Digest `json:"sha256" doc:"Hash of its content."`
}

// SheetOutput is one file that the call writes.
type SheetOutput struct {
	Path     string `json:"path" doc:"The file, as the caller named it."`
	Replaces Digest `json:"replaces,omitempty" doc:"Hash of the file that stands there and is replaced."`
	Size     int64  `json:"replaces_size_bytes,omitempty" doc:"Size of that file."`
}

// Grant is a standing permission of the operator's: calls that the policy would ask
// about run without asking, within its bounds, a number of times, until it expires.
type Grant struct {
	ID        string
	Principal string   // name of the principal that it is for
	Workspace string   // absolute
	Tools     []string // globs over tool ids
	Beneath   []string // folders relative to the workspace that every file of the call lies in; none is the workspace
	Where     []string // bounds on arguments, such as "crf>=18" or "preset=fast"
	Overwrite bool     // the call may replace a file
	Origins   []string // network origins that it may reach; none is no network
	MaxBytes  int64    // that may come in over the network with one call; 0 is none
	Uses      int64    // how often in all
	Used      int64
	Created   time.Time
	Expires   time.Time
	Revoked   time.Time // zero: not
	By        string
	Fault     string // why it allows nothing, such as "is not as it was signed"; "" while it is live; set where grants are listed
}
