// Package script is a model that plays a script: goal by goal a list of steps, each with
// the calls of tools that it makes, whose inputs may be computed from earlier results.
//
// It promises that an answer depends on the conversation in the request and on the script
// alone: which step comes next is read from the ids of the calls that the conversation
// holds, or from a summary that the model made of it itself, so a run goes on in a new
// process, after a failover and after compaction. It asks no network and needs no key.
//
// It knows messages and tools' names only: never an engine, a store or what a tool does.
package script
