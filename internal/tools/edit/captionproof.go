package edit

import (
	"fmt"
	"io"
	"strings"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// lay lays the cues out.
func (c *captioning) lay(t *captionText) error {
	if c.f.Fonts == nil {
		return cutroom.Errorf(cutroom.MissingDependency, "this installation has no fonts").WithHint("run `cutroom doctor`")
	}
	safe, err := c.safe()
	if err != nil {
		return err
	}
	pictures, mode, err := c.in.drawn(c.f.Fonts)
	if err != nil {
		return err
	}
	o := caption.Options{
		Width: c.width, Height: c.height, Safe: safe, Style: c.in.style(c.light()), Language: c.tag(),
		MaxLines: c.in.MaxLines, Measured: c.in.Wrap == "measured", Fit: c.in.FitSize != "off", MinSize: c.in.MinSize, PerCue: c.in.FitScope == "cue",
		NoEmoji: c.in.Emoji == "none", Pictures: pictures, Animate: caption.Animation(c.in.Animate), Length: c.edit.Seconds,
	}
	timing := c.timing(t)
	if timing == "energy" {
		o.Progress = c.voice.Progress
	}
	if timing != "words" {
		for i := range t.cues {
			t.cues[i].Words = nil
		}
	}
	rep := c.report()
	if c.in.Karaoke {
		o.Karaoke = &caption.Karaoke{Highlight: dimmed(hexColor(c.in.Highlight), c.light()), Upcoming: dimmed(hexColor(c.in.Upcoming), c.light()), WordOnly: c.in.KaraokeStyle == "word"}
		rep.Timing = timing
	}
	if c.layout, err = caption.Lay(t.cues, c.f.Fonts, o); err != nil {
		return err
	}
	l := &c.layout.Report
	rep.Wrapped, rep.Rebalanced, rep.Split, rep.Phrases, rep.Overlong, rep.Broken = l.Wrapped, l.Rebalance, l.Split, l.Phrase, l.Overlong, l.Broken
	rep.Shrunk, rep.Exhausted, rep.Cut, rep.Used, rep.Pixels, rep.Percent = l.Shrunk, l.Exhausted, l.Cut, l.Used, l.Pixels, l.Percent
	rep.Fonts, rep.Unchanged, rep.Burned = l.Families, l.Unchanged, l.Cues
	c.out.Emoji = c.in.report(l.Emoji, mode, c.f.Fonts)
	if c.reel, err = newReel(reelFile, c.layout.Sprites(), c.width, c.height, c.edit.Seconds); err != nil {
		return err
	}
	if !l.Unchanged && l.Emoji.Left == 0 {
		return fmt.Errorf("the layout changed the text of the captions")
	}
	c.shown = c.layout.Shown()
	if f := c.in.Style.Font; f != "" && len(l.Families) > 0 && !strings.EqualFold(l.Families[0], f) {
		c.out.Notes = append(c.out.Notes, fmt.Sprintf("the font %s does not have every letter of the text: %s draws it", f, strings.Join(l.Families, ", ")))
	}
	return nil
}

// timing says how the times of words are found.
func (c *captioning) timing(t *captionText) string {
	switch want := c.in.Timing; {
	case want == "even":
		return "even"
	case t.words && want != "energy":
		return "words"
	case c.voice != nil && want != "words":
		return "energy"
	}
	return "even"
}

// tag is the language of the text.
func (c *captioning) tag() string {
	if l := c.language(0); l != "" {
		tag, _, _ := evidence.Language(l)
		return tag
	}
	return ""
}

// light is how bright white text is: full white on an SDR picture, the reference white
// of ITU-R BT.2408 where high dynamic range is kept.
func (c *captioning) light() float64 {
	switch c.video.Video.HDR {
	case "pq":
		return 0.58
	case "hlg":
		return 0.75
	}
	return 1
}

// looks is how many moments are compared.
const looks = 6

// moments are those at which the written file is compared with the input: the middles
// of captions spread over the video, between frames.
func (c *captioning) moments() []ffmpeg.InkAt {
	var list []ffmpeg.InkAt
	n := min(looks, len(c.shown))
	for i := range n {
		s := c.shown[i*(len(c.shown)-1)/max(1, n-1)]
		at := c.render.Ahead((s.Start + s.End) / 2)
		from := at
		if _, was, ok := c.edit.ToSource(at); ok {
			from = was
		}
		list = append(list, ffmpeg.InkAt{At: at, From: from, X: s.X, Y: s.Y, Width: s.Width, Height: s.Height})
	}
	return list
}

// look compares what was written with the input.
func (c *captioning) look(tool.Results) (tool.Plan, error) {
	res, err := c.render.Result()
	c.out.Verified, c.out.Probe, c.out.EditMap, c.out.Dropped = res.Verified, res.Probe, res.Map, res.Dropped
	c.out.Notes = append(c.out.Notes, res.Notes...)
	if err != nil {
		return tool.Plan{State: c}, err
	}
	if c.in.Mode == "mux" {
		cmd := c.trackCommand(len(res.Probe.SubtitleStreams()))
		return tool.Plan{State: c, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
			step, _ := r.Step(cmd.Step)
			return tool.Plan{State: c}, c.judgeTracks(step.Values)
		}}, nil
	}
	c.ink = c.moments()
	for i := range c.ink { // Matroska begins late, with the delay of the sound's codec
		c.ink[i].At += res.Probe.FirstVideo().StartSeconds
	}
	cmd, err := ffmpeg.NewInk(c.inkOptions(res))
	if err != nil || len(c.ink) == 0 {
		return tool.Plan{}, err
	}
	return tool.Plan{State: c, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
		step, _ := r.Step(cmd.Step)
		if len(step.Values) > 0 {
			c.matched, _ = step.Values[0].([]ffmpeg.Ink)
		}
		return tool.Plan{State: c}, c.judge()
	}}, nil
}

