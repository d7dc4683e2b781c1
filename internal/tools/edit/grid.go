package edit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Grid shows several recordings side by side.
var Grid = tool.Add(Family, tool.Spec[GridInput, GridOutput]{
	Name:        "edit.grid",
	Summary:     "Show several videos side by side, in a grid",
	Description: "Compare: two to sixteen videos or pictures play at once in cells of one size, with labels if wanted, and the sound of one of them. Rows and columns follow from their number. The written file is compared with each of its sources, cell by cell.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "grid",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"overlay"}, Fonts: true, Optional: []tool.Optional{
		{Filter: "ass", When: "label"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []GridInput{
		{Inputs: []cutroom.InPath{"before.mp4", "after.mp4"}, Label: []string{"before", "after"}, Writing: tool.Writing{Output: "pair.mp4"}},
		{Inputs: []cutroom.InPath{"a.mp4", "b.mp4", "c.mp4", "d.mp4"}, Cols: 2, Gap: 8, Background: "white", Writing: tool.Writing{Output: "four.mp4"}},
	},
	Names: func(in GridInput) GridInput {
		if len(in.Inputs) > 0 {
			in.Output = orNamed(in.Output, in.Inputs[0], "grid", "")
		}
		return in
	},
	Plan:      planGrid,
	Interpret: answerGrid,
})

// GridInput is the request.
type GridInput struct {
	Inputs     []cutroom.InPath `json:"inputs" items:"2..16" doc:"The videos or pictures, row by row."`
	Cols       int              `json:"cols,omitempty" min:"1" max:"16" doc:"Columns; without cols and rows as near to a square as can be."`
	Rows       int              `json:"rows,omitempty" min:"1" max:"16" doc:"Rows."`
	CellWidth  int              `json:"cell_width,omitempty" min:"16" max:"8192" unit:"px" doc:"Width of a cell; without it the first input's, or what makes the frame 1920 wide."`
	CellHeight int              `json:"cell_height,omitempty" min:"16" max:"8192" unit:"px" doc:"Height of a cell; without it in the first input's shape."`
	Gap        int              `json:"gap,omitempty" min:"0" max:"500" unit:"px" doc:"Space between cells."`
	Background string           `json:"background,omitempty" max:"20" doc:"Colour behind the cells; black without it."`
	Fit        string           `json:"fit,omitempty" enum:"pad,crop" default:"pad" doc:"How pictures of another shape fill a cell: bars beside them, or what overhangs is cut off."`
	Length     string           `json:"length,omitempty" enum:"longest,shortest" default:"longest" doc:"Whose length the grid has."`
	Ended      string           `json:"ended,omitempty" enum:"freeze,vanish,loop" default:"freeze" doc:"What a cell shows once its video has ended: its last frame, nothing, or it again."`
	FPS        float64          `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" rare:"true" doc:"Frame rate; the first video's without it."`
	AudioFrom  *int             `json:"audio_from,omitempty" min:"0" max:"15" doc:"Whose sound is heard, counted from 0; without it the first one that has any."`
	NoAudio    bool             `json:"no_audio,omitempty" doc:"Without sound."`
	Label      []string         `json:"label,omitempty" items:"..16" doc:"Texts at the cells' lower left corners, in the order of the inputs."`
	Style      TextStyle        `json:"style,omitzero" rare:"true" doc:"How labels look."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in GridInput) Validate() error {
	switch {
	case in.Cols > 0 && in.Rows > 0 && in.Cols*in.Rows < len(in.Inputs):
		return cutroom.Errorf(cutroom.Invalid, "%d columns and %d rows do not hold %d inputs", in.Cols, in.Rows, len(in.Inputs)).WithHint("leave rows out")
	case in.AudioFrom != nil && in.NoAudio:
		return cutroom.Errorf(cutroom.Invalid, "audio_from and no_audio exclude each other").WithHint("leave one of them out")
	case in.AudioFrom != nil && *in.AudioFrom >= len(in.Inputs):
		return cutroom.Errorf(cutroom.Invalid, "audio_from is %d, and there are %d inputs, counted from 0", *in.AudioFrom, len(in.Inputs)).WithHint("lower audio_from")
	case len(in.Label) > len(in.Inputs):
		return cutroom.Errorf(cutroom.Invalid, "there are more labels than inputs").WithHint("give one for each input")
	}
	if _, err := rate(in.FPS); err != nil {
		return err
	}
	if _, err := color("background", in.Background); err != nil {
		return err
	}
	return in.Style.check()
}

// GridOutput is the answer.
type GridOutput struct {
	tool.Made
	Width  int             `json:"width" unit:"px" doc:"Width of the frame."`
	Height int             `json:"height" unit:"px" doc:"Height of the frame."`
	FPS    ffmpeg.Rational `json:"fps,omitzero" doc:"Exact frame rate, as num/den."`
	Cells  []PlaceOf       `json:"cells" doc:"Where and how long each input is shown, in their order."`
	Audio  *int            `json:"audio_from,omitempty" doc:"Whose sound is heard, counted from 0."`
}

// gridding is one call while it is worked on.
type gridding struct {
	*drawing
	in    GridInput
	out   GridOutput
	cells []tool.Input
	rate  ffmpeg.Rational
	long  cutroom.Micros
	cellW int
	cellH int
	cols  int
	rows  int
}

func planGrid(f tool.Facts, in GridInput) (tool.Plan, error) {
	g := &gridding{in: in}
	if err := g.open(f); err != nil {
		return tool.Plan{}, err
	}
	if err := g.measure(); err != nil {
		return tool.Plan{}, err
	}
	back, err := color("background", in.Background)
	if err != nil {
		return tool.Plan{}, err
	}
	if back == "" {
		back = "black"
	}
	blank := graph.Blank(g.width, g.height, g.rate)
	g.video = blank.Media.FirstVideo()
	g.whole = &graph.Graph{
		Sources: []graph.Source{blank}, Clips: []graph.Clip{{Fill: &graph.Fill{Colors: []string{back}}, Hold: g.long}},
		Picture: &graph.Picture{Rate: g.rate}, Keep: graph.Keep{Metadata: graph.NoTags},
	}
	g.edit.Seconds = g.long
	g.lay()
	if err := g.labels(); err != nil {
		return tool.Plan{}, err
	}
	if err := g.hear(); err != nil {
		return tool.Plan{}, err
	}
	g.out.Width, g.out.Height, g.out.FPS = g.width, g.height, g.rate
	return g.plan(g)
}

// open finds the inputs and names all that cannot be shown at once.
func (g *gridding) open(f tool.Facts) error {
	var bad []string
	for _, path := range g.in.Inputs {
		file, err := f.Named(path)
		if err != nil || file.Media == nil {
			return fmt.Errorf("an input was not probed: %w", err)
		}
		if _, err := file.Media.VideoStream(); err != nil {
			bad = append(bad, string(path))
		}
		g.cells = append(g.cells, file)
	}
	if len(bad) > 0 {
		return cutroom.Errorf(cutroom.Invalid, "without a picture: %v", bad).WithHint("give videos or pictures")
	}
	t, err := g.in.target(g.in.Output)
	g.drawing = &drawing{f: f, made: &g.out.Made, target: t, base: 1}
	return err
}

// measure decides the frame, its rate and its length.
func (g *gridding) measure() error {
	n := len(g.cells)
	g.cols, g.rows = g.in.Cols, g.in.Rows
	switch {
	case g.cols == 0 && g.rows == 0:
		g.cols = int(math.Ceil(math.Sqrt(float64(n))))
	case g.cols == 0:
		g.cols = (n + g.rows - 1) / g.rows
	}
	if g.rows == 0 {
		g.rows = (n + g.cols - 1) / g.cols
	}
	v := g.cells[0].Media.FirstVideo().Video
	shape := ffmpeg.Rational{Num: int64(v.DisplayWidth), Den: int64(v.DisplayHeight)}
	w, h := g.in.CellWidth&^1, g.in.CellHeight&^1
	switch {
	case w == 0 && h == 0:
		w = min(v.DisplayWidth, 1920/g.cols) &^ 1
		h = graph.Across(w, shape)
	case w == 0:
		w = graph.Across(h, shape.Inverse())
	case h == 0:
		h = graph.Across(w, shape)
	}
	g.cellW, g.cellH = max(16, w), max(16, h)
	gap := g.in.Gap &^ 1
	g.width, g.height = g.cols*g.cellW+(g.cols-1)*gap, g.rows*g.cellH+(g.rows-1)*gap
	if g.width > 8192 || g.height > 8192 {
		return cutroom.Errorf(cutroom.Invalid, "a grid of %d×%d pixels is larger than 8192", g.width, g.height).WithHint("lower cell_width, or use fewer inputs")
	}
	var err error
	if g.rate, err = rate(g.in.FPS); err != nil {
		return err
	}
	for _, c := range g.cells {
		l, v := lengthOf(c), c.Media.FirstVideo().Video
		if v.StillImage {
			continue
		}
		if !g.rate.Known() {
			g.rate = v.FrameRate
		}
		if l > 0 && (g.long == 0 || g.in.Length == "shortest" && l < g.long || g.in.Length != "shortest" && l > g.long) {
			g.long = l
		}
	}
	if g.long == 0 {
		return cutroom.Errorf(cutroom.Invalid, "all inputs are still pictures: nothing says how long the grid is").WithHint("give one video at least")
	}
	if !g.rate.Known() {
		g.rate = ffmpeg.Rational{Num: 25, Den: 1}
	}
	return nil
}

// lay adds the cells.
func (g *gridding) lay() {
	gap := g.in.Gap &^ 1
	for i, c := range g.cells {
		v := c.Media.FirstVideo().Video
		box := graph.Box{X: i % g.cols * (g.cellW + gap), Y: i / g.cols * (g.cellH + gap), Width: g.cellW, Height: g.cellH}
		l := graph.Layer{Source: g.source(c), Box: box, Fit: graph.Cover, Hold: hold(g.in.Ended)}
		if g.in.Fit != "crop" {
			l.Box, l.Fit = graph.Contained(v.DisplayWidth, v.DisplayHeight, box), graph.Stretch
		}
		g.layers = append(g.layers, l)
		until := l.Until(&g.sources[i], g.long)
		g.out.Cells = append(g.out.Cells, PlaceOf{X: l.Box.X, Y: l.Box.Y, Width: l.Box.Width, Height: l.Box.Height, End: until})
		end := g.long
		if own := lengthOf(c); !v.StillImage && own > 0 {
			end = min(end, own)
		}
		g.matches = append(g.matches, match{file: c, name: fmt.Sprintf("cell %d", i), box: l.Box, fit: l.Fit, end: end, frame: g.onGrid})
	}
}

// onGrid is when the frame of the grid begins that is on screen at a time.
func (g *gridding) onGrid(at cutroom.Micros) cutroom.Micros {
	n := int64(at+1) * g.rate.Num / (g.rate.Den * 1_000_000)
	return cutroom.Micros(n * g.rate.Den * 1_000_000 / g.rate.Num)
}

// labels adds the texts.
func (g *gridding) labels() error {
	for i, text := range g.in.Label {
		if text == "" {
			continue
		}
		c := g.out.Cells[i]
		pad := max(4, g.cellH/40)
		s := g.in.Style
		s.Color, s.Outlined, s.BoxColor = cmp.Or(s.Color, "white"), cmp.Or(s.Outlined, "black"), cmp.Or(s.BoxColor, "black")
		if s.Size == 42 || s.Size == 0 {
			s.Size = max(12, g.cellH/12)
		}
		lay, err := g.letter(lettering{
			text: text, style: s, position: caption.BottomLeft, end: g.long,
			area: graph.Box{X: c.X + pad, Y: c.Y + pad, Width: c.Width - 2*pad, Height: c.Height - 2*pad},
		})
		if err != nil {
			return err
		}
		g.script(lay.ASS())
		at := lay.Shown()[0]
		g.matches[i].mask = graph.Box{X: at.X - c.X, Y: at.Y - c.Y, Width: at.Width, Height: at.Height}
	}
	return nil
}

// hear plans the sound: that of one cell, as long as the grid.
func (g *gridding) hear() error {
	has := func(i int) bool { return len(g.cells[i].Media.AudioStreams()) > 0 }
	n := slices.IndexFunc(g.cells, func(c tool.Input) bool { return len(c.Media.AudioStreams()) > 0 })
	switch {
	case g.in.NoAudio || !graph.HoldsSound(g.target.Container):
		return nil
	case g.in.AudioFrom != nil && !has(*g.in.AudioFrom):
		return cutroom.Errorf(cutroom.Invalid, "%s has no sound", g.cells[*g.in.AudioFrom].Name).WithHint("choose another input, or leave audio_from out")
	case g.in.AudioFrom != nil:
		n = *g.in.AudioFrom
	}
	if n < 0 {
		return nil
	}
	g.out.Audio = &n
	g.sound = &graph.Sound{Work: &graph.Work{Replace: &graph.Bed{Source: n + 1, Loop: g.in.Ended == "loop"}}}
	return nil
}

// answerGrid delivers the file.
func answerGrid(_ tool.Facts, _ GridInput, r tool.Results) (GridOutput, error) {
	g, ok := r.State().(*gridding)
	if !ok {
		return GridOutput{}, fmt.Errorf("the grid was not rendered")
	}
	return g.out, g.deliver(r)
}
