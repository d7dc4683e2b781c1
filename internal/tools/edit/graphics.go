package edit

import (
	"cmp"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/brand"
	"cutroom/internal/graph"
	"cutroom/internal/graphic"
	"cutroom/internal/tool"
)

// Graphics draws a motion graphic over a video.
var Graphics = tool.Add(Family, tool.Spec[GraphicsInput, GraphicsOutput]{
	Name:        "edit.graphics",
	Summary:     "Draw a motion graphic over a video: lower third, title, countdown …",
	Description: "Draw a graphic that moves, without any picture file: a lower third, a title, a chapter's heading, a progress bar, a countdown, a small mark, a sticker, a hook, or text of a meme. Text is shaped in any script that a font covers, kept as it is, and made smaller where it does not fit; colours, fonts and margins come from a brand file where one is given. The written file is compared with the input: the graphic is to be seen in its time and place, and nothing else has changed.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "graphics",
	Timeout:     1800 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"ass"}, Fonts: true},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples: []GraphicsInput{
		{Input: "talk.mp4", Template: "lower-third", Name: "Ada Lovelace", Title: "Analyst", Start: "2", End: "7"},
		{Input: "clip.mp4", Template: "hook", Title: "You have been doing this wrong", Platform: "tiktok"},
		{Input: "clip.mp4", Template: "countdown", From: 3, Brand: "brand.yaml"},
	},
	Names: func(in GraphicsInput) GraphicsInput {
		in.Output = orNamed(in.Output, in.Input, "graphics", "")
		return in
	},
	Expand: func(in GraphicsInput, r tool.Reading) (GraphicsInput, error) {
		var err error
		in.EmojiChoice, err = in.expanded(r, in.Name, in.Title, in.Subtitle, in.Text, in.Top, in.Bottom)
		return in, err
	},
	Plan:      planGraphics,
	Interpret: drawnGraphics,
})

// GraphicsInput is the request.
type GraphicsInput struct {
	Input    cutroom.InPath `json:"input" doc:"The video that is drawn over."`
	Template string         `json:"template" enum:"lower-third,title,chapter,progress,countdown,bug,sticker,hook,meme" doc:"Which graphic. lower-third needs name; title, chapter, bug and hook need title; sticker needs text; meme needs top or bottom."`
	Name     string         `json:"name,omitempty" max:"300" doc:"Name of a person or thing (lower-third)."`
	Title    string         `json:"title,omitempty" max:"500" doc:"Title; of a lower third, what the person is."`
	Subtitle string         `json:"subtitle,omitempty" max:"500" doc:"Smaller text beside the title (title, chapter)."`
	Text     string         `json:"text,omitempty" max:"500" doc:"Text of a sticker."`
	Top      string         `json:"top,omitempty" max:"500" doc:"Text above (meme)."`
	Bottom   string         `json:"bottom,omitempty" max:"500" doc:"Text below (meme)."`

	Start    cutroom.Moment `json:"start,omitempty" doc:"When it comes; the beginning without it."`
	End      cutroom.Moment `json:"end,omitempty" doc:"When it goes; without it after the template's own time, or at the end of the video."`
	Duration cutroom.Micros `json:"duration,omitempty" min:"0.3" max:"3600" unit:"s" doc:"How long it stays, in place of end."`
	From     int            `json:"from,omitzero" min:"1" max:"60" default:"3" doc:"Second that a countdown begins with."`

	Position string  `json:"position,omitempty" max:"20" doc:"One of top-left, top, top-right, left, center, right, bottom-left, bottom, bottom-right, or X,Y in pixels of the frame; a negative number counts from the far edge. Each template has its own place without it."`
	Margin   int     `json:"margin,omitempty" min:"0" max:"4000" unit:"px" doc:"Least distance to the frame's edges; without it the brand's, or 4.5 % of the frame's shorter side."`
	Platform string  `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over: tiktok, reels, shorts, youtube, x, linkedin, facebook …"`
	Scale    float64 `json:"scale,omitzero" min:"0.25" max:"4" default:"1" doc:"Size of the graphic."`

	Brand      cutroom.InPath `json:"brand,omitempty" cli:"flag" probe:"-" doc:"Brand file, YAML or JSON: its fonts, colours and margin."`
	Primary    string         `json:"primary,omitempty" max:"20" rare:"true" doc:"Colour that stands out, in place of the brand's."`
	TextColor  string         `json:"text_color,omitempty" max:"20" rare:"true" doc:"Colour of letters, in place of the brand's."`
	Background string         `json:"background,omitempty" max:"20" rare:"true" doc:"Colour of plates behind letters, in place of the brand's."`
	Font       string         `json:"font,omitempty" max:"100" rare:"true" doc:"Font family, in place of the brand's; without both, one is chosen by the script of the text."`
	Lang       string         `json:"lang,omitempty" max:"35" rare:"true" doc:"Language of the text, such as en or ja, where the form of letters depends on it."`
	EmojiChoice

	AudioStream *int            `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Keep only this audio stream of the video, counted from 0. All stay without it."`
	WriteASS    cutroom.OutPath `json:"write_ass,omitempty" rare:"true" doc:"Write the script that draws it to an ASS file, too."`
	Encoding
	tool.Writing
}

