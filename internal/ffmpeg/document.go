package ffmpeg

import (
	"slices"

	"cutroom"
)

// DurationFrom says how a duration was learned.
type DurationFrom string

// The ways to learn a duration, from the cheapest to the surest.
const (
	FromContainer DurationFrom = "container"
	FromPackets   DurationFrom = "packets"
	FromDecoding  DurationFrom = "decoded"
	Unknown       DurationFrom = "unknown"
)

// Document describes one media file. Times are on the public axis: zero is where
// playback starts, which is container_start_seconds when that is positive, else the
// file's own zero (a negative start is codec priming).
type Document struct {
	Kind            Kind           `json:"kind" enum:"video,audio,image,subtitle" doc:"What the file is. Cover art does not make an audio file a video."`
	FormatName      string         `json:"format_name" doc:"Name of the demuxer that read the file."`
	MediaType       string         `json:"media_type" doc:"Media type by content."`
	SizeBytes       int64          `json:"size_bytes" min:"0" unit:"B" doc:"Size of the file."`
	DurationSeconds cutroom.Micros `json:"duration_seconds" min:"0" unit:"s" doc:"Length from zero to the end of the last stream. 0 for a still picture, or when unknown."`
	DurationFrom    DurationFrom   `json:"duration_from" enum:"container,packets,decoded,unknown" doc:"How the duration was learned."`
	ZeroSeconds     cutroom.Micros `json:"zero_seconds" min:"0" unit:"s" doc:"Where zero of the public axis lies on the file's own timeline."`
	StartSeconds    cutroom.Micros `json:"container_start_seconds" unit:"s" doc:"Start that the container states; negative for codec priming."`
	BitRate         int64          `json:"bit_rate,omitempty" min:"0" unit:"bit/s" doc:"Bit rate of the whole file."`
	Streams         []Stream       `json:"streams" doc:"The streams, cover art apart."`
	CoverArt        []Stream       `json:"cover_art,omitempty" doc:"Pictures attached to the file, which are not video."`
	Chapters        []Chapter      `json:"chapters,omitempty" doc:"Chapter marks."`
	Timecode        *TimecodeTag   `json:"timecode,omitempty" doc:"Timecode that the file carries for its first frame."`
	Title           string         `json:"title,omitempty" doc:"Title tag of the file; untrusted text."`
	Truncated       bool           `json:"truncated" doc:"The file ends before what it promises."`
	Problems        []string       `json:"problems" doc:"What is wrong or unusual, in words."`

	tags map[string]string // by lower-case name; known of a file that was just probed only
}

// Stream is one stream of a file.
type Stream struct {
	Index         int            `json:"index" min:"0" doc:"Number of the stream in the file."`
	CodecType     string         `json:"codec_type" enum:"video,audio,subtitle,data,attachment" doc:"What the stream carries."`
	CodecName     string         `json:"codec_name" doc:"Codec, or unknown when this ffmpeg does not know it."`
	CodecTag      string         `json:"codec_tag,omitempty" doc:"Four-character code of the container."`
	Profile       string         `json:"profile,omitempty" doc:"Profile of the codec."`
	Decodable     bool           `json:"decodable" doc:"Whether this ffmpeg decodes it."`
	TimeBase      Rational       `json:"time_base,omitzero" doc:"Seconds per tick."`
	StartTicks    Ticks          `json:"start_ticks" doc:"First presentation time, on the file's timeline."`
	DurationTicks Ticks          `json:"duration_ticks,omitempty" doc:"Length in ticks, when known."`
	StartSeconds  cutroom.Micros `json:"start_seconds" unit:"s" doc:"First presentation time, on the public axis."`
	EndSeconds    cutroom.Micros `json:"end_seconds,omitempty" unit:"s" doc:"End of the last frame or sample, on the public axis, when known."`
	BitRate       int64          `json:"bit_rate,omitempty" min:"0" unit:"bit/s" doc:"Bit rate that the container states."`
	Frames        int64          `json:"frames,omitempty" min:"0" doc:"Frames or packets, when counted or stated."`
	Language      string         `json:"language,omitempty" doc:"Language tag; absent when undetermined."`
	Title         string         `json:"title,omitempty" doc:"Title tag; untrusted text."`
	Disposition   []string       `json:"disposition,omitempty" doc:"Marks that are set: default, forced, hearing_impaired …"`
	AttachedPic   bool           `json:"attached_pic,omitempty" doc:"Cover art."`
	Video         *VideoFacts    `json:"video,omitempty" doc:"Facts of a video stream."`
	Audio         *AudioFacts    `json:"audio,omitempty" doc:"Facts of an audio stream."`
	Text          *bool          `json:"text,omitempty" doc:"For subtitles: whether they are text; bitmap subtitles are pictures."`

	KeyGap cutroom.Micros `json:"key_frame_gap_seconds,omitempty" unit:"s" doc:"Longest distance between key frames, when packets were read."`

	startKnown bool // the container states StartTicks; used while probing only
}

