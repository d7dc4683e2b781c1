package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

var (
	film = ffmpeg.Rational{Num: 24000, Den: 1001}
	ntsc = ffmpeg.Rational{Num: 30000, Den: 1001}
)

// drawn makes any timeline that format f can carry whole.
func drawn(t *rapid.T, f Format) *Timeline {
	rates := []ffmpeg.Rational{{Num: 24, Den: 1}, {Num: 25, Den: 1}, {Num: 30, Den: 1}, {Num: 50, Den: 1}, film, ntsc, {Num: 60000, Den: 1001}}
	frame := func(most int64, name string) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	word := rapid.StringMatching(`[a-zA-Z0-9 ''\[\]%&<>"#?é字ع-]{0,12}[a-z字]`)
	tl := &Timeline{Name: strings.TrimSpace(word.Draw(t, "name")), Rate: rapid.SampledFrom(rates).Draw(t, "rate"), Start: frame(90_000, "start"), Width: 1920, Height: 1080}
	tl.Drop = tl.base()%30 == 0 && rapid.Bool().Draw(t, "drop")
	for i := range rapid.IntRange(1, 4).Draw(t, "sources") {
		tl.Sources = append(tl.Sources, Source{
			Path: fmt.Sprintf("%s/%d%s.mp4", strings.Trim(word.Draw(t, "folder"), " "), i, word.Draw(t, "file")), Start: frame(100_000, "from"), Length: 1 + frame(100_000, "long"),
			Video: true, Audio: rapid.Bool().Draw(t, "sound"),
		})
	}
	used := []int{}
	for i := range rapid.IntRange(1, 8).Draw(t, "clips") {
		c := Clip{Source: rapid.IntRange(0, len(tl.Sources)-1).Draw(t, "source"), Length: 40 + frame(3000, "length")}
		c.In = tl.Sources[c.Source].Start + 100 + frame(5000, "in")
		if s := rapid.SampledFrom([]ffmpeg.Rational{{}, {Num: 2, Den: 1}, {Num: 1, Den: 2}, {Num: 3, Den: 2}, {Num: 5, Den: 4}}).Draw(t, "speed"); s.Known() {
			c.Speed = s
		}
		switch rapid.IntRange(0, 3).Draw(t, "seam") {
		case 0:
			c.Lead = frame(200, "lead")
		case 1:
			if i > 0 {
				kinds := []string{"fade"}
				if f == OTIO {
					kinds = append(kinds, "wipeleft", "circleopen")
				}
				c.Enter = Transition{rapid.SampledFrom(kinds).Draw(t, "kind"), 1 + frame(15, "over")}
			}
		}
		used = append(used, c.Source)
		tl.Clips = append(tl.Clips, c)
	}
	_, all := tl.Places()
	for range rapid.IntRange(0, 3).Draw(t, "marks") {
		tl.Marks = append(tl.Marks, Mark{At: frame(all-1, "mark"), Title: strings.TrimSpace(word.Draw(t, "title")), Chapter: rapid.Bool().Draw(t, "chapter")})
	}
	slices.SortStableFunc(tl.Marks, func(a, b Mark) int { return int(a.At - b.At) })
	if f != EDL && rapid.Bool().Draw(t, "bed") {
		tl.Sources = append(tl.Sources, Source{Path: "music.mp3", Length: 9000, Audio: true})
		tl.Beds = []Bed{{Source: len(tl.Sources) - 1, At: frame(50, "at"), In: frame(50, "bed in"), Length: 1 + frame(500, "bed length")}}
		used = append(used, len(tl.Sources)-1)
	}
	return kept(tl, used)
}

// kept is tl with the sources that are used alone, in the order of their use.
func kept(tl *Timeline, used []int) *Timeline {
	var order []int
	for _, u := range used {
		if !slices.Contains(order, u) {
			order = append(order, u)
		}
	}
	sources := make([]Source, 0, len(order))
	for _, o := range order {
		sources = append(sources, tl.Sources[o])
	}
	tl.Sources = sources
	for i := range tl.Clips {
		tl.Clips[i].Source = slices.Index(order, tl.Clips[i].Source)
	}
	for i := range tl.Beds {
		tl.Beds[i].Source = slices.Index(order, tl.Beds[i].Source)
	}
	return tl
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{FCPXML, EDL, OTIO} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				tl := drawn(t, f)
				text, lost, err := Write(f, tl)
				if err != nil {
					t.Fatal(err)
				}
				if len(lost) > 0 && f != OTIO {
					t.Fatalf("lost %v", lost)
				}
				got, lost, err := Read(f, text, ffmpeg.Rational{})
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if diff := cmp.Diff(tl, got); diff != "" || len(lost) > 0 {
					t.Fatalf("read again: %s\nlost %v\n%s", diff, lost, text)
				}
			})
		})
	}
}

