package run

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/provider"
)

// Type is what an event says.
type Type string

// The types of events.
const (
	RunStarted    Type = "run_started"
	TextDelta     Type = "text_delta"
	ThinkingDelta Type = "thinking_delta"
	CallStart     Type = "tool_call_start"
	CallEnd       Type = "tool_call_end"
	CallRejected  Type = "tool_call_rejected"
	Compaction    Type = "compaction"
	RunCompleted  Type = "run_completed"
	RunFailed     Type = "run_failed"
)

// Types lists every type.
var Types = []Type{RunStarted, TextDelta, ThinkingDelta, CallStart, CallEnd, CallRejected, Compaction, RunCompleted, RunFailed}

// Event is one event as it is stored. As JSON it is one object: runId, seq, at and type,
// with the members of its payload beside them.
type Event struct {
	RunID   string
	Seq     int64 // from 1, without gaps
	At      time.Time
	Type    Type
	Payload jsontext.Value // an object; [Event.Body] reads it
}

// MarshalJSON writes the event as one object.
func (e Event) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		RunID string `json:"runId"`
		Seq   int64  `json:"seq"`
		At    string `json:"at"`
		Type  Type   `json:"type"`
	}{e.RunID, e.Seq, e.At.UTC().Format("2006-01-02T15:04:05.000Z"), e.Type})
	if err != nil || len(e.Payload) <= len("{}") {
		return head, err
	}
	return append(append(head[:len(head)-1], ','), e.Payload[1:]...), nil
}

// Body is the payload of an event, one type for each [Type].
type Body interface{ Type() Type }

// Started is the body of run_started: a round begins, or goes on in another process.
type Started struct {
	Round     int            `json:"round"`
	Goal      string         `json:"goal"`
	Prompt    string         `json:"prompt,omitzero"` // what was said to begin the round, where that was not the goal
	Models    []string       `json:"models"`
	Tools     []string       `json:"tools"` // that are offered in this round
	Kinds     []cutroom.Kind `json:"kinds"` // of call that are allowed in this round
	Budget    Amounts        `json:"budget,omitzero"`
	Spent     Amounts        `json:"spent,omitzero"`
	Resumed   bool           `json:"resumed,omitzero"`
	Pending   int            `json:"pending,omitzero"` // operations that were not finished
	PlanFirst bool           `json:"planFirst,omitzero"`
	Parent    string         `json:"parentRunId,omitzero"`
	Depth     int            `json:"depth,omitzero"`
}

// Text is the body of text_delta: what the model says, in pieces. The last one of a turn
// has an Answer, and perhaps no text.
type Text struct {
	Turn   int     `json:"turn"`
	Text   string  `json:"text"`
	Again  bool    `json:"again,omitzero"` // all pieces of the turn so far are void: it is asked anew
	Answer *Answer `json:"answer,omitzero"`
}

// Answer is who answered a turn, after what, and what it cost.
type Answer struct {
	Provider  string             `json:"provider"` // with the route as prefix, as attempts say it
	Model     string             `json:"model"`
	Stop      provider.Stop      `json:"stop"`
	Calls     int                `json:"calls,omitzero"` // that it wants to be made
	Usage     Usage              `json:"usage"`
	From      string             `json:"from,omitzero"`      // who answered before, where that was another: provider/model
	Converted int                `json:"converted,omitzero"` // messages of others that were written anew for it
	Attempts  []provider.Attempt `json:"attempts,omitempty"` // where there was more than one
	Warnings  []string           `json:"warnings,omitempty"`
	Recovered bool               `json:"recovered,omitzero"` // read back from the transcript
}

// Thinking is the body of thinking_delta: what the model thinks, where its service shows it.
type Thinking struct {
	Turn  int    `json:"turn"`
	Text  string `json:"text"`
	Again bool   `json:"again,omitzero"`
}

// Recovery says how a call stands to an end of the process in between.
type Recovery string

// The marks.
const (
	Repeated Recovery = "repeated"        // the call was made again: it may be
	Unknown  Recovery = "outcome_unknown" // it was begun and must not be made twice; the model has to query
	ReadBack Recovery = "read_back"       // its answer was kept, and is told now
	Approved Recovery = "after_approval"  // it waited for a person
)

// Start is the body of tool_call_start.
type Start struct {
	Turn     int            `json:"turn"`
	Index    int            `json:"index"` // of the call in its turn, from 0
	CallID   string         `json:"callId"`
	Tool     string         `json:"tool"`
	Kind     cutroom.Kind   `json:"kind"`
	Replay   string         `json:"replay"`
	Input    string         `json:"input"` // masked, cut
	Cut      bool           `json:"inputCut,omitzero"`
	SHA256   cutroom.Digest `json:"inputSha256"` // of the whole, masked
	Recovery Recovery       `json:"recovery,omitzero"`
}

// The ends of a call.
const (
	Succeeded  = "succeeded"
	CallFailed = "failed"
)

