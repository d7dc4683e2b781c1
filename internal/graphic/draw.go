package graphic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/sprite"
)

// Options say how a template is drawn.
type Options struct {
	Width, Height int // of the frame, pixels
	// Room is the size of the part of the frame that is free, and Place says where in it
	// something of a size stands, for one of the nine places or whatever the caller
	// understands by position.
	RoomX, RoomY int
	Place        func(position string, w, h int) (x, y int, err error)
	Position     string // in place of the template's own

	Fonts         caption.Fonts
	Heading, Body string // families; "" by the text's script
	Language      string
	Color         func(role string) string // RRGGBB
	Scale         float64                  // 0 is 1
	NoEmoji       bool
	Pictures      *caption.Pictures // of emoji; nil: fonts draw them

	Texts      Texts
	Start, End cutroom.Micros // of the edit
	Count      int            // where a countdown begins
}

// Mark is where and when something of a graphic is to be seen, wholly between FadeIn
// after Start and FadeOut before End.
type Mark struct {
	X, Y, Width, Height int
	Start, End          cutroom.Micros
	FadeIn, FadeOut     cutroom.Micros
}

// Drawn is a graphic as a script.
type Drawn struct {
	Script   []byte // ASS, on a grid of the frame's own pixels
	Marks    []Mark // one for each group
	Families []string
	Emoji    caption.Emoji
	Sprites  []sprite.Show // the pictures of emoji
}