func (in GraphicsInput) texts() graphic.Texts {
	return graphic.Texts{Name: in.Name, Title: in.Title, Subtitle: in.Subtitle, Text: in.Text, Top: in.Top, Bottom: in.Bottom}
}

// Validate refuses what contradicts itself.
func (in GraphicsInput) Validate() error {
	t, err := graphic.Find(in.Template)
	if err != nil {
		return err
	}
	if err := t.Check(in.texts()); err != nil {
		return err
	}
	if in.End != "" && in.Duration > 0 {
		return cutroom.Errorf(cutroom.Invalid, "end and duration are given at once").WithHint("leave one of them out")
	}
	if in.Template == "countdown" && (in.End != "" || in.Duration > 0) {
		return cutroom.Errorf(cutroom.Invalid, "a countdown lasts as many seconds as from says").WithHint("leave end and duration out")
	}
	if err := in.checkEmoji(); err != nil {
		return err
	}
	if in.Position != "" {
		if _, err := parseSpot(in.Position); err != nil {
			return err
		}
	}
	for _, c := range []struct{ name, value string }{{"primary", in.Primary}, {"text_color", in.TextColor}, {"background", in.Background}} {
		if _, err := rgb(c.name, c.value); err != nil {
			return err
		}
	}
	return nil
}

// GraphicsOutput is the answer.
type GraphicsOutput struct {
	tool.Made
	Template string       `json:"template" doc:"Which graphic."`
	Places   []PlaceOf    `json:"places" doc:"Where and when its parts stand."`
	Fonts    []string     `json:"fonts,omitempty" doc:"Families that draw the text."`
	Emoji    *EmojiReport `json:"emoji,omitempty" doc:"What became of emoji, when there are any."`
}

// PlaceOf is where and when something stands on a video.
type PlaceOf struct {
	X      int            `json:"x" unit:"px" doc:"Left edge, in pixels of the frame as shown."`
	Y      int            `json:"y" unit:"px" doc:"Top edge."`
	Width  int            `json:"width" unit:"px" doc:"Width."`
	Height int            `json:"height" unit:"px" doc:"Height."`
	Start  cutroom.Micros `json:"start" unit:"s" doc:"When it comes, in the written file."`
	End    cutroom.Micros `json:"end" unit:"s" doc:"When it is gone."`
}

// picturing is one call while it is worked on.
type picturing struct {
	*drawing
	out    GraphicsOutput
	script string // the file that draws it
}

func planGraphics(f tool.Facts, in GraphicsInput) (tool.Plan, error) {
	p := &picturing{out: GraphicsOutput{Template: in.Template}}
	var err error
	if p.drawing, err = newDrawing(f, in.Input, in.Output, in.Encoding, &p.out.Made); err != nil {
		return tool.Plan{}, err
	}
	if in.AudioStream != nil {
		if p.sound, err = (FitInput{AudioStream: in.AudioStream}).sound(p.file.Media, p.target, graph.Clip{}); err != nil {
			return tool.Plan{}, err
		}
	}
	t, err := graphic.Find(in.Template)
	if err != nil {
		return tool.Plan{}, err
	}
	from, to, err := p.graphicTime(t, in)
	if err != nil {
		return tool.Plan{}, err
	}
	d, err := p.graphic(t, in, from, to)
	if err != nil {
		return tool.Plan{}, err
	}
	p.script, p.out.Fonts, p.out.Emoji = p.files[0].Name, d.Families, p.emojis
	for _, m := range d.Marks {
		p.out.Places = append(p.out.Places, PlaceOf{X: m.X, Y: m.Y, Width: m.Width, Height: m.Height, Start: m.Start, End: m.End})
	}
	return p.plan(p)
}

