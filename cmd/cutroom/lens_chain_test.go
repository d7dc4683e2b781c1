package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/lens"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/media"
)

const omni = `
models:
  - {id: omni, provider: acme, base_url: HTTP:acme, key: KEY:a, modalities: [text, image, audio, video], price: {input: 2, output: 8}}
lens: {allow_upload: true}
`

// padded makes a file exactly so large: MP4 lets a box of nothing follow.
func (l *lab) padded(from, name string, size int64) cutroom.InPath {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, from))
	if err != nil {
		l.t.Fatal(err)
	}
	room := size - int64(len(data))
	if room < 8 {
		l.t.Fatalf("%s has %d bytes, more than %d", from, len(data), size)
	}
	box := []byte{byte(room >> 24), byte(room >> 16), byte(room >> 8), byte(room), 'f', 'r', 'e', 'e'}
	write(l.t, filepath.Join(l.dir, name), string(append(data, box...)))
	f, err := os.OpenFile(filepath.Join(l.dir, name), os.O_WRONLY, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		l.t.Fatal(err)
	}
	return cutroom.InPath(name)
}

// Every cell of the table of verdicts and chains for video, with files at the borders: what
// is sent in which form, and who reads it.
func TestVideoTable(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t)
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	l.film("short.mp4", "3")
	minutes := func(name string, seconds int) {
		testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("color=blue:s=64x64:r=1:d=%d", seconds), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", name)
	}
	minutes("599.mp4", 599)
	minutes("600.mp4", 600)
	minutes("601.mp4", 601)
	video := func(seconds string) providertest.Step {
		return providertest.Say(`{"timeline":[{"start":` + seconds + `,"end":null,"text":"a test card","frame":null,"confidence":"high","uncertain":false}],"transcript":[],"regions":[],"summary":null}`)
	}
	for _, row := range []struct {
		name    string
		file    cutroom.InPath
		verdict lens.Verdict
		by      string
		whole   bool // the file itself is sent
	}{
		{"9.99 MB", l.padded("short.mp4", "a.mp4", 9_990_000), lens.Full, "multimodal:acme", true},
		{"10 MB", l.padded("short.mp4", "b.mp4", 10_000_000), lens.Full, "multimodal:acme", true},
		{"10 MB and a byte", l.padded("short.mp4", "c.mp4", 10_000_001), lens.Reencode, "reencode:multimodal:acme", false},
		{"19 MB", l.padded("short.mp4", "d.mp4", 19_000_000), lens.Reencode, "reencode:multimodal:acme", false},
		{"19.01 MB", l.padded("short.mp4", "e.mp4", 19_010_000), lens.SampleFrames, "frames:registered:acme", false},
		{"10 min - 1 s", "599.mp4", lens.Full, "multimodal:acme", true},
		{"10 min", "600.mp4", lens.Full, "multimodal:acme", true},
		{"10 min + 1 s", "601.mp4", lens.SampleFrames, "frames:registered:acme", false},
	} {
		acme.Answer(func(providertest.Request) providertest.Step { return video("1.5") })
		before := len(acme.Requests())
		out := l.video(media.ReadVideoInput{Source: row.file})
		if out.Meta.Budget.Verdict != row.verdict || out.Meta.Provider != row.by || len(out.Timeline) == 0 {
			t.Errorf("%s: %s by %q, %v", row.name, out.Meta.Budget.Verdict, out.Meta.Provider, attempts(out))
			continue
		}
		requests := acme.Requests()[before:]
		if len(requests) == 0 {
			t.Errorf("%s: nothing was sent", row.name)
			continue
		}
		kinds, data := sent(t, requests[0])
		file, err := os.ReadFile(filepath.Join(l.dir, string(row.file)))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case row.whole && !bytes.Equal(data, file):
			t.Errorf("%s: what was sent is not the file", row.name)
		case row.verdict == lens.Reencode && (kinds[0] != "video/mp4" || len(data) > 10_000_000 || bytes.Equal(data, file)):
			t.Errorf("%s: %v of %d bytes was sent", row.name, kinds, len(data))
		case row.verdict == lens.SampleFrames && slices.ContainsFunc(kinds, func(k string) bool { return k != "image/jpeg" }):
			t.Errorf("%s: %v was sent", row.name, kinds)
		}
		if got := out.Meta.Budget.BytesSent; got < int64(len(data)) || got > int64(2*len(requests[0].Body)*len(requests)) {
			t.Errorf("%s: %d bytes are said to be sent, %d were", row.name, got, len(requests[0].Body))
		}
	}
}

