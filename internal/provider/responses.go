package provider

import "github.com/go-json-experiment/json/jsontext"

// responsesWire is POST /responses.
type responsesWire struct{}

func (responsesWire) pack(Endpoint, Request, bool) (packed, error) {
	return packed{}, faultf(BadRequest, "not yet")
}
func (responsesWire) reply([]byte) (Reply, error)      { return Reply{}, faultf(BadRequest, "not yet") }
func (responsesWire) gather(func(Delta)) gatherer      { return nil }
func responsesNeutral(jsontext.Value) (Message, error) { return Message{}, nil }
