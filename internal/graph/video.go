package graph

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// picture plans the video stream of the output and what must be true of it.
func (c *compiler) picture() ([]argv.Atom, error) {
	p := c.g.Picture
	if p == nil {
		return nil, nil // only what is mapped gets in; -vn would keep cover art out, too
	}
	src := c.line.parts[0].source
	v, err := src.Media.VideoStream()
	if err != nil {
		return nil, err
	}
	if p.Copy {
		return c.copyPicture(src, v)
	}
	if c.out, err = c.shape(v.Video); err != nil {
		return nil, err
	}
	if c.g.inPieces() {
		return c.picturePieces(v)
	}
	c.upright(v)
	if c.selecting {
		chain, err := c.selectPicture(v)
		if err != nil {
			return nil, err
		}
		c.chains = append(c.chains, chain)
	} else if err := c.joinPicture(); err != nil {
		return nil, err
	}
	if v.Video.Turned() {
		// A graph with one input makes ffmpeg copy that stream's turn to the output, which is
		// upright already.
		c.chains = append(c.chains, fmt.Sprintf("[0:%d]nullsink", v.Index))
	}
	enc, err := c.encodeVideo(v)
	if err != nil {
		return nil, err
	}
	c.expectPicture(v)
	if c.videoCodec(v) == "gif" {
		return append(argv.Words("-map", c.paletted()), enc...), nil
	}
	return append(argv.Words("-map", "["+c.tapPicture("v")+"]"), enc...), nil
}

// upright keeps the turn that the source states out of the output, whose picture was
// turned: ffmpeg carries it over where one stream alone goes into a graph, so it goes
// in twice.
func (c *compiler) upright(v *ffmpeg.Stream) {
	if v.Video.Turned() {
		c.chains = append(c.chains, fmt.Sprintf("[0:%d]nullsink", v.Index))
	}
}

// copyPicture maps the video's packets as they are.
func (c *compiler) copyPicture(src *Source, v *ffmpeg.Stream) ([]argv.Atom, error) {
	if !holds(c.g.Target.Container, v.CodecName) {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s cannot hold the picture as it is (%s)", c.g.Target.Container, v.CodecName).
			WithHint("name an output with the input's suffix, or .mkv")
	}
	if v.Video.Turned() && !ffmpeg.KeepsTurn(c.g.Target.Container) {
		return nil, cutroom.Errorf(cutroom.Invalid, "the picture is turned by a mark of its file, and %s has none: a copy would lie on its side or upside down", c.g.Target.Container).
			WithHint("name an output that ends in .mp4 or .mov; `cutroom edit fit` turns the picture itself")
	}
	atoms := append(argv.Words("-map", fmt.Sprintf("0:%d", v.Index), "-c:v", "copy"), hvcTag(c.g.Target.Container, v.CodecName)...)
	bits, err := c.bits(v)
	if err != nil {
		return nil, err
	}
	if len(bits) > 0 {
		atoms = append(atoms, argv.Words("-bsf:v", strings.Join(bits, ","))...)
	}
	x := &proof.Video{Codec: v.CodecName, Frames: v.Frames, Width: v.Video.DisplayWidth, Height: v.Video.DisplayHeight, PixelFormat: v.Video.PixelFormat, First: max(0, v.StartSeconds)}
	x.Rotation, x.Mirrored = &v.Video.Rotation, v.Video.Mirrored
	x.Uneven = v.Video.VFR.Variable
	if v.EndSeconds > v.StartSeconds && !x.Uneven { // how long the last of uneven frames shows, a muxer guesses
		x.Length = v.EndSeconds - v.StartSeconds
	}
	if t := c.g.Picture.Retag; t != nil {
		atoms = append(atoms, t.stated()...)
		x.Range, x.Matrix, x.Primaries, x.Transfer = t.Range, t.Matrix, t.Primaries, t.Transfer
		if t.Range != "" {
			x.PixelFormat = "" // some formats have another name for each range
		}
	}
	c.expect.Video = x
	return atoms, nil
}

