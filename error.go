package cutroom

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Code says what kind of failure an [Error] is. Every door answers by it.
type Code string

// The codes. The table [Codes] says how each door answers.
const (
	Invalid           Code = "invalid"            // the request is wrong
	Denied            Code = "denied"             // policy refuses it
	NeedsApproval     Code = "needs_approval"     // a person has to allow this very call
	NotFound          Code = "not_found"          // what the request names is not there
	Conflict          Code = "conflict"           // something else is there, or it changed
	Limit             Code = "limit"              // larger, longer or more than allowed
	UnreadableMedia   Code = "unreadable_media"   // the file is not media, or broken
	MissingDependency Code = "missing_dependency" // a program, model or layer is not there
	Timeout           Code = "timeout"            // it took longer than allowed
	ToolFailed        Code = "tool_failed"        // a program failed on good input
	Verification      Code = "verification"       // the result is not what was planned
	Unavailable       Code = "unavailable"        // not now, or not in this build
	Canceled          Code = "canceled"           // the caller stopped it
	Precondition      Code = "precondition"       // the state does not allow it; query, then retry
	Budget            Code = "budget"             // a budget is spent
	Internal          Code = "internal"           // a fault of ours; its text stays inside
)

// CodeFacts says how the doors answer a code.
type CodeFacts struct {
	Code    Code
	Group   string // the word of the failure document's `kind`
	Exit    int    // exit code of the command line
	HTTP    int    // status of the HTTP API
	Retry   bool   // whether the same call can succeed later without a change
	Meaning string // one sentence, for the reference page
}

// Codes is the one table of errors. MCP answers every code as a tool result with
// isError, code, message and hint.
var Codes = []CodeFacts{
	{Invalid, "input", 2, 400, false, "The request is malformed or contradicts itself."},
	{Denied, "denied", 4, 403, false, "Policy does not allow this principal to make this call."},
	{NeedsApproval, "denied", 4, 403, false, "A person has to approve this very call first."},
	{NotFound, "input", 2, 404, false, "Something that the request names does not exist."},
	{Conflict, "input", 2, 409, false, "Something else is already there, or an input changed meanwhile."},
	{Limit, "input", 2, 413, false, "The input or the work is larger than the limits allow."},
	{UnreadableMedia, "input", 2, 422, false, "The file is not media that can be read."},
	{MissingDependency, "missing_tool", 127, 424, false, "A program, a model or a sandbox layer is missing on this machine."},
	{Timeout, "ffmpeg", 124, 504, true, "The work did not finish within its deadline."},
	{ToolFailed, "ffmpeg", 1, 502, false, "A program failed."},
	{Verification, "ffmpeg", 1, 500, false, "The result was made but is not what was planned; it was not published."},
	{Unavailable, "internal", 1, 503, true, "Not available now, or not in this installation."},
	{Canceled, "canceled", 130, 499, true, "The caller canceled the call."},
	{Precondition, "input", 2, 412, true, "The present state does not allow it; query the state, then try again."},
	{Budget, "denied", 4, 402, false, "A budget of time, bytes or money is spent."},
	{Internal, "internal", 1, 500, true, "A fault of the program itself; details are in the operator's log."},
}

// Facts returns the table's row for c, Internal's for an unknown code.
func (c Code) Facts() CodeFacts {
	for _, f := range Codes {
		if f.Code == c {
			return f
		}
	}
	return Internal.Facts()
}

// Error is a failure as callers see it. Msg and Hint are for the caller, person
// or agent; Err is for the operator's log and never leaves the process. A hint is
// an action: a flag, a command, a value.
type Error struct {
	Code     Code
	Msg      string
	Hint     string
	Approval string // id of the request that a person has to decide, if any
	Err      error
}

// Errorf returns an error with a message for the caller. A %w verb keeps its
// operand for errors.Is and the log; its text is part of the message.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns e with the action that helps.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithApproval returns e with the id of the request that a person has to decide.
func (e *Error) WithApproval(id string) *Error {
	c := *e
	c.Approval = id
	return &c
}

// WithCause returns e with what happened inside, for the operator's log only.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// Error returns what the caller may read.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + " (" + e.Hint + ")"
}

// Unwrap returns the inner cause.
func (e *Error) Unwrap() error { return e.Err }

// Group returns the word that the failure document carries as `kind`.
func (e *Error) Group() string { return e.Code.Facts().Group }

// AsError returns err as an [Error]. A cancelled context is canceled, an expired
// one a time-out, a disk without room unavailable; anything unmarked is internal, with a
// message that says nothing of the inside.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Code: Canceled, Msg: "the call was canceled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Msg: "the call did not finish within its deadline", Hint: "raise --timeout, or narrow the range with --start and --end", Err: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Error{Code: Unavailable, Msg: "the disk is full", Hint: "free some space where the workspace and the state folder lie (`cutroom doctor` names it), then repeat the call", Err: err}
	}
	return &Error{Code: Internal, Msg: "an internal fault stopped the call", Hint: "see the log; run `cutroom doctor`", Err: err}
}

// Failure is the one document that reports a failure under --json, HTTP and MCP.
type Failure struct {
	Status string        `json:"status"` // always "failed"
	Error  FailureDetail `json:"error"`
}

// FailureDetail is the body of a [Failure].
type FailureDetail struct {
	Kind       string `json:"kind"`
	Code       Code   `json:"code"`
	Message    string `json:"message"`
	Hint       string `json:"hint,omitempty"`
	ApprovalID string `json:"approval_id,omitempty"` // what `cutroom approve` takes
}

// Failure returns the document for e.
func (e *Error) Failure() Failure {
	return Failure{Status: "failed", Error: FailureDetail{Kind: e.Group(), Code: e.Code, Message: e.Msg, Hint: e.Hint, ApprovalID: e.Approval}}
}
