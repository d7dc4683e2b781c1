package smartcut

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"cutroom"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// line is one line of ffmpeg's framehash and framecrc muxers (ffmpeg-formats(1)).
type line struct {
	stream        int
	dts, pts, dur int64
	size          int64
	hash          string
}

func parseLine(l string) (line, bool) {
	f := strings.Split(l, ",")
	if len(f) < 6 || strings.HasPrefix(l, "#") {
		return line{}, false
	}
	var n [5]int64
	for i := range n {
		v, err := strconv.ParseInt(strings.TrimSpace(f[i]), 10, 64)
		if err != nil {
			return line{}, false
		}
		n[i] = v
	}
	return line{stream: int(n[0]), dts: n[1], pts: n[2], dur: n[3], size: n[4], hash: strings.TrimSpace(f[5])}, true
}

// readTimes reads the presentation times of such lines.
func readTimes(r io.Reader) (any, error) {
	list := []ffmpeg.Ticks{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if l, ok := parseLine(lines.Text()); ok {
			list = append(list, ffmpeg.Ticks(l.pts))
		}
	}
	return list, lines.Err()
}

// written is what the packets of the output say: the times of all, and one digest for
// each piece, of what its packets hold.
type written struct {
	times   []ffmpeg.Ticks
	digests []string
	extra   int // packets beyond the planned
}

// share is how many packets a piece has, and whether the first of them was changed.
type share struct {
	packets int
	broken  bool
}

// readWritten reads the output's picture packets, of which the n-th piece has shares[n].
func readWritten(shares []share) argv.Consumer {
	return func(r io.Reader) (any, error) {
		w := &written{}
		lines := bufio.NewScanner(r)
		piece, seen := 0, 0
		sum := sha256.New()
		for lines.Scan() {
			l, ok := parseLine(lines.Text())
			if !ok {
				continue
			}
			w.times = append(w.times, ffmpeg.Ticks(l.pts))
			if piece == len(shares) {
				w.extra++
				continue
			}
			fold(sum, l, shares[piece].broken && seen == 0)
			if seen++; seen == shares[piece].packets {
				w.digests = append(w.digests, digest(sum))
				sum = sha256.New()
				piece, seen = piece+1, 0
			}
		}
		slices.Sort(w.times)
		return w, lines.Err()
	}
}

// original is what the packets of one copied piece hold in the source.
type original struct {
	count  int
	digest string
}

// readOriginal reads the packets of a copied piece in the source.
func readOriginal(broken bool) argv.Consumer {
	return func(r io.Reader) (any, error) {
		var o original
		sum := sha256.New()
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if l, ok := parseLine(lines.Text()); ok {
				fold(sum, l, broken && o.count == 0)
				o.count++
			}
		}
		o.digest = digest(sum)
		return o, lines.Err()
	}
}

// fold adds a packet to a digest: of one that was changed its size. What that shows is
// compared when it is decoded.
func fold(h hash.Hash, l line, changed bool) {
	if changed {
		l.hash = "changed"
	}
	fmt.Fprintf(h, "%d %s\n", l.size, l.hash)
}

func digest(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil)) }

// sight is a stretch of the output that is decoded beside the source.
type sight struct {
	from, to ffmpeg.Ticks // of the source
	at       ffmpeg.Ticks // of from, in the output
	seek     ffmpeg.Ticks // a key frame of the source at or before from
	begin    ffmpeg.Ticks // a key frame of the output at or before at
	copied   []bool       // for each frame: it was copied
}

// sights are the stretches around the seams: each encoded piece, and one group of
// pictures on each side of it; the first and the last group where nothing is encoded.
func sights(x *index, cuts []cut) []sight {
	var list []sight
	var at ffmpeg.Ticks
	for _, c := range cuts {
		for _, p := range c.pieces {
			out := at + p.from - c.from
			if !p.copied {
				list = see(list, x, c, p.from, p.to, out, out, false)
				continue
			}
			first, last := p.to, p.from
			if len(p.keys) > 1 {
				first, last = p.keys[1], p.keys[len(p.keys)-1]
			}
			list = see(list, x, c, p.from, first, out, out, true)
			list = see(list, x, c, max(last, first), p.to, out+max(last, first)-p.from, out+last-p.from, true)
		}
		at += c.to - c.from
	}
	return list
}

// see adds a stretch, joined to the last where they meet.
func see(list []sight, x *index, c cut, from, to, at, begin ffmpeg.Ticks, copied bool) []sight {
	n := count(c.frames, from, to)
	if n == 0 {
		return list
	}
	flags := slices.Repeat([]bool{copied}, n)
	if k := len(list) - 1; k >= 0 && list[k].to == from && list[k].at+list[k].to-list[k].from == at {
		list[k].to, list[k].copied = to, append(list[k].copied, flags...)
		return list
	}
	return append(list, sight{from: from, to: to, at: at, seek: x.before(from), begin: begin, copied: flags})
}

// round is what one comparing run looks at: stretches that are decoded, and copied
// pieces of the source whose packets are read.
type round struct {
	sights []sight
	copied []piece
}

// maxSights and maxCopied bound a run; a stretch has two decoders, a piece a pipe.
const (
	maxSights = 4
	maxCopied = 16
)

// rounds divides what is to be compared.
func rounds(list []sight, cuts []cut) []round {
	var copied []piece
	for _, c := range cuts {
		for _, p := range c.pieces {
			if p.copied {
				copied = append(copied, p)
			}
		}
	}
	var out []round
	for len(list) > 0 || len(copied) > 0 {
		n, k := min(len(list), maxSights), min(len(copied), maxCopied)
		out = append(out, round{list[:n], copied[:k]})
		list, copied = list[n:], copied[k:]
	}
	return out
}

