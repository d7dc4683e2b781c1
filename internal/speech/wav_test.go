package speech

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"cutroom"

	"github.com/google/go-cmp/cmp"
)

// chunk returns a RIFF chunk with the given length field, padded to an even length.
func chunk(id string, size int, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), uint32(size))
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// pcmFormat returns the body of a fmt chunk.
func pcmFormat(tag, channels uint16, rate uint32, bits uint16) []byte {
	align := channels * bits / 8
	b := binary.LittleEndian.AppendUint16(nil, tag)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(align))
	b = binary.LittleEndian.AppendUint16(b, align)
	return binary.LittleEndian.AppendUint16(b, bits)
}

func extensible(tag uint16, guidTail string) []byte {
	b := pcmFormat(waveExtensible, 1, SampleRate, 16)
	b = append(b, 22, 0, 16, 0, 4, 0, 0, 0) // cbSize, valid bits, channel mask
	b = binary.LittleEndian.AppendUint16(b, tag)
	return append(b, guidTail...)
}

func riff(id string, size uint32, chunks ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), size)
	return append(append(b, "WAVE"...), bytes.Join(chunks, nil)...)
}

var ours = pcmFormat(wavePCM, 1, SampleRate, 16)

// readAll returns every sample, asked for in frames as the child does.
func readAll(r io.Reader) (samples []int16, truncated bool, err error) {
	w, err := openWave(r)
	if err != nil {
		return nil, false, err
	}
	var frame [frameSize]int16
	for {
		n, err := w.read(frame[:])
		samples = append(samples, frame[:n]...)
		if errors.Is(err, io.EOF) {
			return samples, w.truncated, nil
		}
		if err != nil {
			return samples, w.truncated, err
		}
	}
}

