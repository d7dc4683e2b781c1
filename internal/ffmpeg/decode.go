package ffmpeg

import (
	"fmt"
	"io"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// DecodeOptions says what one full decode notes beside the times of all frames.
type DecodeOptions struct {
	Pictures bool   // whether all pictures are black, or all the same
	Loudness bool   // of one audio stream
	Track    int    // which: the n-th, from 0
	Cues     bool   // count the cues of the subtitle streams
	Head     bool   // read the start of an MP4: whether its index comes first
	Looks    bool   // the signature of the picture
	Courses  []bool // the course of each audio stream that is set
	Stills   *StillsOf
}

// Decoded is what one full decode of a file found. Times are on the file's timeline.
type Decoded struct {
	Streams  []DecodedStream // video, audio and, when asked for, subtitles, in the file's order
	Finished bool            // the decoder ended by itself, without an error code
	Errors   argv.Complaints
	Pictures *PictureContent
	Loudness *Loudness
	Looks    Signature
	Courses  map[int]Course // by the number of the audio stream
	Stills   Stills
	// IndexFirst is nil when the start of the file does not tell.
	IndexFirst *bool
}

// DecodedStream is what came out of one stream.
type DecodedStream struct {
	Index    int
	TimeBase Rational // of the times below
	Frames   int64    // frames of pictures or of the codec's sound, or cues
	First    Ticks    // presentation time of the first frame
	Last     Ticks    // and of the last one
	End      Ticks    // where the last one ends
	Samples  int64    // per channel
	Longest  Ticks    // largest distance between frames
	Step     Ticks    // length of the longest frame that states its length
	Sounding bool     // some sample is above −60 dBFS
}

// Stream returns what came out of the stream of that index, false when nothing was
// decoded of it.
func (d *Decoded) Stream(index int) (DecodedStream, bool) {
	for _, s := range d.Streams {
		if s.Index == index {
			return s, true
		}
	}
	return DecodedStream{}, false
}

// Decode is one run that decodes every frame of every video and audio stream of a
// file, with nothing skipped, and notes the time of each. Memory does not grow with
// the length of the file. Drive it as a [Prober].
//
// Cover art is not decoded. Each stream has a pipe of its own: streams that wait for
// one another would be held in memory.
type Decode struct {
	in        int
	format    Format
	doc       *Document
	opts      DecodeOptions
	abilities *Abilities
	state     int // 0 to run, 1 fed
	result    Decoded

	args    []argv.Atom
	consume []argv.Consumer
}

// NewDecode returns a decode of input in of the call. a are the abilities of the
// ffmpeg that runs; nil stands for 5.1 or newer.
func NewDecode(in int, f Format, d *Document, o DecodeOptions, a *Abilities) *Decode {
	return &Decode{in: in, format: f, doc: d, opts: o, abilities: a}
}

// headPackets is how much of the start of a file is read: packets of 1024 bytes.
const headPackets = 64

// Next returns the run, once.
func (j *Decode) Next() (argv.Command, bool) {
	if j.state != 0 {
		return argv.Command{}, false
	}
	j.args = argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts", "-noautorotate", "-err_detect", "crccheck+bitstream+buffer")
	j.args = append(j.args, j.format.input(0)...)
	j.consume = nil
	if j.opts.Head { // a second look at the same file, as bytes
		raw := j.format
		raw.Demuxers = []string{"data"}
		j.args = append(j.args, raw.input(0)...)
	}
	for i := range j.doc.Streams {
		j.timesOf(&j.doc.Streams[i])
	}
	if v := j.doc.FirstVideo(); v != nil && j.opts.Pictures && v.Decodable {
		j.content(v)
	}
	if a, n := j.doc.AudioStreams(), j.opts.Track; n < len(a) && j.opts.Loudness && a[n].Decodable {
		f := a[n].Audio
		j.output(j.mapped(a[n]), SoundForm("pcm_f32le", "f32le"), LoudnessMeter(f.SampleRate, f.Channels, f.Layout))
	}
	j.likeness()
	if j.opts.Head {
		j.output(argv.Words("-map", "1:0"), argv.Words("-c", "copy", "-frames:d", fmt.Sprint(headPackets), "-f", "data"), readHead)
	}
	if len(j.consume) == 0 {
		return argv.Command{}, false
	}
	return argv.Command{
		Step: "decode", Program: "ffmpeg", Inputs: j.format.Granted(j.in), Stage: "decoding the whole file to prove it",
		Args: j.args, Consume: j.consume, MayFail: true,
	}, true
}

// output adds an output and the consumer that reads it: the first is standard output.
func (j *Decode) output(mapped, form []argv.Atom, read argv.Consumer) {
	j.args = append(append(append(j.args, mapped...), form...), argv.Pipe(len(j.consume)))
	j.consume = append(j.consume, read)
}

func (j *Decode) mapped(s *Stream) []argv.Atom {
	return argv.Words("-map", fmt.Sprintf("0:%d", s.Index))
}

// timesOf adds the output that tells the times of a stream's frames. Pictures stay
// where the decoder put them; sound is turned down so far that what is below −60 dBFS
// rounds to nothing, whose checksum is 0.
func (j *Decode) timesOf(s *Stream) {
	read := func(r io.Reader) (any, error) { return readTimes(r, s) }
	switch {
	case !s.Decodable:
	case s.Video != nil:
		form := argv.Words("-c:v", "wrapped_avframe", "-enc_time_base", "-1")
		form = append(form, j.abilities.FrameRateMode("passthrough")...)
		j.output(j.mapped(s), append(form, argv.Words("-f", "framecrc")...), read)
	case s.Audio != nil:
		form := append(argv.Words("-af"), argv.Graph("volume=-36dB"))
		j.output(j.mapped(s), append(form, SoundForm("pcm_s16le", "framecrc")...), read)
	case s.CodecType == "subtitle" && j.opts.Cues:
		j.output(j.mapped(s), argv.Words("-c", "copy", "-f", "framecrc"), read)
	}
}

// Feed takes what the run left behind. What is wrong with the file is in the result,
// never an error.
func (j *Decode) Feed(res argv.Result) error {
	if j.state != 0 {
		return fmt.Errorf("a result was fed after the run")
	}
	j.state = 1
	j.result.Finished, j.result.Errors = res.Exit == 0, res.Complaints
	for _, v := range res.Values {
		switch v := v.(type) {
		case DecodedStream:
			j.result.Streams = append(j.result.Streams, v)
		case PictureContent:
			j.result.Pictures = &v
		case *Loudness:
			j.result.Loudness = v
		case Signature:
			j.result.Looks = v
		case Stills:
			j.result.Stills = v
		case courseOf:
			if j.result.Courses == nil {
				j.result.Courses = map[int]Course{}
			}
			j.result.Courses[v.number] = v.course
		case *bool:
			j.result.IndexFirst = v
		}
	}
	return nil
}

// courseOf is the course of one audio stream.
type courseOf struct {
	number int
	course Course
}

// likeness adds the outputs by which the file is compared with what went into its
// encoder.
func (j *Decode) likeness() {
	if v := j.doc.FirstVideo(); v != nil && j.opts.Looks && v.Decodable {
		form := append(argv.Words("-enc_time_base", "-1", "-vf"), argv.Graph(SignatureFilter()))
		j.output(j.mapped(v), append(form, SignatureForm(j.abilities)...), ReadSignature)
	}
	if v := j.doc.FirstVideo(); v != nil && j.opts.Stills != nil && v.Decodable {
		form := append(argv.Words("-enc_time_base", "-1", "-vf"), argv.Graph(j.opts.Stills.Filter()))
		j.output(j.mapped(v), append(form, SignatureForm(j.abilities)...), j.opts.Stills.Read)
	}
	for i, s := range j.doc.AudioStreams() {
		if i >= len(j.opts.Courses) || !j.opts.Courses[i] || !s.Decodable {
			continue
		}
		form := append(argv.Words("-af"), argv.Graph(CourseFilter()))
		j.output(j.mapped(s), append(form, CourseForm()...), func(r io.Reader) (any, error) {
			v, err := ReadCourse(r)
			if err != nil {
				return nil, err
			}
			return courseOf{i, v.(Course)}, nil
		})
	}
}

// Result returns what was found.
func (j *Decode) Result() *Decoded { return &j.result }

// everyContent is how far pictures that are compared lie apart: all of them in a
// short file.
func (d *Document) everyContent() cutroom.Micros {
	switch {
	case d.DurationSeconds <= 10*cutroom.Second:
		return 1
	case d.DurationSeconds <= 600*cutroom.Second:
		return cutroom.Second / 5
	}
	return cutroom.Second
}
