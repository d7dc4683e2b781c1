package policy

import (
	"encoding/json"

	"cutroom"
)

// document is all of a policy that a decision can depend on, in one order.
type document struct {
	Bounds     map[cutroom.Role]boundsDocument `json:"bounds"` // written in order of the key
	Principals []principalDocument             `json:"principals"`
	Rules      []Rule                          `json:"rules"`
	Layers     [][]Rule                        `json:"layers"`
	Root       string                          `json:"root"`
}

type boundsDocument struct {
	Bounds
	Within []boundsDocument `json:"within,omitempty"`
}

type principalDocument struct {
	Name   string         `json:"name"`
	Role   cutroom.Role   `json:"role"`
	Bounds boundsDocument `json:"bounds"`
	Limits Limits         `json:"limits"`
}

func (b Bounds) document() boundsDocument {
	d := boundsDocument{Bounds: b}
	for _, w := range b.within {
		d.Within = append(d.Within, w.document())
	}
	return d
}

// Digest identifies what p decides: two policies of one digest answer every request
// alike. Names of rules, their reasons and where they stand are not in it. What a person
// approved was approved under one digest.
func (p Policy) Digest() cutroom.Digest {
	d := document{Bounds: map[cutroom.Role]boundsDocument{}, Rules: p.Rules, Root: p.Root}
	for role, b := range p.Bounds {
		d.Bounds[role] = b.document()
	}
	for _, n := range p.Principals {
		d.Principals = append(d.Principals, principalDocument{n.Name, n.Role, n.Bounds.document(), n.Limits})
	}
	for _, l := range p.Layers {
		d.Layers = append(d.Layers, l.Rules)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	return cutroom.DigestOf(raw)
}
