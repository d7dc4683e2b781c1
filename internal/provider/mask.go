package provider

import (
	"bytes"
	"io"
	"net/http"
)

// shortKey is the longest key that is not masked: what stands for a key where a service
// takes none, in a letter or three, is part of any text.
const shortKey = 3

// maskKeys keeps the length, which the service may have stated.
func maskKeys(text []byte, keys []string) []byte {
	for _, k := range keys {
		if len(k) > shortKey {
			text = bytes.ReplaceAll(text, []byte(k), bytes.Repeat([]byte("*"), len(k)))
		}
	}
	return text
}

func maskHeader(h http.Header, keys []string) http.Header {
	for _, values := range h {
		for i, v := range values {
			values[i] = string(maskKeys([]byte(v), keys))
		}
	}
	return h
}

// masking is a body without keys, also where one arrives in two pieces: a piece that ends
// as a key begins keeps that much back until the next one.
type masking struct {
	io.Closer
	in    io.Reader
	keys  []string
	piece []byte
	held  []byte // read, and perhaps the beginning of a key
	ready []byte // masked, to be given
	err   error  // of in, given after ready
}

func masked(in io.Reader, c io.Closer, keys []string) io.ReadCloser {
	return &masking{Closer: c, in: in, keys: keys, piece: make([]byte, 32<<10)}
}

func (m *masking) Read(p []byte) (int, error) {
	for len(m.ready) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		n, err := m.in.Read(m.piece)
		text := maskKeys(append(m.held, m.piece[:n]...), m.keys)
		keep := 0
		if m.err = err; err == nil {
			keep = m.begun(text)
		}
		m.ready, m.held = text[:len(text)-keep], bytes.Clone(text[len(text)-keep:])
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// begun is how much of the end of a text a key begins with.
func (m *masking) begun(text []byte) int {
	most := 0
	for _, k := range m.keys {
		for n := min(len(k)-1, len(text)); len(k) > shortKey && n > most; n-- {
			if bytes.HasSuffix(text, []byte(k[:n])) {
				most = n
			}
		}
	}
	return most
}
