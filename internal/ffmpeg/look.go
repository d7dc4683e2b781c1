package ffmpeg

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// input returns the options that every input gets: protocols limited to file,
// demuxers limited to what the content is, the first of them forced.
func (f Format) input(in argv.In) []argv.Atom {
	if f.made != "" { // our own file may be read as far as it takes: slow rates need it
		far := argv.Words("-analyzeduration", "100M", "-probesize", "100M")
		return append(append(f.limits(), far...), argv.Word("-i"), argv.Out(f.made))
	}
	return append(f.limits(), argv.Word("-i"), in)
}

// Input returns the arguments that open the file as the n-th input which the command
// is granted; for a file of the private folder n counts for nothing.
func (f Format) Input(n int) []argv.Atom { return f.input(argv.In(n)) }

// Granted returns what a command over input in of the call is granted: nothing for a
// file of the private folder.
func (f Format) Granted(in int) []int {
	if f.made != "" {
		return nil
	}
	return []int{in}
}

func (f Format) limits() []argv.Atom {
	as := argv.Words("-protocol_whitelist", "file")
	if len(f.Demuxers) > 0 {
		as = append(as, argv.Words("-format_whitelist", strings.Join(f.Demuxers, ","), "-f", f.Demuxers[0])...)
	}
	return as
}

// maxDocument bounds what ffprobe prints about one file: thousands of chapters fit.
const maxDocument = 16 << 20

// Look returns the one ffprobe run that describes input in of the call.
func Look(in int, f Format) argv.Command {
	args := argv.Words("-v", "error", "-hide_banner", "-show_format", "-show_streams", "-show_chapters", "-print_format", "json=compact=1")
	return argv.Command{
		Step: "look", Program: "ffprobe", Inputs: f.Granted(in), Stage: "reading the file's description",
		Args:    append(args, f.input(0)...),
		Limits:  argv.Limits{StdoutCap: maxDocument},
		MayFail: true,
	}
}

// text is a value that ffprobe prints as a string, a number or not at all.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text(s)
		return nil
	}
	if c := b[0]; c == '-' || c >= '0' && c <= '9' {
		*t = text(b)
	}
	return nil
}

func (t text) int() (int64, bool) {
	n, err := strconv.ParseInt(string(t), 10, 64)
	return n, err == nil
}

// micros returns a time in seconds. Values beyond ten years are as good as none.
func (t text) micros() (cutroom.Micros, bool) {
	m, err := cutroom.ParseMicros(string(t))
	if err != nil || m > maxTime || m < -maxTime {
		return 0, false
	}
	return m, true
}

const maxTime = 10 * 366 * 86400 * cutroom.Second

type rawDocument struct {
	Format *struct {
		Name      text            `json:"format_name"`
		StartTime text            `json:"start_time"`
		Duration  text            `json:"duration"`
		Size      text            `json:"size"`
		BitRate   text            `json:"bit_rate"`
		Tags      map[string]text `json:"tags"`
	} `json:"format"`
	Streams  []rawStream `json:"streams"`
	Chapters []struct {
		StartTime text            `json:"start_time"`
		EndTime   text            `json:"end_time"`
		Tags      map[string]text `json:"tags"`
	} `json:"chapters"`
}

type rawStream struct {
	Index       text            `json:"index"`
	CodecName   text            `json:"codec_name"`
	CodecType   text            `json:"codec_type"`
	CodecTag    text            `json:"codec_tag_string"`
	Profile     text            `json:"profile"`
	Width       text            `json:"width"`
	Height      text            `json:"height"`
	SAR         text            `json:"sample_aspect_ratio"`
	PixFmt      text            `json:"pix_fmt"`
	BitsRaw     text            `json:"bits_per_raw_sample"`
	BitsStored  text            `json:"bits_per_sample"`
	Range       text            `json:"color_range"`
	Matrix      text            `json:"color_space"`
	Transfer    text            `json:"color_transfer"`
	Primaries   text            `json:"color_primaries"`
	FieldOrder  text            `json:"field_order"`
	Captions    text            `json:"closed_captions"`
	RRate       text            `json:"r_frame_rate"`
	AvgRate     text            `json:"avg_frame_rate"`
	TimeBase    text            `json:"time_base"`
	StartPTS    text            `json:"start_pts"`
	DurationTS  text            `json:"duration_ts"`
	BitRate     text            `json:"bit_rate"`
	Frames      text            `json:"nb_frames"`
	SampleFmt   text            `json:"sample_fmt"`
	SampleRate  text            `json:"sample_rate"`
	Channels    text            `json:"channels"`
	Layout      text            `json:"channel_layout"`
	Disposition map[string]text `json:"disposition"`
	Tags        map[string]text `json:"tags"`
	SideData    []sideData      `json:"side_data_list"`
}

