package proof

import (
	"errors"
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// demuxers reads each container's name as ffmpeg's demuxer; others are their own.
var demuxers = map[string]string{
	"mp4": "mov", "m4a": "mov", "m4v": "mov", "ipod": "mov", "mkv": "matroska", "mka": "matroska", "webm": "matroska",
	"opus": "ogg", "oga": "ogg", "adts": "aac",
}

// Proof measures one file of the private folder against an expectation. It is a
// chain of runs: a description of the file, then one decode of everything in it.
//
//	p := New(e, abilities)
//	for cmd, ok := p.Next(); ok; cmd, ok = p.Next() {
//		if err := p.Feed(run(cmd)); err != nil { … }
//	}
//	if err := p.Err(); err != nil { … } // what differs
type Proof struct {
	want      Expectation
	abilities *ffmpeg.Abilities
	format    ffmpeg.Format
	prober    *ffmpeg.Prober
	decode    *ffmpeg.Decode
	doc       *ffmpeg.Document
	got       *ffmpeg.Decoded
	rows      []cutroom.Verified
	done      bool
}

// New returns the proof of e. a are the abilities of the ffmpeg that runs; nil stands
// for 5.1 or newer.
func New(e Expectation, a *ffmpeg.Abilities) *Proof {
	demuxer := e.Container
	if d, ok := demuxers[demuxer]; ok {
		demuxer = d
	}
	f := ffmpeg.MadeFormat(e.File, demuxer)
	f.Kind = ffmpeg.Video
	if e.Video == nil {
		f.Kind = ffmpeg.Audio
	}
	f.MediaType = mediaTypes[e.Container]
	return &Proof{want: e, abilities: a, format: f, prober: ffmpeg.NewProber(0, f, 0)}
}

// mediaTypes are those by which a probe decides whether it reads packets.
var mediaTypes = map[string]string{
	"mp4": "video/mp4", "m4v": "video/mp4", "m4a": "audio/mp4", "mov": "video/quicktime", "mkv": "video/x-matroska", "matroska": "video/x-matroska",
	"mka": "audio/x-matroska", "webm": "video/webm", "mp3": "audio/mpeg", "wav": "audio/wav", "flac": "audio/flac", "ogg": "audio/ogg", "opus": "audio/ogg",
	"adts": "audio/aac", "gif": "image/gif",
}

// Next returns the next run, and false when everything was measured.
func (p *Proof) Next() (argv.Command, bool) {
	if p.done {
		return argv.Command{}, false
	}
	if p.decode == nil {
		if c, ok := p.prober.Next(); ok {
			c.Step = "proof-" + c.Step
			return c, true
		}
		if !p.described() {
			return argv.Command{}, false
		}
	}
	c, ok := p.decode.Next()
	if !ok {
		p.judge()
	}
	c.Step = "proof-" + c.Step
	return c, ok
}

// described plans the decode of the described file. A file that cannot be described
// fails the proof.
func (p *Proof) described() bool {
	var err error
	if p.doc, err = p.prober.Document(); err != nil {
		p.refuse(err)
		return false
	}
	cues := false
	for _, s := range p.want.Subtitles {
		cues = cues || s.Cues > 0
	}
	c := p.want.Content
	courses := make([]bool, len(p.want.Audio))
	for i, a := range p.want.Audio {
		courses[i] = len(a.Course) > 0
	}
	track := 0
	if p.want.Loudness != nil {
		track = p.want.Loudness.Track
	}
	var stills *ffmpeg.StillsOf
	if v := p.want.Video; v != nil && len(v.Sights) > 0 && p.doc.FirstVideo() != nil {
		of := v.StillsOf(p.doc.FirstVideo().Video.Width, p.doc.FirstVideo().Video.Height, false)
		stills = &of
	}
	p.decode = ffmpeg.NewDecode(0, p.format, p.doc, ffmpeg.DecodeOptions{
		Pictures: c.NotBlack || c.NotFrozen, Loudness: p.want.Loudness != nil || p.want.Hear, Track: track, Cues: cues, Head: p.want.Faststart,
		Looks: p.want.Video != nil && len(p.want.Video.Looks) > 0, Courses: courses, Stills: stills,
	}, p.abilities)
	return true
}

func (p *Proof) refuse(err error) {
	said := err.Error()
	if e, ok := errors.AsType[*cutroom.Error](err); ok {
		said = e.Msg
	}
	p.done = true
	p.row("decodes", "", false, "a file that can be read", said, "")
}

// Feed takes what the run that Next returned left behind. An error is one of the
// machinery; what is wrong with the file is a row that fails.
func (p *Proof) Feed(res argv.Result) error {
	if p.done {
		return fmt.Errorf("a result was fed after the last run")
	}
	if p.decode != nil {
		if err := p.decode.Feed(res); err != nil {
			return fmt.Errorf("prove the written file: %w", err)
		}
		p.judge()
		return nil
	}
	err := p.prober.Feed(res)
	if e, ok := errors.AsType[*cutroom.Error](err); ok && e.Code == cutroom.UnreadableMedia {
		p.refuse(err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("prove the written file: %w", err)
	}
	return nil
}

// Rows returns what was measured beside what was expected, once all runs were fed.
func (p *Proof) Rows() []cutroom.Verified { return p.rows }

// Probe returns the description of the file, nil when it cannot be read.
func (p *Proof) Probe() *ffmpeg.Document { return p.doc }

// Loudness returns what was measured on the audio stream of which a loudness was
// expected; nil otherwise.
func (p *Proof) Loudness() *ffmpeg.Loudness {
	if p.got == nil {
		return nil
	}
	return p.got.Loudness
}

// Err returns nil when every row holds, else a verification error that names each row
// that does not.
func (p *Proof) Err() error {
	if !p.done {
		return fmt.Errorf("the proof is not complete: Next has another run")
	}
	return Failure(p.rows)
}

// Failure returns nil when every row holds, else a verification error that names each
// row that does not.
func Failure(rows []cutroom.Verified) error {
	var failed []string
	for _, r := range rows {
		if r.OK {
			continue
		}
		name := r.Check
		if r.Stream != "" {
			name += " of " + r.Stream
		}
		failed = append(failed, strings.TrimSpace(fmt.Sprintf("%s: expected %s, measured %s %s", name, r.Expected, r.Measured, r.Unit)))
	}
	if failed == nil {
		return nil
	}
	return cutroom.Errorf(cutroom.Verification, "the written file is not what was planned (%s)", strings.Join(failed, "; ")).
		WithHint("it was not published; run the call again, and report it when it fails again: the inputs are unchanged")
}

func (p *Proof) row(check, stream string, ok bool, expected, measured, unit string) {
	p.rows = append(p.rows, cutroom.Verified{Check: check, Stream: stream, OK: ok, Expected: expected, Measured: measured, Unit: unit})
}
