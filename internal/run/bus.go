package run

import (
	"time"

	"cutroom"
)

// Topic is a kind of message on the bus.
type Topic string

// The topics that events of runs are published under.
const (
	StatusTopic Topic = "agent.run_status"
	TextTopic   Topic = "agent.text_delta"
	CallTopic   Topic = "agent.tool_call"
)

// Phase is how far a call is, on the bus.
type Phase string

// The phases.
const (
	PhaseStarted   Phase = "started"
	PhaseSucceeded Phase = "succeeded"
	PhaseFailed    Phase = "failed"
	PhaseDenied    Phase = "denied"
)

// Message is an event as the bus carries it.
type Message struct {
	Topic    Topic        `json:"type"`
	RunID    string       `json:"runId"`
	Seq      int64        `json:"seq"`
	At       time.Time    `json:"at"`
	Status   State        `json:"status,omitzero"`
	Reason   Reason       `json:"reason,omitzero"`
	Turn     int          `json:"turn,omitzero"`
	Text     string       `json:"text,omitzero"`
	Again    bool         `json:"again,omitzero"`
	Phase    Phase        `json:"phase,omitzero"`
	CallID   string       `json:"callId,omitzero"`
	Tool     string       `json:"tool,omitzero"`
	Code     cutroom.Code `json:"code,omitzero"`
	Approval string       `json:"approvalId,omitzero"`
}

// Publish maps an event to the bus; not ok is for those that are stored and no more.
func Publish(e Event) (m Message, ok bool) {
	body, err := e.Body()
	if err != nil {
		return m, false
	}
	m = Message{RunID: e.RunID, Seq: e.Seq, At: e.At}
	call := func(phase Phase, turn int, id, tool string, code cutroom.Code) {
		m.Topic, m.Phase, m.Turn, m.CallID, m.Tool, m.Code = CallTopic, phase, turn, id, tool, code
	}
	switch b := body.(type) {
	case Started:
		m.Topic, m.Status = StatusTopic, Running
	case Done:
		m.Topic, m.Status = StatusTopic, Completed
		if b.Planned {
			m.Status = Planned
		}
	case Broken:
		m.Topic, m.Status, m.Reason, m.Code = StatusTopic, Failed, b.Reason, b.Code
	case Text:
		m.Topic, m.Turn, m.Text, m.Again = TextTopic, b.Turn, b.Text, b.Again
		return m, b.Text != "" || b.Again
	case Start:
		call(PhaseStarted, b.Turn, b.CallID, b.Tool, "")
	case End:
		call(PhaseSucceeded, b.Turn, b.CallID, b.Tool, b.Code)
		if b.Status != Succeeded {
			m.Phase = PhaseFailed
		}
	case Rejected:
		call(PhaseDenied, b.Turn, b.CallID, b.Tool, b.Code)
		m.Approval = b.Approval
	default:
		return Message{}, false
	}
	return m, true
}
