package sandbox

import (
	"bytes"
	"io"
	"strings"

	"cutroom/internal/sandbox/argv"
)

// Limits of what is read of standard error; the rest is swallowed unread.
const (
	maxComplaintLine  = 4 << 10
	maxComplaintBytes = 1 << 20
)

// The classes of lines on standard error, and by which words (in lower case) a line
// belongs to one. The first that fits counts. The words are those of libav* 5 to 7,
// tesseract and glibc.
var complaintKinds = []struct {
	kind  string
	words []string
}{
	{"disk_full", []string{"no space left on device", "disk quota exceeded"}},
	{"file_too_large", []string{"file too large"}},
	{"out_of_memory", []string{"cannot allocate memory", "out of memory", "std::bad_alloc", "bad_alloc", "memory allocation fail", "failed to allocate", "cannot create thread"}},
	{"too_many_files", []string{"too many open files"}},
	{"permission", []string{"permission denied", "operation not permitted"}},
	{"not_found", []string{"no such file or directory"}},
	{"library", []string{"error while loading shared libraries", "symbol lookup error"}},
	{"truncated", []string{"moov atom not found", "partial file", "truncat", "end of file", "unexpected eof", "premature end", "overread end of atom", "file ended prematurely"}},
	{"no_stream", []string{"does not contain any stream", "matches no streams", "stream specifier", "no streams", "output file is empty", "nothing was encoded"}},
	{"unsupported", []string{"not currently supported", "unknown decoder", "unknown encoder", "no decoder", "not implemented", "unsupported", "not found for input stream", "decoding requested, but no decoder", "could not find codec parameters", "unknown codec", "is not supported", "encoder not found", "not yet implemented"}},
	{"bad_option", []string{"unrecognized option", "option not found", "error parsing", "invalid argument", "no such filter", "unable to parse"}},
	{"decode_error", []string{"error while decoding", "decode_slice", "concealing", "error decoding", "bytestream", "missing reference", "missing picture", "no frame", "non-existing", "mmco", "reference picture missing", "left block unavailable", "top block unavailable", "cabac", "error submitting packet", "ac-tex damaged", "mb error", "channel element", "decoding error", "decoding failed"}},
	{"timestamps", []string{"non-monoton", "non monoton", "timestamps are unset", "invalid dts", "past duration", "dts out of order", "pts < dts", "invalid timestamps"}},
	{"write_error", []string{"error writing", "av_interleaved_write_frame", "muxing failed", "could not write header", "error muxing"}},
	{"invalid_data", []string{"invalid data found", "invalid nal", "header missing", "invalid", "corrupt", "error reading header", "misdetection possible", "unexpected"}},
}

// classify returns the class of one line, "other" when none fits.
func classify(line []byte) string {
	text := strings.ToLower(string(line))
	for _, k := range complaintKinds {
		for _, w := range k.words {
			if strings.Contains(text, w) {
				return k.kind
			}
		}
	}
	return "other"
}

// complaints reads standard error to its end and keeps only counts. debug, if not
// nil, gets the text.
func complaints(r io.Reader, debug io.Writer) argv.Complaints {
	c := argv.Complaints{Kinds: map[string]int{}}
	buf := make([]byte, 16<<10)
	var line []byte
	read := 0
	end := func() {
		if len(bytes.TrimSpace(line)) > 0 {
			c.Lines++
			c.Kinds[classify(line)]++
		}
		line = line[:0]
	}
	for {
		n, err := r.Read(buf)
		if debug != nil && n > 0 {
			_, _ = debug.Write(buf[:n])
		}
		if read += n; read <= maxComplaintBytes {
			for _, b := range buf[:n] {
				switch {
				case b == '\n' || b == '\r':
					end()
				case len(line) < maxComplaintLine:
					line = append(line, b)
				}
			}
		}
		if err != nil {
			end()
			return c
		}
	}
}
