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
