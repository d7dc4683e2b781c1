package ffmpeg

import (
	"fmt"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// pick is the one frame of a file that shows at a public time.
type pick struct {
	format Format
	doc    *Document
	stream *Stream
	at     cutroom.Micros
}

// open returns the options that open the file as the n-th input of a run, and the head of
// the filter chain that takes the frame out of it, as it was decoded.
func (p pick) open(n int, a *Abilities) ([]argv.Atom, string, error) {
	dec, err := p.stream.decoder(a)
	if err != nil {
		return nil, "", err
	}
	args := append(argv.Words("-threads", "1", "-noautorotate"), dec...)
	args = append(args, p.doc.seek(p.at)...)
	args = append(args, p.format.input(0)...)
	from := TicksOf(p.at+p.doc.ZeroSeconds, p.stream.TimeBase)
	return args, fmt.Sprintf("[%d:%d]trim=start_pts=%d,trim=end_frame=1,setpts=0", n, p.stream.Index, from), nil
}

// stacked is the filter that puts the pictures of some labels, "[f0][f1]", below each other.
func stacked(labels string, n int, as string) string {
	if n == 1 {
		return labels + "null" + as
	}
	return fmt.Sprintf("%svstack=inputs=%d%s", labels, n, as)
}

// seek returns the options, before the file's -i, that start decoding safely before t.
func (d *Document) seek(t cutroom.Micros) []argv.Atom {
	at := d.seekBefore(t)
	if at <= 0 {
		return nil
	}
	return append(argv.Words("-noaccurate_seek", "-ss"), argv.Decimal(decimal(at)))
}
