// Package proof says what must be true of a written file and how that is measured:
// its description, the times of its packets, and one decode of everything in it.
//
// It promises that what it accepts was measured on the decoded file, never taken from
// the program that wrote it. It is pure: it plans runs and judges what they print. It
// must never know a tool or how the file was made.
package proof

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
)

// Expectation is what must be true of one file of the private folder. Zero fields
// are not checked, unless said otherwise.
type Expectation struct {
	File      string // its name in the private folder
	Container string // mp4, mov, m4a, mkv, webm, mp3, wav, flac, ogg, opus, adts, gif …
	Video     *Video // nil: there must be no video
	Audio     []Audio
	Subtitles []Subtitle // in order; there must be as many
	Chapters  int        // as many; −1: not checked
	Cover     bool       // cover art must be there
	// Skew is how far the ends of picture and sound may lie apart beyond what their
	// lengths say, and their beginnings beyond what First says. 0: half a frame and one
	// codec frame; negative: not checked.
	Skew cutroom.Micros
	// Content compares with what the source held: when set, the file may not be wholly
	// black, frozen or silent.
	Content Content
	// Loudness, when set, is measured on one audio stream.
	Loudness  *Loudness
	Hear      bool // the loudness is measured though nothing was promised
	Faststart bool // the index must lie before the media
	Tags      []Tag
}

// Tag is a tag of the whole file; an empty value must be absent.
type Tag struct{ Name, Value string }

// Video is what must be true of the video stream.
type Video struct {
	Codec         string
	Width, Height int // as shown
	Rate          ffmpeg.Rational
	Frames        int64          // decoded frames, exactly
	First         cutroom.Micros // presentation time of the first frame, ± half a tick
	Length        cutroom.Micros // ± half a frame
	Uneven        bool           // frames may be unevenly spaced
	// Last, when set, is the presentation time of the last frame, ± half a tick: where
	// frames are uneven, how long it shows is known to the container at best.
	Last                               cutroom.Micros
	PixelFormat                        string
	Range, Matrix, Primaries, Transfer string // tags; "-" must be absent
	Tag                                string // hvc1
	MasterDisplay, LightLevel          string // of HDR10, as a document has them
	Rotation                           *int   // nil: not looked at
	Mirrored                           bool   // with Rotation
	// Looks is what went into the encoder; each picture has to look like it.
	Looks ffmpeg.Signature
	// Sights are what has to be seen of what was drawn, beside frames as they were Bare, of
	// which Area is drawn on.
	Sights []Sight
	Area   []ffmpeg.Place
	Bare   ffmpeg.Stills
}

// Sight is one moment at which something that was drawn has to be seen.
type Sight struct {
	Check string // the row's name
	What  string // such as graphic 1; the sights of one make one row
	Frame int64  // of the output, from 0
	Place ffmpeg.Place
	Least int     // how many code values a pixel has to differ by
	Hue   bool    // colours count, not brightness alone
	Share float64 // of the place's pixels that have to differ at least
	Once  bool    // one of the sights of that name is enough
}

// Audio is what must be true of one audio stream.
type Audio struct {
	Codec                string
	SampleRate, Channels int
	First                cutroom.Micros // where it begins; judged with Skew
	Length               cutroom.Micros // ± one codec frame
	Tolerance            cutroom.Micros // in place of one codec frame
	Language             string         // "-" must be absent
	Silent               bool           // the source was silent: this may be
	Course               ffmpeg.Course  // what went into the encoder: it has to sound like it
	Holes                bool           // samples may be missing in between, as in the source
}

// Subtitle is what must be true of one subtitle stream.
type Subtitle struct {
	Codec    string
	Language string // "-" must be absent
	Cues     int    // 0: not checked
}

// Content says what the source held, so that what appeared in the making is found.
type Content struct {
	NotBlack, NotFrozen, NotSilent bool
}

// Loudness is a target that was promised.
type Loudness struct {
	Track           int     // which audio stream, from 0
	LUFS, Tolerance float64 // LU
	TruePeak        float64 // dBTP, at most; + 0.05
}
