package ffmpeg

import (
	"fmt"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// MeasureOptions says what to measure. A zero threshold is its default.
type MeasureOptions struct {
	Scenes, Black, Freeze, Samples  bool // of the pictures
	Silence, Loudness, Envelope     bool // of the sound
	AudioStream                     int  // n-th audio stream, from 0
	Start, End                      cutroom.Micros
	SceneScore                      float64        // least score of a cut, 0–100; default 8
	SilenceDB                       float64        // level below which it is silent; default −50 dBFS
	SilenceFor, BlackFor, FreezeFor cutroom.Micros // shortest span; defaults 0.3, 0.1 and 0.5 s
	SampleEvery                     cutroom.Micros // distance of samples; default and least 0.5 s
	MaxSamples                      int            // default 7200; longer files are sampled further apart
	Abilities                       *Abilities     // of the ffmpeg that runs; nil stands for 5.1 or newer

	// See gets every frame in order while the run goes on; Hear the sound, the mean of
	// all channels at the stream's own rate, in order. What they get is theirs until
	// they return. Each is called by one goroutine at a time, and not after Feed.
	See  func(*Glance)
	Hear func(mono []float32)
}

// measurePlan is the options with their defaults, for one file.
type measurePlan struct {
	sceneScore, silenceLevel          float64
	silenceFor, blackFor, freezeFor   cutroom.Micros
	everySample                       cutroom.Micros
	rangeStart, rangeEnd, rangeLength cutroom.Micros
}

// Measure is one measuring run over a file: any set of measurements of the pictures
// from one decode of them and any set of the sound from one decode of it, in one
// process. Memory does not grow with the length of the file but for the bounded
// series it returns. Drive it as a [Prober].
//
// Pictures are decoded without their loop filter and scaled to 320 pixels: cuts, black and
// frozen spans are those of a full decode, and scores differ from it by less than 1.0.
type Measure struct {
	in     int
	format Format
	doc    *Document
	opts   MeasureOptions
	plan   measurePlan
	video  *Stream
	audio  *Stream
	grey   greySize
	step   Ticks
	least  Ticks // frames closer than this are crowded
	track  *track
	state  int // 0 to run, 1 fed
	result Signals
}

// NewMeasure returns a measuring run over input in of the call. Asking for pictures
// of a file without any, or for sound of a file without, is an error; so is a range
// outside the file.
func NewMeasure(in int, f Format, d *Document, o MeasureOptions) (*Measure, error) {
	m := &Measure{in: in, format: f, doc: d, opts: o}
	var err error
	pictures := o.Scenes || o.Black || o.Freeze || o.Samples || o.See != nil
	sound := o.Silence || o.Loudness || o.Envelope || o.Hear != nil
	if !pictures && !sound {
		return nil, cutroom.Errorf(cutroom.Invalid, "nothing to measure was named")
	}
	if pictures {
		if m.video, err = d.VideoStream(); err != nil {
			return nil, err
		}
	}
	if sound {
		if m.audio, err = d.AudioStream(o.AudioStream); err != nil {
			return nil, err
		}
	}
	if o.Start < 0 || o.Start > 0 && o.Start >= d.DurationSeconds || o.End > 0 && o.End <= o.Start {
		return nil, cutroom.Errorf(cutroom.Invalid, "the range from %s s to %s s is outside the file, which is %s s long", o.Start, o.End, d.DurationSeconds).
			WithHint("choose a start before the end, within the file")
	}
	m.plan = o.plan(d)
	if m.video != nil {
		m.grey = greyOf(m.video.Video)
		m.step = max(1, TicksOf(m.plan.everySample-5000, m.video.TimeBase))
		m.least = max(1, TicksOf(leastApart, m.video.TimeBase))
		if o.See != nil {
			m.track = newTrack(m)
		}
	}
	return m, nil
}

func (o MeasureOptions) plan(d *Document) measurePlan {
	or := func(v, def cutroom.Micros) cutroom.Micros {
		if v <= 0 {
			return def
		}
		return v
	}
	p := measurePlan{
		silenceFor: or(o.SilenceFor, 300_000), blackFor: or(o.BlackFor, 100_000), freezeFor: or(o.FreezeFor, 500_000),
		sceneScore: o.SceneScore, silenceLevel: o.SilenceDB, rangeStart: o.Start, rangeEnd: o.End,
	}
	if !(p.sceneScore > 0) {
		p.sceneScore = 8
	}
	if !(p.silenceLevel < 0) {
		p.silenceLevel = -50
	}
	if p.rangeEnd <= 0 || d.DurationSeconds > 0 && p.rangeEnd > d.DurationSeconds {
		p.rangeEnd = d.DurationSeconds
	}
	p.rangeLength = max(0, p.rangeEnd-p.rangeStart)
	limit := o.MaxSamples
	if limit <= 0 || limit > 100_000 {
		limit = 7200
	}
	p.everySample = max(500_000, o.SampleEvery, p.rangeLength/cutroom.Micros(limit))
	return p
}

// whole reports whether the range is the whole file.
func (o *MeasureOptions) whole(d *Document) bool {
	return o.Start == 0 && (o.End == 0 || o.End >= d.DurationSeconds)
}

// Next returns the run, once.
func (m *Measure) Next() (argv.Command, bool) {
	if m.state != 0 {
		return argv.Command{}, false
	}
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts", "-skip_loop_filter", "all", "-noautorotate")
	if !m.opts.whole(m.doc) {
		args = append(args, m.doc.seek(m.plan.rangeStart)...)
	}
	args = append(args, m.format.input(0)...)
	var graph []string
	var outputs []argv.Atom
	consume := []argv.Consumer{nil}
	if m.video != nil {
		graph = append(graph, m.pictureGraph())
		consume[0] = m.readPictures
		for _, p := range m.picturePipes() {
			consume = append(consume, p.consume)
			outputs = append(outputs, argv.Words("-map", p.label)...)
			outputs = append(outputs, m.opts.Abilities.FrameRateMode("passthrough")...)
			outputs = append(outputs, argv.Words("-c:v", "rawvideo", "-f", "rawvideo")...)
			outputs = append(outputs, argv.Pipe(len(consume)-1))
		}
	}
	if m.audio != nil {
		graph = append(graph, m.soundGraph())
		consume = append(consume, m.readSound)
		outputs = append(outputs, argv.Words("-map", "[a]")...)
		outputs = append(outputs, SoundForm("pcm_f32le", "f32le")...)
		outputs = append(outputs, argv.Pipe(len(consume)-1))
	}
	args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(graph, ";")))
	return argv.Command{
		Step: "measure", Program: "ffmpeg", Inputs: m.format.Granted(m.in), Stage: "measuring pictures and sound",
		Args: append(args, outputs...), Consume: consume, MayFail: true,
	}, true
}