// An hour and a half of 23.976 in clips of a few seconds: the last frame is where it was.
func TestNothingDriftsOver90Minutes(t *testing.T) {
	t.Parallel()
	tl := &Timeline{Name: "film", Rate: film, Start: 86400, Sources: []Source{{Path: "film.mov", Start: 86400, Length: 129_600, Video: true, Audio: true}}}
	const minutes90 = 129_470 // frames of 24000/1001 in 5400 s
	for at := int64(0); at < minutes90; {
		n := min(150-at%17, minutes90-at)
		tl.Clips = append(tl.Clips, Clip{In: 86400 + at, Length: n})
		at += n
	}
	if _, all := tl.Places(); all != minutes90 {
		t.Fatalf("%d frames", all)
	}
	for _, f := range []Format{FCPXML, EDL, OTIO} {
		text, _, err := Write(f, tl)
		if err != nil {
			t.Fatal(err)
		}
		got, lost, err := Read(f, text, ffmpeg.Rational{})
		if diff := cmp.Diff(tl, got); err != nil || diff != "" || len(lost) > 0 {
			t.Fatalf("%s: %v %v %s", f, err, lost, diff)
		}
		if f == EDL && !strings.Contains(string(text), "02:29:54:14") { // an hour, and 129 470 frames of 24 a second
			t.Errorf("the last event ends elsewhere: %s", text[len(text)-300:])
		}
		if f == FCPXML && !strings.Contains(string(text), `frameDuration="1001/24000s"`) {
			t.Error("the rate is not exact")
		}
	}
	for n := range int64(minutes90) {
		if got := tl.Frames(tl.Time(n)); got != n {
			t.Fatalf("frame %d becomes %d by way of microseconds", n, got)
		}
	}
}

// Drop-frame leaves labels out, never frames: each frame of ten minutes and more is found
// by its label.
func TestDropFrameLabels(t *testing.T) {
	t.Parallel()
	tl := &Timeline{Name: "news", Rate: ntsc, Drop: true, Start: 107892, Sources: []Source{{Path: "a.mov", Length: 40000, Video: true}}}
	for at := int64(0); at < 19_000; at += 19 {
		tl.Clips = append(tl.Clips, Clip{In: at, Length: 19})
	}
	tl.Clips = tl.Clips[:999]
	text, _, err := Write(EDL, tl)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"01:01:00;00", "01:01:00;01", "01:02:00;00", "00:01:00;01"} {
		if strings.Contains(string(text), gone) {
			t.Errorf("the label %s does not exist, and was written", gone)
		}
	}
	if !strings.Contains(string(text), "FCM: DROP FRAME") || !strings.Contains(string(text), " 01:00:00;00 ") {
		t.Errorf("%s", text[:300])
	}
	got, _, err := Read(EDL, []byte(strings.Replace(string(text), commentRate, "* WAS:", 1)), ffmpeg.Rational{})
	if diff := cmp.Diff(tl, got); err != nil || diff != "" { // drop-frame alone says 29.97
		t.Fatalf("%v %s", err, diff)
	}
}

// A list as editors write it, with a dissolve, a speed, wipes and sound events.
const foreign = `TITLE:   REEL ONE
FCM: NON-DROP FRAME

001  CAM01    V     C        10:00:05:00 10:00:07:12 01:00:00:00 01:00:02:12
* FROM CLIP NAME: INTERVIEW A
002  CAM01    V     C        10:00:07:12 10:00:07:12 01:00:02:12 01:00:02:12
002  CAM02    V     D    024 00:00:01:00 00:00:03:00 01:00:02:12 01:00:04:12
* FROM CLIP NAME: INTERVIEW A
* TO CLIP NAME: CUTAWAY
003  CAM01    V     C        10:01:00:00 10:01:02:00 01:00:04:12 01:00:05:12
M2   CAM01          050.0                10:01:00:00
004  CAM03    A     C        00:00:00:00 00:00:01:00 01:00:00:00 01:00:01:00
`

