package caption

import (
	"slices"
	"strconv"

	"cutroom"
)

// stretch is a part of a text that one face draws.
type stretch struct {
	from, to int
	face     Face
}

// palette chooses faces. The one that suits most of the cues draws all that it can.
type palette struct {
	fonts Fonts
	o     *Options
	main  Face
	seen  map[string]Face // by cluster
	rep   *Report
}

func newPalette(fonts Fonts, cues []Cue, o *Options, rep *Report) (*palette, error) {
	p := &palette{fonts: fonts, o: o, seen: map[string]Face{}, rep: rep}
	// The first cues tell the script: one face for all of them, where there is one.
	sample := ""
	for _, c := range cues[:min(len(cues), 40)] {
		sample += c.Text
	}
	var err error
	if p.main, err = fonts.Find(o.Style.Font, o.Language, sample, o.Style.Bold); err != nil {
		if p.main, err = fonts.Find(o.Style.Font, o.Language, "", o.Style.Bold); err != nil {
			return nil, err
		}
	}
	p.use(p.main)
	return p, nil
}

func (p *palette) use(f Face) {
	if !slices.Contains(p.rep.Families, f.Family()) {
		p.rep.Families = append(p.rep.Families, f.Family())
	}
}

// paint returns the faces that draw text, and the text without the emoji that are left
// out. The error names what no font draws.
func (p *palette) paint(text string) (string, []stretch, error) {
	if p.main.Covers(text) {
		p.count(text)
		return text, []stretch{{0, len(text), p.main}}, nil
	}
	if f, err := p.fonts.Find(p.o.Style.Font, p.o.Language, text, p.o.Style.Bold); err == nil {
		p.use(f)
		p.count(text)
		return text, []stretch{{0, len(text), f}}, nil
	}
	var out []byte
	var faces []stretch
	at := clusters(text)
	for i := range len(at) - 1 {
		c := text[at[i]:at[i+1]]
		if isEmoji(c) {
			p.rep.Emoji.Clusters++
		}
		f, err := p.face(c, faces)
		if err != nil {
			if !p.o.NoEmoji || !isEmoji(c) {
				return "", nil, err
			}
			p.leave(c)
			continue
		}
		out = append(out, c...)
		if n := len(faces) - 1; n >= 0 && faces[n].face == f {
			faces[n].to = len(out)
		} else {
			faces = append(faces, stretch{len(out) - len(c), len(out), f})
		}
	}
	return string(out), faces, nil
}

// face chooses the face of one cluster: the main one, the one before, any.
func (p *palette) face(cluster string, before []stretch) (Face, error) {
	if p.main.Covers(cluster) {
		if n := len(before) - 1; n >= 0 && blank(cluster) {
			return before[n].face, nil
		}
		return p.main, nil
	}
	if n := len(before) - 1; n >= 0 && before[n].face.Covers(cluster) {
		return before[n].face, nil
	}
	if f, ok := p.seen[cluster]; ok {
		return f, nil
	}
	f, err := p.fonts.Find("", p.o.Language, cluster, p.o.Style.Bold)
	if err != nil {
		return nil, err
	}
	p.use(f)
	p.seen[cluster] = f
	return f, nil
}

func blank(s string) bool {
	for _, r := range s {
		if !vanishes(r) {
			return false
		}
	}
	return true
}

func (p *palette) leave(cluster string) {
	e := &p.rep.Emoji
	e.Left++
	name := "U+" + fourDigits(firstRune(cluster))
	if !slices.Contains(e.Missing, name) && len(e.Missing) < 50 {
		e.Missing = append(e.Missing, name)
	}
}

func fourDigits(r rune) string {
	s := strconv.FormatInt(int64(r), 16)
	for len(s) < 4 {
		s = "0" + s
	}
	return upper(s)
}

// count counts the emoji of a text that is drawn whole.
func (p *palette) count(text string) {
	plain := true
	for _, r := range text {
		if r >= 0x2000 {
			plain = false
			break
		}
	}
	if plain {
		return
	}
	at := clusters(text)
	for i := range len(at) - 1 {
		if isEmoji(text[at[i]:at[i+1]]) {
			p.rep.Emoji.Clusters++
		}
	}
}

// widthOf measures parts of a text that is drawn with faces.
func widthOf(text string, faces []stretch) func(from, to int) float64 {
	return func(from, to int) float64 {
		w := 0.0
		for _, s := range faces {
			if a, b := max(from, s.from), min(to, s.to); a < b {
				w += s.face.Width(text[a:b])
			}
		}
		return w
	}
}

// tallest is how high a line is that faces draw, for a size of 1: their baselines meet.
func tallest(faces []stretch) float64 {
	up, down := 0.0, 0.0
	for _, s := range faces {
		up, down = max(up, s.face.Ascent()), max(down, 1-s.face.Ascent())
	}
	return max(1, up+down)
}

func errNothing() error {
	return cutroom.Errorf(cutroom.Invalid, "there is nothing to show: no cue has text").WithHint("give a file with cues")
}
