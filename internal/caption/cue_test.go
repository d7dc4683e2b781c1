package caption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/evidence"
)

func TestCueFiles(t *testing.T) {
	t.Parallel()
	o := caption.FileOptions{Hold: 3 * cutroom.Second, Gap: 500_000, Timecode: func(s string) (cutroom.Micros, error) {
		if s == "00:00:10:12" {
			return 10_480_000, nil
		}
		return 0, fmt.Errorf("bad timecode %s", s)
	}}
	for text, want := range map[string][]caption.Cue{
		"1.5-3.2 Hello there":                {cue(1.5, 3.2, "Hello there")},
		"0:01-0:03.5 a|b\\|c":                {cue(1, 3.5, "a\nb|c")},
		"1 - 3 spaced":                       {cue(1, 3, "spaced")},
		"1–3 dash":                           {cue(1, 3, "dash")},
		"00:00:01,500 --> 00:00:03,200 same": {cue(1.5, 3.2, "same")},
		"1\r\n00:00:01,500 --> 00:00:03,200\r\nnext\r\nlines\r\n\r\n2\r\n00:00:04,000 --> 00:00:05,000\r\nlast": {
			cue(1.5, 3.2, "next\nlines"), cue(4, 5, "last"),
		},
		"one\ntwo":                          {cue(0, 3, "one"), cue(3.5, 6.5, "two")},
		"5-6 first\nfollows":                {cue(5, 6, "first"), cue(6.5, 9.5, "follows")},
		"00:00:10:12-00:00:10:12":           nil,
		"00:00:10:12 - 0:12 smpte":          {cue(10.48, 12, "smpte")},
		"20-10 is backwards, so it is text": {cue(0, 3, "20-10 is backwards, so it is text")},
		"10-20":                             {cue(0, 3, "10-20")},
		"3 blind mice":                      {cue(0, 3, "3 blind mice")},
		"":                                  {},
		"9-10 later\n1-2 earlier":           {cue(1, 2, "earlier"), cue(9, 10, "later")},
	} {
		got, err := caption.ParseFile(text, o)
		if want == nil {
			if err == nil || !strings.Contains(err.Error(), "line 1") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err != nil || len(got)+len(want) > 0 && !cmp.Equal(got, want) {
			t.Errorf("%q: %v %s", text, err, cmp.Diff(want, got))
		}
	}
	for _, bad := range []string{"0:05-0:03 backwards", "5.5-3.0 backwards", "ok\n1.0 --> 0.5 x", "99:99:99:99-1:00 x"} {
		if _, err := caption.ParseFile(bad, o); err == nil || cutroom.AsError(err).Hint == "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzCueFile(f *testing.F) {
	for _, s := range []string{"1-2 a", "00:00:01,0 --> 00:00:02,0\nx\n", "a|b", "1:2:3:4-5:6:7;8 t", "1\n2\n3", "9999999999999999-1 x", "0.0000001-1e9 x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := caption.FileOptions{Hold: cutroom.Second}
		cues, err := caption.ParseFile(s, o)
		if err != nil {
			return
		}
		for i, c := range cues {
			if c.End <= c.Start || c.Start < 0 || i > 0 && c.Start < cues[i-1].Start || strings.TrimSpace(c.Text) == "" {
				t.Fatalf("%q gives %+v", s, c)
			}
		}
		// What is written is read back, by this parser and by the one of transcripts.
		if len(cues) > 0 {
			tr, err := evidence.ParseTranscript(caption.VTT(cues), evidence.ParseOptions{Format: evidence.WebVTT})
			if err == nil && len(tr.Segments) > len(cues) {
				t.Fatalf("%q: %d cues were written and %d read", s, len(cues), len(tr.Segments))
			}
		}
	})
}

func FuzzRetime(f *testing.F) {
	f.Add("[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hi, there\n")
	f.Add("[Events]\nDialogue: ,,\n[x\nDialogue")
	f.Fuzz(func(t *testing.T, s string) {
		same := func(a, b cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool) { return a, b, true }
		out, kept, gone := caption.Retime(s, same)
		if again, k, g := caption.Retime(out, same); again != out || k != kept || g != gone || gone != 0 {
			t.Fatalf("%q is not stable: %q", out, again)
		}
	})
}

func TestRetime(t *testing.T) {
	t.Parallel()
	script := "[Script Info]\nPlayResX: 100\n\n[V4+ Styles]\nStyle: A\n[Events]\nFormat: Layer, Start, End, Style, Text\nDialogue: 0,0:00:01.00,0:00:02.50,A,one, {\\an8}two\nComment: 0,0:00:01.00,0:00:02.50,A,left\nDialogue: 0,0:00:59.00,0:01:00.00,A,gone\n"
	got, kept, gone := caption.Retime(script, func(a, b cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool) {
		return a + 3_004_000, b + 3_004_000, a < 10*cutroom.Second
	})
	if kept != 1 || gone != 1 || !strings.Contains(got, "Dialogue: 0,0:00:04.00,0:00:05.50,A,one, {\\an8}two\n") || strings.Contains(got, "gone") || !strings.Contains(got, "PlayResX: 100") {
		t.Errorf("%d %d\n%s", kept, gone, got)
	}
}

func TestTimesOfCues(t *testing.T) {
	t.Parallel()
	cues := []caption.Cue{{Start: 1_000_000, Text: "open"}, cue(2, 2.2, "short"), cue(2.5, 9, "long"), cue(20, 21, "outside")}
	caption.Close(cues, 3*cutroom.Second)
	if cues[0].End != 2*cutroom.Second {
		t.Errorf("an open cue ends at %s", cues[0].End)
	}
	if n := caption.Extend(cues, cutroom.Second, 0); n != 1 || cues[1].End != 2_500_000 {
		t.Errorf("%d extended, to %s", n, cues[1].End)
	}
	kept, outside := caption.Clip(cues, 8*cutroom.Second)
	if outside != 1 || len(kept) != 3 || kept[2].End != 8*cutroom.Second {
		t.Errorf("%d outside: %+v", outside, kept)
	}
	caption.Shift(kept, -1_500_000)
	if kept, outside = caption.Clip(kept, 0); outside != 0 || kept[0].Start != 0 || kept[0].End != 500_000 {
		t.Errorf("%d outside: %+v", outside, kept)
	}
}

// Case 24: cues of the source are where the cut shows them.
func TestCuesAcrossACut(t *testing.T) {
	t.Parallel()
	// Shown: 2–4 s, then 8–10 s, at double speed.
	spans := func(start, end cutroom.Micros) []caption.Span {
		var list []caption.Span
		for _, s := range []struct{ from, to, at, speed cutroom.Micros }{{2_000_000, 4_000_000, 0, 1}, {8_000_000, 10_000_000, 2_000_000, 2}} {
			if a, b := max(start, s.from), min(end, s.to); a < b {
				list = append(list, caption.Span{Start: s.at + (a-s.from)/s.speed, End: s.at + (b-s.from)/s.speed, FromStart: a, FromEnd: b})
			}
		}
		return list
	}
	words := cue(2.5, 3.5, "two words")
	words.Words = []caption.Word{{Text: "two", Start: 2_500_000, End: 3_000_000}, {Text: "words", Start: 3_000_000, End: 3_500_000}}
	got, gone := caption.Remap([]caption.Cue{cue(0, 1, "cut out"), words, cue(3.8, 8.2, "across"), cue(8.5, 9.5, "fast")}, spans)
	moved := cue(0.5, 1.5, "two words")
	moved.Words = []caption.Word{{Text: "two", Start: 500_000, End: 1_000_000}, {Text: "words", Start: 1_000_000, End: 1_500_000}}
	want := []caption.Cue{moved, cue(1.8, 2.1, "across"), cue(2.25, 2.75, "fast")}
	if gone != 1 || !cmp.Equal(got, want) {
		t.Errorf("%d gone, %s", gone, cmp.Diff(want, got))
	}
}

func TestVoice(t *testing.T) {
	t.Parallel()
	// A second of speech, two of silence, a second of speech.
	level := make([]float32, 40)
	for i := range level {
		level[i] = -60
		if i < 10 || i >= 30 {
			level[i] = -20
		}
	}
	v := caption.NewVoice(0, 100_000, level)
	if at := v.Progress(0, 4*cutroom.Second, 0.45); at > cutroom.Second {
		t.Errorf("45 %% is spoken at %s", at)
	}
	if at := v.Progress(0, 4*cutroom.Second, 0.55); at < 3*cutroom.Second {
		t.Errorf("55 %% is spoken at %s", at)
	}
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.SliceOf(rapid.Float32Range(-120, 0)).Draw(t, "level")
		v := caption.NewVoice(cutroom.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start")), 100_000, level)
		a := cutroom.Micros(rapid.Int64Range(0, 5_000_000).Draw(t, "from"))
		b := a + cutroom.Micros(rapid.Int64Range(0, 5_000_000).Draw(t, "length"))
		last := a
		for i := range 11 {
			at := v.Progress(a, b, float64(i)/10)
			if at < last || at > b {
				t.Fatalf("at %d/10 it is %s, after %s, of %s–%s", i, at, last, a, b)
			}
			last = at
		}
	})
}

