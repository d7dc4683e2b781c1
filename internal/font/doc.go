// Package font finds the fonts of this machine and measures text in them: which face
// has every letter of a text, and how wide it draws.
//
// It promises that a face it returns is one that the renderer of captions finds by the
// same name, that its widths are those of shaped text in the renderer's own unit, and
// that a text which no font covers is refused by the name of its script. It reads
// fonts and nothing else. It must never know what a text is drawn for.
package font
