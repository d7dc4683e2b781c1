package ffmpeg

import (
	"slices"
	"strings"

	"cutroom"
)

// kind decides what the file is to a viewer, cover art and still pictures apart.
func (d *Document) kind(f Format) Kind {
	var video, audio, subs bool
	for i := range d.Streams {
		s := &d.Streams[i]
		video = video || s.Video != nil && !s.Video.StillImage
		audio = audio || s.Audio != nil
		subs = subs || s.CodecType == "subtitle"
	}
	switch {
	case f.Kind == Image && !audio:
		return Image
	case video:
		return Video
	case audio:
		return Audio
	case d.FirstVideo() != nil || len(d.CoverArt) > 0:
		return Image
	case subs:
		return Subtitle
	}
	return f.Kind
}

// timecode finds the label of the first frame: in a video stream, a timecode track,
// or the file's own tags.
func (d *Document) timecode(format map[string]text, streams []rawStream) {
	label := ""
	for _, r := range streams {
		if tc := tag(r.Tags, "timecode"); tc != "" && (label == "" || r.CodecType == "video") {
			label = tc
		}
	}
	if label == "" {
		label = tag(format, "timecode")
	}
	tc, err := ParseTimecode(label)
	if err != nil {
		return
	}
	d.Timecode = &TimecodeTag{Start: tc.String(), DropFrame: tc.Drop}
	if v := d.FirstVideo(); v != nil {
		d.Timecode.Rate = v.Video.FrameRate
	}
}

// containerDuration takes the length that the container states: of its streams when
// all of them state one (a movie header may count an empty edit), else its own.
func (d *Document) containerDuration(stated text) {
	var end cutroom.Micros
	all := true
	for i := range d.Streams {
		s := &d.Streams[i]
		if s.Video == nil && s.Audio == nil {
			continue
		}
		all = all && s.DurationTicks > 0
		end = max(end, s.EndSeconds)
	}
	m, ok := stated.micros()
	switch {
	case d.Kind == Image && len(d.Streams) == 1 && d.Streams[0].Video != nil && d.Streams[0].Video.StillImage:
		return
	case all && end > 0:
		d.DurationSeconds, d.DurationFrom = end, FromContainer
	case ok && m > 0:
		d.DurationSeconds, d.DurationFrom = m, FromContainer
	}
}

// NeedsPackets says whether the container's own statement of times cannot be
// trusted, and why; then every packet's time has to be read. Ordinary files do not
// need it.
func (d *Document) NeedsPackets(f Format) (reason string, needed bool) {
	still := len(d.Streams) == 1 && d.Streams[0].Video != nil && d.Streams[0].Video.StillImage
	seconds := d.DurationSeconds.Seconds()
	switch {
	case still || len(d.Streams) == 0:
		return "", false
	case d.DurationSeconds <= 0:
		return "the container states no length", true
	case f.Fragmented:
		return "the index is in fragments", true
	case d.Truncated:
		return "the file is cut off", true
	case slices.Contains([]string{"image/gif", "image/apng", "image/avif", "audio/aac", "audio/ac3", "video/h264", "video/h265"}, d.MediaType):
		return "this format states no lengths", true
	case d.MediaType == "audio/mpeg" && len(f.Notes) > 0:
		return "the first frame is not at the start of the file", true
	case seconds > 60 && d.SizeBytes > 0 && float64(d.SizeBytes)*8/seconds < d.leastBitRate():
		return "the stated length is absurd for the file's size", true
	case strings.HasPrefix(d.FormatName, "matroska") && d.StartSeconds > 0:
		return "the stated length may or may not count the late start", true
	}
	for i := range d.Streams {
		if reason, needed = d.Streams[i].needsPackets(d); needed {
			return reason, true
		}
	}
	return "", false
}

// maxVFRScan bounds the files that are read through only to tell whether their
// frames are unevenly spaced.
const maxVFRScan = 256 << 20

func (s *Stream) needsPackets(d *Document) (string, bool) {
	switch {
	case s.Video == nil:
		return "", false
	case strings.HasPrefix(d.FormatName, "mov") && s.Frames == 0 && s.Decodable:
		return "a track states no frames", true
	case !s.Video.FrameRate.Known():
		return "the container states no usable frame rate", true
	case s.Video.VFR.Variable && d.SizeBytes <= maxVFRScan:
		return "the stated frame rates differ", true
	case strings.HasPrefix(d.FormatName, "matroska") && !s.Video.FrameRate.usual() && d.SizeBytes <= maxVFRScan:
		return "the stated frame rate is none that cameras have: Matroska states one even where frames are unevenly spaced", true
	}
	return "", false
}

// leastBitRate is a bit rate that no real recording of these streams goes below.
func (d *Document) leastBitRate() float64 {
	least := 40.0
	for i := range d.Streams {
		if s := &d.Streams[i]; s.Audio != nil && strings.HasPrefix(s.CodecName, "pcm_") {
			least += 4 * float64(s.Audio.SampleRate)
		} else if s.Audio != nil {
			least += 100
		}
	}
	return least
}
