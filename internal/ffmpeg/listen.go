package ffmpeg

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Hearing is a stretch of one input's sound, for [Listen].
type Hearing struct {
	In         int // of the call
	Format     Format
	Media      *Document
	Stream     int            // n-th audio stream, from 0
	Start, End cutroom.Micros // on the public axis; End 0 is the end of the file
	// Consume is told where the first sample lies on the public axis: sound may begin
	// after the pictures.
	Consume func(first cutroom.Micros) argv.Consumer
}

// Listen returns one run that decodes the sound of several inputs side by side and
// pipes each to its consumer: mono, mixed with the centre, where speech is, as 16-bit
// little-endian samples at that rate. Holes between packets are filled, so that a
// sample's number is its time. An input without sound is an error that names it by
// what it is called in names.
func Listen(step string, rate int, list []Hearing, names []string) (argv.Command, error) {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts", "-vn", "-sn", "-dn")
	cmd := argv.Command{Step: step, Program: "ffmpeg", Stage: "listening to " + strings.Join(names, " and "), Consume: []argv.Consumer{nil}}
	var graph []string
	var outputs []argv.Atom
	for i, h := range list {
		s, err := h.Media.AudioStream(h.Stream)
		if err != nil {
			e := cutroom.AsError(err)
			return cmd, cutroom.Errorf(e.Code, "%s: %s", names[i], e.Msg).WithHint("%s", e.Hint)
		}
		if i > 0 {
			args = append(args, argv.Words("-vn", "-sn", "-dn")...)
		}
		args = append(args, h.Media.seek(h.Start)...)
		granted := h.Format.Granted(h.In)
		n := len(cmd.Inputs)
		if len(granted) > 0 && slices.Contains(cmd.Inputs, h.In) {
			n, granted = slices.Index(cmd.Inputs, h.In), nil // one file against itself
		}
		// No thread of its own for each input: handing packets over costs more than reading.
		args = append(args, argv.Words("-thread_queue_size", "0")...)
		args = append(args, h.Format.Input(n)...)
		cmd.Inputs = append(cmd.Inputs, granted...)
		end := h.End
		if d := h.Media.DurationSeconds; end == 0 || d > 0 && end > d {
			end = d
		}
		o := AudioOptions{Stream: h.Stream, SampleRate: rate, Channels: 1, Start: h.Start, End: h.End}
		chain := h.Media.soundGraph(s, o, end)
		chain = strings.TrimSuffix(strings.TrimPrefix(chain, fmt.Sprintf("[0:%d]", s.Index)), "[a]")
		graph = append(graph, fmt.Sprintf("[%d:%d]%s[a%d]", i, s.Index, chain, i))
		cmd.Consume = append(cmd.Consume, h.Consume(max(h.Start, s.StartSeconds)))
		outputs = append(outputs, argv.Words("-map", fmt.Sprintf("[a%d]", i))...)
		outputs = append(outputs, SoundForm("pcm_s16le", "s16le")...)
		outputs = append(outputs, argv.Pipe(i+1))
	}
	args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(graph, ";")))
	cmd.Args = append(args, outputs...)
	return cmd, nil
}

// SoundForm is how sound goes to a consumer: in that codec and format, written when a
// buffer is full. Packet by packet, as ffmpeg writes to pipes, costs as much as decoding.
func SoundForm(codec, format string) []argv.Atom {
	return argv.Words("-c:a", codec, "-f", format, "-flush_packets", "0")
}
