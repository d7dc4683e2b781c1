package engine

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// report reads the progress that a program writes on a pipe of its own (ffmpeg(1),
// -progress) and passes it on, in microseconds of the output.
func (k *call) report(cmd *argv.Command) {
	r := cmd.Report
	if r == nil || r.Pipe < 0 || r.Pipe >= len(cmd.Consume) {
		return
	}
	stage := cmd.Stage
	cmd.Consume[r.Pipe] = func(in io.Reader) (any, error) {
		lines := bufio.NewScanner(in)
		var done int64
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), "=")
			switch key {
			case "out_time_us":
				if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n > done {
					done = n
				}
			case "progress":
				k.progress(cutroom.Progress{Stage: stage, Done: min(done, max(int64(r.Total), done)), Total: int64(r.Total), Unit: "us"})
			}
		}
		return nil, lines.Err()
	}
}