func (c *captioning) inkOptions(res graph.Result) ffmpeg.InkOptions {
	o := ffmpeg.InkOptions{
		Source: c.file.Format, SourceDoc: c.file.Media, Input: c.file.Index, Made: ffmpeg.MadeFormat(c.target.File, madeBy(c.target.Container)), MadeDoc: res.Probe,
		Width: c.width, Height: c.height, Samples: c.ink, Safe: ffmpeg.InkAt{Width: c.width, Height: c.height}, Abilities: &c.f.Abilities,
	}
	if c.layout != nil {
		x, y, w, h := c.layout.Area()
		o.Safe = ffmpeg.InkAt{X: x, Y: y, Width: w, Height: h}
	}
	return o
}

// madeBy is the demuxer that reads a container.
func madeBy(container string) string {
	switch container {
	case "mkv", "webm":
		return "matroska"
	case "gif":
		return "gif"
	}
	return "mov"
}

// leastInk is the least share of a caption's place that differs from the input; text
// alone covers a tenth and more of it.
const leastInk = 0.01

// mostOutside is the largest share of the picture that may differ outside of the safe
// area: what encoding does to hard edges.
const mostOutside = 0.0005

// judge says what can be seen.
func (c *captioning) judge() error {
	least, seen := 1.0, 0
	outside, pixels := 0, 1
	floor := leastInk
	if c.layout == nil {
		floor /= 50 // anywhere in the frame
	}
	for _, i := range c.matched {
		least = min(least, i.Share)
		if i.Share >= floor {
			seen++
		}
		if i.Outside > outside {
			outside = i.Outside
		}
		pixels = i.Pixels
	}
	rows := []cutroom.Verified{
		{
			Check: "captions_visible", OK: len(c.matched) == len(c.ink) && seen == len(c.ink), Expected: fmt.Sprintf("ink in the place of %d captions out of %d", len(c.ink), len(c.shown)),
			Measured: fmt.Sprintf("%d of them, at least %.1f %% of it", seen, 100*least), Stream: "video",
		},
	}
	if c.layout != nil && !c.video.Video.Alpha {
		limit := int(mostOutside * float64(pixels))
		rows = append(rows, cutroom.Verified{
			Check: "captions_in_safe_area", OK: outside <= limit, Expected: fmt.Sprintf("at most %d of %d pixels differ outside of the safe area", limit, pixels),
			Measured: fmt.Sprint(outside), Unit: "px", Stream: "video",
		})
	}
	c.out.Verified = append(c.out.Verified, rows...)
	for _, r := range rows {
		if !r.OK {
			return cutroom.Errorf(cutroom.Verification, "%s: expected %s, measured %s", r.Check, r.Expected, r.Measured).
				WithHint("choose other colours or an outline, so that the text differs from the picture; `cutroom look` shows the frames")
		}
	}
	return nil
}

