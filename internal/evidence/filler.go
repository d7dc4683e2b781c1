package evidence

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"cutroom"
)

// fillers are sounds of hesitation by language: nothing that is a word somewhere in a
// sentence of that language. A drawn-out letter counts once (ummm).
var fillers = map[string]string{
	"en": "um uh uhm erm er hm mm eh",
	"de": "äh ähm öh öhm ehm hm mh äm",
	"fr": "euh heu euhm hum hm mh",
	"es": "eh ehm em mm hm eeh",
	"it": "ehm eh uhm mm mh hm",
	"pt": "hã ahn ehm hum hm mm uhm ããã",
	"ja": "えー ええと えっと えーと えーっと あのー あのう そのー うーん うー んー",
}

// FillerOptions choose what counts as a filler.
type FillerOptions struct {
	Language    string   // de, en, es, fr, it, ja or pt, or a tag that begins so
	Extra, Keep []string // words or phrases that count too, and that do not
	Only        []string // in place of the language's own, when set
	Pad         cutroom.Micros
}

// Filler is a filler that was said. Its span reaches into the pauses around it by the
// pad, never into another word.
type Filler struct {
	Start, End cutroom.Micros
	Text       string
}

// Fillers finds fillers among words in order of time; a word without an end reaches to
// the next.
func Fillers(words []Word, o FillerOptions) []Filler {
	var list [][]string
	for _, text := range append(o.words(), o.Extra...) {
		if p := phrase(text); len(p) > 0 {
			list = append(list, p)
		}
	}
	var keep [][]string
	for _, text := range o.Keep {
		keep = append(keep, phrase(text))
	}
	list = slices.DeleteFunc(list, func(p []string) bool {
		return slices.ContainsFunc(keep, func(k []string) bool { return slices.Equal(k, p) })
	})
	slices.SortStableFunc(list, func(a, b []string) int { return len(b) - len(a) }) // the longest first
	said := make([]string, len(words))
	for i, w := range words {
		said[i] = strings.Join(phrase(w.Text), "")
	}
	var out []Filler
	for i := 0; i < len(words); i++ {
		n := 0
		for _, p := range list {
			if i+len(p) <= len(said) && slices.Equal(said[i:i+len(p)], p) {
				n = len(p)
				break
			}
		}
		if n == 0 {
			continue
		}
		out = append(out, span(words, i, i+n, o.Pad))
		i += n - 1
	}
	return slices.DeleteFunc(out, func(f Filler) bool { return f.End <= f.Start })
}

func (o FillerOptions) words() []string {
	if len(o.Only) > 0 {
		return slices.Clone(o.Only)
	}
	tag, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(o.Language), "_", "-"), "-")
	return strings.Fields(fillers[tag])
}

// span is where words[i:j] are said, with the pad.
func span(words []Word, i, j int, pad cutroom.Micros) Filler {
	f := Filler{Start: words[i].Start - pad, End: endOf(words, j-1) + pad}
	if i > 0 {
		f.Start = max(f.Start, endOf(words, i-1))
	}
	if j < len(words) {
		f.End = min(f.End, words[j].Start)
	}
	f.Start = max(0, min(f.Start, words[i].Start))
	var texts []string
	for _, w := range words[i:j] {
		texts = append(texts, w.Text)
	}
	f.Text = strings.Join(texts, " ")
	return f
}

func endOf(words []Word, i int) cutroom.Micros {
	end := words[i].Start
	if words[i].End != nil {
		end = *words[i].End
	}
	if i+1 < len(words) && (words[i].End == nil || end > words[i+1].Start) {
		end = words[i+1].Start
	}
	return max(end, words[i].Start)
}

// phrase is a text as it is compared: lower case, letters and digits only, a letter that
// is drawn out counted once.
func phrase(text string) []string {
	var out []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		var b strings.Builder
		var last rune
		for _, r := range w {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || r == last || r == 'ー' && last == 'ー' {
				continue
			}
			last = r
			b.WriteRune(r)
		}
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return out
}

// ParseWords reads the times of single words out of a transcript in JSON, as whisper and
// its kin write it: in segments, or in one list. A transcript with segments but without
// words is an error: times of sentences do not say where a word is.
func ParseWords(data []byte) (words []Word, language string, err error) {
	t, err := ParseTranscript(data, ParseOptions{Format: JSON})
	if err != nil && t.Segments == nil {
		t = Transcript{}
	}
	for _, s := range t.Segments {
		words = append(words, s.Words...)
	}
	language = t.Language
	if len(words) == 0 {
		var doc struct {
			Language string     `json:"language"`
			Words    []jsonWord `json:"words"`
		}
		if json.Unmarshal([]byte(decodeText(data).text), &doc) == nil {
			language = doc.Language
			for _, w := range doc.Words {
				words = append(words, w.word(0))
			}
		}
	}
	words = slices.DeleteFunc(words, func(w Word) bool { return w.Text == "" })
	if len(words) == 0 {
		return nil, language, cutroom.Errorf(cutroom.Invalid, "the transcript has no times of single words").
			WithHint("make one with word times (whisper --word_timestamps True --output_format json)")
	}
	slices.SortStableFunc(words, func(a, b Word) int { return int(a.Start - b.Start) })
	return words, language, nil
}
