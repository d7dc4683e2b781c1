package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// canary is what no part of a cleaned file may hold.
const canary = "CANARY 48.2082N 16.3738E"

// gps is an EXIF block that says an orientation and a place.
func gps(o uint16) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(le.AppendUint32([]byte("II*\x00"), 8), 2)
	for _, f := range []struct {
		tag, kind   uint16
		count, data uint32
	}{{270, 2, uint32(len(canary)), 38}, {274, 3, 1, uint32(o)}} { // a description, the orientation
		b = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(b, f.tag), f.kind), f.count), f.data)
	}
	return append(le.AppendUint32(b, 0), canary...)
}

func seg(marker byte, body string) string {
	return string(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))) + body
}

func chunk(name, body string) string { return string(appendChunk(nil, name, []byte(body))) }

func riff(name, body string) string { return string(appendRIFF(nil, name, []byte(body))) }

// drawn is a picture that a lossless format keeps.
func drawn() image.Image {
	im := image.NewPaletted(image.Rect(0, 0, 9, 7), color.Palette{color.White, color.Black, color.RGBA{200, 10, 10, 255}})
	for i := range im.Pix {
		im.Pix[i] = uint8(i % 3)
	}
	return im
}

func aJPEG(t testing.TB, segments string) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, drawn(), nil); err != nil {
		t.Fatal(err)
	}
	return "\xff\xd8" + segments + b.String()[2:]
}

// aPNG has chunks in front of the data and behind it.
func aPNG(t testing.TB, before, after string) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, drawn()); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	idat, iend := strings.Index(s, "IDAT")-4, strings.Index(s, "IEND")-4
	return s[:idat] + before + s[idat:iend] + after + s[iend:]
}

func aGIF(t testing.TB, extensions string) string {
	t.Helper()
	var b bytes.Buffer
	im := drawn().(*image.Paletted)
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{im, im}, Delay: []int{3, 4}, LoopCount: 5}); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	return s[:len(s)-1] + extensions + ";"
}

// magicTrailer ends XMP in a GIF, which is no block: wherever who takes it for blocks gets
// to in it, it leads to the end.
func magicTrailer() string {
	b := []byte{1}
	for i := range 256 {
		b = append(b, byte(255-i))
	}
	return string(append(b, 0))
}

// vp8l is a lossless WebP picture of 1 by 1.
const vp8l = "\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

func aWebP(chunks string) string {
	return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(chunks)+4))) + "WEBP" + chunks
}

func vp8x(flags byte) string { return riff("VP8X", string([]byte{flags, 0, 0, 0, 0, 0, 0, 0, 0, 0})) }

