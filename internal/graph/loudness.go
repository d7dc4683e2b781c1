package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// Loudness brings the track Sound.Stream to a programme loudness (EBU R 128). The sound
// of the edit is measured as the graph makes it; then gain alone does it where the peaks
// allow, and gain with a limiter that looks between the samples where they do not. What
// was written is measured again, and made again where the encoder's peaks overshoot.
type Loudness struct {
	LUFS      float64 // integrated
	TruePeak  float64 // dBTP, at most
	Range     float64 // LU; a wider range is compressed (by ffmpeg's loudnorm) first. 0: kept
	Tolerance float64 // LU; 0 is 0.5

	chosen *setting // nil: not measured yet, compiled as <measured>
}

func (l Loudness) tolerance() float64 {
	if l.Tolerance > 0 {
		return l.Tolerance
	}
	return 0.5
}

// setting is how a track is brought to its loudness.
type setting struct {
	none    bool    // nothing is changed
	gain    float64 // dB
	limited bool
	limit   float64          // dBFS of the limiter
	dynamic *ffmpeg.Loudness // compressed first, from what was measured
	bitrate int              // in place of the default; 0: that
}

// Leveled is what became of a track's loudness.
type Leveled struct {
	Before  *ffmpeg.Loudness // the sound of the edit
	After   *ffmpeg.Loudness // of the written file; nil where nothing was changed
	Changed bool             // false: silent, or too short to be measured
	Gain    float64          // dB
	Limited bool
	Limit   float64 // dBFS, where Limited
	Dynamic bool    // the range was compressed
	Bitrate int     // where it was raised for the peaks' sake
	Passes  int     // measuring passes over the edit's sound
	Encodes int
}

const (
	// overshootLossy is how far below the ceiling lossy codecs are sent at first, since
	// they shift phases; others only resample.
	overshootLossy, overshootExact = 0.3, 0.02
	closeEnough                    = 0.15 // LU that are not worth another pass
	maxPasses                      = 8
	maxEncodes                     = 5
	maxGain                        = 70 // dB: from the gate to 0 LUFS
	leastLimit                     = -24.0
)

// leveler finds the setting: by measuring what each makes of the sound.
type leveler struct {
	want    Loudness
	margin  float64
	rate    int // bit/s that may be raised; 0: the caller's own, or none
	set     *setting
	command argv.Command
	before  *ffmpeg.Loudness
	last    *ffmpeg.Loudness // of the pass before, with lastGain
	gained  float64
	passes  int
	encodes int
	wrote   *ffmpeg.Loudness // by the encode before, with wroteAt
	wroteAt float64
}

func newLeveler(g Graph) *leveler {
	if g.Sound == nil || g.Sound.Loudness == nil {
		return nil
	}
	l := &leveler{want: *g.Sound.Loudness, margin: overshootLossy, encodes: 1}
	switch name := g.Target.Audio.Name; {
	case strings.HasPrefix(name, "pcm_"), name == "flac", name == "alac", name == "" && slices.Contains([]string{"wav", "flac"}, g.Target.Container):
		l.margin = overshootExact
	case g.Target.Audio.Bitrate == 0:
		l.rate = 256_000
	}
	return l
}

// ceiling is what the sound is limited to before it is encoded.
func (l *leveler) ceiling() float64 { return max(leastLimit, l.want.TruePeak-l.margin) }

// graph is g with what was chosen.
func (l *leveler) graph(g Graph) Graph {
	sound, loud := *g.Sound, l.want
	loud.chosen = l.set
	sound.Loudness = &loud
	g.Sound = &sound
	if l.set != nil && l.set.bitrate > 0 {
		g.Target.Audio.Bitrate = l.set.bitrate
	}
	return g
}

// plan prepares the next measuring pass.
func (l *leveler) plan(g Graph, frames []ffmpeg.Ticks, a *ffmpeg.Abilities) (err error) {
	l.command, err = compileLevel(g, frames, a, l.set)
	l.command.Step = fmt.Sprintf("loudness-%d", l.passes+1)
	return err
}

// learn takes a pass; true asks for another with the setting that it led to.
func (l *leveler) learn(res argv.Result) (bool, error) {
	got, ok := argv.Value[*ffmpeg.Loudness](res)
	if !ok {
		return false, fmt.Errorf("the sound was not measured")
	}
	l.passes++
	if l.set == nil {
		l.before = got
		return l.first(got), nil
	}
	return l.trial(got)
}

// first chooses from the sound as it is.
func (l *leveler) first(got *ffmpeg.Loudness) bool {
	l.set = &setting{none: true}
	if got.Integrated == nil || got.TruePeak == nil {
		return false
	}
	gain := min(maxGain, l.want.LUFS-*got.Integrated)
	l.set = &setting{gain: gain}
	if l.want.Range > 0 && got.Range != nil && *got.Range > l.want.Range+0.5 {
		l.set = &setting{dynamic: got, limited: true, limit: l.ceiling()}
		return true
	}
	if *got.TruePeak+gain <= l.ceiling() {
		return false // as much as the gain says, exactly
	}
	l.set.limited, l.set.limit = true, l.ceiling()
	return true
}

