package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// leastCut is the score from which on a change counts by default.
const leastCut = 8

// fullPass is what ffmpeg's own filters say of a whole decode.
type fullPass struct {
	scores                 map[int64]float64 // of every frame, by tick
	black, freeze, silence []ffmpeg.Span
}

// fullPass decodes everything, the loop filter too, and scales well.
func (l *lab) fullPass(ctx context.Context, file string) (fullPass, error) {
	sound := filepath.Join(l.tmp, "sound.txt")
	c := l.command(ctx, "ffmpeg", "-v", "error", "-nostdin", "-y", "-copyts", "-i", file, "-filter_complex",
		"[0:v:0]scale=320:180:flags=bicubic,format=yuv420p,scdet=t=100,blackdetect=d=0.1:pix_th=0.1:pic_th=0.999,freezedetect=n=-60dB:d=0.5,metadata=mode=print:file=-[v];"+
			"[0:a:0]silencedetect=n=-50dB:d=0.3,ametadata=mode=print:file="+sound+"[a]",
		"-map", "[v]", "-f", "null", "-", "-map", "[a]", "-f", "null", "-")
	var pictures bytes.Buffer
	c.Stdout = &pictures
	if _, err := l.run(c); err != nil {
		return fullPass{}, err
	}
	heard, err := os.ReadFile(sound)
	if err != nil {
		return fullPass{}, err
	}
	p := fullPass{scores: map[int64]float64{}}
	err = p.read(pictures.Bytes())
	if err == nil {
		err = p.read(heard)
	}
	return p, err
}

// read reads what the metadata filters printed.
func (p *fullPass) read(text []byte) error {
	spans := map[string]*[]ffmpeg.Span{
		"lavfi.black_": &p.black, "lavfi.freezedetect.freeze_": &p.freeze, "lavfi.silence_": &p.silence,
	}
	var pts int64
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if _, rest, ok := strings.Cut(line, " pts:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			pts = n
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		if key == "lavfi.scd.score" {
			p.scores[pts] = number
		}
		at := cutroom.Micros(number * 1e6)
		for prefix, list := range spans {
			switch {
			case key == prefix+"start":
				*list = append(*list, ffmpeg.Span{StartSeconds: at, EndSeconds: -1})
			case key == prefix+"end" && len(*list) > 0:
				(*list)[len(*list)-1].EndSeconds = at
			}
		}
	}
	return lines.Err()
}

// differing lists what the two hold differently: spans are equal when both ends are
// within slack. An end that the filters left open is not compared.
func differing(what string, want, got []ffmpeg.Span, slack cutroom.Micros) []string {
	near := func(a, b cutroom.Micros) bool { return a-b <= slack && b-a <= slack }
	if len(want) != len(got) {
		return []string{fmt.Sprintf("%s: %v, not %v", what, got, want)}
	}
	var list []string
	for i, w := range want {
		if g := got[i]; !near(w.StartSeconds, g.StartSeconds) || w.EndSeconds >= 0 && !near(w.EndSeconds, g.EndSeconds) {
			list = append(list, fmt.Sprintf("%s: %v, not %v", what, g, w))
		}
	}
	return list
}
