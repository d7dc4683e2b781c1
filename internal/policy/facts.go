package policy

import (
	"path/filepath"
	"slices"
)

// facts is a request with what is made of it once.
type facts struct {
	Request
	root string
	tree *node // of the arguments, when they were first asked for
}

func view(q Request, root string) *facts { return &facts{Request: q, root: root} }

func (v *facts) arguments() *node {
	if v.tree == nil {
		v.tree = parse(v.Arguments)
	}
	return v.tree
}

// absolute is where a folder or file of the config or of the arguments lies.
func (v *facts) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.root, path)
	}
	return filepath.Clean(path)
}

func (v *facts) beneathAny(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return beneath(v.absolute(f), v.absolute(path)) })
}

// beneath says whether an absolute path is folder or lies in it, by its spelling.
func beneath(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// shown are paths as people know them: those in the workspace relative to it, and of
// others the name alone.
func (v *facts) shown(paths []string) []string {
	all := make([]string, len(paths))
	for i, p := range paths {
		rel, err := filepath.Rel(v.root, p)
		switch {
		case p == "":
			all[i] = "a file elsewhere"
		case err == nil && filepath.IsLocal(rel):
			all[i] = filepath.ToSlash(rel)
		default:
			all[i] = "elsewhere: " + filepath.Base(p)
		}
	}
	return all
}

// calls are the calls of this hour that the rule counts, this one among them; nil when
// nobody counted.
func (v *facts) calls(r *Rule, as string) *int64 {
	n, ok := v.Used[counterKey(r, as)]
	if !ok {
		return nil
	}
	n++
	return &n
}

// counterKey names what a rule counts for a principal.
func counterKey(r *Rule, as string) string {
	if r.Space != "" {
		as += "/" + r.Space
	}
	return as + "/" + r.Name
}
