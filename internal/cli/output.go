package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"cutroom/internal/redact"
)

// output is standard output, where all that is said passes the redactor: a document as
// one, anything else as text. What could not be written is no answer, whoever wrote it.
type output struct {
	plain  plainOutput
	redact *redact.Redactor
	text   *redact.Writer
	err    error // of the first write that failed
}

func newOutput(w io.Writer, r *redact.Redactor) *output {
	o := &output{redact: r}
	o.plain = plainOutput{o, w}
	o.text = r.Writer(o.plain)
	return o
}

// Write takes whole documents, or text in any pieces.
func (o *output) Write(b []byte) (int, error) {
	if start := bytes.TrimLeft(b, " \t\r\n"); len(start) == 0 || start[0] != '{' && start[0] != '[' || !json.Valid(b) {
		return o.text.Write(b)
	}
	if err := o.text.Close(); err != nil {
		return 0, err
	}
	if _, err := o.plain.Write(o.redact.JSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// finish writes what was held back: a line without an end.
func (o *output) finish() { _ = o.text.Close() } // the error is kept

// plainOutput is standard output for a door that has a redactor of its own.
type plainOutput struct {
	o *output
	w io.Writer
}

func (p plainOutput) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.o.err = cmp.Or(p.o.err, err)
	return n, err
}