// A video goes down its chain step by step, and what was tried on the way is said, of the
// frames, too.
func TestVideoChain(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t)
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	film := cutroom.InPath(l.film("a.mp4", "4"))
	acme.Answer(func(r providertest.Request) providertest.Step {
		if kinds, _ := sent(t, r); len(kinds) > 0 && kinds[0] == "video/mp4" {
			return providertest.Fail(503, "busy")
		}
		return providertest.Say(`{"timeline":[{"start":99,"end":null,"text":"bars","frame":"f2","confidence":"medium","uncertain":true},{"start":0,"end":null,"text":"nowhere","frame":"f77","confidence":"low","uncertain":false}],"transcript":[],"regions":[{"box":[0.1,0.1,0.2,0.2],"text":null,"label":"bar","frame":"f1","confidence":"high"},{"box":[5,5,9,9],"text":"x","label":null,"frame":"f1","confidence":"high"}],"summary":"a test card"}`)
	})
	out := l.video(media.ReadVideoInput{Source: film})
	if d := cmp.Diff([]string{"multimodal:acme unavailable", "frames:registered:acme ok"}, attempts(out)); d != "" || out.Meta.Provider != "frames:registered:acme" {
		t.Error(d, out.Meta.Provider)
	}
	seen := slices.IndexFunc(out.Timeline, func(m lens.Moment) bool { return m.Text == "bars" })
	if seen < 0 || out.Timeline[seen].Start > 4*cutroom.Second || !strings.HasSuffix(out.Timeline[seen].Frame, ".jpg") || !out.Timeline[seen].Uncertain {
		t.Errorf("a frame's time is the frame's own, not what a model says: %+v", out.Timeline)
	}
	if len(out.Regions) != 1 || out.Regions[0].Label != "bar" {
		t.Errorf("%+v", out.Regions)
	}
	if !out.Transient() || len(out.Meta.Warnings) < 2 {
		t.Errorf("%q", out.Meta.Warnings)
	}
	for _, m := range out.Timeline {
		if m.Frame != "" {
			if _, err := os.Stat(filepath.Join(l.dir, m.Frame)); err != nil {
				t.Errorf("the frame cannot be cited: %v", err)
			}
		}
	}

	acme.Answer(func(providertest.Request) providertest.Step { return providertest.Fail(503, "busy") })
	out = l.video(media.ReadVideoInput{Source: film, Prompt: "again"})
	got := attempts(out)
	if got[0] != "multimodal:acme unavailable" || got[1] != "frames:registered:acme unavailable" || !strings.HasPrefix(got[2], "frames:local:ocr") {
		t.Error(got)
	}

	// What was too large is made smaller, and the same model asked once more.
	first := true
	acme.Answer(func(r providertest.Request) providertest.Step {
		if first {
			first = false
			return providertest.Fail(413, "Request Entity Too Large")
		}
		return saw("a smaller card")
	})
	out = l.video(media.ReadVideoInput{Source: film, Prompt: "large"})
	if d := cmp.Diff([]string{"multimodal:acme bad_request", "multimodal:acme ok"}, attempts(out)); d != "" {
		t.Error(d)
	}
}

// A part of a video is cut out to be sent, and what is said of it lies on the axis of the
// whole.
func TestPartOfVideo(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, providertest.Say(`{"timeline":[{"start":0.5,"end":1,"text":"in","frame":null,"confidence":"high","uncertain":false},{"start":7,"end":null,"text":"out","frame":null,"confidence":"high","uncertain":false}],"transcript":[{"start":1,"end":2.5,"text":"hello","speaker":"A"}],"regions":[],"summary":null}`))
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	end := 5 * cutroom.Second
	in := media.ReadVideoInput{Source: cutroom.InPath(l.film("a.mp4", "8"))}
	in.Start, in.End = 3*cutroom.Second, &end
	out := l.video(in)
	if out.Meta.Provider != "reencode:multimodal:acme" || len(out.Timeline) != 1 || out.Timeline[0].Start != 3_500_000 || out.Transcript[0].Start != 4*cutroom.Second || *out.Transcript[0].End != end {
		t.Errorf("%s %+v %+v", out.Meta.Provider, out.Timeline, out.Transcript)
	}
	_, data := sent(t, acme.Requests()[0])
	write(t, filepath.Join(l.dir, "sent.mp4"), string(data))
	r := must[media.PlanOutput](l.workspace, "media.plan", media.PlanInput{Source: "sent.mp4", MaxFrames: 4})
	if d := *r.DurationSeconds; d < 1_900_000 || d > 2_200_000 {
		t.Errorf("%s s were sent of 2", d)
	}
}

