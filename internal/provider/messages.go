package provider

import "github.com/go-json-experiment/json/jsontext"

// messagesWire is POST /messages.
type messagesWire struct{}

func (messagesWire) pack(Endpoint, Request, bool) (packed, error) {
	return packed{}, faultf(BadRequest, "not yet")
}
func (messagesWire) reply([]byte) (Reply, error)      { return Reply{}, faultf(BadRequest, "not yet") }
func (messagesWire) gather(func(Delta)) gatherer      { return nil }
func messagesNeutral(jsontext.Value) (Message, error) { return Message{}, nil }