// Karaoke lights each word when it is spoken, and counts to the cue's end.
func TestKaraoke(t *testing.T) {
	t.Parallel()
	c := cue(1, 3, "one two three")
	c.Words = []caption.Word{{Text: "one", Start: 1_200_000}, {Text: "two", Start: 1_500_000}, {Text: "three", Start: 2_500_000}}
	o := plainOptions()
	o.Karaoke = &caption.Karaoke{Highlight: "FFD200", Upcoming: "808080"}
	script := string(lay(t, o, c).ASS())
	if !strings.Contains(script, `{\k20}{\k30}one {\k100}two {\k50}three`) || !strings.Contains(script, "&H0000D2FF,&H00808080") {
		t.Error(script)
	}
	o.Karaoke.WordOnly = true
	script = string(lay(t, o, c).ASS())
	if !strings.Contains(script, `{\1c&H808080&\t(500,500,\1c&H00D2FF&)\t(1500,1500,\1c&H808080&)}two `) {
		t.Error(script)
	}
	// Lit or not is to be seen: yellow has less blue than white.
	o = plainOptions()
	o.Karaoke = &caption.Karaoke{Highlight: "FFFFFF", Upcoming: "000000"}
	o.Style.Outline = 0
	l := lay(t, o, c)
	s := l.Shown()[0]
	third := func(at string, n int) (ink int) {
		p := draw(t, l.ASS(), 1280, 720, at)
		for y := range p.h {
			for x := s.X + n*s.Width/3; x < s.X+(n+1)*s.Width/3; x++ {
				if p.pix[y*p.w+x] > 128 {
					ink++
				}
			}
		}
		return ink
	}
	if a, b, c := third("1.4", 0), third("1.4", 2), third("2.9", 2); a == 0 || b != 0 || c == 0 {
		t.Errorf("at 1.4 s the first third has %d lit pixels and the last %d; at 2.9 s %d", a, b, c)
	}
}

// A file of any shape is read in linear time.
func TestLargeCueFiles(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"1-2 a\n", "a\n", "1\n", "1 --> 2\n", "|", "\\|", "1:2:3:4-", "1-2\n", "\r"} {
		text := "1 --> 2\n" + strings.Repeat(unit, 200_000)
		if _, err := caption.ParseFile(text, caption.FileOptions{Hold: cutroom.Second}); err != nil && cutroom.AsError(err).Code != cutroom.Invalid {
			t.Error(err)
		}
	}
}
