package edit

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/object"
	"cutroom/internal/ocr"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// mostLooked is in how many frames one call looks.
const mostLooked = object.MaxPictures

// redacting is one call while it is worked on.
type redacting struct {
	in     RedactInput
	l      *looking
	frames *ffmpeg.FrameJob
	seen   [][]sighting // by frame
	times  []cutroom.Micros
	paths  []graph.Path
	before [2]*ffmpeg.FrameJob // frames of the input and of what was written, for reading
	out    RedactOutput
}

func planRedact(f tool.Facts, in RedactInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	r := &redacting{in: in, l: l}
	l.call = &r.out
	r.out.Hidden = []RedactedPath{}
	if err := r.given(); err != nil {
		return tool.Plan{}, err
	}
	if len(in.Find) == 0 {
		return r.render()
	}
	return r.search()
}

// length is how long the picture lasts from its first frame on.
func (r *redacting) length() cutroom.Micros {
	end := r.l.file.Media.DurationSeconds
	if e := r.l.video.EndSeconds; e > 0 {
		end = e
	}
	return max(0, end-max(0, r.l.video.StartSeconds))
}

// given takes the boxes of the call.
func (r *redacting) given() error {
	v := r.l.video.Video
	w, h := v.DisplayWidth, v.DisplayHeight
	for i, b := range r.in.boxes() {
		if b.X+b.Width > w || b.Y+b.Height > h {
			return cutroom.Errorf(cutroom.Invalid, "box %d reaches out of the picture, which is %d×%d as shown", i+1, w, h).
				WithHint("x plus width is at most %d, y plus height at most %d", w, h)
		}
		// Outwards to even pixels, on which colour lies.
		x, y := b.X&^1, b.Y&^1
		p := graph.Path{Width: min((b.X+b.Width-x+1)&^1, w&^1), Height: min((b.Y+b.Height-y+1)&^1, h&^1), Points: []graph.PathPoint{{X: x, Y: y}}}
		if b.Start > 0 || b.End > 0 {
			begin := max(0, r.l.video.StartSeconds)
			end := r.length() + cutroom.Second
			if b.End > 0 {
				end = max(0, b.End-begin)
			}
			p.Points[0].At = max(0, b.Start-begin)
			p.Points = append(p.Points, graph.PathPoint{At: end, X: x, Y: y})
		}
		r.add("box", p, 0)
	}
	return nil
}

// add hides a path.
func (r *redacting) add(kind string, p graph.Path, seen int) {
	r.paths = append(r.paths, p)
	begin := max(0, r.l.video.StartSeconds)
	h := RedactedPath{Kind: kind, Start: begin, End: begin + r.length(), X: p.Points[0].X, Y: p.Points[0].Y, Width: p.Width, Height: p.Height, Seen: seen}
	if len(p.Points) > 1 {
		h.Start, h.End = begin+p.Points[0].At, min(h.End, begin+p.Points[len(p.Points)-1].At)
	}
	r.out.Hidden = append(r.out.Hidden, h)
}

// search plans to look for what is to be found, and what follows.
func (r *redacting) search() (tool.Plan, error) {
	f := r.l.facts
	if r.in.text() && !f.Has("ocr") {
		return tool.Plan{}, lacking("what reads text in pictures", "leave text out of find and give boxes")
	}
	if len(r.in.kinds()) > 0 && !f.Has(object.Program) {
		return tool.Plan{}, lacking("what finds objects in pictures", "give boxes")
	}
	every := r.in.Interval
	n := int(r.length()/every) + 1
	if n > mostLooked {
		return tool.Plan{}, cutroom.Errorf(cutroom.Limit, "%s s are looked at every %s s: that is %d frames, and a call looks at %d", r.length(), every, n, mostLooked).
			WithHint("raise interval, or cut the video into shorter parts and join them afterwards")
	}
	begin := max(0, r.l.video.StartSeconds)
	for i := range n {
		r.times = append(r.times, cutroom.Micros(i)*every)
	}
	asked := make([]cutroom.Micros, n)
	for i, t := range r.times {
		asked[i] = begin + t
	}
	var err error
	if r.frames, err = ffmpeg.NewFrameJob(r.l.file.Index, r.l.file.Format, r.l.file.Media, &f.Abilities, ffmpeg.FrameOptions{Times: asked, Name: "find-"}); err != nil {
		return tool.Plan{}, err
	}
	shown := *r.l
	if _, err := graph.NewRender(shown.graph, f.Abilities); err != nil { // what is wrong otherwise is said before anything runs
		return tool.Plan{}, err
	}
	return tool.Follow(r.frames, r.l, r.find)
}

func lacking(what, other string) error {
	return cutroom.Errorf(cutroom.MissingDependency, "%s is not installed", what).WithHint("run `cutroom doctor`, which says how to install it; or %s", other)
}