// End is the body of tool_call_end.
type End struct {
	Turn     int            `json:"turn"`
	Index    int            `json:"index"`
	CallID   string         `json:"callId"`
	Tool     string         `json:"tool"`
	Status   string         `json:"status"`         // succeeded or failed
	Output   string         `json:"output"`         // masked, cut
	Code     cutroom.Code   `json:"code,omitzero"`  // of one that failed
	Run      cutroom.Digest `json:"run,omitzero"`   // of the recorded result
	Result   string         `json:"value,omitzero"` // the answer's own status: completed, partial …
	Files    []string       `json:"files,omitempty"`
	Pictures int            `json:"pictures,omitzero"` // that go with the answer, for models that take them
	Cut      bool           `json:"outputCut,omitzero"`
	Reused   bool           `json:"reused,omitzero"`
	MS       int64          `json:"ms"`
	Approval string         `json:"approvalId,omitzero"` // that was used up
	Child    string         `json:"childRunId,omitzero"` // of a delegated run
	Recovery Recovery       `json:"recovery,omitzero"`
}

// Rejected is the body of tool_call_rejected: the call was not made.
type Rejected struct {
	Turn     int          `json:"turn"`
	Index    int          `json:"index"`
	CallID   string       `json:"callId"`
	Tool     string       `json:"tool"` // as the model named it, masked, cut
	Input    string       `json:"input"`
	Code     cutroom.Code `json:"code"`
	Message  string       `json:"message"`
	Approval string       `json:"approvalId,omitzero"` // that a person has to decide
	Waits    bool         `json:"waits,omitzero"`      // the run stops until then
}

// The phases of a compaction.
const (
	CompactionStart = "start"
	CompactionEnd   = "end"
)

// Compacted is the body of compaction: older messages become a summary.
type Compacted struct {
	Phase    string `json:"phase"` // start or end
	Turn     int    `json:"turn"`
	Tokens   int64  `json:"tokens"`            // of the messages, estimated: before at the start, after at the end
	Messages int    `json:"messages"`          // likewise
	Summary  string `json:"summary,omitzero"`  // at the end
	By       string `json:"by,omitzero"`       // provider/model, or "cutroom" where no model would summarise
	Evidence int    `json:"evidence,omitzero"` // results that stay readable by their ids
	From     int    `json:"fromTurn,omitzero"` // the first turn that stays as it was
}

// Usage is what a turn, or a run, took.
type Usage struct {
	Turns    int   `json:"turns,omitzero"`
	Calls    int   `json:"calls,omitzero"`
	Input    int64 `json:"inputTokens"`
	Output   int64 `json:"outputTokens"`
	Cached   int64 `json:"cachedTokens,omitzero"`
	Thinking int64 `json:"thinkingTokens,omitzero"`
	Cost     int64 `json:"costMicros,omitzero"`
	Bytes    int64 `json:"bytesSent,omitzero"`
	MS       int64 `json:"ms"`
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.Turns, u.Calls = u.Turns+v.Turns, u.Calls+v.Calls
	u.Input, u.Output, u.Cached, u.Thinking = u.Input+v.Input, u.Output+v.Output, u.Cached+v.Cached, u.Thinking+v.Thinking
	u.Cost, u.Bytes, u.MS = u.Cost+v.Cost, u.Bytes+v.Bytes, u.MS+v.MS
}

// Done is the body of run_completed.
type Done struct {
	Text    string  `json:"text"`
	Usage   Usage   `json:"usage"`
	Spent   Amounts `json:"spent"`
	Planned bool    `json:"planned,omitzero"` // the text is the plan of a first round
}

// Broken is the body of run_failed.
type Broken struct {
	Reason    Reason             `json:"reason"`
	Code      cutroom.Code       `json:"code,omitzero"`
	Message   string             `json:"message,omitzero"`
	Hint      string             `json:"hint,omitzero"`
	Over      string             `json:"over,omitzero"` // which budget: steps, tokens, cost, bytes or time
	Attention bool               `json:"attention,omitzero"`
	Usage     Usage              `json:"usage"`
	Spent     Amounts            `json:"spent"`
	Attempts  []provider.Attempt `json:"attempts,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
}

// Type is run_started.
func (Started) Type() Type { return RunStarted }

// Type is text_delta.
func (Text) Type() Type { return TextDelta }

// Type is thinking_delta.
func (Thinking) Type() Type { return ThinkingDelta }

// Type is tool_call_start.
func (Start) Type() Type { return CallStart }

// Type is tool_call_end.
func (End) Type() Type { return CallEnd }

// Type is tool_call_rejected.
func (Rejected) Type() Type { return CallRejected }

// Type is compaction.
func (Compacted) Type() Type { return Compaction }

// Type is run_completed.
func (Done) Type() Type { return RunCompleted }

// Type is run_failed.
func (Broken) Type() Type { return RunFailed }

// Body reads the payload: one of the types of this package, by value.
func (e Event) Body() (Body, error) {
	switch e.Type {
	case RunStarted:
		return read[Started](e)
	case TextDelta:
		return read[Text](e)
	case ThinkingDelta:
		return read[Thinking](e)
	case CallStart:
		return read[Start](e)
	case CallEnd:
		return read[End](e)
	case CallRejected:
		return read[Rejected](e)
	case Compaction:
		return read[Compacted](e)
	case RunCompleted:
		return read[Done](e)
	case RunFailed:
		return read[Broken](e)
	}
	return nil, fmt.Errorf("an event of type %q", e.Type)
}

func read[T Body](e Event) (Body, error) {
	var b T
	if err := json.Unmarshal(e.Payload, &b); err != nil {
		return nil, fmt.Errorf("event %d of run %s: %w", e.Seq, e.RunID, err)
	}
	return b, nil
}
