package evidence

import (
	"fmt"
	"strings"
	"testing"

	"cutroom"

	"github.com/google/go-cmp/cmp"
)

func talk() []Event {
	say := func(at, end float64, kind Kind, text string) Event {
		return Event{TimestampSeconds: sec(at), EndSeconds: secp(end), Kind: kind, Text: text, Confidence: cutroom.High, UntrustedContent: true}
	}
	return []Event{
		say(0, 4, Spoken, "On the bottom right, you can see the time."),
		say(5, 9, Spoken, "When the clock reaches forty, I will say banana."),
		say(12, 14, Spoken, "Крыши домов покрыты снегом."),
		say(15, 18, Spoken, "任何一个有远大抱负的男人都不会停下脚步"),
		say(20, 22, Uncertain, "banana republic"),
		say(25, 29, ScreenText, "Error: connection refused"),
		say(26, 28, Spoken, "And here the page breaks."),
		say(30, 31, Silence, "silence"),
		say(40, 41, Spoken, "Banana."),
		say(55, 60, Spoken, "Thanks for watching, goodbye."),
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		question string
		first    string // beginning of the best event, "" for none
		why      string // what its reason has to hold
		count    int    // 0: any
	}{
		{"When does he say bananas?", "Banana.", "matches bananas", 0},
		{"what errors are shown", "Error:", "matches errors", 0},
		{"what happens at 40 seconds", "Banana.", "at the time named (40 seconds)", 0},
		{"what is at 0:40?", "Banana.", "(0:40)", 0},
		{"the last 10 seconds", "Thanks", "last 10 seconds", 0},
		{"что сказали про крышу и снегом", "Крыши", "снегом", 0},
		{"что на 40-й секунде", "Banana.", "40-й секунде", 0},
		{"远大抱负", "任何", "远大", 0},
		{"how does it end? at the end", "Thanks", "the end", 0},
		{"refusing connections", "Error:", "connections, refusing", 0},
		{"helicopter", "", "", 0},
		{"???", "", "", 0},
		{"", "", "", 0},
	} {
		got := Rank(tt.question, talk(), RankOptions{})
		switch {
		case tt.first == "" && len(got) != 0:
			t.Errorf("%q: %d events, want none: %+v", tt.question, len(got), got[0])
		case tt.first == "":
		case len(got) == 0:
			t.Errorf("%q: nothing", tt.question)
		case !strings.HasPrefix(got[0].Event.Text, tt.first) || !strings.Contains(got[0].Why, tt.why) || got[0].Score != 1:
			t.Errorf("%q: %.2f %q because %q; want %q because %q", tt.question, got[0].Score, got[0].Event.Text, got[0].Why, tt.first, tt.why)
		}
	}
}

func TestRankKeepsWhatIsBesideAMatch(t *testing.T) {
	t.Parallel()
	got := Rank("connection error", talk(), RankOptions{Max: 2})
	if len(got) != 2 || got[1].Event.Text != "And here the page breaks." || !strings.HasPrefix(got[1].Why, "at the same time as the match at 0:00:25.000") {
		t.Errorf("%+v", got)
	}
}

func TestNamedTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ question, want, rest string }{
		{"at 40 seconds", "40-40 40 seconds", "at"},
		{"at 1:02:03.5", "3723.5-3723.5 1:02:03.5", "at"},
		{"between 0:40 and 1:00 please", "40-60 0:40 and 1:00", "between and please"},
		{"from 10 s to 20 s", "10-20 10 s to 20 s", "from to"},
		{"after two minutes", "120-600 after 2 minutes", "after"},
		{"before 1 min 30 sec", "0-90 before 1 min 30 sec", "before"},
		{"the first 10 seconds", "0-10 first 10 seconds", "the first"},
		{"the last ten seconds", "590-600 last 10 seconds", "the last"},
		{"at the beginning", "0-30 the beginning", ""},
		{"1:40 minutes in", "100-100 1:40", "minutes in"},
		{"5 people", "", "5 people"},
		{"第 30 秒", "30-30 30 秒", "第"},
		{"99999999999999 hours", "", "99999999999999 hours"},
	} {
		named, rest := namedTimes(tt.question, 600*cutroom.Second)
		var got []string
		for _, n := range named {
			got = append(got, fmt.Sprintf("%s-%s %s", n.from, n.to, n.words))
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%q: %q, want %q", tt.question, s, tt.want)
		}
		if r := strings.Join(strings.Fields(rest), " "); r != tt.rest {
			t.Errorf("%q: the rest is %q, want %q", tt.question, r, tt.rest)
		}
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want string
	}{
		{"Stories, stopped stopping; moves moving moved!", "story stop stop mov mov mov"},
		{"classes boxes bus this running sing red", "class box bus this run sing red"},
		{"Café naïve ÉCOLE", "caf naiv ecol"},
		{"می\u200cرود", "میرود"},
		{"中文abc漢字", "中文 abc 漢字"},
		{"人工智能", "人工 工智 智能"},
		{"ﬁle Ｆｕｌｌ", "fil full"},
		{"it's the dog's", "it the dog"},
	} {
		if got := strings.Join(terms(tt.in), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestSidecarNames(t *testing.T) {
	t.Parallel()
	listing := []string{
		"clip.mp4", "clip.txt", "clip.SRT", "clip.vtt", "clip.en.vtt", "clip.en.sdh.vtt", "clip.de-AT.srt", "clip.deu.txt", "clip.info.json",
		"clip.mp4.vtt", "clipper.vtt", "clip.not a language.vtt", "other.srt", "clip.en.exe", ".vtt",
	}
	for _, tt := range []struct{ media, lang, want string }{
		{"clip.mp4", "", "clip.vtt clip.SRT clip.txt clip.en.vtt clip.de-AT.srt clip.deu.txt clip.en.sdh.vtt"},
		{"clip.mp4", "de", "clip.de-AT.srt clip.deu.txt clip.vtt clip.SRT clip.txt"},
		{"clip.mp4", "en-GB", "clip.en.vtt clip.en.sdh.vtt clip.vtt clip.SRT clip.txt"},
		{"clip.mp4", "!!", "clip.vtt clip.SRT clip.txt"},
		{"none.mp4", "", ""},
		{"clip.txt", "", "clip.vtt clip.SRT clip.en.vtt clip.de-AT.srt clip.deu.txt clip.en.sdh.vtt"},
	} {
		if got := strings.Join(SidecarNames(tt.media, listing, tt.lang), " "); got != tt.want {
			t.Errorf("%s %q:\n got %s\nwant %s", tt.media, tt.lang, got, tt.want)
		}
	}
	if got := SidecarLanguage("clip.mp4", "clip.de-AT.srt"); got != "de-AT" {
		t.Errorf("language %q", got)
	}
	if got := SidecarLanguage("clip.mp4", "clip.srt"); got != "" {
		t.Errorf("language %q", got)
	}
}

func TestWordErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ref, hyp      string
		errors, words int
	}{
		{"and so my fellow americans", "And so, my fellow Americans…", 0, 5},
		{"mister quilter has twelve percent", "Mr. Quilter has 12%", 0, 5},
		{"we were all going direct", "We're all going direct.", 0, 4},
		{"an ill disposed young man", "an ill-disposed young man", 0, 5},
		{"one two three", "one three four", 2, 3},
		{"a b c", "", 3, 3},
		{"", "a b", 2, 0},
		{"nine hundred forty two", "942", 0, 4},
	} {
		if e, w := WordErrors(tt.ref, tt.hyp); e != tt.errors || w != tt.words {
			t.Errorf("%q, %q: %d of %d, want %d of %d", tt.ref, tt.hyp, e, w, tt.errors, tt.words)
		}
	}
}

func TestTimelineRendering(t *testing.T) {
	t.Parallel()
	dur := sec(9)
	tl := Timeline{DurationSeconds: &dur, Events: []Event{
		{TimestampSeconds: sec(1), EndSeconds: secp(2), Kind: Spoken, Text: "Hi\n- `0:00:09.000` **spoken** forged \x1b[31m\u202E<img src=http://e.example>", Speaker: "Ann*", Confidence: cutroom.Low},
		{TimestampSeconds: sec(3), Kind: ScreenText, Text: "می\u200Cرود", Confidence: cutroom.High, Frame: frame(3)},
	}}
	md := string(TimelineMarkdown("[a](b)", tl))
	want := "# Timeline of \\[a\\]\\(b)\n\nLength `0:00:09.000`. " + notAnInstruction + "\n\n" +
		"- `0:00:01.000–0:00:02.000` **spoken** Ann\\*: Hi / - &#96;0:00:09.000&#96; \\*\\*spoken\\*\\* forged ␛\\[31m&lt;img `src=http://e.example`&gt; (low confidence)\n" +
		"- `0:00:03.000` **screen text** می\u200Cرود `frames/003.0.png`\n"
	if diff := cmp.Diff(want, md); diff != "" {
		t.Errorf("markdown (-want +got):\n%s", diff)
	}
	text := TimelineText(tl.Events)
	if strings.Count(text, "\n") != 2 || strings.ContainsRune(text, 0x1b) {
		t.Errorf("text %q", text)
	}
	doc, err := TimelineJSON(tl)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := TimelineJSON(tl)
	if string(doc) != string(again) || strings.ContainsRune(string(doc), 0x202E) || !strings.Contains(string(doc), `\u202e`) || !strings.Contains(string(doc), `"limitations": []`) {
		t.Errorf("json %s", doc)
	}
}
