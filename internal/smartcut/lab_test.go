package smartcut_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/smartcut"
	"cutroom/internal/testenv"
)

var abilities = sync.OnceValue(func() ffmpeg.Abilities {
	var outs [][]byte
	for _, q := range []string{"-filters", "-encoders", "-decoders", "-bsfs", "-version"} {
		out, err := exec.Command("ffmpeg", "-hide_banner", q).Output()
		if err != nil {
			panic(err)
		}
		outs = append(outs, out)
	}
	a, err := ffmpeg.ParseAbilities(outs[0], outs[1], outs[2], outs[3], outs[4])
	if err != nil {
		panic(err)
	}
	return a
})

// lab is one source file and what it decodes to.
type lab struct {
	t      *testing.T
	file   string
	src    smartcut.Source
	frames film
	out    string  // the latest cut
	first  float64 // time of its first frame
}

// film is a decoded picture stream.
type film struct {
	pts  []int64
	data [][]byte
}

func newLab(t *testing.T, file string) *lab {
	t.Helper()
	testenv.Needs(t, "ffmpeg", "ffprobe")
	head := make([]byte, ffmpeg.SniffLen)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, _ := f.ReadAt(head, 0)
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	format, err := ffmpeg.Sniff(head[:n], filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	r := testenv.NewRunner(t, file)
	p := ffmpeg.NewProber(0, format, info.Size())
	if err := r.Drive(p); err != nil {
		t.Fatal(err)
	}
	doc, err := p.Document()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, file: file, src: smartcut.Source{Format: format, Media: doc, Name: filepath.Base(file), SHA256: cutroom.DigestOf([]byte(file))}}
	l.frames = decode(t, file, doc)
	return l
}

// decode decodes the picture of a file, each frame with its time in ticks.
func decode(t *testing.T, file string, doc *ffmpeg.Document) film {
	t.Helper()
	v := doc.FirstVideo()
	cmd := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-noautorotate", "-copyts", "-i", "file:"+file, "-map", fmt.Sprintf("0:%d", v.Index),
		"-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "framecrc", "pipe:3", "-map", fmt.Sprintf("0:%d", v.Index), "-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "rawvideo", "pipe:1")
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{pw}
	var out, lines, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pw.Close()
	if _, err := lines.ReadFrom(pr); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, complaints.Bytes())
	}
	if complaints.Len() > 0 {
		t.Errorf("decoding %s says: %.600s", filepath.Base(file), complaints.Bytes())
	}
	var film film
	at := 0
	for line := range strings.Lines(lines.String()) {
		f := strings.Split(line, ",")
		if strings.HasPrefix(line, "#") || len(f) < 6 {
			continue
		}
		pts, _ := strconv.ParseInt(strings.TrimSpace(f[2]), 10, 64)
		size, _ := strconv.Atoi(strings.TrimSpace(f[4]))
		film.pts = append(film.pts, pts)
		film.data = append(film.data, out.Bytes()[at:at+size])
		at += size
	}
	return film
}

// between are the frames of [a, b) in ticks.
func (f film) between(a, b int64) film {
	var g film
	for i, p := range f.pts {
		if p >= a && p < b {
			g.pts, g.data = append(g.pts, p), append(g.data, f.data[i])
		}
	}
	return g
}

// psnr is the peak signal-to-noise ratio of two frames, of 8 bits or of deep.
func psnr(a, b []byte, bits int) float64 {
	if bytes.Equal(a, b) {
		return math.Inf(1)
	}
	if len(a) != len(b) {
		return 0
	}
	var sum, n float64
	if bits > 8 {
		for i := 0; i+1 < len(a); i += 2 {
			d := float64(int(a[i])|int(a[i+1])<<8) - float64(int(b[i])|int(b[i+1])<<8)
			sum, n = sum+d*d, n+1
		}
	} else {
		for i := range a {
			d := float64(a[i]) - float64(b[i])
			sum, n = sum+d*d, n+1
		}
	}
	peak := float64(int(1)<<bits - 1)
	return 10 * math.Log10(peak*peak*n/sum)
}

