package ffmpeg

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"cutroom"
)

// The size of a glance: block means of brightness, and of both colours at half of it.
const (
	GlanceWidth  = 64
	GlanceHeight = 36
)

// Glance is one frame, small: what [MeasureOptions].See gets of each. The picture is in
// its coded orientation, studio range.
type Glance struct {
	Seconds cutroom.Micros
	PTS     Ticks
	Score   float64 // scdet's score of a change from the frame before, 0–100
	Luma    [GlanceWidth * GlanceHeight]uint8
	Cb, Cr  [GlanceWidth / 2 * GlanceHeight / 2]uint8
}

// track pairs the pictures, which come through one pipe, with the times and scores that
// come through another. ffmpeg writes both frame by frame, but holds some thousand
// bytes of the lines back: so many pictures wait.
type track struct {
	m     *Measure
	mu    sync.Mutex
	marks []scored
	wait  []*Glance
	spare []*Glance
}

// mostWaiting bounds the pictures that wait for their line: about 400 lines fit what
// ffmpeg holds back.
const mostWaiting = 8192

func newTrack(m *Measure) *track { return &track{m: m} }

// mark takes the time and the score of a frame.
func (t *track) mark(s scored) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks = append(t.marks, s)
	t.pair()
}

// pair hands on every picture whose line has come.
func (t *track) pair() {
	n := min(len(t.marks), len(t.wait))
	for i := range n {
		g, s := t.wait[i], t.marks[i]
		g.PTS, g.Score, g.Seconds = s.pts, s.score, max(0, t.m.doc.Time(t.m.video, s.pts))
		t.m.opts.See(g)
	}
	t.spare = append(t.spare, t.wait[:n]...)
	t.wait, t.marks = append(t.wait[:0], t.wait[n:]...), append(t.marks[:0], t.marks[n:]...)
}

// read takes raw pictures, planes of 4:2:0.
func (t *track) read(r io.Reader) (any, error) {
	size := t.m.grey
	luma, chroma := size.w*size.h, size.w*size.h/4
	buf := make([]byte, luma+2*chroma)
	br := bufio.NewReaderSize(r, 256<<10)
	for {
		_, err := io.ReadFull(br, buf)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		g := t.blank()
		blockMeans(g.Luma[:], GlanceWidth, GlanceHeight, buf[:luma], size)
		half := greySize{size.w / 2, size.h / 2}
		blockMeans(g.Cb[:], GlanceWidth/2, GlanceHeight/2, buf[luma:luma+chroma], half)
		blockMeans(g.Cr[:], GlanceWidth/2, GlanceHeight/2, buf[luma+chroma:], half)
		t.mu.Lock()
		if len(t.wait) < mostWaiting {
			t.wait = append(t.wait, g)
		}
		t.pair()
		t.mu.Unlock()
	}
}

// blank returns a glance to fill.
func (t *track) blank() *Glance {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.spare); n > 0 {
		g := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return g
	}
	return new(Glance)
}

// blockMeans reduces a picture of any size to the means of w×h blocks.
func blockMeans(out []uint8, w, h int, p []byte, size greySize) {
	for by := range h {
		y0, y1 := block(by, h, size.h)
		for bx := range w {
			x0, x1 := block(bx, w, size.w)
			sum := 0
			for y := y0; y < y1; y++ {
				for _, c := range p[y*size.w+x0 : y*size.w+x1] {
					sum += int(c)
				}
			}
			n := (x1 - x0) * (y1 - y0)
			out[by*w+bx] = uint8((sum + n/2) / n)
		}
	}
}
