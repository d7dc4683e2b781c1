package smartcut

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// snap makes a cut of copied packets only: it begins with the key frame at or before
// its first frame, and ends where no frame that is copied needs one that is not, at its
// last frame or soon behind it. after says that something comes before it.
func (x *index) snap(c cut, r rules, after bool, shown, earliest []ffmpeg.Ticks, step ffmpeg.Ticks) cut {
	first := -1
	for i, p := range x.packets {
		if p.key && !p.discard && p.pts <= c.from && r.begin(p.pts) && (first < 0 || p.pts > x.packets[first].pts) {
			first = i
		}
	}
	if first < 0 {
		c.why = "no key frame with which copying can begin lies before it"
		return c
	}
	start := x.packets[first].pts
	end, m, last := ffmpeg.Ticks(0), 0, start
	for k := first; k < len(x.packets) && !x.packets[k].discard; k++ {
		if p := x.packets[k]; p.pts >= start {
			m++
			last = max(last, p.pts)
		}
		next := earliest[k+1]
		if next <= last || next < c.to {
			continue
		}
		if end = next; next == maxTicks {
			end = last + step
		}
		break
	}
	a, _ := slices.BinarySearch(shown, start)
	b, _ := slices.BinarySearch(shown, end)
	if end == 0 || b-a != m {
		c.why = "its packets cannot be taken out as they are"
		return c
	}
	c.from, c.to, c.frames, c.pieces = start, end, shown[a:b], nil
	c.add(x.copied(first, end, m, r, after))
	return c
}

// Nearest are the key frames around the beginning of a part that is kept, with which
// copying can begin.
type Nearest struct{ Before, After *cutroom.Micros }

// nearest finds them among the packets that were read.
func (j *Job) nearest(from ffmpeg.Ticks) Nearest {
	var n Nearest
	at := func(t ffmpeg.Ticks) *cutroom.Micros {
		m := j.src.Media.Time(j.src.video(), t)
		return &m
	}
	for _, p := range j.x.packets {
		if _, ok := j.opens[p.pts]; !p.key || p.discard || j.opens != nil && !ok {
			continue
		}
		t := at(p.pts)
		if p.pts <= from && (n.Before == nil || *t > *n.Before) {
			n.Before = t
		}
		if p.pts > from && (n.After == nil || *t < *n.After) {
			n.After = t
		}
	}
	return n
}

// copySound are the arguments that copy the packets of a track: those that begin in the
// cut, moved to its beginning.
func (s Source) copySound(n int, t track, c cut) []argv.Atom {
	v := s.video()
	in := func(at ffmpeg.Ticks) int64 { return samples(at, v.TimeBase, int(t.stream.TimeBase.Den)) }
	from, to := in(c.from), in(c.to)
	chain := fmt.Sprintf("noise=drop='lt(pts+duration/2,%d)+gte(pts+duration/2,%d)',setts=pts=PTS-%d:dts=DTS-%d", from, to, from, from)
	args := argv.Words("-map", fmt.Sprintf("1:%d", t.stream.Index), fmt.Sprintf("-c:a:%d", n), "copy", fmt.Sprintf("-bsf:a:%d", n), chain)
	return append(args, t.tags(n)...)
}

// copiesSound reports whether a track's packets can be kept: the cut is one part, and the
// stream counts in a time base that fits.
func (t track) copiesSound(cuts []cut, container string) bool {
	family := t.stream.CodecName
	if strings.HasPrefix(family, "pcm_") {
		family = "pcm"
	}
	return len(cuts) == 1 && t.stream.TimeBase.Num == 1 && slices.Contains(kinds[container].sound, family)
}

// Planned are the runs that follow the first, as far as they can be told before it ran.
func (j *Job) Planned() []argv.Command {
	if j.state == done {
		return nil
	}
	s, v := j.src, j.src.video()
	suffix, muxer := s.pieceFormat()
	open := func() []argv.Atom {
		args := append(argv.Words("-noautorotate", "-noaccurate_seek", "-ss"), argv.Hole("a key frame"))
		return append(args, s.Format.Input(0)...)
	}
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts")
	args = append(args, open()...)
	scale := strconv.FormatInt(v.TimeBase.Den, 10)
	if !j.opts.Copy {
		args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", v.Index), "-vf")...)
		args = append(args, argv.Hole("the frames before the first group that is copied"))
		args = append(args, s.encoder(&index{})...)
		args = append(args, argv.Words("-video_track_timescale", scale, "-f", muxer)...)
		args = append(args, argv.Out("piece-0000"+suffix))
	}
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", v.Index), "-c:v", "copy", "-bsf:v")...)
	args = append(args, argv.Hole("from the first key frame on"))
	args = append(args, argv.Word("-frames:v"), argv.Hole("packets"))
	args = append(args, argv.Words("-video_track_timescale", scale, "-f", muxer)...)
	args = append(args, argv.Out("piece-0001"+suffix))
	pieces := argv.Command{Step: "pieces0", Program: "ffmpeg", Inputs: s.Format.Granted(s.Input), Args: args, Stage: "copying and encoding the parts"}

	args = argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts", "-protocol_whitelist", "file", "-f", "concat", "-i")
	args = append(args, argv.Out(listFile))
	args = append(args, open()...)
	args = append(args, argv.Words("-map", "0:v:0", "-c:v", "copy")...)
	for n, t := range j.tracks {
		args = append(args, argv.Words("-map", fmt.Sprintf("[a%d]", n))...)
		args = append(args, t.encode(n)...)
	}
	args = append(args, argv.Words("-f", kinds[j.target.Container].muxer)...)
	join := argv.Command{Step: "join", Program: "ffmpeg", Inputs: s.Format.Granted(s.Input), Args: append(args, argv.Out(j.target.File)), Stage: "writing " + j.target.Container}
	return []argv.Command{pieces, join}
}
