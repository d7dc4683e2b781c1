// Package timeline knows the files by which editing programs hand a cut to each other:
// FCPXML 1.10, CMX 3600 lists and OpenTimelineIO.
//
// It promises that times are whole frames of an exact rate, so that nothing drifts over
// any length; that what is written and read again is the same timeline; and that what a
// format has no place for is named, never left out in silence. What it reads comes from
// anybody: sizes are bounded, entities of XML are refused. It is pure: it reads and
// writes text, and must never know a file, a program or a tool.
package timeline