func TestAForeignList(t *testing.T) {
	t.Parallel()
	got, lost, err := Read(EDL, []byte(strings.ReplaceAll(foreign, "\n", "\r\n")), ffmpeg.Rational{Num: 25, Den: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := &Timeline{
		Name: "REEL ONE", Rate: ffmpeg.Rational{Num: 25, Den: 1}, Start: 90000,
		Sources: []Source{{Name: "INTERVIEW A", Video: true}, {Name: "CUTAWAY", Video: true}, {Name: "CAM01", Video: true}},
		Clips: []Clip{
			{Source: 0, In: 900125, Length: 62 + 24}, // beneath the dissolve
			{Source: 1, In: 25, Length: 50, Enter: Transition{"fade", 24}},
			{Source: 2, In: 901500, Length: 25, Speed: ffmpeg.Rational{Num: 2, Den: 1}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Lost{"an event of channel A alone"}, lost); diff != "" {
		t.Error(diff)
	}
	if _, _, err := Read(EDL, []byte(foreign), ffmpeg.Rational{}); err == nil || !strings.Contains(err.Error(), "states no frame rate") {
		t.Errorf("without a rate: %v", err)
	}
}

func TestWhatIsNotCarriedIsSaid(t *testing.T) {
	t.Parallel()
	tl := &Timeline{
		Name: "x", Rate: film, Sources: []Source{{Path: "a.mp4", Length: 900, Video: true}, {Path: "song.mp3", Length: 900, Audio: true}},
		Clips: []Clip{{Length: 100}, {Length: 100, Enter: Transition{"wipeleft", 10}}}, Beds: []Bed{{Source: 1, Length: 90}},
	}
	for f, want := range map[Format]Lost{
		FCPXML: {"the transition wipeleft is written as a cross dissolve"},
		EDL:    {"the transition wipeleft is written as a dissolve", "the sound song.mp3 beneath the clips"},
		OTIO:   {"the transition wipeleft has a name that only this program knows"},
	} {
		_, lost, err := Write(f, tl)
		if diff := cmp.Diff(want, lost); err != nil || diff != "" {
			t.Errorf("%s: %v %s", f, err, diff)
		}
	}
}

const apple = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE fcpxml>
<fcpxml version="1.10"><resources>
<format id="r1" frameDuration="1001/30000s" width="1280" height="720"/><effect id="r4" name="Star Wipe"/>
<asset id="r2" name="one" start="0s" duration="1001000/30000s" hasVideo="1" hasAudio="1" format="r1"><media-rep kind="original-media" src="file:///Volumes/Work/a%20b.mov"/></asset>
</resources><library><event><project name="Cut"><sequence format="r1" tcStart="0s" tcFormat="DF"><spine>
<asset-clip ref="r2" offset="0s" start="300300/30000s" duration="150150/30000s"><adjust-volume amount="-6dB"/><marker start="310310/30000s" duration="1001/30000s" value="Here"/></asset-clip>
<transition name="Star Wipe" offset="140140/30000s" duration="20020/30000s"><filter-video ref="r4" name="Star Wipe"/></transition>
<asset-clip ref="r2" offset="150150/30000s" start="600600/30000s" duration="90090/30000s"><title lane="1" name="Lower"/></asset-clip>
<title name="End" duration="30030/30000s"/>
<asset-clip ref="r2" offset="270270/30000s" start="0s" duration="30030/30000s"/>
</spine></sequence></project></event></library></fcpxml>`

func TestADocumentOfFinalCut(t *testing.T) {
	t.Parallel()
	got, lost, err := Read(FCPXML, []byte(apple), ffmpeg.Rational{})
	if err != nil {
		t.Fatal(err)
	}
	want := &Timeline{
		Name: "Cut", Rate: ntsc, Drop: true, Width: 1280, Height: 720,
		Sources: []Source{{Path: "/Volumes/Work/a b.mov", Name: "one", Length: 1000, Video: true, Audio: true}},
		Clips: []Clip{
			{In: 300, Length: 160}, {In: 590, Length: 100, Enter: Transition{"fade", 20}}, {In: 0, Length: 30, Lead: 30},
		},
		Marks: []Mark{{At: 10, Title: "Here"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	said := Lost{`adjust-volume of ""`, `the transition "Star Wipe" is read as a dissolve`, `title of ""`, `title "End": black stands in its place`}
	if diff := cmp.Diff(said, lost); diff != "" {
		t.Error(diff)
	}
}

func TestHostileXML(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"entity":   `<!DOCTYPE fcpxml [<!ENTITY x SYSTEM "file:///etc/passwd">]><fcpxml>&x;</fcpxml>`,
		"laughs":   `<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><fcpxml>&b;</fcpxml>`,
		"unknown":  `<fcpxml>&x;</fcpxml>`,
		"deep":     strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100),
		"encoding": `<?xml version="1.0" encoding="UTF-16"?><fcpxml/>`,
		"two":      `<fcpxml/><fcpxml/>`,
		"html":     `<html/>`,
		"open":     `<fcpxml>`,
	} {
		if _, _, err := Read(FCPXML, []byte(text), ffmpeg.Rational{}); err == nil {
			t.Errorf("%s was read", name)
		} else if e := cutroom.AsError(err); e.Code != cutroom.Invalid && e.Code != cutroom.Limit {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// published is the serialised data model of OpenTimelineIO: the members of each schema,
// as its documentation lists them. Children and enabled are members of the abstract
// classes there.
var published = map[string]string{
	"Timeline.1":          "global_start_time metadata name tracks",
	"Stack.1":             "effects enabled markers metadata name source_range children",
	"Track.1":             "effects enabled kind markers metadata name source_range children",
	"Clip.2":              "active_media_reference_key effects enabled markers media_references metadata name source_range",
	"Gap.1":               "effects enabled markers metadata name source_range",
	"Transition.1":        "in_offset metadata name out_offset transition_type",
	"ExternalReference.1": "available_image_bounds available_range metadata name target_url",
	"LinearTimeWarp.1":    "effect_name metadata name time_scalar",
	"Marker.2":            "color comment marked_range metadata name",
	"RationalTime.1":      "rate value",
	"TimeRange.1":         "duration start_time",
}

func TestOTIOHoldsToItsDataModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, _, err := Write(OTIO, drawn(t, OTIO))
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		modelled(t, doc)
	})
}

// modelled checks that every object with a schema has exactly its members.
func modelled(t *rapid.T, v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			modelled(t, x)
		}
	case map[string]any:
		if schema, ok := v["OTIO_SCHEMA"].(string); ok {
			want := strings.Fields(published[schema])
			var got []string
			for k := range v {
				if k != "OTIO_SCHEMA" {
					got = append(got, k)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Fatalf("%s: %s", schema, diff)
			}
		}
		for _, x := range v {
			modelled(t, x)
		}
	}
}

// A file that another program wrote: clips of the first version, whole numbers as rates,
// members left out.
func TestAForeignOTIO(t *testing.T) {
	t.Parallel()
	text := `{"OTIO_SCHEMA":"Timeline.1","name":"t","tracks":{"OTIO_SCHEMA":"Stack.1","children":[
	{"OTIO_SCHEMA":"Track.1","kind":"Video","children":[
	 {"OTIO_SCHEMA":"Clip.1","name":"one","source_range":{"start_time":{"value":10,"rate":23.976},"duration":{"value":48,"rate":23.976}},
	  "media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"file:///x/one.mov"},"effects":[{"OTIO_SCHEMA":"LinearTimeWarp.1","time_scalar":0.5}]},
	 {"OTIO_SCHEMA":"Clip.1","name":"gone","source_range":{"start_time":{"value":0,"rate":23.976},"duration":{"value":12,"rate":23.976}},"media_reference":{"OTIO_SCHEMA":"MissingReference.1"}},
	 {"OTIO_SCHEMA":"Clip.1","name":"two","source_range":{"start_time":{"value":0,"rate":23.976},"duration":{"value":24,"rate":23.976}},"media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"two.mov"}}]},
	{"OTIO_SCHEMA":"Track.1","kind":"Video","name":"V2","children":[]}]}}`
	got, lost, err := Read(OTIO, []byte(text), ffmpeg.Rational{})
	if err != nil {
		t.Fatal(err)
	}
	want := &Timeline{
		Name: "t", Rate: film, Sources: []Source{{Path: "/x/one.mov", Name: "one", Video: true}, {Path: "two.mov", Name: "two", Video: true}},
		Clips: []Clip{{In: 10, Length: 48, Speed: ffmpeg.Rational{Num: 1, Den: 2}}, {Source: 1, Length: 24, Lead: 12}},
	}
	want.Sources[0].Name, want.Sources[1].Name = "one", "two"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Lost{`the clip "gone": black stands in its place`, `the track "V2", which lies over the first`}, lost); diff != "" {
		t.Error(diff)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]ffmpeg.Rational{
		23.976: film, 23.98: film, 24000.0 / 1001: film, 29.97: ntsc, 59.94: {Num: 60000, Den: 1001}, 25: {Num: 25, Den: 1}, 12.5: {Num: 25, Den: 2},
	} {
		if got := rateOf(f); got != want {
			t.Errorf("%v is %v, want %v", f, got, want)
		}
	}
}

func fuzz(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tl, _, err := Read(format, text, ffmpeg.Rational{Num: 25, Den: 1})
		if err != nil {
			return
		}
		for _, to := range []Format{FCPXML, EDL, OTIO} {
			again, _, err := Write(to, tl)
			if err != nil {
				continue
			}
			if _, _, err := Read(to, again, ffmpeg.Rational{}); err != nil {
				t.Fatalf("%s: what was written cannot be read: %v\n%s", to, err, again)
			}
		}
	})
}

func FuzzFCPXML(f *testing.F) { fuzz(f, FCPXML, apple, "<fcpxml/>") }
func FuzzEDL(f *testing.F) {
	fuzz(f, EDL, foreign, "FCM: DROP FRAME\n001 A V C 0:0:0;0 0:0:1;0 0:0:0;0 0:0:1;0")
}

func FuzzOTIO(f *testing.F) {
	f.Add([]byte(`{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":[]}}`))
	tl := &Timeline{Rate: film, Sources: []Source{{Path: "a.mp4", Video: true, Audio: true}}, Clips: []Clip{{Length: 100}, {Length: 100, Lead: 5}, {Length: 90, Enter: Transition{"fade", 9}}}}
	text, _, err := Write(OTIO, tl)
	if err != nil {
		f.Fatal(err)
	}
	fuzz(f, OTIO, string(text))
}

// What is read costs time in proportion to its length: lists of many thousands of files
// once took minutes each.
func TestManySources(t *testing.T) {
	t.Parallel()
	const many = 30_000
	rate := ffmpeg.Rational{Num: 25, Den: 1}
	edl, fcp, spine, clips := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	edl.WriteString("TITLE: many\nFCM: NON-DROP FRAME\n")
	fcp.WriteString(`<fcpxml version="1.10"><resources><format id="f" frameDuration="1/25s"/>`)
	for i := range many {
		fmt.Fprintf(fcp, `<asset id="a%d" src="f%d.mov" duration="9s" hasVideo="1"/>`, i, i)
		fmt.Fprintf(spine, `<asset-clip ref="a%d" duration="1s"/>`, i)
		fmt.Fprintf(clips, `{"OTIO_SCHEMA":"Clip.1","source_range":{"start_time":{"rate":25,"value":0},"duration":{"rate":25,"value":5}},"media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"f%d.mov"}},`, i)
	}
	for i := range maxClips {
		at := ffmpeg.TimecodeOf(int64(i)*5, 25, false)
		fmt.Fprintf(edl, "%03d R%d V C 00:00:00:00 00:00:00:05 %s %s\n", i, i, at, ffmpeg.TimecodeOf(int64(i)*5+5, 25, false))
	}
	fcp.WriteString(`</resources><library><event><project><sequence format="f"><spine>` + spine.String() + `</spine></sequence></project></event></library></fcpxml>`)
	track := `"children":[` + strings.TrimSuffix(clips.String(), ",") + `]}`
	otio := `{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":[{"OTIO_SCHEMA":"Track.1","kind":"Video",` + track + `,{"OTIO_SCHEMA":"Track.1","kind":"Audio",` + track + `]}}`
	got, _, err := Read(EDL, []byte(edl.String()), rate)
	if err != nil || len(got.Clips) != maxClips || len(got.Sources) != maxClips || got.Sources[maxClips-1].Name != "R9999" {
		t.Errorf("the list of %d events is read as %v, %v", maxClips, got, err)
	}
	for _, f := range []struct {
		format Format
		text   string
	}{{FCPXML, fcp.String()}, {OTIO, otio}} {
		if _, _, err := Read(f.format, []byte(f.text), rate); cutroom.AsError(err).Code != cutroom.Limit {
			t.Errorf("%s of %d clips: %v", f.format, many, err)
		}
	}
}
