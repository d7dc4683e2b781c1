package project

import (
	"bytes"
	"embed"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
	"cutroom/internal/tool"
)

//go:embed template/*.yaml
var shipped embed.FS

// Template is a project with places that are filled in.
type Template struct {
	Name    string
	Aliases []string
	Title   string
}

// Templates lists the templates.
func Templates() []Template {
	return []Template{
		{"tiktok", nil, "TikTok: 1080×1920, cropped to fill, captions in the safe area"},
		{"reels", []string{"instagram", "ig"}, "Instagram Reels: 1080×1920, cropped to fill, captions in the safe area"},
		{"shorts", []string{"youtube-shorts", "yt-shorts"}, "YouTube Shorts: 1080×1920, cropped to fill, captions in the safe area"},
		{"youtube", []string{"yt"}, "YouTube: 1920×1080, chapters"},
		{"x", []string{"twitter"}, "X: 1280×720, at most 140 s"},
		{"linkedin", nil, "LinkedIn: 1080×1080, cropped to fill"},
		{"facebook", []string{"fb"}, "Facebook: 1920×1080"},
		{"podcast", nil, "Podcast: sound alone, -16 LUFS, a chain for speech, pauses shortened"},
		{"audiogram", nil, "Audiogram: 1080×1080, what a recording sounds like with its title and captions"},
	}
}

// Placeholders are what stands in a template for what a call gives, by its name there.
func Placeholders() []string {
	return []string{"INPUT", "CUES", "SRT", "CHAPTERS", "MUSIC", "BRAND", "LOGO", "TITLE", "IMAGE"}
}

// Fill returns a template with its places filled in. A section one of whose
// places has no value is left out.
func Fill(name string, values map[string]string) (Project, error) {
	root, err := find(name)
	if err != nil {
		return Project{}, err
	}
	filledMap(root, values, true)
	if values["INPUT"] == "" {
		return Project{}, cutroom.Errorf(cutroom.Invalid, "the template %s needs a recording", name).WithHint("name it as the project")
	}
	return decoded(root)
}

// decoded is a tree as a project.
func decoded(n *yaml.Node) (Project, error) {
	var b bytes.Buffer
	if err := write(&b, n); err != nil {
		return Project{}, err
	}
	return tool.DecodeAs[Project]("the project", b.Bytes())
}

// find parses a template.
func find(name string) (*yaml.Node, error) {
	list := Templates()
	i := slices.IndexFunc(list, func(t Template) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
	if i < 0 {
		names := make([]string, len(list))
		for k, t := range list {
			names[k] = t.Name
		}
		return nil, cutroom.Errorf(cutroom.Invalid, "there is no template %q", name).WithHint("choose one of %s", strings.Join(names, ", "))
	}
	text, err := shipped.ReadFile("template/" + list[i].Name + ".yaml")
	if err != nil {
		return nil, err
	}
	return tree(text)
}

// filled fills in n; false says that it has a place without a value.
func filled(n *yaml.Node, values map[string]string) (*yaml.Node, bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		name, ok := strings.CutPrefix(n.Value, "$")
		if !ok || !slices.Contains(Placeholders(), name) {
			return n, true
		}
		v := values[name]
		n.SetString(v)
		return n, v != ""
	case yaml.MappingNode:
		return n, filledMap(n, values, false)
	}
	var kept []*yaml.Node
	for _, c := range n.Content {
		if v, ok := filled(c, values); ok {
			kept = append(kept, v)
		}
	}
	n.Content = kept
	return n, len(kept) > 0
}

// filledMap fills in a mapping. Of srt and text one is enough; any other place without a
// value takes the mapping with it, unless each member is for itself.
func filledMap(n *yaml.Node, values map[string]string, each bool) bool {
	var kept []*yaml.Node
	either, given := false, false
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		v, ok := value, false
		if key.Value == "audiogram" && value.Kind == yaml.MappingNode {
			ok = filledMap(value, values, true)
		} else {
			v, ok = filled(value, values)
		}
		if key.Value == "srt" || key.Value == "text" {
			either, given = true, given || ok
		} else if !ok && value.Kind == yaml.ScalarNode && !each {
			return false
		}
		if ok {
			kept = append(kept, key, v)
		}
	}
	n.Content = kept
	return len(kept) > 0 && (!either || given)
}

// Read reads a project file, YAML or JSON. Where it names a template, the template's
// sections hold that it does not have.
func Read(text []byte) (Project, error) {
	own, err := tree(text)
	if err != nil {
		return Project{}, err
	}
	p, err := decoded(own)
	if err != nil || p.Template == "" {
		return p, err
	}
	root, err := find(p.Template)
	if err != nil {
		return Project{}, err
	}
	filledMap(root, nil, true)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !slices.Contains(keys(own), root.Content[i].Value) {
			own.Content = append(own.Content, root.Content[i], root.Content[i+1])
		}
	}
	return decoded(own)
}

// Schema is the JSON Schema of project files.
func Schema() []byte {
	s := tool.SchemaOf[Project]()
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "A cutroom project"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // a schema of our own types encodes
	}
	return append(text, '\n')
}

// keys are the keys of a mapping.
func keys(n *yaml.Node) (list []string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, n.Content[i].Value)
	}
	return list
}