// VideoFacts are the facts of a video stream.
type VideoFacts struct {
	Width         int      `json:"width" min:"0" unit:"px" doc:"Width of the coded picture."`
	Height        int      `json:"height" min:"0" unit:"px" doc:"Height of the coded picture."`
	DisplayWidth  int      `json:"display_width" min:"0" unit:"px" doc:"Width as shown: square pixels, turned upright."`
	DisplayHeight int      `json:"display_height" min:"0" unit:"px" doc:"Height as shown: square pixels, turned upright."`
	SAR           Rational `json:"sample_aspect_ratio,omitzero" doc:"Width of a sample over its height; absent when not stated (square)."`
	Rotation      int      `json:"rotation" unit:"degrees clockwise" doc:"Turn that makes the picture upright: 0, 90, 180 or 270 clockwise, applied after mirroring."`
	Mirrored      bool     `json:"mirrored" doc:"Whether the picture is flipped left to right, before it is turned."`
	RotationFrom  string   `json:"rotation_from,omitempty" enum:"display_matrix,tag,exif" doc:"Where the rotation was found."`
	FrameRate     Rational `json:"frame_rate,omitzero" doc:"Exact frame rate, frames per second."`
	AverageRate   Rational `json:"average_frame_rate,omitzero" doc:"Frames over duration, as the container or the packets say."`
	VFR           Verdict  `json:"variable_frame_rate" doc:"Whether frames are unevenly spaced."`
	PixelFormat   string   `json:"pixel_format,omitempty" doc:"Pixel format in ffmpeg's name."`
	BitDepth      int      `json:"bit_depth,omitempty" min:"0" doc:"Bits per component."`
	Range         string   `json:"color_range,omitempty" doc:"tv (limited) or pc (full)."`
	Primaries     string   `json:"color_primaries,omitempty" doc:"Colour primaries."`
	Transfer      string   `json:"color_transfer,omitempty" doc:"Transfer curve."`
	Matrix        string   `json:"color_matrix,omitempty" doc:"Matrix coefficients."`
	HDR           string   `json:"hdr,omitempty" enum:"pq,hlg" doc:"High dynamic range, decided by the transfer curve alone."`
	DolbyVision   int      `json:"dolby_vision_profile,omitempty" doc:"Dolby Vision profile, when it is there."`
	MasterDisplay string   `json:"mastering_display,omitempty" doc:"HDR10: primaries and white point of the display that it was graded on, in 0.00002, and its luminance, in 0.0001 cd/m², as G(x,y)B(x,y)R(x,y)WP(x,y)L(max,min)."`
	LightLevel    string   `json:"content_light_level,omitempty" doc:"HDR10: brightest pixel and brightest frame on average, in cd/m², as max,average."`
	FieldOrder    string   `json:"field_order,omitempty" doc:"progressive, tt, bb, tb or bt."`
	Alpha         bool     `json:"alpha" doc:"Whether the picture is transparent somewhere, alpha kept beside VP8/VP9 included."`
	Captions      bool     `json:"closed_captions,omitempty" doc:"CEA-608/708 captions inside the picture stream."`
	StillImage    bool     `json:"still_image,omitempty" doc:"One picture, not a moving one."`

	baseRate Rational // the container's base rate; used while probing only
}

// Verdict is a yes or no with its evidence.
type Verdict struct {
	Variable bool   `json:"variable" doc:"The verdict."`
	Evidence string `json:"evidence" doc:"What it rests on."`
	Measured bool   `json:"measured" doc:"Whether packet times were read; otherwise the container's rates were compared."`
}

