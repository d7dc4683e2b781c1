// Package graphic draws motion graphics: bands with names, titles, bars, countdowns. What
// they look like is data; what is drawn is an ASS script on the frame's own pixels.
//
// It promises never to change a text, to say where and when something of it is to be
// seen, and that a text which does not fit is refused. It is pure: fonts come through an
// interface. It must never know a tool or a program.
package graphic

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"cutroom"
)

// Template is what one sort of graphic looks like.
type Template struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`    // what it is, in words
	Needs    []string `json:"needs"`    // texts that it has to be given
	OneOf    []string `json:"one_of"`   // texts of which it needs one
	Takes    []string `json:"takes"`    // texts that it shows
	Position string   `json:"position"` // where it stands, unless the caller says so
	Seconds  float64  `json:"seconds"`  // how long; 0: to the end
	Groups   []Group  `json:"groups"`
}

// Group is a stack of texts with what lies behind it. Lengths are in units of which the
// frame's shorter side has 288.
type Group struct {
	For      string  `json:"for"`      // the text without which it is not drawn
	Position string  `json:"position"` // where it always stands
	Width    float64 `json:"width"`    // of the free part of the frame, at most: 0 to 1
	Align    string  `json:"align"`    // start (where the text begins) or center
	Opacity  float64 `json:"opacity"`  // of all of it; 0 is 1
	Turn     float64 `json:"turn"`     // degrees, counter-clockwise
	Panel    *Panel  `json:"panel"`
	Strip    *Strip  `json:"strip"`
	Items    []Item  `json:"items"`
	Bar      *Bar    `json:"bar"`
	In       Motion  `json:"in"`
	Out      Motion  `json:"out"`
}

// Panel is a plate behind a group.
type Panel struct {
	Color   string  `json:"color"`
	Opacity float64 `json:"opacity"`
	PadX    float64 `json:"pad_x"`
	PadY    float64 `json:"pad_y"`
	Radius  float64 `json:"radius"`
}

// Strip is a line of colour along the side where the text begins.
type Strip struct {
	Color string  `json:"color"`
	Width float64 `json:"width"`
}

// Item is one text of a group, a rule of a colour, or a number that counts.
type Item struct {
	Text    string  `json:"text"` // which of the caller's texts
	Rule    bool    `json:"rule"`
	Count   bool    `json:"count"`
	Font    string  `json:"font"` // heading or body
	Size    float64 `json:"size"`
	Bold    bool    `json:"bold"`
	Color   string  `json:"color"`
	Outline float64 `json:"outline"`
	Lines   int     `json:"lines"` // at most
	Gap     float64 `json:"gap"`   // above it
}

// Bar fills from the left to the right over the time of its graphic.
type Bar struct {
	Color   string  `json:"color"`
	Behind  string  `json:"behind"`
	Opacity float64 `json:"opacity"` // of what lies behind
	Height  float64 `json:"height"`
	Gap     float64 `json:"gap"`
}

// Motion is how a group comes or goes.
type Motion struct {
	Kind    string  `json:"kind"` // "", fade, rise, wipe, pop
	Seconds float64 `json:"seconds"`
}

//go:embed templates.json
var templatesJSON []byte

// shipped are the templates that are part of the program.
var shipped = sync.OnceValues(func() ([]Template, error) { return Parse(templatesJSON) })

// Templates returns the templates that are part of the program.
func Templates() []Template {
	list, err := shipped()
	if err != nil {
		panic(err) // a test reads them
	}
	return list
}

// Find returns a template by its name.
func Find(name string) (Template, error) {
	var names []string
	for _, t := range Templates() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Template{}, cutroom.Errorf(cutroom.Invalid, "there is no template %q", name).WithHint("use %s", strings.Join(names, ", "))
}

// Parse reads a document of templates: an unknown key, an unknown word and a number out
// of range are refused.
func Parse(text []byte) ([]Template, error) {
	var d struct {
		Comment   string     `json:"comment"`
		Templates []Template `json:"templates"`
	}
	if err := json.Unmarshal(text, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "templates: %v", err).WithHint("write them as the shipped ones are written")
	}
	for i := range d.Templates {
		if why := d.Templates[i].fault(); why != "" {
			return nil, cutroom.Errorf(cutroom.Invalid, "template %q: %s", d.Templates[i].Name, why).WithHint("correct that entry")
		}
	}
	return d.Templates, nil
}

// words that a template may use.
var (
	roles     = []string{"primary", "secondary", "text", "background", "outline"}
	fields    = []string{"name", "title", "subtitle", "text", "top", "bottom"}
	motions   = []string{"", "fade", "rise", "wipe", "pop"}
	positions = []string{"", "top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"}
)

// fault says what is wrong with a template, "" when nothing is.
func (t *Template) fault() string {
	switch {
	case t.Name == "" || len(t.Groups) == 0:
		return "it needs a name and groups"
	case !slices.Contains(positions, t.Position):
		return "no place is called " + t.Position
	case t.Seconds < 0 || t.Seconds > 3600:
		return "seconds lie between 0 and 3600"
	}
	for _, f := range slices.Concat(t.Needs, t.OneOf, t.Takes) {
		if !slices.Contains(fields, f) {
			return "no text is called " + f
		}
	}
	for i := range t.Groups {
		if why := t.Groups[i].fault(t.Takes); why != "" {
			return why
		}
	}
	return ""
}

// fault says what is wrong with a group.
func (g *Group) fault(takes []string) string {
	colors := []string{}
	if g.Panel != nil {
		colors = append(colors, g.Panel.Color)
	}
	if g.Strip != nil {
		colors = append(colors, g.Strip.Color)
	}
	if g.Bar != nil {
		colors = append(colors, g.Bar.Color, g.Bar.Behind)
	}
	for _, it := range g.Items {
		colors = append(colors, it.Color)
		if kinds := number(it.Rule) + number(it.Count) + number(it.Text != ""); kinds != 1 {
			return "an item is one of text, rule and count"
		}
		if it.Text != "" && !slices.Contains(takes, it.Text) {
			return "it shows " + it.Text + " and does not take it"
		}
		if it.Size <= 0 || it.Size > 288 || it.Outline < 0 || it.Gap < 0 {
			return "a size lies between 0 and 288"
		}
	}
	for _, c := range colors {
		if !slices.Contains(roles, c) {
			return "no colour is called " + c
		}
	}
	switch {
	case !slices.Contains(positions, g.Position):
		return "no place is called " + g.Position
	case !slices.Contains(motions, g.In.Kind) || !slices.Contains([]string{"", "fade"}, g.Out.Kind):
		return "it comes by fade, rise, wipe or pop, and goes by fade"
	case g.Align != "start" && g.Align != "center":
		return "align is start or center"
	case g.Width <= 0 || g.Width > 1 || g.Opacity < 0 || g.Opacity > 1:
		return "width and opacity lie between 0 and 1"
	case g.In.Kind == "pop" && len(g.Items) != 1:
		return "what pops up has one item"
	}
	return ""
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Texts are what a graphic says.
type Texts struct{ Name, Title, Subtitle, Text, Top, Bottom string }

// of is the text of a field.
func (t Texts) of(field string) string {
	switch field {
	case "name":
		return t.Name
	case "title":
		return t.Title
	case "subtitle":
		return t.Subtitle
	case "text":
		return t.Text
	case "top":
		return t.Top
	case "bottom":
		return t.Bottom
	}
	return ""
}

// Check refuses texts that a template lacks, or that it does not show.
func (t *Template) Check(texts Texts) error {
	for _, f := range t.Needs {
		if strings.TrimSpace(texts.of(f)) == "" {
			return cutroom.Errorf(cutroom.Invalid, "%s needs %s", t.Name, f).WithHint("give %s", f)
		}
	}
	if len(t.OneOf) > 0 && !slices.ContainsFunc(t.OneOf, func(f string) bool { return strings.TrimSpace(texts.of(f)) != "" }) {
		return cutroom.Errorf(cutroom.Invalid, "%s needs %s", t.Name, strings.Join(t.OneOf, " or ")).WithHint("give one of them")
	}
	for _, f := range fields {
		if texts.of(f) != "" && !slices.Contains(t.Takes, f) {
			takes := strings.Join(t.Takes, ", ")
			return cutroom.Errorf(cutroom.Invalid, "%s shows no %s", t.Name, f).WithHint("leave %s out; it takes %s", f, takes)
		}
	}
	return nil
}
