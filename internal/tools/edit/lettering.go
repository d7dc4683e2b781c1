package edit

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/brand"
	"cutroom/internal/caption"
	"cutroom/internal/graph"
)

// textLines is how many lines text of an overlay has at most, beyond those it came with.
const textLines = 4

// overlayText adds the script of a text.
func (d *drawing) overlayText(in OverlayInput, k brand.Kit, from, to cutroom.Micros) (Placed, error) {
	var none Placed
	x0, y0, x1, y1, err := d.free(in.Platform, in.margin(k, d))
	if err != nil {
		return none, err
	}
	at := in.spot(k)
	p, err := parseSpot(at)
	if err != nil {
		return none, err
	}
	if p.at {
		if x0, y0, x1, y1 = p.corner(d.width, d.height); x1-x0 < 8 || y1-y0 < 8 {
			return none, cutroom.Errorf(cutroom.Invalid, "the place %s leaves no room for text in the frame of %d×%d", at, d.width, d.height).WithHint("choose a point further from the edge")
		}
	}
	l := lettering{
		text: in.Text, style: in.Style.branded(k), position: p.anchor(), area: graph.Box{X: x0, Y: y0, Width: x1 - x0, Height: y1 - y0},
		start: from, end: to, opacity: in.opacity(k), fadeIn: in.Fade, emoji: in.EmojiChoice,
	}
	if in.End != "" {
		l.fadeOut = in.Fade
	}
	if l.fadeIn+l.fadeOut > to-from {
		return none, cutroom.Errorf(cutroom.Invalid, "fades of %s s do not fit into %s s", in.Fade, to-from).WithHint("shorten fade")
	}
	lay, err := d.letter(l)
	if err != nil {
		return none, err
	}
	d.script(lay.ASS())
	if err := d.emoji(lay.Sprites()); err != nil {
		return none, err
	}
	s := lay.Shown()[0]
	box := graph.Box{X: s.X, Y: s.Y, Width: s.Width, Height: s.Height}
	d.marks = append(d.marks, mark{box: inside(box, d.width, d.height), start: from, end: to, fadeIn: l.fadeIn, fadeOut: l.fadeOut, opacity: l.opacity})
	return Placed{
		Kind: "text", X: s.X, Y: s.Y, Width: s.Width, Height: s.Height, Start: from, End: to, Opacity: l.opacity,
		Fonts: lay.Report.Families, SizePx: lay.Report.Pixels, Lines: lay.Lines(),
	}, nil
}

// branded is a style with what a brand says where the call says nothing.
func (s TextStyle) branded(k brand.Kit) TextStyle {
	s.Font = cmp.Or(s.Font, k.Fonts.Body)
	s.Color, s.Outlined, s.BoxColor = cmp.Or(s.Color, k.Colors.Text, "white"), cmp.Or(s.Outlined, k.Colors.Outline, "black"), cmp.Or(s.BoxColor, k.Colors.Background, "black")
	return s
}

// lettering is one text on the frame.
type lettering struct {
	text            string
	style           TextStyle
	position        caption.Position // in the area
	area            graph.Box
	start, end      cutroom.Micros
	fadeIn, fadeOut cutroom.Micros
	opacity         float64
	emoji           EmojiChoice
}

// letter lays a text out. It is never changed, and never shown in parts.
func (d *drawing) letter(l lettering) (*caption.Layout, error) {
	if d.f.Fonts == nil {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this installation has no fonts").WithHint("run `cutroom doctor`")
	}
	unit := float64(min(d.width, d.height)) / caption.Grid
	size := float64(max(1, l.style.Size)) / unit
	w, h := float64(d.width), float64(d.height)
	by := l.style.Outlined
	if l.style.Box {
		by = l.style.BoxColor
	}
	pictures, mode, err := l.emoji.drawn(d.f.Fonts)
	if err != nil {
		return nil, err
	}
	o := caption.Options{
		NoEmoji: l.emoji.Emoji == "none", Pictures: pictures,
		Width: d.width, Height: d.height, Language: l.style.Language, MaxLines: textLines + strings.Count(l.text, "\n"), Fit: true, MinSize: size / 3, Length: d.length(),
		Safe: caption.Insets{Left: float64(l.area.X) / w, Top: float64(l.area.Y) / h, Right: (w - float64(l.area.X+l.area.Width)) / w, Bottom: (h - float64(l.area.Y+l.area.Height)) / h},
		Style: caption.Style{
			Font: l.style.Font, Size: size, Color: d.ink(l.style.Color, "white"), OutlineBy: d.ink(by, "black"), Outline: l.style.Border / unit, Bold: l.style.Bold, Box: l.style.Box, Position: l.position,
		},
		FadeIn: l.fadeIn, FadeOut: l.fadeOut, Opacity: l.opacity,
	}
	for { // as many lines as the place is high enough for
		lay, err := caption.Lay([]caption.Cue{{Start: l.start, End: l.end, Text: l.text}}, d.f.Fonts, o)
		if err != nil && o.MaxLines > 1 && cutroom.AsError(err).Code == cutroom.Invalid {
			o.MaxLines--
			continue
		}
		if err != nil {
			return nil, err
		}
		if lay.Report.Split > 0 || len(lay.Shown()) != 1 {
			return nil, cutroom.Errorf(cutroom.Invalid, "the text does not fit into its place of %d×%d pixels", l.area.Width, l.area.Height).WithHint("lower font_size, shorten the text, or choose another position")
		}
		d.emojis = d.emojis.more(l.emoji.report(lay.Report.Emoji, mode, d.f.Fonts))
		if !lay.Report.Unchanged && lay.Report.Emoji.Left == 0 {
			return nil, fmt.Errorf("the layout changed the text")
		}
		if lay.Report.Pixels < float64(l.style.Size)-1 {
			d.say("the text is drawn %.0f pixels high instead of %d, to fit", math.Round(lay.Report.Pixels), l.style.Size)
		}
		if f := l.style.Font; f != "" && len(lay.Report.Families) > 0 && !strings.EqualFold(lay.Report.Families[0], f) {
			d.say("the font %s does not have every letter of the text: %s draws it", f, strings.Join(lay.Report.Families, ", "))
		}
		return lay, nil
	}
}

// ink is a colour as a script writes it, as bright as it is meant to be on this picture.
func (d *drawing) ink(s, otherwise string) string {
	if s == "" {
		s = otherwise
	}
	c, err := rgb("", s)
	if err != nil {
		c = [3]uint8{255, 255, 255}
	}
	var dim [3]uint8
	for i := range c {
		dim[i] = uint8(float64(c[i]) * d.light())
	}
	c = graph.ScriptColor(dim, d.video.Video, d.light() < 1, &d.f.Abilities)
	return fmt.Sprintf("%02X%02X%02X", c[0], c[1], c[2])
}

// anchor is where text stands in its area: the corner that a point names.
func (p spot) anchor() caption.Position {
	switch {
	case !p.at:
		return p.name
	case p.fx && p.fy:
		return caption.BottomRight
	case p.fx:
		return caption.TopRight
	case p.fy:
		return caption.BottomLeft
	}
	return caption.TopLeft
}

// corner is what there is of the frame from a point on.
func (p spot) corner(width, height int) (x0, y0, x1, y1 int) {
	x0, x1 = p.x, width
	if p.fx {
		x0, x1 = 0, width-p.x
	}
	y0, y1 = p.y, height
	if p.fy {
		y0, y1 = 0, height-p.y
	}
	return x0, y0, x1, y1
}
