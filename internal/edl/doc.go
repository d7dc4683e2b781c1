// Package edl knows edit decision lists: which part of which source an edit shows
// when, and how times go from a source to the edit and back.
//
// It promises exact arithmetic in whole microseconds, and that a map and its inverse
// agree. It is pure: it reads and writes text, never files, and must never know
// ffmpeg or a tool.
package edl