// kit reads a brand file; without one it is empty.
func kit(f tool.Facts, path cutroom.InPath) (brand.Kit, error) {
	if path == "" {
		return brand.Kit{}, nil
	}
	file, err := f.Named(path)
	if err != nil {
		return brand.Kit{}, err
	}
	if file.Size > int64(len(file.Head)) {
		return brand.Kit{}, cutroom.Errorf(cutroom.Limit, "the brand file has %d bytes, more than %d", file.Size, brand.MaxText).WithHint("keep what it names in files of their own")
	}
	return brand.Parse(file.Head)
}

// graphic adds a graphic, between two times of the edit. Of the input only what is about
// that counts.
func (d *drawing) graphic(t graphic.Template, in GraphicsInput, from, to cutroom.Micros) (*graphic.Drawn, error) {
	if d.f.Fonts == nil {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this installation has no fonts").WithHint("run `cutroom doctor`")
	}
	k, err := kit(d.f, in.Brand)
	if err != nil {
		return nil, err
	}
	pictures, mode, err := in.drawn(d.f.Fonts)
	if err != nil {
		return nil, err
	}
	o := graphic.Options{
		Width: d.width, Height: d.height, Position: in.Position, Fonts: d.f.Fonts, Heading: cmp.Or(in.Font, k.Fonts.Heading), Body: cmp.Or(in.Font, k.Fonts.Body),
		Language: in.Lang, Scale: in.Scale, NoEmoji: in.Emoji == "none", Pictures: pictures, Texts: in.texts(), Count: max(1, in.From), Color: d.role(in, k), Start: from, End: to,
	}
	x0, y0, x1, y1, err := d.free(in.Platform, cmp.Or(in.Margin, k.MarginOf(d.width, d.height, (min(d.width, d.height)*45+500)/1000)))
	if err != nil {
		return nil, err
	}
	o.RoomX, o.RoomY = x1-x0, y1-y0
	o.Place = func(position string, w, h int) (int, int, error) {
		s, err := parseSpot(position)
		if err != nil {
			return 0, 0, err
		}
		b := s.box(w, h, d.width, d.height, x0, y0, x1, y1)
		if b != inside(b, d.width, d.height) {
			return 0, 0, cutroom.Errorf(cutroom.Invalid, "the graphic of %d×%d pixels does not stand wholly in the frame of %d×%d at %s", w, h, d.width, d.height, position).
				WithHint("choose another position, or lower scale")
		}
		return b.X, b.Y, nil
	}
	g, err := graphic.Draw(t, o)
	if err != nil {
		return nil, err
	}
	d.script(g.Script)
	d.emojis = d.emojis.more(in.report(g.Emoji, mode, d.f.Fonts))
	if err := d.emoji(g.Sprites); err != nil {
		return nil, err
	}
	for _, m := range g.Marks {
		d.marks = append(d.marks, mark{box: graph.Box{X: m.X, Y: m.Y, Width: m.Width, Height: m.Height}, start: m.Start, end: m.End, fadeIn: m.FadeIn, fadeOut: m.FadeOut})
	}
	return g, nil
}

// role says which colour a role has on this picture.
func (d *drawing) role(in GraphicsInput, k brand.Kit) func(string) string {
	own := map[string]string{"primary": in.Primary, "text": in.TextColor, "background": in.Background}
	return func(role string) string { return d.ink(own[role], k.Color(role)) }
}

// graphicTime is when a graphic is there, in the edit.
func (d *drawing) graphicTime(t graphic.Template, in GraphicsInput) (start, end cutroom.Micros, err error) {
	if start, end, err = d.span(in.Start, in.End); err != nil {
		return 0, 0, err
	}
	length := in.Duration
	switch {
	case t.Name == "countdown":
		length = cutroom.Micros(max(1, in.From)) * cutroom.Second
		if start+length > end {
			return 0, 0, cutroom.Errorf(cutroom.Invalid, "a countdown from %d needs %s s, and %s s are left", max(1, in.From), length, end-start).WithHint("lower from, or begin earlier")
		}
	case length == 0 && in.End == "":
		length = cutroom.MicrosOf(t.Seconds)
	}
	if length > 0 {
		end = min(end, start+length)
	}
	return start, end, nil
}

// drawnGraphics delivers the files.
func drawnGraphics(_ tool.Facts, _ GraphicsInput, r tool.Results) (GraphicsOutput, error) {
	p, ok := r.State().(*picturing)
	if !ok {
		return GraphicsOutput{}, fmt.Errorf("the graphic was not rendered")
	}
	if err := p.deliver(r); err != nil {
		return p.out, err
	}
	_, err := r.Deliver(p.script, "text/x-ssa", "write_ass")
	return p.out, err
}