// AudioFacts are the facts of an audio stream.
type AudioFacts struct {
	SampleRate   int    `json:"sample_rate" min:"0" unit:"Hz" doc:"Sampling rate."`
	Channels     int    `json:"channels" min:"0" doc:"Number of channels."`
	Layout       string `json:"channel_layout,omitempty" doc:"Layout of the channels."`
	SampleFormat string `json:"sample_format,omitempty" doc:"Sample format in ffmpeg's name."`
	BitDepth     int    `json:"bit_depth,omitempty" min:"0" doc:"Bits per sample of PCM and lossless sound."`
}

// Chapter is one chapter mark.
type Chapter struct {
	StartSeconds cutroom.Micros `json:"start_seconds" unit:"s" doc:"Start on the public axis."`
	EndSeconds   cutroom.Micros `json:"end_seconds" unit:"s" doc:"End on the public axis."`
	Title        string         `json:"title,omitempty" doc:"Title; untrusted text."`
}

// TimecodeTag is a timecode that a file carries.
type TimecodeTag struct {
	Start     string   `json:"start" doc:"Label of the first frame."`
	DropFrame bool     `json:"drop_frame" doc:"Whether the label counts drop-frame (its last separator is a semicolon)."`
	Rate      Rational `json:"rate,omitzero" doc:"Frame rate that the label counts at."`
}

// FirstVideo returns the stream that a viewer would watch, nil when there is none:
// the default one first, never cover art.
func (d *Document) FirstVideo() *Stream {
	var first *Stream
	for i := range d.Streams {
		s := &d.Streams[i]
		if s.Video == nil {
			continue
		}
		if slices.Contains(s.Disposition, "default") {
			return s
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// AudioStreams returns the audio streams in order.
func (d *Document) AudioStreams() []*Stream { return d.ofType("audio") }

// SubtitleStreams returns the subtitle streams in order.
func (d *Document) SubtitleStreams() []*Stream { return d.ofType("subtitle") }

func (d *Document) ofType(t string) []*Stream {
	var list []*Stream
	for i := range d.Streams {
		if d.Streams[i].CodecType == t {
			list = append(list, &d.Streams[i])
		}
	}
	return list
}

// AudioStream returns the n-th audio stream, counted from 0. What is missing is an
// error for the caller: a file without sound, or fewer streams than asked.
func (d *Document) AudioStream(n int) (*Stream, error) {
	list := d.AudioStreams()
	switch {
	case len(list) == 0:
		return nil, cutroom.Errorf(cutroom.Invalid, "the file has no audio stream").WithHint("give a file with sound, or leave out what listens to it")
	case n < 0 || n >= len(list):
		return nil, cutroom.Errorf(cutroom.Invalid, "there is no audio stream %d: the file has %d", n, len(list)).WithHint("choose audio_stream 0 to %d", len(list)-1)
	case !list[n].Decodable:
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the audio codec (%s) cannot be decoded by this ffmpeg", list[n].CodecName).WithHint("convert the audio to AAC, FLAC or WAV")
	}
	return list[n], nil
}

// VideoStream returns the stream that a viewer would watch, or an error for the
// caller: no pictures, or a codec this ffmpeg does not decode.
func (d *Document) VideoStream() (*Stream, error) {
	s := d.FirstVideo()
	switch {
	case s == nil:
		return nil, cutroom.Errorf(cutroom.Invalid, "the file has no video stream").WithHint("give a video or a picture; cover art is not video")
	case !s.Decodable && s.CodecName == "unknown":
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this ffmpeg does not know the video codec (%s)", s.CodecTag).WithHint("convert the video to H.264, or install a newer ffmpeg")
	case !s.Decodable:
		return nil, cutroom.Errorf(cutroom.UnreadableMedia, "the video (%s) is damaged or cannot be decoded by this ffmpeg: no frame comes out", s.CodecName).WithHint("copy or download the file again, or convert it to H.264")
	}
	return s, nil
}

// Time returns ticks of stream s as a time on the public axis.
func (d *Document) Time(s *Stream, t Ticks) cutroom.Micros {
	return t.Micros(s.TimeBase) - d.ZeroSeconds
}

func (d *Document) problem(text string) {
	if !slices.Contains(d.Problems, text) {
		d.Problems = append(d.Problems, text)
	}
}