// pictureGraph scales, measures, prints what was measured with each frame's ticks,
// and lets every step-th frame through as grey.
func (m *Measure) pictureGraph() string {
	chain := []string{}
	if !m.opts.whole(m.doc) {
		from, to := TickRange(m.plan.rangeStart+m.doc.ZeroSeconds, m.plan.rangeEnd+m.doc.ZeroSeconds, m.video.TimeBase)
		chain = append(chain, fmt.Sprintf("trim=start_pts=%d:end_pts=%d", from, to))
	}
	chain = append(chain, "metadata=mode=delete", // a file's own tags could imitate measurements
		fmt.Sprintf("scale=%d:%d:flags=fast_bilinear", m.grey.w, m.grey.h), "format=yuv420p")
	if m.opts.Scenes || m.track != nil {
		chain = append(chain, "scdet=t=100")
	}
	if m.opts.Black {
		chain = append(chain, fmt.Sprintf("blackdetect=d=%s:pix_th=0.1:pic_th=0.999", decimal(m.plan.blackFor)))
	}
	if m.opts.Freeze {
		chain = append(chain, fmt.Sprintf("freezedetect=n=-60dB:d=%s", decimal(m.plan.freezeFor)))
	}
	chain = append(chain, "metadata=mode=add:key=cutroom:value=0", "metadata=mode=print:file=-")
	whole := fmt.Sprintf("[0:%d]", m.video.Index) + strings.Join(chain, ",")
	every := fmt.Sprintf(`select=isnan(prev_selected_pts)+gte(pts-prev_selected_pts\,%d),format=gray[v]`, m.step)
	switch {
	case m.track == nil:
		return whole + "," + every
	case m.opts.Samples:
		return whole + ",split[t][s];[s]" + every
	}
	return whole + "[t]"
}

