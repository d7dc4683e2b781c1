package cutroom

import "time"

// AuditType says what an audit row speaks of: two words and a dot.
type AuditType string

// The types of audit rows.
const (
	AuditInvoke           AuditType = "capability.invoke"  // a call of a tool, whatever became of it
	AuditApprovalDecided  AuditType = "approval.decided"   // a person allowed or refused one call
	AuditApprovalRevoked  AuditType = "approval.revoked"   // … and took it back
	AuditDecisionRefused  AuditType = "decision.refused"   // what is for a person was tried by somebody else, or without proof
	AuditGrantChanged     AuditType = "grant.changed"      // a standing grant was made or ended
	AuditPolicyChanged    AuditType = "policy.changed"     // other rules hold from here on
	AuditKeyRotated       AuditType = "key.rotated"        // a signing key was replaced
	AuditAttested         AuditType = "attestation.signed" // this user's key signed how a file came to be
	AuditOperationSettled AuditType = "operation.settled"  // a person said what became of a call of unknown outcome
	AuditConfigChanged    AuditType = "config.changed"     // a key of the user's config file was set or taken out
	AuditTokenChanged     AuditType = "token.changed"      // a bearer token was made or revoked
	AuditRestored         AuditType = "database.restored"  // the rows before this one come from a backup
	AuditMigrated         AuditType = "database.migrated"  // the database was brought to another schema by hand
)

// AuditTypes are the types of rows that occur.
func AuditTypes() []string {
	list := []string{}
	for _, t := range []AuditType{
		AuditInvoke, AuditApprovalDecided, AuditApprovalRevoked, AuditDecisionRefused, AuditGrantChanged,
		AuditPolicyChanged, AuditKeyRotated, AuditAttested, AuditOperationSettled, AuditConfigChanged, AuditTokenChanged, AuditRestored, AuditMigrated,
	} {
		list = append(list, string(t))
	}
	return list
}

// What an audit row says of the end of a call, beside the codes of errors.
const (
	OutcomeOK      = "ok"
	OutcomeUnknown = "unknown" // the process ended before it could say
)

// AuditEvent is one row of the audit: who did what, what was decided and what became
// of it. It holds digests, ids and names, never what a call was given or answered.
type AuditEvent struct {
	Seq       int64     // place in the chain, from 1, without gaps; the log sets it
	At        time.Time // when it was written down, to the millisecond; the log sets it when zero
	Type      AuditType
	Call      string // id of the call
	Parent    string // id of the call whose body made this one; "" for a caller's own
	Principal Principal
	Tool      string
	Revision  int
	Kind      Kind   // the authority that the call took, when that was known
	Input     Digest // of the decoded request in canonical form; of the caller's bytes when they did not decode
	Output    Digest // of the answer as JSON
	Decision  string // allow, deny or ask; "" when policy was not asked
	Reason    string // of the decision
	Approval  string // id of the approval that was spent
	Grant     string // id of the grant that allowed it
	Outcome   string // ok, unknown or the code of an error
	Run       Digest // of the recorded result
	Elapsed   time.Duration
	Detail    string // what the type adds, in a few words
	Hash      Digest // of this row and the hash of the one before; the log sets it
}

// AuditFilter chooses audit rows. Zero fields choose nothing away.
type AuditFilter struct {
	Since, Until time.Time // from Since to before Until
	Principal    string    // name
	Role         Role
	Type         AuditType
	Tool         string // id, or a family as in "edit.*"
	Outcome      string
	Run          string // id of a result, or its first digits
	Call         string // the call of that id and those it made
	Before       int64  // rows of a smaller seq only
	Max          int    // most rows; 0 is 50
}

// OperationState says how far an operation is.
type OperationState string

// The states of an operation.
const (
	OperationStarted OperationState = "started" // its outcome is not known, or not yet
	OperationDone    OperationState = "done"
	OperationFailed  OperationState = "failed"
	OperationSettled OperationState = "settled" // a person said that it happened
)

// Operation is a call in the ledger: what must not be done twice is in it by its key,
// before it is done and for good.
type Operation struct {
	Key       string // made by the server from tool, revision and content
	Call      string // id of the call that began it
	Tool      string
	Revision  int
	Principal Principal
	Never     bool // it may not be done twice; otherwise the row goes when the call ends
	Input     Digest
	State     OperationState
	Started   time.Time
	Until     time.Time // when the call has ended in any case, by its deadline
	Finished  time.Time
	Run       Digest         // of the recorded result
	Output    []byte         // the answer as JSON
	Failure   *FailureDetail // of one that failed
	Note      string         // what the person said who settled it
}