// trial corrects a setting by what it made of the sound. The louder the limiter is
// driven, the less a decibel of gain adds: the slope of the last two passes says how much.
func (l *leveler) trial(got *ffmpeg.Loudness) (bool, error) {
	if got.Integrated == nil || got.TruePeak == nil {
		return false, fmt.Errorf("the limited sound has no loudness")
	}
	miss, over := l.want.LUFS-*got.Integrated, *got.TruePeak-l.ceiling()
	if math.Abs(miss) <= closeEnough && over <= 0.02 {
		return false, nil
	}
	slope := slopeOf(l.last, l.gained, got, l.set.gain)
	if miss > l.want.tolerance() && (slope < 0.08 || l.passes >= maxPasses || l.set.gain >= maxGain) {
		return false, l.tooPeaky(*got.Integrated)
	}
	if l.passes >= maxPasses {
		return false, nil // the proof has the last word
	}
	next := *l.set
	if over > 0 {
		next.limit = max(leastLimit, next.limit-over)
	}
	if math.Abs(miss) > closeEnough {
		next.gain = min(maxGain, next.gain+gainStep(miss, slope))
	}
	l.last, l.gained, l.set = got, l.set.gain, &next
	return true, nil
}

// slopeOf is how much louder a decibel of gain made the sound between two measurements.
func slopeOf(last *ffmpeg.Loudness, lastGain float64, got *ffmpeg.Loudness, gain float64) float64 {
	if last == nil || math.Abs(gain-lastGain) < 0.01 {
		return 1
	}
	return (*got.Integrated - *last.Integrated) / (gain - lastGain)
}

// gainStep is the gain that makes up for what the loudness misses.
func gainStep(miss, slope float64) float64 { return clamp(miss/clamp(slope, 0.1, 1), -12, 12) }

func (l *leveler) tooPeaky(reached float64) error {
	return cutroom.Errorf(cutroom.Precondition, "the peaks of this sound stand too far above the rest: under %.1f dBTP it gets no louder than %.1f LUFS", l.want.TruePeak, reached).
		WithHint("ask for %.0f LUFS, or compress the sound first", math.Floor(reached))
}

// again decides by what was measured on the written file whether it is made anew: with a
// lower ceiling where the encoder overshot, then with more bits. What else may be wrong
// with the file is not for more rounds to mend.
func (l *leveler) again(p *proof.Proof) bool {
	got := p.Loudness()
	if l.set == nil || l.set.none || l.encodes >= maxEncodes || got == nil || got.Integrated == nil || got.TruePeak == nil {
		return false
	}
	failed := false
	for _, row := range p.Rows() {
		if row.OK {
			continue
		}
		if row.Check != "loudness" && row.Check != "true_peak" {
			return false
		}
		failed = true
	}
	if !failed {
		return false
	}
	next := *l.set
	if over := *got.TruePeak - l.want.TruePeak; over > 0 {
		if !next.limited {
			next.limited, next.limit = true, min(l.ceiling(), *l.before.TruePeak+next.gain)
		}
		next.limit = max(leastLimit, next.limit-over-0.05)
		if l.rate > 0 && l.encodes >= 2 {
			next.bitrate, l.rate = l.rate, 320_000
		}
	}
	if miss := l.want.LUFS - *got.Integrated; math.Abs(miss) > closeEnough {
		next.gain = min(maxGain, next.gain+gainStep(miss, slopeOf(l.wrote, l.wroteAt, got, l.set.gain)))
	}
	l.wrote, l.wroteAt, l.set = got, l.set.gain, &next
	l.encodes++
	return true
}

func (l *leveler) result(p *proof.Proof) *Leveled {
	if l == nil || l.set == nil {
		return nil
	}
	s := l.set
	return &Leveled{
		Before: l.before, After: p.Loudness(), Changed: !s.none, Gain: s.gain, Limited: s.limited, Limit: s.limit, Dynamic: s.dynamic != nil,
		Bitrate: s.bitrate, Passes: l.passes, Encodes: l.encodes,
	}
}

