package lens

import (
	"slices"

	"cutroom"
)

// Verdict is what the size and the length of a medium allow.
type Verdict string

// The verdicts.
const (
	Full         Verdict = "full"         // sent as it is
	Reencode     Verdict = "reencode"     // a smaller copy of a video
	SampleFrames Verdict = "sampleFrames" // pictures of a video
	Segment      Verdict = "segment"      // parts of a recording, cut at silences
	Downsample   Verdict = "downsample"   // a smaller copy of a recording or a picture
)

// Sizes are the borders between the verdicts; a zero one bounds nothing.
type Sizes struct {
	VideoFullBytes     int64          `json:"video_full_bytes"`
	VideoReencodeBytes int64          `json:"video_reencode_bytes"`
	VideoFullLength    cutroom.Micros `json:"video_full_length"`
	AudioFullBytes     int64          `json:"audio_full_bytes"`
	AudioFullLength    cutroom.Micros `json:"audio_full_length"`
	AudioPart          cutroom.Micros `json:"audio_part"`    // about how long a part is
	AudioOverlap       cutroom.Micros `json:"audio_overlap"` // of neighbouring parts
	ImageFullBytes     int64          `json:"image_full_bytes"`
	ImageFullSide      int            `json:"image_full_side"` // px
}

// DefaultSizes are those without configuration. A megabyte is 10^6 bytes.
func DefaultSizes() Sizes {
	return Sizes{
		VideoFullBytes: 10_000_000, VideoReencodeBytes: 19_000_000, VideoFullLength: 600 * cutroom.Second,
		AudioFullBytes: 10_000_000, AudioFullLength: 600 * cutroom.Second, AudioPart: 300 * cutroom.Second, AudioOverlap: 2 * cutroom.Second,
		ImageFullBytes: 4_000_000, ImageFullSide: 2048,
	}
}

// Facts are what a verdict turns on. What is not known is zero: it bounds nothing.
type Facts struct {
	Bytes  int64          // of the file
	Length cutroom.Micros // of the range that is to be read
	Whole  cutroom.Micros // of the file
	Side   int            // longest side of a picture, px
	Form   string         // media type of the file
}

// bytes are those of the range: a part of a file is taken to have its share of them.
func (f Facts) bytes() int64 {
	if f.Whole <= 0 || f.Length >= f.Whole || f.Length <= 0 {
		return f.Bytes
	}
	return int64(float64(f.Bytes) * float64(f.Length) / float64(f.Whole))
}

// part says whether the range is not the whole file: it has to be cut out to be sent.
func (f Facts) part() bool { return f.Length > 0 && f.Length < f.Whole }

// Step is one step of a chain.
type Step string

// The steps. Those of one step may be several readers; Registered, Configured,
// Multimodal, Smaller and Endpoint are asked, the others are work of this machine.
const (
	Registered Step = "registered"
	Configured Step = "configured"
	Multimodal Step = "multimodal"
	Smaller    Step = "reencode:multimodal"
	FrameRead  Step = "frames"
	Endpoint   Step = "asr"
	Speech     Step = "local:speech"
	Looking    Step = "local:ocr" // text, and objects where they can be found
	Metadata   Step = "local:metadata"
)

// Row is one line of the table: a verdict with its chain.
type Row struct {
	Medium  Medium
	Verdict Verdict
	// Holds says whether the facts get this verdict; the first row of a medium that
	// holds counts.
	Holds func(Sizes, Facts) bool
	Chain []Step
}

// Table is every verdict and the chain that follows from it, in order.
func Table() []Row {
	sound := []Step{Multimodal, Endpoint, Speech, Metadata}
	picture := []Step{Registered, Configured, Looking, Metadata}
	return []Row{
		{Video, Full, fullVideo, []Step{Multimodal, FrameRead, Metadata}}, // small and short
		{Video, Reencode, func(s Sizes, f Facts) bool {
			return within(f.bytes(), s.VideoReencodeBytes) && within(f.Length, s.VideoFullLength)
		}, []Step{Smaller, FrameRead, Metadata}}, // short, and not large
		{Video, SampleFrames, always, []Step{FrameRead, Metadata}},                                                    // large or long
		{Audio, Segment, func(s Sizes, f Facts) bool { return !within(f.Length, s.AudioFullLength) }, sound},          // long
		{Audio, Full, func(s Sizes, f Facts) bool { return within(f.bytes(), s.AudioFullBytes) && !f.part() }, sound}, // small and short
		{Audio, Downsample, always, sound}, // short and large, or a part of a recording
		{Image, Full, func(s Sizes, f Facts) bool {
			return within(f.Bytes, s.ImageFullBytes) && within(f.Side, s.ImageFullSide)
		}, picture}, // small
		{Image, Downsample, always, picture}, // large
	}
}

// fullVideo says whether a video may be sent as it is. A part of one may not: it has to
// be cut out.
func fullVideo(s Sizes, f Facts) bool {
	return within(f.bytes(), s.VideoFullBytes) && within(f.Length, s.VideoFullLength) && !f.part()
}

func always(Sizes, Facts) bool { return true }

func within[N int | int64 | cutroom.Micros](n, most N) bool { return most <= 0 || n <= most }

// Judge returns the verdict on a medium and its chain.
func Judge(m Medium, s Sizes, f Facts) Row {
	for _, r := range Table() {
		if r.Medium == m && r.Holds(s, f) {
			return r
		}
	}
	return Row{Medium: m, Verdict: SampleFrames, Chain: []Step{Metadata}}
}

// SentAs are the media types that services take as they are; what is of another type is
// sent as a copy.
func SentAs(m Medium, mediaType string) bool {
	switch m {
	case Video:
		return slices.Contains([]string{"video/mp4", "video/webm", "video/quicktime", "video/mpeg"}, mediaType)
	case Audio:
		return slices.Contains([]string{"audio/mpeg", "audio/wav"}, mediaType)
	}
	return slices.Contains([]string{"image/jpeg", "image/png", "image/webp", "image/gif"}, mediaType)
}
