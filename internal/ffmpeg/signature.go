package ffmpeg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"cutroom/internal/sandbox/argv"
)

// Signature is how each picture of a video looks, very small: 48 grey samples. Two
// signatures tell whether what a file shows is what went into its encoder.
type Signature []byte

const (
	signatureWidth  = 8
	signatureHeight = 6
	signatureSize   = signatureWidth * signatureHeight
)

// SignatureFilter is the filter that makes pictures small; it samples, so that it costs
// next to nothing, and samples the same points of pictures of one size.
func SignatureFilter() string {
	return fmt.Sprintf("scale=%d:%d:flags=fast_bilinear,format=gray", signatureWidth, signatureHeight)
}

// SignatureForm are the options of an output that carries a signature.
func SignatureForm(a *Abilities) []argv.Atom {
	return append(a.FrameRateMode("passthrough"), argv.Words("-c:v", "rawvideo", "-f", "rawvideo")...)
}

// ReadSignature reads one: it returns a [Signature].
func ReadSignature(r io.Reader) (any, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read a signature: %w", err)
	}
	return Signature(b[:len(b)/signatureSize*signatureSize]), nil
}

// Frames is how many pictures there are.
func (s Signature) Frames() int { return len(s) / signatureSize }

func (s Signature) frame(i int) []byte { return s[i*signatureSize : (i+1)*signatureSize] }

// Likeness is how far the pictures of two signatures lie apart.
type Likeness struct {
	Worst   float64 // largest mean difference of two pictures, of 255
	At      int     // the pictures that it is of
	Mean    float64
	Motion  float64 // mean change from picture to picture of the first signature
	Other   float64 // and of the second
	Compare int     // pictures that were compared
}

// Like compares two signatures picture by picture.
func (s Signature) Like(o Signature) Likeness {
	l := Likeness{Compare: min(s.Frames(), o.Frames())}
	for i := range l.Compare {
		d := meanDifference(s.frame(i), o.frame(i))
		l.Mean += d
		if d > l.Worst {
			l.Worst, l.At = d, i
		}
		if i > 0 {
			l.Motion += meanDifference(s.frame(i), s.frame(i-1))
			l.Other += meanDifference(o.frame(i), o.frame(i-1))
		}
	}
	if n := float64(l.Compare); n > 0 {
		l.Mean, l.Motion, l.Other = l.Mean/n, l.Motion/n, l.Other/n
	}
	return l
}

// Course is how loud a track is over its time: the RMS level of each tenth of a
// second in dBFS, −120 for silence.
type Course []float32

const courseRate, courseStep = 8000, 800

// CourseFilter is the filter that makes a track small. The resampler comes first: a
// format that was asked of a split's branch would be asked of what is split, too.
func CourseFilter() string {
	return fmt.Sprintf("aresample=%d,aformat=channel_layouts=mono:sample_fmts=s16", courseRate)
}

// CourseForm are the options of an output that carries a course.
func CourseForm() []argv.Atom { return SoundForm("pcm_s16le", "s16le") }

// ReadCourse reads one: it returns a [Course].
func ReadCourse(r io.Reader) (any, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var c Course
	buf := make([]byte, 2*courseStep)
	for {
		n, err := io.ReadFull(br, buf)
		if n >= courseStep { // half a step tells enough
			c = append(c, levelOf(buf[:n]))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return c, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a track's course: %w", err)
		}
	}
}

func levelOf(b []byte) float32 {
	var sum float64
	for i := 0; i+1 < len(b); i += 2 {
		v := float64(int16(binary.LittleEndian.Uint16(b[i:]))) / 32768
		sum += v * v
	}
	return float32(decibels(math.Sqrt(sum / float64(len(b)/2))))
}

// quiet is a level below which a lossy codec may do as it likes.
const quiet = -50

// Apart is the share of audible steps in which the two courses lie further apart than
// limit dB, and the first such step. What one step holds more, the next may hold less:
// codecs delay, so a step is like the other's neighbours, too.
func (c Course) Apart(o Course, limit float64) (share float64, at int) {
	n, off := 0, 0
	at = -1
	for i := range min(len(c), len(o)) {
		if c[i] < quiet && o[i] < quiet {
			continue
		}
		n++
		if !o.near(i, c[i], limit) {
			off++
			if at < 0 {
				at = i
			}
		}
	}
	if n == 0 {
		return 0, at
	}
	return float64(off) / float64(n), at
}

// near reports whether the course is within limit dB of a level at step i or lies
// across it from step to step.
func (c Course) near(i int, v float32, limit float64) bool {
	lo, hi := c[i], c[i]
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(c) {
			lo, hi = min(lo, c[k]), max(hi, c[k])
		}
	}
	return float64(v) >= float64(lo)-limit && float64(v) <= float64(hi)+limit
}
