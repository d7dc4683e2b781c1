package lens

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// TailLen is how much of a file's end [Guard] wants: an archive's directory with the
// longest comment that it may have.
const TailLen = 66 << 10

// suffix is a suffix that a medium may have, with the contents that agree with it.
type suffix struct {
	medium Medium
	name   string // with its dot
	types  []string
}

// suffixes are all that are read.
func suffixes() []suffix {
	boxes := []string{"video/mp4", "audio/mp4", "video/quicktime"}
	return []suffix{
		{Video, ".mp4", boxes},
		{Video, ".m4v", boxes},
		{Video, ".mov", boxes},
		{Video, ".webm", []string{"video/webm"}},
		{Video, ".mkv", []string{"video/x-matroska", "video/webm"}},
		{Video, ".avi", []string{"video/x-msvideo"}},
		{Video, ".mpeg", []string{"video/mpeg"}},
		{Video, ".mpg", []string{"video/mpeg"}},
		{Video, ".ts", []string{"video/mp2t"}},
		{Audio, ".mp3", []string{"audio/mpeg"}},
		{Audio, ".wav", []string{"audio/wav"}},
		{Audio, ".flac", []string{"audio/flac"}},
		{Audio, ".m4a", boxes},
		{Audio, ".ogg", []string{"audio/ogg"}},
		{Audio, ".opus", []string{"audio/ogg"}},
		{Audio, ".aac", []string{"audio/aac"}},
		{Image, ".jpg", []string{"image/jpeg"}},
		{Image, ".jpeg", []string{"image/jpeg"}},
		{Image, ".png", []string{"image/png", "image/apng"}},
		{Image, ".gif", []string{"image/gif"}},
		{Image, ".webp", []string{"image/webp"}},
	}
}

// Formats are the suffixes of a medium, without dots.
func Formats(m Medium) []string {
	var list []string
	for _, s := range suffixes() {
		if s.medium == m {
			list = append(list, s.name[1:])
		}
	}
	return list
}

// MediumOf is the medium that a file's suffix stands for; not every file has one.
func MediumOf(name string) (Medium, bool) {
	ext := strings.ToLower(path.Ext(name))
	for _, s := range suffixes() {
		if s.name == ext {
			return s.medium, true
		}
	}
	return "", false
}

// Guard refuses what is not what it is named: before any reader is asked, the suffix has
// to be one of the medium, the first bytes have to agree with it, and nothing else may
// hide in the file (another kind of document that starts or ends in it). head is the first
// bytes, [ffmpeg.SniffLen] of them, tail the last, [TailLen].
func Guard(m Medium, name string, head, tail []byte) (ffmpeg.Format, error) {
	ext := strings.ToLower(path.Ext(name))
	i := slices.IndexFunc(suffixes(), func(s suffix) bool { return s.name == ext && s.medium == m })
	if i < 0 {
		err := cutroom.Errorf(cutroom.Invalid, "%q is not read as %s: its suffix is not one of %s", name, m, strings.Join(Formats(m), ", "))
		if other, ok := MediumOf(name); ok {
			return ffmpeg.Format{}, err.WithHint("it is read as %s: call media.read_%s (on the command line: cutroom read-%s)", other, other, other)
		}
		return ffmpeg.Format{}, err.WithHint("convert it, or rename it to what it is")
	}
	f, err := ffmpeg.Sniff(head, name)
	if err != nil {
		return f, err
	}
	if !slices.Contains(suffixes()[i].types, f.MediaType) {
		return f, cutroom.Errorf(cutroom.UnreadableMedia, "the file is named %s but its content is %s", ext, f.MediaType).
			WithHint("rename it to what it is, or check that it is the right file")
	}
	if what := hidden(head, tail); what != "" {
		return f, cutroom.Errorf(cutroom.UnreadableMedia, "the file is %s and %s at once", f.MediaType, what).
			WithHint("save it anew as plain %s; a file that is two things is not read", ext[1:])
	}
	return f, nil
}

// scripts are beginnings of what a browser or a server would run.
var scripts = []string{"<html", "<!doctype html", "<script", "<?php", "<svg", "<iframe"}

// hidden names what else a file is, "" when it is one thing.
func hidden(head, tail []byte) string {
	at := func(i int, s string) bool { return len(head) >= i+len(s) && string(head[i:i+len(s)]) == s }
	switch {
	case bytes.Contains(head[:min(len(head), 1024+5)], []byte("%PDF-")), bytes.Contains(tail, []byte("%PDF-")):
		return "a PDF document"
	case at(257, "ustar"):
		return "a tar archive"
	case at(128, "DICM"):
		return "a DICOM file"
	case at(32769, "CD001"):
		return "a disk image"
	case at(6, "/*"), at(4, "/*") && at(0, "RIFF"), at(2, "/*") && at(0, "BM"):
		return "a script"
	case endsInZip(tail):
		return "a ZIP archive"
	case bytes.Contains(head, []byte("7z\xbc\xaf\x27\x1c")), bytes.Contains(head, []byte("Rar!\x1a\x07")):
		return "an archive"
	}
	for _, part := range [][]byte{head, tail} {
		low := bytes.ToLower(part)
		for _, s := range scripts {
			if bytes.Contains(low, []byte(s)) {
				return "a web page or a script"
			}
		}
	}
	return ""
}

// endsInZip finds the end record of a ZIP archive's directory (APPNOTE.TXT 4.3.16), with
// the directory where it says.
func endsInZip(tail []byte) bool {
	for end := len(tail); ; {
		i := bytes.LastIndex(tail[:end], []byte("PK\x05\x06"))
		if i < 0 {
			return false
		}
		end = i
		if len(tail) < i+22 {
			continue
		}
		entries, size := binary.LittleEndian.Uint16(tail[i+10:]), int64(binary.LittleEndian.Uint32(tail[i+12:]))
		start := int64(i) - size
		switch {
		case entries == 0 && size == 0: // an empty archive is one all the same
			return true
		case start >= 0 && bytes.HasPrefix(tail[start:], []byte("PK\x01\x02")), start < 0 && size < 1<<30 && entries > 0:
			return true
		}
	}
}