// lookCommand is the comparison as a dry run shows it: its moments are not known yet.
func (c *captioning) lookCommand() argv.Command {
	if c.in.Mode == "mux" {
		return c.trackCommand(len(c.file.Media.SubtitleStreams()) + len(c.out.Tracks))
	}
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts", "-ss")
	args = append(args, argv.Hole("the middle of a caption"))
	args = append(args, c.file.Format.Input(0)...)
	args = append(args, ffmpeg.MadeFormat(c.target.File, madeBy(c.target.Container)).Input(0)...)
	args = append(args, argv.Word("-filter_complex"), argv.Graph("[0:v:0][1:v:0]blend=all_mode=difference"), argv.Word("-f"), argv.Word("rawvideo"), argv.Pipe(0))
	return argv.Command{Step: "ink", Program: "ffmpeg", Inputs: []int{c.file.Index}, Args: args, Stage: "looking whether the captions can be seen"}
}

// trackCommand reads the text of the tracks that were added back, as it lies in the
// file; they are the last of n.
func (c *captioning) trackCommand(n int) argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner")
	args = append(args, ffmpeg.MadeFormat(c.target.File, madeBy(c.target.Container)).Input(0)...)
	cmd := argv.Command{Step: "tracks", Program: "ffmpeg", Stage: "reading the tracks back"}
	for i := range c.out.Tracks {
		args = append(args, argv.Words("-map", fmt.Sprintf("0:s:%d", n-len(c.out.Tracks)+i), "-c", "copy", "-f", "data")...)
		args = append(args, argv.Pipe(i))
		cmd.Consume = append(cmd.Consume, readTrack)
	}
	cmd.Args = args
	return cmd
}

// readTrack takes the bytes of a track whole.
func readTrack(r io.Reader) (any, error) {
	data, err := io.ReadAll(io.LimitReader(r, 2*maxCaptionText))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return data, err
}

// judgeTracks compares what the tracks hold with the text.
func (c *captioning) judgeTracks(values []any) error {
	for i, t := range c.texts {
		var data []byte
		if i < len(values) {
			data, _ = values[i].([]byte)
		}
		held := string(data)
		switch c.target.Container {
		case "mp4", "mov", "m4a":
			held = ffmpeg.TimedText(data)
		case "webm":
			held = caption.FromVTT(held)
		}
		var given strings.Builder
		for _, q := range t.cues {
			given.WriteString(q.Text)
		}
		same := caption.Visible(held) == caption.Visible(given.String())
		row := cutroom.Verified{Check: "track_text", OK: same, Expected: fmt.Sprintf("the text of %d cues", len(t.cues)), Measured: "the same text", Stream: fmt.Sprintf("subtitle %d", i)}
		if !same {
			row.Measured = "other text"
		}
		c.out.Verified = append(c.out.Verified, row)
		if !same {
			return cutroom.Errorf(cutroom.Verification, "the track %d does not hold the text that was given", i).WithHint("name an output that ends in .mkv, which carries any text")
		}
	}
	return nil
}

// captioned delivers the file.
func captioned(_ tool.Facts, in CaptionInput, r tool.Results) (CaptionOutput, error) {
	c, ok := r.State().(*captioning)
	if !ok {
		return CaptionOutput{}, fmt.Errorf("the captions were not rendered")
	}
	out := c.out
	if out.Probe != nil {
		out.Existing = len(out.Probe.SubtitleStreams())
	}
	if _, err := r.Deliver(c.target.File, graph.MediaType(c.target.Container), "output"); err != nil {
		return out, err
	}
	if _, err := r.Deliver(subripFile, "application/x-subrip", "write_srt"); err != nil {
		return out, err
	}
	if in.Mode != "mux" {
		if _, err := r.Deliver(scriptFile, "text/x-ssa", "write_ass"); err != nil {
			return out, err
		}
	}
	return out, nil
}
