package graph

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// joining is an edit that is encoded in pieces, which are then put one behind the other
// by packets: still one encode. What is played backwards does not fit into memory as a
// whole, since decoders keep what a filter holds; what repeats is encoded once.
type joining struct {
	commands []argv.Command // one for each piece
	sounds   map[int]int    // the input of each track's sound, by the track's number
	order    []int          // which piece shows when
	looks    []ffmpeg.Signature
}

// inPieces reports whether an edit is encoded in pieces: where that saves memory or
// encoding, and nothing runs across the seams.
func (g *Graph) inPieces() bool {
	p := g.Picture
	if p == nil || p.Copy || len(p.Burn)+len(p.Layers)+len(p.Looks) > 0 || p.Smooth != "" || g.Transition.on() && len(g.Clips) > 1 || g.Target.Video.PixelFormat != "" {
		return false
	}
	if !slices.Contains([]string{"mp4", "mov", "mkv", "webm"}, g.Target.Container) {
		return false
	}
	turned := 0
	for _, c := range g.Clips {
		if g.Sources[c.Source].Media.FirstVideo() == nil || c.Enter != nil {
			return false
		}
		if c.Reverse {
			turned++
		}
	}
	if (&compiler{g: *g}).keepsAlpha() && g.Target.Video.Name != "prores" {
		return false // MP4, in which pieces are kept, has no place for it
	}
	return turned > 1 || g.Repeat.on() || len(g.Clips) > maxFeeds && g.feeds() > maxFeeds
}

// groups are the parts that are encoded as one piece: each that is played backwards by
// itself, the others as far as they touch.
func groups(parts []part) (list [][]part) {
	for i, p := range parts {
		if i > 0 && !p.clip.Reverse && !parts[i-1].clip.Reverse && len(list[len(list)-1]) < maxFeeds {
			list[len(list)-1] = append(list[len(list)-1], p)
			continue
		}
		list = append(list, []part{p})
	}
	return list
}

// picturePieces encodes the pieces and plans the run that puts them together.
func (c *compiler) picturePieces(v *ffmpeg.Stream) ([]argv.Atom, error) {
	tracks, err := c.tracks()
	if err != nil {
		return nil, err
	}
	j := &joining{sounds: map[int]int{}}
	c.joined = j
	list := groups(c.line.parts)
	var lengths []int64
	add := func(parts []part) error {
		n, err := c.piece(len(j.commands), parts, tracks, v)
		lengths = append(lengths, n)
		return err
	}
	for _, parts := range list {
		if err := add(parts); err != nil {
			return nil, err
		}
	}
	for pass := int64(0); pass < c.line.total; pass += c.line.once {
		var at int64
		for k, parts := range list {
			left := c.line.total - pass - at
			switch {
			case left <= 0:
			case left >= lengths[k]:
				j.order = append(j.order, k)
			default: // the edit ends within this piece
				if err := add(c.upTo(parts, left)); err != nil {
					return nil, err
				}
				j.order = append(j.order, len(j.commands)-1)
			}
			at += lengths[k]
		}
	}
	j.looks = make([]ffmpeg.Signature, len(j.commands))
	c.inputs = append(c.inputs, input{source: c.line.parts[0].clip.Source})
	c.list("pieces.txt", "concat,mov,mp4,m4a", lengths, func(k int) string { return pieceFile(k, c.pieceContainer(v)) })
	for _, t := range tracks {
		if t.stream != nil {
			j.sounds[t.number] = len(c.inputs)
			c.list(fmt.Sprintf("sound-%d.txt", t.number), "concat,wav", lengths, func(k int) string { return soundFile(k, t.number) })
		}
	}
	c.expectPicture(v)
	return c.copyPieces(v), nil
}

// upTo are the parts of the first n frames of the output. One that is played backwards
// begins with its end.
func (c *compiler) upTo(parts []part, n int64) (list []part) {
	for _, p := range parts {
		if n <= 0 {
			break
		}
		if p.length > n {
			p.length, p.frames = n, n
			if v := p.source.Media.FirstVideo(); p.clip.Reverse && v != nil {
				p.start = max(p.start, p.end-cutroom.Micros(round(n*p.clip.speed().Num, ffmpeg.Rational{Num: 1_000_000, Den: p.clip.speed().Den}, c.line.unit)))
				p.from, _ = ffmpeg.TickRange(p.start+p.source.Media.ZeroSeconds, p.end+p.source.Media.ZeroSeconds, v.TimeBase)
			}
		}
		n -= p.length
		list = append(list, p)
	}
	return list
}

func pieceFile(k int, container string) string { return fmt.Sprintf("piece-%d.%s", k, container) }
func soundFile(k, track int) string            { return fmt.Sprintf("piece-%d-%d.wav", k, track) }

