package ocr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const sampleTSV = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n" +
	"1\t1\t0\t0\t0\t0\t0\t0\t300\t60\t-1\t\n" +
	"1\t2\t0\t0\t0\t0\t0\t0\t1920\t1080\t-1\t\n" +
	"4\t2\t1\t1\t1\t0\t163\t200\t502\t58\t-1\t\n" +
	"5\t2\t1\t1\t1\t1\t163\t200\t200\t58\t95.5\tQuarterly\n" +
	"5\t2\t1\t1\t1\t2\t400\t200\t265\t58\t96\tresults\r\n" +
	"5\t2\t1\t1\t2\t1\t163\t300\t10\t58\t-1\t \n" +
	"5\t2\t2\t1\t1\t1\t163\t400\t10\t58\t60\t发布\n" +
	"5\t2\t2\t1\t1\t2\t183\t400\t10\t58\t60\t了 a\tb\n"

func TestReadTSV(t *testing.T) {
	t.Parallel()
	got, err := readTSV(strings.NewReader(sampleTSV))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[2]) != 2 {
		t.Fatalf("%+v", got)
	}
	text, score, box := got[2][0].read()
	if text != "Quarterly results" || score < 0.955 || score > 0.96 || box != (Box{163, 200, 502, 58}) {
		t.Errorf("%q %v %+v", text, score, box)
	}
	if text, _, _ := got[2][1].read(); text != "发布了 a\tb" {
		t.Errorf("%q", text)
	}
	if w := got[2][0].weakest(); w != 0.955 {
		t.Error(w)
	}
}

func TestReadTSVRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"words":         "no table\n",
		"few columns":   "5\t1\t1\n",
		"page zero":     "5\t0\t1\t1\t1\t1\t1\t1\t1\t1\t90\tx\n",
		"negative box":  "5\t1\t1\t1\t1\t1\t-1\t1\t1\t1\t90\tx\n",
		"huge box":      "5\t1\t1\t1\t1\t1\t1\t1\t999999999999\t1\t90\tx\n",
		"certainty NaN": "5\t1\t1\t1\t1\t1\t1\t1\t1\t1\tNaN\tx\n",
		"certainty":     "5\t1\t1\t1\t1\t1\t1\t1\t1\t1\t900\tx\n",
		"not UTF-8":     "5\t1\t1\t1\t1\t1\t1\t1\t1\t1\t90\t\xff\n",
		"endless line":  strings.Repeat("x", maxTSVLine+1),
	} {
		if got, err := readTSV(strings.NewReader(in)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got, err := readTSV(strings.NewReader("")); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v %v", got, err)
	}
}

func FuzzReadTSV(f *testing.F) {
	f.Add([]byte(sampleTSV))
	f.Add([]byte("5\t1\t1\t1\t1\t1\t1\t1\t1\t1\t90\tx"))
	f.Add([]byte("1\t1\t0\t0\t0\t0\t0\t0\t0\t0\t-1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sheets, err := readTSV(bytes.NewReader(b))
		if err != nil {
			return
		}
		for n, s := range sheets {
			if n < 1 || len(s) == 0 {
				t.Fatalf("page %d: %d rows", n, len(s))
			}
			for _, r := range s {
				text, score, _ := r.read()
				if len(r) == 0 || strings.TrimSpace(text) == "" || !(score >= 0 && score <= 1) {
					t.Fatalf("row %+v", r)
				}
			}
		}
	})
}

// frameLines is the child's output for frames.
func frameLines(t testing.TB, frames ...Frame) string {
	t.Helper()
	var b strings.Builder
	for _, f := range frames {
		j, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(j, '\n'))
	}
	return b.String()
}

func sampleFrames() []Frame {
	return []Frame{
		{Index: 0, Width: 640, Height: 360, Lines: []Found{{
			Box:   Box{10, 300, 400, 30},
			Parts: []Part{{Box{10, 300, 200, 30}, "Bonjour", 0.8}, {Box{300, 300, 110, 30}, "tout", 0.9}},
			Crops: []int{1, 2},
		}}},
		{Index: 1, Problem: TooLarge},
		{Index: 2, Width: 320, Height: 200, Flat: true, Page: 1, Scale: 1},
	}
}

