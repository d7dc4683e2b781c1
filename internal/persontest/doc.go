// Package persontest is a person beside an agent: programs whose parents are gone, as
// those that somebody starts on a terminal of their own, and a pseudo-terminal with
// somebody who types at it.
//
// It promises that what is tried is the same whoever started the test, and that nothing
// waits for a key that nobody presses. It is for tests and for attesting hosts; it must
// never know what a program asks, nor what the answer means.
package persontest
