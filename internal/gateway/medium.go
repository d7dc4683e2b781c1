package gateway

import (
	"path"
	"slices"
	"strings"
)

// mediumOf is what a media type is; "" for anything else.
func mediumOf(kind string) medium {
	kind, _, _ = strings.Cut(strings.TrimSpace(strings.ToLower(kind)), ";")
	group, _, _ := strings.Cut(kind, "/")
	switch m := medium(group); m {
	case image, audio, video:
		return m
	}
	return ""
}

// suffixes are the names that content of a type goes by.
var suffixes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/jpg": ".jpg", "image/webp": ".webp", "image/gif": ".gif", "image/bmp": ".bmp", "image/tiff": ".tiff", "image/avif": ".avif",
	"image/heic": ".heic", "image/heif": ".heif",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/wave": ".wav", "audio/mp3": ".mp3", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/m4a": ".m4a", "audio/x-m4a": ".m4a", "audio/aac": ".aac",
	"audio/flac": ".flac", "audio/x-flac": ".flac", "audio/ogg": ".ogg", "audio/opus": ".opus", "audio/webm": ".webm",
	"video/mp4": ".mp4", "video/quicktime": ".mov", "video/webm": ".webm", "video/x-matroska": ".mkv", "video/matroska": ".mkv", "video/mpeg": ".mpg", "video/x-msvideo": ".avi", "video/mp2t": ".ts", "video/x-m4v": ".m4v",
}

// suffixOf is the suffix for a media type, "" when the type is not known.
func suffixOf(kind string) string {
	kind, _, _ = strings.Cut(strings.TrimSpace(strings.ToLower(kind)), ";")
	return suffixes[kind]
}

// names are the suffixes of files by what they hold.
var names = map[medium][]string{
	image: {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".heif"},
	audio: {".wav", ".mp3", ".m4a", ".aac", ".flac", ".ogg", ".oga", ".opus"},
	video: {".mp4", ".mov", ".webm", ".mkv", ".mpg", ".mpeg", ".avi", ".ts", ".m4v"},
}

// named is what a file or an address is by its name; "" for anything else.
func named(name string) medium {
	name, _, _ = strings.Cut(name, "?")
	suffix := strings.ToLower(path.Ext(name))
	for m, list := range names {
		if slices.Contains(list, suffix) {
			return m
		}
	}
	return ""
}
