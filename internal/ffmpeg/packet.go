package ffmpeg

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// PacketTimes is what the packets of one file say about its times.
type PacketTimes struct {
	Streams map[int]*StreamTimes
}

// StreamTimes sums up the packets of one stream. Times are ticks of its time base.
type StreamTimes struct {
	Packets     int64
	Keys        int64
	Bytes       int64
	First, Last Ticks // smallest and largest PTS
	End         Ticks // largest PTS + duration, the length of the last packet estimated when not stated
	timed       bool

	lastDuration  Ticks
	order         tickHeap // reorders presentation times: B-frames come out of order
	prev          Ticks
	steps         map[Ticks]int64 // distances between frames, by length
	stepsDropped  int64
	lastKey       Ticks
	keyGap        Ticks
	keyed, paired bool
}

// Packets returns the run that reads the time of every packet of input in. It reads
// the file through without decoding, and its consumer keeps constant memory.
func Packets(in int, f Format) argv.Command {
	args := argv.Words("-v", "error", "-hide_banner", "-show_entries", "packet=stream_index,pts,dts,duration,size,flags",
		"-print_format", "compact=p=0")
	return argv.Command{
		Step: "packets", Program: "ffprobe", Inputs: f.Granted(in), Stage: "reading the times of all packets",
		Args:    append(args, f.input(0)...),
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return ReadPackets(r) }},
		MayFail: true,
	}
}

// maxSteps bounds how many different frame distances are told apart, and
// reorderDepth how many frames a codec may hold back (16 is the limit of H.264 and
// HEVC).
const (
	maxSteps     = 256
	reorderDepth = 20
	maxStreams   = 256
)

// ReadPackets reads the lines that the run of [Packets] prints, to the end. Lines it
// does not understand are skipped.
func ReadPackets(r io.Reader) (*PacketTimes, error) {
	p := &PacketTimes{Streams: map[int]*StreamTimes{}}
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadSlice('\n')
		if len(line) > 0 && !errors.Is(err, bufio.ErrBufferFull) {
			p.line(strings.TrimSpace(string(line)))
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			for _, s := range p.Streams {
				s.finish()
			}
			return p, nil
		case err != nil:
			return nil, fmt.Errorf("read packet times: %w", err)
		}
	}
}

func (p *PacketTimes) line(l string) {
	x := parsePacket(l)
	if x.stream < 0 || x.stream >= maxStreams || strings.Contains(x.flags, "D") { // discarded by an edit list
		return
	}
	s := p.Streams[int(x.stream)]
	if s == nil {
		s = &StreamTimes{steps: map[Ticks]int64{}}
		p.Streams[int(x.stream)] = s
	}
	s.add(x.pts, x.duration, x.size, strings.Contains(x.flags, "K"), x.timed)
}

// packet is one line of ffprobe's compact form.
type packet struct {
	stream        int64 // −1: not stated
	pts, duration Ticks // the decoding time stands for a presentation time that is not stated
	size          int64
	timed         bool
	flags         string // K: a key frame; D: discarded by an edit list
}

func parsePacket(l string) packet {
	x := packet{stream: -1}
	var dts Ticks
	var hasDTS bool
	for l != "" {
		var field string
		field, l, _ = strings.Cut(l, "|")
		key, val, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(val, 10, 64)
		switch {
		case key == "flags":
			x.flags = val
		case err != nil:
		case key == "stream_index":
			x.stream = n
		case key == "pts":
			x.pts, x.timed = Ticks(n), true
		case key == "dts":
			dts, hasDTS = Ticks(n), true
		case key == "duration":
			x.duration = Ticks(max(0, n))
		case key == "size":
			x.size = max(0, n)
		}
	}
	if !x.timed {
		x.pts, x.timed = dts, hasDTS
	}
	return x
}

// FrameTimes returns the run that reads when the frames of video stream s show, which
// [argv.Value] finds as a sorted []Ticks. It reads the packets, without decoding: those
// that an edit list discards show nothing, those before the first key frame cannot be
// decoded.
func FrameTimes(in int, f Format, s *Stream) argv.Command {
	args := argv.Words("-v", "error", "-hide_banner", "-select_streams", strconv.Itoa(s.Index), "-show_entries", "packet=pts,dts,flags", "-print_format", "compact=p=0")
	return argv.Command{
		Step: "times", Program: "ffprobe", Inputs: f.Granted(in), Stage: "reading when each frame shows",
		Args: append(args, f.input(0)...), Consume: []argv.Consumer{readFrameTimes}, MayFail: true, Memo: argv.Remember[[]Ticks](),
	}
}

