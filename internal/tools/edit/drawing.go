package edit

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sprite"
	"cutroom/internal/tool"
)

// drawing is an edit that draws over a whole video, while it is worked on: its layers,
// and what has to be seen of them in the written file.
type drawing struct {
	f      tool.Facts
	file   tool.Input
	video  *ffmpeg.Stream
	target graph.Target
	width  int // of the frame as it is written
	height int
	edit   edl.Map // a picture that begins late begins at zero afterwards
	base   int     // sources of the edit before those of layers

	sources []graph.Source // beside the video
	layers  []graph.Layer
	files   []argv.File
	sound   *graph.Sound
	marks   []mark
	shows   []sprite.Show // pictures of emoji
	matches []match
	whole   *graph.Graph // in place of one that shows the video from its beginning to its end
	made    *tool.Made
	emojis  *EmojiReport

	render *graph.Render
	looked []glance
	inked  []ffmpeg.Ink
}

// mark is a place of the frame in which something has to be seen for a time of the edit.
type mark struct {
	box             graph.Box
	start, end      cutroom.Micros
	fadeIn, fadeOut cutroom.Micros
	opacity         float64
	unlike          bool // what is shown is compared with where it comes from, not with what it covers
	any             bool // it may be seen through everywhere at times, as a keyed video
	opaque          bool // what lies beneath it cannot be seen
	name            string
}

// moments are n times at which it is there whole.
func (m *mark) moments(n int) (list []cutroom.Micros) {
	a, b := m.start+m.fadeIn, m.end-m.fadeOut
	if b <= a {
		a, b = (a+b)/2, (a+b)/2+2
	}
	for k := range n {
		list = append(list, a+(b-a)*cutroom.Micros(2*k+1)/cutroom.Micros(2*n))
	}
	return list
}

// step is by how many code values it has to differ from what it stands on.
func (m *mark) step() int {
	if m.opacity > 0 {
		return max(8, int(48*m.opacity))
	}
	return 48
}

// glance is one moment at which the written file is compared with the input.
type glance struct {
	mark int // −1: nothing is drawn then
	at   ffmpeg.InkAt
}

// newDrawing opens the video that is drawn over.
func newDrawing(f tool.Facts, input cutroom.InPath, output cutroom.OutPath, enc Encoding, made *tool.Made) (*drawing, error) {
	file, err := f.Named(input)
	if err != nil || file.Media == nil {
		return nil, fmt.Errorf("the input was not probed: %w", err)
	}
	d := &drawing{f: f, file: file, made: made, base: 1}
	if d.video, err = moving(file.Media); err != nil {
		return nil, err
	}
	if d.target, err = enc.target(output); err != nil {
		return nil, err
	}
	d.width, d.height = max(2, d.video.Video.DisplayWidth&^1), max(2, d.video.Video.DisplayHeight&^1)
	if d.sound, err = (FitInput{}).sound(file.Media, d.target, graph.Clip{}); err != nil {
		return nil, err
	}
	r, err := graph.NewRender(d.graph(), f.Abilities)
	if err != nil {
		return nil, err
	}
	d.edit = r.Map()
	return d, nil
}

// graph is the edit.
func (d *drawing) graph() graph.Graph {
	if d.whole != nil {
		g, p := *d.whole, *d.whole.Picture
		p.Layers = d.layers
		g.Sources, g.Picture, g.Sound, g.Target = append(slices.Clone(g.Sources), d.sources...), &p, d.sound, d.target
		return g
	}
	return graph.Graph{
		Sources: append([]graph.Source{d.file.AsSource()}, d.sources...), Clips: []graph.Clip{{}},
		Picture: &graph.Picture{Layers: d.layers},
		Sound:   d.sound, Target: d.target,
		Keep: graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
	}
}

// source adds a file that a layer comes from and returns its number.
func (d *drawing) source(in tool.Input) int {
	d.sources = append(d.sources, in.AsSource())
	return d.base + len(d.sources) - 1
}

// script adds an ASS file as a layer and returns its name.
func (d *drawing) script(data []byte) string {
	name := fmt.Sprintf("layer%d.ass", len(d.files))
	d.files = append(d.files, argv.File{Name: name, Data: data})
	d.layers = append(d.layers, graph.Layer{Script: name})
	return name
}

