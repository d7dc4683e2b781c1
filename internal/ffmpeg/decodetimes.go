package ffmpeg

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"cutroom/internal/sandbox/argv"
)

// readTimes reads the lines of the framecrc muxer: stream, dts, pts, duration, size
// and checksum of each frame, after headers that state the time base.
func readTimes(r io.Reader, s *Stream) (any, error) {
	t := DecodedStream{Index: s.Index}
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadSlice('\n')
		if len(line) > 0 && !errors.Is(err, bufio.ErrBufferFull) {
			t.line(line, s)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return nil, fmt.Errorf("read frame times: %w", err)
		}
	}
}

func (t *DecodedStream) line(line []byte, s *Stream) {
	if base, ok := bytes.CutPrefix(line, []byte("#tb 0: ")); ok {
		t.TimeBase, _ = ParseRational(string(bytes.TrimSpace(base)))
		return
	}
	var field [6][]byte
	for i := range field {
		var ok bool
		field[i], line, ok = bytes.Cut(line, []byte(","))
		if !ok && i < 5 {
			return
		}
		field[i] = bytes.TrimSpace(field[i])
	}
	pts, err1 := strconv.ParseInt(string(field[2]), 10, 64)
	length, err2 := strconv.ParseInt(string(field[3]), 10, 64)
	size, err3 := strconv.ParseInt(string(field[4]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || Ticks(pts) > maxTicks || Ticks(pts) < -maxTicks || length < 0 || length > 1<<40 {
		return
	}
	if s.CodecType == "subtitle" && size <= 2 { // a gap between the cues of an MP4
		return
	}
	t.frame(Ticks(pts), Ticks(length))
	if s.Audio != nil {
		t.Samples += length
		t.Sounding = t.Sounding || !bytes.HasPrefix(field[5], []byte("0x00000000"))
	}
}

func (t *DecodedStream) frame(pts, length Ticks) {
	if t.Frames == 0 {
		t.First, t.Last, t.End = pts, pts, pts
	} else {
		t.Longest = max(t.Longest, pts-t.Last)
	}
	t.Frames++
	if length == 0 {
		length = t.Longest // as long as a frame was before
	} else {
		t.Step = max(t.Step, length)
	}
	t.Last = max(t.Last, pts)
	t.End = max(t.End, pts+length)
}

// PictureContent is whether there is something to see.
type PictureContent struct {
	Compared int     // pictures that were looked at
	Black    bool    // all of them are black: 98 % of the pixels below a tenth
	Frozen   bool    // all of them are like the first: within −60 dB
	Change   float64 // largest mean difference to the first, 0–255
}

// content adds the output of small grey pictures.
func (j *Decode) content(s *Stream) {
	size := greyOf(s.Video)
	step := max(1, TicksOf(j.doc.everyContent(), s.TimeBase))
	graph := fmt.Sprintf(`select=isnan(prev_selected_pts)+gte(pts-prev_selected_pts\,%d),scale=%d:%d:flags=fast_bilinear,format=gray`, step, size.w, size.h)
	form := append(argv.Words("-vf"), argv.Graph(graph))
	form = append(form, j.abilities.FrameRateMode("passthrough")...)
	j.output(j.mapped(s), append(form, argv.Words("-enc_time_base", "-1", "-c:v", "rawvideo", "-f", "rawvideo")...),
		func(r io.Reader) (any, error) { return readContent(r, size.w*size.h) })
}

// The limits of ffmpeg's blackdetect and freezedetect.
const (
	blackLevel  = 25 // of 255
	blackShare  = 0.98
	frozenLimit = 0.255 // mean difference, of 255: −60 dB
)

func readContent(r io.Reader, n int) (any, error) {
	c := PictureContent{Black: true, Frozen: true}
	br := bufio.NewReaderSize(r, 256<<10)
	cur, first := make([]byte, n), make([]byte, n)
	for {
		_, err := io.ReadFull(br, cur)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			c.Black, c.Frozen = c.Black && c.Compared > 0, c.Frozen && c.Compared > 1
			return c, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read small pictures: %w", err)
		}
		if c.Black {
			dark := 0
			for _, p := range cur {
				if p <= blackLevel {
					dark++
				}
			}
			c.Black = float64(dark) >= blackShare*float64(n)
		}
		if c.Compared == 0 {
			copy(first, cur)
		} else {
			c.Change = max(c.Change, meanDifference(cur, first))
			c.Frozen = c.Change <= frozenLimit
		}
		c.Compared++
	}
}

// readHead reads the start of a file, and the rest without keeping it.
func readHead(r io.Reader) (any, error) {
	head, err := io.ReadAll(io.LimitReader(r, headPackets<<10))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read the start of the file: %w", err)
	}
	if first, ok := IndexFirst(head); ok {
		return &first, nil
	}
	return (*bool)(nil), nil
}

// IndexFirst reports whether the index (moov) of an MP4 or QuickTime file lies before
// its media (mdat), by the boxes at the start of the file. false, false: the start
// does not tell.
func IndexFirst(head []byte) (first, ok bool) {
	for len(head) >= 8 {
		size, kind := uint64(binary.BigEndian.Uint32(head)), string(head[4:8])
		switch kind {
		case "moov":
			return true, true
		case "mdat", "moof":
			return false, true
		}
		if size == 1 && len(head) >= 16 {
			size = binary.BigEndian.Uint64(head[8:])
		}
		if size < 8 || size > uint64(len(head)) {
			return false, false
		}
		head = head[size:]
	}
	return false, false
}
