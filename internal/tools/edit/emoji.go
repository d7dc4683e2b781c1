package edit

import (
	"cmp"
	"fmt"
	"image"
	"path"
	"strings"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/font"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sprite"
	"cutroom/internal/tool"
)

// EmojiChoice says how emoji are drawn.
type EmojiChoice struct {
	Emoji  string         `json:"emoji,omitempty" enum:"auto,color,png,mono,none" default:"auto" rare:"true" doc:"auto draws emoji in colour where a font or emoji_assets has them, else in one colour; color refuses where neither is there; png takes emoji_assets alone; mono draws in one colour and refuses what no font has; none takes emoji out and says so."`
	Assets cutroom.InPath `json:"emoji_assets,omitempty" cli:"flag" open:"-" rare:"true" doc:"Folder of PNG pictures named by code points, such as 1f600.png or emoji_u1f1e9_1f1ea.png, that are taken before the font's."`
	Scale  float64        `json:"emoji_scale,omitzero" min:"0.3" max:"2" default:"1" rare:"true" doc:"Height of coloured emoji, in heights of a line."`
	Most   int            `json:"emoji_max,omitzero" min:"1" max:"1000" default:"60" rare:"true" doc:"Most different emoji in colour; more are refused."`

	// Drawn are the pictures of Assets by their cluster, once they were read.
	Drawn map[string]*image.NRGBA `json:"-"`
}

// checkEmoji refuses what contradicts itself.
func (c EmojiChoice) checkEmoji() error {
	switch {
	case c.Emoji == "png" && c.Assets == "":
		return cutroom.Errorf(cutroom.Invalid, "emoji png is given without emoji_assets").WithHint("add emoji_assets, or take emoji color")
	case c.Assets != "" && (c.Emoji == "mono" || c.Emoji == "none"):
		return cutroom.Errorf(cutroom.Invalid, "emoji_assets are pictures, and emoji %s draws none", c.Emoji).WithHint("leave one of the two out")
	}
	return nil
}

// maxEmojiFile bounds one picture of a folder.
const maxEmojiFile = 1 << 20

// expanded reads the pictures that a text needs of the folder.
func (c EmojiChoice) expanded(r tool.Reading, texts ...string) (EmojiChoice, error) {
	if c.Assets == "" {
		return c, nil
	}
	names, err := r.List(c.Assets)
	if err != nil {
		return c, err
	}
	has := map[string]string{} // by its name without suffix, in small letters
	for _, n := range names {
		if low := strings.ToLower(n); strings.HasSuffix(low, ".png") {
			has[strings.TrimSuffix(low, ".png")] = n
		}
	}
	c.Drawn = map[string]*image.NRGBA{}
	for _, cluster := range caption.Clusters(strings.Join(texts, "\n")) {
		if len(c.Drawn) > c.most() {
			break // the layout refuses it, and says so
		}
		for _, n := range font.PictureNames(cluster) {
			file, ok := has[n]
			if !ok {
				continue
			}
			data, err := r.Read(cutroom.InPath(path.Join(string(c.Assets), file)), maxEmojiFile)
			if err != nil {
				return c, err
			}
			if c.Drawn[cluster], err = font.DecodePicture(data); err != nil {
				return c, cutroom.Errorf(cutroom.Invalid, "emoji_assets: %s is not a PNG picture of at most 1024 pixels", file).WithCause(err).WithHint("replace that file, or take it out of the folder")
			}
			break
		}
	}
	return c, nil
}

func (c EmojiChoice) most() int { return cmp.Or(c.Most, 60) }

