package caption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/caption"
)

// words that texts are made of: of several scripts, with everything that ASS reads as
// markup, words wider than any line.
var words = []string{
	"the", "quick", "brown", "fox,", "jumps", "over.", "and", "a", "100%", "{ok}", `\N`, `C:\New`, "it's:", "I", "well-known", "naïve", "«да»", "Привет", "мир!",
	"שלום", "עולם?", "مرحبا", "بالعالم", "任何一个有远大抱负的男人", "日本語", "カタカナ", "안녕하세요", "3,5", "--", "{\\b1}", "}", "{", `\`, "Donaudampfschifffahrtsgesellschaftskapitänsmütze",
	"|", "<i>", "&amp;", "e\u0301", "a\u200db",
}

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", " ", "  ", "\n", ""}).Draw(t, "gap"))
			}
			b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
		}
		return b.String()
	})
}

func anyOptions(t *rapid.T) caption.Options {
	size := rapid.SampledFrom([][2]int{{1280, 720}, {1080, 1920}, {640, 480}, {720, 720}, {1920, 800}}).Draw(t, "frame")
	o := plainOptions()
	o.Width, o.Height = size[0], size[1]
	o.MaxLines = rapid.IntRange(1, 3).Draw(t, "lines")
	o.Fit, o.PerCue, o.Measured = rapid.Bool().Draw(t, "fit"), rapid.Bool().Draw(t, "cue"), rapid.Bool().Draw(t, "measured")
	o.Style.Size = rapid.Float64Range(13, 40).Draw(t, "size")
	o.Style.Outline = rapid.Float64Range(0, 4).Draw(t, "outline")
	o.Style.Box = rapid.Bool().Draw(t, "box")
	o.Style.Position = rapid.SampledFrom([]caption.Position{
		caption.Bottom, caption.BottomLeft, caption.BottomRight, caption.Center, caption.Left, caption.Right, caption.Top, caption.TopLeft, caption.TopRight,
	}).Draw(t, "position")
	if rapid.Bool().Draw(t, "platform") {
		o.Safe = caption.Insets{Top: .10, Bottom: .22, Left: .05, Right: .14}
		o.Style.Margin = 0
	}
	o.Animate = rapid.SampledFrom([]caption.Animation{caption.Still, caption.Fade, caption.Pop, caption.Slide}).Draw(t, "animate")
	if rapid.Bool().Draw(t, "karaoke") {
		o.Karaoke = &caption.Karaoke{Highlight: "FFD200", WordOnly: rapid.Bool().Draw(t, "word")}
	}
	return o
}

func anyCues(t *rapid.T) []caption.Cue {
	var cues []caption.Cue
	at := cutroom.Micros(0)
	for range rapid.IntRange(1, 6).Draw(t, "cues") {
		at += cutroom.Micros(rapid.Int64Range(0, 3_000_000).Draw(t, "pause"))
		cues = append(cues, caption.Cue{Start: at, End: at + cutroom.Micros(rapid.Int64Range(100_000, 6_000_000).Draw(t, "length")), Text: texts().Draw(t, "text")})
	}
	return cues
}

// bare is text without white space and what is never drawn.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// What is laid out has the text it was given, inside the safe area, never two captions
// in one place, never outside of its own cue's time.
func TestLayoutsHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cues, o := anyCues(t), anyOptions(t)
		given := ""
		for _, c := range cues {
			given += bare(c.Text)
		}
		before := fmt.Sprint(cues)
		l, err := caption.Lay(cues, fonts(), o)
		if err != nil {
			if e := cutroom.AsError(err); e.Code != cutroom.Invalid || e.Hint == "" {
				t.Fatal(err)
			}
			return // more at once than the frame holds
		}
		if fmt.Sprint(cues) != before {
			t.Fatal("the cues were changed")
		}
		if !l.Report.Unchanged {
			t.Fatalf("the script's text is not the cues'\n%s", l.ASS())
		}
		ax, ay, aw, ah := l.Area()
		shown := l.Shown()
		for i, s := range shown {
			if s.X < ax-1 || s.Y < ay-1 || s.X+s.Width > ax+aw+2 || s.Y+s.Height > ay+ah+2 {
				t.Fatalf("%+v lies outside of %d,%d %d×%d", s, ax, ay, aw, ah)
			}
			if s.End <= s.Start {
				t.Fatalf("%+v ends before it starts", s)
			}
			for _, o := range shown[:i] {
				if s.Start < o.End && o.Start < s.End && s.X < o.X+o.Width && o.X < s.X+s.Width && s.Y+3 < o.Y+o.Height && o.Y+3 < s.Y+s.Height {
					t.Fatalf("%+v covers %+v", s, o)
				}
			}
		}
		drawn := l.Cues()
		for _, c := range drawn {
			if n := strings.Count(c.Text, "\n"); n >= o.MaxLines {
				t.Fatalf("%d lines in %q", n+1, c.Text)
			}
			if !slices.ContainsFunc(cues, func(g caption.Cue) bool { return g.Start <= c.Start && c.End <= g.End }) {
				t.Fatalf("%+v lies outside of every cue", c)
			}
		}
		if r := l.Report; !o.Fit && r.Shrunk > 0 && o.Style.Size*float64(o.MaxLines)*1.6 < 100 {
			t.Fatalf("shrunk without leave: %+v", r)
		}
		if l.Report.Cut == 0 && len(cues) == 1 {
			var text string
			for _, c := range drawn {
				text += bare(c.Text)
			}
			if text != given {
				t.Fatalf("drawn %q, given %q", text, given)
			}
		}
	})
}

// A cue is shown whole as long as some size down to the floor lets it, and is then split
// at a phrase.
func TestShrinksBeforeItSplits(t *testing.T) {
	t.Parallel()
	long := "The quick brown fox jumps over the lazy dog, and then it runs away from all of the hunters in the forest."
	o := plainOptions()
	l := lay(t, o, cue(0, 6, "short"), cue(7, 12, long))
	if r := l.Report; r.Split != 0 || r.Used >= 24 || r.Used < 13 || r.Shrunk != 2 || len(l.Shown()) != 2 {
		t.Errorf("one size for the file: %+v", r)
	}
	o.PerCue = true
	if r := lay(t, o, cue(0, 6, "short"), cue(7, 12, long)).Report; r.Shrunk != 1 || r.Used >= 24 {
		t.Errorf("a size for each cue: %+v", r)
	}
	o.Fit = false
	l = lay(t, o, cue(0, 6, "short"), cue(7, 12, long))
	if r := l.Report; r.Split != 1 || r.Exhausted != 1 || r.Used != 24 {
		t.Errorf("without shrinking: %+v", r)
	}
	got := l.Cues()
	if len(got) != 3 || !strings.HasSuffix(got[1].Text, "dog,") || got[1].End != got[2].Start || got[2].End != 12*cutroom.Second {
		t.Errorf("split as %+v", got)
	}
	// The parts share the time by their letters.
	if d := got[1].End - got[1].Start; d < 1_500_000 || d > 3_000_000 {
		t.Errorf("the first part stands %s of 5 s", d)
	}
}

func TestLinesBreakAtPhrases(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"When the rain finally stopped, we walked slowly home":       "When the rain finally stopped,\nwe walked slowly home",
		"She looked at the picture of her old grandmother and cried": "She looked at the picture\nof her old grandmother and cried",
		"Is that all you have to say? I do not believe a word":       "Is that all you have to say?\nI do not believe a word",
		"kept as\nit was": "kept as\nit was",
		"吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。": "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。",
	} {
		o := plainOptions()
		o.Style.Size = 22
		if got := lay(t, o, cue(0, 5, text)).Cues()[0].Text; got != want {
			t.Errorf("%q\nnot %q", got, want)
		}
	}
}

// No line begins with a closing mark or ends with an opening one, and no cluster is
// torn apart.
func TestEastAsianLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"日", "本", "語", "。", "、", "「", "」", "（", "）", "ー", "ッ", "ん", "カ", "が\u3099", "！"}), 4, 60).Draw(t, "parts")
		text := "始" + strings.Join(parts, "") + "終"
		o := plainOptions()
		o.Fit = false
		l, err := caption.Lay([]caption.Cue{cue(0, 30, text)}, fonts(), o)
		if err != nil {
			t.Fatal(err)
		}
		if l.Report.Broken > 0 {
			return // nothing but closing marks in a row wider than a line
		}
		for _, c := range l.Cues() {
			for line := range strings.SplitSeq(c.Text, "\n") {
				first, last := []rune(line)[0], []rune(line)[len([]rune(line))-1]
				if strings.ContainsRune("。、」）！\u3099", first) || strings.ContainsRune("「（", last) {
					t.Fatalf("%q is a line of %q", line, text)
				}
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	o := plainOptions()
	for name, x := range map[string]struct {
		change func(*caption.Options)
		text   string
		code   cutroom.Code
		says   string
	}{
		"no font has it":  {nil, "हिन्दी", cutroom.MissingDependency, "Devanagari"},
		"no such font":    {func(o *caption.Options) { o.Style.Font = "No Such Font" }, "a", cutroom.MissingDependency, "No Such Font"},
		"no emoji":        {nil, "\U0001FAE0", cutroom.MissingDependency, "emoji"},
		"no room":         {func(o *caption.Options) { o.Safe = caption.Insets{Top: .5, Bottom: .45} }, "a", cutroom.Invalid, "pixels"},
		"nothing to show": {nil, " \n ", cutroom.Invalid, "nothing"},
	} {
		o := o
		if x.change != nil {
			x.change(&o)
		}
		_, err := caption.Lay([]caption.Cue{cue(0, 1, x.text)}, fonts(), o)
		if e := cutroom.AsError(err); err == nil || e.Code != x.code || !strings.Contains(e.Msg, x.says) || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.NoEmoji = true
	l := lay(t, o, cue(0, 1, "melting \U0001FAE0 face"))
	if r := l.Report; r.Emoji.Left != 1 || r.Emoji.Clusters != 1 || !slices.Contains(r.Emoji.Missing, "U+1FAE0") || r.Unchanged {
		t.Errorf("%+v", r)
	}
}

// Case 44: twenty thousand cues that overlap are laid out in linear time.
func TestVeryManyCues(t *testing.T) {
	t.Parallel()
	many := func(n int) []caption.Cue {
		var cues []caption.Cue
		for i := range n {
			cues = append(cues, caption.Cue{Start: cutroom.Micros(i) * 500_000, End: cutroom.Micros(i)*500_000 + 700_000, Text: fmt.Sprintf("line %d, and a few more words that need to be broken somewhere", i)})
		}
		return cues
	}
	l := lay(t, plainOptions(), many(20_000)...)
	if r := l.Report; r.Cues != 20_000 || !r.Unchanged || r.Cut != 0 || len(l.Shown()) != 20_000 {
		t.Errorf("%+v", r)
	}
	up := 0
	for _, s := range l.Shown() {
		if s.Y != l.Shown()[0].Y {
			up++
		}
	}
	if up == 0 || up > 10_000 {
		t.Errorf("%d cues were stacked on others, not half of them", up)
	}
}

func BenchmarkLay(b *testing.B) {
	for _, n := range []int{1000, 20_000} {
		var cues []caption.Cue
		for i := range n {
			cues = append(cues, caption.Cue{Start: cutroom.Micros(i) * 500_000, End: cutroom.Micros(i)*500_000 + 700_000, Text: fmt.Sprintf("line %d, and a few more words that need to be broken somewhere", i)})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := caption.Lay(cues, fonts(), plainOptions()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