// selectPicture cuts the parts of one source out of one decode; frames keep their own
// distances unless a rate is asked for.
func (c *compiler) selectPicture(v *ffmpeg.Stream) (string, error) {
	parts := c.line.parts
	head := fmt.Sprintf("[0:%d]", v.Index)
	if len(parts) == 1 {
		head += fmt.Sprintf("trim=start_pts=%d:end_pts=%d,setpts=PTS-STARTPTS", parts[0].from, parts[0].to)
	} else {
		head += fmt.Sprintf("trim=start_pts=%d:end_pts=%d,select='%s',setpts='PTS-%s'", parts[0].from, parts[len(parts)-1].to, within(parts), shift(parts))
	}
	look := c.look(v.Video, c.out, "")
	c.shakes(head)
	if c.rate.Known() {
		look = c.conformed(look, c.frames())
	}
	chain := head + "," + look
	end, err := c.drawn()
	return chain + end, err
}

// frames is how many frames the edit has.
func (c *compiler) frames() int64 {
	if c.selecting && !c.rate.Known() {
		var n int64
		for _, p := range c.line.parts {
			n += p.frames
		}
		return n
	}
	if c.selecting {
		return max(1, round(c.line.total, c.line.unit, c.rate))
	}
	return c.line.total
}

// atRate conforms frames to the rate, exactly n of them. A clip that is shorter than half
// a frame of that rate shows one all the same.
func (c *compiler) atRate(n int64) string {
	smooth := ""
	switch c.g.Picture.Smooth {
	case "blend":
		smooth = fmt.Sprintf(",minterpolate=fps=%s:mi_mode=blend", c.rate)
	case "interpolate":
		smooth = fmt.Sprintf(",minterpolate=fps=%s:mi_mode=mci:mc_mode=aobmc:me_mode=bidir:vsbmc=1", c.rate)
	}
	return fmt.Sprintf("%s,fps=fps=%s:start_time=0:eof_action=pass,tpad=stop_mode=clone:stop=-1,trim=end_frame=%d", smooth, c.rate, n)
}

// conformed is a look at the rate, exactly n frames. What an overlay makes ends with its
// last frame's own time, so that this frame would be none to the filter of rates: there
// the rate comes first.
func (c *compiler) conformed(look string, n int64) string {
	rate := c.atRate(n)
	if strings.Contains(look, "overlay=") {
		return strings.TrimPrefix(rate, ",") + "," + look
	}
	return look + rate
}

// within is an expression that is 1 for the frames of parts: a balanced tree, since a
// sum of ranges would be walked whole for every frame.
func within(parts []part) string {
	if len(parts) == 1 {
		return fmt.Sprintf("gte(pts,%d)*lt(pts,%d)", parts[0].from, parts[0].to)
	}
	m := len(parts) / 2
	return fmt.Sprintf("if(lt(pts,%d),%s,%s)", parts[m].from, within(parts[:m]), within(parts[m:]))
}

// shift is an expression for how many ticks a frame moves to the front.
func shift(parts []part) string {
	if len(parts) == 1 {
		return fmt.Sprintf("(%d)", int64(parts[0].from)-parts[0].at)
	}
	m := len(parts) / 2
	return fmt.Sprintf("if(lt(PTS,%d),%s,%s)", parts[m].from, shift(parts[:m]), shift(parts[m:]))
}

// joinPicture conforms the picture of every clip to one frame and one rate and lays
// them one behind the other.
func (c *compiler) joinPicture() error {
	for i, p := range c.line.parts {
		chain, err := c.partPicture(i, p)
		if err != nil {
			return err
		}
		c.chains = append(c.chains, fmt.Sprintf("%s,format=%s[p%d]", chain, c.out.format, i))
	}
	end, err := c.drawn()
	if err != nil {
		return err
	}
	c.chainPicture(c.repeatPicture() + end)
	return nil
}