// span is the time between two moments of the video, as times of the edit. An empty end
// is the edit's own.
func (d *drawing) span(start, end cutroom.Moment) (from, to cutroom.Micros, err error) {
	var a, b cutroom.Micros
	if start != "" {
		if a, err = d.file.Media.Moment(start); err != nil {
			return 0, 0, err
		}
	}
	b = d.file.Media.DurationSeconds
	if v := d.video.EndSeconds; v > 0 {
		b = v
	}
	if end != "" {
		if b, err = d.file.Media.Moment(end); err != nil {
			return 0, 0, err
		}
	}
	if b <= a {
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "the end %s s has to lie after the start %s s", b, a).WithHint("give an end behind the start, within the video")
	}
	list := d.edit.Ranges(0, edl.Range{Start: a, End: b})
	if len(list) == 0 {
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "the time from %s s to %s s lies outside of the picture, which lasts to %s s", a, b, d.video.EndSeconds).
			WithHint("choose a start within the video")
	}
	return list[0].Start, list[len(list)-1].End, nil
}

// length is how long the edit is.
func (d *drawing) length() cutroom.Micros { return d.edit.Seconds }

// free is the part of the frame that a platform leaves free, with a margin: left, top,
// right, bottom in pixels.
func (d *drawing) free(name string, margin int) (x0, y0, x1, y1 int, err error) {
	var s platform.Insets
	if name != "" {
		p, err := platform.Find(name)
		if err != nil {
			return 0, 0, 0, 0, err
		}
		s = p.Safe
	}
	w, h := float64(d.width), float64(d.height)
	x0, y0 = max(margin, int(s.Left*w+0.999)), max(margin, int(s.Top*h+0.999))
	x1, y1 = d.width-max(margin, int(s.Right*w+0.999)), d.height-max(margin, int(s.Bottom*h+0.999))
	if x1-x0 < 16 || y1-y0 < 16 {
		return 0, 0, 0, 0, cutroom.Errorf(cutroom.Invalid, "a margin of %d pixels leaves nothing of the frame of %d×%d", margin, d.width, d.height).WithHint("lower margin")
	}
	return x0, y0, x1, y1, nil
}

// light is how bright white is meant to be: full white on a picture of standard range,
// the reference white of ITU-R BT.2408 where high dynamic range is kept.
func (d *drawing) light() float64 {
	if d.target.Video.Name != "" && d.target.Video.Name != "hevc" && d.target.Video.Name != "av1" && d.target.Video.Name != "vp9" {
		return 1
	}
	switch d.video.Video.HDR {
	case "pq":
		return 0.58
	case "hlg":
		return 0.75
	}
	return 1
}

// say notes a choice.
func (d *drawing) say(format string, args ...any) {
	d.made.Notes = append(d.made.Notes, fmt.Sprintf(format, args...))
}

// plan renders, then looks at what can be seen. state is what Interpret finds.
func (d *drawing) plan(state any) (tool.Plan, error) {
	var err error
	if d.render, err = graph.NewRender(d.graph(), d.f.Abilities); err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(d.render, state, func(tool.Results) (tool.Plan, error) { return d.look(state) })
	p.Files = d.files
	if err == nil && d.file.Media != nil {
		p.Later = append(p.Later, d.lookCommand())
	}
	return p, err
}

// look compares what was written with the input.
func (d *drawing) look(state any) (tool.Plan, error) {
	res, err := d.render.Result()
	d.made.Verified, d.made.Probe, d.made.EditMap, d.made.Dropped = res.Verified, res.Probe, res.Map, res.Dropped
	d.made.Notes = append(d.made.Notes, res.Notes...)
	if err != nil {
		return tool.Plan{State: state}, err
	}
	if d.file.Media != nil {
		d.glances(res)
	}
	if len(d.looked) == 0 {
		return d.compare(state, res)
	}
	cmd, err := ffmpeg.NewInk(d.inkOptions(res))
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{State: state, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
		step, _ := r.Step(cmd.Step)
		if len(step.Values) > 0 {
			d.inked, _ = step.Values[0].([]ffmpeg.Ink)
		}
		if err := d.judge(res); err != nil {
			return tool.Plan{State: state}, err
		}
		return d.compare(state, res)
	}}, nil
}