// Draw draws a template.
func Draw(t Template, o Options) (*Drawn, error) {
	if err := t.Check(o.Texts); err != nil {
		return nil, err
	}
	if o.Scale <= 0 {
		o.Scale = 1
	}
	d := &Drawn{}
	var b strings.Builder
	b.WriteString(caption.Head(o.Width, o.Height))
	for i := range t.Groups {
		g := &t.Groups[i]
		if g.For != "" && strings.TrimSpace(o.Texts.of(g.For)) == "" {
			continue
		}
		s := stack{g: g, o: &o, d: d, unit: float64(min(o.Width, o.Height)) / caption.Grid * o.Scale, place: orElse(g.Position, orElse(o.Position, t.Position))}
		if err := s.set(); err != nil {
			return nil, err
		}
		if err := s.stand(); err != nil {
			return nil, err
		}
		s.draw(&b)
	}
	d.Script = []byte(b.String())
	return d, nil
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// stack is one group while it is drawn. Lengths are pixels.
type stack struct {
	g     *Group
	o     *Options
	d     *Drawn
	unit  float64
	place string

	rows     []row
	backward bool    // it begins at the right
	width    float64 // of the widest row
	height   float64
	x, y     float64 // of the whole
	w, h     float64
}

// row is one item with its place in the stack.
type row struct {
	it    *Item
	block *caption.Block
	count []*caption.Block // of a countdown, from Count down to 1
	top   float64          // from the stack's own top
	high  float64
}

// rim is how far outlines overhang letters.
func (s *stack) rim() float64 {
	r := 0.0
	for _, it := range s.g.Items {
		r = max(r, it.Outline*s.unit)
	}
	return math.Ceil(r)
}

// padding is the distance from the edge of the whole to the rows.
func (s *stack) padding() (left, top, right float64) {
	x, y := s.rim(), s.rim()
	if p := s.g.Panel; p != nil {
		x, y = x+p.PadX*s.unit, y+p.PadY*s.unit
	}
	left, top, right = x, y, x
	if st := s.g.Strip; st != nil {
		if s.backward {
			right += st.Width * s.unit
		} else {
			left += st.Width * s.unit
		}
	}
	return left, top, right
}

// set sets the texts and counts how much room they take.
func (s *stack) set() error {
	left, _, right := s.padding()
	if s.g.Strip != nil {
		left += s.g.Strip.Width * s.unit
	}
	room := float64(s.o.RoomX)*s.g.Width - left - right
	if s.g.Turn != 0 {
		room *= 0.92
	}
	if room < 8 {
		return cutroom.Errorf(cutroom.Invalid, "there is no room for the graphic in %d pixels", s.o.RoomX).WithHint("lower margin or scale")
	}
	for i := range s.g.Items {
		r, shown, err := s.row(&s.g.Items[i], room)
		if err != nil {
			return err
		}
		if !shown {
			continue
		}
		if len(s.rows) > 0 {
			s.height += r.it.Gap * s.unit
		}
		r.top = s.height
		s.height += r.high
		s.rows = append(s.rows, r)
	}
	if s.g.Bar != nil {
		s.width = max(s.width, room)
		if len(s.rows) > 0 {
			s.height += s.g.Bar.Gap * s.unit
		}
		s.height += s.g.Bar.Height * s.unit
	}
	if i := slices.IndexFunc(s.rows, func(r row) bool { return r.block != nil }); i >= 0 {
		s.backward = s.rows[i].block.Backward
	}
	return nil
}

// row sets one item; shown is false where there is nothing to show.
func (s *stack) row(it *Item, room float64) (r row, shown bool, err error) {
	r = row{it: it}
	switch {
	case it.Rule:
		if len(s.rows) == 0 {
			return r, false, nil
		}
		r.high = math.Round(it.Size * s.unit)
		return r, true, nil
	case it.Count:
		for n := s.o.Count; n > 0; n-- {
			b, err := s.block(it, strconv.Itoa(n), room)
			if err != nil {
				return r, false, err
			}
			r.count = append(r.count, b)
			s.width, r.high = max(s.width, b.Width), max(r.high, b.Height)
		}
		return r, len(r.count) > 0, nil
	}
	text := s.o.Texts.of(it.Text)
	if strings.TrimSpace(text) == "" {
		return r, false, nil
	}
	if r.block, err = s.block(it, text, room); err != nil {
		return r, false, err
	}
	s.width, r.high = max(s.width, r.block.Width), r.block.Height
	return r, true, nil
}

// block sets a text.
func (s *stack) block(it *Item, text string, room float64) (*caption.Block, error) {
	family := s.o.Body
	if it.Font == "heading" {
		family = s.o.Heading
	}
	size := it.Size * s.unit
	b, err := caption.Set(text, s.o.Fonts, caption.BlockOptions{
		Size: size, Least: size / 2.5, Width: room, MaxLines: max(1, it.Lines), Font: family, Bold: it.Bold, Language: s.o.Language, NoEmoji: s.o.NoEmoji,
		Pictures: s.o.Pictures, Outline: it.Outline * s.unit,
	})
	if err != nil {
		return nil, err
	}
	for _, f := range b.Families {
		if !slices.Contains(s.d.Families, f) {
			s.d.Families = append(s.d.Families, f)
		}
	}
	s.d.Emoji.Clusters += b.Emoji.Clusters
	s.d.Emoji.Left += b.Emoji.Left
	s.d.Emoji.Pictures += b.Emoji.Pictures
	s.d.Emoji.Missing = append(s.d.Emoji.Missing, b.Emoji.Missing...)
	return b, nil
}

// stand finds the place of the whole, and marks it.
func (s *stack) stand() error {
	left, top, right := s.padding()
	s.w, s.h = math.Ceil(s.width+left+right), math.Ceil(s.height+2*top)
	// What is turned takes more room; what rises comes from below its place.
	mw, mh := s.w, s.h
	if a := s.g.Turn * math.Pi / 180; a != 0 {
		mw, mh = math.Ceil(s.w*math.Cos(a)+s.h*math.Abs(math.Sin(a))), math.Ceil(s.w*math.Abs(math.Sin(a))+s.h*math.Cos(a))
	}
	mh += s.rise()
	if int(mw) > s.o.RoomX || int(mh) > s.o.RoomY {
		return cutroom.Errorf(cutroom.Invalid, "the graphic of %.0f×%.0f pixels does not fit into the free %d×%d", mw, mh, s.o.RoomX, s.o.RoomY).
			WithHint("shorten its text, or lower scale or margin")
	}
	x, y, err := s.o.Place(s.place, int(mw), int(mh))
	if err != nil {
		return err
	}
	s.x, s.y = float64(x)+(mw-s.w)/2, float64(y)+(mh-s.rise()-s.h)/2
	m := Mark{X: x, Y: y, Width: int(mw), Height: int(mh), Start: s.o.Start, End: s.o.End, FadeIn: s.lasts(s.g.In), FadeOut: s.lasts(s.g.Out)}
	s.d.Marks = append(s.d.Marks, m)
	return nil
}

// rise is how far below its place a group begins.
func (s *stack) rise() float64 {
	if s.g.In.Kind == "rise" {
		return math.Round(10 * s.unit)
	}
	return 0
}

// lasts is how long a motion takes: at most a quarter of the time.
func (s *stack) lasts(m Motion) cutroom.Micros {
	if m.Kind == "" {
		return 0
	}
	return min(cutroom.MicrosOf(m.Seconds), (s.o.End-s.o.Start)/4)
}

// draw writes the group's events.
func (s *stack) draw(b *strings.Builder) {
	left, top, _ := s.padding()
	if p := s.g.Panel; p != nil {
		s.shape(b, 0, 0, 0, s.w, s.h, p.Radius*s.unit, p.Color, p.Opacity, "")
	}
	if st := s.g.Strip; st != nil {
		at := 0.0
		if s.backward {
			at = s.w - st.Width*s.unit
		}
		s.shape(b, 1, at, 0, st.Width*s.unit, s.h, 0, st.Color, 1, "")
	}
	for _, r := range s.rows {
		y := top + r.top
		switch {
		case r.it.Rule:
			w := math.Round(s.width / 3)
			s.shape(b, 1, left+(s.width-w)/2, y, w, r.high, 0, r.it.Color, 1, "")
		case r.it.Count:
			s.counts(b, r, left, y)
		default:
			s.text(b, r.it, r.block, left, y, s.o.Start, s.o.End, s.motion)
		}
	}
	if bar := s.g.Bar; bar != nil {
		y := s.h - top - bar.Height*s.unit
		r := bar.Height * s.unit / 2
		s.shape(b, 0, left, y, s.width, bar.Height*s.unit, r, bar.Behind, bar.Opacity, "")
		x0, y0 := s.x+left, s.y+y
		x1, y1 := x0+s.width, y0+bar.Height*s.unit
		s.shape(b, 1, left, y, s.width, bar.Height*s.unit, r, bar.Color, 1,
			fmt.Sprintf(`\clip(%s,%s,%s,%s)\t(0,%d,\clip(%s,%s,%s,%s))`, px(math.Floor(x0)), px(math.Floor(y0)), px(math.Floor(x0)), px(math.Ceil(y1)),
				(s.o.End-s.o.Start)/1000, px(math.Floor(x0)), px(math.Floor(y0)), px(math.Ceil(x1)), px(math.Ceil(y1))))
	}
}

// counts writes the numbers of a countdown, one after the other.
func (s *stack) counts(b *strings.Builder, r row, left, y float64) {
	for i, block := range r.count {
		from := s.o.Start + cutroom.Micros(i)*cutroom.Second
		to := min(from+cutroom.Second, s.o.End)
		if from >= to {
			return
		}
		s.text(b, r.it, block, left, y, from, to, func(x, y float64) string {
			return `\pos(` + px(x) + "," + px(y) + `)\fscx120\fscy120\t(0,180,\fscx100\fscy100)`
		})
	}
}

// text writes one block, at a place within the whole.
func (s *stack) text(b *strings.Builder, it *Item, block *caption.Block, left, y float64, from, to cutroom.Micros, motion func(x, y float64) string) {
	// By its middle, or by the side where it begins.
	align, x := 8, s.x+left+s.width/2
	if s.g.Align == "start" {
		align, x = 7, s.x+left
		if s.backward {
			align, x = 9, s.x+left+s.width
		}
	}
	at := s.y + y
	if it.Count || s.g.In.Kind == "pop" {
		align, at = 5, at+block.Height/2
	}
	tags := fmt.Sprintf(`\an%d%s\fn%s\fs%s\b%d\bord%s\shad0\1c&H%s&\3c&H%s&%s`, align, motion(x, at), block.Family, px(block.Size), number(it.Bold), px(it.Outline*s.unit),
		caption.BGR(s.o.Color(it.Color)), caption.BGR(s.o.Color("outline")), s.through(1))
	b.WriteString(caption.Dialogue(2, from, to, "{"+tags+"}"+block.Letters))
	for _, p := range block.Spots(align, x, at) {
		s.d.Sprites = append(s.d.Sprites, sprite.Show{
			Picture: p.Picture, X: p.X, Y: p.Y, Width: p.Width, Height: p.Height, Start: from, End: to, Opacity: s.g.Opacity, Motion: s.spriteMotion(x, at),
		})
	}
}

// shape writes a rectangle of a colour, at a place within the whole; more are tags of its
// own.
func (s *stack) shape(b *strings.Builder, layer int, x, y, w, h, radius float64, color string, opacity float64, more string) {
	motion := s.motion(s.x+x, s.y+y)
	align := 7
	if s.g.In.Kind == "pop" {
		align, motion = 5, s.motion(s.x+x+w/2, s.y+y+h/2)
	}
	tags := fmt.Sprintf(`\an%d%s\bord0\shad0\1c&H%s&%s%s\p1`, align, motion, caption.BGR(s.o.Color(color)), s.through(opacity), more)
	b.WriteString(caption.Dialogue(layer, s.o.Start, s.o.End, "{"+tags+"}"+rounded(w, h, radius)))
}

// through is how far something is seen through, as a tag.
func (s *stack) through(opacity float64) string {
	if g := s.g.Opacity; g > 0 {
		opacity *= g
	}
	if opacity >= 1 || opacity <= 0 {
		return ""
	}
	return fmt.Sprintf(`\1a&H%02X&\3a&H%02X&`, 255-int(math.Round(255*opacity)), 255-int(math.Round(255*opacity)))
}

// motion is where something of the group stands, and how it comes and goes.
func (s *stack) motion(x, y float64) string {
	in, out := int64(s.lasts(s.g.In)/1000), int64(s.lasts(s.g.Out)/1000)
	place := `\pos(` + px(x) + "," + px(y) + ")"
	if s.g.Turn != 0 {
		place += fmt.Sprintf(`\org(%s,%s)\frz%s`, px(s.x+s.w/2), px(s.y+s.h/2), px(s.g.Turn))
	}
	fade := func(in int64) string {
		if in == 0 && out == 0 {
			return ""
		}
		return fmt.Sprintf(`\fad(%d,%d)`, in, out)
	}
	switch s.g.In.Kind {
	case "fade":
		return place + fade(in)
	case "pop":
		return place + fmt.Sprintf(`\fscx60\fscy60\t(0,%d,\fscx100\fscy100)`, in) + fade(in/2)
	case "rise":
		return fmt.Sprintf(`\move(%s,%s,%s,%s,0,%d)`, px(x), px(y+s.rise()), px(x), px(y), in) + fade(in)
	case "wipe":
		x0, y0, x1, y1 := math.Floor(s.x), math.Floor(s.y), math.Ceil(s.x+s.w), math.Ceil(s.y+s.h)
		a := x0
		if s.backward {
			a = x1
		}
		from := fmt.Sprintf(`\clip(%s,%s,%s,%s)`, px(a), px(y0), px(a), px(y1))
		return place + from + fmt.Sprintf(`\t(0,%d,\clip(%s,%s,%s,%s))`, in, px(x0), px(y0), px(x1), px(y1)) + fade(0)
	}
	return place + fade(0)
}

// spriteMotion is how the pictures beside letters come and go: as the letters do, whose
// anchor stands at x, y.
func (s *stack) spriteMotion(x, y float64) sprite.Motion {
	in, out := s.lasts(s.g.In), s.lasts(s.g.Out)
	m := sprite.Motion{FadeOut: out, Turn: s.g.Turn, TurnX: s.x + s.w/2, TurnY: s.y + s.h/2}
	switch s.g.In.Kind {
	case "fade":
		m.FadeIn = in
	case "pop":
		m.Lasts, m.Grow, m.AtX, m.AtY, m.FadeIn = in, 0.6, x, y, in/2
	case "rise":
		m.Lasts, m.DY, m.FadeIn = in, s.rise(), in
	case "wipe":
		m.Wipe, m.WipeFrom, m.WipeTo = in, math.Floor(s.x), math.Ceil(s.x+s.w)
		if s.backward {
			m.WipeFrom, m.WipeTo = m.WipeTo, m.WipeFrom
		}
	}
	return m
}

// rounded is the path of a rectangle with round corners, in quarters of circles.
func rounded(w, h, r float64) string {
	r = min(r, w/2, h/2)
	if r < 0.5 {
		return fmt.Sprintf("m 0 0 l %s 0 %s %s 0 %s", px(w), px(w), px(h), px(h))
	}
	k := r * (1 - 0.5523) // where a cubic's handles lie for a quarter of a circle
	p := func(list ...float64) string {
		out := make([]string, len(list))
		for i, v := range list {
			out[i] = px(v)
		}
		return strings.Join(out, " ")
	}
	return "m " + p(r, 0) + " l " + p(w-r, 0) + " b " + p(w-k, 0, w, k, w, r) + " l " + p(w, h-r) + " b " + p(w, h-k, w-k, h, w-r, h) +
		" l " + p(r, h) + " b " + p(k, h, 0, h-k, 0, h-r) + " l " + p(0, r) + " b " + p(0, k, k, 0, r, 0)
}

// px writes a length in hundredths of a pixel.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }
