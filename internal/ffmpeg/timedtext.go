package ffmpeg

import (
	"encoding/binary"
	"strings"
)

// TimedText is the text of samples of 3GPP timed text (mov_text) that lie one behind the
// other: each a length of two bytes and so much text. Samples with styles behind their
// text are not understood and end it.
func TimedText(samples []byte) string {
	var b strings.Builder
	for len(samples) >= 2 {
		n := int(binary.BigEndian.Uint16(samples))
		if n > len(samples)-2 {
			break
		}
		b.Write(samples[2 : 2+n])
		b.WriteByte('\n')
		samples = samples[2+n:]
	}
	return b.String()
}

// QuickTimeLanguage is how a language, given by ISO 639-2/T, is written into a QuickTime
// file: the names of the Macintosh's own list, as ffmpeg spells them. Others cannot be
// written there.
func QuickTimeLanguage(three string) (name string, ok bool) {
	name = three
	if other, found := map[string]string{
		"deu": "ger", "nld": "dut", "ell": "gre", "isl": "ice", "zho": "chi", "sqi": "alb", "mkd": "mac", "swe": "sve",
	}[three]; found {
		name = other
	}
	const known = " eng fra ger ita dut sve spa dan por nor heb jpn ara fin gre ice mlt tur chi urd hin tha kor lit pol hun est lav rus alb ron ces slk slv yid mac bul ukr bel uzb kaz aze "
	return name, three != "" && strings.Contains(known, " "+name+" ")
}
