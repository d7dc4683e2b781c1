// Package setup finds the programs and models of a machine, records them, and puts
// an engine together from what was recorded.
//
// It promises that only `cutroom setup` looks a program up by name, that what it
// records was seen working in the sandbox, and that the doctor says for everything
// that is missing which command brings it. It is the doors' work on the
// installation itself; it must never know which door asks.
package setup