func TestWave(t *testing.T) {
	t.Parallel()
	body := []byte{1, 0, 2, 0, 0xff, 0xff}
	want := []int16{1, 2, -1}
	list := chunk("LIST", 5, []byte("INFO!"))
	for name, c := range map[string]struct {
		file      []byte
		want      []int16
		truncated bool
	}{
		"plain":                  {riff("RIFF", 42, chunk("fmt ", 16, ours), chunk("data", 6, body)), want, false},
		"chunks around":          {riff("RIFF", 70, list, chunk("fmt ", 16, ours), list, chunk("data", 6, body), list), want, false},
		"extensible":             {riff("RIFF", 66, chunk("fmt ", 40, extensible(wavePCM, pcmGUID)), chunk("data", 6, body)), want, false},
		"ffmpeg to a pipe":       {riff("RIFF", math.MaxUint32, chunk("fmt ", 16, ours), list, chunk("data", math.MaxUint32, body)), want, false},
		"sox to a pipe":          {riff("RIFF", 0x7FFFF024, chunk("fmt ", 16, ours), chunk("data", 0x7FFFF000, body)), want, false},
		"never finished":         {riff("RIFF", 0, chunk("fmt ", 16, ours), chunk("data", 0, body)), want, false},
		"RF64":                   {riff("RF64", math.MaxUint32, chunk("ds64", 28, make([]byte, 28)), chunk("fmt ", 16, ours), chunk("data", math.MaxUint32, body)), want, false},
		"empty":                  {riff("RIFF", 36, chunk("fmt ", 16, ours), chunk("data", 0, nil), list), nil, false},
		"empty to a pipe":        {riff("RIFF", math.MaxUint32, chunk("fmt ", 16, ours), chunk("data", math.MaxUint32, nil)), nil, false},
		"cut":                    {riff("RIFF", 136, chunk("fmt ", 16, ours), chunk("data", 100, body)), want, true},
		"cut in a sample":        {riff("RIFF", 136, chunk("fmt ", 16, ours), chunk("data", 100, body[:5]))[:49], want[:2], true},
		"half a sample too many": {riff("RIFF", 41, chunk("fmt ", 16, ours), chunk("data", 5, body[:5])), want[:2], false},
	} {
		for way, r := range map[string]io.Reader{"whole": bytes.NewReader(c.file), "bytewise": iotest.OneByteReader(bytes.NewReader(c.file))} {
			got, truncated, err := readAll(r)
			if err != nil {
				t.Errorf("%s, %s: %v", name, way, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || truncated != c.truncated {
				t.Errorf("%s, %s: truncated %v, %s", name, way, truncated, diff)
			}
		}
	}
}

func TestWaveRefuses(t *testing.T) {
	t.Parallel()
	data := chunk("data", 2, []byte{0, 0})
	with := func(format []byte) []byte { return riff("RIFF", 0, chunk("fmt ", len(format), format), data) }
	for name, file := range map[string][]byte{
		"nothing":         nil,
		"half a header":   []byte("RIFF\x00"),
		"another file":    []byte("OggS\x00\x02 and much more text"),
		"big-endian":      []byte("RIFX\x00\x00\x00\x00WAVEfmt "),
		"an AVI":          []byte("RIFF\x00\x00\x00\x00AVI LIST"),
		"no chunks":       riff("RIFF", 0),
		"no samples":      riff("RIFF", 0, chunk("fmt ", 16, ours)),
		"no format":       riff("RIFF", 0, data),
		"short format":    with(ours[:14]),
		"endless format":  riff("RIFF", 0, chunk("fmt ", 1<<30, ours)),
		"cut format":      riff("RIFF", 0, chunk("fmt ", 40, ours)),
		"endless list":    riff("RIFF", 0, chunk("LIST", math.MaxUint32, nil)),
		"stereo":          with(pcmFormat(wavePCM, 2, SampleRate, 16)),
		"44.1 kHz":        with(pcmFormat(wavePCM, 1, 44100, 16)),
		"24 bits":         with(pcmFormat(wavePCM, 1, SampleRate, 24)),
		"8 bits":          with(pcmFormat(wavePCM, 1, SampleRate, 8)),
		"float":           with(pcmFormat(3, 1, SampleRate, 16)),
		"A-law":           with(pcmFormat(6, 1, SampleRate, 16)),
		"extensible":      with(extensible(3, pcmGUID)),
		"other subformat": with(extensible(wavePCM, "\x00\x00\x00\x00\x00\x00\x80\x00\x00\xaa\x00\x38\x9b\x71")),
	} {
		_, _, err := readAll(bytes.NewReader(file))
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.UnreadableMedia {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken disk")
	head := riff("RIFF", 0, chunk("fmt ", 16, ours), chunk("data", 4000, make([]byte, 600)))
	if _, _, err := readAll(io.MultiReader(bytes.NewReader(head), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a read error became %v", err)
	}
}

func FuzzWave(f *testing.F) {
	f.Add(riff("RIFF", 42, chunk("fmt ", 16, ours), chunk("data", 6, []byte{1, 0, 2, 0, 3, 0})))
	f.Add(riff("RIFF", math.MaxUint32, chunk("fmt ", 40, extensible(wavePCM, pcmGUID)), chunk("LIST", 5, []byte("INFO!")), chunk("data", math.MaxUint32, []byte{1, 0, 2})))
	f.Add(riff("RF64", 0, chunk("fmt ", 16, ours), chunk("data", 0, []byte{1})))
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVEdata\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, truncated, err := readAll(bytes.NewReader(file))
		if err != nil {
			if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.UnreadableMedia {
				t.Fatal(err)
			}
			return
		}
		if 2*len(got) > len(file)-44 {
			t.Fatalf("%d samples in %d bytes", len(got), len(file))
		}
		again, truncatedAgain, err := readAll(iotest.HalfReader(bytes.NewReader(file)))
		if diff := cmp.Diff(got, again); diff != "" || err != nil || truncated != truncatedAgain {
			t.Fatalf("in pieces: %v %s", err, diff)
		}
	})
}