// ParseLook reads what [Look] printed. size is the file's size in bytes. It accepts
// any bytes: what is not a description of media is unreadable_media.
func ParseLook(out []byte, f Format, size int64) (*Document, error) {
	var raw rawDocument
	if err := json.Unmarshal(out, &raw); err != nil || raw.Format == nil || len(raw.Streams) == 0 {
		return nil, f.noDescription(size)
	}
	if n, ok := raw.Format.Size.int(); ok && f.made != "" { // no one has measured it yet
		size = n
	}
	d := &Document{
		FormatName: string(raw.Format.Name), MediaType: f.MediaType, SizeBytes: size,
		Title: tag(raw.Format.Tags, "title"), DurationFrom: Unknown, Problems: append([]string{}, f.Notes...),
	}
	d.named(raw.Format.Tags)
	d.BitRate, _ = raw.Format.BitRate.int()
	d.StartSeconds, _ = raw.Format.StartTime.micros()
	d.ZeroSeconds = max(0, d.StartSeconds)
	for i := range raw.Streams {
		s := raw.Streams[i].stream(d)
		if len(raw.Streams) == 1 { // Ogg and FLAC tag the one stream
			d.named(raw.Streams[i].Tags)
		}
		if s.Video != nil {
			s.Video.orient(f.Orientation)
		}
		if s.AttachedPic {
			d.CoverArt = append(d.CoverArt, s)
			continue
		}
		d.Streams = append(d.Streams, s)
	}
	d.Kind = d.kind(f)
	for _, c := range raw.Chapters {
		start, ok1 := c.StartTime.micros()
		end, ok2 := c.EndTime.micros()
		if ok1 && ok2 && end >= start {
			d.Chapters = append(d.Chapters, Chapter{max(0, start-d.ZeroSeconds), max(0, end-d.ZeroSeconds), tag(c.Tags, "title")})
		}
	}
	d.timecode(raw.Format.Tags, raw.Streams)
	d.containerDuration(raw.Format.Duration)
	d.markTruncated(f)
	return d, nil
}

// noDescription says why ffprobe could not describe the file, by what the sniffed
// start of it promises.
func (f Format) noDescription(size int64) error {
	if f.Claims > size {
		return unreadable("copy or download the file again: its index, which usually comes last, is missing",
			"the file is cut off: it promises at least %d bytes and has %d", f.Claims, size)
	}
	return unreadable("copy or download the file again; if it plays elsewhere, convert it to MP4, WebM or WAV",
		"the file looks like %s, but holds no stream that can be read", f.MediaType)
}

// markTruncated compares what the file says of itself with its size.
func (d *Document) markTruncated(f Format) {
	var bits float64
	for i := range d.Streams {
		s := &d.Streams[i]
		if s.BitRate > 0 && s.DurationTicks > 0 {
			bits += float64(s.BitRate) * s.DurationTicks.Micros(s.TimeBase).Seconds()
		}
	}
	if f.Claims > d.SizeBytes && d.SizeBytes > 0 || bits/8 > 1.05*float64(d.SizeBytes)+4096 {
		d.Truncated = true
		d.problem("the file is cut off: it promises more data than it has")
	}
}

func tag(tags map[string]text, name string) string {
	for k, v := range tags {
		if strings.EqualFold(k, name) {
			return string(v)
		}
	}
	return ""
}

func (r *rawStream) stream(d *Document) Stream {
	s := Stream{
		CodecType: string(r.CodecType), CodecName: string(r.CodecName), CodecTag: string(r.CodecTag),
		Profile: string(r.Profile), Language: tag(r.Tags, "language"), Title: tag(r.Tags, "title"), Decodable: true,
	}
	i, _ := r.Index.int()
	s.Index = int(min(max(i, 0), 1<<20))
	s.TimeBase, _ = ParseRational(string(r.TimeBase))
	if n, ok := r.StartPTS.int(); ok && Ticks(n).Micros(s.TimeBase) < maxTime && Ticks(n).Micros(s.TimeBase) > -maxTime {
		s.StartTicks, s.startKnown = Ticks(n), true
		s.StartSeconds = d.Time(&s, s.StartTicks)
	}
	if n, ok := r.DurationTS.int(); ok && n > 0 && n < math.MaxUint32 {
		s.DurationTicks = Ticks(n)
		s.EndSeconds = d.Time(&s, s.StartTicks+s.DurationTicks)
	}
	s.BitRate, _ = r.BitRate.int()
	s.Frames, _ = r.Frames.int()
	if s.Language == "und" {
		s.Language = ""
	}
	if s.CodecName == "" || s.CodecName == "none" {
		s.CodecName, s.Decodable = "unknown", false
	}
	for k, v := range r.Disposition {
		if v == "1" {
			s.Disposition = append(s.Disposition, k)
		}
	}
	slices.Sort(s.Disposition)
	switch s.CodecType {
	case "video":
		r.video(&s, d)
	case "audio":
		rate, _ := r.SampleRate.int()
		ch, _ := r.Channels.int()
		s.Audio = &AudioFacts{int(min(max(rate, 0), 1<<31-1)), int(min(max(ch, 0), 1<<16)), string(r.Layout), string(r.SampleFmt), r.soundDepth()}
		s.Decodable = s.Decodable && ch > 0 && rate > 0 && r.SampleFmt != ""
	case "subtitle":
		isText := slices.Contains(textSubtitles, s.CodecName)
		s.Text = &isText
	}
	return s
}

// soundDepth returns the bits of a sample: those that are used (24 in a sample of
// 32), else those that are stored. Lossy codecs have none.
func (r *rawStream) soundDepth() int {
	for _, t := range []text{r.BitsRaw, r.BitsStored} {
		if n, ok := t.int(); ok && n > 0 && n <= 64 {
			return int(n)
		}
	}
	return 0
}

var pixDepth = regexp.MustCompile(`(?:p|gray|rgba?|bgra?|gbrp|gbrap|xyz|y2|p0|x2rgb|x2bgr|ya)(9|10|12|14|16|48|64)(?:le|be)$`)

// bitDepth reads the depth off a pixel format's name, as ffmpeg names them.
func bitDepth(pix string) int {
	m := pixDepth.FindStringSubmatch(pix)
	switch {
	case pix == "":
		return 0
	case m == nil:
		return 8
	case m[1] == "48" || m[1] == "64":
		return 16
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
