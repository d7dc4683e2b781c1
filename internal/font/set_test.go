package font_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/font"
)

func set(t testing.TB) *font.Set {
	t.Helper()
	return font.NewSet(filepath.Join(t.TempDir(), "index"), font.Folders()...)
}

func TestFontsByScript(t *testing.T) {
	t.Parallel()
	s := set(t)
	for _, x := range []struct{ family, language, text, want string }{
		{"", "", "Hello, мир, κόσμε", "DejaVu Sans"},
		{"dejavu serif", "", "Hello", "DejaVu Serif"},
		{"DejaVu Sans Mono", "", "Hello", "DejaVu Sans Mono"},
		{"DejaVu Sans", "", "漢字", "Noto Sans CJK SC"}, // the family has no such letters: another one draws them
		{"", "", "ひらがな", "Noto Sans CJK JP"},
		{"", "", "한국어", "Noto Sans CJK KR"},
		{"", "ja", "漢字", "Noto Sans CJK JP"},
		{"", "zh-Hant", "漢字", "Noto Sans CJK TC"},
		{"", "", "שלום", "DejaVu Sans"},
		{"", "", "\u200d\ufe0f \n", "DejaVu Sans"}, // nothing that is drawn
	} {
		f, err := s.Find(x.family, x.language, x.text, false)
		if err != nil || f.Family() != x.want || !f.Covers(x.text) {
			t.Errorf("%+v: %v, %v", x, f, err)
		}
	}
	for text, script := range map[string]string{"हिन्दी": "Devanagari", "Hello हिन्दी": "Devanagari", "தமிழ்": "Tamil", "\U0001FAE0": "emoji"} {
		_, err := s.Find("", "", text, false)
		if e := cutroom.AsError(err); err == nil || e.Code != cutroom.MissingDependency || !strings.Contains(e.Msg, script) || !strings.Contains(e.Hint, "fonts-") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := s.Find("Comic Nothing", "", "a", false); cutroom.AsError(err).Code != cutroom.MissingDependency || !strings.Contains(err.Error(), "Comic Nothing") {
		t.Errorf("%v", err)
	}
}

// A set whose folders hold no fonts says what to install; the fingerprint tells sets
// apart.
func TestNoFonts(t *testing.T) {
	t.Parallel()
	none := font.NewSet(filepath.Join(t.TempDir(), "index"), t.TempDir())
	if _, err := none.Find("", "", "a", false); cutroom.AsError(err).Code != cutroom.MissingDependency || none.Fingerprint() != "" {
		t.Errorf("%v %q", err, none.Fingerprint())
	}
	if a, b := set(t).Fingerprint(), set(t).Fingerprint(); a == "" || a != b {
		t.Errorf("%q and %q", a, b)
	}
}

// Widths add up, do not depend on the order of calls, and may be asked for at once.
func TestWidths(t *testing.T) {
	t.Parallel()
	s := set(t)
	f, err := s.Find("DejaVu Sans", "", "abc", false)
	if err != nil {
		t.Fatal(err)
	}
	// An em of DejaVu Sans is 2048 units, its line 1901 + 483 of them, its M 1767 wide.
	if w := f.Width("M"); w < 1767.0/2384-1e-3 || w > 1767.0/2384+1e-3 {
		t.Errorf("M is %v wide", w)
	}
	if a := f.Ascent(); a < 1901.0/2384-1e-3 || a > 1901.0/2384+1e-3 {
		t.Errorf("ascent %v", a)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, word := range strings.Fields("the quick brown fox שלום עולם") {
				_ = f.Width(word)
			}
		})
	}
	wg.Wait()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[a-zA-Z ]{0,20}`).Draw(t, "a")
		b := rapid.StringMatching(`[a-zA-Z ]{0,20}`).Draw(t, "b")
		if sum, both := f.Width(a)+f.Width(b), f.Width(a+b); both > sum+0.2 || both < sum-0.3 {
			t.Fatalf("%q is %v wide, its parts %v", a+b, both, sum)
		}
	})
}