// find plans the search in the frames that were taken.
func (r *redacting) find(tool.Results) (tool.Plan, error) {
	taken, _ := r.frames.Frames()
	if len(taken) == 0 {
		return tool.Plan{}, cutroom.Errorf(cutroom.UnreadableMedia, "no frame of the video could be taken").WithHint("convert it first, or give boxes")
	}
	files := make([]string, len(taken))
	r.times = r.times[:0]
	for i, t := range taken {
		files[i] = t.File
		r.times = append(r.times, max(0, t.Time-max(0, r.l.video.StartSeconds)))
	}
	r.seen = make([][]sighting, len(taken))
	var steps []argv.Command
	if r.in.text() {
		steps = append(steps, ocr.FirstOf("text", files, reader))
	}
	if len(r.in.kinds()) > 0 {
		steps = append(steps, object.CommandOf("objects", files, object.Options{Score: r.in.MinScore, Limit: object.MaxLimit}))
	}
	return tool.Plan{State: r.l, Steps: steps, Then: func(res tool.Results) (tool.Plan, error) {
		if err := r.take(res); err != nil {
			return tool.Plan{}, err
		}
		r.out.Looked = len(taken)
		v := r.l.video.Video
		for _, t := range follow(r.seen) {
			r.add(t.kind, t.path(r.times, r.length(), v.DisplayWidth, v.DisplayHeight, r.in.Margin), len(t.at))
		}
		if len(r.paths) == 0 {
			return tool.Plan{}, cutroom.Errorf(cutroom.NotFound, "nothing to hide was found in %d frames", len(taken)).WithHint("give boxes, lower min_score, or look every shorter interval")
		}
		return r.render()
	}}, nil
}

// reader is how text is read: by the networks alone.
var reader = ocr.Options{WithoutTesseract: true, Side: 1280}

// take collects what was found.
func (r *redacting) take(res tool.Results) error {
	if step, ok := res.Step("text"); ok {
		pages, err := pagesOf(step)
		if err != nil {
			return err
		}
		for i, p := range pages {
			for _, l := range p.Lines {
				if r.matches(l.Text) {
					r.seen[i] = append(r.seen[i], sighting{"text", r.scaled(float64(l.Box.X)/float64(p.Width), float64(l.Box.Y)/float64(p.Height), float64(l.Box.W)/float64(p.Width), float64(l.Box.H)/float64(p.Height))})
				}
			}
		}
	}
	if step, ok := res.Step("objects"); ok {
		views, err := object.Views(step)
		if err != nil {
			return err
		}
		for i, v := range views {
			for _, o := range v.Objects {
				if slices.Contains(r.in.Find, o.Label) {
					r.seen[i] = append(r.seen[i], sighting{o.Label, r.scaled(o.Box[0], o.Box[1], o.Box[2], o.Box[3])})
				}
			}
		}
	}
	return nil
}

// pagesOf are the lines that the networks read.
func pagesOf(step argv.Result) ([]ocr.Page, error) {
	frames, ok := argv.Value[[]ocr.Frame](step)
	if !ok {
		return nil, fmt.Errorf("the text finder left no answer")
	}
	return ocr.Merge(frames, nil, reader), nil
}

// scaled is a box in parts of the picture as one in pixels.
func (r *redacting) scaled(x, y, w, h float64) graph.Box {
	v := r.l.video.Video
	fw, fh := float64(v.DisplayWidth), float64(v.DisplayHeight)
	b := graph.Box{X: int(max(0, x) * fw), Y: int(max(0, y) * fh)}
	b.Width, b.Height = max(2, min(int(w*fw)+1, v.DisplayWidth-b.X)), max(2, min(int(h*fh)+1, v.DisplayHeight-b.Y))
	return b
}

// matches says whether a line is one that is to be hidden.
func (r *redacting) matches(text string) bool {
	if len(r.in.Match) == 0 {
		return strings.TrimSpace(text) != ""
	}
	// Spaces are what readers lose first.
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "") }
	return slices.ContainsFunc(r.in.Match, func(m string) bool { return strings.Contains(plain(text), plain(m)) })
}

// render plans the edit, then the proof that what was hidden is.
func (r *redacting) render() (tool.Plan, error) {
	look := graph.Redact{Paths: r.paths, Mode: r.in.Mode, Strength: max(r.in.BlockSize, r.in.Blur)}
	r.l.graph.Picture.Looks = []graph.Look{look}
	r.l.moments = r.moments()
	r.l.after = r.readable
	if !r.l.facts.Has("ocr") {
		r.l.after = nil
		r.out.Notes = append(r.out.Notes, "it was not checked whether words can still be read: what reads text in pictures is not installed")
	}
	return r.l.plan(ffmpeg.BesideOptions{Side: 1280}, r.judge)
}
