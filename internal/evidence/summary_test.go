package evidence

import (
	"fmt"
	"strings"
	"testing"

	"cutroom"

	"pgregory.net/rapid"
)

// lecture has three topics of two minutes each, with cuts between them.
func lecture() []Event {
	topicLines := [][]string{
		{"Bread needs flour, water, salt and yeast.", "Knead the dough until it is smooth.", "Let the dough rise in a warm kitchen.", "Bake the bread in a hot oven."},
		{"A telescope gathers light from distant stars.", "The mirror of the telescope must be clean.", "Planets move against the stars.", "Saturn has rings you can see with a telescope."},
		{"Guitars have six strings.", "Tune the strings of the guitar with a fork.", "A chord is several notes played together.", "Practice the chord changes slowly."},
	}
	var events []Event
	for topic, lines := range topicLines {
		start := float64(topic * 120)
		events = append(events, Event{TimestampSeconds: sec(start), EndSeconds: secp(start + 120), Kind: Scene, Text: "scene"})
		for i := range 24 {
			at := start + float64(i*5)
			events = append(events, Event{TimestampSeconds: sec(at), EndSeconds: secp(at + 4.8), Kind: Spoken, Text: lines[i%4], Confidence: cutroom.High})
		}
	}
	SortEvents(events)
	return events
}

func TestSummariseFindsTheTopics(t *testing.T) {
	t.Parallel()
	var frames []cutroom.ArtifactRef
	for i := range 36 {
		frames = append(frames, *frame(float64(i * 10)))
	}
	got := Summarise(lecture(), frames, SummaryOptions{})
	if len(got.Chapters) != 3 {
		t.Fatalf("%d chapters:\n%s", len(got.Chapters), SummaryMarkdown("x", got))
	}
	for i, word := range []string{"dough", "telescope", "chord"} {
		c := got.Chapters[i]
		if c.StartSeconds != sec(float64(i*120)) || c.EndSeconds != sec(float64(i*120+120)) {
			t.Errorf("chapter %d: %s to %s", i, c.StartSeconds, c.EndSeconds)
		}
		if !strings.Contains(strings.Join(c.Keywords, " "), word) || len(c.Lines) == 0 || len(c.Lines) > 4 {
			t.Errorf("chapter %d: keywords %v, %d lines", i, c.Keywords, len(c.Lines))
		}
		if len(c.Frames) != 1 || *c.Frames[0].TimestampSeconds != sec(float64(i*120+60)) {
			t.Errorf("chapter %d: frames %v", i, c.Frames)
		}
	}
	if got.Coverage < enoughCoverage || got.Omitted < 60 {
		t.Errorf("coverage %.2f, %d lines left out", got.Coverage, got.Omitted)
	}
}

func TestSummariseKeepsTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := lecture()
		events = append(events, Event{Kind: Spoken, Text: strings.Repeat("A very long plain text without times, about whales. ", rapid.IntRange(0, 400).Draw(t, "long"))})
		SortEvents(events)
		budget := rapid.IntRange(90, 3000).Draw(t, "budget")
		got := Summarise(events, []cutroom.ArtifactRef{*frame(10), *frame(200)}, SummaryOptions{Budget: budget})
		if got.Tokens > budget {
			t.Fatalf("%d tokens of %d:\n%s", got.Tokens, budget, SummaryMarkdown("", got))
		}
		if len(got.Chapters) == 0 {
			t.Fatal("no chapters")
		}
		last := cutroom.Micros(0)
		for _, c := range got.Chapters {
			if c.StartSeconds != last || c.EndSeconds < c.StartSeconds {
				t.Fatalf("chapters do not cover the clip: %+v", got.Chapters)
			}
			last = c.EndSeconds
			for _, l := range c.Lines {
				if l.TimestampSeconds < c.StartSeconds || l.TimestampSeconds > c.EndSeconds {
					t.Fatalf("line at %s outside its chapter", l.TimestampSeconds)
				}
			}
		}
	})
}

func TestSummariseQuotesOnly(t *testing.T) {
	t.Parallel()
	all := ""
	for _, e := range lecture() {
		all += " " + e.Text
	}
	for _, c := range Summarise(lecture(), nil, SummaryOptions{}).Chapters {
		for _, l := range c.Lines {
			if !strings.Contains(all, l.Text) {
				t.Errorf("%q was never said", l.Text)
			}
		}
	}
}

func TestSummariseEdges(t *testing.T) {
	t.Parallel()
	empty := Summarise(nil, nil, SummaryOptions{Duration: sec(10)})
	if len(empty.Chapters) != 1 || empty.Coverage != 1 || empty.Chapters[0].EndSeconds != sec(10) {
		t.Errorf("%+v", empty)
	}
	var cues []Event
	for i, w := range strings.Fields("we shall fight on the beaches and never surrender.") {
		cues = append(cues, Event{TimestampSeconds: sec(float64(i)), EndSeconds: secp(float64(i) + 0.9), Kind: Spoken, Text: w})
	}
	joined := Summarise(cues, nil, SummaryOptions{})
	if l := joined.Chapters[0].Lines; len(l) != 1 || l[0].Text != "we shall fight on the beaches and never surrender." {
		t.Errorf("%+v", l)
	}
}

func BenchmarkSummarise20000(b *testing.B) {
	var events []Event
	for i := range 20_000 {
		events = append(events, Event{TimestampSeconds: sec(float64(i)), EndSeconds: secp(float64(i) + 1), Kind: Spoken, Text: fmt.Sprintf("Sentence number %d talks about topic%d and word%d.", i, i/500, i%97)})
	}
	for b.Loop() {
		Summarise(events, nil, SummaryOptions{})
	}
}
