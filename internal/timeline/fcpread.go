package timeline

import (
	"math/big"
	"strings"

	"cutroom/internal/ffmpeg"
)

// fcpReader reads the first project of a document.
type fcpReader struct {
	t       *Timeline
	shelf   shelf
	lost    Lost
	formats map[string]*element
	assets  map[string]*element
	effects map[string]string
	start   *big.Rat // of the sequence
	cut     int64    // where the last clip ends: the middle of a transition that follows
	gap     int64
	enter   *fcpTransition
}

// fcpTransition lies over the cut between two clips.
type fcpTransition struct{ at, length int64 }

func readFCPXML(text []byte) (*Timeline, Lost, error) {
	root, err := parseXML(text)
	if err != nil {
		return nil, nil, err
	}
	if root.name != "fcpxml" {
		return nil, nil, bad("the file is no FCPXML: its element is %q", line(root.name))
	}
	r := &fcpReader{t: &Timeline{}, formats: map[string]*element{}, assets: map[string]*element{}, effects: map[string]string{}}
	var order []*element
	if res := root.find("resources"); res != nil {
		for _, e := range res.kids {
			switch e.name {
			case "format":
				r.formats[e.attrs["id"]] = e
			case "asset":
				r.assets[e.attrs["id"]] = e
				order = append(order, e)
			case "effect":
				r.effects[e.attrs["id"]] = e.attrs["name"]
			}
		}
	}
	seq := root.find("sequence")
	if seq == nil {
		return nil, nil, bad("the FCPXML holds no sequence: it is no project's")
	}
	if p := root.find("project"); p != nil {
		r.t.Name = line(p.attrs["name"])
	}
	if err := r.sequence(seq); err != nil {
		return nil, nil, err
	}
	r.arrange(order)
	return r.t, r.lost, nil
}

// arrange puts the sources that are used into the order of the document.
func (r *fcpReader) arrange(assets []*element) {
	sorted := shelf{}
	place := map[int]int{}
	for _, e := range assets {
		if i, ok := r.shelf.at[r.source(e).key()]; ok {
			place[i] = sorted.put(r.shelf.list[i])
		}
	}
	r.t.Sources = sorted.list
	for i := range r.t.Clips {
		r.t.Clips[i].Source = place[r.t.Clips[i].Source]
	}
	for i := range r.t.Beds {
		r.t.Beds[i].Source = place[r.t.Beds[i].Source]
	}
}

func (r *fcpReader) sequence(seq *element) error {
	f := r.formats[seq.attrs["format"]]
	if f == nil {
		return bad("the sequence states no format")
	}
	frame, ok := parseTime(f.attrs["frameDuration"])
	if !ok || frame.Sign() <= 0 || !frame.Num().IsInt64() || !frame.Denom().IsInt64() {
		return bad("the sequence's format states no frame duration")
	}
	r.t.Rate = ffmpeg.Rational{Num: frame.Denom().Int64(), Den: frame.Num().Int64()}
	if !r.t.Rate.Known() || r.t.Rate.Float() > 1000 || r.t.Rate.Float() < 1 {
		return bad("the sequence's frame rate is not between 1 and 1000")
	}
	r.t.Width, r.t.Height = number(f.attrs["width"]), number(f.attrs["height"])
	r.t.Drop = seq.attrs["tcFormat"] == "DF" && r.t.base()%30 == 0
	r.start = orZero(seq.attrs["tcStart"])
	r.t.Start = r.frames(r.start, "the start")
	spine := seq.find("spine")
	if spine == nil {
		return bad("the sequence has no clips")
	}
	for _, e := range spine.kids {
		r.item(e)
	}
	if r.enter != nil {
		r.lost.add("a transition at the end, to nothing")
	}
	if r.gap > 0 {
		r.lost.add("%d frames of black at the end", r.gap)
	}
	return nil
}

