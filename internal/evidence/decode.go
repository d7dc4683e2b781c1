package evidence

import (
	"strings"

	"golang.org/x/text/language"

	"cutroom"
)

// Decode reads text of any common encoding, once, and returns it in UTF-8 with the
// name of the encoding that was found: utf-8, utf-16le, utf-16be, utf-32le, utf-32be,
// gbk, gb18030, windows-1251 or windows-1252. The error is invalid: it is no text.
func Decode(data []byte) (text, encoding string, err error) {
	dec := decodeText(data)
	if !plausibleText(dec.text) {
		return "", "", cutroom.Errorf(cutroom.Invalid, "the file is not text").WithHint("give a text file")
	}
	return dec.text, dec.encoding, nil
}

// Language reads the name of a language, a BCP 47 tag or an ISO 639-2 or -3 code, and
// returns its tag and the three letters of ISO 639-2/T that MP4 and Matroska carry.
func Language(name string) (tag, three string, err error) {
	t, err := language.Parse(strings.ReplaceAll(name, "_", "-"))
	if err != nil || t == language.Und {
		return "", "", cutroom.Errorf(cutroom.Invalid, "%q is not the code of a language", clipped(name)).
			WithHint("give two or three letters, such as en, de or jpn")
	}
	base, _ := t.Base()
	return t.String(), base.ISO3(), nil
}

func clipped(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
