package speech

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"cutroom"
)

// SampleRate is the rate that the models hear, in samples per second.
const SampleRate = 16000

// Fields of the fmt chunk (Microsoft, "Multiple channel audio data and WAVE
// files").
const (
	wavePCM        = 0x0001
	waveExtensible = 0xFFFE
	fmtLength      = 16
	fmtExtended    = 40
	maxFmt         = 4096 // more than any fmt chunk ever had
)

// unknownLength is where sizes begin that a writer to a pipe leaves behind: ffmpeg
// writes 0xFFFFFFFF, sox 0x7FFFF000 less its header.
const unknownLength = 0x7FFF_0000

// pcmGUID is the tail of KSDATAFORMAT_SUBTYPE_PCM, after its two bytes of format.
const pcmGUID = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// waveform streams the samples of a WAV file: 16 kHz, one channel, signed 16-bit.
type waveform struct {
	r    *bufio.Reader
	left int64 // bytes of data that the header still promises; math.MaxInt64 when unknown
	// truncated says that the file ended before the length its header states.
	truncated bool
	raw       []byte
}

// openWave reads the header up to the samples. Anything but WAV in our form is
// unreadable_media.
func openWave(r io.Reader) (*waveform, error) {
	w := &waveform{r: bufio.NewReaderSize(r, 1<<16)}
	var riff [12]byte
	if _, err := io.ReadFull(w.r, riff[:]); err != nil {
		return nil, badWave("the recording ends inside its header", err)
	}
	id := string(riff[:4])
	if (id != "RIFF" && id != "RF64") || string(riff[8:]) != "WAVE" {
		return nil, badWave("the recording is not a WAV file", nil)
	}
	unfinished := id == "RF64" || openEnded(binary.LittleEndian.Uint32(riff[4:]))
	for formatted := false; ; {
		id, size, err := w.chunk()
		if err != nil {
			return nil, badWave("the recording has no samples chunk", err)
		}
		switch id {
		case "fmt ":
			if err := w.format(size); err != nil {
				return nil, err
			}
			formatted = true
		case "data":
			if !formatted {
				return nil, badWave("the samples come before their format", nil)
			}
			w.left = int64(size)
			// A header that was never completed has a zero or a huge length.
			if size >= unknownLength || (size == 0 && unfinished) {
				w.left = math.MaxInt64
			}
			return w, nil
		default:
			if err := w.skip(size); err != nil {
				return nil, badWave("the recording has no samples chunk", err)
			}
		}
	}
}

// openEnded reports a RIFF size that its writer did not know yet.
func openEnded(size uint32) bool { return size == 0 || size >= unknownLength }

func badWave(msg string, err error) error {
	return cutroom.Errorf(cutroom.UnreadableMedia, "%s", msg).
		WithHint("give 16 kHz mono signed 16-bit PCM").WithCause(err)
}

// chunk reads the head of the next chunk.
func (w *waveform) chunk() (id string, size uint32, err error) {
	var head [8]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return "", 0, err
	}
	return string(head[:4]), binary.LittleEndian.Uint32(head[4:]), nil
}

// skip passes a chunk's body and its padding to an even length.
func (w *waveform) skip(size uint32) error {
	n := int64(size) + int64(size&1)
	_, err := io.CopyN(io.Discard, w.r, n)
	return err
}

// format reads the fmt chunk and refuses what the models cannot hear.
func (w *waveform) format(size uint32) error {
	if size < fmtLength || size > maxFmt {
		return badWave(fmt.Sprintf("the format chunk has %d bytes", size), nil)
	}
	b := make([]byte, size+size&1)
	if _, err := io.ReadFull(w.r, b); err != nil {
		return badWave("the recording ends inside its header", err)
	}
	tag := binary.LittleEndian.Uint16(b)
	channels, rate := binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint32(b[4:])
	align, bits := binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint16(b[14:])
	if tag == waveExtensible && size >= fmtExtended && string(b[26:40]) == pcmGUID {
		tag = binary.LittleEndian.Uint16(b[24:])
	}
	if tag != wavePCM || channels != 1 || rate != SampleRate || bits != 16 || align != 2 {
		return badWave(fmt.Sprintf("the recording has format %#04x with %d channels, %d Hz, %d bits", tag, channels, rate, bits), nil)
	}
	return nil
}

// read fills samples and returns how many there were; fewer than asked for only at
// the end, where the error is io.EOF.
func (w *waveform) read(samples []int16) (int, error) {
	if need := 2 * len(samples); len(w.raw) < need {
		w.raw = make([]byte, need)
	}
	want := min(int64(2*len(samples)), w.left&^1)
	n, err := io.ReadFull(w.r, w.raw[:want])
	if w.left != math.MaxInt64 {
		w.left -= int64(n)
	}
	switch {
	case err == nil && want < int64(2*len(samples)):
		err = io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		w.truncated = w.left != math.MaxInt64
		err = io.EOF
	case err != nil:
		return 0, fmt.Errorf("read samples: %w", err)
	}
	for i := range n / 2 {
		samples[i] = int16(binary.LittleEndian.Uint16(w.raw[2*i:]))
	}
	return n / 2, err
}