// item reads one element of the spine.
func (r *fcpReader) item(e *element) {
	switch e.name {
	case "asset-clip", "video":
		r.clip(e)
	case "clip":
		inner := e.find("video")
		if inner == nil {
			inner = e.find("audio")
		}
		if inner == nil {
			r.skip(e)
			return
		}
		merged := &element{name: "clip", attrs: map[string]string{}, kids: e.kids}
		for k, v := range e.attrs {
			merged.attrs[k] = v
		}
		merged.attrs["ref"] = inner.attrs["ref"]
		r.clip(merged)
	case "gap":
		r.gap += r.frames(orZero(e.attrs["duration"]), "a gap")
		r.connected(e, orZero(e.attrs["start"]), r.cut)
		r.cut += r.frames(orZero(e.attrs["duration"]), "a gap")
		if r.enter != nil {
			r.lost.add("a transition to black")
			r.enter = nil
		}
	case "transition":
		r.transition(e)
	default:
		r.skip(e)
	}
}

// skip leaves an element out; black stands in its place.
func (r *fcpReader) skip(e *element) {
	r.lost.add("%s %q: black stands in its place", line(e.name), line(e.attrs["name"]))
	n := r.frames(orZero(e.attrs["duration"]), "an element")
	r.gap, r.cut, r.enter = r.gap+n, r.cut+n, nil
}

func (r *fcpReader) transition(e *element) {
	n := r.frames(orZero(e.attrs["duration"]), "a transition")
	at := r.cut - n + n/2
	if o, ok := parseTime(e.attrs["offset"]); ok {
		at = r.frames(o.Sub(o, r.start), "a transition")
	}
	if f := e.find("filter-video"); f != nil {
		if name := r.effects[f.attrs["ref"]]; name != "" && name != dissolve {
			r.lost.add("the transition %q is read as a dissolve", line(name))
		}
	} else if name := e.attrs["name"]; name != "" && name != dissolve {
		r.lost.add("the transition %q is read as a dissolve", line(name))
	}
	if len(r.t.Clips) == 0 || r.gap > 0 || n < 1 {
		r.lost.add("a transition from nothing")
		return
	}
	r.enter = &fcpTransition{at, n}
}

// clip reads a part of an asset.
func (r *fcpReader) clip(e *element) {
	asset := r.assets[e.attrs["ref"]]
	if asset == nil || e.attrs["enabled"] == "0" {
		r.skip(e)
		return
	}
	start := orZero(asset.attrs["start"])
	if s, ok := parseTime(e.attrs["start"]); ok {
		start = s
	}
	duration := orZero(e.attrs["duration"])
	if _, ok := parseTime(e.attrs["duration"]); !ok {
		duration = orZero(asset.attrs["duration"])
	}
	speed := r.speed(e)
	c := Clip{Source: r.asset(asset), Length: r.frames(duration, "a clip"), Lead: r.gap}
	if speed != one {
		c.Speed = speed
	}
	first, at := start, r.cut
	if x := r.enter; x != nil { // both clips reach over the cut
		before, after := max(0, r.cut-x.at), max(0, x.at+x.length-r.cut)
		c.Enter = Transition{Kind: "fade", Length: before + after}
		r.t.Clips[len(r.t.Clips)-1].Length += after
		c.Length += before
		first = new(big.Rat).Sub(start, r.seconds(before))
		r.enter = nil
	}
	if c.In = r.frames(new(big.Rat).Mul(first, big.NewRat(speed.Num, speed.Den)), "a clip"); c.In < 0 {
		r.lost.add("%q begins with its first frame: the transition to it has nothing to show before", line(e.attrs["name"]))
		c.In = 0
	}
	r.t.Clips = append(r.t.Clips, c)
	r.cut += r.frames(duration, "a clip")
	r.gap = 0
	r.connected(e, start, at)
}

// seconds is how long n frames are.
func (r *fcpReader) seconds(n int64) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(n, 1), big.NewRat(r.t.Rate.Den, r.t.Rate.Num))
}

// asset returns the number of an asset's source.
func (r *fcpReader) asset(e *element) int { return r.shelf.put(r.source(e)) }

// source is what an asset names.
func (r *fcpReader) source(e *element) Source {
	src := e.attrs["src"]
	if rep := e.find("media-rep"); rep != nil && rep.attrs["src"] != "" {
		src = rep.attrs["src"]
	}
	s := Source{Path: pathOf(src), Name: line(e.attrs["name"]), Video: e.attrs["hasVideo"] == "1", Audio: e.attrs["hasAudio"] == "1"}
	s.Start = r.frames(orZero(e.attrs["start"]), "an asset")
	s.Length = r.frames(orZero(e.attrs["duration"]), "")
	return s
}

