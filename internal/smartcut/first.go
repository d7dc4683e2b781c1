package smartcut

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// Types of units of HEVC (Rec. ITU-T H.265, table 7-1).
const (
	unitBLA = 18 // BLA_N_LP: nothing that follows shows before it
	unitCRA = 21
)

// maxFirst bounds the one packet that is changed, with its container.
const maxFirst = 64 << 20

// opener is a fragmented MP4 file of one packet: a CRA picture that was made a BLA picture.
type opener []byte

// firstFile names the file of the first picture of a broken piece.
func (p *piece) firstFile() string {
	name, _, _ := strings.Cut(p.file, ".")
	return name + "-first.mp4"
}

// behindFirst is when that picture ends.
func (p *piece) behindFirst() ffmpeg.Ticks {
	if p.packets == 1 {
		return p.to
	}
	return p.second
}

// readFirst reads such a file and changes the picture's type.
func readFirst(r io.Reader) (any, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFirst+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFirst {
		return nil, fmt.Errorf("a picture of more than %d bytes", maxFirst)
	}
	if err := breakLink(data); err != nil {
		return nil, err
	}
	return opener(data), nil
}

// breakLink changes, in an MP4 file of HEVC, the slices of CRA pictures into those of
// BLA pictures without leading pictures. Nothing else of their syntax differs
// (Rec. ITU-T H.265, 7.3.6.1), so that no byte moves.
func breakLink(mp4 []byte) error {
	changed := 0
	for rest := mp4; len(rest) > 0; {
		kind, body, next, err := box(rest)
		if err != nil {
			return err
		}
		if rest = next; kind != "mdat" {
			continue
		}
		for len(body) > 0 {
			unit, after, err := unit(body)
			if err != nil {
				return err
			}
			if body = after; unit[0]>>1&0x3f == unitCRA {
				unit[0] = unit[0]&0x81 | unitBLA<<1
				changed++
			}
		}
	}
	if changed == 0 {
		return errors.New("no CRA picture is there")
	}
	return nil
}

// box takes a box off the beginning of an MP4 file (ISO/IEC 14496-12, 4.2).
func box(b []byte) (kind string, body, rest []byte, err error) {
	if len(b) < 8 {
		return "", nil, nil, errors.New("a box is cut off")
	}
	size, head := uint64(binary.BigEndian.Uint32(b)), uint64(8)
	if size == 1 && len(b) >= 16 {
		size, head = binary.BigEndian.Uint64(b[8:]), 16
	}
	if size < head || size > uint64(len(b)) {
		return "", nil, nil, fmt.Errorf("a box of %d bytes in %d", size, len(b))
	}
	return string(b[4:8]), b[head:size], b[size:], nil
}

// unit takes a unit off the beginning of a packet, in which each comes behind its
// length in four bytes, as ffmpeg's muxer writes them.
func unit(b []byte) (unit, rest []byte, err error) {
	if len(b) < 6 {
		return nil, nil, errors.New("a unit is cut off")
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if n < 2 || n > uint64(len(b)-4) {
		return nil, nil, fmt.Errorf("a unit of %d bytes in %d", n, len(b)-4)
	}
	return b[4 : 4+n], b[4+n:], nil
}

// takeFirst gathers the changed pictures that a run left behind, in the order of their
// pieces.
func (j *Job) takeFirst(r argv.Result) {
	for _, v := range r.Values {
		if f, ok := v.(opener); ok {
			j.firsts = append(j.firsts, f)
		}
	}
}

// firstFiles are the files of the changed pictures.
func (j *Job) firstFiles() []argv.File {
	var files []argv.File
	for _, c := range j.cuts {
		for _, p := range c.pieces {
			if p.broken && len(files) < len(j.firsts) {
				files = append(files, argv.File{Name: p.firstFile(), Data: j.firsts[len(files)]})
			}
		}
	}
	return files
}
