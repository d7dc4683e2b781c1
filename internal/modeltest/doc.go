// Package modeltest is a model that plays a script, over real HTTP on loopback, in
// the three wires that agents' hosts and our own providers speak: Anthropic
// Messages, OpenAI Responses and OpenAI Chat Completions, streamed and whole.
//
// It promises that an answer depends on the request and the script alone (the turn is
// counted from the conversation that the request holds, so a repeated or resumed
// request gets the same step), and that every request is kept and can be asked for
// what reached the model: texts, pictures, tools, results. It is for tests and for
// attesting hosts; it must never know a tool, a host or what a script is for.
package modeltest
