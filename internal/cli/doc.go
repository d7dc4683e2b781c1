// Package cli is the command line: it parses words, makes one call of the engine,
// and prints the answer.
//
// It promises that every tool of the registry is a command with typed flags, that
// under --json exactly one document goes to standard output whatever happens, and
// that the exit code follows the one table of errors. It does no work of its own and
// must never know how a tool runs.
package cli
