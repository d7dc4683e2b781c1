package ffmpeg

import (
	"path"
	"slices"
	"strings"

	"cutroom"

	"github.com/gabriel-vasile/mimetype"
)

// SniffLen is how many first bytes of a file [Sniff] wants: enough for an ID3 tag
// with a small picture and for the first boxes of an MP4.
const SniffLen = 64 << 10

// Kind is what a file is to a viewer.
type Kind string

// The kinds. A still picture and an animation without sound are images when their
// container is a picture's (GIF, APNG, WebP, AVIF, JPEG, PNG).
const (
	Video    Kind = "video"
	Audio    Kind = "audio"
	Image    Kind = "image"
	Subtitle Kind = "subtitle"
)

// Format is what the first bytes of a file say it is.
type Format struct {
	// Demuxers are the demuxers that may open the file. The first is forced, so that
	// ffmpeg's own guess cannot choose another.
	Demuxers  []string `json:"demuxers"`
	MediaType string   `json:"media_type"`
	Kind      Kind     `json:"kind"` // first guess; the document decides
	// Suffix is the lower-case suffix of the name, with its dot.
	Suffix string `json:"suffix,omitempty"`
	// Notes are facts for the document's problems: a suffix that says something else,
	// bytes before the first frame.
	Notes []string `json:"notes,omitempty"`
	// Claims is how long the file says it is at least, by the boxes or chunks at its
	// start; 0 when it does not say.
	Claims int64 `json:"claims,omitempty"`
	// Fragmented is set when an MP4 keeps its index in fragments.
	Fragmented bool `json:"fragmented,omitempty"`
	// Orientation is the Exif orientation of a JPEG, 1 to 8; 0 when it has none.
	Orientation int `json:"orientation,omitempty"`

	made string // a file of the private folder, in place of an input of the call
}

// MadeFormat is that of a file which a run wrote into the private folder: a demuxer is
// forced there, too. Jobs over a file take it in place of an input's format, whose
// number then counts for nothing.
func MadeFormat(file string, demuxers ...string) Format {
	return Format{Demuxers: demuxers, made: file}
}

// unreadable is the one form of "this is not media".
func unreadable(hint, format string, args ...any) *cutroom.Error {
	return cutroom.Errorf(cutroom.UnreadableMedia, format, args...).WithHint("%s", hint)
}

// Sniff says what a file is by its first bytes (give it [SniffLen] of them) and the
// suffix of its name. The content decides and the suffix may not contradict it:
// playlists, scripts, subtitles and plain text that pose as media are refused, since
// ffmpeg would follow what they name. Failures are unreadable_media, or
// missing_dependency for formats that only a newer ffmpeg reads.
func Sniff(head []byte, name string) (Format, error) {
	suffix := strings.ToLower(path.Ext(name))
	if len(head) == 0 {
		return Format{}, unreadable("copy or download the file again", "the file is empty")
	}
	if err := refuseText(head); err != nil {
		return Format{}, err
	}
	f, ok, err := byContent(head)
	if err != nil {
		return Format{}, err
	}
	if !ok {
		f, ok = bySuffix(head, suffix)
	}
	if !ok {
		return Format{}, notMedia(head, suffix)
	}
	f.Suffix = suffix
	return f, f.agree(suffix)
}

// family groups suffixes by what a reader expects of them.
func family(suffix string) string {
	switch suffix {
	case ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".heic", ".heif":
		return "picture"
	case ".gif", ".apng", ".webp", ".avif", ".avifs":
		return "animation"
	case ".mp4", ".mov", ".m4v", ".webm", ".mkv", ".avi", ".mpeg", ".mpg", ".ts", ".m2ts", ".mts", ".flv", ".wmv",
		".asf", ".3gp", ".3g2", ".ogv", ".vob", ".mxf", ".mp3", ".m4a", ".m4b", ".wav", ".flac", ".ogg", ".opus", ".oga",
		".aac", ".ac3", ".aif", ".aiff", ".wma", ".mka", ".mk3d", ".h264", ".264", ".hevc", ".h265", ".265", ".ivf", ".caf", ".amr":
		return "recording"
	case ".vtt", ".srt", ".ass", ".ssa", ".txt", ".md", ".json", ".m3u8", ".m3u", ".mpd", ".xml", ".html":
		return "text"
	}
	return ""
}

