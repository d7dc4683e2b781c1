package evidence

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("nothing to see over there ", 400)
	rows := []struct {
		name, text, question string
		n                    int
		want, not            string
	}{
		{"fits", "the banana is ripe", "banana", 100, "the banana is ripe", "…"},
		{"found in the middle", filler + "the banana fell off the table " + filler, "when does the banana fall?", 120, "the banana fell off the table", ""},
		{"other form of a word", filler + "it is moving " + filler, "does it move", 60, "moving", ""},
		{"most different terms", filler + "banana banana banana " + filler + "a banana meets an error code " + filler, "banana error", 80, "banana meets an error", ""},
		{"no spaces", strings.Repeat("天気は晴れ", 500) + "東京駅で電車" + strings.Repeat("天気は晴れ", 500), "東京駅", 60, "東京駅", ""},
		{"nothing matches", "start of it " + filler, "zebra", 60, "start of it", ""},
		{"no question", "start of it " + filler, "", 60, "start of it", ""},
	}
	for _, r := range rows {
		got := Excerpt(r.text, r.question, r.n)
		if !strings.Contains(got, r.want) || utf8.RuneCountInString(got) > r.n || r.not != "" && strings.Contains(got, r.not) {
			t.Errorf("%s: %d characters, %q", r.name, utf8.RuneCountInString(got), got)
		}
	}
	if got := Excerpt(filler, "zebra", 60); !strings.HasSuffix(got, "…") || strings.HasPrefix(got, "…") {
		t.Errorf("a beginning is %q", got)
	}
}

func TestExcerptIsAStretchOfTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"banana", "error", " ", "  ", "\n", "東京駅", "é", "fallen", "x", "\xff", "\U0001F600"})
		text := strings.Join(rapid.SliceOfN(word, 0, 300).Draw(t, "text"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		n := rapid.IntRange(0, 400).Draw(t, "n")
		got := Excerpt(text, rapid.SampledFrom([]string{"", "banana", "東京 error", "the"}).Draw(t, "question"), n)
		if utf8.RuneCountInString(got) > n {
			t.Fatalf("%d characters of %d", utf8.RuneCountInString(got), n)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(got, "…"), "…")
		if !strings.Contains(string([]rune(text)), string([]rune(inner))) {
			t.Fatalf("%q is not in %q", inner, text)
		}
	})
}