// picturePipe is an output of the picture graph and who reads it.
type picturePipe struct {
	label   string
	consume argv.Consumer
}

func (m *Measure) picturePipes() []picturePipe {
	var p []picturePipe
	if m.track == nil || m.opts.Samples {
		p = append(p, picturePipe{"[v]", m.readGrey})
	}
	if m.track != nil {
		p = append(p, picturePipe{"[t]", m.track.read})
	}
	return p
}

// soundGraph fills holes between packets so that a sample's number is its time, and
// cuts to the range.
func (m *Measure) soundGraph() string {
	chain := []string{fmt.Sprintf("aresample=async=1:first_pts=%d", m.doc.firstSample(m.audio, m.plan.rangeStart))}
	if !m.opts.whole(m.doc) {
		chain = append(chain, fmt.Sprintf("atrim=start=%s:end=%s", decimal(m.plan.rangeStart+m.doc.ZeroSeconds), decimal(m.plan.rangeEnd+m.doc.ZeroSeconds)))
	}
	chain = append(chain, "aformat=sample_fmts=flt")
	return fmt.Sprintf("[0:%d]", m.audio.Index) + strings.Join(chain, ",") + "[a]"
}

// Feed takes what the run left behind.
func (m *Measure) Feed(res argv.Result) error {
	if m.state != 0 {
		return fmt.Errorf("a result was fed after the run")
	}
	m.state = 1
	m.result = Signals{StartSeconds: m.plan.rangeStart, EndSeconds: m.plan.rangeEnd, DecodeErrors: decodeErrors(res.Complaints)}
	next := 1
	if m.video != nil {
		p, ok := value[*pictureReader](res, 0)
		g := &greyReader{}
		if m.track == nil || m.opts.Samples {
			var grey bool
			g, grey = value[*greyReader](res, next)
			ok = ok && grey
		}
		if !ok {
			return fmt.Errorf("the pictures were not measured")
		}
		next += len(m.picturePipes())
		m.result.Video = m.pictures(p, g)
	}
	if m.audio != nil {
		s, ok := value[*soundMeter](res, next)
		if !ok {
			return fmt.Errorf("the sound was not measured")
		}
		m.result.Audio = m.sound(s)
	}
	if res.Exit != 0 {
		m.result.Problems = append(m.result.Problems, "ffmpeg stopped with an error: what comes after the last measurement is unknown")
	}
	if m.video != nil && m.result.Video.Frames == 0 && (m.audio == nil || m.result.Audio.Samples == 0) ||
		m.video == nil && m.result.Audio.Samples == 0 {
		return cutroom.Errorf(cutroom.UnreadableMedia, "nothing in the range from %s s to %s s can be decoded", m.plan.rangeStart, m.plan.rangeEnd).
			WithHint("choose another range, or copy or download the file again")
	}
	return nil
}

// decodeErrors counts what was said of the media itself; a complaint about time stamps
// or an option is none of it.
func decodeErrors(c argv.Complaints) int {
	return c.Kinds["decode_error"] + c.Kinds["invalid_data"] + c.Kinds["truncated"]
}

// Signals returns what was measured.
func (m *Measure) Signals() *Signals { return &m.result }

// greySize is the size of the small pictures: at most 320 on the longer side, even,
// never enlarged.
type greySize struct{ w, h int }

