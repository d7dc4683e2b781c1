package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// container says what a container is to ffmpeg and which codecs it holds.
type container struct {
	muxer        string
	video, audio []string // codecs it holds, the default first
	subtitle     string   // codec of text subtitles, "" for none
	mediaType    string
}

// containers are those that can be written.
var containers = map[string]container{
	"mp4":  {"mp4", []string{"h264", "hevc", "av1", "vp9", "mpeg4"}, []string{"aac", "mp3", "ac3", "eac3", "opus", "flac", "alac"}, "mov_text", "video/mp4"},
	"mov":  {"mov", []string{"h264", "hevc", "prores", "mpeg4", "mjpeg", "dnxhd"}, []string{"aac", "pcm_s16le", "pcm_s24le", "pcm_s32le", "alac", "mp3", "ac3"}, "mov_text", "video/quicktime"},
	"mkv":  {"matroska", nil, nil, "srt", "video/x-matroska"},
	"webm": {"webm", []string{"vp9", "vp8", "av1"}, []string{"opus", "vorbis"}, "webvtt", "video/webm"},
	"gif":  {"gif", []string{"gif"}, nil, "", "image/gif"},
	"m4a":  {"ipod", nil, []string{"aac", "alac"}, "", "audio/mp4"},
	"mp3":  {"mp3", nil, []string{"mp3"}, "", "audio/mpeg"},
	"wav":  {"wav", nil, []string{"pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le"}, "", "audio/wav"},
	"flac": {"flac", nil, []string{"flac"}, "", "audio/flac"},
	"ogg":  {"ogg", nil, []string{"vorbis", "opus", "flac"}, "", "audio/ogg"},
	"opus": {"opus", nil, []string{"opus"}, "", "audio/ogg"},
}

// ContainerOf returns the container that a file name's suffix (with its dot, any case)
// stands for. An unknown suffix is an error that lists what can be written.
func ContainerOf(suffix string) (string, error) {
	s := strings.ToLower(strings.TrimPrefix(suffix, "."))
	switch s {
	case "m4v":
		s = "mp4"
	case "qt":
		s = "mov"
	case "mka":
		s = "mkv"
	case "oga":
		s = "ogg"
	case "m4b":
		s = "m4a"
	case "wave":
		s = "wav"
	}
	if _, ok := containers[s]; ok {
		return s, nil
	}
	return "", cutroom.Errorf(cutroom.Invalid, "files of the kind %q cannot be written", suffix).
		WithHint("name an output that ends in .mp4, .mov, .mkv, .webm, .gif, .m4a, .mp3, .wav, .flac, .ogg or .opus")
}

// fitContainer leaves out what the container has no room for.
func (c *compiler) fitContainer() {
	if c.g.Picture != nil && !HoldsPicture(c.g.Target.Container) {
		c.g.Picture = nil
	}
	if c.g.Sound != nil && c.g.Target.Container != "mkv" && len(containers[c.g.Target.Container].audio) == 0 {
		c.g.Sound = nil
	}
}

// MediaType is the media type of a container's files.
func MediaType(name string) string { return containers[name].mediaType }

// HoldsPicture reports whether a container holds moving pictures.
func HoldsPicture(name string) bool { return name == "mkv" || len(containers[name].video) > 0 }

// Holds reports whether a container holds streams of a codec, so that they can be copied.
func Holds(container, codec string) bool { return holds(container, codec) }

// HoldsSound reports whether a container holds sound.
func HoldsSound(name string) bool { return name == "mkv" || len(containers[name].audio) > 0 }

// holds reports whether a container holds a codec.
func holds(name, codec string) bool {
	k := containers[name]
	return name == "mkv" || slices.Contains(k.video, codec) || slices.Contains(k.audio, codec)
}

func faststart(name string) bool { return name == "mp4" || name == "mov" || name == "m4a" }

// muxer are the options of the container.
func muxer(t Target) []argv.Atom {
	args := argv.Words("-f", containers[t.Container].muxer)
	switch {
	case faststart(t.Container):
		args = append(args, argv.Words("-movflags", "+faststart")...)
	case t.Container == "wav": // beyond 4 GiB only RF64 has room
		args = append(args, argv.Words("-rf64", "auto")...)
	}
	return args
}

