package smartcut

import (
	"fmt"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// maxOpen and maxEncoded bound how many pieces one run makes: each opens the source
// once, and an encoder holds frames back.
const (
	maxOpen    = 12
	maxEncoded = 4
)

// pieceRuns are the runs that make the pieces, each into a file of its own.
func (s Source) pieceRuns(x *index, cuts []cut) []argv.Command {
	var runs []argv.Command
	var batch []*piece
	encoded := 0
	flush := func() {
		if len(batch) > 0 {
			runs = append(runs, s.pieceRun(x, batch, len(runs)))
		}
		batch, encoded = nil, 0
	}
	suffix, _ := s.pieceFormat()
	n := 0
	for i := range cuts {
		for k := range cuts[i].pieces {
			p := &cuts[i].pieces[k]
			p.file = fmt.Sprintf("piece-%04d%s", n, suffix)
			n++
			batch = append(batch, p)
			if !p.copied {
				encoded++
			}
			if len(batch) == maxOpen || encoded == maxEncoded {
				flush()
			}
		}
	}
	flush()
	return runs
}

func (s Source) pieceRun(x *index, batch []*piece, n int) argv.Command {
	v := s.video()
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts")
	var out []argv.Atom
	var files []string
	consume := []argv.Consumer{nil}
	for k, p := range batch {
		args = append(args, s.open(0, p.seek)...)
		if p.broken {
			out = append(out, s.firstPicture(k, p, len(consume))...)
			if consume = append(consume, readFirst); p.packets == 1 {
				continue
			}
		}
		out = append(out, argv.Words("-map", fmt.Sprintf("%d:%d", k, v.Index))...)
		if p.copied {
			out = append(out, s.copyPiece(p)...)
		} else {
			out = append(out, s.encodePiece(x, p)...)
		}
		out = append(out, s.pieceMuxer()...)
		out = append(out, argv.Out(p.file))
		files = append(files, p.file)
	}
	return argv.Command{
		Step: fmt.Sprintf("pieces%d", n), Program: "ffmpeg", Inputs: s.Format.Granted(s.Input), Stage: "copying and encoding the parts",
		Args: append(args, out...), Outputs: files, Consume: consume,
	}
}

// pieceMuxer writes a piece with the source's own ticks and nothing else of it.
func (s Source) pieceMuxer() []argv.Atom {
	_, muxer := s.pieceFormat()
	return argv.Words("-map_metadata", "-1", "-map_chapters", "-1", "-video_track_timescale", strconv.FormatInt(s.video().TimeBase.Den, 10), "-f", muxer)
}

// copyPiece copies the packets of a piece: from its key frame on, without the frames
// that show before it, and without a first picture that is changed.
func (s Source) copyPiece(p *piece) []argv.Atom {
	if p.broken {
		// An edit list would hide what comes before the next key frame. Without one a
		// file begins, for who joins it, with the frame of its first packet.
		args := s.copyPackets(fmt.Sprintf("lte(pts,%d)", p.from), p.second, p.packets-1)
		return append(args, argv.Words("-use_editlist", "0")...)
	}
	return s.copyPackets(fmt.Sprintf("lt(pts,%d)", p.from), p.from, p.packets)
}

// firstPicture copies the first packet of a piece alone, to a pipe.
func (s Source) firstPicture(k int, p *piece, pipe int) []argv.Atom {
	args := argv.Words("-map", fmt.Sprintf("%d:%d", k, s.video().Index))
	args = append(args, s.copyPackets(fmt.Sprintf("lt(pts,%d)+gt(pts,%d)", p.from, p.from), p.from, 1)...)
	args = append(args, argv.Words("-movflags", "frag_keyframe+empty_moov+default_base_moof")...)
	args = append(args, s.pieceMuxer()...)
	return append(args, argv.Pipe(pipe))
}

// copyPackets copies so many packets, without those of which drop is true; the frame
// that shows at zero comes first.
func (s Source) copyPackets(drop string, zero ffmpeg.Ticks, packets int) []argv.Atom {
	chain := fmt.Sprintf("noise=drop='%s',setts=pts=PTS-%d:dts=DTS-%d", drop, zero, zero)
	if s.video().CodecName == "hevc" {
		chain += ",hevc_mp4toannexb" // the parameter sets of each piece come with it
	}
	if s.layered() {
		chain += ",filter_units=remove_types=62-63" // UNSPEC62 and 63 carry Dolby Vision's metadata and its second layer
	}
	return argv.Words("-c:v", "copy", "-bsf:v", chain, "-frames:v", strconv.Itoa(packets))
}

// encodePiece encodes the frames of a piece.
func (s Source) encodePiece(x *index, p *piece) []argv.Atom {
	tb := s.video().TimeBase
	args := argv.Words("-vf")
	args = append(args, argv.Graph(fmt.Sprintf("trim=start_pts=%d:end_pts=%d,setpts=PTS-%d", p.from, p.to, p.from)))
	args = append(args, argv.Words("-fps_mode", "passthrough", "-enc_time_base", tb.String())...)
	args = append(args, s.encoder(x)...)
	if s.video().CodecName == "hevc" {
		args = append(args, argv.Words("-bsf:v", "hevc_mp4toannexb")...)
	}
	return args
}

// list is the list of the pieces for ffmpeg's concat demuxer (ffmpeg-formats(1),
// "concat"). It counts in microseconds: each length is the difference of two rounded
// ends, so that rounding never adds up.
func (s Source) list(cuts []cut) []byte {
	var b strings.Builder
	b.WriteString("ffconcat version 1.0\n")
	tb := s.video().TimeBase
	var at ffmpeg.Ticks
	entry := func(file string, length ffmpeg.Ticks) {
		d := (at + length).Micros(tb) - at.Micros(tb)
		fmt.Fprintf(&b, "file %s\nduration %d.%06d\n", file, d/cutroom.Second, d%cutroom.Second)
		at += length
	}
	for _, c := range cuts {
		for _, p := range c.pieces {
			if p.broken {
				entry(p.firstFile(), p.behindFirst()-p.from)
				if p.packets > 1 {
					entry(p.file, p.to-p.second)
				}
				continue
			}
			entry(p.file, p.to-p.from)
		}
	}
	return []byte(b.String())
}
