package redact

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Writer masks a text that comes in pieces, wherever it was cut: a line goes on when it
// is whole, a private key of several lines when its end is known. A line without an end
// goes on in long pieces that cut no secret in two.
type Writer struct {
	r    *Redactor
	w    io.Writer
	buf  []byte
	seen string // the end of the line's part that has gone on
	pem  string // inside a private key: the line that ends it
	skip bool   // inside a masked word that is longer than what is held
}

// Writer returns a writer that masks what goes on to w. Close writes the rest.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{r: r, w: w} }

const (
	holdMost = 64 << 10 // bytes of a line, or of a private key, that are waited for
	holdTail = 8 << 10  // of a longer line, what stays back: longer than what a rule needs
	lookBack = 2 * longestKey
)

// Write takes a piece. The number of bytes is len(p), unless writing fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	for {
		more, err := w.step()
		if err != nil {
			return 0, err
		}
		if !more {
			return len(p), nil
		}
	}
}

// Close writes what was held back; it does not close the writer beneath.
func (w *Writer) Close() error {
	for {
		more, err := w.step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if w.pem != "" || w.skip {
		w.buf = nil
		return nil
	}
	return w.pass(len(w.buf))
}

// step passes on one part of what is held; false when it has to wait for more.
func (w *Writer) step() (more bool, err error) {
	switch {
	case w.pem != "":
		return w.insideKey(), nil
	case w.skip:
		return w.insideWord(), nil
	}
	line := bytes.LastIndexByte(w.buf, '\n') + 1
	if at, end := openKey(w.buf); at >= 0 {
		if at > 0 {
			line = min(max(line, at), at)
		} else if len(w.buf) <= holdMost {
			return false, nil
		} else {
			w.pem = end
			_, err := io.WriteString(w.w, Mask)
			return true, err
		}
	}
	if line > 0 {
		return true, w.pass(line)
	}
	if len(w.buf) <= holdMost {
		return false, nil
	}
	return true, w.passSome()
}

// openKey finds a private key without an end: where it begins and the line that ends it.
func openKey(b []byte) (at int, end string) {
	at = bytes.LastIndex(b, []byte("-----BEGIN "))
	if at < 0 {
		return -1, ""
	}
	label, _, ok := strings.Cut(string(b[at+len("-----BEGIN "):min(len(b), at+100)]), "-----")
	if !ok || !strings.Contains(label, "PRIVATE KEY") {
		return -1, ""
	}
	end = "-----END " + label + "-----"
	if bytes.Contains(b[at:], []byte(end)) {
		return -1, ""
	}
	return at, end
}

// insideKey drops a long private key up to its end.
func (w *Writer) insideKey() bool {
	if n := bytes.Index(w.buf, []byte(w.pem)); n >= 0 {
		w.buf, w.pem, w.seen = w.buf[n+len(w.pem):], "", ""
		return true
	}
	if n := len(w.buf) - len(w.pem); n > 0 {
		w.buf = append(w.buf[:0], w.buf[n:]...)
	}
	return false
}

// insideWord drops the rest of a masked word.
func (w *Writer) insideWord() bool {
	n := bytes.IndexAny(w.buf, " \t\r\n\"'<>")
	if n < 0 {
		w.buf = w.buf[:0]
		return false
	}
	w.buf, w.skip, w.seen = w.buf[n:], false, ""
	return true
}

// passSome passes on the beginning of a line that is too long to be waited for, up to
// where no secret is cut.
func (w *Writer) passSome() error {
	cut, before := len(w.buf)-holdTail, len(w.seen)
	for n := 0; n < utf8.UTFMax && !utf8.RuneStart(w.buf[cut]); n++ { // nor a character
		cut--
	}
	for _, f := range w.r.spans(w.seen + string(w.buf)) {
		if f.from-before >= cut || f.to-before <= cut {
			continue
		}
		if cut = f.from - before; cut > 0 {
			break
		}
		w.skip, w.buf = true, w.buf[:0]
		_, err := io.WriteString(w.w, Mask)
		return err
	}
	return w.pass(cut)
}

// pass writes the first n bytes of what is held, masked.
func (w *Writer) pass(n int) error {
	if n == 0 {
		return nil
	}
	text := w.seen + string(w.buf[:n])
	found := w.r.spans(text)
	for len(found) > 0 && found[0].from < len(w.seen) {
		if found[0].from = len(w.seen); found[0].to <= found[0].from {
			found = found[1:]
			continue
		}
		break
	}
	safe := w.r.Text(masked(text, found)[len(w.seen):])
	if text[len(text)-1] == '\n' {
		w.seen = ""
	} else {
		w.seen = text[max(0, len(text)-lookBack):]
	}
	w.buf = append(w.buf[:0], w.buf[n:]...)
	_, err := io.WriteString(w.w, safe)
	return err
}