// speed is the even speed that a clip's map of times says.
func (r *fcpReader) speed(e *element) ffmpeg.Rational {
	maps := e.all("timeMap")
	if len(maps) == 0 {
		return one
	}
	points := maps[0].all("timept")
	if len(points) == 2 {
		var t, v [2]*big.Rat
		ok := true
		for i, p := range points {
			var a, b bool
			t[i], a = parseTime(p.attrs["time"])
			v[i], b = parseTime(p.attrs["value"])
			ok = ok && a && b
		}
		if ok {
			dt, dv := new(big.Rat).Sub(t[1], t[0]), new(big.Rat).Sub(v[1], v[0])
			if dt.Sign() > 0 && dv.Sign() > 0 && t[0].Sign() == 0 && v[0].Sign() == 0 {
				if s := dv.Quo(dv, dt); s.Num().IsInt64() && s.Denom().IsInt64() {
					return ffmpeg.Rational{Num: s.Num().Int64(), Den: s.Denom().Int64()}
				}
			}
		}
	}
	r.lost.add("the changing speed of %q: it plays as it was recorded", line(e.attrs["name"]))
	return one
}

// connected reads what hangs on a clip that begins at frame at of the timeline, with
// start in its own time.
func (r *fcpReader) connected(e *element, start *big.Rat, at int64) {
	place := func(s string) (int64, bool) {
		o, ok := parseTime(s)
		if !ok {
			return 0, false
		}
		return at + r.frames(new(big.Rat).Sub(o, start), "what hangs on a clip"), true
	}
	for _, k := range e.kids {
		switch k.name {
		case "marker", "chapter-marker":
			if m, ok := place(k.attrs["start"]); ok && len(r.t.Marks) < maxClips {
				r.t.Marks = append(r.t.Marks, Mark{At: m, Title: line(k.attrs["value"]), Chapter: k.name == "chapter-marker"})
			}
		case "timeMap", "media-rep", "note", "conform-rate", "audio-channel-source", "metadata", "video", "audio", "filter-video", "keyword", "rating":
			if k.name == "filter-video" {
				r.lost.add("the effect %q", line(k.attrs["name"]))
			}
		case "asset-clip":
			asset := r.assets[k.attrs["ref"]]
			o, ok := place(k.attrs["offset"])
			if asset == nil || !ok || !strings.HasPrefix(k.attrs["lane"], "-") && asset.attrs["hasVideo"] == "1" || o < 0 {
				r.lost.add("%s %q in lane %s", k.name, line(k.attrs["name"]), line(k.attrs["lane"]))
				continue
			}
			in := orZero(asset.attrs["start"])
			if s, ok := parseTime(k.attrs["start"]); ok {
				in = s
			}
			r.t.Beds = append(r.t.Beds, Bed{Source: r.asset(asset), At: o, In: r.frames(in, "a sound"), Length: r.frames(orZero(k.attrs["duration"]), "a sound")})
		default:
			r.lost.add("%s of %q", line(k.name), line(e.attrs["name"]))
		}
	}
}

// frames is a time in whole frames; what lies between two is said, when it has a name.
func (r *fcpReader) frames(x *big.Rat, what string) int64 {
	n := new(big.Rat).Mul(x, big.NewRat(r.t.Rate.Num, r.t.Rate.Den))
	if !n.IsInt() && what != "" {
		r.lost.add("%s lies between two frames and is moved to the nearest", what)
	}
	return min(max(nearest(n), -maxFrame), maxFrame)
}

// parseTime reads "5s", "1001/30000s" and "2.5s".
func parseTime(s string) (*big.Rat, bool) {
	s, ok := strings.CutSuffix(strings.TrimSpace(s), "s")
	if !ok || len(s) > 40 || strings.ContainsAny(s, "eEpPxX_") {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(s)
	return r, ok
}

func orZero(s string) *big.Rat {
	if r, ok := parseTime(s); ok {
		return r
	}
	return new(big.Rat)
}

func number(s string) (n int) {
	for _, c := range s {
		if c < '0' || c > '9' || n > 1e6 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