func readFrameTimes(r io.Reader) (any, error) {
	var list []Ticks
	lines := bufio.NewScanner(r)
	first, keyed := Ticks(0), false
	for lines.Scan() {
		x := parsePacket(lines.Text())
		if !x.timed {
			continue
		}
		if !keyed && strings.Contains(x.flags, "K") {
			first, keyed = x.pts, true
		}
		if !strings.Contains(x.flags, "D") {
			list = append(list, x.pts)
		}
	}
	slices.Sort(list)
	if keyed {
		i, _ := slices.BinarySearch(list, first)
		list = list[i:]
	}
	return slices.Compact(list), lines.Err()
}

const maxTicks = Ticks(1) << 60

func (s *StreamTimes) add(pts, dur Ticks, size int64, key, timed bool) {
	s.Packets++
	s.Bytes += size
	if key {
		s.Keys++
	}
	if !timed || pts > maxTicks || pts < -maxTicks || dur > maxTicks {
		return
	}
	if key {
		if s.keyed && pts > s.lastKey {
			s.keyGap = max(s.keyGap, pts-s.lastKey)
		}
		s.keyed, s.lastKey = true, pts
	}
	if !s.timed {
		s.timed, s.First, s.Last, s.End = true, pts, pts, pts+dur
	}
	s.First = min(s.First, pts)
	if pts >= s.Last {
		s.Last, s.lastDuration = pts, dur
	}
	s.End = max(s.End, pts+dur)
	heap.Push(&s.order, pts)
	if len(s.order) > reorderDepth {
		s.step(heap.Pop(&s.order).(Ticks))
	}
}

// step counts the distance to the frame shown before.
func (s *StreamTimes) step(pts Ticks) {
	if s.paired {
		d := pts - s.prev
		if _, seen := s.steps[d]; seen || len(s.steps) < maxSteps {
			s.steps[d]++
		} else {
			s.stepsDropped++
		}
	}
	s.prev, s.paired = pts, true
}

func (s *StreamTimes) finish() {
	for len(s.order) > 0 {
		s.step(heap.Pop(&s.order).(Ticks))
	}
	if s.lastDuration == 0 && s.timed { // as long as the commonest frame
		s.End = max(s.End, s.Last+s.commonStep())
	}
}

func (s *StreamTimes) commonStep() Ticks {
	var best Ticks
	var n int64
	for d, c := range s.steps {
		if d > 0 && (c > n || c == n && d < best) {
			best, n = d, c
		}
	}
	return best
}

// spread judges the distances between frames: uneven when any of them is further
// from the commonest than rounding explains (times that once went through a
// millisecond clock differ by up to 1 ms).
func (s *StreamTimes) spread(tb Rational) Verdict {
	v := Verdict{Measured: true}
	common := s.commonStep()
	if common == 0 {
		v.Evidence = fmt.Sprintf("%d packets: too few to compare", s.Packets)
		return v
	}
	var all, off int64
	slack := max(2, min(TicksOf(1200, tb), common/4))
	least, most := common, common
	for d, c := range s.steps {
		all += c
		if d > common+slack || d < common-slack {
			off += c
		}
		least, most = min(least, d), max(most, d)
	}
	off += s.stepsDropped
	v.Variable = off > 0
	v.Evidence = fmt.Sprintf("%d packets: commonest distance %v s, shortest %v s, longest %v s, %d of %d differ",
		s.Packets, common.Micros(tb), least.Micros(tb), most.Micros(tb), off, all+s.stepsDropped)
	return v
}

// Apply puts what the packets say in the place of what the container states.
func (d *Document) Apply(p *PacketTimes, f Format) {
	var end cutroom.Micros
	timed, mistaken := false, false
	exact := d.confirms(p.end(d))
	for i := range d.Streams {
		s := &d.Streams[i]
		t := p.Streams[s.Index]
		if t == nil || t.Packets == 0 {
			if (s.Video != nil || s.Audio != nil) && s.Decodable {
				s.Decodable = false
				d.problem(fmt.Sprintf("stream %d (%s) has no packets", s.Index, s.CodecType))
			}
			continue
		}
		s.apply(t, d, exact)
		if s.EndSeconds > 0 && (s.Video != nil || s.Audio != nil) {
			timed, end = true, max(end, s.EndSeconds)
		}
	}
	if timed && end > 0 {
		if d.DurationFrom == FromContainer && (end < d.DurationSeconds*95/100-cutroom.Second || end > d.DurationSeconds*105/100+cutroom.Second) {
			mistaken = true
			d.problem(fmt.Sprintf("the container states %s s but holds %s s", d.DurationSeconds, end))
		}
		if !exact {
			d.DurationSeconds, d.DurationFrom = end, FromPackets
		}
	}
	if f.Kind == Image {
		d.Kind = Image
		if v := d.FirstVideo(); v != nil && v.Frames > 1 {
			d.Kind = Video
		}
	}
	d.mendRates(mistaken)
}

