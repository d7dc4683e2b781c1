// Package rhythm knows how a recording moves in time: where one picture gives way to
// another and how, how a camera moves within a shot, where the beat of music lies,
// where the sound is loudest, and which stretches stand out.
//
// It promises that what it learns from pictures and sound, it learns as they come, in
// memory that does not grow with their number but for one small number per step or
// event; that the same measurements give the same answer; and that a certainty which
// it does not have is said as a low confidence. It must never know ffmpeg, a file or a
// tool: it gets small pictures, samples and times.
package rhythm