// glances chooses the moments: three of each mark while it is there whole, one before
// and one after all of them.
func (d *drawing) glances(res graph.Result) {
	late := res.Probe.FirstVideo().StartSeconds // Matroska begins late, with the delay of the sound's codec
	add := func(i int, at cutroom.Micros, box graph.Box) {
		at = d.render.Ahead(at)
		from := at
		if _, was, ok := d.edit.ToSource(at); ok {
			from = was
		}
		d.looked = append(d.looked, glance{i, ffmpeg.InkAt{At: at + late, From: from, X: box.X, Y: box.Y, Width: box.Width, Height: box.Height}})
	}
	first, last := d.length(), cutroom.Micros(0)
	n := 3
	if len(d.marks) > 4 {
		n = 1
	}
	for i, m := range d.marks[:min(len(d.marks), 8)] {
		if m.unlike {
			continue
		}
		for _, at := range m.moments(n) {
			add(i, at, m.box)
		}
	}
	for _, m := range d.marks {
		first, last = min(first, m.start), max(last, m.end)
	}
	const gap = cutroom.Second / 5
	if first >= gap {
		add(-1, first/2, d.extent())
	}
	if d.length()-last >= gap {
		add(-1, (last+d.length())/2, d.extent())
	}
}

// extent is the part of the frame that holds all marks.
func (d *drawing) extent() graph.Box {
	if len(d.marks) == 0 {
		return graph.Box{Width: d.width, Height: d.height}
	}
	x0, y0, x1, y1 := d.width, d.height, 0, 0
	for _, m := range d.marks {
		x0, y0, x1, y1 = min(x0, m.box.X), min(y0, m.box.Y), max(x1, m.box.X+m.box.Width), max(y1, m.box.Y+m.box.Height)
	}
	return graph.Box{X: x0, Y: y0, Width: x1 - x0, Height: y1 - y0}
}

func (d *drawing) inkOptions(res graph.Result) ffmpeg.InkOptions {
	e := d.extent()
	least := 48
	for _, m := range d.marks {
		least = min(least, m.step())
	}
	o := ffmpeg.InkOptions{
		Source: d.file.Format, SourceDoc: d.file.Media, Input: d.file.Index, Made: ffmpeg.MadeFormat(d.target.File, madeBy(d.target.Container)), MadeDoc: res.Probe,
		Width: d.width, Height: d.height, Safe: ffmpeg.InkAt{X: e.X, Y: e.Y, Width: e.Width, Height: e.Height}, Abilities: &d.f.Abilities,
		Colors: true, Least: least, Stage: "looking whether what was drawn can be seen",
	}
	for _, g := range d.looked {
		o.Samples = append(o.Samples, g.at)
	}
	return o
}

// lookCommand is the comparison as a dry run shows it.
func (d *drawing) lookCommand() argv.Command {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts", "-ss")
	args = append(args, argv.Hole("a moment of what was drawn"))
	args = append(args, d.file.Format.Input(0)...)
	args = append(args, ffmpeg.MadeFormat(d.target.File, madeBy(d.target.Container)).Input(0)...)
	args = append(args, argv.Word("-filter_complex"), argv.Graph("[0:v:0][1:v:0]blend=all_mode=difference"), argv.Word("-f"), argv.Word("rawvideo"), argv.Pipe(0))
	return argv.Command{Step: "ink", Program: "ffmpeg", Inputs: []int{d.file.Index}, Args: args, Stage: "looking whether what was drawn can be seen"}
}

// leastSeen is the least share of a mark's place that has to differ from the input, and
// how many times as much as where nothing is drawn.
const (
	leastSeen = 0.002
	timesMore = 3
)

// judge says what can be seen, and that the rest is as it was.
func (d *drawing) judge(res graph.Result) error {
	seen := make([]int, len(d.marks))
	looks := make([]int, len(d.marks))
	share := make([]float64, len(d.marks))
	noise, outside, changed, pixels := 0.0, 0, 0, 1
	for i, g := range d.looked[:len(d.inked)] {
		if g.mark < 0 {
			noise = max(noise, d.inked[i].Share)
		}
	}
	for i, g := range d.looked[:len(d.inked)] {
		ink := d.inked[i]
		pixels = ink.Pixels
		if g.mark < 0 {
			changed = max(changed, ink.Changed)
			continue
		}
		outside = max(outside, ink.Outside)
		looks[g.mark]++
		share[g.mark] = max(share[g.mark], ink.Share)
		if ink.Share >= max(leastSeen, timesMore*noise) {
			seen[g.mark]++
		}
	}
	rows := []cutroom.Verified{}
	for i, m := range d.marks[:min(len(d.marks), 8)] {
		if m.unlike {
			continue
		}
		want := looks[i]
		if m.any {
			want = min(1, want)
		}
		rows = append(rows, cutroom.Verified{
			Check: "drawn_visible", OK: looks[i] > 0 && seen[i] >= want, Expected: fmt.Sprintf("to be seen at %d of %d moments at least", max(1, want), looks[i]),
			Measured: fmt.Sprintf("seen at %d, %.1f %% of its place", seen[i], 100*share[i]), Stream: "video",
		})
	}
	d.made.Verified = append(d.made.Verified, append(rows, d.untouched(res, outside, changed, pixels)...)...)
	for _, r := range d.made.Verified {
		if !r.OK {
			return cutroom.Errorf(cutroom.Verification, "%s: expected %s, measured %s", r.Check, r.Expected, r.Measured).
				WithHint("choose another place, time, colour or opacity, so that it differs from the picture; `cutroom look` shows the frames")
		}
	}
	return nil
}

