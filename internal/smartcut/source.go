package smartcut

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// Source is the file that is cut.
type Source struct {
	Input  int // of the call
	Format ffmpeg.Format
	Media  *ffmpeg.Document
	Name   string         // safe to show; for the edit map
	SHA256 cutroom.Digest // for the edit map
}

func (s Source) video() *ffmpeg.Stream { return s.Media.FirstVideo() }

// Unfit says why a file cannot be cut by packets at all; "" when it can be tried.
func (s Source) Unfit() string {
	v := s.video()
	switch {
	case v == nil:
		return "the file has no picture"
	case !v.Decodable:
		return "the picture cannot be decoded here, so that nothing could be proved"
	case !slices.Contains([]string{"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"}, s.Media.FormatName) && !strings.HasPrefix(s.Media.FormatName, "mov") && !strings.HasPrefix(s.Media.FormatName, "matroska"):
		return "packets of " + s.Media.FormatName + " files cannot be reached exactly"
	case s.Format.Fragmented:
		return "the file is an MP4 of fragments, whose packets cannot be reached exactly"
	case v.TimeBase.Num != 1 || v.TimeBase.Den < 1 || v.TimeBase.Den > 1_000_000:
		return "the time base " + v.TimeBase.String() + " cannot be kept"
	case v.Video.Alpha:
		return "the picture is transparent"
	}
	return ""
}

// early is how much behind a key frame's time is asked for, so that rounding does not
// lead to the one before.
const early = 200 // µs

// open are the arguments that open the source as the n-th granted input, from the key
// frame at t on, or from one before it.
func (s Source) open(n int, t ffmpeg.Ticks) []argv.Atom {
	args := argv.Words("-noautorotate", "-noaccurate_seek")
	if at := t.Micros(s.video().TimeBase) - s.Media.StartSeconds + early; at > early {
		args = append(args, argv.Word("-ss"), argv.Decimal(at.String()))
	}
	return append(args, s.Format.Input(n)...)
}

// opening are the units of a codec's packets with which copying may begin, as
// filter_units takes them, and those among them that begin an open group; "" for codecs
// whose key frames all will do.
func (s Source) opening() (closed, open string) {
	switch s.video().CodecName {
	case "h264":
		return "5", "" // IDR slices (Rec. ITU-T H.264, table 7-1)
	case "hevc":
		return "16-20", "21" // BLA and IDR; CRA (Rec. ITU-T H.265, table 7-1)
	}
	return "", ""
}

// slices are the units of pictures, without parameter sets and messages, which
// containers move about.
func (s Source) slices() string {
	switch s.video().CodecName {
	case "h264":
		return "filter_units=pass_types=1-5"
	case "hevc":
		return "filter_units=pass_types=0-31"
	}
	return "null"
}

// starts is the run that finds where copying may begin between two key frames.
func (s Source) starts(from, to ffmpeg.Ticks) argv.Command {
	closed, open := s.opening()
	v := s.video()
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts")
	args = append(args, s.open(0, from)...)
	stop := to.Micros(v.TimeBase) + cutroom.Second
	for n, units := range []string{closed, open} {
		if units == "" {
			continue
		}
		args = append(args, argv.Words("-map", "0:"+strconv.Itoa(v.Index), "-c", "copy", "-bsf:v", "filter_units=pass_types="+units)...)
		args = append(args, argv.Words("-to", stop.String(), "-f", "framecrc")...)
		args = append(args, argv.Pipe(n+1))
	}
	cmd := argv.Command{
		Step: fmt.Sprintf("starts%d", int64(from)), Program: "ffmpeg", Inputs: s.Format.Granted(s.Input), Stage: "finding where copying can begin",
		Args: args, Consume: []argv.Consumer{nil, readTimes}, MayFail: true,
	}
	if open != "" {
		cmd.Consume = append(cmd.Consume, readTimes)
	}
	return cmd
}
