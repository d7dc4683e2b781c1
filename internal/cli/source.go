package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cutroom"
)

// paths turns path arguments into what the engine takes: relative to the workspace
// when they lie in it, else absolute, which only the operator may use.
type paths struct {
	dir   string // current folder, absolute
	root  string // workspace, absolute
	agent bool
	roots []string // further folders that an agent may read
}

// convert turns the word of a caller into a path for the engine.
func (p paths) convert(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", usagef("the path %q is not UTF-8 text", text).withHint("rename the file")
	}
	if text == "" {
		return "", usagef("a path is empty")
	}
	if isAddress(text) {
		return "", usagef("%q is an address, not a file", short(text)).withHint("fetch it by other means, then name the file")
	}
	path := p.absolute(text)
	for _, root := range []string{p.root, resolved(p.root)} {
		for _, at := range []string{path, filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))} {
			if rel, err := filepath.Rel(root, at); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), nil
			}
		}
	}
	if p.agent && !slices.ContainsFunc(p.roots, func(r string) bool { return inside(r, path) }) {
		return "", cutroom.Errorf(cutroom.Denied, "%q is outside the workspace", text).
			WithHint("copy the file into the workspace, or run from a folder that holds it")
	}
	return path, nil
}

// inside says whether an absolute path is a folder or lies in it, by its spelling.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func (p paths) absolute(text string) string {
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	return filepath.Join(p.dir, text)
}

// resolved is a folder without links, itself when that cannot be told.
func resolved(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// sourceJSON is a source as the contracts have it.
type sourceJSON struct {
	Kind      cutroom.SourceKind `json:"kind"`
	Value     string             `json:"value"`
	MediaType string             `json:"media_type,omitempty"`
}

// source says what kind of source a word is, without guessing: an existing file is
// a file, an http(s) address an address, and "-" the transcript on standard input.
// Anything else has to be called what it is by --source-kind; only `tool watch`
// takes plain text for a transcript.
func (r reader) source(text, kind, mediaType string) (sourceJSON, error) {
	s := sourceJSON{Kind: cutroom.SourceKind(kind), Value: text, MediaType: mediaType}
	switch {
	case text == "-" && (kind == "auto" || s.Kind == cutroom.Transcript):
		raw, err := limited(r.stdin, "standard input")
		s.Kind, s.Value = cutroom.Transcript, string(raw)
		if err == nil && !utf8.ValidString(s.Value) {
			err = usagef("the transcript on standard input is not UTF-8 text").withHint("give it as a file: its encoding is found out then")
		}
		return s, err
	case kind == "auto":
		var err error
		if s.Kind, err = r.detect(text); err != nil {
			return s, err
		}
	case s.Kind != cutroom.LocalFile && s.Kind != cutroom.URL && s.Kind != cutroom.Transcript:
		return s, usagef("--source-kind: %q is not one of auto, local_file, url, transcript", short(kind))
	}
	var err error
	if s.Kind == cutroom.LocalFile {
		s.Value, err = r.paths.convert(text)
	}
	return s, err
}

// detect finds the kind of a word.
func (r reader) detect(text string) (cutroom.SourceKind, error) {
	if text == "" {
		return "", usagef("SOURCE is empty")
	}
	if len(text) <= 4096 && !strings.ContainsRune(text, 0) {
		_, err := os.Lstat(r.paths.absolute(text))
		if err == nil || errors.Is(err, fs.ErrPermission) {
			return cutroom.LocalFile, nil
		}
	}
	if isAddress(text) {
		return cutroom.URL, nil
	}
	if r.loose && strings.ContainsAny(text, " \t\r\n") && !pathLike(text) {
		return cutroom.Transcript, nil
	}
	err := cutroom.Errorf(cutroom.NotFound, "no such file: %q", short(text))
	if pathLike(text) {
		return "", err.WithHint("check the path; text of a transcript needs --source-kind transcript")
	}
	return "", err.WithHint("if it is the text of a transcript, add --source-kind transcript, or give it on standard input with -")
}

// isAddress reports whether text starts with an http(s) scheme, in any case of
// letters (RFC 3986, 3.1).
func isAddress(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// pathLike reports whether text looks like a path: it has a separator, or ends in
// the suffix of media or of a transcript.
func pathLike(text string) bool {
	if strings.ContainsAny(text, `/\`) {
		return true
	}
	suffix := strings.ToLower(strings.TrimPrefix(filepath.Ext(strings.TrimSpace(text)), "."))
	return suffix != "" && strings.Contains(suffixes, " "+suffix+" ")
}

// suffixes are those of files that can be watched, or that people try to watch.
const suffixes = " mp4 mov m4v webm mkv avi mpeg mpg ts m2ts mts flv wmv 3gp ogv gif apng webp avif heic heif jpg jpeg png bmp tif tiff" +
	" mp3 m4a m4b aac wav flac ogg oga opus wma aiff aif mka vtt srt ass ssa txt md json "
