package evidence

import (
	"fmt"
	"strings"
	"testing"

	"cutroom"

	"pgregory.net/rapid"
)

func clockOf(t cutroom.Micros, comma bool) string {
	ms := int64(t) / 1000
	sep := "."
	if comma {
		sep = ","
	}
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, sep, ms%1000)
}

// TestRollingProperty writes a speech as scrolling captions of one to three lines
// and expects every word once, in order.
func TestRollingProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-f]{1,3}`), 30, 80).Draw(t, "words")
		shown := rapid.IntRange(2, 4).Draw(t, "lines shown")
		hold := rapid.Bool().Draw(t, "hold cues")
		var lines []string
		for i := 0; i < len(words); {
			n := min(rapid.IntRange(2, 6).Draw(t, "line"), len(words)-i)
			// Lines that hold their own number never repeat by chance.
			lines = append(lines, fmt.Sprint(strings.Join(words[i:i+n], " "), " ", len(lines)))
			i += n
		}
		var b strings.Builder
		b.WriteString("WEBVTT\n\n")
		for i := range lines {
			at := cutroom.Micros(i) * 2 * cutroom.Second
			visible := lines[max(0, i-shown+1) : i+1]
			fmt.Fprintf(&b, "%s --> %s\n%s\n\n", clockOf(at, false), clockOf(at+2*cutroom.Second-10_000, false), strings.Join(visible, "\n"))
			if hold {
				fmt.Fprintf(&b, "%s --> %s\n%s\n \n\n", clockOf(at+2*cutroom.Second-10_000, false), clockOf(at+2*cutroom.Second, false), strings.Join(visible[max(0, len(visible)-shown+1):], "\n"))
			}
		}
		tr, err := ParseTranscript([]byte(b.String()), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range tr.Segments {
			got = append(got, s.Text)
		}
		if strings.Join(got, "\n") != strings.Join(lines, "\n") {
			t.Fatalf("words were lost or repeated:\n%s\n---\n%s\n--- from\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"), b.String())
		}
	})
}

// TestCuesRoundTrip writes cues in every sloppy way that is met and expects the
// same segments.
func TestCuesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		vtt := rapid.Bool().Draw(t, "vtt")
		numbered := rapid.Bool().Draw(t, "numbered")
		blank := rapid.Bool().Draw(t, "blank lines")
		eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")
		var b strings.Builder
		if rapid.Bool().Draw(t, "bom") {
			b.WriteString("\uFEFF")
		}
		if vtt {
			b.WriteString("WEBVTT" + eol + eol)
		}
		var want []string
		n := rapid.IntRange(1, 12).Draw(t, "cues")
		for i := range n {
			start := cutroom.Micros(i)*cutroom.Second + 1000*cutroom.Micros(rapid.IntRange(0, 400).Draw(t, "start"))
			end := start + 1000*cutroom.Micros(rapid.IntRange(0, 500).Draw(t, "length"))
			text := fmt.Sprint(rapid.StringMatching(`[A-Za-zа-я一-三<&]{1,8}( [a-z0-9{}%']{1,6}){0,3}`).Draw(t, "text"), " ", i, "x")
			want = append(want, fmt.Sprintf("%s %s %s", start, end, text))
			if numbered {
				fmt.Fprint(&b, i+1, eol)
			}
			b.WriteString(clockOf(start, !vtt) + " --> " + clockOf(end, !vtt) + eol + text + eol)
			if blank {
				b.WriteString(eol)
			}
		}
		tr, err := ParseTranscript([]byte(b.String()), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range tr.Segments {
			got = append(got, fmt.Sprintf("%s %s %s", s.Start, s.End, s.Text))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(tr.Problems) > 0 {
			t.Fatalf("got\n%s\nwant\n%s\nproblems %v\nfrom %q", strings.Join(got, "\n"), strings.Join(want, "\n"), tr.Problems, b.String())
		}
	})
}