// compileLevel is the run that measures the sound of an edit as the graph makes it, with
// a setting or, for nil, as it is.
func compileLevel(g Graph, frames []ffmpeg.Ticks, a *ffmpeg.Abilities, set *setting) (argv.Command, error) {
	c := &compiler{a: a}
	if err := c.begin(g); err != nil {
		return argv.Command{}, err
	}
	if err := c.place(frames); err != nil {
		return argv.Command{}, err
	}
	if err := c.open(); err != nil {
		return argv.Command{}, err
	}
	list, err := c.tracks()
	if err != nil {
		return argv.Command{}, err
	}
	n := slices.IndexFunc(list, c.leveled)
	if n < 0 {
		return argv.Command{}, cutroom.Errorf(cutroom.Invalid, "there is no sound whose loudness could be changed").WithHint("choose a file with sound, and one of its audio streams")
	}
	t := list[n]
	chains, err := c.soundChains(t, "m")
	if err != nil {
		return argv.Command{}, err
	}
	c.chains = append(c.chains, chains...)
	t, label, err := c.worked(t, "m")
	if err != nil {
		return argv.Command{}, err
	}
	filters := append(c.levelFilters(t, set), fmt.Sprintf("aformat=sample_fmts=flt:sample_rates=%d%s", t.rate, t.layouts()))
	c.chains = append(c.chains, "["+label+"]"+strings.Join(filters, ",")+"[measured]")
	args, granted := c.head()
	args = append(args, argv.Word("-progress"), argv.Pipe(2), argv.Word("-filter_complex"), argv.Graph(strings.Join(c.chains, ";")))
	args = append(args, argv.Words("-map", "[measured]")...)
	args = append(args, ffmpeg.SoundForm("pcm_f32le", "f32le")...)
	return argv.Command{
		Step: "loudness", Program: "ffmpeg", Inputs: granted, Stage: "measuring the loudness", Files: c.files,
		Args: append(args, argv.Pipe(1)), Consume: []argv.Consumer{nil, ffmpeg.LoudnessMeter(t.rate, t.channels, t.layout), argv.Ignore},
		Report: &argv.Report{Pipe: 2, Total: c.line.time(c.line.total)}, Memo: argv.Remember[*ffmpeg.Loudness](),
	}, nil
}

// leveled reports whether t is the track whose loudness is changed.
func (c *compiler) leveled(t track) bool {
	return c.g.Sound.Loudness != nil && t.number == c.g.Sound.Stream && (t.stream != nil || c.g.Sound.Work.sounds())
}

// layouts is aformat's option for the track's layout, where it has a name.
func (t track) layouts() string {
	if strings.HasSuffix(t.layout, "c") {
		return ""
	}
	return ":channel_layouts=" + t.layout
}

// level appends what brings track t, the n-th of the output, to its loudness, and what
// must be true of it then. It returns the label that the sound ends in.
func (c *compiler) level(n int, t track, label string) string {
	want := c.g.Sound.Loudness
	set := want.chosen
	if set != nil && set.none {
		return label
	}
	c.expect.Loudness = &proof.Loudness{Track: n, LUFS: want.LUFS, Tolerance: want.tolerance(), TruePeak: want.TruePeak}
	filters := []string{"volume=volume=<measured>dB:precision=float"}
	if set != nil {
		filters = c.levelFilters(t, set)
	}
	if c.audioCodec(t) == "mp3" {
		filters = append(filters, lameScale)
	}
	if !c.stays() {
		total := c.line.sample(c.line.total, t.rate)
		filters = append(filters, fmt.Sprintf("apad=whole_len=%d,atrim=end_sample=%d", total, total))
	}
	c.chains = append(c.chains, fmt.Sprintf("[%s]%s[%sl]", label, strings.Join(filters, ","), label))
	return label + "l"
}

// lameScale makes up for LAME, which takes everything down to 95 % before it encodes.
const lameScale = "volume=volume=0.446dB:precision=float"

// levelFilters are gain, and where it has to be a limiter that works on four times the
// samples: what lies between two samples of the recording is a sample there.
func (c *compiler) levelFilters(t track, s *setting) []string {
	if s == nil {
		return nil
	}
	var f []string
	rate := fmt.Sprintf("aresample=%d", t.rate)
	if d := s.dynamic; d != nil {
		f = append(f, fmt.Sprintf("loudnorm=I=%.2f:TP=%.2f:LRA=%.2f:measured_I=%.2f:measured_TP=%.2f:measured_LRA=%.2f:measured_thresh=%.2f:linear=0",
			clamp(c.loud().LUFS, -70, -5), clamp(c.loud().TruePeak, -9, 0), clamp(c.loud().Range, 1, 50),
			clamp(*d.Integrated, -99, 0), clamp(*d.TruePeak, -99, 99), clamp(*d.Range, 0, 99), clamp(*d.Threshold, -99, 0)), rate)
	}
	f = append(f, fmt.Sprintf("volume=volume=%.3fdB:precision=float", s.gain))
	if !s.limited {
		return f
	}
	over := t.rate
	for over < 128_000 {
		over *= 2
	}
	if over > t.rate {
		f = append(f, fmt.Sprintf("aresample=%d", over))
	}
	limiter := fmt.Sprintf("alimiter=limit=%.6f:attack=5:release=50:level=0", math.Pow(10, s.limit/20))
	if c.a.AtLeast(5, 1) {
		f = append(f, limiter+":latency=1")
	} else {
		f = append(f, limiter, fmt.Sprintf("atrim=start_sample=%d,asetpts=PTS-STARTPTS", over/200))
	}
	return append(f, rate)
}

func (c *compiler) loud() *Loudness { return c.g.Sound.Loudness }

func clamp(v, least, most float64) float64 { return max(least, min(most, v)) }
