package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// wholeProject is an edit of five clips with everything in it.
const wholeProject = `
frame: {width: 720, height: 1280, fit: crop}
clips:
  - {src: high1080.mp4, in: 2, out: 4.4}
  - {src: high1080.mp4, in: 24, out: 26.4}
  - {src: high1080.mp4, in: 42, out: 44.4}
  - {src: high1080.mp4, in: 12, out: 14.4}
  - {src: high1080.mp4, in: 50, out: 52.4}
transition: {type: fade, duration: 0.4}
captions: {cues: [{start: 0.5, end: 4.5, text: What goes in}, {start: 5, end: 9, text: comes out proved}]}
graphics:
  - {template: lower-third, name: Somebody, title: Somewhere, start: 1, duration: 4}
  - {template: bug, title: LIVE}
overlays: [{image: mark.png, position: top-left, scale: 96}]
audio: {music: talk.wav, music_loop: true, duck: true}
loudness: {lufs: -16, tp: -1}
export: {codec: h264, crf: 20}
`

// handGraphics is about as much as the graphics draw, by hand.
const handGraphics = `Dialogue: 0,0:00:01.00,0:00:05.00,Default,,0,0,0,,{\an7\pos(40,1000)\p1\fad(200,200)\1a&H40&}m 0 0 l 360 0 360 120 0 120{\p0}
Dialogue: 1,0:00:01.00,0:00:05.00,Default,,0,0,0,,{\an7\pos(60,1010)\fs44\fad(200,200)}Somebody\N{\fs30}Somewhere
Dialogue: 0,0:00:00.00,0:00:12.00,Default,,0,0,0,,{\an9\pos(690,40)\fs36}LIVE
`

type projectRequest struct {
	Text      string `json:"text"`
	Output    string `json:"output"`
	Overwrite bool   `json:"overwrite"`
}

// projecting compares a whole project, its sound measured before, with one command
// written by hand and a plain decode of what that makes.
func projecting(ctx context.Context, l *lab) ([]figure, error) {
	for _, name := range []string{high, talkWAV} {
		if err := l.need(ctx, name); err != nil {
			return nil, err
		}
	}
	mark := filepath.Join(l.media, "mark.png")
	if _, err := l.plain("ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=s=192x192:d=1", "-frames:v", "1", mark)(ctx, 0); err != nil {
		return nil, err
	}
	captioned, drawn := filepath.Join(l.tmp, "hand.ass"), filepath.Join(l.tmp, "drawn.ass")
	script := strings.NewReplacer("PlayResX: 1080", "PlayResX: 720", "PlayResY: 1920", "PlayResY: 1280", "0:00:09.50", "0:00:04.50", "0:00:10.50", "0:00:05.00", "0:00:19.50", "0:00:09.00", "Sans,80", "Sans,56").Replace(captions)
	for path, text := range map[string]string{captioned: script, drawn: script[:strings.Index(script, "Dialogue:")] + handGraphics} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	by := filepath.Join(l.tmp, "project-by-hand.mp4")
	hand := []string{"-v", "error", "-nostdin", "-y"}
	var chain strings.Builder
	for i, at := range []string{"2", "24", "42", "12", "50"} {
		hand = append(hand, "-ss", at, "-t", "2.4", "-i", high)
		fmt.Fprintf(&chain, "[%d:v]scale=-2:1280:flags=bicubic,crop=720:1280,fps=25,settb=1/25[v%d];[%d:a]aresample=48000[a%d];", i, i, i, i)
	}
	picture, sound := "v0", "a0"
	for i := 1; i < 5; i++ {
		fmt.Fprintf(&chain, "[%s][v%d]xfade=transition=fade:duration=0.4:offset=%d[x%d];[%s][a%d]acrossfade=d=0.4[y%d];", picture, i, 2*i, i, sound, i, i)
		picture, sound = fmt.Sprintf("x%d", i), fmt.Sprintf("y%d", i)
	}
	fmt.Fprintf(&chain, "[x4]ass=%s,ass=%s[d];[5:v]scale=96:-2[m];[d][m]overlay=24:24[o];", captioned, drawn)
	chain.WriteString("[y4]asplit[s1][s2];[6:a]aresample=48000,volume=-14dB[b];[b][s2]sidechaincompress=threshold=0.05:ratio=6:attack=20:release=400[q];[s1][q]amix=inputs=2:duration=first:normalize=0,volume=-3dB,alimiter=limit=0.85[s]")
	hand = append(hand, "-loop", "1", "-t", "10.4", "-i", "mark.png", "-stream_loop", "-1", "-t", "10.4", "-i", talkWAV, "-filter_complex", chain.String(), "-map", "[o]", "-map", "[s]",
		"-c:v", "libx264", "-crf", "20", "-preset", "medium", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "192k", "-movflags", "+faststart", "-t", "10.4", by)
	out := filepath.Join(l.media, "project-bench.mp4")
	ours, err := l.invoke(invocation{
		tool: "edit.render", request: projectRequest{wholeProject, "project-bench.mp4", true},
		before: func() error {
			if err := os.Remove(out); err != nil && !os.IsNotExist(err) {
				return err
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	defer os.Remove(out)
	if _, err := ours(ctx, 0); err != nil { // probes, and measures the sound
		return nil, err
	}
	f, err := contest{
		what: "a project: 5 clips, transitions, captions, 2 graphics, overlay, music, ducking, loudness", plain: "one ffmpeg command, a decode of its output", ours: "edit.render, its sound measured before", unit: "×", target: 1.1,
		by:  []step{l.plain("ffmpeg", hand...), l.plain("ffmpeg", "-v", "error", "-nostdin", "-i", by, "-f", "null", "-")},
		our: ours,
	}.run(ctx, l)
	return []figure{f}, err
}