// cut makes a cut, and compares every frame of it with the source's. It returns nil when
// the cut had to be encoded as a whole.
func (l *lab) cut(container string, spans ...smartcut.Span) (*smartcut.Result, string) {
	l.t.Helper()
	target := smartcut.Target{File: "out." + container, Container: container}
	j, err := smartcut.New(l.src, spans, target, smartcut.Options{}, abilities())
	if err != nil {
		l.t.Fatal(err)
	}
	r := testenv.NewRunner(l.t, l.file)
	if err := r.Drive(j); err != nil {
		l.t.Fatalf("%v\n%s", err, r.Stderr)
	}
	if j.Reason() != "" {
		return nil, j.Reason()
	}
	res, err := j.Result()
	if err != nil {
		for _, v := range res.Verified {
			l.t.Logf("%+v", v)
		}
		l.t.Fatal(err)
	}
	l.out = filepath.Join(r.Dir, target.File)
	l.equals(l.out, spans, res)
	return &res, ""
}

// want are the source's frames of a span.
func (l *lab) want(s smartcut.Span) film {
	v := l.src.Media.FirstVideo()
	a, b := ffmpeg.TickRange(s.Start+l.src.Media.ZeroSeconds, s.End+l.src.Media.ZeroSeconds, v.TimeBase)
	if s.Start == 0 {
		a = -1 << 60
	}
	if s.End == 0 {
		b = 1 << 60
	}
	return l.frames.between(int64(a), int64(b))
}

// equals compares a written file with the source, from outside.
func (l *lab) equals(file string, spans []smartcut.Span, res smartcut.Result) {
	l.t.Helper()
	v := l.src.Media.FirstVideo()
	got := decode(l.t, file, res.Probe)
	w := res.Probe.FirstVideo()
	var want film
	var times []float64 // seconds
	at := 0.0
	for _, s := range spans {
		part := l.want(s)
		if len(part.pts) == 0 {
			l.t.Fatalf("%v holds no frame", s)
		}
		end := part.pts[len(part.pts)-1] + (part.pts[len(part.pts)-1] - part.pts[max(0, len(part.pts)-2)])
		if next := l.frames.between(part.pts[len(part.pts)-1]+1, 1<<60); len(next.pts) > 0 {
			end = next.pts[0]
		}
		for _, p := range part.pts {
			times = append(times, at+float64(p-part.pts[0])*v.TimeBase.Float())
		}
		at += float64(end-part.pts[0]) * v.TimeBase.Float()
		want.pts, want.data = append(want.pts, part.pts...), append(want.data, part.data...)
	}
	if len(got.pts) != len(want.pts) {
		l.t.Errorf("%v: %d frames decode, not %d", spans, len(got.pts), len(want.pts))
		return
	}
	l.first = float64(got.pts[0]) * w.TimeBase.Float()
	copied, encoded := 0, 0
	for _, s := range res.Segments {
		copied, encoded = copied+s.Copied, encoded+s.Encoded
	}
	same, worst := 0, math.Inf(1)
	for i := range want.pts {
		q := psnr(got.data[i], want.data[i], max(8, v.Video.BitDepth))
		if math.IsInf(q, 1) {
			same++
		}
		worst = min(worst, q)
		t := float64(got.pts[i]-got.pts[0]) * w.TimeBase.Float()
		if d := t - times[i]; d > w.TimeBase.Float()+1e-6 || d < -w.TimeBase.Float()-1e-6 {
			l.t.Errorf("%v: frame %d shows at %.6f, not %.6f", spans, i, t, times[i])
			break
		}
	}
	if same < copied || copied+encoded != len(want.pts) {
		l.t.Errorf("%v: %d frames of %d are equal, and %d were copied and %d encoded", spans, same, len(want.pts), copied, encoded)
	}
	if worst < 40 {
		l.t.Errorf("%v: the worst frame is within %.1f dB", spans, worst)
	}
}
