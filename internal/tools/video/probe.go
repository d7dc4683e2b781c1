package video

import (
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// Probe says what a media file is.
var Probe = tool.Add(Family, tool.Spec[ProbeInput, ProbeOutput]{
	Name:        "video.probe",
	Summary:     "Describe a media file: length, streams, size, rate, colour, sound",
	Description: "Find out what a local media file is before doing anything with it: how long it really lasts (measured when the container cannot be trusted), which streams it has, how large the picture is as shown. Cover art is never called video. With detail full: rotation, aspect, exact rate, variable rate, HDR, alpha, chapters, start offsets and problems found.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Timeout:     30 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe"}, Optional: []tool.Optional{{Program: "ffmpeg", When: "a file in which perhaps nothing can be decoded"}}},
	Formats:     mediaFormats,
	Examples:    []ProbeInput{{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: "talk.mp4"}}},
	Plan:        func(tool.Facts, ProbeInput) (tool.Plan, error) { return tool.Plan{}, nil },
	Interpret:   describe,
})

// ProbeInput is the request.
type ProbeInput struct {
	Source cutroom.Source `json:"source" doc:"The media file (kind local_file)."`
	Detail Detail         `json:"detail,omitempty" enum:"basic,full" default:"basic" since:"1.3" doc:"basic answers as 1.2.0 did; full adds the whole description as media."`
	Limits Limits         `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses other kinds of source.
func (in ProbeInput) Validate() error { return localOnly(in.Source, "video.probe") }

// Bounds are the limits of the call.
func (in ProbeInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// ProbeOutput is the answer.
type ProbeOutput struct {
	cutroom.Output
	DurationSeconds *cutroom.Micros  `json:"duration_seconds,omitempty" min:"0" unit:"s" doc:"Length from zero to the end of the last stream; absent for a still picture or when unknown."`
	FormatName      string           `json:"format_name,omitempty" doc:"Demuxer that read the file."`
	Streams         []MediaStream    `json:"streams" doc:"The streams. Cover art is listed as attachment."`
	Media           *ffmpeg.Document `json:"media,omitempty" since:"1.3" doc:"The whole description."`
}

// MediaStream is one stream in the form of 1.2.0.
type MediaStream struct {
	Index     int    `json:"index" min:"0" doc:"Number of the stream in the file."`
	CodecType string `json:"codec_type" enum:"video,audio,subtitle,data,attachment,unknown" doc:"What the stream carries."`
	CodecName string `json:"codec_name,omitempty" doc:"Codec, when known."`
	Width     *int   `json:"width,omitempty" min:"0" unit:"px" doc:"Coded width of a picture."`
	Height    *int   `json:"height,omitempty" min:"0" unit:"px" doc:"Coded height of a picture."`
}

func describe(f tool.Facts, in ProbeInput, _ tool.Results) (ProbeOutput, error) {
	file, _ := f.First()
	doc := file.Media
	out := ProbeOutput{FormatName: doc.FormatName, Streams: []MediaStream{}}
	if doc.DurationFrom != ffmpeg.Unknown && doc.DurationSeconds > 0 {
		out.DurationSeconds = &doc.DurationSeconds
	}
	for _, s := range doc.Streams {
		out.Streams = append(out.Streams, mediaStream(s))
	}
	for _, s := range doc.CoverArt {
		m := mediaStream(s)
		m.CodecType = "attachment"
		out.Streams = append(out.Streams, m)
	}
	if in.Detail == full {
		out.Media = doc
	}
	for _, p := range faults(doc) {
		out.AddReason(p)
	}
	return out, nil
}

func mediaStream(s ffmpeg.Stream) MediaStream {
	m := MediaStream{Index: s.Index, CodecType: s.CodecType, CodecName: s.CodecName}
	if s.Video != nil {
		m.Width, m.Height = &s.Video.Width, &s.Video.Height
	}
	return m
}

// faults are the reasons for which a description is not the whole truth.
func faults(doc *ffmpeg.Document) []string {
	var reasons []string
	if doc.Truncated {
		reasons = append(reasons, "the file ends before what it promises")
	}
	for _, s := range doc.Streams {
		if !s.Decodable && (s.Video != nil || s.Audio != nil) {
			reasons = append(reasons, "the "+s.CodecType+" stream ("+s.CodecName+") cannot be decoded here")
		}
	}
	return reasons
}