// pieceContainer is what pieces are kept in: it states times exactly.
func (c *compiler) pieceContainer(v *ffmpeg.Stream) string {
	if c.videoCodec(v) == "prores" {
		return "mov"
	}
	return "mp4"
}

// piece plans the run that encodes some parts: the picture as the output has it, each
// track without loss. It returns how many frames that is.
func (c *compiler) piece(k int, parts []part, tracks []track, v *ffmpeg.Stream) (int64, error) {
	sub := &compiler{g: c.g, a: c.a, rate: c.rate, out: c.out}
	sub.g.Repeat, sub.g.Keep = Repeat{}, Keep{}
	container := c.pieceContainer(v)
	sub.g.Target.Video.Name = c.videoCodec(v)
	sub.g.Target.Container, sub.g.Target.File = container, pieceFile(k, container)
	sub.line = timeline{unit: c.line.unit, parts: parts, from: parts[0].at}
	for _, p := range parts {
		sub.line.total += p.length
	}
	sub.line.once = sub.line.total
	if err := sub.open(); err != nil {
		return 0, err
	}
	if len(sub.inputs) > 0 {
		sub.upright(v)
	}
	if err := sub.joinPicture(); err != nil {
		return 0, err
	}
	enc, err := sub.encodeVideo(v)
	if err != nil {
		return 0, err
	}
	var more []argv.Atom
	files := []string{sub.g.Target.File}
	for _, t := range tracks {
		if t.stream == nil {
			continue
		}
		label := fmt.Sprintf("a%d", t.number)
		chains, err := sub.joinSound(t, label)
		if err != nil {
			return 0, err
		}
		sub.chains = append(sub.chains, chains...)
		files = append(files, soundFile(k, t.number))
		more = append(more, argv.Words("-map", "["+label+"]", "-c:a", "pcm_f32le", "-f", "wav", "-rf64", "auto")...)
		more = append(more, argv.Out(soundFile(k, t.number)))
	}
	run := sub.command(append(argv.Words("-map", "["+sub.tapPicture("v")+"]"), enc...))
	run.Step, run.Stage = fmt.Sprintf("piece-%d", k), "encoding a part"
	run.Args, run.Outputs = append(run.Args, more...), files
	c.joined.commands = append(c.joined.commands, run)
	return sub.line.total, nil
}

// list adds an input that is the pieces' files one behind the other. Each begins at the
// time that it has in the whole, to the microsecond: nothing adds up.
func (c *compiler) list(name, formats string, lengths []int64, file func(int) string) {
	var b strings.Builder
	b.WriteString("ffconcat version 1.0\n")
	var at int64
	for _, k := range c.joined.order {
		fmt.Fprintf(&b, "file %s\nduration %s\n", file(k), c.line.time(at+lengths[k])-c.line.time(at))
		at += lengths[k]
	}
	c.files = append(c.files, argv.File{Name: name, Data: []byte(b.String())})
	atoms := argv.Words("-protocol_whitelist", "file", "-format_whitelist", formats, "-f", "concat", "-i")
	c.inputs = append(c.inputs, input{source: -1, atoms: append(atoms, argv.Out(name))})
}

// copyPieces are the options of the picture's packets.
func (c *compiler) copyPieces(v *ffmpeg.Stream) []argv.Atom {
	args := argv.Words("-map", "1:v:0", "-c:v", "copy", "-bsf:v", "setts=pts=PTS:dts='max(DTS,PREV_OUTDTS+1)'")
	args = append(args, hvcTag(c.g.Target.Container, c.videoCodec(v))...)
	switch c.g.Target.Container {
	case "mp4", "mov":
		args = append(args, argv.Words("-video_track_timescale", fmt.Sprint(timescale(c.rate.Inverse(), c.rate)))...)
	default: // what begins before zero with its codec's delay would move the picture
		args = append(args, argv.Words("-avoid_negative_ts", "disabled")...)
	}
	return args
}

// pieceSound is a track out of the pieces' sound.
func (c *compiler) pieceSound(t track, label string) string {
	total := c.line.sample(c.line.total, t.rate)
	return fmt.Sprintf("[%d:0]apad=whole_len=%d,atrim=end_sample=%d[%s]", c.joined.sounds[t.number], total, total, label)
}

// look keeps what piece k looked like; once all are there it returns them in the order
// of the edit.
func (j *joining) look(k int, res argv.Result) ffmpeg.Signature {
	for _, v := range res.Values {
		if s, ok := v.(ffmpeg.Signature); ok {
			j.looks[k] = s
		}
	}
	if k < len(j.looks)-1 {
		return nil
	}
	var all ffmpeg.Signature
	for _, n := range j.order {
		all = append(all, j.looks[n]...)
	}
	return all
}