func greyOf(v *VideoFacts) greySize {
	long := max(v.Width, v.Height)
	scale := min(1, 320/float64(max(1, long)))
	even := func(n int) int { return max(2, int(math.Round(float64(n)*scale/2))*2) }
	return greySize{even(v.Width), even(v.Height)}
}

// Signals is what one measuring run found. Times are on the public axis.
type Signals struct {
	StartSeconds cutroom.Micros `json:"start_seconds" unit:"s" doc:"Start of the measured range."`
	EndSeconds   cutroom.Micros `json:"end_seconds" unit:"s" doc:"End of the measured range."`
	Video        *VideoSignals  `json:"video,omitempty" doc:"What the pictures show."`
	Audio        *AudioSignals  `json:"audio,omitempty" doc:"What the sound holds."`
	DecodeErrors int            `json:"decode_errors,omitempty" min:"0" doc:"Faults of the media that the decoder complained of."`
	Problems     []string       `json:"problems,omitempty" doc:"What could not be measured, and why."`
}

// Span is a stretch of time.
type Span struct {
	StartSeconds cutroom.Micros `json:"start_seconds" unit:"s" doc:"Start."`
	EndSeconds   cutroom.Micros `json:"end_seconds" unit:"s" doc:"End."`
}

// VideoSignals is what the pictures show.
type VideoSignals struct {
	Frames       int64          `json:"frames" doc:"Frames that were decoded."`
	Crowded      int64          `json:"crowded_frames,omitempty" doc:"Frames that start less than a millisecond after the one before: their times are broken."`
	FirstSeconds cutroom.Micros `json:"first_seconds" unit:"s" doc:"Start of the first frame."`
	LastSeconds  cutroom.Micros `json:"last_seconds" unit:"s" doc:"Start of the last frame."`
	LastPTS      Ticks          `json:"last_ticks" doc:"Start of the last frame in ticks, file's timeline."`
	Changes      []Change       `json:"changes" doc:"Changes of scene, in order."`
	Black        []Span         `json:"black" doc:"Spans where the picture is black."`
	Freeze       []Span         `json:"freeze" doc:"Spans where the picture does not change."`
	Samples      []Sample       `json:"-"` // for choosing frames; never shown
	SampleEvery  cutroom.Micros `json:"-"`
}

// Change is one change of scene.
type Change struct {
	Kind       string         `json:"kind" enum:"cut,dissolve,fade" doc:"cut: from one frame to the next. dissolve: one picture into another. fade: from or to a dark picture."`
	Seconds    cutroom.Micros `json:"seconds" unit:"s" doc:"First frame of the new scene; for a gradual change its middle."`
	PTS        Ticks          `json:"ticks" doc:"The same in ticks of the stream, file's timeline."`
	Score      float64        `json:"score" min:"0" max:"100" doc:"Strength: scdet's score of a cut, the share of the picture that changed otherwise."`
	EndSeconds cutroom.Micros `json:"end_seconds,omitempty" unit:"s" doc:"End of a gradual change."`
}

// AudioSignals is what the sound holds.
type AudioSignals struct {
	Stream       int            `json:"stream" doc:"Index of the measured stream in the file."`
	SampleRate   int            `json:"sample_rate" unit:"Hz" doc:"Sampling rate that was measured at."`
	Channels     int            `json:"channels" doc:"Channels that were measured."`
	Samples      int64          `json:"samples" doc:"Samples per channel that were decoded."`
	StartSeconds cutroom.Micros `json:"start_seconds" unit:"s" doc:"Time of the first sample."`
	EndSeconds   cutroom.Micros `json:"end_seconds" unit:"s" doc:"Time after the last sample."`
	Silence      []Span         `json:"silence" doc:"Spans below the silence level."`
	Loudness     *Loudness      `json:"loudness,omitempty" doc:"Programme loudness (EBU R 128)."`
	Envelope     *Envelope      `json:"-"` // for choosing moments; never shown
}

// round3 keeps a number readable.
func round3(v float64) float64 { return math.Round(v*1000) / 1000 }