func TestReadFrames(t *testing.T) {
	t.Parallel()
	want := sampleFrames()
	got, err := readFrames(strings.NewReader(frameLines(t, want...)), 3)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestReadFramesRefuses(t *testing.T) {
	t.Parallel()
	with := func(change func(*Frame)) string {
		f := sampleFrames()[0]
		f.Lines = []Found{{Box: f.Lines[0].Box, Parts: append([]Part(nil), f.Lines[0].Parts...), Crops: []int{1}}}
		change(&f)
		return frameLines(t, f)
	}
	for name, in := range map[string]string{
		"nothing":         "",
		"words":           "onnxruntime: error\n",
		"two frames":      with(func(*Frame) {}) + with(func(f *Frame) { f.Index = 1 }),
		"wrong number":    with(func(f *Frame) { f.Index = 3 }),
		"no size":         with(func(f *Frame) { f.Width = 0 }),
		"bomb":            with(func(f *Frame) { f.Width, f.Height = 1<<20, 1<<20 }),
		"box outside":     with(func(f *Frame) { f.Lines[0].Box.X = 600 }),
		"box overflow":    with(func(f *Frame) { f.Lines[0].Box.W = 1<<62 + 1 }),
		"part outside":    with(func(f *Frame) { f.Lines[0].Parts[0].Box.H = 361 }),
		"empty box":       with(func(f *Frame) { f.Lines[0].Box.W = 0 }),
		"no parts":        with(func(f *Frame) { f.Lines[0].Parts = nil }),
		"score":           with(func(f *Frame) { f.Lines[0].Parts[0].Score = 7 }),
		"long text":       with(func(f *Frame) { f.Lines[0].Parts[0].Text = strings.Repeat("x", maxText+1) }),
		"crop zero":       with(func(f *Frame) { f.Lines[0].Crops[0] = 0 }),
		"many crops":      with(func(f *Frame) { f.Lines[0].Crops = []int{1, 2, 3} }),
		"problem":         with(func(f *Frame) { f.Problem = "bored" }),
		"problem, lines":  with(func(f *Frame) { f.Problem = Unreadable }),
		"page at no size": with(func(f *Frame) { f.Page = 1 }),
		"many lines":      with(func(f *Frame) { f.Lines = append(f.Lines, make([]Found, maxRegions)...) }),
		"endless line":    `{"index":0,"text":"` + strings.Repeat("x", maxFrameJSON) + `"}`,
	} {
		if got, err := readFrames(strings.NewReader(in), 1); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzReadFrames(f *testing.F) {
	f.Add([]byte(frameLines(f, sampleFrames()...)), 3)
	f.Add([]byte(`{"index":0,"width":1,"height":1}`), 1)
	f.Add([]byte(`{"index":0,"problem":"unreadable"}`), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		frames, err := readFrames(bytes.NewReader(b), n)
		if err != nil {
			return
		}
		if len(frames) != n {
			t.Fatalf("%d frames of %d", len(frames), n)
		}
		// What passed the check can be planned on and merged.
		Second("s", frames, Options{})
		for _, p := range Merge(frames, []Reading{{crops: true, sheets: map[int]sheet{1: {{{text: "x", score: 0.9}}}}}}, Options{Language: "rus"}) {
			if p.Problem != "" && len(p.Lines) > 0 {
				t.Fatal("lines in a picture that was not read")
			}
		}
	})
}

func TestChildRefusesArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := []string{"--crops", dir + "/c.txt", "--pages", dir + "/p.txt"}
	for _, args := range [][]string{
		nil,
		{"--crops", dir + "/c.txt"},
		append([]string{"--side", "0"}, good...),
		append([]string{"--side", "100000"}, good...),
		append([]string{"--threads", "0"}, good...),
		append([]string{"--lang", "../../etc"}, good...),
		append([]string{"--unknown"}, good...),
	} {
		var out, complaints bytes.Buffer
		if code := Child(args, nil, &out, &complaints); code != 2 || complaints.Len() == 0 || out.Len() > 0 {
			t.Errorf("%q: %d %q", args, code, out.String())
		}
	}
	// A list that exists is never written over.
	var out, complaints bytes.Buffer
	if code := Child(good, nil, &out, &complaints); code != 0 {
		t.Fatal(complaints.String())
	}
	if code := Child(good, nil, &out, &complaints); code != 1 {
		t.Errorf("second run: %d", code)
	}
	if code := Child(append([]string{"--lib", dir + "/none.so"}, good...), nil, &out, &complaints); code != 1 {
		t.Errorf("no library: %d", code)
	}
}

func ExampleLanguages() {
	fmt.Println(Languages([]string{"eng.traineddata", "osd.traineddata", "chi_sim.traineddata", "configs", "pdf.ttf", "eng.traineddata"}))
	// Output: [chi_sim eng]
}
