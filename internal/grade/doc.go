// Package grade is the arithmetic of colour: look-up tables in the .cube form, a typed
// correction, transfer curves and the tone curve of ITU-R BT.2390.
//
// It promises that what a table does to a colour can be told without applying it to a
// picture, so that a written file can be compared with it. It is pure: numbers and text
// in, numbers and text out. It must never know a program, a file or a tool.
package grade

// Color is red, green and blue as a signal, 0 to 1.
type Color [3]float64

func clamp(x float64) float64 { return min(max(x, 0), 1) }
