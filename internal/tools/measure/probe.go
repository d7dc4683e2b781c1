package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// Probe describes media files as an editor needs them described.
var Probe = tool.Add(Family, tool.Spec[ProbeInput, ProbeOutput]{
	Name:        "measure.probe",
	Summary:     "Say what media files are: length, picture, sound, streams, problems",
	Description: "Find out what a media file really is before you use it: measured length, size as shown (turned, square pixels), exact and variable frame rate, bit depth, colour, HDR, alpha, sound, subtitles, chapters, timecode and what is wrong with it. Takes several files. Costs one quick look, no decode; analyze decodes forty pictures of each video, for their levels.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    2,
	Short:       "probe",
	Timeout:     2 * time.Minute,
	Needs: tool.Needs{Programs: []string{"ffprobe"}, Optional: []tool.Optional{
		{Program: "ffmpeg", When: "analyze, and a file in which perhaps nothing can be decoded"}, {Filter: "signalstats", When: "analyze"},
	}},
	Examples: []ProbeInput{
		{Inputs: []cutroom.InPath{"talk.mp4"}},
		{Inputs: []cutroom.InPath{"talk.mp4"}, Field: "video.frame_rate"},
		{Inputs: []cutroom.InPath{"talk.mp4", "ride.mp4"}, Compact: true},
	},
	Plan:      planProbe,
	Interpret: describe,
})

// ProbeInput is the request.
type ProbeInput struct {
	Inputs  []cutroom.InPath `json:"inputs" items:"1..32" doc:"The files."`
	Compact bool             `json:"compact,omitempty" rare:"true" doc:"Say each file in one line of text; the command prints that in place of JSON."`
	Field   string           `json:"field,omitempty" max:"200" doc:"Say one value of each file, by its dotted path: duration_seconds, video.frame_rate, audio.1.language; of a list the first without a number. The command prints that alone. Excludes compact."`
	Analyze bool             `json:"analyze,omitempty" rare:"true" doc:"Measure the levels of pictures too, and whether they look like log footage: ffmpeg decodes the first twenty seconds."`
	Limits  Limits           `json:"limits,omitzero" doc:"Bounds of each file."`
}

// Validate refuses a field that no description has.
func (in ProbeInput) Validate() error {
	switch {
	case in.Field == "":
		return nil
	case in.Compact:
		return cutroom.Errorf(cutroom.Invalid, "field and compact exclude each other").WithHint("give one of them")
	}
	return checkField(in.Field)
}

