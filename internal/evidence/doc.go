// Package evidence turns what was found in media into a timeline that can be
// cited: transcripts and captions of any common form, text read from frames,
// scenes and silences, merged, ranked, summarised and rendered.
//
// It promises that found text stays verbatim in the evidence and is neutralised
// wherever it is rendered; that equal input gives equal bytes; that no input,
// however broken, makes it panic or take more than linear time; and that what is
// not known (an unreadable cue, unreliable speech) is said, never guessed.
//
// It does no I/O. It must never know a program, a model, a store or a door.
package evidence
