package smartcut

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// packet is one packet of the picture, as the demuxer gives it.
type packet struct {
	pts, dts, dur ffmpeg.Ticks
	pos           int64 // in the file; −1 unknown
	key           bool
	discard       bool // an edit list hides its frame
}

// index is what the packets around the cuts say, in decoding order.
type index struct {
	packets []packet
	level   int  // of the codec, in its own counting; 0 unknown
	refs    int  // reference frames
	delay   int  // frames that the decoder holds back
	whole   bool // the file was read from beginning to end
}

// maxPackets bounds an index: forty hours at 50 frames a second.
const maxPackets = 8 << 20

// window is a stretch of the file's timeline. A zero end is the end of the file.
type window struct{ start, end cutroom.Micros }

// lead and trail are how much more than the cut is read: a demuxer may begin behind the
// time that was asked for by its reordering, and the frames before an end come after
// frames behind it.
const (
	lead  = cutroom.Second / 2
	trail = 2 * cutroom.Second
)

// read is the run that reads the packets in windows; none reads the whole file.
func (s Source) read(windows []window) argv.Command {
	v := s.video()
	args := argv.Words("-v", "error", "-hide_banner", "-select_streams", strconv.Itoa(v.Index),
		"-show_entries", "packet=pts,dts,duration,pos,flags:stream=level,refs,has_b_frames", "-print_format", "compact=p=0")
	if len(windows) > 0 {
		args = append(args, argv.Words("-read_intervals", intervals(windows))...)
	}
	one := len(windows) <= 1
	return argv.Command{
		Step: stepName("index", len(windows)), Program: "ffprobe", Inputs: s.Format.Granted(s.Input), Stage: "reading where the cuts lie",
		Args: append(args, s.Format.Input(0)...), MayFail: true,
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return readIndex(r, one, len(windows) == 0) }},
	}
}

func stepName(name string, n int) string {
	if n == 0 {
		return name + "-whole"
	}
	return name
}

// intervals writes windows as ffprobe's -read_intervals takes them.
func intervals(windows []window) string {
	var parts []string
	for _, w := range windows {
		p := ""
		if w.start > 0 {
			p = w.start.String()
		}
		p += "%"
		if w.end > 0 {
			p += w.end.String()
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, ",")
}

// readIndex reads what that run prints. With several windows packets may come twice,
// and are put in the order of the file.
func readIndex(r io.Reader, one, whole bool) (*index, error) {
	x := &index{whole: whole}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		x.line(lines.Text())
		if len(x.packets) > maxPackets {
			return nil, cutroom.Errorf(cutroom.Limit, "the cut holds more than %d frames", maxPackets).WithHint("cut a shorter part")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read packets: %w", err)
	}
	if !one {
		slices.SortStableFunc(x.packets, func(a, b packet) int { return cmp.Compare(a.pos, b.pos) })
		x.packets = slices.CompactFunc(x.packets, func(a, b packet) bool { return a.pos == b.pos && a.pts == b.pts })
	}
	return x, nil
}

const maxTicks = 1 << 60

// line reads one line of ffprobe's compact form; what it does not understand it skips.
func (x *index) line(l string) {
	p := packet{pos: -1}
	var hasPTS, hasDTS, isPacket bool
	for field := range strings.SplitSeq(strings.TrimSpace(l), "|") {
		name, val, _ := strings.Cut(field, "=")
		if name == "flags" {
			p.key, p.discard, isPacket = strings.Contains(val, "K"), strings.Contains(val, "D"), true
			continue
		}
		n, err := strconv.ParseInt(val, 10, 64)
		if err != nil || n > maxTicks || n < -maxTicks {
			continue
		}
		switch name {
		case "pts":
			p.pts, hasPTS = ffmpeg.Ticks(n), true
		case "dts":
			p.dts, hasDTS = ffmpeg.Ticks(n), true
		case "duration":
			p.dur = ffmpeg.Ticks(max(0, n))
		case "pos":
			p.pos = n
		case "level":
			x.level = int(max(0, n))
		case "refs":
			x.refs = int(max(0, n))
		case "has_b_frames":
			x.delay = int(max(0, n))
		}
	}
	switch {
	case !isPacket || !hasPTS && !hasDTS:
		return
	case !hasPTS:
		p.pts = p.dts
	case !hasDTS:
		p.dts = p.pts
	}
	x.packets = append(x.packets, p)
}

// shown are the presentation times of the frames that the packets show, sorted. What
// comes before the first key frame cannot be decoded.
func (x *index) shown() []ffmpeg.Ticks {
	i := slices.IndexFunc(x.packets, func(p packet) bool { return p.key })
	if i < 0 {
		return nil
	}
	var list []ffmpeg.Ticks
	for _, p := range x.packets[i:] {
		if !p.discard && p.pts >= x.packets[i].pts {
			list = append(list, p.pts)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// reaches reports whether the packets that were read go from a key frame at or before
// from to behind to, in decoding order: then no frame of the range is missing.
func (x *index) reaches(from, to ffmpeg.Ticks) bool {
	key := slices.ContainsFunc(x.packets, func(p packet) bool { return p.key && p.pts <= from })
	end := slices.ContainsFunc(x.packets, func(p packet) bool { return p.dts >= to })
	return (key || from == -maxTicks) && (end || to == maxTicks)
}

// last is how long the last frame of the file shows: what its packet says, else as long
// as the commonest.
func (x *index) last(shown []ffmpeg.Ticks, v *ffmpeg.Stream) ffmpeg.Ticks {
	if r := v.Video.FrameRate; r.Known() && !v.Video.VFR.Variable {
		if t := ffmpeg.TicksOf(cutroom.Micros((1_000_000*r.Den+r.Num/2)/r.Num), v.TimeBase); t > 0 {
			return t
		}
	}
	for _, p := range x.packets {
		if p.pts == shown[len(shown)-1] && p.dur > 0 {
			return p.dur
		}
	}
	if n := len(shown); n > 1 {
		return shown[n-1] - shown[n-2]
	}
	return 1
}