// hvcTag makes HEVC in MP4 and MOV play on Apple's players, which know hvc1 only.
func hvcTag(container, codec string) []argv.Atom {
	if codec == "hevc" && (container == "mp4" || container == "mov") {
		return argv.Words("-tag:v", "hvc1")
	}
	return nil
}

// videoCodec is the codec of the output's picture: the one asked for, else what the
// container takes first, and HEVC where high dynamic range is kept.
func (c *compiler) videoCodec(v *ffmpeg.Stream) string {
	switch t := c.g.Target; {
	case t.Video.Name != "":
		return t.Video.Name
	case c.out.hdr:
		return "hevc"
	case t.Container == "mkv":
		return "h264"
	default:
		return containers[t.Container].video[0]
	}
}

// holdsHDR reports whether the output can keep high dynamic range: 10 bits, in a codec
// whose files players show so.
func (c *compiler) holdsHDR() bool {
	t := c.g.Target
	switch t.Video.Name {
	case "":
		return t.Container != "webm" && t.Container != "gif"
	case "hevc", "av1", "vp9", "prores":
		return t.Video.PixelFormat == "" || strings.Contains(t.Video.PixelFormat, "10") || strings.Contains(t.Video.PixelFormat, "12")
	}
	return false
}

// pixelFormat is that of the output.
func (c *compiler) pixelFormat(v *ffmpeg.VideoFacts, hdr, alpha bool) string {
	t := c.g.Target
	switch {
	case t.Video.PixelFormat != "":
		return t.Video.PixelFormat
	case alpha && t.Video.Name == "prores":
		return "yuva444p10le"
	case alpha:
		return "yuva420p"
	case t.Video.Name == "prores" && strings.HasPrefix(t.Video.Profile, "4444"):
		return "yuv444p10le"
	case t.Video.Name == "prores":
		return "yuv422p10le"
	case t.Container == "gif":
		return "rgb24"
	case hdr:
		return "yuv420p10le"
	}
	return "yuv420p"
}

// keepsAlpha reports whether the output stays transparent: every clip is, and the codec
// carries it.
func (c *compiler) keepsAlpha() bool {
	for _, cl := range c.g.Clips {
		if v := c.g.Sources[cl.Source].Media.FirstVideo(); v == nil || !v.Video.Alpha {
			return false
		}
	}
	t := c.g.Target
	switch {
	case t.Video.PixelFormat != "":
		return strings.Contains(t.Video.PixelFormat, "yuva")
	case t.Video.Name == "prores":
		return strings.HasPrefix(t.Video.Profile, "4444")
	}
	return len(c.g.Picture.Burn)+len(c.g.Picture.Layers) == 0 && (t.Container == "webm" && cmp.Or(t.Video.Name, "vp9") == "vp9" || t.Container == "mkv" && t.Video.Name == "vp9")
}

// sayColors notes what is done to high dynamic range and to transparency.
func (c *compiler) sayColors(f frame) {
	for _, cl := range c.g.Clips {
		v := c.g.Sources[cl.Source].Media.FirstVideo()
		if v == nil {
			continue
		}
		if c.mapped(v.Video, f) {
			c.note("the high dynamic range of %s (%s) is tone-mapped to standard range, tagged BT.709", c.g.Sources[cl.Source].Name, v.Video.HDR)
		}
		if raised(v.Video, f) {
			what := strings.ToUpper(v.Video.HDR)
			if what == "" {
				what = "standard range, whose white becomes 203 cd/m²"
			}
			c.note("%s (%s) is brought to the curve %s of the first clip", c.g.Sources[cl.Source].Name, what, f.color.transfer)
		}
		if v.Video.DolbyVision > 0 {
			c.note("the Dolby Vision layer of %s is left out", c.g.Sources[cl.Source].Name)
		}
		if v.Video.Alpha && !f.alpha {
			c.note("%s is transparent: it is laid on %s", c.g.Sources[cl.Source].Name, ffmpeg.Background)
		}
	}
}