// untouched are the rows about the rest of the picture. Where the colours of the whole
// picture were changed, there is nothing to compare with.
func (d *drawing) untouched(res graph.Result, outside, changed, pixels int) []cutroom.Verified {
	made := res.Probe.FirstVideo()
	if d.video.Video.Alpha || d.video.Video.HDR != "" && made != nil && made.Video.HDR == "" {
		return nil
	}
	limit := int(mostOutside * float64(pixels))
	rows := []cutroom.Verified{{
		Check: "rest_unchanged", OK: outside <= limit, Expected: fmt.Sprintf("at most %d of %d pixels differ outside of what was drawn", limit, pixels),
		Measured: fmt.Sprint(outside), Unit: "px", Stream: "video",
	}}
	for _, g := range d.looked {
		if g.mark < 0 {
			return append(rows, cutroom.Verified{
				Check: "only_in_its_time", OK: changed <= limit, Expected: fmt.Sprintf("at most %d of %d pixels differ before and after", limit, pixels),
				Measured: fmt.Sprint(changed), Unit: "px", Stream: "video",
			})
		}
	}
	return rows
}

// deliver hands the file over.
func (d *drawing) deliver(r tool.Results) error {
	_, err := r.Deliver(d.target.File, graph.MediaType(d.target.Container), "output")
	return err
}

// spot is where something stands: one of nine places in the free part of the frame, or
// a point.
type spot struct {
	name caption.Position
	x, y int // from the left or top edge; negative: from the right or bottom edge
	at   bool
	fx   bool // x counts from the right edge
	fy   bool // y counts from the bottom edge
}

// parseSpot reads a position: a name, or X,Y in pixels.
func parseSpot(s string) (spot, error) {
	for _, n := range []caption.Position{caption.Bottom, caption.BottomLeft, caption.BottomRight, caption.Center, caption.Left, caption.Right, caption.Top, caption.TopLeft, caption.TopRight} {
		if s == string(n) {
			return spot{name: n}, nil
		}
	}
	bad := cutroom.Errorf(cutroom.Invalid, "position %q is neither a place nor X,Y", s).
		WithHint("use top-left, top, top-right, left, center, right, bottom-left, bottom, bottom-right, or pixels such as 40,-60; a negative number counts from the far edge")
	xs, ys, ok := strings.Cut(s, ",")
	if !ok {
		return spot{}, bad
	}
	p := spot{at: true}
	var okX, okY bool
	p.x, p.fx, okX = pixel(xs)
	p.y, p.fy, okY = pixel(ys)
	if !okX || !okY {
		return spot{}, bad
	}
	return p, nil
}

// pixel reads a whole number of pixels; −0 counts from the far edge, too.
func pixel(s string) (n int, far, ok bool) {
	s = strings.TrimSpace(s)
	digits := strings.TrimPrefix(s, "-")
	far = digits != s
	if digits == "" || len(digits) > 5 {
		return 0, false, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false, false
		}
		n = 10*n + int(c-'0')
	}
	return n, far, true
}

// box is where something of a size stands; free is the part of the frame for the nine
// places. Sizes and places are even, as video stores colours.
func (p spot) box(w, h, width, height int, x0, y0, x1, y1 int) graph.Box {
	b := graph.Box{Width: w, Height: h}
	if p.at {
		b.X, b.Y = p.x, p.y
		if p.fx {
			b.X = width - w - p.x
		}
		if p.fy {
			b.Y = height - h - p.y
		}
	} else {
		b.X, b.Y = min(max((width-w)/2, x0), x1-w), y0+(y1-y0-h)/2 // what is centred stands in the middle of the frame, where that is free
		switch p.name {
		case caption.TopLeft, caption.Left, caption.BottomLeft:
			b.X = x0
		case caption.TopRight, caption.Right, caption.BottomRight:
			b.X = x1 - w
		}
		switch p.name {
		case caption.TopLeft, caption.Top, caption.TopRight:
			b.Y = y0
		case caption.BottomLeft, caption.Bottom, caption.BottomRight:
			b.Y = y1 - h
		}
	}
	b.X, b.Y = b.X&^1, b.Y&^1
	return b
}
