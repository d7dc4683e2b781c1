// Package speech turns recorded speech into text with times, and finds where
// somebody speaks at all.
//
// It has two sides. [Child] is the main function of a sandboxed child of our own
// binary: it reads a WAV file, runs the voice detector and the speech model and
// prints one JSON document per line. Everything else is pure: [Command] says how
// to run that child or, by a [Template], an engine of the operator's, and what
// comes back is read into a [Transcript].
//
// It promises that a language which the model does not speak is said and never
// invented, that what the model itself was unsure of is marked, and that a file of
// any length is read in constant memory. It must never know where a recording came
// from: its times count from the first sample, the caller adds the offset.
package speech