// needs refuses an edit whose pictures need filters that are not there.
func (c *compiler) needs(f frame) error {
	for _, cl := range c.g.Clips {
		v := c.g.Sources[cl.Source].Media.FirstVideo()
		switch {
		case v == nil:
		case c.mapped(v.Video, f):
			if err := c.a.Missing("zscale", "tonemap"); err != nil {
				return err
			}
		case raised(v.Video, f), wide(v.Video, f):
			if err := c.a.Missing("zscale"); err != nil {
				return err
			}
		}
	}
	if err := c.steady(f); err != nil {
		return err
	}
	return c.lookNeeds()
}

// subsampled reports whether a format needs even sizes.
func (c *compiler) subsampled(format string) bool {
	return strings.Contains(format, "420") || strings.Contains(format, "422") || strings.HasPrefix(format, "nv")
}

// rgb reports whether the frame has no luma and chroma, so that tags of YUV say nothing.
func (f frame) rgb() bool {
	return strings.HasPrefix(f.format, "rgb") || strings.HasPrefix(f.format, "gbr")
}

// encoder is one of ffmpeg's encoders.
type encoder struct {
	name    string
	quality int // default, on the encoder's own scale
	most    int // the worst quality on that scale; 0: it has none
	options func(c *compiler, v VideoCodec, quality int) []string
}

// encoders are ffmpeg's encoders for a codec, the preferred first.
var encoders = map[string][]encoder{
	"h264":   {{"libx264", 18, 51, x264}},
	"hevc":   {{"libx265", 20, 51, x265}},
	"vp9":    {{"libvpx-vp9", 31, 63, vpx}},
	"av1":    {{"libsvtav1", 30, 63, svt}, {"libaom-av1", 30, 63, aom}},
	"prores": {{"prores_ks", 0, 0, prores}},
	"gif":    {{"gif", 0, 0, gif}},
	"mpeg4":  {{"mpeg4", 3, 31, mpeg4}},
	"mjpeg":  {{"mjpeg", 3, 31, mpeg4}},
}

// efforts are the names of how hard an encoder tries, x264's, from the least.
var efforts = []string{"ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"}

// step is the effort on the scale of an encoder that counts its own: list has one value
// for each of efforts.
func step(effort string, list ...int) string {
	i := slices.Index(efforts, cmp.Or(effort, "medium"))
	return fmt.Sprint(list[max(0, i)])
}

func x264(_ *compiler, v VideoCodec, q int) []string {
	args := []string{"-preset", cmp.Or(v.Effort, "medium"), "-crf", fmt.Sprint(q)}
	if v.Profile != "" {
		args = append(args, "-profile:v", v.Profile)
	}
	return args
}

// x265 keeps high dynamic range with what the source says of its mastering.
func x265(c *compiler, v VideoCodec, q int) []string {
	args := []string{"-preset", cmp.Or(v.Effort, "medium"), "-crf", fmt.Sprint(q)}
	if v.Profile != "" {
		args = append(args, "-profile:v", v.Profile)
	}
	params := "log-level=error"
	if c.out.hdr && c.out.color.transfer == "smpte2084" {
		params += ":hdr10-opt=1" + c.mastered()
	}
	return append(args, "-x265-params", params)
}

// mastered is what the first clip says of its mastering, in the words of x265: the only
// encoder of ffmpeg 5 that can be told.
func (c *compiler) mastered() string {
	v := c.line.parts[0].source.Media.FirstVideo().Video
	s := ""
	if v.MasterDisplay != "" {
		s += ":master-display=" + v.MasterDisplay
	}
	if v.LightLevel != "" {
		s += ":max-cll=" + v.LightLevel
	}
	return s
}

func vpx(c *compiler, v VideoCodec, q int) []string {
	args := []string{"-crf", fmt.Sprint(q), "-b:v", "0", "-row-mt", "1", "-deadline", "good", "-cpu-used", step(v.Effort, 8, 6, 5, 5, 4, 3, 2, 1, 0)}
	if strings.HasPrefix(c.out.format, "yuva") {
		args = append(args, "-auto-alt-ref", "0") // alpha does not go with it
	}
	return args
}

func svt(_ *compiler, v VideoCodec, q int) []string {
	return []string{"-preset", step(v.Effort, 12, 11, 10, 9, 9, 8, 6, 5, 3), "-crf", fmt.Sprint(q)}
}

func aom(_ *compiler, v VideoCodec, q int) []string {
	return []string{"-crf", fmt.Sprint(q), "-b:v", "0", "-row-mt", "1", "-cpu-used", step(v.Effort, 8, 8, 7, 7, 6, 6, 5, 4, 3)}
}

