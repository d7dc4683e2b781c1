// Package picture opens still pictures that nobody vouches for.
//
// It promises that a picture's size is judged by its header before anything is
// decoded, that the decoder is chosen by the content and never by the name, and that
// a decoder which panics is an error like any other. It must never know what is
// looked for in a picture.
package picture

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// MaxPixels is the largest picture that is decoded, judged by its header.
const MaxPixels = 100_000_000

// maxDecoded bounds the bytes of the decoded picture, which for 16-bit samples is
// eight times the pixels.
const maxDecoded = 400_000_000

// ErrTooLarge marks a picture beyond [MaxPixels], or one that takes more than 400 MB
// decoded.
var ErrTooLarge = errors.New("picture is too large")

// format is one kind of picture file: the decoder is chosen by the file's first
// bytes, so no decoder that another package registers can be reached.
type format struct {
	magic  string // '?' stands for any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

func formats() []format {
	return []format{
		{"\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
		{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
		{"RIFF????WEBPVP8", webp.DecodeConfig, webp.Decode},
	}
}

// Open reads the picture at path, which it opens twice over one descriptor:
// the header decides whether the rest is decoded at all.
func Open(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open picture: %w", err)
	}
	defer f.Close()
	return Decode(f)
}

// Decode decodes r after checking the size in its header. The answer is of
// a type that scales fast: YCbCr, RGBA or Gray. A decoder that panics on hostile
// bytes is an error like any other.
func Decode(r io.ReadSeeker) (im image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			im, err = nil, fmt.Errorf("decoder stopped: %v", p)
		}
	}()
	f, err := sniff(r)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	c, err := f.config(bufio.NewReader(r))
	if err != nil {
		return nil, fmt.Errorf("picture header: %w", err)
	}
	if err := checkSize(c); err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	im, err = f.decode(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, fmt.Errorf("decode picture: %w", err)
	}
	return plain(im), nil
}

// sniff returns the format that r's first bytes name.
func sniff(r io.Reader) (format, error) {
	head := make([]byte, 16)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return format{}, fmt.Errorf("picture header: %w", err)
	}
	for _, f := range formats() {
		if matches(f.magic, head[:n]) {
			return f, nil
		}
	}
	return format{}, errors.New("not a JPEG, PNG or WebP picture")
}

func matches(magic string, head []byte) bool {
	if len(head) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && magic[i] != head[i] {
			return false
		}
	}
	return true
}

// checkSize refuses a header that promises nothing or too much.
func checkSize(c image.Config) error {
	if c.Width < 1 || c.Height < 1 {
		return errors.New("picture has no pixels")
	}
	each := int64(4)
	switch c.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
		each = 8
	}
	n := int64(c.Width) * int64(c.Height)
	if c.Width > MaxPixels || c.Height > MaxPixels || n > MaxPixels || n*each > maxDecoded {
		return ErrTooLarge
	}
	return nil
}

// plain returns im as YCbCr, Gray or opaque RGBA. What shows through a
// transparent picture is white, as on a page.
func plain(im image.Image) image.Image {
	switch p := im.(type) {
	case *image.YCbCr, *image.Gray:
		return im
	case *image.RGBA:
		if p.Opaque() {
			return im
		}
	}
	b := im.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	op := draw.Src
	if o, ok := im.(interface{ Opaque() bool }); !ok || !o.Opaque() {
		draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
		op = draw.Over
	}
	draw.Draw(out, out.Bounds(), im, b.Min, op)
	return out
}