// mendRates computes the file's bit rate from its measured length when the stated
// length was mistaken, and drops rates of streams that were divided by it.
func (d *Document) mendRates(mistaken bool) {
	if d.DurationSeconds <= 0 || d.BitRate > 0 && !mistaken {
		return
	}
	d.BitRate = muldiv(d.SizeBytes, 8_000_000, int64(d.DurationSeconds), nearest)
	var sum int64
	for i := range d.Streams {
		sum += min(d.Streams[i].BitRate, math.MaxInt32)
	}
	if !mistaken || sum >= d.BitRate/100 {
		return
	}
	for i := range d.Streams {
		d.Streams[i].BitRate = 0
	}
}

// confirms reports whether packets that end at end agree with the tracks of an MP4 to
// a frame. Then the tracks are right: an edit list may end inside the last frame.
func (d *Document) confirms(end cutroom.Micros) bool {
	diff := end - d.DurationSeconds
	return d.DurationFrom == FromContainer && strings.HasPrefix(d.FormatName, "mov") && diff < cutroom.Second/10 && diff > -cutroom.Second/10
}

// end returns where the last picture or sound ends, as the packets say.
func (p *PacketTimes) end(d *Document) cutroom.Micros {
	var end cutroom.Micros
	for i := range d.Streams {
		s := &d.Streams[i]
		if t := p.Streams[s.Index]; t != nil && t.timed && (s.Video != nil || s.Audio != nil) {
			end = max(end, d.Time(s, t.End))
		}
	}
	return end
}

// apply takes the times of the packets, unless the tracks' own are exact. Packets
// before a stated start are codec priming.
func (s *Stream) apply(t *StreamTimes, d *Document, exact bool) {
	s.Frames = t.Packets
	if !t.timed {
		s.applyUntimed(t, d)
		return
	}
	if !exact || s.DurationTicks == 0 {
		start := t.First
		if s.startKnown {
			start = max(start, s.StartTicks)
		}
		s.StartTicks, s.DurationTicks = start, t.End-start
		s.StartSeconds, s.EndSeconds = d.Time(s, start), d.Time(s, t.End)
	}
	s.KeyGap = t.keyGap.Micros(s.TimeBase)
	if s.Video == nil {
		return
	}
	s.Video.VFR = t.spread(s.TimeBase)
	span := t.End - t.First
	if t.Packets > 1 && span > 0 && s.TimeBase.Known() {
		s.Video.AverageRate = averageRate(t.Packets, span, s.TimeBase)
	}
	switch v := s.Video; {
	case !v.FrameRate.Known() || v.VFR.Variable:
		v.FrameRate = v.AverageRate
	case v.baseRate.Known():
		v.FrameRate = v.baseRate // the stated average counted frames that are not shown
	}
	if d.Timecode != nil && !d.Timecode.Rate.Known() {
		d.Timecode.Rate = s.Video.FrameRate
	}
}

// applyUntimed counts pictures at their rate: raw streams carry no times, and ffmpeg
// gives them these.
func (s *Stream) applyUntimed(t *StreamTimes, d *Document) {
	d.problem(fmt.Sprintf("stream %d (%s) has no time stamps: its times are counted from its frame rate", s.Index, s.CodecType))
	if s.Video == nil || !s.Video.FrameRate.Known() || t.Packets > 1<<31 {
		return
	}
	length := cutroom.Micros(muldiv(t.Packets*1_000_000, s.Video.FrameRate.Den, s.Video.FrameRate.Num, nearest))
	s.DurationTicks = TicksOf(length, s.TimeBase)
	s.EndSeconds = s.StartSeconds + length
}

// averageRate returns n frames over span ticks, exactly when it fits.
func averageRate(n int64, span Ticks, tb Rational) Rational {
	den := int64(span) * tb.Num
	if int64(span) > 1<<40 || tb.Num > 1<<20 || n > 1<<30 || tb.Den > 1<<30 {
		return Rational{}
	}
	return Rational{n * tb.Den, den}.Reduced()
}

type tickHeap []Ticks

func (h tickHeap) Len() int           { return len(h) }
func (h tickHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h tickHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *tickHeap) Push(x any)        { *h = append(*h, x.(Ticks)) }
func (h *tickHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = slices.Delete(old, len(old)-1, len(old))
	return x
}
