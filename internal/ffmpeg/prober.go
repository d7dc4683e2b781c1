package ffmpeg

import (
	"bytes"
	"fmt"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// ProbeRevision changes when the same file would be described otherwise; caches of
// documents carry it.
const ProbeRevision = "3"

// Prober finds out what a file is, with as few runs as it takes: one ffprobe for
// ordinary files, a second one over the packets when the container cannot be
// trusted, a short decode when nothing shows that a stream can be decoded, and one of
// the first frame of HDR10.
//
//	p := NewProber(in, format, size)
//	for cmd, ok := p.Next(); ok; cmd, ok = p.Next() {
//		if err := p.Feed(run(cmd)); err != nil { … }
//	}
//	doc, err := p.Document()
type Prober struct {
	in     int
	format Format
	size   int64

	doc     *Document
	state   proberState
	doubted []int // stream indices still to be tried
	err     error
}

type proberState int

const (
	looking proberState = iota
	counting
	trying
	mastering
	finished
)

// NewProber returns a prober of the call's input in, of size bytes, that [Sniff] took
// for f.
func NewProber(in int, f Format, size int64) *Prober { return &Prober{in: in, format: f, size: size} }

// Next returns the next run, and false when the document is complete.
func (p *Prober) Next() (argv.Command, bool) {
	switch {
	case p.err != nil || p.state == finished:
	case p.state == looking:
		return Look(p.in, p.format), true
	case p.state == counting:
		return Packets(p.in, p.format), true
	case p.state == trying:
		return p.try(p.doubted[0]), true
	case p.state == mastering:
		return p.firstFrame(p.doc.unmastered()), true
	}
	return argv.Command{}, false
}

// Feed takes what the run that Next returned left behind.
func (p *Prober) Feed(res argv.Result) error {
	switch p.state {
	case looking:
		p.doc, p.err = ParseLook(res.Stdout, p.format, p.size)
		if res.Cut {
			p.err = cutroom.Errorf(cutroom.Limit, "the file's description is larger than %d MiB", maxDocument>>20)
		}
		if p.err != nil {
			return p.err
		}
		if res.Complaints.Lines > 0 && res.Exit != 0 {
			p.doc.problem("ffprobe reported errors while reading the file")
		}
		p.state = counting
		p.doubt()
		if _, needed := p.doc.NeedsPackets(p.format); !needed && len(p.doubted) == 0 {
			p.proceed()
		}
	case counting:
		times, ok := value[*PacketTimes](res, 0)
		if !ok {
			p.err = fmt.Errorf("packet times were not read")
			return p.err
		}
		p.doc.Apply(times, p.format)
		p.doubt()
		p.proceed()
	case trying:
		p.tried(res)
	case mastering:
		p.mastered(res.Stdout)
		p.finish()
	case finished:
		p.err = fmt.Errorf("a result was fed after the last run")
	}
	return p.err
}

// value returns the i-th consumed value of a run.
func value[T any](res argv.Result, i int) (T, bool) {
	var zero T
	if i >= len(res.Values) {
		return zero, false
	}
	v, ok := res.Values[i].(T)
	return v, ok
}

// doubt collects the streams whose first frames left ffprobe without a pixel or
// sample format: only trying tells whether they can be decoded.
func (p *Prober) doubt() {
	p.doubted = nil
	for i := range p.doc.Streams {
		s := &p.doc.Streams[i]
		if s.CodecName == "unknown" || !s.Decodable {
			continue
		}
		if s.Video != nil && s.Video.PixelFormat == "" || s.Audio != nil && s.Audio.SampleFormat == "" {
			p.doubted = append(p.doubted, s.Index)
		}
	}
}

// proceed goes on to trying, or to the end when nothing is in doubt.
func (p *Prober) proceed() {
	p.state = trying
	p.conclude()
}

// conclude ends the trying, with a look at the first frame of HDR10.
func (p *Prober) conclude() {
	switch {
	case len(p.doubted) > 0:
	case p.doc.unmastered() >= 0:
		p.state = mastering
	default:
		p.finish()
	}
}

// try returns a run that decodes a stream until one frame comes out.
func (p *Prober) try(index int) argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner")
	args = append(args, p.format.input(0)...)
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", index), "-frames", "1", "-f", "framecrc")...)
	return argv.Command{
		Step: fmt.Sprintf("try%d", index), Program: "ffmpeg", Inputs: p.format.Granted(p.in), Stage: "checking that the stream decodes",
		Args: append(args, argv.Pipe(0)), MayFail: true, Limits: argv.Limits{StdoutCap: 64 << 10},
	}
}

func (p *Prober) tried(res argv.Result) {
	index := p.doubted[0]
	p.doubted = p.doubted[1:]
	decoded := false
	for line := range bytes.Lines(res.Stdout) {
		decoded = decoded || len(line) > 1 && line[0] != '#'
	}
	for i := range p.doc.Streams {
		if s := &p.doc.Streams[i]; s.Index == index && !decoded {
			s.Decodable = false
			p.doc.problem(fmt.Sprintf("stream %d (%s, %s) is damaged: no frame of it decodes", s.Index, s.CodecType, s.CodecName))
		}
	}
	p.conclude()
}

// finish draws the conclusions that need all facts.
func (p *Prober) finish() {
	p.state = finished
	d := p.doc
	media, usable := 0, 0
	for i := range d.Streams {
		s := &d.Streams[i]
		if s.Video == nil && s.Audio == nil {
			continue
		}
		media++
		if s.Decodable {
			usable++
		} else if s.CodecName == "unknown" {
			d.problem(fmt.Sprintf("stream %d (%s, tag %s) is of a codec that this ffmpeg does not know", s.Index, s.CodecType, s.CodecTag))
		}
		if s.Video != nil && s.Decodable && d.DurationSeconds > 0 && s.EndSeconds > 0 && s.EndSeconds+cutroom.Second < d.DurationSeconds {
			d.problem(fmt.Sprintf("the pictures end at %s s, before the file does", s.EndSeconds))
		}
	}
	if media == 0 && d.Kind != Subtitle && len(d.CoverArt) == 0 {
		p.err = unreadable("give a file with pictures or sound", "the file holds no video, audio or picture stream")
	}
	if d.Truncated && usable == 0 {
		p.err = unreadable("copy or download the file again", "the file is cut off before its first frame: it has an index but no media data")
	}
	if d.DurationFrom == FromPackets && d.DurationSeconds <= 0 && usable == 0 {
		p.err = unreadable("copy or download the file again", "no packet of the file can be read")
	}
}

// Document returns the finished document. A file without anything that can be shown
// is unreadable_media; one whose streams cannot be decoded here is described, with
// Decodable false and the reason among its problems.
func (p *Prober) Document() (*Document, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.state != finished {
		return nil, fmt.Errorf("the document is not complete: Next has another run")
	}
	return p.doc, nil
}
