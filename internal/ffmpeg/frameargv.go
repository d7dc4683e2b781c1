package ffmpeg

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// start returns where to seek to, in seconds as -ss counts them: from the start that
// the container states.
func (j *FrameJob) start(tick Ticks, tries int) cutroom.Micros {
	at := tick.Micros(j.stream.TimeBase) - j.doc.StartSeconds - j.lead(tries)
	if !j.seekable() {
		return 0
	}
	return max(0, at)
}

func (j *FrameJob) command(through bool) argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts")
	inputs := j.batch
	if through {
		inputs = j.batch[:1]
	}
	for _, t := range inputs {
		args = append(args, j.decoder...)
		if !through {
			args = append(args, argv.Words("-threads", "1")...)
		}
		from := t.from
		if j.opts.Keyframes {
			from = t.want
			args = append(args, argv.Words("-skip_frame", "nokey")...)
		}
		args = append(args, argv.Words("-noautorotate", "-noaccurate_seek")...)
		if s := j.start(from, t.tries); s > 0 {
			args = append(args, argv.Word("-ss"), argv.Decimal(decimal(s)))
		}
		args = append(args, j.format.input(0)...)
	}
	args = append(args, argv.Word("-filter_complex"), argv.Graph(j.graph(through)))
	for _, t := range j.batch {
		args = append(args, j.output(t, "o", j.file(t), "4")...)
		if j.opts.Full {
			args = append(args, j.output(t, "p", j.fullFile(t), "2")...)
		}
	}
	return argv.Command{
		Step: fmt.Sprintf("%sframes%d", j.opts.Name, j.rounds), Program: "ffmpeg", Args: args, Inputs: j.format.Granted(j.in), MayFail: true,
		Stage: fmt.Sprintf("taking frames %d to %d of %d", len(j.all)-len(j.pending)+1, len(j.all)-len(j.pending)+len(j.batch), len(j.all)),
	}
}

func (j *FrameJob) file(t *target) string { return fmt.Sprintf("%sframe-%04d.jpg", j.opts.Name, t.n) }

func (j *FrameJob) fullFile(t *target) string {
	return fmt.Sprintf("%sfull-%04d.jpg", j.opts.Name, t.n)
}

func (j *FrameJob) output(t *target, label, file, quality string) []argv.Atom {
	as := append(argv.Words("-map", fmt.Sprintf("[%s%d]", label, t.n)), j.abilities.FrameRateMode("passthrough")...)
	// Each encoder makes one picture. With threads, those of a batch together would
	// take more address space than a run is given.
	as = append(as, argv.Words("-c:v", "mjpeg", "-threads", "1", "-q:v", quality, "-f", "image2", "-update", "1")...)
	return append(as, argv.Out(file))
}

// graph builds one chain per time: cut to the window, print the presentation time,
// show.
func (j *FrameJob) graph(through bool) string {
	var g []string
	if through {
		split := fmt.Sprintf("[0:%d]split=%d", j.stream.Index, len(j.batch))
		for _, t := range j.batch {
			split += fmt.Sprintf("[i%d]", t.n)
		}
		g = append(g, split)
	}
	w, h := j.stream.Video.Fit(j.opts.Width)
	for k, t := range j.batch {
		source := fmt.Sprintf("[%d:%d]", k, j.stream.Index)
		if through {
			source = fmt.Sprintf("[i%d]", t.n)
		}
		chain := source + t.cut(j.opts.Keyframes)
		id := strconv.Itoa(t.n)
		if j.opts.Full {
			fw, fh := j.stream.Video.Fit(0)
			chain += fmt.Sprintf(",split[s%s][f%s];[f%s]%s[p%s];[s%s]", id, id, id, j.full.filters(fw, fh, "f"+id), id, id)
		} else {
			chain += ","
		}
		g = append(g, chain+j.small.filters(w, h, "s"+id)+"[o"+id+"]")
	}
	return strings.Join(g, ";")
}

// cut returns the filters that let the frames of the window through and print their
// times. The first frame that was decoded is printed as well: it tells whether the
// decoding began before the window.
func (t *target) cut(keyframes bool) string {
	if keyframes {
		return "trim=end_frame=1," + printTime(t.n)
	}
	return fmt.Sprintf(`trim=end_pts=%d,select=eq(n\,0)+gte(pts\,%d),%s,select=gte(pts\,%d)`, t.to+1, t.from, printTime(t.n), t.from)
}

// printTime returns the filters that print a frame's time and mark it with n. Only
// our own key is printed: a file's tags could imitate these lines.
func printTime(n int) string {
	return fmt.Sprintf("metadata=mode=delete:key=cutroom,metadata=mode=add:key=cutroom:value=%d,metadata=mode=print:key=cutroom:file=-", n)
}

// printedFrames reads what the metadata filter printed: a line with the frame's
// time, then one with the number of the time it belongs to.
func printedFrames(out []byte) map[int][]Ticks {
	found := map[int][]Ticks{}
	var pts Ticks
	ok := false
	for line := range bytes.Lines(out) {
		s := strings.TrimSpace(string(line))
		if n, is := strings.CutPrefix(s, "cutroom="); is {
			if k, err := strconv.Atoi(n); err == nil && ok {
				found[k] = append(found[k], pts)
			}
			ok = false
			continue
		}
		pts, ok = printedPTS(s)
	}
	return found
}

// printedPTS reads the ticks of a line "frame:0    pts:158000  pts_time:5.26667".
func printedPTS(line string) (Ticks, bool) {
	if !strings.HasPrefix(line, "frame:") {
		return 0, false
	}
	_, rest, ok := strings.Cut(line, " pts:")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(strings.SplitN(strings.TrimSpace(rest), " ", 2)[0]), 10, 64)
	return Ticks(n), err == nil
}