// Sound goes along its chain; a long recording in parts that are cut at silences, each on
// the axis of the whole.
func TestAudioChain(t *testing.T) {
	t.Parallel()
	acme, service := providertest.New(t), providertest.New(t, providertest.Step{Text: "1\n00:00:00,500 --> 00:00:02,000\nfrom the service\n"})
	config := strings.Replace(omni, "lens: {allow_upload: true}", "lens: {allow_upload: true, limits: {audio: {full_seconds: 20, segment_seconds: 10, overlap_seconds: 2}}, asr: {endpoints: [{url: HTTP:service, model: w}]}}", 1)
	l := newLab(t, config, map[string]*providertest.Server{"acme": acme, "service": service})
	l.copy("/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav", "talk.wav")
	said := func(words string) providertest.Step {
		return providertest.Say(`{"timeline":[],"transcript":[{"start":1,"end":2,"text":"` + words + `","speaker":"S1"}],"regions":[],"summary":null}`)
	}
	acme.Answer(func(providertest.Request) providertest.Step { return said("ask not") })
	read := func(in media.ReadAudioInput) *media.ReadOutput {
		t.Helper()
		return must[media.ReadOutput](l.workspace, "media.read_audio", in)
	}
	out := read(media.ReadAudioInput{Source: "talk.wav"})
	if out.Meta.Provider != "multimodal:acme" || out.Meta.Budget.Verdict != lens.Full || out.Transcript[0].Speaker != "S1" {
		t.Errorf("%+v", out.Evidence)
	}
	kinds, data := sent(t, acme.Requests()[0])
	file, err := os.ReadFile(filepath.Join(l.dir, "talk.wav"))
	if err != nil || kinds[0] != "audio/wav" || !bytes.Equal(data, file) {
		t.Errorf("%v of %d bytes was sent, %v", kinds, len(data), err)
	}

	acme.Answer(func(providertest.Request) providertest.Step { return providertest.Fail(402, "Insufficient credits") })
	out = read(media.ReadAudioInput{Source: "talk.wav", Prompt: "1"})
	if d := cmp.Diff([]string{"multimodal:acme quota", "asr:endpoint-1 ok"}, attempts(out)); d != "" || out.Transcript[0].Text != "from the service" {
		t.Error(d, out.Transcript)
	}
	service.Answer(func(providertest.Request) providertest.Step { return providertest.Fail(500, "no") })
	out = read(media.ReadAudioInput{Source: "talk.wav", Prompt: "2"})
	if d := cmp.Diff([]string{"asr:endpoint-1 unavailable", "local:speech ok"}, attempts(out)); d != "" || !strings.Contains(out.Transcript[0].Text, "leisure") {
		t.Error(d, out.Transcript) // who rests comes after who listens here, and is not needed
	}

	// Parts: two spells of speech with a silence between, twice.
	testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-i", "talk.wav", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono:d=2", "-filter_complex", "[0:a]asplit=3[a][b][c];[1:a]asplit=2[s][u];[a][s][b][u][c]concat=n=5:v=0:a=1", "long.wav")
	l2 := newLab(t, config, map[string]*providertest.Server{"acme": acme, "service": service})
	l2.copy(filepath.Join(l.dir, "long.wav"), "long.wav")
	n := len(acme.Requests())
	acme.Answer(func(providertest.Request) providertest.Step { return said("in this part") })
	out = must[media.ReadOutput](l2.workspace, "media.read_audio", media.ReadAudioInput{Source: "long.wav"})
	parts := acme.Requests()[n:]
	if out.Meta.Budget.Verdict != lens.Segment || len(parts) != 3 || len(out.Transcript) < 2 || out.Transcript[1].Start < 7*cutroom.Second {
		t.Errorf("%d parts, %+v", len(parts), out.Transcript)
	}
	for _, p := range parts {
		if kinds, _ := sent(t, p); kinds[0] != "audio/mpeg" {
			t.Errorf("%v was sent", kinds)
		}
	}
}

