package caption_test

import (
	"image"
	"image/color"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/caption"
)

// tile is a picture for every emoji, wide as the font's are.
func tile(string) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, 17, 16))
	for i := range 17 * 16 {
		p.SetNRGBA(i%17, i/17, color.NRGBA{R: 255, A: 255})
	}
	return p
}

// shapes are the empty ones that gaps are made of.
var shapes = regexp.MustCompile(`\{([^\\{}]+)(\\bord0\\shad0\\p1\\pbo[-0-9.]+\})m 0 0 l ([0-9.]+) 0 m 0 ([0-9.]+) l [0-9. ]+\{`)

// A picture stands exactly where the renderer leaves the gap: at the beginning, in the
// middle and at the end of a line, in both directions, on the first line and the second.
func TestPicturesStandInTheirGaps(t *testing.T) {
	t.Parallel()
	const e, flag, family = "\U0001F600", "\U0001F1E9\U0001F1EA", "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466"
	cases := []string{
		e + " starts a line", "stands in " + e + " the middle", "ends a line " + e, e, "no" + flag + "space", "first line\nsecond " + family + " line",
		"above " + e + " it\nsecond line", e + " שלום עולם", "שלום " + e + " עולם", "שלום עולם " + e, "שלום 12.5 " + e + " עולם abc", "abc שלום " + e + " עולם def",
		"abc שלום 25% " + e + " def", "abc " + e + " 7 שלום def", "مرحبا ١٢ " + e + " بالعالم", "two ١٢ " + e + " مرحبا x", "日本 " + e + " 語", "[a] (שלום " + e + ") b",
	}
	positions := []caption.Position{caption.Bottom, caption.TopLeft, caption.Right}
	for i, text := range cases {
		o := plainOptions()
		o.Style.Outline, o.Style.Color, o.Style.Position, o.Style.Bold = 0, "000000", positions[i%3], i%5 == 4
		o.Pictures = &caption.Pictures{Of: tile, Scale: []float64{1, 1, 1.4, 0.7}[i%4]}
		l := lay(t, o, cue(0, 3, text))
		if r := l.Report.Emoji; r.Clusters != 1 || r.Pictures != 1 || !l.Report.Unchanged {
			t.Fatalf("%q: %+v", text, l.Report)
		}
		spots := l.Sprites()
		if len(spots) != 1 || len(shapes.FindAll(l.ASS(), -1)) != 1 {
			t.Fatalf("%q: %d pictures in %s", text, len(spots), l.ASS())
		}
		script := shapes.ReplaceAll(l.ASS(), []byte(`{$1\1c&HFFFFFF&${2}m 0 0 l $3 0 $3 $4 0 $4{\1c&H000000&`))
		x0, y0, x1, y1, _ := draw1280(t, script).ink(128)
		s := spots[0]
		high := max(1, s.Height/(s.Height/o.Pictures.Scale)) * s.Height / o.Pictures.Scale
		want := []float64{s.X - 0.04*s.Height, s.Y + s.Height/2 - high/2, s.X + s.Width + 0.04*s.Height, s.Y + s.Height/2 + high/2}
		for k, got := range []int{x0, y0, x1, y1} {
			if d := float64(got) - want[k]; d < -1.6 || d > 1.6 {
				t.Errorf("%q (%s, bold %v): the gap is %d,%d–%d,%d, computed %.1f", text, o.Style.Position, o.Style.Bold, x0, y0, x1, y1, want)
				break
			}
		}
	}
}

func draw1280(t testing.TB, script []byte) picture { return draw(t, script, 1280, 720, "1") }

// Text beside a picture stands as beside anything as wide: the lines around are unmoved.
func TestTextAroundPicturesIsUnmoved(t *testing.T) {
	t.Parallel()
	o := plainOptions()
	o.Pictures = &caption.Pictures{Of: tile}
	with := lay(t, o, cue(0, 3, "above the line\nbelow \U0001F600 it"))
	o.Pictures = nil
	bare := lay(t, o, cue(0, 3, "above the line\nbelow it"))
	a, b := draw1280(t, with.ASS()), draw1280(t, bare.ASS())
	ax0, ay0, _, ay1, _ := a.ink(100)
	bx0, by0, _, by1, _ := b.ink(100)
	if ax0 != bx0 || ay0 != by0 || ay1 != by1 {
		t.Errorf("with a picture %d,%d to %d, without %d,%d to %d", ax0, ay0, ay1, bx0, by0, by1)
	}
}

