package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

type batchRequest struct {
	Folder    string `json:"folder"`
	Text      string `json:"text"`
	Out       string `json:"out"`
	Jobs      int    `json:"jobs"`
	Overwrite bool   `json:"overwrite"`
}

// batching compares a folder of recordings with a shell's loop over it: for each a probe,
// one command that does the same, and a plain decode of what that makes, as many side by
// side. -long takes 200 files.
func batching(ctx context.Context, l *lab) ([]figure, error) {
	n, folder := 40, filepath.Join(l.media, "batch-bench")
	if l.long {
		n = 200
	}
	hand, made := filepath.Join(l.tmp, "batch-hand"), filepath.Join(l.media, "batch-made")
	for _, dir := range []string{folder, hand} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	defer os.RemoveAll(folder)
	defer os.RemoveAll(made)
	for i := range n {
		if _, err := l.plain("ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", fmt.Sprintf("sine=f=%d:r=48000:d=20", 200+7*i), "-ac", "2", filepath.Join(folder, fmt.Sprintf("%03d.wav", i)))(ctx, 0); err != nil {
			return nil, err
		}
	}
	jobs := strconv.Itoa(min(2, runtime.NumCPU()))
	loop := `find "$1" -name '*.wav' -print0 | xargs -0 -n1 -P"$3" sh -c 'o="$0/$(basename "$1" .wav).flac"
ffprobe -v error -show_format -show_streams -of json "$1" >/dev/null && ffmpeg -v error -nostdin -y -i "$1" -af volume=-3dB -c:a flac "$o" && ffmpeg -v error -nostdin -i "$o" -f null -' "$2"`
	ours, err := l.invoke(invocation{
		tool: "edit.batch", request: batchRequest{"batch-bench", "name: '{stem}.flac'\nsteps: [{tool: edit.audio, with: {gain: -3}}]", "batch-made", min(2, runtime.NumCPU()), true},
		before: func() error { return os.RemoveAll(made) },
	})
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: fmt.Sprintf("a batch: the level of %d recordings of 20 s", n), plain: "xargs, " + jobs + " at a time: ffprobe, one ffmpeg command, a decode of its output", ours: "edit.batch, " + jobs + " jobs", unit: "×", target: 1.25,
		by:  []step{l.plain("sh", "-c", loop, "sh", folder, hand, jobs)},
		our: ours,
	}.run(ctx, l)
	return []figure{f}, err
}
