package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The media, by name in the workspace. They are made once and kept.
const (
	high     = "high1080.mp4" // 60 s of 1080p H.264 High at 7 Mbit/s, a key frame every 2 s, stereo AAC
	tenMin   = "high1080-10min.mp4"
	minute8  = "high1080-g200.mp4"       // as high, a key frame every 8 s
	sparse   = "high1080-10min-g200.mp4" // ten of it
	hd720    = "high720.mp4"
	baseline = "baseline1080.mp4"
	small    = "small.mp4" // a few seconds
	talk     = "talk.mp4"  // the sample clip, which speaks
	talk20   = "talk-20min.mp4"
	talk120  = "talk-120min.mp4"
	talkWAV  = "talk.wav"             // as the speech engine takes it
	event    = "event-10min.m4a"      // 10 minutes of sound that never repeats itself
	second   = "event-10min-late.m4a" // the same, begun 12.5 s later, with noise of its own
)

// pictures has scenes that change and stand still, fine detail that moves, grain and
// black: what measurements find, at the rate of a camera.
const pictures = "mandelbrot=s=640x360:r=25:maxiter=300,trim=duration=20,scale=1920:1080,noise=alls=12:allf=t,format=yuv420p[a];" +
	"testsrc2=s=1920x1080:r=25:d=14,noise=alls=10:allf=t,format=yuv420p[b];color=black:s=1920x1080:r=25:d=2,format=yuv420p[c];" +
	"smptehdbars=s=1920x1080:r=25:d=4,format=yuv420p[d];testsrc2=s=960x540:r=25:d=20,scale=1920:1080,hue=h=90,noise=alls=12:allf=t,format=yuv420p[e];" +
	"[a][b][c][d][e]concat=n=5:v=1:a=0,setsar=1[v];" +
	`aevalsrc=exprs='(0.3*sin(2*PI*(220+20*t)*t)+0.02*(random(0)-0.5))*gt(mod(t\,10)\,2)|0.2*sin(2*PI*330*t)*gt(mod(t\,10)\,2)':s=48000:d=60[s]`

// hubbub is noise whose loudness never repeats itself.
const hubbub = `anoisesrc=r=48000:c=pink:a=0.5:seed=7:d=620,volume='0.2+0.8*abs(sin(1.7*t)*sin(2.3*t*(1+t/900)))':eval=frame,aformat=channel_layouts=stereo`

// recipe is how ffmpeg makes one of the media: its arguments before the output.
func (l *lab) recipe(name string) ([]string, error) {
	demo := filepath.Join(l.root, "testdata", "media", "demo.mp4")
	loop := func(of string, times string) []string {
		return []string{"-stream_loop", times, "-i", of, "-map", "0", "-c", "copy", "-movflags", "+faststart"}
	}
	again := func(args ...string) []string {
		return append([]string{"-i", high, "-t", "30", "-c:a", "copy", "-c:v", "libx264", "-preset", "veryfast", "-g", "50"}, args...)
	}
	switch name {
	case high:
		return []string{
			"-filter_complex", pictures, "-map", "[v]", "-map", "[s]", "-t", "60", "-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high",
			"-b:v", "7M", "-maxrate", "10M", "-bufsize", "14M", "-g", "50", "-bf", "3", "-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart",
		}, nil
	case tenMin:
		return loop(high, "9"), nil
	case minute8:
		return []string{"-i", high, "-c:a", "copy", "-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high", "-b:v", "7M", "-maxrate", "10M", "-bufsize", "14M", "-g", "200", "-keyint_min", "200", "-sc_threshold", "0", "-bf", "3", "-movflags", "+faststart"}, nil
	case sparse:
		return loop(minute8, "9"), nil
	case hd720:
		return again("-vf", "scale=1280:720", "-profile:v", "high", "-b:v", "2500k"), nil
	case baseline:
		return again("-profile:v", "baseline", "-b:v", "7M"), nil
	case small:
		return []string{"-i", demo, "-t", "4", "-c", "copy"}, nil
	case talk:
		return loop(demo, "0"), nil
	case talk20:
		return loop(demo, "45"), nil
	case talk120:
		return loop(demo, "276"), nil
	case event:
		return []string{"-filter_complex", hubbub + "[s]", "-map", "[s]", "-t", "600", "-c:a", "aac", "-b:a", "128k"}, nil
	case second:
		return []string{
			"-filter_complex", hubbub + ",atrim=start=12.5,asetpts=PTS-STARTPTS[e];anoisesrc=r=48000:c=white:a=0.03:seed=9:d=620,aformat=channel_layouts=stereo[n];[e][n]amix=inputs=2:duration=first[s]",
			"-map", "[s]", "-t", "600", "-c:a", "aac", "-b:a", "128k",
		}, nil
	case talkWAV:
		return []string{"-stream_loop", "2", "-i", demo, "-vn", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le"}, nil
	}
	return nil, fmt.Errorf("no medium is called %q", name)
}

// need makes the named media where they are absent, and has each probed once.
func (l *lab) need(ctx context.Context, names ...string) error {
	made := false
	for _, name := range names {
		m, err := l.make(ctx, name)
		if err != nil {
			return err
		}
		made = made || m
	}
	if made {
		// A digest is remembered only for a file that was at rest when it was read.
		time.Sleep(2500 * time.Millisecond)
	}
	return nil
}

func (l *lab) make(ctx context.Context, name string) (made bool, err error) {
	path := filepath.Join(l.media, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	args, err := l.recipe(name)
	if err != nil {
		return false, err
	}
	if slices.Contains([]string{tenMin, hd720, baseline, minute8}, name) {
		if _, err := l.make(ctx, high); err != nil {
			return false, err
		}
	}
	if name == sparse {
		if _, err := l.make(ctx, minute8); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(os.Stderr, "bench: making %s\n", path)
	unfinished := "new-" + name
	args = append([]string{"-v", "error", "-nostdin", "-y"}, args...)
	if _, err := l.run(l.command(ctx, "ffmpeg", append(args, unfinished)...)); err != nil {
		return false, err
	}
	return true, os.Rename(filepath.Join(l.media, unfinished), path)
}

// probed has the facts of a file in the caches.
func (l *lab) probed(ctx context.Context, name string) error {
	if err := l.need(ctx, name); err != nil {
		return err
	}
	probe, err := l.invoke(invocation{tool: "video.probe", request: sourceOf(name)})
	if err == nil {
		_, err = probe(ctx, 0)
	}
	return err
}
