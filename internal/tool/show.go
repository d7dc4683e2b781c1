package tool

import "cutroom"

// Shown is an output that knows how it reads to a model: what a door shows of it
// that has room for so much. Outputs without it are shown as an outline.
type Shown interface{ Show(Room) Showing }

// Room is how much a door can show at once.
type Room struct {
	Text int // characters, at least 1000
}

// Showing is what a door shows.
type Showing struct {
	// Text states every fact that the reader needs, at most Room.Text characters. What
	// comes from media stands in it neutralised and fenced as evidence.
	Text string
	// Pictures are recorded pictures, the most telling first; a door takes as many of
	// them as it has room for, and names the rest.
	Pictures []Picture
	// Files hold what the text leaves out.
	Files []cutroom.ArtifactRef
}

// Picture is a recorded picture with what it shows.
type Picture struct {
	Ref     cutroom.ArtifactRef
	Caption string // our own words: a time, the times of a sheet's cells
}

// Brief is an answer that says itself in lines of words, where the command line shows no
// JSON. What every [Made] answers is shown before them.
type Brief interface{ Brief() []string }

// Bare is an output of which the command line prints a part only, as JSON whether it
// was asked for or not: a description that programs read.
type Bare interface{ Bare() any }

// Plain is a [Bare] output of which, when the caller asked for that, the command line
// prints lines of text in place of JSON; --json prints JSON all the same.
type Plain interface {
	Plain() (lines []string, ok bool)
}

// Judged is an output that says whether what was asked about passed. One that did not
// is an answer all the same; the command line ends with the exit code of a failed
// verification.
type Judged interface{ Failed() bool }