// partPicture is the chain of one part's picture, as many frames as it is to have.
func (c *compiler) partPicture(i int, p part) (string, error) {
	if p.clip.Fill != nil {
		return c.fill(p.clip.Fill, fmt.Sprint(i)) + c.atRate(p.length), nil
	}
	v, err := p.source.Media.VideoStream()
	if err != nil {
		return "", err
	}
	tag := fmt.Sprint(i)
	switch cl := p.clip; {
	case cl.Wave != nil:
		return c.wave(cl.Wave, p, c.inputOf(i), tag)
	case cl.Motion != nil:
		return c.heldFrame(c.inputOf(i), p, v) + "," + c.moved(cl.Motion, p, v, tag), nil
	case cl.Hold > 0 || cl.Frozen:
		return c.heldFrame(c.inputOf(i), p, v) + "," + c.conformed(c.look(v.Video, c.out, tag), p.length), nil
	}
	sp := p.clip.speed()
	black, shift := c.leadFrames(p, v)
	time := fmt.Sprintf("(PTS-%d)*%d/%d%s", p.from, sp.Den, sp.Num, shift)
	if r := p.clip.Ramp; r != nil {
		time = r.picture(p)
	}
	chain := fmt.Sprintf("[%d:%d]trim=start_pts=%d:end_pts=%d,setpts=%s", c.inputOf(i), v.Index, p.from, p.to, time)
	chain += "," + c.conformed(c.look(v.Video, c.out, tag), p.length-black)
	if black > 0 {
		chain += fmt.Sprintf(",tpad=start=%d:start_mode=add:color=black", black)
	}
	if p.clip.Reverse {
		chain += ",reverse"
	}
	return chain, nil
}

// leadFrames is how many black frames come before part p, and how its own frames move
// so that they lie where the lead ends, which may be between two frames.
func (c *compiler) leadFrames(p part, v *ffmpeg.Stream) (black int64, shift string) {
	if p.clip.Lead <= 0 {
		return 0, ""
	}
	black = min(p.length-1, round(int64(p.clip.Lead), c.rate, micro))
	if ticks := ffmpeg.TicksOf(p.clip.Lead-c.timeOf(black), v.TimeBase); ticks != 0 {
		shift = fmt.Sprintf("+(%d)", ticks)
	}
	return black, shift
}

// expectPicture derives what must be true of the video.
func (c *compiler) expectPicture(v *ffmpeg.Stream) {
	w, h := c.out.width, c.out.height
	if s := c.out.sar; s.Known() {
		w = int(round(int64(w), s, ffmpeg.Rational{Num: 1, Den: 1}))
	}
	upright := 0
	c.expect.Video = &proof.Video{
		Codec: c.videoCodec(v), Width: w, Height: h, Rate: c.rate, Frames: c.frames(), Length: c.line.time(c.line.total),
		PixelFormat: c.out.format, Range: c.out.color.rng, Matrix: c.out.color.matrix, Primaries: c.out.color.primaries, Transfer: c.out.color.transfer,
		Rotation: &upright,
	}
	if x := c.sights; x != nil {
		c.expect.Video.Sights, c.expect.Video.Area = x.Sights, x.Area
	}
	if c.videoCodec(v) == "hevc" && (c.g.Target.Container == "mp4" || c.g.Target.Container == "mov") {
		c.expect.Video.Tag = "hvc1"
	}
	if c.selecting && c.rate.Known() {
		c.expect.Video.Length = c.timeOf(c.frames())
	}
	if last := c.line.parts[len(c.line.parts)-1]; c.selecting && !c.rate.Known() && last.rest > 0 && v.Video.VFR.Variable {
		c.expect.Video.Uneven = true
		c.expect.Video.Last = c.line.time(c.line.total - int64(last.rest))
	}
	c.expectFormat()
}

func (c *compiler) timeOf(frames int64) cutroom.Micros {
	return cutroom.Micros(round(frames, ffmpeg.Rational{Num: 1_000_000, Den: 1}, c.rate.Inverse()))
}
