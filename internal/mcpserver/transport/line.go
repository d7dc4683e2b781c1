package transport

import (
	"bufio"
	"errors"
	"io"
)

// beginning is how much of a line that is too long is looked at for its id.
const beginning = 4 << 10

// line is one line of the input without its end, in memory of its own.
type line struct {
	text []byte
	long bool // it was too long: text is its beginning
}

// lines reads lines of at most max bytes; longer ones are skipped in the memory of a
// buffer.
type lines struct {
	in  *bufio.Reader
	max int
}

func newLines(in io.Reader, max int) *lines {
	return &lines{bufio.NewReaderSize(in, 64<<10), max}
}

// next returns a line, and beside the last one why there is no other. A last line
// without an end is one.
func (l *lines) next() (line, error) {
	var got line
	for {
		part, err := l.in.ReadSlice('\n')
		if !got.long {
			got.text = append(got.text, part...)
			if len(got.text) > l.max+len("\ufeff\r\n") {
				got.long, got.text = true, append([]byte(nil), got.text[:min(beginning, len(got.text))]...)
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return got, err
		}
	}
}
