package caption

import (
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// stretch is a part of a text that one face draws.
type stretch struct {
	from, to int
	face     Face
	emoji    *emoji // a picture in place of letters
}

// palette chooses faces. The one that suits most of the cues draws all that it can.
type palette struct {
	fonts Fonts
	o     *Options
	main  Face
	seen  map[string]Face // by cluster
	rep   *Report

	pictures map[string]*emoji // by cluster; nil: there is none
	drawn    int               // different pictures
}

func newPalette(fonts Fonts, cues []Cue, o *Options, rep *Report) (*palette, error) {
	p := &palette{fonts: fonts, o: o, seen: map[string]Face{}, rep: rep, pictures: map[string]*emoji{}}
	// The first cues tell the script: one face for all of them, where there is one.
	sample := ""
	for _, c := range cues[:min(len(cues), 40)] {
		sample += c.Text
	}
	if o.NoEmoji || o.Pictures != nil { // letters alone choose the face
		sample = withoutEmoji(sample)
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
	apart := (p.o.NoEmoji || p.o.Pictures != nil) && withoutEmoji(text) != text
	if !apart && p.main.Covers(text) {
		p.count(text)
		return text, []stretch{{0, len(text), p.main, nil}}, nil
	}
	if apart {
		return p.byCluster(text)
	}
	if f, err := p.fonts.Find(p.o.Style.Font, p.o.Language, text, p.o.Style.Bold); err == nil {
		p.use(f)
		p.count(text)
		return text, []stretch{{0, len(text), f, nil}}, nil
	}
	return p.byCluster(text)
}

// byCluster paints a text character by character.
func (p *palette) byCluster(text string) (string, []stretch, error) {
	var out []byte
	var faces []stretch
	at := clusters(text)
	for i := range len(at) - 1 {
		c := text[at[i]:at[i+1]]
		if isEmoji(c) {
			p.rep.Emoji.Clusters++
		}
		if p.o.NoEmoji && presents(c) {
			p.leave(c)
			continue
		}
		f, e, err := p.drawer(c, faces)
		if err != nil {
			if !p.o.NoEmoji || !isEmoji(c) {
				return "", nil, err
			}
			p.leave(c)
			continue
		}
		out = append(out, c...)
		if n := len(faces) - 1; n >= 0 && faces[n].face == f && faces[n].emoji == nil && e == nil {
			faces[n].to = len(out)
		} else {
			faces = append(faces, stretch{len(out) - len(c), len(out), f, e})
		}
	}
	return string(out), faces, nil
}

// drawer is what draws a cluster: a picture where it is one by itself, else a face, else
// a picture where there is one.
func (p *palette) drawer(cluster string, before []stretch) (Face, *emoji, error) {
	if presents(cluster) {
		if e, err := p.picture(cluster); e != nil || err != nil {
			return p.main, e, err
		}
	}
	f, err := p.face(cluster, before)
	if err == nil || !isEmoji(cluster) {
		return f, nil, err
	}
	if e, other := p.picture(cluster); e != nil || other != nil {
		return p.main, e, other
	}
	return nil, nil, err
}

// withoutEmoji is a text without what is a picture by itself.
func withoutEmoji(text string) string {
	if plainText(text) {
		return text
	}
	at := clusters(text)
	var b strings.Builder
	for i := range len(at) - 1 {
		if c := text[at[i]:at[i+1]]; !presents(c) {
			b.WriteString(c)
		}
	}
	return b.String()
}

// plainText reports whether there cannot be emoji in a text.
func plainText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x2000 })
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
	p.rep.Emoji.Left++
	p.name(cluster)
}

// name notes a cluster that is missing.
func (p *palette) name(cluster string) {
	e := &p.rep.Emoji
	name := codePoints(cluster)
	if !slices.Contains(e.Missing, name) && len(e.Missing) < 50 {
		e.Missing = append(e.Missing, name)
	}
}

// codePoints names a cluster, the first eight of its code points.
func codePoints(cluster string) string {
	var names []string
	for _, r := range cluster {
		if len(names) == 8 {
			names = append(names, "…")
			break
		}
		names = append(names, "U+"+fourDigits(r))
	}
	return strings.Join(names, " ")
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
	if plainText(text) {
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
				w += s.width(text, a, b)
			}
		}
		return w
	}
}

// tallest is how high a line is that faces draw, for a size of 1: their baselines meet.
func tallest(faces []stretch) float64 {
	up, down := reach(faces)
	return max(1, up+down)
}

// reach is how far what draws a line reaches above and below its baseline, for a size
// of 1.
func reach(faces []stretch) (up, down float64) {
	for _, s := range faces {
		if e := s.emoji; e != nil {
			up, down = max(up, e.tall()-e.below()), max(down, e.below())
		} else {
			up, down = max(up, s.face.Ascent()), max(down, 1-s.face.Ascent())
		}
	}
	return up, down
}

func errNothing() error {
	return cutroom.Errorf(cutroom.Invalid, "there is nothing to show: no cue has text").WithHint("give a file with cues")
}
