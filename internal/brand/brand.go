// Package brand reads a brand kit: the fonts, colours, logo and margins of whoever
// publishes, in one file that captions, graphics and overlays share.
//
// It promises that a file is read strictly, that what it leaves open is filled in the same
// way everywhere, and that a colour is one. It is pure. It must never know a tool's
// body, nor open what the file names.
package brand

import (
	"path"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/project"
	"cutroom/internal/tool"
)

// MaxText is how long a brand file may be, in bytes: what is known of an input before
// anything is planned.
const MaxText = tool.HeadLen

// Kit is a brand kit as its file says it.
type Kit struct {
	Name    string  `json:"name,omitempty" max:"200" doc:"Whose it is."`
	Fonts   Fonts   `json:"fonts,omitzero" doc:"Font families."`
	Colors  Colors  `json:"colors,omitzero" doc:"Colours: names, or #RRGGBB."`
	Logo    Logo    `json:"logo,omitzero" doc:"The logo."`
	Margin  float64 `json:"margin_percent,omitempty" min:"0" max:"30" doc:"Least distance to the frame's edges, as a share of its shorter side."`
	Caption Caption `json:"captions,omitzero" doc:"How captions look."`
}

// Fonts are font families; without one, a font is chosen by the script of the text.
type Fonts struct {
	Heading string `json:"heading,omitempty" max:"100" doc:"Of titles and names."`
	Body    string `json:"body,omitempty" max:"100" doc:"Of everything else."`
}

// Colors are the colours of a brand by what they are for.
type Colors struct {
	Primary    string `json:"primary,omitempty" max:"20" doc:"What stands out: bars, strips, stickers, lit words."`
	Secondary  string `json:"secondary,omitempty" max:"20" doc:"What stands beside it."`
	Text       string `json:"text,omitempty" max:"20" doc:"Letters."`
	Background string `json:"background,omitempty" max:"20" doc:"Plates behind letters."`
	Outline    string `json:"outline,omitempty" max:"20" doc:"Rims of letters without a plate."`
}

// Logo is the logo and how it is shown.
type Logo struct {
	File     string  `json:"file,omitempty" max:"1000" doc:"Its file, beside the brand file or beneath its folder."`
	Position string  `json:"position,omitempty" max:"20" doc:"Where it stands; top-right without it."`
	Width    float64 `json:"width_percent,omitempty" min:"1" max:"100" doc:"Its width as a share of the frame's; 12 without it."`
	Opacity  float64 `json:"opacity,omitempty" min:"0.02" max:"1" doc:"How much of it covers what lies beneath."`
}

// Caption is how captions look; lengths are in units of which the frame's shorter side has
// 288.
type Caption struct {
	Size     float64 `json:"size,omitempty" min:"4" max:"144" doc:"Height of a line."`
	Outline  float64 `json:"outline,omitempty" min:"0" max:"12" doc:"Width of the outline."`
	Bold     bool    `json:"bold,omitempty" doc:"Bold letters."`
	Box      bool    `json:"box,omitempty" doc:"A plate behind the text in place of the outline."`
	Position string  `json:"position,omitempty" enum:"bottom,bottom-left,bottom-right,center,left,right,top,top-left,top-right" doc:"Where captions stand."`
}

// Default is what holds where nobody says anything.
func Default() Kit {
	return Kit{Colors: Colors{Primary: "#FFB000", Secondary: "#2A6FDB", Text: "#FFFFFF", Background: "#101418", Outline: "#000000"}}
}

// Parse reads a brand file, YAML or JSON. An unknown key is refused and the nearest
// known one named.
func Parse(text []byte) (Kit, error) {
	if len(text) > MaxText {
		return Kit{}, cutroom.Errorf(cutroom.Limit, "the brand file has %d bytes, more than %d", len(text), MaxText).WithHint("keep what it names in files of their own")
	}
	raw, err := project.JSON(text)
	if err != nil {
		return Kit{}, named(err)
	}
	k, err := tool.DecodeAs[Kit]("the brand file", raw)
	if err != nil {
		return Kit{}, err
	}
	if err := k.check(); err != nil {
		return Kit{}, err
	}
	return k, nil
}

// named says of a fault which file it is in.
func named(err error) error {
	e := cutroom.AsError(err)
	return cutroom.Errorf(e.Code, "the brand file: %s", e.Msg).WithHint("%s", e.Hint)
}

// check refuses what is no colour, and a logo that lies elsewhere.
func (k *Kit) check() error {
	for _, c := range []struct {
		name  string
		value *string
	}{
		{"primary", &k.Colors.Primary}, {"secondary", &k.Colors.Secondary}, {"text", &k.Colors.Text}, {"background", &k.Colors.Background}, {"outline", &k.Colors.Outline},
	} {
		if *c.value == "" {
			continue
		}
		text, err := ffmpeg.ParseColor(*c.value)
		if err != nil || !strings.HasSuffix(text, "ff") {
			return cutroom.Errorf(cutroom.Invalid, "the brand file: colors.%s: %q is not an opaque colour", c.name, *c.value).WithHint("write a name, or #RRGGBB in quotes")
		}
		*c.value = "#" + strings.ToUpper(text[2:8])
	}
	if f := k.Logo.File; f != "" {
		if clean := path.Clean(f); path.IsAbs(f) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(f, "\x00\\") {
			return cutroom.Errorf(cutroom.Invalid, "the brand file: logo.file has to lie beside it or beneath its folder").WithHint("copy the logo there, and name it relative to the brand file")
		}
	}
	return nil
}

// LogoBeside is the logo's file, where the brand file is the one that a call named.
func (k *Kit) LogoBeside(file cutroom.InPath) cutroom.InPath {
	if k.Logo.File == "" {
		return ""
	}
	return cutroom.InPath(path.Join(path.Dir(string(file)), k.Logo.File))
}

// Color is the colour of a role (primary, secondary, text, background, outline) as
// #RRGGBB, the default's where the kit has none.
func (k *Kit) Color(role string) string {
	own, otherwise := k.Colors.of(role), Default().Colors
	if own != "" {
		return own
	}
	return otherwise.of(role)
}

func (c Colors) of(role string) string {
	switch role {
	case "primary":
		return c.Primary
	case "secondary":
		return c.Secondary
	case "background":
		return c.Background
	case "outline":
		return c.Outline
	}
	return c.Text
}

// MarginOf is the margin in pixels of a frame; otherwise is that of a kit without one.
func (k *Kit) MarginOf(width, height, otherwise int) int {
	if k.Margin <= 0 {
		return otherwise
	}
	return int(k.Margin*float64(min(width, height))/100 + 0.5)
}
