package engine

import (
	"context"
	"encoding/binary"
	"image"
	_ "image/jpeg" // frames are proved by decoding them
	_ "image/png"
	"io"
	"os"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// prove is step 9: every file that becomes an artifact is there, is not empty,
// opens as what it claims to be, and is what the plan expected.
func (k *call) prove(context.Context) error {
	if k.DryRun {
		return nil
	}
	for n, a := range k.kept {
		i := slices.IndexFunc(k.expect, func(x tool.Expectation) bool { return x.File == a.Path })
		x := tool.Expectation{File: a.Path}
		if i >= 0 {
			x = k.expect[i]
		}
		if err := k.proveFile(a, k.made[n].SizeBytes, x); err != nil {
			return err
		}
	}
	return nil
}

func (k *call) proveFile(a stage.Keep, size int64, x tool.Expectation) error {
	f, err := k.private(a.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case a.MediaType == "image/jpeg" || a.MediaType == "image/png":
		return provePicture(f, a.Path, x)
	case a.MediaType == "audio/wav":
		return proveWAV(f, size, a.Path, x)
	case size == 0 && !strings.HasPrefix(a.MediaType, "text/"):
		return unproved(a.Path, "it is empty")
	}
	return nil
}

func unproved(file, what string) error {
	return cutroom.Errorf(cutroom.Verification, "%s is not what was planned: %s", file, what).
		WithHint("call again; when it happens again, the source is damaged there")
}

// provePicture decodes the whole picture.
func provePicture(f *os.File, name string, x tool.Expectation) error {
	img, _, err := image.Decode(f)
	if err != nil {
		return unproved(name, "it does not decode")
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if (x.Width > 0 && w != x.Width) || (x.Height > 0 && h != x.Height) || (x.MaxWidth > 0 && w > x.MaxWidth) {
		return unproved(name, "its size differs")
	}
	return nil
}

// proveWAV reads the header (RIFF WAVE, Microsoft 1991) and compares it with the
// bytes that are there.
func proveWAV(f *os.File, size int64, name string, x tool.Expectation) error {
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	if len(head) < 44 || string(head[:4]) != "RIFF" || string(head[8:12]) != "WAVE" {
		return unproved(name, "it is not a WAV file")
	}
	var rate, channels, bits int
	for at := 12; at+8 <= len(head); {
		id, length := string(head[at:at+4]), int(binary.LittleEndian.Uint32(head[at+4:]))
		body := at + 8
		if id == "fmt " && body+16 <= len(head) {
			channels = int(binary.LittleEndian.Uint16(head[body+2:]))
			rate = int(binary.LittleEndian.Uint32(head[body+4:]))
			bits = int(binary.LittleEndian.Uint16(head[body+14:]))
		}
		if id == "data" {
			return proveSamples(size-int64(body), rate, channels, bits, name, x)
		}
		at = body + length + length%2
	}
	return unproved(name, "it holds no sound")
}

func proveSamples(bytes int64, rate, channels, bits int, name string, x tool.Expectation) error {
	if rate <= 0 || channels <= 0 || bits <= 0 {
		return unproved(name, "its header is broken")
	}
	if (x.SampleRate > 0 && rate != x.SampleRate) || (x.Channels > 0 && channels != x.Channels) {
		return unproved(name, "its sample rate or channels differ")
	}
	length := cutroom.Micros(bytes * 1_000_000 / int64(rate*channels*bits/8))
	if x.Duration > 0 && (length < x.Duration-x.Tolerance || length > x.Duration+x.Tolerance) {
		return unproved(name, "it lasts "+length.String()+" s instead of "+x.Duration.String()+" s")
	}
	return nil
}