// drawn says how emoji are drawn on this machine: nil is by the fonts of letters. mode is
// what came of the choice.
func (c EmojiChoice) drawn(fonts caption.Fonts) (p *caption.Pictures, mode string, err error) {
	switch c.Emoji {
	case "none", "mono":
		return nil, c.Emoji, nil
	case "png":
		fonts = nil
	default:
		if fonts.Color() != "" {
			break
		}
		if c.Assets == "" && c.Emoji == "color" {
			return nil, "", font.NoColor()
		}
		if c.Assets == "" {
			return nil, "mono", nil
		}
		fonts = nil
	}
	return &caption.Pictures{Scale: c.Scale, Most: c.most(), Of: func(cluster string) *image.NRGBA {
		if p := c.Drawn[cluster]; p != nil || fonts == nil {
			return p
		}
		return fonts.Picture(cluster)
	}}, cmp.Or(map[string]string{"png": "png"}[c.Emoji], "color"), nil
}

// EmojiReport says what became of emoji.
type EmojiReport struct {
	Mode     string   `json:"mode" enum:"color,png,mono,none" doc:"How they were drawn: where auto was asked, what came of it."`
	Count    int      `json:"count" doc:"Emoji in the text."`
	Pictures int      `json:"pictures" doc:"Those that were drawn as pictures."`
	Left     int      `json:"left_out" doc:"Those that were not drawn."`
	Missing  []string `json:"missing,omitempty" doc:"Code points of those that were left out, or that no picture was there for, so that a font drew them in one colour; at most 50."`
	Font     string   `json:"font,omitempty" doc:"The font that has the pictures."`
	Assets   int      `json:"assets,omitempty" doc:"Pictures that came from emoji_assets."`
}

// report says what became of emoji; nil where there are none.
func (c EmojiChoice) report(e caption.Emoji, mode string, fonts caption.Fonts) *EmojiReport {
	if e.Clusters == 0 {
		return nil
	}
	r := &EmojiReport{Mode: mode, Count: e.Clusters, Pictures: e.Pictures, Left: e.Left, Missing: e.Missing, Assets: len(c.Drawn)}
	if mode == "color" {
		r.Font = fonts.Color()
	}
	return r
}

// more adds what became of the emoji of another text.
func (r *EmojiReport) more(o *EmojiReport) *EmojiReport {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	sum := *r
	sum.Count, sum.Pictures, sum.Left, sum.Missing = r.Count+o.Count, r.Pictures+o.Pictures, r.Left+o.Left, append(r.Missing[:len(r.Missing):len(r.Missing)], o.Missing...)
	if o.Mode != r.Mode {
		sum.Mode = cmp.Or(map[string]string{r.Mode: r.Mode, o.Mode: o.Mode}["color"], r.Mode)
	}
	return &sum
}

// reel is the pictures of emoji as a layer.
type reel struct {
	*sprite.Reel
	file   string
	shows  []sprite.Show
	length cutroom.Micros
}

// newReel draws shows; nil where there are none.
func newReel(file string, shows []sprite.Show, width, height int, length cutroom.Micros) (*reel, error) {
	r, err := sprite.Draw(shows, width, height)
	if err != nil || r == nil {
		return nil, err
	}
	return &reel{r, file, shows, length}, nil
}

// data is the file that the layer comes from.
func (r *reel) data() argv.File { return argv.File{Name: r.file, Data: r.PNG} }

// layer is the layer over an edit, of that source.
func (r *reel) layer(source int) graph.Layer {
	return graph.Layer{Source: source, Box: graph.Box{X: r.X, Y: r.Y, Width: r.Width, Height: r.Height}, Hold: graph.Freeze}
}

func (r *reel) source() graph.Source { return graph.Reel(r.file, r.Width, r.Height, r.length) }

// emoji adds pictures of emoji as a layer.
func (d *drawing) emoji(shows []sprite.Show) error {
	r, err := newReel(fmt.Sprintf("emoji%d.png", len(d.files)), shows, d.width, d.height, d.length())
	if err != nil || r == nil {
		return err
	}
	d.reel(r)
	return nil
}

// reel adds an animation as a layer.
func (d *drawing) reel(r *reel) {
	d.files = append(d.files, r.data())
	d.sources = append(d.sources, r.source())
	d.layers = append(d.layers, r.layer(d.base+len(d.sources)-1))
	d.shows = append(d.shows, r.shows...)
}
