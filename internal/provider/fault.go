package provider

import (
	"fmt"
	"time"
)

// Class is the kind of a failure.
type Class string

// The classes.
const (
	RateLimited       Class = "rate_limited"        // too many requests under this key
	Quota             Class = "quota"               // what the key may spend is spent
	Auth              Class = "auth"                // the key is not accepted
	Unavailable       Class = "unavailable"         // no connection, a cut one, or a fault of the service
	TimedOut          Class = "timeout"             // no answer in time
	BadRequest        Class = "bad_request"         // the service does not take this request
	Refused           Class = "refused"             // the model or a filter does not want to answer
	ContextOverflow   Class = "context_overflow"    // more than the model can read at once
	EmptyOrUnparsable Class = "empty_or_unparsable" // an answer that is none
)

// KeyFailure says that the key is at fault: another one may do, and this one rests.
func (c Class) KeyFailure() bool { return c == Auth || c == RateLimited || c == Quota }

// Fault is a failure of one request. Message and Err may hold what the service was
// asked or who asked it: a [Chain] takes secrets out, who asks without one has to.
type Fault struct {
	Class      Class
	Status     int           // of HTTP; 0 when there was none
	RetryAfter time.Duration // as the service said; 0 when it did not
	TooLarge   bool          // of bad_request: less of the same may do
	Message    string        // what the service or the network said
	Warning    string        // for a chain's warnings; may be empty
	Err        error         // the cause, for the log
	Sent       int64         // bytes of the request's body that went out

	cut bool // Message ends where reading stopped, perhaps within a secret
}

// Error says the class and the status alone: nothing of it is secret.
func (f *Fault) Error() string {
	if f.Status == 0 {
		return "provider: " + string(f.Class)
	}
	return fmt.Sprintf("provider: %s (status %d)", f.Class, f.Status)
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

func faultf(c Class, format string, args ...any) *Fault {
	return &Fault{Class: c, Message: fmt.Sprintf(format, args...)}
}

// Echo is the fault of an answer that speaks of a file's handle instead of its content.
// what is the chain's warning.
func Echo(what string) *Fault {
	return &Fault{Class: EmptyOrUnparsable, Message: "the answer is about a file handle, not about the media", Warning: what}
}