// prores writes the vendor of Apple's own encoder, which some editors insist on.
func prores(c *compiler, v VideoCodec, _ int) []string {
	profile := cmp.Or(v.Profile, "hq")
	if strings.Contains(c.out.format, "444") && !strings.HasPrefix(profile, "4444") {
		profile = "4444"
	}
	return []string{"-profile:v", profile, "-vendor", "apl0"}
}

// gif repeats for ever, as those who post one expect.
func gif(*compiler, VideoCodec, int) []string { return []string{"-loop", "0"} }

func mpeg4(_ *compiler, _ VideoCodec, q int) []string { return []string{"-q:v", fmt.Sprint(q)} }

// check refuses a codec's settings that no encoder takes.
func (v VideoCodec) check(e encoder) error {
	switch {
	case e.most > 0 && (v.Quality < 0 || v.Quality > e.most):
		return cutroom.Errorf(cutroom.Invalid, "quality %d is out of range: %s takes 1 (best) to %d", v.Quality, e.name, e.most).WithHint("leave quality out, or choose about %d", e.quality)
	case v.Effort != "" && !slices.Contains(efforts, v.Effort):
		return cutroom.Errorf(cutroom.Invalid, "effort %q is not known", v.Effort).WithHint("choose one of %s", strings.Join(efforts, ", "))
	}
	return nil
}

// encodeVideo are the options of the video encoder.
func (c *compiler) encodeVideo(v *ffmpeg.Stream) ([]argv.Atom, error) {
	codec, t := c.videoCodec(v), c.g.Target
	if !holds(t.Container, codec) {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s cannot hold %s video", t.Container, codec).WithHint("name an output with another suffix: %s", strings.Join(holders(codec), ", "))
	}
	list := encoders[codec]
	i := slices.IndexFunc(list, func(e encoder) bool { return c.a.Encoder(e.name) })
	if i < 0 {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this ffmpeg has no encoder for %s", codec).WithHint("install a full build of ffmpeg and run `cutroom setup`")
	}
	e := list[i]
	if err := t.Video.check(e); err != nil {
		return nil, err
	}
	q := e.quality
	if t.Video.Quality > 0 {
		q = t.Video.Quality
	}
	args := append(argv.Words("-c:v", e.name), argv.Words(e.options(c, t.Video, q)...)...)
	args = append(args, hvcTag(t.Container, codec)...)
	if !c.out.rgb() {
		args = append(args, argv.Words("-pix_fmt", c.out.format, "-color_range", c.out.color.rng, "-colorspace", c.out.color.matrix,
			"-color_primaries", c.out.color.primaries, "-color_trc", c.out.color.transfer)...)
	}
	return append(args, c.timing()...), nil
}

// expectFormat corrects what a reader says of formats that are stored in another way: a
// GIF has a palette, and VP9 keeps its alpha beside the picture.
func (c *compiler) expectFormat() {
	x := c.expect.Video
	if v := c.line.parts[0].source.Media.FirstVideo().Video; c.out.hdr && c.out.color.transfer == "smpte2084" {
		switch {
		case x.Codec == "hevc":
			x.MasterDisplay, x.LightLevel = v.MasterDisplay, v.LightLevel
		case v.MasterDisplay != "" || v.LightLevel != "":
			c.note("the mastering metadata of %s is left out: it goes with HEVC only", c.line.parts[0].source.Name)
		}
	}
	switch {
	case x.Codec == "gif":
		x.PixelFormat, x.Range, x.Matrix, x.Primaries, x.Transfer, x.Rate = "", "", "", "", "", ffmpeg.Rational{}
	case x.Codec == "vp9" && c.out.alpha:
		x.PixelFormat = "yuv420p"
	case x.Codec == "prores" && strings.Contains(c.out.format, "444"): // read with 12 bits
		x.PixelFormat = strings.Replace(c.out.format, "10le", "12le", 1)
	}
}

// holders are the suffixes of containers that hold a codec.
func holders(codec string) []string {
	var list []string
	for name := range containers {
		if holds(name, codec) {
			list = append(list, "."+name)
		}
	}
	slices.Sort(list)
	return list
}