// What a picture is: by itself, by the selectors; letters and signs of text are none.
func TestWhatIsAPicture(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"\u2764": 0, "\u2764\ufe0f": 1, "\u2600 and \u2714": 0, "\U0001F600\ufe0e": 0, "1 2 #": 0, "1\ufe0f\u20e3": 1, "\U0001F1E9": 0, "\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7": 2,
		"\U0001F44D\U0001F3FD": 1, "\u00a9": 0, "\u2b50": 1, "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F": 1,
	} {
		o := plainOptions()
		o.Pictures = &caption.Pictures{Of: tile}
		l, err := caption.Lay([]caption.Cue{cue(0, 1, "a "+text+" b")}, fonts(), o)
		if err != nil {
			if want == 0 && cutroom.AsError(err).Code == cutroom.MissingDependency {
				continue // a lone half of a flag
			}
			t.Errorf("%+q: %v", text, err)
			continue
		}
		if got := len(l.Sprites()); got != want && text != "\U0001F1E9" {
			t.Errorf("%+q: %d pictures, not %d", text, got, want)
		}
	}
}

// none takes emoji out; too many different ones are refused; what has no picture is
// drawn by a font or refused, and named.
func TestEmojiAreLeftOutBoundedNamed(t *testing.T) {
	t.Parallel()
	o := plainOptions()
	o.NoEmoji = true
	if l := lay(t, o, cue(0, 1, "a \U0001F600 b")); l.Report.Emoji.Left != 1 || strings.Contains(string(l.ASS()), "\U0001F600") {
		t.Errorf("%+v", l.Report.Emoji)
	}
	o.NoEmoji = false
	o.Pictures = &caption.Pictures{Of: tile, Most: 2}
	lay(t, o, cue(0, 1, "\U0001F600\U0001F601\U0001F600"))
	if _, err := caption.Lay([]caption.Cue{cue(0, 1, "\U0001F600\U0001F601\U0001F602")}, fonts(), o); cutroom.AsError(err).Code != cutroom.Limit {
		t.Errorf("three of two: %v", err)
	}
	o.Pictures = &caption.Pictures{Of: func(c string) *image.NRGBA {
		if c == "\U0001F601" {
			return tile(c)
		}
		return nil
	}}
	l := lay(t, o, cue(0, 1, "\U0001F600\U0001F601")) // DejaVu Sans has the first one
	if r := l.Report.Emoji; r.Clusters != 2 || r.Pictures != 1 || !slices.Equal(r.Missing, []string{"U+1F600"}) {
		t.Errorf("%+v", r)
	}
	if _, err := caption.Lay([]caption.Cue{cue(0, 1, "\U0001FAE0")}, fonts(), o); cutroom.AsError(err).Code != cutroom.MissingDependency {
		t.Errorf("neither picture nor letter: %v", err)
	}
}

// However emoji and letters are mixed, every picture stands within its caption, none on
// another, and the script keeps the text.
func TestPicturesHold(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "word ", "שלום ", "مرحبا", " 12 ", "\U0001F600", "\U0001F1E9\U0001F1EA", "1\ufe0f\u20e3", "\U0001F468\u200d\U0001F469\u200d\U0001F467", "{", `\`, "漢", "\u200d", "\ufe0f", "\n", "(", ")", "%"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 30).Draw(t, "parts"), "")
		o := plainOptions()
		o.Pictures = &caption.Pictures{Of: tile}
		o.Style.Position = rapid.SampledFrom([]caption.Position{caption.Bottom, caption.Left, caption.TopRight}).Draw(t, "position")
		l, err := caption.Lay([]caption.Cue{cue(0, 3, text)}, fonts(), o)
		if err != nil {
			if c := cutroom.AsError(err).Code; c != cutroom.Invalid && c != cutroom.MissingDependency {
				t.Fatal(err)
			}
			return
		}
		if !l.Report.Unchanged {
			t.Fatalf("%q was changed: %s", text, l.ASS())
		}
		list := l.Sprites()
		if len(list) != l.Report.Emoji.Pictures {
			t.Fatalf("%d pictures of %d", len(list), l.Report.Emoji.Pictures)
		}
		for i, s := range list {
			in := slices.ContainsFunc(l.Shown(), func(b caption.Shown) bool {
				return b.Start == s.Start && s.X > float64(b.X)-1 && s.Y > float64(b.Y)-1 && s.X+s.Width < float64(b.X+b.Width)+1 && s.Y+s.Height < float64(b.Y+b.Height)+1
			})
			if !in {
				t.Fatalf("%q: %.1f,%.1f %.1f×%.1f lies outside of %+v", text, s.X, s.Y, s.Width, s.Height, l.Shown())
			}
			for _, p := range list[:i] {
				if p.Start == s.Start && s.X < p.X+p.Width-0.01 && p.X < s.X+s.Width-0.01 && s.Y < p.Y+p.Height-0.01 && p.Y < s.Y+s.Height-0.01 {
					t.Fatalf("%q: two pictures on one place", text)
				}
			}
		}
	})
}