// agree refuses content of another family than the suffix promises, and notes a
// container that differs within the family.
func (f *Format) agree(suffix string) error {
	want, is := family(suffix), "recording"
	if f.Kind == Image {
		is = "picture"
		if slices.Contains([]string{"image/gif", "image/apng", "image/webp", "image/avif"}, f.MediaType) {
			is = "animation"
		}
	}
	ext := extensions[f.MediaType]
	switch {
	case want == "" || slices.Contains(ext, suffix) || want == is && len(ext) == 0:
		return nil
	case want == "recording" && is == "picture", want == "picture" && is == "recording", want == "text":
		return unreadable("rename it to what it is, or check that it is the right file",
			"the file is named %s but its content is %s", suffix, f.MediaType)
	}
	f.Notes = append(f.Notes, "the file is named "+suffix+" but its content is "+f.MediaType)
	return nil
}

// extensions are the suffixes that promise a media type.
var extensions = map[string][]string{
	"video/mp4":        {".mp4", ".m4v", ".mov", ".m4a", ".m4b", ".3gp", ".3g2"},
	"audio/mp4":        {".m4a", ".m4b", ".mp4", ".mov", ".m4v", ".3gp"},
	"video/quicktime":  {".mov", ".mp4", ".m4v", ".m4a"},
	"video/x-matroska": {".mkv", ".mka", ".mk3d"},
	"video/webm":       {".webm"},
	"video/mp2t":       {".ts", ".m2ts", ".mts"},
	"video/mpeg":       {".mpeg", ".mpg", ".vob"},
	"video/x-msvideo":  {".avi"},
	"audio/mpeg":       {".mp3"},
	"audio/wav":        {".wav"},
	"audio/flac":       {".flac"},
	"audio/ogg":        {".ogg", ".opus", ".oga", ".ogv"},
	"image/jpeg":       {".jpg", ".jpeg"},
	"image/png":        {".png"},
	"image/apng":       {".png", ".apng"},
	"image/gif":        {".gif"},
	"image/webp":       {".webp"},
	"image/avif":       {".avif", ".avifs"},
}

// bySuffix accepts what has no signature of its own at its start: raw streams, and
// an MP3 behind garbage, which ffmpeg itself takes for something else.
func bySuffix(head []byte, suffix string) (Format, bool) {
	f := Format{Kind: Audio}
	switch suffix {
	case ".mp3":
		f.Demuxers, f.MediaType = []string{"mp3"}, "audio/mpeg"
		f.Notes = []string{"the file does not start with MP3 data; what comes before the first frame was skipped"}
	case ".aac":
		f.Demuxers, f.MediaType = []string{"aac"}, "audio/aac"
	case ".ac3":
		f.Demuxers, f.MediaType = []string{"ac3"}, "audio/ac3"
	case ".h264", ".264", ".hevc", ".h265", ".265":
		if !strings.HasPrefix(strings.TrimLeft(string(head[:min(len(head), 8)]), "\x00"), "\x01") {
			return f, false
		}
		f.Kind, f.Demuxers, f.MediaType = Video, []string{"h264"}, "video/h264"
		if strings.Contains(suffix, "h") && suffix != ".h264" || suffix == ".265" {
			f.Demuxers, f.MediaType = []string{"hevc"}, "video/h265"
		}
	default:
		return f, false
	}
	return f, !mimetype.Detect(head).Is("application/pdf")
}

// notMedia says what the file is instead, as far as its bytes tell.
func notMedia(head []byte, suffix string) error {
	is := mimetype.Detect(head).String()
	if is == "application/octet-stream" {
		if suffix == "" {
			suffix = "media"
		}
		return unreadable("copy or download the file again; if it plays elsewhere, convert it to MP4, WebM or WAV",
			"the file's content is not any media format known here (its name says %s)", suffix)
	}
	return unreadable("give a video, audio or picture file", "the file is %s, not media", is)
}
