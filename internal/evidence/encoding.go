package evidence

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decoded is text in UTF-8 and how it was written.
type decoded struct {
	text     string
	encoding string
	bom      bool
	broken   int // places that the encoding cannot explain
}

// sampleBytes bounds what is looked at to tell one encoding from another.
const sampleBytes = 1 << 18

// decodeText finds the encoding of b and decodes it, once. A byte order mark
// decides; then zero bytes at one parity (UTF-16); then validity (UTF-8); then
// the statistics of the high bytes (GBK, windows-1251, else windows-1252).
func decodeText(b []byte) decoded {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}) && len(b)%4 == 0:
		return decodeWith(utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), b[4:], "utf-32le", true)
	case bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}):
		return decodeWith(utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), b[4:], "utf-32be", true)
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return decode16(b[2:], binary.LittleEndian, "utf-16le", true)
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return decode16(b[2:], binary.BigEndian, "utf-16be", true)
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		return decode8(b[3:], true)
	}
	switch zeroParity(b) {
	case 0:
		return decode16(b, binary.BigEndian, "utf-16be", false)
	case 1:
		return decode16(b, binary.LittleEndian, "utf-16le", false)
	}
	if utf8.Valid(b) {
		return decode8(b, false)
	}
	if d := decode8(b, false); mostlyUTF8(b, d.broken) {
		return d
	}
	sample := b[:min(len(b), sampleBytes)]
	if four, ok := looksGBK(sample); ok {
		name := "gbk"
		if four {
			name = "gb18030"
		}
		return decodeWith(simplifiedchinese.GB18030, b, name, false)
	}
	if looksCyrillic(sample) {
		return decodeWith(charmap.Windows1251, b, "windows-1251", false)
	}
	return decodeWith(charmap.Windows1252, b, "windows-1252", false)
}

func decode8(b []byte, bom bool) decoded {
	d := decoded{encoding: "utf-8", bom: bom}
	s := strings.TrimLeft(string(b), "\uFEFF")
	if utf8.ValidString(s) {
		d.text = s
		return d
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			d.broken++
		}
		out.WriteRune(r)
		i += n
	}
	d.text = out.String()
	return d
}

// mostlyUTF8 tells damaged UTF-8 (a cut-off character, a stray byte) from
// another encoding: well-formed sequences outnumber the faults ten to one.
func mostlyUTF8(b []byte, broken int) bool {
	whole := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r >= utf8.RuneSelf && n > 1 {
			whole++
		}
		i += n
	}
	return whole >= 10*broken
}

func decode16(b []byte, order binary.ByteOrder, name string, bom bool) decoded {
	d := decoded{encoding: name, bom: bom}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	if len(b)%2 == 1 {
		d.broken++
	}
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			next := rune(0)
			if i+1 < len(units) {
				next = rune(units[i+1])
			}
			if r = utf16.DecodeRune(r, next); r == unicode.ReplacementChar {
				d.broken++
			} else {
				i++
			}
		}
		out.WriteRune(r)
	}
	d.text = strings.TrimLeft(out.String(), "\uFEFF")
	return d
}

func decodeWith(e encoding.Encoding, b []byte, name string, bom bool) decoded {
	out, err := e.NewDecoder().Bytes(b)
	if err != nil { // the decoders replace what they cannot read; this is not reached
		return decode8(b, bom)
	}
	s := strings.TrimLeft(string(out), "\uFEFF")
	return decoded{text: s, encoding: name, bom: bom, broken: strings.Count(s, "\uFFFD")}
}

// zeroParity returns 0 or 1 when zero bytes stand at even or at odd offsets only,
// as in UTF-16 of any text that has spaces, digits or line ends; else -1.
func zeroParity(b []byte) int {
	b = b[:min(len(b), sampleBytes)]
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i&1]++
		}
	}
	pairs := len(b) / 2
	for p := range zeros {
		if pairs > 0 && zeros[p]*50 >= pairs && zeros[1-p]*20 <= zeros[p] {
			return p
		}
	}
	return -1
}

// looksGBK reports whether every high byte of b is part of a well-formed GBK or
// GB18030 character and most of the characters are the common ones of GB 2312
// (rows 1–3 and 16–55). Western text fails at once, since its accented letters
// stand before ASCII; Cyrillic text falls outside the common rows.
func looksGBK(b []byte) (four, ok bool) {
	chars, common := 0, 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c < 0x80 {
			continue
		}
		if c == 0x80 || c == 0xFF {
			return false, false
		}
		if i+1 >= len(b) {
			break // cut off by the sample or by the file
		}
		t := b[i+1]
		switch {
		case t >= '0' && t <= '9':
			if i+3 >= len(b) || b[i+2] < 0x81 || b[i+3] < '0' || b[i+3] > '9' {
				return false, false
			}
			four = true
			i += 3
			continue
		case t < 0x40 || t == 0x7F || t == 0xFF:
			return false, false
		}
		chars++
		if t >= 0xA1 && (c >= 0xB0 && c <= 0xD7 || c >= 0xA1 && c <= 0xA3) {
			common++
		}
		i++
	}
	return four, chars > 0 && common*10 >= chars*8
}

// looksCyrillic reports whether the high bytes of b come in runs, as letters of
// a Cyrillic word do in windows-1251; in western text they stand alone between
// ASCII letters.
func looksCyrillic(b []byte) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(b) && (b[i] >= 0xC0 || b[i] == 0xA8 || b[i] == 0xB8)
	}
	high, joined := 0, 0
	for i := range b {
		if letter(i) {
			high++
			if letter(i-1) || letter(i+1) {
				joined++
			}
		}
	}
	return high >= 2 && joined*10 >= high*7
}

// plausibleText reports whether s is text at all: next to no control characters
// and places that could not be decoded. Compressed data read as windows-1252 is
// one tenth of such characters.
func plausibleText(s string) bool {
	runes, odd := 0, 0
	for i, r := range s {
		if i > sampleBytes {
			break
		}
		runes++
		if r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) || r >= 0x7F && r < 0xA0 && r != 0x85 {
			odd++
		}
	}
	return odd <= 2 || odd*50 <= runes
}

// DecodeText returns text of any encoding that transcripts come in as UTF-8, without a
// byte order mark.
func DecodeText(b []byte) string { return decodeText(b).text }