// paletted ends a GIF's picture: the frames are drawn in the 256 colours that a run
// before this one chose from all of them. It returns the label of the drawn frames.
func (c *compiler) paletted() string {
	run := c.paletteRun(strings.Join(c.chains, ";") + ";[v]palettegen=stats_mode=diff[palette]")
	c.palette = &run
	in := len(c.inputs)
	c.inputs = append(c.inputs, input{source: -1, atoms: append(argv.Words("-protocol_whitelist", "file", "-f", "png_pipe", "-i"), argv.Out(paletteFile))})
	c.chains = append(c.chains, fmt.Sprintf("[v][%d:0]paletteuse=dither=sierra2_4a:diff_mode=rectangle[drawn]", in))
	return "[drawn]"
}

const paletteFile = "palette.png"

// paletteRun is the run that chooses the colours, over the inputs that are there before
// the palette.
func (c *compiler) paletteRun(graph string) argv.Command {
	args, granted := c.head()
	args = append(args, argv.Word("-progress"), argv.Pipe(1), argv.Word("-filter_complex"), argv.Graph(graph))
	args = append(args, argv.Words("-map", "[palette]", "-frames:v", "1", "-update", "1", "-f", "image2")...)
	return argv.Command{
		Step: "palette", Program: "ffmpeg", Inputs: granted, Stage: "choosing the colours", Files: c.files,
		Args: append(args, argv.Out(paletteFile)), Consume: []argv.Consumer{nil, argv.Ignore}, Outputs: []string{paletteFile},
		Report: &argv.Report{Pipe: 1, Total: c.line.time(c.line.total)},
	}
}

// timing keeps the frames' times as the graph made them: nothing is doubled or dropped
// behind it. Where frames keep uneven times, the encoder counts in the muxer's own unit:
// a length that a bitstream filter states is not converted between the two.
func (c *compiler) timing() []argv.Atom {
	args := c.a.FrameRateMode("passthrough")
	tb := c.line.unit
	if c.rate.Known() {
		tb = c.rate.Inverse()
	}
	var scale int64
	switch t := c.g.Target.Container; {
	case t == "mp4" || t == "mov":
		scale = timescale(tb, c.rate)
		if !c.rate.Known() {
			tb = ffmpeg.Rational{Num: 1, Den: scale}
		}
	case (t == "mkv" || t == "webm") && !c.rate.Known():
		tb = ffmpeg.Rational{Num: 1, Den: 1000}
	}
	if tb.Num < 1<<31 && tb.Den < 1<<31 {
		args = append(args, argv.Words("-enc_time_base:v", tb.String())...)
		args = append(args, c.lastFrame(tb)...)
	}
	if scale > 0 {
		args = append(args, argv.Words("-video_track_timescale", fmt.Sprint(scale))...)
	}
	return args
}

// timescale is how many ticks a second of an MP4's video track has: a multiple of what
// the frames' times need, since short frames need a fine scale and players like one.
func timescale(tb, rate ffmpeg.Rational) int64 {
	scale := tb.Den
	if tb.Num != 1 && rate.Known() {
		scale = rate.Num
	}
	for scale < 10_000 {
		scale *= 2
	}
	return min(scale, 1<<31-1)
}

// lastFrame tells the muxer how long the last frame shows: encoders that are given
// uneven times state no lengths, and players would end with the frame's start. Of the
// others' lengths the muxer takes no notice.
func (c *compiler) lastFrame(tb ffmpeg.Rational) []argv.Atom {
	last := c.line.parts[len(c.line.parts)-1].rest
	rest := round(int64(last), tb.Inverse(), c.line.unit)
	if c.rate.Known() || !c.a.BSF("setts") || rest <= 0 || c.g.Target.Container == "gif" {
		return nil
	}
	length := fmt.Sprint(rest)
	if t := c.g.Target.Container; t == "mp4" || t == "mov" {
		// What an MP4's track lasts is counted from the first decoding time to the end of
		// the last packet: there the length of the last packet is what is left of it.
		length = fmt.Sprintf("%d-(DTS-STARTDTS)", round(c.line.total, tb.Inverse(), c.line.unit))
	}
	return argv.Words("-bsf:v", "setts=pts=PTS:dts=DTS:duration="+length)
}
