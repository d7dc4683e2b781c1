// Package docgen makes the documents that follow from the registry of tools: the
// contract, the reference pages and the table in the README.
//
// It promises that the same registry gives the same bytes, and that no fact is
// typed here which the registry already states. It starts nothing and writes no
// file; its command gen does. It must never know a door or an engine.
package docgen

//go:generate go run ./gen
