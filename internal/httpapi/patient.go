package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// patient gives a client up that neither sends nor reads.
type patient struct {
	http.ResponseWriter
	control     *http.ResponseController
	read, write time.Duration
	gone        bool // the client stopped sending
}

// patient watches over one request and its answer.
func (s *server) patient(w http.ResponseWriter, r *http.Request) *patient {
	p := &patient{ResponseWriter: w, control: http.NewResponseController(w), read: s.ReadTime, write: s.WriteTime}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &body{http.MaxBytesReader(w, r.Body, s.MaxBody), p}
	}
	return p
}

// Write writes to the client, which has a while to read it.
func (p *patient) Write(text []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.write)) // what has no deadlines is no slow network either
	return p.ResponseWriter.Write(text)
}

// Flush sends what was written so far.
func (p *patient) Flush() { _ = p.control.Flush() } // as above

// Unwrap lets a response controller find the rest.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// done lets the connection go on to its next request. What is left of this one's body is
// read before that, and not for long.
func (p *patient) done() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.write))
	if !p.gone {
		_ = p.control.SetReadDeadline(time.Now().Add(p.read))
	}
}

// body is what a client sends, each part of which has a while to arrive.
type body struct {
	io.ReadCloser
	of *patient
}

// Read reads the next part. Behind the end of the body there is no deadline any more: the
// door may think for as long as it has to.
func (b *body) Read(p []byte) (int, error) {
	_ = b.of.control.SetReadDeadline(time.Now().Add(b.of.read)) // as for writing
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.of.control.SetReadDeadline(time.Time{})
	}
	b.of.gone = b.of.gone || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}