// TestAnonymous: what is said beside the picture goes; the picture, its orientation and
// colours stay as they were.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	_, _ = z.Write([]byte(canary))
	_ = z.Close()
	icc, exif, six := "ICC_PROFILE\x00\x01\x01colours", exifMark+string(gps(6)), exifMark+string(turnedOnly(gps(6)))
	frame := strings.Repeat("\x00", 16)
	for name, c := range map[string]struct{ file, want string }{
		"jpeg": {
			aJPEG(t, seg(app0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x01\x01"+canary)+seg(app0, "JFXX\x00"+canary)+seg(app1, exif)+seg(app1, exifMark+string(gps(3)))+
				seg(app1, "http://ns.adobe.com/xap/1.0/\x00"+canary)+seg(app2, icc)+seg(app2, "MPF\x00"+canary)+seg(0xed, "Photoshop 3.0\x00"+canary)+seg(0xe4, canary)+seg(com, canary)) + "\xff\xd8" + canary,
			aJPEG(t, seg(app0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00")+seg(app1, six)+seg(app2, icc)),
		},
		"jpeg with filling":             {aJPEG(t, "\xff\xff"+seg(com, canary)), aJPEG(t, "")},
		"jpeg upright":                  {aJPEG(t, seg(app1, exifMark+string(gps(1)))), aJPEG(t, "")},
		"jpeg of other colours":         {aJPEG(t, seg(app14, "Adobe\x00d\x00\x00\x00\x00\x01"+canary)), aJPEG(t, seg(app14, "Adobe\x00d\x00\x00\x00\x00\x01"))},
		"jpeg of which the end is lost": {strings.TrimSuffix(aJPEG(t, seg(com, canary)), "\xff\xd9"), strings.TrimSuffix(aJPEG(t, ""), "\xff\xd9")},
		"png": {
			aPNG(t, chunk("iCCP", icc)+chunk("eXIf", string(gps(6)))+chunk("tEXt", "Comment\x00"+canary)+chunk("zTXt", "x\x00\x00"+deflated.String())+chunk("pHYs", "\x00\x00\x00\x01\x00\x00\x00\x01\x00"),
				chunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+canary)+chunk("tIME", canary[:7])+chunk("prVt", canary)) + canary,
			aPNG(t, chunk("iCCP", icc)+chunk("eXIf", string(turnedOnly(gps(6))))+chunk("pHYs", "\x00\x00\x00\x01\x00\x00\x00\x01\x00"), ""),
		},
		"png upright":                            {aPNG(t, "", chunk("eXIf", string(gps(1)))), aPNG(t, "", "")},
		"png with a JPEG's mark before its EXIF": {aPNG(t, "", chunk("eXIf", exif)), aPNG(t, "", chunk("eXIf", six[6:]))},
		"gif": {
			aGIF(t, "\x21\xfe"+string(rune(len(canary)))+canary+"\x00"+"\x21\xff\x0bXMP DataXMP"+canary+magicTrailer()+"\x21\xff\x0bICCRGBG1012\x03abc\x00"+"\x21\xf9\x04\x00\x01\x00\x00\x00") + canary,
			aGIF(t, "\x21\xff\x0bICCRGBG1012\x03abc\x00"+"\x21\xf9\x04\x00\x01\x00\x00\x00"),
		},
		"webp": {
			aWebP(vp8x(webpEXIF|webpXMP|0x20)+riff("ICCP", icc)+riff("VP8L", vp8l)+riff("EXIF", exif)+riff("EXIF", exif)+riff("XMP ", canary)+riff("mine", canary)) + canary,
			aWebP(vp8x(webpEXIF|0x20) + riff("ICCP", icc) + riff("VP8L", vp8l) + riff("EXIF", six[6:])),
		},
		"webp upright":   {aWebP(vp8x(webpEXIF) + riff("VP8L", vp8l) + riff("EXIF", string(gps(1)))), aWebP(vp8x(0) + riff("VP8L", vp8l))},
		"webp, simple":   {aWebP(riff("VP8L", vp8l) + riff("EXIF", string(gps(6)))), aWebP(riff("VP8L", vp8l))},
		"webp that runs": {aWebP(vp8x(0x02) + riff("ANIM", "123456") + riff("ANMF", frame+riff("VP8L", vp8l)+riff("mine", canary))), aWebP(vp8x(0x02) + riff("ANIM", "123456") + riff("ANMF", frame+riff("VP8L", vp8l)))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.file == c.want {
				t.Fatal("there is nothing to take out")
			}
			before := strings.Clone(c.file)
			got, err := Anonymous([]byte(c.file))
			if err != nil || string(got) != c.want {
				t.Fatalf("%q\nwant %q (%v)", got, c.want, err)
			}
			if c.file != before || bytes.Contains(got, []byte("CANARY")) {
				t.Error("the canary is left")
			}
			samePixels(t, []byte(c.file), got)
			if again, err := Anonymous(got); err != nil || !bytes.Equal(again, got) {
				t.Errorf("what is clean changes: %q %v", again, err)
			}
			if at := strings.Index(name, "jpeg"); at == 0 && readOrientation(strings.NewReader(c.file)) != readOrientation(bytes.NewReader(got)) {
				t.Error("it is turned otherwise")
			}
		})
	}
}