// compare is the n-th run that compares: stretches frame by frame, and packets. The
// first reads the packets of the output as well.
func (s Source) compare(t Target, r round, n int, cuts []cut, tracks []track) argv.Command {
	v := s.video()
	out := ffmpeg.MadeFormat(t.File, t.demuxer())
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts")
	var chains []string
	var outputs []argv.Atom
	consume := []argv.Consumer{nil}
	in := 0
	for k, g := range r.sights {
		args = append(args, s.open(0, g.seek)...)
		args = append(args, argv.Words("-noautorotate", "-noaccurate_seek")...)
		if b := g.begin.Micros(v.TimeBase); b > 0 {
			args = append(args, argv.Word("-ss"), argv.Decimal((b + early).String()))
		}
		args = append(args, out.Input(0)...)
		from, to, slack := t.ticks(v, g.at), t.ticks(v, g.at+g.to-g.from), t.slack(v)
		pipe := len(consume)
		chains = append(chains, fmt.Sprintf(`[%d:%d]trim=start_pts=%d:end_pts=%d,settb=1/1000,setpts=N[s%d];[%d:v:0]trim=start_pts=%d:end_pts=%d,settb=1/1000,setpts=N[o%d];[o%d][s%d]psnr=shortest=1,metadata=mode=print:key=lavfi.psnr.psnr_avg:file='pipe\:%d'[p%d]`,
			in, v.Index, g.from, g.to, k, in+1, from-slack, to-slack, k, k, k, argv.PipeFD(pipe), k))
		outputs = append(outputs, argv.Words("-map", fmt.Sprintf("[p%d]", k), "-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-f", "null", "-")...)
		consume = append(consume, readRatios)
		in += 2
	}
	for _, p := range r.copied {
		args = append(args, s.open(0, p.seek)...)
		outputs = append(outputs, argv.Words("-map", fmt.Sprintf("%d:%d", in, v.Index), "-c:v", "copy", "-bsf:v", fmt.Sprintf("noise=drop='lt(pts,%d)',%s", p.from, s.slices()),
			"-frames:v", strconv.Itoa(p.packets), "-f", "framehash", "-hash", "md5")...)
		outputs = append(outputs, argv.Pipe(len(consume)))
		consume = append(consume, readOriginal(p.broken))
		in++
	}
	if n == 0 {
		args = append(args, out.Input(0)...)
		more, readers := s.packets(cuts, tracks, in, len(consume))
		outputs, consume = append(outputs, more...), append(consume, readers...)
	}
	if len(chains) > 0 {
		args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(chains, ";")))
	}
	return argv.Command{
		Step: fmt.Sprintf("compare%d", n), Program: "ffmpeg", Inputs: s.Format.Granted(s.Input), Stage: "comparing the cut with the source",
		Args: append(args, outputs...), Consume: consume, MayFail: true,
	}
}

// packets are the parts of that run that read the packets of the output, its input in.
func (s Source) packets(cuts []cut, tracks []track, in, pipe int) (outputs []argv.Atom, readers []argv.Consumer) {
	outputs = argv.Words("-map", fmt.Sprintf("%d:v:0", in), "-c:v", "copy", "-bsf:v", s.slices(), "-f", "framehash", "-hash", "md5")
	outputs = append(outputs, argv.Pipe(pipe))
	var shares []share
	for _, c := range cuts {
		for _, p := range c.pieces {
			if p.copied {
				shares = append(shares, share{p.packets, p.broken})
			} else {
				shares = append(shares, share{p.frames, false})
			}
		}
	}
	readers = []argv.Consumer{readWritten(shares)}
	if len(tracks) > 0 {
		outputs = append(outputs, argv.Words("-map", fmt.Sprintf("%d:a", in), "-c:a", "copy", "-f", "framecrc")...)
		outputs = append(outputs, argv.Pipe(pipe+1))
		readers = append(readers, readHeard)
	}
	return outputs, readers
}

// heard is when the packets of each sound stream begin and end, in seconds from the
// file's zero.
type heard map[int]*struct{ start, end cutroom.Micros }

// readHeard reads the times of sound packets.
func readHeard(r io.Reader) (any, error) {
	h := heard{}
	bases := map[int]ffmpeg.Rational{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "#tb "); ok {
			n, base, _ := strings.Cut(rest, ": ")
			i, err := strconv.Atoi(n)
			tb, ok := ffmpeg.ParseRational(base)
			if err == nil && ok {
				bases[i] = tb
			}
			continue
		}
		l, ok := parseLine(lines.Text())
		if !ok {
			continue
		}
		start, end := ffmpeg.Ticks(l.pts).Micros(bases[l.stream]), ffmpeg.Ticks(l.pts+l.dur).Micros(bases[l.stream])
		s := h[l.stream]
		if s == nil {
			s = &struct{ start, end cutroom.Micros }{start, end}
			h[l.stream] = s
		}
		s.start, s.end = min(s.start, start), max(s.end, end)
	}
	return h, lines.Err()
}

// readRatios reads the peak signal-to-noise ratio of each frame, in dB; infinite for
// equal frames.
func readRatios(r io.Reader) (any, error) {
	list := []float64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		val, ok := strings.CutPrefix(lines.Text(), "lavfi.psnr.psnr_avg=")
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(val, 64)
		if err != nil || math.IsNaN(f) {
			f = 0
		}
		list = append(list, f)
	}
	return list, lines.Err()
}
