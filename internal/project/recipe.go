package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
	"cutroom/internal/tool"
)

// Recipe is what a batch does with each file: steps, one after another, or a whole
// project.
type Recipe struct {
	Match   string // which files of a folder, as a pattern; "" for recordings
	Name    string // of the result: {stem} is the file's name without its suffix; its own suffix is the container
	Steps   []Step
	Project *Project // in place of Steps: the clip whose src is $INPUT is the file
}

// Step is one call of a tool.
type Step struct {
	Tool string
	With map[string]json.RawMessage // its input but for input and output
}

const maxSteps = 20

// input is what stands in a project for the file of a batch.
const input = "$INPUT"

// ReadRecipe reads a recipe, YAML or JSON: `steps`, each with `tool` and `with`, or a
// project in which a clip's src is $INPUT.
func ReadRecipe(text []byte) (Recipe, error) {
	root, err := tree(text)
	if err != nil {
		return Recipe{}, err
	}
	r := Recipe{}
	own := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if (key.Value == "match" || key.Value == "name") && (value.Kind != yaml.ScalarNode || value.ShortTag() == "!!null") {
			return r, malformed(key.Value+" has to be plain text", value.Line)
		}
		switch key.Value {
		case "match":
			r.Match = value.Value
		case "name":
			r.Name = value.Value
		case "steps":
			if r.Steps, err = steps(value); err != nil {
				return r, err
			}
		default:
			own.Content = append(own.Content, key, value)
		}
	}
	switch {
	case len(own.Content) > 0 && r.Steps != nil:
		known := []string{"match", "name", "steps"}
		return r, unknown("the recipe", own.Content[0].Value, known)
	case len(own.Content) > 0:
		var b bytes.Buffer
		if err := write(&b, own); err != nil {
			return r, err
		}
		p, err := Read(b.Bytes())
		if err != nil {
			return r, err
		}
		if !slices.ContainsFunc(p.Clips, func(c Clip) bool { return c.Src == input }) {
			return r, cutroom.Errorf(cutroom.Invalid, "the recipe's project has no clip whose src is %s", input).WithHint("write src: %s where each file belongs, or give steps", input)
		}
		r.Project = &p
	case len(r.Steps) == 0:
		return r, cutroom.Errorf(cutroom.Invalid, "the recipe has no steps").WithHint("write steps, each with tool and with, or a project with a clip whose src is %s", input)
	}
	return r, r.check()
}

func (r Recipe) check() error {
	if r.Match != "" {
		if _, err := path.Match(r.Match, "x"); err != nil {
			return cutroom.Errorf(cutroom.Invalid, "match %q is no pattern", r.Match).WithHint("write it as *.mp4")
		}
	}
	if strings.ContainsAny(r.Name, `/\`) || strings.ContainsRune(r.Name, 0) || r.Name != "" && !strings.Contains(r.Name, "{stem}") {
		return cutroom.Errorf(cutroom.Invalid, "name %q is no name for many files", r.Name).WithHint("write it as {stem}_social.mp4, without a folder")
	}
	return nil
}

// steps reads the list of steps.
func steps(n *yaml.Node) ([]Step, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > maxSteps {
		return nil, malformed(fmt.Sprintf("steps is a list of 1 to %d steps", maxSteps), n.Line)
	}
	var list []Step
	for k, s := range n.Content {
		if s.Kind != yaml.MappingNode {
			return nil, malformed("a step is a mapping with tool and with", s.Line)
		}
		st := Step{With: map[string]json.RawMessage{}}
		for i := 0; i+1 < len(s.Content); i += 2 {
			switch key, value := s.Content[i].Value, s.Content[i+1]; key {
			case "tool":
				st.Tool = value.Value
			case "with":
				var b bytes.Buffer
				if err := write(&b, value); err != nil {
					return nil, err
				}
				if err := json.Unmarshal(b.Bytes(), &st.With); err != nil || value.Kind != yaml.MappingNode {
					return nil, malformed("with is a mapping of the tool's input", value.Line)
				}
			default:
				return nil, unknown(fmt.Sprintf("step %d", k+1), key, []string{"tool", "with"})
			}
		}
		for _, taken := range []string{"input", "inputs", "output", "overwrite", "dry_run", "argv"} {
			if _, ok := st.With[taken]; ok {
				return nil, malformed(fmt.Sprintf("step %d: %s is the batch's to say", k+1, taken), s.Line)
			}
		}
		if st.Tool == "" {
			return nil, malformed(fmt.Sprintf("step %d names no tool", k+1), s.Line)
		}
		list = append(list, st)
	}
	return list, nil
}

func unknown(where, key string, known []string) error {
	e := cutroom.Errorf(cutroom.Invalid, "%s: unknown key %q", where, key)
	if near := tool.Nearest(key, known); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("it takes %s", strings.Join(known, ", "))
}

// For is the recipe's project with a file in its place. The file lies where the caller
// says, the others where at says.
func (r Recipe) For(file string, at func(string) (string, error)) (Project, error) {
	p, err := r.Project.Locate(func(path string) (string, error) {
		if path == input {
			return file, nil
		}
		return at(path)
	})
	p.Output, p.Template = "", "" // the template's parts are in it already
	return p, err
}