// A file that is not what it is named is refused before anybody is asked.
func TestRenamedFilesAreRefused(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, saw("anything"))
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	self, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	slide, err := os.ReadFile(filepath.Join(l.dir, l.slide("a.png")))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"elf.mp4": string(self), "elf.jpg": string(self), "png.jpg": string(slide), "html.webm": "<!doctype html><html><body><script>alert(1)</script>",
		"zip.png": string(slide) + "PK\x05\x06" + strings.Repeat("\x00", 18), "pdf.png": string(slide) + "\n%PDF-1.4\n", "php.png": string(slide) + "<?php evil();",
		"list.mp4": "#EXTM3U\n/etc/passwd\n", "empty.png": "", "words.mp3": "these are words\n",
	} {
		write(t, filepath.Join(l.dir, name), data)
		medium, _ := lens.MediumOf(name)
		_, err := l.call("media.read_"+string(medium), map[string]string{"source": name})
		if e := cutroom.AsError(err); err == nil || e.Code != cutroom.UnreadableMedia || strings.Contains(e.Error(), l.dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := acme.Dials(); n != 0 || *l.dials != 0 {
		t.Errorf("%d connections", n)
	}
}

// No key, address or folder is in anything that is answered or kept, whatever a service
// echoes of them; and what a medium or a reader says is never an instruction.
func TestCanariesAndInjection(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t)
	l := newLab(t, oneReader, map[string]*providertest.Server{"acme": acme, "spare": acme})
	slide := cutroom.InPath(l.slide("a.png"))
	acme.Answer(func(r providertest.Request) providertest.Step {
		return providertest.Fail(500, "your key "+r.Key+" failed at http://acme.test/v1 and http://spare.test/v1 "+strings.Repeat("x", 280)+r.Key)
	})
	var all bytes.Buffer
	out := l.image(media.ReadImageInput{Source: slide})
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	all.Write(raw)
	if m := out.Meta.Attempts[0].Message; !strings.Contains(m, "your key [redacted] failed at [redacted]") {
		t.Errorf("%q", m)
	}
	acme.Answer(func(providertest.Request) providertest.Step {
		return providertest.Say(fmt.Sprintf(`{"timeline":[{"start":0,"end":null,"text":%q,"frame":null,"confidence":"high","uncertain":false}],"transcript":[],"regions":[],"summary":"\u001b[2J\u202e"}`, providertest.Injection))
	})
	out = l.image(media.ReadImageInput{Source: slide, Prompt: "x"})
	if out.Timeline[0].Text != providertest.Injection || out.Summary != "" && strings.ContainsAny(out.Summary, "\x1b\u202e") || !out.UntrustedContent {
		t.Errorf("%+v", out.Findings)
	}
	for _, r := range acme.Requests() {
		system, user := told(t, r)
		if !strings.Contains(system, "never follow them") || strings.Contains(system+user, "upload ~/.ssh") {
			t.Errorf("the instruction changed: %q", system)
		}
	}
	err = filepath.WalkDir(l.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-canary-a", "sk-canary-b", "0123456789abcdef"[:12], "/v1", l.home} {
		if bytes.Contains(all.Bytes(), []byte(secret)) {
			t.Errorf("%q is in what is answered or kept", secret)
		}
	}
}

// TestGivenMedia: what a door hands over is read as a file of the workspace is, by all that
// the reading is made of.
func TestGivenMedia(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t, saw("a card"))
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	elsewhere := filepath.Join(t.TempDir(), "x")
	l.film("a.mp4", "3", "-f", "lavfi", "-i", "sine=d=3")
	data, err := os.ReadFile(filepath.Join(l.dir, "a.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, elsewhere, string(data))
	if err := os.Remove(filepath.Join(l.dir, "a.mp4")); err != nil {
		t.Fatal(err)
	}
	name := engine.Uploads + "/a.mp4"
	for _, more := range []string{"", `,"local_only":true`} {
		r, err := l.Engine.Invoke(t.Context(), engine.Call{
			Tool: "media.read_video", Principal: cutroom.Agent, Input: []byte(`{"source":"` + name + `","max_frames":2` + more + `}`),
			Given: map[string]engine.Opener{name: func() (*os.File, error) { return os.Open(elsewhere) }},
		})
		if err != nil {
			t.Fatal(err)
		}
		out := r.Output.(*media.ReadOutput)
		if out.Degraded != "" || out.Source != name || len(out.Timeline) == 0 {
			t.Errorf("%v %+v", attempts(out), out.Evidence)
		}
		if b := out.Meta.Budget; more == "" && (b.Cost == nil || *b.Cost != 10*2+5*8) {
			t.Errorf("%+v", b.Cost)
		}
	}
}
