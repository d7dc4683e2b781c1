package evidence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

func TestParseTranscriptForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		hint   Format
		in     string
		format Format
		want   []Segment
	}{
		{
			name: "headless cues without a fraction", in: "00:01 --> 00:03\nПример транскрипта", format: Cues,
			want: []Segment{seg(1, 3, "Пример транскрипта")},
		},
		{
			name: "srt", in: "1\n00:00:01,500 --> 00:00:02,250\nHello 100% it's: {ok}\n\n2\n00:00:03,000 --> 00:00:04,000\nTwo\nlines\n", format: SubRip,
			want: []Segment{seg(1.5, 2.25, "Hello 100% it's: {ok}"), seg(3, 4, "Two\nlines")},
		},
		{
			name: "srt without numbers, blank lines and final newline, CRLF", format: SubRip,
			in:   "00:00:01,000 --> 00:00:02,000\r\nOne\r\n00:00:02,000 --> 00:00:03,000\r\nTwo",
			want: []Segment{seg(1, 2, "One"), seg(2, 3, "Two")},
		},
		{
			name: "srt with numbers but no blank lines", format: SubRip,
			in:   "1\n00:00:01,000 --> 00:00:02,000\nOne\n2\n00:00:02,000 --> 00:00:03,000\n42\n3\n00:00:03,000 --> 00:00:04,000\nThree",
			want: []Segment{seg(1, 2, "One"), seg(2, 3, "42"), seg(3, 4, "Three")},
		},
		{
			name: "unnumbered srt keeps a number that is text", format: SubRip,
			in:   "00:00:01,000 --> 00:00:02,000\nOne\n7\n00:00:02,000 --> 00:00:03,000\nTwo",
			want: []Segment{seg(1, 2, "One\n7"), seg(2, 3, "Two")},
		},
		{
			name: "a blank line inside a cue loses nothing", format: SubRip,
			in:   "1\n00:00:01,000 --> 00:00:02,000\nOne\n\nmore\n\n2\n00:00:02,000 --> 00:00:03,000\nTwo\n",
			want: []Segment{seg(1, 2, "One\nmore"), seg(2, 3, "Two")},
		},
		{
			name: "CR only", in: "1\r00:00:01,000 --> 00:00:02,000\rOne\r\r2\r00:00:02,000 --> 00:00:03,000\rTwo\r", format: SubRip,
			want: []Segment{seg(1, 2, "One"), seg(2, 3, "Two")},
		},
		{
			name: "vtt", format: WebVTT,
			in: "WEBVTT - title\nKind: captions\nLanguage: en\n\nNOTE\n00:09.000 --> 00:10.000 is a note\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:r\n\n" +
				"intro\n00:01.000 --> 00:02.000 align:start position:0%\n<v Ann &amp; Bob>Hi <i>there</i></v>\n\n61:01.000 --> 62:00.000\n&lt;b&gt; &amp;amp; &nbsp;x &#8230; AT&T <laughs> 1 < 2\n",
			want: []Segment{
				{Start: sec(1), End: secp(2), Text: "Hi there", Speaker: "Ann & Bob", UntrustedContent: true},
				seg(3661, 3720, "<b> &amp; \u00A0x … AT&T <laughs> 1 < 2"),
			},
		},
		{
			name: "vtt, two voices in one cue", format: WebVTT,
			in: "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Yes\n<v Bob>No\n",
			want: []Segment{
				{Start: sec(1), End: secp(2), Text: "Yes", Speaker: "Ann", UntrustedContent: true},
				{Start: sec(1), End: secp(2), Text: "No", Speaker: "Bob", UntrustedContent: true},
			},
		},
		{
			name: "vtt without blank lines", format: WebVTT,
			in:   "WEBVTT\n1\n00:01.000 --> 00:02.000\nOne\n2\n00:02.000 --> 00:03.000\nTwo",
			want: []Segment{seg(1, 2, "One"), seg(2, 3, "Two")},
		},
		{
			name: "whisper lines", format: Whisper,
			in:   "[00:00:00.000 --> 00:00:02.000]   And so my fellow Americans\n[00:00:02.000 --> 00:00:04.500]  ask not\n",
			want: []Segment{seg(0, 2, "And so my fellow Americans"), seg(2, 4.5, "ask not")},
		},
		{
			name: "whisper lines with an hour", format: Whisper,
			in:   "[1:00:00.000 --> 1:00:02.000] x",
			want: []Segment{seg(3600, 3602, "x")},
		},
		{
			name: "ass", format: ASS,
			in: "[Script Info]\nTitle: x\n\n[V4+ Styles]\nFormat: Name\nStyle: Default\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n" +
				"Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,hidden\n" +
				"Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}\n" +
				"Dialogue: 0,0:00:02.00,0:00:02.50,Default,Olly,0,0,0,,{\\an8\\b1}Two,\\Nlines &amp;{note} done\n" +
				"Dialogue: 1,0:00:02.00,0:00:02.50,Default,Olly,0,0,0,,Two,\\Nlines &amp; done\n" +
				"Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,One\n",
			want: []Segment{
				seg(1, 2, "One"),
				{Start: sec(2), End: secp(2.5), Text: "Two,\nlines &amp; done", Speaker: "Olly", UntrustedContent: true},
			},
		},
		{
			name: "json list", format: JSON, in: `[{"start":0,"end":1.5,"text":" Hi ","speaker":"A"},{"start":"00:00:02,000","end":"00:00:03,000","text":"x &amp; y"}]`,
			want: []Segment{
				{Start: 0, End: secp(1.5), Text: "Hi", Speaker: "A", UntrustedContent: true},
				seg(2, 3, "x &amp; y"),
			},
		},
		{
			name: "whisper.cpp json", format: JSON,
			in:   `{"result":{"language":"en"},"transcription":[{"timestamps":{"from":"00:00:00,000","to":"00:00:02,500"},"offsets":{"from":0,"to":2500},"text":" Hello"}]}`,
			want: []Segment{seg(0, 2.5, "Hello")},
		},
		{name: "plain text", in: "\n# Title\r\n\r\nGo from A --> B.\n", format: Text, want: []Segment{{Text: "# Title\n\nGo from A --> B.", UntrustedContent: true, Untimed: true}}},
		{
			name: "prose that shows a time line", format: Text, in: "How to write cues\n\nWrite a line\nlike this:\n00:01 --> 00:02\nand then\nthe text.\nThat\nis\nall\n.",
			want: []Segment{{Text: "How to write cues\n\nWrite a line\nlike this:\n00:01 --> 00:02\nand then\nthe text.\nThat\nis\nall\n.", UntrustedContent: true, Untimed: true}},
		},
		{name: "json that is no transcript", in: `{"a":1}`, format: Text, want: []Segment{{Text: `{"a":1}`, UntrustedContent: true, Untimed: true}}},
		{name: "nothing", in: " \n\n", format: Text, want: []Segment{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, tt.in, tt.hint)
			if got.Format != tt.format {
				t.Errorf("format %q, want %q", got.Format, tt.format)
			}
			if diff := cmp.Diff(tt.want, got.Segments); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTranscriptEncodings(t *testing.T) {
	t.Parallel()
	gbk := []byte("1\n00:00:00,000 --> 00:00:02,000\n\xC4\xE3\xBA\xC3\xA3\xAC\xCA\xC0\xBD\xE7\n")
	cp1251 := []byte("1\n00:00:00,000 --> 00:00:02,000\n\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0\n")
	cp1252 := []byte("1\n00:00:00,000 --> 00:00:02,000\nna\xEFve caf\xE9 \x96 \x93ok\x94\n")
	utf16 := func(s string, be, bom bool) []byte {
		if bom {
			s = "\uFEFF" + s
		}
		var b []byte
		for _, r := range s {
			lo, hi := byte(r), byte(r>>8)
			if be {
				lo, hi = hi, lo
			}
			b = append(b, lo, hi)
		}
		return b
	}
	srt := "1\n00:00:00,000 --> 00:00:02,000\nПривет, мир\n"
	for _, tt := range []struct {
		name     string
		in       []byte
		encoding string
		bom      bool
		want     string
	}{
		{"utf-8", []byte(srt), "utf-8", false, "Привет, мир"},
		{"utf-8 bom", []byte("\uFEFF" + srt), "utf-8", true, "Привет, мир"},
		{"utf-16le", utf16(srt, false, false), "utf-16le", false, "Привет, мир"},
		{"utf-16be", utf16(srt, true, false), "utf-16be", false, "Привет, мир"},
		{"utf-16le bom", utf16(srt, false, true), "utf-16le", true, "Привет, мир"},
		{"utf-16be bom", utf16(srt, true, true), "utf-16be", true, "Привет, мир"},
		{"utf-16le prose", utf16("Только слова без цифр", false, false), "utf-16le", false, "Только слова без цифр"},
		{"gbk", gbk, "gbk", false, "你好，世界"},
		{"cp1251", cp1251, "windows-1251", false, "Привет, мир"},
		{"cp1252", cp1252, "windows-1252", false, "naïve café – “ok”"},
		{"one accent", []byte("caf\xE9"), "windows-1252", false, "café"},
		{"damaged utf-8", []byte("Привет, мир, это Юлия\xD0"), "utf-8", false, "Привет, мир, это Юлия\uFFFD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, string(tt.in), "")
			if got.Encoding != tt.encoding || got.ByteOrderMark != tt.bom {
				t.Errorf("encoding %s bom %v, want %s %v", got.Encoding, got.ByteOrderMark, tt.encoding, tt.bom)
			}
			if len(got.Segments) != 1 || got.Segments[0].Text != tt.want {
				t.Errorf("segments %+v, want one %q", got.Segments, tt.want)
			}
		})
	}
}

func TestParseTranscriptProblems(t *testing.T) {
	t.Parallel()
	got := parse(t, "credits\n1\n00:00:05,000 --> 00:00:06,000\nA\n\n2\n00:0x:01,000 --> 00:00:02,000\nbad\n\n3\n00:00:04,000 --> 00:00:07,000\nB\n\n4\n00:00:06,500 --> 00:00:06,000\nC\n\n5\n00:00:08,000 --> later\nD\n\n6\n-00:00:01,000 --> 00:00:09,000\nE\n", SubRip)
	var texts []string
	for _, s := range got.Segments {
		texts = append(texts, s.Text)
	}
	if diff := cmp.Diff([]string{"A", "B", "C", "D", "E"}, texts); diff != "" {
		t.Errorf("texts: %s", diff)
	}
	want := []Problem{
		{Line: 1, What: "text outside any cue was left out"},
		{Cue: 2, Line: 7, What: "the time line cannot be read; the cue was left out"},
		{Cue: 5, Line: 19, What: "the end of the cue cannot be read; it was left open"},
		{Cue: 6, Line: 23, What: "starts before zero; it was set to zero"},
		{Cue: 3, Line: 11, What: "starts at 4, before the cue before it (5)"},
		{Cue: 4, Line: 15, What: "ends at 6, before it starts at 6.5"},
		{Cue: 4, Line: 15, What: "starts at 6.5, while an earlier cue lasts to 7"},
		{Cue: 6, Line: 23, What: "starts at 0, before the cue before it (8)"},
	}
	if diff := cmp.Diff(want, got.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got.Segments[3].End != nil {
		t.Error("the end of cue 5 was invented")
	}
}

func TestParseTranscriptErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		opt  ParseOptions
		want cutroom.Code
	}{
		{"too large", "hello", ParseOptions{MaxBytes: 4}, cutroom.Limit},
		{"binary", "\x00\x00\x00\x18ftypmp42\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08" + strings.Repeat("\x01\x00\x02", 99), ParseOptions{}, cutroom.Invalid},
		{"json without segments", `{"a":1}`, ParseOptions{Format: JSON}, cutroom.Invalid},
	} {
		_, err := ParseTranscript([]byte(tt.in), tt.opt)
		var e *cutroom.Error
		if !errors.As(err, &e) || e.Code != tt.want {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestRollingCaptionsLoseNoWord(t *testing.T) {
	t.Parallel()
	vtt := "WEBVTT\nKind: captions\nLanguage: en\n\n" +
		"00:00:00.000 --> 00:00:02.000 align:start position:0%\n \nhello<00:00:00.500><c> big</c><00:00:01.000><c> world</c>\n\n" +
		"00:00:02.000 --> 00:00:02.010 align:start position:0%\nhello big world\n \n\n" +
		"00:00:02.010 --> 00:00:04.000 align:start position:0%\nhello big world\nthis<00:00:03.000><c> is</c>\n\n" +
		"00:00:04.000 --> 00:00:04.010 align:start position:0%\nthis is\n \n\n" +
		"00:00:04.010 --> 00:00:06.000 align:start position:0%\nthis is\na<00:00:05.000><c> test &amp; more</c>\n"
	got := parse(t, vtt, "")
	want := []Segment{
		{Start: 0, End: secp(2.01), Text: "hello big world", UntrustedContent: true, Words: []Word{
			{Start: 0, End: secp(0.5), Text: "hello"}, {Start: sec(0.5), End: secp(1), Text: "big"}, {Start: sec(1), End: secp(2), Text: "world"},
		}},
		{Start: sec(2.01), End: secp(4.01), Text: "this is", UntrustedContent: true, Words: []Word{
			{Start: sec(2.01), End: secp(3), Text: "this"}, {Start: sec(3), End: secp(4), Text: "is"},
		}},
		{Start: sec(4.01), End: secp(6), Text: "a test & more", UntrustedContent: true, Words: []Word{
			{Start: sec(4.01), End: secp(5), Text: "a"}, {Start: sec(5), End: secp(6), Text: "test & more"},
		}},
	}
	if diff := cmp.Diff(want, got.Segments); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	if len(got.Problems) != 0 {
		t.Errorf("problems %+v", got.Problems)
	}
	if got.Language != "en" {
		t.Errorf("language %q", got.Language)
	}
}

func TestRollingForms(t *testing.T) {
	t.Parallel()
	cues := func(texts ...string) string {
		var b strings.Builder
		for i, x := range texts {
			fmt.Fprintf(&b, "%d\n00:00:%02d,000 --> 00:00:%02d,000\n%s\n\n", i+1, i*2, i*2+3, x)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"two lines roll", []string{"a b", "a b\nc d", "c d\ne f", "e f\ng h"}, "a b|c d|e f|g h"},
		{"a line grows", []string{"we", "we are", "we are here", "now", "now we", "now we go"}, "we are here|now we go"},
		{"a refrain stays", []string{"la la", "la la", "something else", "la la", "more", "new words", "again", "other"}, "la la|la la|something else|la la|more|new words|again|other"},
	} {
		var got []string
		for _, s := range parse(t, cues(tt.texts...), SubRip).Segments {
			got = append(got, s.Text)
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLongTextIsSplit(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("слово ", 300_000)
	got := parse(t, text, "")
	var all strings.Builder
	for _, s := range got.Segments {
		if len(s.Text) > MaxSegmentText {
			t.Errorf("segment of %d bytes", len(s.Text))
		}
		all.WriteString(s.Text)
	}
	if len(got.Segments) < 3 || all.String() != text {
		t.Errorf("%d segments, text kept: %v", len(got.Segments), all.String() == text)
	}
}

// TestLinearTime compares doubled inputs of the forms that could be quadratic.
func TestLinearTime(t *testing.T) {
	forms := map[string]func(n int) string{
		"overlapping cues": func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "%d\n%02d:%02d:%02d,000 --> %02d:%02d:%02d,900\nline %d\n\n", i+1, i/3600, i/60%60, i%60, i/3600, i/60%60, i%60, i)
			}
			return b.String()
		},
		"brackets": func(n int) string {
			return "WEBVTT\n\n00:01.000 --> 00:02.000\n" + strings.Repeat("<{\\&[", n*10)
		},
		"one cue of many lines": func(n int) string {
			return "1\n00:00:01,000 --> 00:00:02,000\n" + strings.Repeat("x\n1\n", n*5) + "00:00:02,000 --> 00:00:03,000\nx"
		},
	}
	for name, form := range forms {
		took := func(data []byte) time.Duration {
			start := time.Now()
			if _, err := ParseTranscript(data, ParseOptions{}); err != nil {
				t.Fatal(err)
			}
			return time.Since(start)
		}
		small, large := []byte(form(5_000)), []byte(form(20_000))
		ratio := 0.0
		a, b := time.Hour, time.Hour
		for range 20 { // the least of many: other work on the machine only adds
			a, b = min(a, took(small)), min(b, took(large))
			if ratio = float64(b) / float64(a); ratio < 9 { // 4 when linear, 16 when quadratic
				break
			}
		}
		if ratio >= 9 {
			t.Errorf("%s: four times the input takes %.1f times as long (%v, %v)", name, ratio, a, b)
		}
	}
}

func TestRealTranscripts(t *testing.T) {
	t.Parallel()
	dir := testenv.Real(t)
	read := func(name string) Transcript {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, string(data), "")
	}
	got := read("typical_utf16le")
	if got.Encoding != "utf-16le" || !got.ByteOrderMark || got.Format != SubRip {
		t.Errorf("typical_utf16le: %s %v %s", got.Encoding, got.ByteOrderMark, got.Format)
	}
	want := []Segment{
		seg(0, 1.234, "This is the first subtitle."),
		seg(2.345, 3.456, "This is the second subtitle.\nSecond subtitle with second line."),
		seg(7204.567, 7208.901, "This is the third subtitle."),
	}
	if diff := cmp.Diff(want, got.Segments); diff != "" {
		t.Errorf("typical_utf16le: %s", diff)
	}
	want = []Segment{
		seg(0, 1.234, "This is the first subtitle."), seg(2.345, 3.456, "This is the second subtitle."),
		seg(4, 5, "This is the third subtitle."), seg(6, 7, "This is the <fourth> &subtitle."),
	}
	if diff := cmp.Diff(want, read("with_tags").Segments); diff != "" {
		t.Errorf("with_tags: %s", diff)
	}
}

func FuzzParseTranscript(f *testing.F) {
	for _, s := range []string{
		"", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>x<00:01.500><c>y</c>&amp;\n", "1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>x</i>\r\n",
		"[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{\\p1}m 0{\\p0}x\\N", `[{"start":1,"text":"x","words":[{"word":"x"}]}]`,
		"[00:00:00.000 --> 00:00:02.000] x", "00:01 --> 00:03\nx", "\xFF\xFE1\x00", "\xFE\xFF\x00", "\xC4\xE3\xBA\xC3", "{\"segments\":[{\"start\":1e400}]}", "\x00\x00\xFE\xFF", "00:01.000 --> 00:02.000\na\n\n00:02.000 --> 00:03.000\na\nb\n\n00:03.000 --> 00:04.000\nb\nc\n",
	} {
		f.Add([]byte(s), "")
		f.Add([]byte(s), "srt")
	}
	f.Fuzz(func(t *testing.T, data []byte, hint string) {
		got, err := ParseTranscript(data, ParseOptions{Format: Format(hint)})
		if err != nil {
			var e *cutroom.Error
			if !errors.As(err, &e) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for _, s := range got.Segments {
			if s.Start < 0 || s.End != nil && *s.End < 0 || strings.TrimSpace(s.Text) == "" || !s.UntrustedContent || len(s.Text) > MaxSegmentText {
				t.Errorf("bad segment %+v", s)
			}
		}
		if len(got.Problems) > maxProblems {
			t.Errorf("%d problems", len(got.Problems))
		}
	})
}

func TestLooksLikeTranscript(t *testing.T) {
	t.Parallel()
	dir := testenv.Real(t)
	for name, want := range map[string]bool{
		"typical_utf16le": true, "with_tags": true, "jfk.wav": false, "example.mp4": false, "viper.mp3": false, "loop_forever.avif": false,
		"bear_with_picture.flac": false, "no_duration.webm": false, "captions-test.ts": false, "100kB-garbage-prefix.mp3": false, "pv_empty.wav": false, "dog.jpg": false,
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{512, 4096, 65536} {
			if got := LooksLikeTranscript(data[:min(n, len(data))]); got != want {
				t.Errorf("%s, %d bytes: %v", name, n, got)
			}
		}
	}
}
