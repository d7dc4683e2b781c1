package provider

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// event is one event of a stream of server-sent events.
type event struct {
	name string
	data []byte
}

var errLine = errors.New("an event is longer than is read")

// events reads a stream of server-sent events (WHATWG HTML, section 9.2). No event,
// whatever lines it has, is longer than max.
type events struct {
	in    *bufio.Reader
	max   int
	begun bool
	cr    bool // the last line ended in CR: a following LF belongs to it
}

func newEvents(r io.Reader, limit int) *events {
	return &events{in: bufio.NewReaderSize(r, 16<<10), max: limit}
}

// next returns the next event that has data. io.EOF is a clean end; what was begun and
// not ended by an empty line is not an event.
func (s *events) next() (event, error) {
	var e event
	has := false
	for {
		line, err := s.line(s.max - len(e.data))
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if has {
				return e, nil
			}
			e = event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.name = string(value)
		case "data":
			if has {
				e.data = append(e.data, '\n')
			}
			e.data, has = append(e.data, value...), true
		}
	}
}

// line reads to CR, LF or both. A line that the stream ends in is no line.
func (s *events) line(limit int) ([]byte, error) {
	var line []byte
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return nil, err
		}
		if s.cr {
			s.cr = false
			if b == '\n' {
				continue
			}
		}
		if b == '\n' || b == '\r' {
			s.cr = b == '\r'
			if !s.begun {
				s.begun = true
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			return line, nil
		}
		if len(line) >= limit {
			return nil, errLine
		}
		line = append(line, b)
	}
}
