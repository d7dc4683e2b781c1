package provider

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Estimate is what sending r is charged before it is sent.
func (e Endpoint) Estimate(r Request) (Charge, error) {
	p, err := e.wire().codec().pack(e, r, false)
	return e.charge(r, p), err
}

// Written is an assistant's message as e writes it, in the form of a [Native].
func Written(e Endpoint, m Message) (jsontext.Value, error) {
	p, err := e.wire().codec().pack(e, Request{Messages: []Message{m}}, false)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Messages []jsontext.Value `json:"messages"`
		Input    jsontext.Value   `json:"input"`
	}
	if err := decode(p.body, &doc); err != nil {
		return nil, err
	}
	switch {
	case e.wire() == Responses:
		return doc.Input, nil
	case len(doc.Messages) != 1:
		return nil, errors.New("not one message")
	case e.wire() == Chat:
		return doc.Messages[0], nil
	}
	var turn struct {
		Content jsontext.Value `json:"content"`
	}
	err = decode(doc.Messages[0], &turn)
	return turn.Content, err
}
