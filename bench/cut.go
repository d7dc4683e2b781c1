package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"cutroom"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// cutting compares an exact cut of a minute that copies what it can with one that
// encodes everything, and with the plain programs that do no more than is needed.
func cutting(ctx context.Context, l *lab) ([]figure, error) {
	var figures []figure
	for _, m := range []struct {
		file, what, key string
		group           float64 // seconds between key frames
		least           float64 // how many times less
	}{
		{tenMin, "2 s", "302", 2, 12},
		{sparse, "8 s", "308", 8, 4},
	} {
		if err := l.probed(ctx, m.file); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		ours, err := l.cut(m.file, "smart", &out)
		if err != nil {
			return nil, err
		}
		whole, err := l.cut(m.file, "accurate", nil)
		if err != nil {
			return nil, err
		}
		f, err := contest{
			what: "cut of 60 s, 1080p, key frames every " + m.what, plain: "the same cut, everything encoded", ours: "edit.cut", unit: "×", target: 1 / m.least, wall: true,
			by: []step{whole}, our: ours,
		}.run(ctx, l)
		if err != nil {
			return nil, err
		}
		var answer edit.CutOutput
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			return nil, err
		}
		if answer.Reencoded || len(answer.Segments) != 1 {
			return nil, fmt.Errorf("the cut of %s was not made by packets: %s", m.file, answer.ReencodeReason)
		}
		f.Note = fmt.Sprintf("%d frames copied, %d encoded", answer.Segments[0].Copied, answer.Segments[0].Encoded)
		figures = append(figures, f)
		f, err = contest{
			what: "the same beside what is needed, " + m.what, plain: "ffmpeg: copy of the bytes, encode of the sound and the ends, decode of the seams", ours: "edit.cut", unit: "×", target: 1.5,
			by: l.needed(m.file, m.key, m.group), our: ours,
		}.run(ctx, l)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// from and until are the minute that is cut out, not at key frames.
const cutFrom, cutUntil = "301.3", "361.3"

func (l *lab) cut(file, mode string, out *bytes.Buffer) (step, error) {
	in := edit.CutInput{
		Input: cutroom.InPath(file), Start: cutFrom, End: cutUntil, Mode: mode,
		Writing: tool.Writing{Output: cutroom.OutPath("cut-" + mode + ".mp4"), Overwrite: true},
	}
	return l.invoke(invocation{tool: "edit.cut", request: in, out: out})
}

// needed are the plain runs that do what an exact cut cannot do without. The first key
// frame in the cut is at key; the ends are as much of a group as the cut leaves there.
func (l *lab) needed(file, key string, group float64) []step {
	ff := func(args ...string) step {
		return l.plain("ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
	}
	encode := func(from, length string) step {
		return ff("-ss", from, "-i", file, "-t", length, "-map", "0:v:0", "-c:v", "libx264", "-preset", "fast", "-crf", "12", "plain-end.mp4")
	}
	head := "0.7"
	if key == "308" {
		head = "6.7"
	}
	seen := fmt.Sprint(2 * group)
	return []step{
		ff("-ss", key, "-i", file, "-t", "59", "-map", "0:v:0", "-c", "copy", "plain-copy.mp4"),
		encode(cutFrom, head), encode("361.2", "0.1"),
		ff("-ss", cutFrom, "-i", file, "-t", "60", "-map", "0:a:0", "-c:a", "aac", "-b:a", "192k", "plain-sound.m4a"),
		// Each seam of the source and of the output, a group before and one behind.
		ff("-ss", "300", "-i", file, "-t", seen, "-map", "0:v:0", "-f", "null", "-"), ff("-ss", "300", "-i", file, "-t", seen, "-map", "0:v:0", "-f", "null", "-"),
		ff("-ss", "356", "-i", file, "-t", fmt.Sprint(group), "-map", "0:v:0", "-f", "null", "-"), ff("-ss", "356", "-i", file, "-t", fmt.Sprint(group), "-map", "0:v:0", "-f", "null", "-"),
	}
}
