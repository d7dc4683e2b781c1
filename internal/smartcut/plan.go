package smartcut

import (
	"slices"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// cut is one span of the source as it goes into the output: its pieces, in order.
type cut struct {
	from, to ffmpeg.Ticks   // of the first frame, and behind the last
	frames   []ffmpeg.Ticks // presentation times of its frames, on the file's timeline
	pieces   []piece
	asked    cutroom.Micros // where its first frame was to be, on the public axis
	why      string         // why nothing of it is copied; empty otherwise
}

// piece is a part of a cut that is copied or encoded as one.
type piece struct {
	copied   bool
	from, to ffmpeg.Ticks
	frames   int
	packets  int          // of a copied piece, in decoding order
	seek     ffmpeg.Ticks // a key frame at or before from
	broken   bool         // it begins with a CRA picture that follows others: it becomes a BLA picture
	second   ffmpeg.Ticks // of a broken piece: when the frame of its second packet shows
	file     string
	keys     []ffmpeg.Ticks // of a copied piece: when its key frames show
}

// rules say where a codec's packets may be taken apart.
type rules struct {
	// begin reports whether copying may begin at the key frame at a time.
	begin func(pts ffmpeg.Ticks) bool
	// least is how many frames an encoded piece has to have, so that it reorders them
	// as the source does.
	least int
	// open reports whether the key frame at a time begins an open group of pictures of
	// HEVC: a CRA picture. Where it follows others it has to become a BLA picture, or a
	// decoder would number it after those and look for what it does not need
	// (Rec. ITU-T H.265, 8.1.3 and 8.3.1).
	open func(pts ffmpeg.Ticks) bool
	// encodes is set when the codec can be encoded to match.
	encodes bool
}

// suffix is, for each packet, the earliest time that it or a later one shows.
func (x *index) suffix() []ffmpeg.Ticks {
	list := make([]ffmpeg.Ticks, len(x.packets)+1)
	list[len(x.packets)] = maxTicks
	for i := len(x.packets) - 1; i >= 0; i-- {
		list[i] = min(list[i+1], x.packets[i].pts)
	}
	return list
}

// take divides the span [from, to) into a head that is encoded, a part that is copied
// and a tail that is encoded. after says that something comes before it.
func (x *index) take(c cut, r rules, after bool, earliest []ffmpeg.Ticks) cut {
	for i, p := range x.packets {
		if p.pts >= c.to {
			if x.later(i, c.to) {
				break
			}
			continue
		}
		if !p.key || p.discard || p.pts < c.from || !r.begin(p.pts) {
			continue
		}
		head := count(c.frames, c.from, p.pts)
		if !r.fits(head) {
			continue
		}
		end, m := x.until(i, c, r, earliest)
		if m == 0 {
			continue
		}
		c.pieces = nil
		c.add(piece{from: c.from, to: p.pts, seek: x.before(c.from)})
		c.add(x.copied(i, end, m, r, after || head > 0))
		c.add(piece{from: end, to: c.to, seek: x.before(end)})
		return c
	}
	c.why = "no place where copying can begin lies inside it"
	c.pieces = nil
	c.add(piece{from: c.from, to: c.to, seek: x.before(c.from)})
	return c
}

// later reports whether nothing from packet i on shows before t.
func (x *index) later(i int, t ffmpeg.Ticks) bool { return x.packets[i].dts >= t }

// copied is the piece of m packets that is copied from packet i on, up to end. after
// says that others come before it.
func (x *index) copied(i int, end ffmpeg.Ticks, m int, r rules, after bool) piece {
	start := x.packets[i].pts
	p := piece{copied: true, from: start, to: end, packets: m, seek: start, keys: x.keys(i, end), broken: after && r.open(start)}
	for _, next := range x.packets[i+1:] {
		if next.pts > start { // else it is a leading picture
			p.second = next.pts
			break
		}
	}
	return p
}

func (r rules) fits(frames int) bool {
	return frames == 0 || r.encodes && frames >= r.least
}

// add puts a piece with frames behind the others.
func (c *cut) add(p piece) {
	if p.frames = count(c.frames, p.from, p.to); p.frames > 0 {
		c.pieces = append(c.pieces, p)
	}
}

// until returns where copying from packet i can end at best: the frames of the m packets
// that are copied are all those before that time, and nothing behind it. A decoder that
// has been given so many packets needs none that follow.
func (x *index) until(i int, c cut, r rules, earliest []ffmpeg.Ticks) (end ffmpeg.Ticks, m int) {
	start := x.packets[i].pts
	last, n := start, 0
	for k := i; k < len(x.packets); k++ {
		p, next := x.packets[k], earliest[k+1]
		if p.discard { // another edit begins here
			break
		}
		if p.pts >= start { // else it belongs to the head
			n++
			last = max(last, p.pts)
		}
		if last >= c.to {
			break
		}
		if next <= last {
			continue
		}
		if at := min(next, c.to); r.fits(count(c.frames, at, c.to)) {
			end, m = at, n
		}
		if next >= c.to {
			break
		}
	}
	return end, m
}

// before is the time of the last key frame that shows at or before t.
func (x *index) before(t ffmpeg.Ticks) ffmpeg.Ticks {
	best := t
	found := false
	for _, p := range x.packets {
		if p.key && p.pts <= t && (!found || p.pts > best) {
			best, found = p.pts, true
		}
	}
	return best
}

// keys are the times of the key frames from packet i on that show before end.
func (x *index) keys(i int, end ffmpeg.Ticks) []ffmpeg.Ticks {
	var list []ffmpeg.Ticks
	for _, p := range x.packets[i:] {
		if p.key && p.pts < end {
			list = append(list, p.pts)
		}
	}
	return list
}

// count is how many of the sorted times lie in [from, to).
func count(times []ffmpeg.Ticks, from, to ffmpeg.Ticks) int {
	if from >= to {
		return 0
	}
	a, _ := slices.BinarySearch(times, from)
	b, _ := slices.BinarySearch(times, to)
	return b - a
}