// samePixels: what decodes decodes to the same.
func samePixels(t *testing.T, a, b []byte) {
	t.Helper()
	decode := func(data []byte) (image.Image, error) {
		if bytes.HasPrefix(data, []byte("GIF")) {
			return gif.Decode(bytes.NewReader(data))
		}
		return Decode(bytes.NewReader(data))
	}
	was, err := decode(a)
	if err != nil {
		return // it was not a picture before
	}
	is, err := decode(b)
	if err != nil {
		t.Fatalf("it decodes no more: %v", err)
	}
	if was.Bounds() != is.Bounds() {
		t.Fatalf("%v became %v", was.Bounds(), is.Bounds())
	}
	for y := was.Bounds().Min.Y; y < was.Bounds().Max.Y; y++ {
		for x := was.Bounds().Min.X; x < was.Bounds().Max.X; x++ {
			if was.At(x, y) != is.At(x, y) {
				t.Fatalf("at %d, %d: %v became %v", x, y, was.At(x, y), is.At(x, y))
			}
		}
	}
}

// TestAnonymousRefuses: what cannot be taken apart must not pass for clean.
func TestAnonymousRefuses(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"nothing": "", "another format": "BM" + canary, "a page": "<svg/>",
		"jpeg, cut in a segment": "\xff\xd8\xff\xe1\x00\x20Exif", "jpeg, short segment": "\xff\xd8\xff\xe1\x00\x01", "jpeg, other bytes between": "\xff\xd8\xff\xfe\x00\x02" + canary,
		"jpeg without a picture": "\xff\xd8" + seg(app1, exifMark), "jpeg that ends at once": "\xff\xd8\xff\xd9", "jpeg in a jpeg": "\xff\xd8\xff\xd8\xff\xd9", "jpeg, no marker": "\xff\xd8\xff\x00",
		"png, cut in a chunk": pngMagic + chunk("tEXt", canary)[:20], "png, chunk nobody knows": pngMagic + chunk("PRVT", canary), "png, too long": pngMagic + "\xff\xff\xff\xffIDAT",
		"gif, cut": "GIF89a\x01\x00\x01\x00\x80\x00\x00", "gif, unknown block": "GIF89a\x01\x00\x01\x00\x00\x00\x00\x99", "gif, cut comment": "GIF89a\x01\x00\x01\x00\x00\x00\x00\x21\xfe\x09abc",
		"webp, cut": aWebP(riff("VP8L", vp8l))[:25], "webp, cut chunk": aWebP("EXIF\xff\x00\x00\x00"), "webp, two headers": aWebP(vp8x(0) + vp8x(0)), "webp, short frame": aWebP(riff("ANMF", "abc")),
	} {
		if got, err := Anonymous([]byte(file)); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// FuzzAnonymous: a file that is taken apart shows what it showed, says nothing beside it
// that it could not say again, and stays as it is the next time.
func FuzzAnonymous(f *testing.F) {
	f.Add([]byte(aJPEG(f, seg(app1, exifMark+string(gps(6)))+seg(com, canary))))
	f.Add([]byte(aPNG(f, chunk("eXIf", string(gps(6))), chunk("tEXt", canary))))
	f.Add([]byte(aGIF(f, "\x21\xfe\x03abc\x00")))
	f.Add([]byte(aWebP(vp8x(webpEXIF|webpXMP) + riff("VP8L", vp8l) + riff("EXIF", string(gps(6))))))
	f.Add([]byte("\xff\xd8\xff\xda\x00\x02\xff\x00\xff\xff\xd0\xff\xff\xd9"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Anonymous(data)
		if err != nil {
			return
		}
		if len(got) > len(data)+64 {
			t.Errorf("%d bytes became %d", len(data), len(got))
		}
		if again, err := Anonymous(got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q becomes %q, then %q (%v)", data, got, again, err)
		}
		if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && c.Width*c.Height < 1<<16 {
			samePixels(t, data, got)
		}
	})
}
