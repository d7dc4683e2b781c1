package graph

import (
	"fmt"
	"io"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// tap is a second output of the encode: what goes into an encoder, very small, so that
// what comes out of the file can be compared with it.
type tap struct {
	label string
	form  []argv.Atom
	read  argv.Consumer
}

// tapPicture splits off what the picture looks like and returns the label that is left
// to encode.
func (c *compiler) tapPicture(label string) string {
	c.chains = append(c.chains, fmt.Sprintf("[%s]split[%se][%st]", label, label, label), fmt.Sprintf("[%st]%s[%ss]", label, ffmpeg.SignatureFilter(), label))
	c.taps = append(c.taps, tap{label + "s", ffmpeg.SignatureForm(c.a), ffmpeg.ReadSignature})
	return label + "e"
}

// tapped is the course of one track of the output.
type tapped struct {
	number int
	course ffmpeg.Course
}

// tapSound splits off what track n sounds like and returns the label that is left to
// encode.
func (c *compiler) tapSound(n int, label string) string {
	c.chains = append(c.chains, fmt.Sprintf("[%s]asplit[%se][%st]", label, label, label), fmt.Sprintf("[%st]%s[%ss]", label, ffmpeg.CourseFilter(), label))
	c.taps = append(c.taps, tap{label + "s", ffmpeg.CourseForm(), func(r io.Reader) (any, error) {
		v, err := ffmpeg.ReadCourse(r)
		if err != nil {
			return nil, err
		}
		return tapped{n, v.(ffmpeg.Course)}, nil
	}})
	return label + "e"
}

// compared puts what went into the encoders into the expectation.
func compared(e *proof.Expectation, res argv.Result) {
	for _, v := range res.Values {
		switch v := v.(type) {
		case ffmpeg.Signature:
			if e.Video != nil {
				e.Video.Looks = v
			}
		case ffmpeg.Stills:
			if e.Video != nil {
				e.Video.Bare = v
			}
		case tapped:
			if v.number < len(e.Audio) {
				e.Audio[v.number].Course = v.course
			}
		}
	}
}
