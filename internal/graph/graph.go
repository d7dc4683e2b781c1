// Package graph is the operation graph: an edit as inputs, clips, what is done with the
// picture and the sound, and the file they become. Every rule about pictures, sound,
// streams and containers that an edit obeys is written here once.
//
// It promises one encode for a whole edit, exact frame counts, and an expectation of
// the written file that is derived from the graph. It is pure: it plans runs. It must
// never know a tool.
package graph

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
)

// Graph is one edit. Its parts apply in the order of its fields.
type Graph struct {
	Sources    []Source
	Clips      []Clip // what is shown, in order; at least one
	Transition Transition
	Repeat     Repeat   // of all clips
	Picture    *Picture // nil: the output has no picture
	Sound      *Sound   // nil: the output has no sound
	Keep       Keep
	Target     Target
	Memory     int64 // bytes of pictures that one run keeps to play them backwards; 0: 256 MiB
}

// Source is one file that clips come from.
type Source struct {
	Input  int // of the call; counts for nothing where Format is of a file of the private folder
	Format ffmpeg.Format
	Media  *ffmpeg.Document
	Name   string         // safe to show; for the edit map
	SHA256 cutroom.Digest // for the edit map
}

// Clip is one part of a source.
type Clip struct {
	Source     int
	Start, End cutroom.Micros // public axis of the source; End 0 is its end
	// Speed is how much faster it plays: 2/1 takes half the time. Zero is 1.
	Speed ffmpeg.Rational
	// Ramp lets the speed change evenly within it; Speed is its mean then.
	Ramp *Ramp
	// Resample lets the sound's pitch change with the speed, as that of a clock that
	// runs fast; otherwise it is kept.
	Resample bool
	// Lead is how long black and silence show before it; they belong to the clip.
	Lead cutroom.Micros
	// Exact begins the sound at Start to the sample, where it otherwise begins with the
	// picture's first frame; the picture is brought to one rate.
	Exact bool
	// Reverse plays it backwards, its sound too.
	Reverse bool
	// Frozen shows the frame at Start throughout; the sound goes on.
	Frozen bool
	// Hold shows the frame at Start, or a still picture, for so long, in silence.
	Hold cutroom.Micros
	// Motion moves over a picture that is held.
	Motion *Motion
	// Fill shows a colour for as long as Hold says, in the form of the source.
	Fill *Fill
	// Wave shows its sound in place of its picture ([Heard]).
	Wave *Wave
	// Enter is how it takes over from the clip before; nil: as the graph says.
	Enter *Transition
}

// Transition is how neighbouring clips meet. The zero value is a cut.
type Transition struct {
	Kind   string // of ffmpeg's xfade: fade, wipeleft …; "" or none is a cut
	Length cutroom.Micros
}

// Picture is what is done with the picture once the clips are joined.
type Picture struct {
	Copy          bool   // the packets are copied: no other field but Retag and StripDolby may ask for a change
	Retag         *Retag // of copied packets: what they say of their colours from now on
	StripDolby    bool   // of copied packets: the second layer of Dolby Vision is left out
	Turn          int    // 0, 90, 180, 270 clockwise, before everything else
	FlipX, FlipY  bool
	Tone          Tone   // where high dynamic range becomes standard range
	Looks         []Look // in order, on the picture as shown
	Crop          *Box   // in display coordinates after the turn, before the fit
	Width, Height int    // of the frame; 0: of the first clip, made even
	Fit           Fit
	PadColor      string          // a colour of ffmpeg; default black
	BlurRadius    int             // of a blurred background; default 20
	CropX, CropY  float64         // where a crop to the aspect lies: 0 left or top, 0.5 centre, 1 right or bottom
	Centred       bool            // CropX and CropY are set; otherwise the centre holds
	Rate          ffmpeg.Rational // zero: the first clip's rate; uneven frames of one source are kept as they are
	Smooth        string          // in-between frames of slow motion: "", blend, interpolate
	Burn          []string        // ASS files of the private folder, drawn over the frame in order
	Layers        []Layer         // drawn over that, in order
	Sights        []Sight         // what has to be seen of what is drawn
	Drawn         []Box           // the parts of the frame that are drawn on, where there are sights
}

// Box is a rectangle in pixels.
type Box struct{ X, Y, Width, Height int }

// Fit is how a picture of another aspect gets into the frame.
type Fit string

// The ways to fit.
const (
	Pad     Fit = "pad"  // bars of PadColor
	Cover   Fit = "crop" // what overhangs is cut off
	Blur    Fit = "blur" // bars that show the picture, blurred
	Stretch Fit = "stretch"
)

// Sound is what is done with the sound once the clips are joined.
type Sound struct {
	Tracks   Tracks
	Stream   int  // the track that OneTrack keeps, and that voice work is done on
	Copy     bool // the packets are copied: no other field may ask for a change
	Work     *Work
	Loudness *Loudness
	Hear     bool // the loudness of the written file's first track is measured
}

// Tracks says which audio tracks the output has.
type Tracks string

// The choices.
const (
	AllTracks Tracks = ""    // each as it is, with its language and title
	OneTrack  Tracks = "one" // Stream alone
)

// Keep says which other streams and facts of the (first) source stay.
type Keep struct {
	Subtitles, Chapters, Cover, Timecode bool
	Metadata                             Metadata
	// Mark are the chapters of the edit, in its own times, in place of the source's.
	Mark []ffmpeg.Chapter
	// Mux adds subtitle files of the private folder as tracks.
	Mux []Track
	// Tags are set on the file, over what stays; an empty value takes a tag away.
	Tags []Tag
	// Attachments of a Matroska file stay in another: fonts of its subtitles.
	Attachments bool
}

// Tag is a tag of a whole file: title, artist, comment …
type Tag struct{ Name, Value string }

// Track is a subtitle track that is added.
type Track struct {
	File     string // SRT or WebVTT in the private folder
	Language string // ISO 639-2/T where the container wants it
	Title    string
	Default  bool
}

// Metadata says which tags stay.
type Metadata string

// The choices.
const (
	KeepTags    Metadata = ""
	PrivateTags Metadata = "private" // location, device and software tags go; title and the like stay
	NoTags      Metadata = "none"
)

// Target is the file that is written.
type Target struct {
	File      string // name in the private folder, with the container's suffix
	Container string // mp4, mov, mkv, webm, m4a, mp3, wav, flac, ogg, opus, gif
	Video     VideoCodec
	Audio     AudioCodec
	Color     Color
	MaxLength cutroom.Micros // the edit is cut off there; 0: whole
}

// VideoCodec is how the picture is encoded. Zero fields are chosen by the container
// and the source: H.264 for SDR, 10-bit HEVC for HDR.
type VideoCodec struct {
	Name        string // h264, hevc, av1, vp9, prores, gif
	Quality     int    // CRF scale of the encoder; 0: its default here (18 for h264)
	Effort      string // preset of the encoder: medium …
	PixelFormat string
	Profile     string
}

// AudioCodec is how the sound is encoded.
type AudioCodec struct {
	Name     string // aac, mp3, opus, flac, pcm_s16le, vorbis; "" by container
	Bitrate  int    // bit/s
	Rate     int    // Hz; 0: the source's
	Channels int    // 0: the source's layout
}

// Color is what happens to high dynamic range.
type Color string

// The choices.
const (
	KeepColor Color = ""    // HDR stays 10-bit with its tags
	ToSDR     Color = "sdr" // BT.709, whatever the source is; high dynamic range is tone-mapped
)
