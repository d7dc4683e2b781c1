package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

func said(texts ...string) (words []Word) {
	for i, text := range texts {
		end := cutroom.Micros(i)*cutroom.Second + 800_000
		words = append(words, Word{Start: cutroom.Micros(i) * cutroom.Second, End: &end, Text: text})
	}
	return words
}

func TestFillers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o     FillerOptions
		words []string
		want  []string
	}{
		{FillerOptions{Language: "en-US"}, []string{"So,", "Ummm...", "the", "umbrella", "Uh", "er"}, []string{"Ummm...", "Uh", "er"}},
		{FillerOptions{Language: "de"}, []string{"er", "sagte", "ähm", "um", "drei"}, []string{"ähm"}},
		{FillerOptions{Language: "ja"}, []string{"えーっと", "今日", "あのー"}, []string{"えーっと", "あのー"}},
		{FillerOptions{Language: "en", Extra: []string{"you know"}, Keep: []string{"uh"}}, []string{"you", "know", "uh", "you"}, []string{"you know"}},
		{FillerOptions{Language: "en", Only: []string{"like"}}, []string{"um", "like"}, []string{"like"}},
		{FillerOptions{Language: "nl"}, []string{"um"}, nil},
	} {
		var got []string
		for _, f := range Fillers(said(c.words...), c.o) {
			got = append(got, f.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.words, diff)
		}
	}
}

// A filler's cut never reaches into another word.
func TestFillersKeepOffWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var words []Word
		at := cutroom.Micros(0)
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			at += cutroom.Micros(rapid.Int64Range(0, 300_000).Draw(t, "gap"))
			end := at + cutroom.Micros(rapid.Int64Range(1, 500_000).Draw(t, "long"))
			words = append(words, Word{Start: at, End: &end, Text: rapid.SampledFrom([]string{"um", "word"}).Draw(t, "text")})
			at = end
		}
		for _, f := range Fillers(words, FillerOptions{Language: "en", Pad: 50_000}) {
			for _, w := range words {
				if w.Text == "word" && w.Start < f.End && f.Start < *w.End {
					t.Fatalf("%+v cuts into %s–%s", f, w.Start, *w.End)
				}
			}
		}
	})
}

func FuzzParseWords(f *testing.F) {
	f.Add([]byte(`{"language":"en","segments":[{"start":0,"end":1,"text":"a","words":[{"word":"a","start":0,"end":1}]}]}`))
	f.Add([]byte(`{"words":[{"word":"a","start":0.5}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		words, _, err := ParseWords(data)
		if err == nil && len(words) == 0 {
			t.Fatal("no words and no error")
		}
		for i, w := range words {
			if w.Start < 0 || i > 0 && w.Start < words[i-1].Start {
				t.Fatalf("%+v", words)
			}
		}
	})
}
