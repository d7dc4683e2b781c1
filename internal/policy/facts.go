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

// beneathAny says whether a path lies in one of the folders. With leads a folder that is
// a link counts for where it leads as well: so it does where that makes the answer
// stricter, since a link in the workspace is made by whoever may write there.
func (v *facts) beneathAny(folders []string, path string, leads bool) bool {
	at := v.absolute(path)
	return slices.ContainsFunc(folders, func(f string) bool {
		f = v.absolute(f)
		return beneath(f, at) || leads && beneath(v.leads(f), at)
	})
}

// leads is where a folder lies with the links on its way followed, now; in the
// workspace's own spelling when that is there.
func (v *facts) leads(folder string) string {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return folder
	}
	if root, err := filepath.EvalSymlinks(v.root); err == nil && beneath(root, real) {
		rel, _ := filepath.Rel(root, real)
		return filepath.Join(v.root, rel)
	}
	return real
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