// Bounds are the limits of the call.
func (in ProbeInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// ProbeOutput is the answer.
type ProbeOutput struct {
	cutroom.Output
	Files []ProbedFile `json:"files" doc:"One description per file, in the order asked. What is not there or not known is left out."`
}

// ProbedFile is what one file is. Times count from where playback starts.
type ProbedFile struct {
	Line     string              `json:"line,omitempty" doc:"What it is in one line, when compact was asked for."`
	Value    *string             `json:"value,omitempty" doc:"What field asked for; empty when the file has no such value."`
	File     string              `json:"file" doc:"Where the file is, safe to show."`
	Kind     string              `json:"kind" enum:"video,audio,image,subtitle" doc:"Cover art does not make sound a video."`
	Format   string              `json:"format" doc:"Demuxer that reads it."`
	Media    string              `json:"media_type" doc:"Media type by content."`
	Size     int64               `json:"size_bytes" min:"0" unit:"B" doc:"Size of the file."`
	Duration *cutroom.Micros     `json:"duration_seconds,omitempty" min:"0" unit:"s" doc:"Length to the end of the last stream."`
	From     string              `json:"duration_from,omitempty" enum:"container,packets,decoded,unknown" doc:"How the length is known."`
	Zero     cutroom.Micros      `json:"zero_seconds,omitempty" unit:"s" doc:"Where playback starts on the file's own clock."`
	Start    cutroom.Micros      `json:"container_start_seconds,omitempty" unit:"s" doc:"What the container states as start, when that is another; negative for codec priming."`
	BitRate  int64               `json:"bit_rate,omitempty" unit:"bit/s" doc:"Of the whole file."`
	Title    string              `json:"title,omitempty" doc:"Untrusted text."`
	Timecode *ffmpeg.TimecodeTag `json:"timecode,omitempty" doc:"Timecode of the first frame."`
	Video    []ProbedVideo       `json:"video,omitempty" doc:"The streams of pictures, the main one first."`
	Audio    []ProbedAudio       `json:"audio,omitempty" doc:"The streams of sound."`
	Other    []ProbedStream      `json:"other,omitempty" doc:"Subtitles, data, attachments and cover art."`
	Chapters []ffmpeg.Chapter    `json:"chapters,omitempty" doc:"Chapter marks."`
	Problems []string            `json:"problems,omitempty" doc:"What is wrong or unusual."`
}

// ProbedStream is what every stream has.
type ProbedStream struct {
	Index    int             `json:"index" min:"0" doc:"Number in the file."`
	Type     string          `json:"type" enum:"video,audio,subtitle,data,attachment,cover_art" doc:"What it carries."`
	Codec    string          `json:"codec" doc:"Codec, or unknown."`
	Tag      string          `json:"codec_tag,omitempty" doc:"Four-character code."`
	Profile  string          `json:"profile,omitempty" doc:"Profile of the codec."`
	Decodes  *bool           `json:"decodes,omitempty" doc:"False when nothing of it can be decoded here."`
	Start    cutroom.Micros  `json:"start_seconds,omitempty" unit:"s" doc:"First frame or sample."`
	End      *cutroom.Micros `json:"end_seconds,omitempty" unit:"s" doc:"End of the last one."`
	BitRate  int64           `json:"bit_rate,omitempty" unit:"bit/s" doc:"As the container states."`
	Language string          `json:"language,omitempty" doc:"Language tag."`
	Title    string          `json:"title,omitempty" doc:"Untrusted text."`
	Marks    []string        `json:"disposition,omitempty" doc:"Marks: default, forced …"`
	Text     *bool           `json:"text,omitempty" doc:"Of subtitles: text, not pictures."`
}

// ProbedVideo is a stream of pictures.
type ProbedVideo struct {
	ProbedStream
	Width       int             `json:"width" unit:"px" doc:"As shown: upright, square pixels."`
	Height      int             `json:"height" unit:"px" doc:"As shown."`
	Coded       []int           `json:"coded_size,omitempty" doc:"Coded width and height, when they are not those shown."`
	SAR         ffmpeg.Rational `json:"sample_aspect_ratio,omitzero" doc:"When not square."`
	DAR         ffmpeg.Rational `json:"display_aspect_ratio,omitzero" doc:"Of the upright picture, when samples are not square."`
	Rotation    int             `json:"rotation,omitempty" unit:"degrees clockwise" doc:"Turn that makes it upright."`
	Mirrored    bool            `json:"mirrored,omitempty" doc:"Flipped before it is turned."`
	FrameRate   ffmpeg.Rational `json:"frame_rate,omitzero" doc:"Exact, frames per second."`
	Average     ffmpeg.Rational `json:"average_frame_rate,omitzero" doc:"When it is another."`
	Variable    *bool           `json:"variable_frame_rate,omitempty" doc:"Frames are unevenly spaced."`
	Measured    bool            `json:"variable_measured,omitempty" doc:"Packet times say so; else the stated rates were compared."`
	Evidence    string          `json:"variable_evidence,omitempty" doc:"What that rests on, when variable."`
	Frames      int64           `json:"frames,omitempty" doc:"Counted or stated."`
	Shown       int64           `json:"frames_shown,omitempty" doc:"About how many of them are shown, when an edit list hides some."`
	KeyGap      cutroom.Micros  `json:"key_frame_gap_seconds,omitempty" unit:"s" doc:"Longest distance between key frames, when packets were read."`
	PixelFormat string          `json:"pixel_format,omitempty" doc:"ffmpeg's name."`
	BitDepth    int             `json:"bit_depth,omitempty" doc:"Bits per component."`
	Range       string          `json:"color_range,omitempty" doc:"tv or pc."`
	Primaries   string          `json:"color_primaries,omitempty" doc:"H.273 name."`
	Transfer    string          `json:"color_transfer,omitempty" doc:"H.273 name."`
	Matrix      string          `json:"color_matrix,omitempty" doc:"H.273 name."`
	HDR         string          `json:"hdr,omitempty" enum:"pq,hlg" doc:"By the transfer curve alone."`
	DolbyVision int             `json:"dolby_vision_profile,omitempty" doc:"When it is there."`
	FieldOrder  string          `json:"field_order,omitempty" doc:"When interlaced: tt, bb, tb or bt."`
	Alpha       bool            `json:"alpha,omitempty" doc:"Transparent somewhere."`
	Levels      *ffmpeg.Levels  `json:"levels,omitempty" doc:"When analyze was asked for."`
	Captions    bool            `json:"closed_captions,omitempty" doc:"CEA-608/708 inside."`
	Still       bool            `json:"still_image,omitempty" doc:"One picture."`
}

// ProbedAudio is a stream of sound.
type ProbedAudio struct {
	ProbedStream
	SampleRate   int    `json:"sample_rate" unit:"Hz" doc:"Sampling rate."`
	Channels     int    `json:"channels" doc:"Number of channels."`
	Layout       string `json:"channel_layout,omitempty" doc:"Layout."`
	SampleFormat string `json:"sample_format,omitempty" doc:"ffmpeg's name."`
	BitDepth     int    `json:"bit_depth,omitempty" doc:"Bits per sample, of PCM and lossless sound."`
}

func describe(f tool.Facts, asked ProbeInput, r tool.Results) (ProbeOutput, error) {
	out := ProbeOutput{Files: []ProbedFile{}}
	for i, in := range f.Inputs {
		if in.Media == nil {
			return out, fmt.Errorf("input %d was not probed", i)
		}
		// By number: the same content answers under another name too.
		which := "the file"
		if len(f.Inputs) > 1 {
			which = fmt.Sprintf("file %d", i+1)
		}
		for _, s := range in.Media.Streams {
			if !s.Decodable && (s.Video != nil || s.Audio != nil) {
				out.AddReason(fmt.Sprintf("%s: the %s stream %d (%s) cannot be decoded here", which, s.CodecType, s.Index, s.CodecName))
			}
		}
		if in.Media.Truncated {
			out.AddReason(which + " ends before what it promises")
		}
		file := probed(in.Locator, in.Media)
		if asked.Analyze && len(file.Video) > 0 {
			if res, ran := r.Step(levelStep(i)); ran {
				var err error
				if file.Video[0].Levels, err = ffmpeg.Levelled(res); err != nil {
					out.AddReason(fmt.Sprintf("%s: no levels: %s", which, cutroom.AsError(err).Msg))
				}
			}
		}
		if err := file.answer(asked); err != nil {
			return out, err
		}
		out.Files = append(out.Files, file)
	}
	return out, nil
}

// Locate names the files of a recorded answer as this call does.
func (o *ProbeOutput) Locate(files []string) {
	for i := range o.Files {
		if i < len(files) {
			o.Files[i].File = files[i]
		}
	}
}

// probed is a description without what says nothing.
func probed(name string, d *ffmpeg.Document) ProbedFile {
	p := ProbedFile{
		File: name, Kind: string(d.Kind), Format: d.FormatName, Media: d.MediaType, Size: d.SizeBytes, From: string(d.DurationFrom),
		Zero: d.ZeroSeconds, BitRate: d.BitRate, Title: d.Title, Timecode: d.Timecode, Chapters: d.Chapters, Problems: slices.Clone(d.Problems),
	}
	if d.StartSeconds != d.ZeroSeconds {
		p.Start = d.StartSeconds
	}
	if d.DurationFrom != ffmpeg.Unknown && d.DurationSeconds > 0 {
		p.Duration = &d.DurationSeconds
	} else if p.From == string(ffmpeg.Unknown) && d.Kind == ffmpeg.Image {
		p.From = ""
	}
	main := d.FirstVideo()
	for i := range d.Streams {
		s := &d.Streams[i]
		switch {
		case s.Video != nil:
			v := picture(s)
			if v.Shown = shown(s, d); v.Shown > 0 {
				p.Problems = append(p.Problems, fmt.Sprintf("stream %d holds %d frames, of which an edit list shows about %d: a copy without re-encoding keeps the others", s.Index, s.Frames, v.Shown))
			}
			at := len(p.Video)
			if s == main {
				at = 0
			}
			p.Video = slices.Insert(p.Video, at, v)
		case s.Audio != nil:
			a := s.Audio
			p.Audio = append(p.Audio, ProbedAudio{stream(s), a.SampleRate, a.Channels, a.Layout, a.SampleFormat, a.BitDepth})
		default:
			p.Other = append(p.Other, stream(s))
		}
	}
	for i := range d.CoverArt {
		c := stream(&d.CoverArt[i])
		c.Type, c.Start, c.End = "cover_art", 0, nil // a picture that is beside time
		p.Other = append(p.Other, c)
	}
	return p
}

// shown is how many frames fit into the shown length of a track of an MP4 that holds
// more of them, 0 when it holds no more. One frame is within what rates are rounded to.
func shown(s *ffmpeg.Stream, d *ffmpeg.Document) int64 {
	v := s.Video
	if !strings.HasPrefix(d.FormatName, "mov") || d.Truncated || d.DurationFrom != ffmpeg.FromContainer || v.VFR.Variable || !v.FrameRate.Known() {
		return 0
	}
	fit := int64(math.Round((s.EndSeconds - s.StartSeconds).Seconds() * v.FrameRate.Float()))
	if fit < 1 || s.Frames < fit+2 {
		return 0
	}
	return fit
}

func stream(s *ffmpeg.Stream) ProbedStream {
	p := ProbedStream{
		Index: s.Index, Type: s.CodecType, Codec: s.CodecName, Tag: s.CodecTag, Profile: s.Profile, Start: s.StartSeconds,
		BitRate: s.BitRate, Language: s.Language, Title: s.Title, Marks: s.Disposition, Text: s.Text,
	}
	if strings.HasPrefix(p.Tag, "[") || p.Tag == s.CodecName {
		p.Tag = "" // a container without such codes
	}
	if p.Start == 1 || p.Start == -1 {
		p.Start = 0 // the container states its own start in whole microseconds
	}
	if !s.Decodable && (s.Video != nil || s.Audio != nil) {
		p.Decodes = &s.Decodable
	}
	if s.EndSeconds != 0 {
		p.End = &s.EndSeconds
	}
	return p
}

func picture(s *ffmpeg.Stream) ProbedVideo {
	v := s.Video
	p := ProbedVideo{
		ProbedStream: stream(s), Width: v.DisplayWidth, Height: v.DisplayHeight, Rotation: v.Rotation, Mirrored: v.Mirrored,
		PixelFormat: v.PixelFormat, BitDepth: v.BitDepth, Range: v.Range, Primaries: v.Primaries, Transfer: v.Transfer, Matrix: v.Matrix,
		HDR: v.HDR, DolbyVision: v.DolbyVision, Alpha: v.Alpha, Captions: v.Captions, Still: v.StillImage,
	}
	if v.Width != v.DisplayWidth || v.Height != v.DisplayHeight {
		p.Coded = []int{v.Width, v.Height}
	}
	if v.SAR.Known() && v.SAR.Num != v.SAR.Den {
		p.SAR, p.DAR = v.SAR, aspect(v)
	}
	if v.FieldOrder != "progressive" {
		p.FieldOrder = v.FieldOrder
	}
	if v.StillImage {
		return p // its rate is a default of the demuxer
	}
	p.FrameRate, p.Frames, p.KeyGap = v.FrameRate, s.Frames, s.KeyGap
	p.Variable, p.Measured = &v.VFR.Variable, v.VFR.Measured
	if v.AverageRate != v.FrameRate {
		p.Average = v.AverageRate
	}
	if v.VFR.Variable {
		p.Evidence = v.VFR.Evidence
	}
	return p
}

// aspect is the shape of the upright picture, exactly.
func aspect(v *ffmpeg.VideoFacts) ffmpeg.Rational {
	if v.Width < 1 || v.Height < 1 || v.SAR.Num > 1<<31 || v.SAR.Den > 1<<31 {
		return ffmpeg.Rational{}
	}
	r := ffmpeg.Rational{Num: int64(v.Width) * v.SAR.Num, Den: int64(v.Height) * v.SAR.Den}.Reduced()
	if v.Rotation%180 != 0 {
		return r.Inverse()
	}
	return r
}

// Bare is what the command line prints of the answer: the description alone, a list of
// them only when several files were asked about.
func (o *ProbeOutput) Bare() any {
	if len(o.Files) == 1 {
		return o.Files[0]
	}
	return o.Files
}
