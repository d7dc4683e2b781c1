package smartcut

import (
	"fmt"
	"math"
	"slices"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// Result is what a cut ended with.
type Result struct {
	Verified []cutroom.Verified
	Probe    *ffmpeg.Document
	Map      *edl.Map
	Notes    []string
	Dropped  []string
	Segments []Segment
}

// Segment is one part of the source in the output.
type Segment struct {
	Start, End      cutroom.Micros // of its frames, on the public axis of the source
	Frames          int
	Copied, Encoded int            // frames of each sort
	Why             string         // why none was copied
	Asked           cutroom.Micros // where the first frame was to be
	Nearest         Nearest
}

// least is the peak signal-to-noise ratio, in dB, under which an encoded frame is not
// the source's any more.
const least = 40

// proof gathers what the comparisons say.
type proof struct {
	digests       []string // of the copied pieces in the output
	copied, equal int      // packets of copied pieces: pieces, and pieces that equal the source's
	packets       int
	times         []ffmpeg.Ticks
	planned       []ffmpeg.Ticks
	extra         int
	same, wrong   int     // decoded copied frames that are the source's, that are not
	encoded       int     // decoded encoded frames
	worst         float64 // dB
	missing       int
	first, final  float64
	complaints    int
	heard         heard
}

func (j *Job) feedCompare(r argv.Result) error {
	p := &j.proof
	if j.round == 0 {
		p.worst, p.first, p.final = math.Inf(1), -1, -1
		j.readOutput(r)
	}
	p.complaints += r.Complaints.Lines
	now := j.rounds[j.round]
	n, k := 0, 0
	for _, v := range r.Values {
		switch v := v.(type) {
		case []float64:
			j.compareFrames(now.sights[n], v)
			n++
		case original:
			if p.copied < len(p.digests) && v.count == now.copied[k].packets && v.digest == p.digests[p.copied] {
				p.equal++
			}
			p.copied, p.packets = p.copied+1, p.packets+v.count
			k++
		}
	}
	for ; n < len(now.sights); n++ {
		p.missing += len(now.sights[n].copied)
	}
	p.copied += len(now.copied) - k // not read: not equal
	if j.round++; j.round < len(j.rounds) {
		return nil
	}
	j.state = done
	j.reason = p.fault()
	return nil
}

func (j *Job) compareFrames(g sight, list []float64) {
	p := &j.proof
	for i, copied := range g.copied {
		switch {
		case i >= len(list):
			p.missing++
		case copied && math.IsInf(list[i], 1):
			p.same++
		case copied:
			p.wrong++
		default:
			p.encoded++
			p.worst = min(p.worst, list[i])
		}
	}
	p.missing += max(0, len(list)-len(g.copied))
	if len(list) > 0 {
		if p.first < 0 {
			p.first = list[0]
		}
		p.final = list[len(list)-1]
	}
}

// readOutput takes what the packets of the output say, and what was planned.
func (j *Job) readOutput(r argv.Result) {
	p := &j.proof
	v := j.src.video()
	var at ffmpeg.Ticks
	for _, c := range j.cuts {
		for _, f := range c.frames {
			p.planned = append(p.planned, j.target.ticks(v, at+f-c.from))
		}
		at += c.to - c.from
	}
	p.heard, _ = argv.Value[heard](r)
	w, ok := argv.Value[*written](r)
	if !ok {
		return
	}
	p.times, p.extra = w.times, w.extra
	n := 0
	for _, c := range j.cuts {
		for _, q := range c.pieces {
			if q.copied && n < len(w.digests) {
				p.digests = append(p.digests, w.digests[n])
			}
			n++
		}
	}
}

// off is how far the worst frame is from its planned time, in ticks; −1 when their
// numbers differ.
func (p *proof) off() ffmpeg.Ticks {
	if len(p.times) != len(p.planned) || len(p.times) == 0 {
		return -1
	}
	var worst ffmpeg.Ticks
	zero := p.times[0] // a container that cannot hold times before zero moves all of them
	for i, t := range p.times {
		d := t - zero - p.planned[i]
		worst = max(worst, d, -d)
	}
	return worst
}

// fault says what is wrong with the result; "" when nothing is.
func (p *proof) fault() string {
	switch {
	case p.off() < 0:
		return fmt.Sprintf("the joined parts hold %d frames, not %d", len(p.times), len(p.planned))
	case p.off() > 1:
		return "the joined parts show frames at other times than planned"
	case p.equal != p.copied:
		return "copied packets differ from the source's"
	case p.missing > 0:
		return fmt.Sprintf("%d frames around the seams do not decode", p.missing)
	case p.wrong > 0:
		return fmt.Sprintf("%d copied frames around the seams decode differently", p.wrong)
	case p.worst < least:
		return fmt.Sprintf("an encoded frame is only within %.1f dB of the source's", p.worst)
	}
	return ""
}

// Result returns what the cut ended with, or a verification error. It may be asked only
// when Reason is "".
func (j *Job) Result() (Result, error) {
	if j.state != done || j.reason != "" {
		return Result{}, fmt.Errorf("the cut was not made: %s", j.reason)
	}
	doc, err := j.prober.Document()
	if err != nil {
		return Result{}, err
	}
	res := Result{Probe: doc, Map: j.edits, Notes: j.notes, Dropped: j.dropped, Verified: j.rows(doc)}
	for _, c := range j.cuts {
		s := Segment{Start: j.src.start(c), End: j.src.Media.Time(j.src.video(), c.to), Frames: len(c.frames), Why: c.why, Asked: c.asked, Nearest: j.nearest(c.from)}
		for _, p := range c.pieces {
			if p.copied {
				s.Copied += p.frames
			} else {
				s.Encoded += p.frames
			}
		}
		res.Segments = append(res.Segments, s)
	}
	if i := slices.IndexFunc(res.Verified, func(v cutroom.Verified) bool { return !v.OK }); i >= 0 {
		v := res.Verified[i]
		return res, cutroom.Errorf(cutroom.Verification, "the cut is not what was planned: %s is %s, not %s", v.Check, v.Measured, v.Expected).
			WithHint("call again with --mode accurate")
	}
	return res, nil
}

// rows are the post-conditions as measured.
func (j *Job) rows(doc *ffmpeg.Document) []cutroom.Verified {
	p, v := &j.proof, j.src.video()
	row := func(check string, ok bool, stream, unit, expected, measured string) cutroom.Verified {
		return cutroom.Verified{Check: check, OK: ok, Stream: stream, Unit: unit, Expected: expected, Measured: measured}
	}
	list := []cutroom.Verified{
		row("frames", len(p.times) == len(p.planned) && p.extra == 0, "video", "", fmt.Sprint(len(p.planned)), fmt.Sprint(len(p.times))),
		row("frame_times", p.off() >= 0 && p.off() <= j.target.slack(v), "video", "ticks", fmt.Sprintf("off by at most %d of %s s", j.target.slack(v), j.target.base(v)), fmt.Sprint(p.off())),
		row("copied_packets", p.equal == p.copied, "video", "", fmt.Sprintf("%d packets as in the source, by MD5", p.packets), fmt.Sprintf("%d of %d parts equal", p.equal, p.copied)),
		row("copied_frames", p.wrong == 0 && p.missing == 0, "video", "", "around the seams each frame equals the source's", fmt.Sprintf("%d equal, %d differ, %d missing", p.same, p.wrong, p.missing)),
	}
	if p.encoded > 0 {
		list = append(list, row("encoded_frames", p.worst >= least, "video", "dB", fmt.Sprintf("%d frames, PSNR at least %d", p.encoded, least), ratio(p.worst)))
	}
	list = append(list,
		row("first_frame", p.first >= least, "video", "dB", fmt.Sprintf("the source's, PSNR at least %d", least), ratio(p.first)),
		row("last_frame", p.final >= least, "video", "dB", fmt.Sprintf("the source's, PSNR at least %d", least), ratio(p.final)))
	if v.Video.Turned() {
		turn := func(f *ffmpeg.VideoFacts) string {
			if f.Mirrored {
				return fmt.Sprintf("%d, mirrored", f.Rotation)
			}
			return fmt.Sprint(f.Rotation)
		}
		measured := "no picture"
		if made := doc.FirstVideo(); made != nil {
			measured = turn(made.Video)
		}
		list = append(list, row("rotation", measured == turn(v.Video), "video", "degrees clockwise", turn(v.Video), measured))
	}
	if j.src.cover(j.target) != nil {
		n := len(doc.CoverArt)
		list = append(list, row("streams", n == 1, "cover", "", "1", fmt.Sprint(n)))
	}
	return append(list, j.soundRows(doc)...)
}

func ratio(v float64) string {
	if math.IsInf(v, 1) {
		return "equal"
	}
	return fmt.Sprintf("%.1f", v)
}

// soundRows are those of the sound: how many tracks, and that each ends with the
// picture.
func (j *Job) soundRows(doc *ffmpeg.Document) []cutroom.Verified {
	got := doc.AudioStreams()
	list := []cutroom.Verified{{Check: "streams", Stream: "audio", OK: len(got) == len(j.tracks), Expected: fmt.Sprint(len(j.tracks)), Measured: fmt.Sprint(len(got))}}
	pic := doc.FirstVideo()
	if pic == nil || len(got) != len(j.tracks) {
		return list
	}
	for n, a := range got {
		name := fmt.Sprintf("audio %d", n)
		frame := codecFrame(a)
		sound := j.proof.heard[n]
		if sound == nil {
			list = append(list, cutroom.Verified{Check: "audio_length", Stream: name, Unit: "s", Expected: j.edits.Seconds.String(), Measured: "no packet"})
			continue
		}
		zero := first(j.proof.times).Micros(j.target.base(j.src.video()))
		start := max(0, sound.start-zero) // what comes before zero is the codec's delay
		length := sound.end - zero - start
		want := j.edits.Seconds
		if t := j.tracks[n]; j.opts.Copy && t.copiesSound(j.cuts, j.target.Container) { // what is not there cannot be copied
			from, to := j.edits.Segments[0].SourceStart, j.edits.Segments[0].SourceEnd
			want = max(0, min(to, t.stream.EndSeconds)-max(from, t.stream.StartSeconds))
		}
		d := length - want
		list = append(list, cutroom.Verified{
			Check: "audio_length", Stream: name, Unit: "s", OK: d <= frame && d >= -frame,
			Expected: fmt.Sprintf("%s ± %s", want, frame), Measured: length.String(),
		})
		picture := cutroom.Second / 25
		if r := pic.Video.FrameRate; r.Known() {
			picture = cutroom.Micros(1_000_000 * r.Den / r.Num)
		}
		if j.opts.Copy { // the first packet may lie half before, half behind
			picture = max(picture, frame)
		}
		if t := j.tracks[n].stream; j.opts.Copy && t.StartSeconds > j.edits.Segments[0].SourceStart {
			picture += t.StartSeconds - j.edits.Segments[0].SourceStart
		}
		skew := start
		list = append(list, cutroom.Verified{
			Check: "skew", Stream: name, Unit: "s", OK: skew <= picture,
			Expected: fmt.Sprintf("picture and sound begin within %s", picture), Measured: skew.String(),
		})
	}
	return list
}

// codecFrame is how much sound one packet of a codec holds, at most; some milliseconds
// for containers that count in them.
func codecFrame(a *ffmpeg.Stream) cutroom.Micros {
	samples := cutroom.Micros(4608)
	switch a.CodecName {
	case "aac":
		samples = 1024
		if a.Audio.SampleRate > 0 && a.Profile == "HE-AAC" {
			samples = 2048
		}
	case "mp3", "mp2":
		samples = 1152
	case "opus":
		samples = 960
	case "vorbis":
		samples = 2048
	case "ac3", "eac3":
		samples = 1536
	}
	return samples*cutroom.Second/cutroom.Micros(max(1, a.Audio.SampleRate)) + 1000
}

func first(list []ffmpeg.Ticks) ffmpeg.Ticks {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}
