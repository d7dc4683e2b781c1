package sprite

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
)

// apng writes an animated PNG by the PNG specification, third edition. Frames replace
// what they cover; what has to last longer than a frame may is repeated.
type apng struct {
	body   bytes.Buffer
	w, h   int
	frames int
	seq    uint32
	delay  int         // where in body the last frame's delay is
	held   int64       // of the last frame
	row    []byte      // kept between frames
	now    *image.RGBA // what the last frame shows
}

// maxDelay is the longest that one frame may last, in hundredths.
const maxDelay = 0xFFFF

func (a *apng) begin(w, h int) { a.w, a.h = w, h }

// frame adds a part of a picture, at a place of the animation, for so many hundredths.
func (a *apng) frame(p *image.RGBA, part image.Rectangle, at image.Point, length int64) error {
	a.now = p
	a.control(part.Dx(), part.Dy(), at)
	data, err := a.pixels(p, part)
	if err != nil {
		return err
	}
	if a.frames == 1 {
		a.chunk("IDAT", data)
	} else {
		a.chunk("fdAT", append(binary.BigEndian.AppendUint32(nil, a.next()), data...))
	}
	a.held = 0
	a.longer(length)
	return nil
}

// control begins a frame.
func (a *apng) control(w, h int, at image.Point) {
	a.frames++
	c := binary.BigEndian.AppendUint32(nil, a.next())
	for _, v := range []int{w, h, at.X, at.Y} {
		c = binary.BigEndian.AppendUint32(c, uint32(v))
	}
	c = binary.BigEndian.AppendUint16(c, 1)
	c = binary.BigEndian.AppendUint16(c, 100)
	c = append(c, 0, 0) // it stays, and replaces what it covers
	a.delay = a.body.Len() + 8 + 20
	a.chunk("fcTL", c)
}

// longer lets the last frame stay for more hundredths.
func (a *apng) longer(by int64) {
	for a.held+by > maxDelay {
		by -= maxDelay - a.held
		a.hold(maxDelay)
		a.again()
	}
	a.hold(a.held + by)
}

// again repeats one pixel of the last frame, which is enough for another delay.
func (a *apng) again() {
	a.control(1, 1, image.Point{})
	at := a.now.Rect.Min
	data, err := a.pixels(a.now, image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
	if err != nil { // a buffer takes everything
		panic(err)
	}
	a.chunk("fdAT", append(binary.BigEndian.AppendUint32(nil, a.next()), data...))
	a.held = 0
}

// hold writes the delay of the last frame.
func (a *apng) hold(length int64) {
	a.held = length
	b := a.body.Bytes()
	binary.BigEndian.PutUint16(b[a.delay:], uint16(length))
	start := a.delay - 24
	binary.BigEndian.PutUint32(b[start+4+26:], crc32.ChecksumIEEE(b[start:start+4+26]))
}

func (a *apng) next() uint32 { a.seq++; return a.seq - 1 }

func (a *apng) chunk(name string, data []byte) { chunk(&a.body, name, data) }

func chunk(b *bytes.Buffer, name string, data []byte) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(data)))
	b.Write(n[:])
	start := b.Len()
	b.WriteString(name)
	b.Write(data)
	binary.BigEndian.PutUint32(n[:], crc32.ChecksumIEEE(b.Bytes()[start:]))
	b.Write(n[:])
}

// end is the whole file.
func (a *apng) end() []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	h := binary.BigEndian.AppendUint32(nil, uint32(a.w))
	h = binary.BigEndian.AppendUint32(h, uint32(a.h))
	chunk(&b, "IHDR", append(h, 8, 6, 0, 0, 0)) // eight bits of red, green, blue and alpha
	chunk(&b, "acTL", binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(a.frames)), 1))
	b.Write(a.body.Bytes())
	chunk(&b, "IEND", nil)
	return b.Bytes()
}

// pixels packs a part of a picture, colours no longer multiplied by alpha.
func (a *apng) pixels(p *image.RGBA, part image.Rectangle) ([]byte, error) {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	if n := 1 + 4*part.Dx(); cap(a.row) < n {
		a.row = make([]byte, n)
	}
	row := a.row[:1+4*part.Dx()]
	row[0] = 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		from := p.Pix[p.PixOffset(part.Min.X, y):]
		for i := 0; i < 4*part.Dx(); i += 4 {
			al := uint32(from[i+3])
			for k := range 3 {
				v := uint32(from[i+k])
				if al > 0 && al < 255 {
					v = min(255, (v*255+al/2)/al)
				}
				row[1+i+k] = byte(v)
			}
			row[1+i+3] = byte(al)
		}
		if _, err := z.Write(row); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
