// Package align finds how recordings of one event lie in time to each other, from
// their sound alone: how much later one began, and how much faster its clock runs.
//
// It promises that an answer was measured in two independent ways, by the course of
// the sound's spectrum and by its waveform, that the best answer is held against the
// second best, and that no limit bounds the search: recordings that do not fit are
// said not to. Memory is bounded by MaxLength. It is pure: it must never know a
// program, a file or a tool.
package align
