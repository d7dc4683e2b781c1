package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// outlet is a path that the call wants a file at.
type outlet struct {
	field  string // JSON name of the input's field
	text   string // as the caller wrote it
	root   string // absolute folder that it lies beneath
	rel    string // below root
	exists bool   // something stood there when the call began
	stood  stage.Identity
}

// outlets finds the output paths of the input, and refuses those that cannot be
// written: outside of what the principal may write, or one of the inputs by any
// spelling or link.
func (k *call) findOutlets() error {
	var found []outlet
	err := eachOut(reflect.ValueOf(k.in), func(field, text string) error {
		o := outlet{field: field, text: text}
		var err error
		if o.root, o.rel, err = k.e.writable(k.Principal, text); err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(o.root, o.rel))
		if err == nil {
			o.exists = true
			if o.stood, err = standingAt(o.root, o.rel); err != nil {
				return err
			}
			for i, f := range k.files {
				if f == nil {
					continue
				}
				if in, err := f.Stat(); err == nil && os.SameFile(in, info) {
					return cutroom.Errorf(cutroom.Invalid, "the output %q is the input %q: an input is never written over", text, k.inputs[i].Text).
						WithHint("name another output")
				}
			}
			if info.IsDir() {
				return cutroom.Errorf(cutroom.Invalid, "the output %q is a folder", text).WithHint("name a file in it")
			}
		} else if _, err := os.Stat(filepath.Dir(filepath.Join(o.root, o.rel))); err != nil {
			return cutroom.Errorf(cutroom.NotFound, "the folder of the output %q does not exist", text).WithHint("make the folder first, or name another output")
		}
		if slices.ContainsFunc(found, func(p outlet) bool { return p.root == o.root && filepath.Clean(p.rel) == filepath.Clean(o.rel) }) {
			return cutroom.Errorf(cutroom.Invalid, "two outputs have the name %q", text).WithHint("name each output differently")
		}
		found = append(found, o)
		return nil
	})
	k.outlets = found
	return err
}

// eachOut calls visit for every output path in v that is set, with the JSON name of
// its field.
func eachOut(v reflect.Value, visit func(field, text string) error) error {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		f, t := v.Field(i), v.Type().Field(i)
		if !t.IsExported() {
			continue
		}
		if p, ok := f.Interface().(cutroom.OutPath); ok {
			if p != "" {
				if err := visit(tool.JSONName(t), string(p)); err != nil {
					return err
				}
			}
			continue
		}
		if err := eachOut(f, visit); err != nil {
			return err
		}
	}
	return nil
}

// writable says where an output path lies: beneath the workspace, or, for the
// operator, whose path is itself the grant, in its own folder.
func (e *Engine) writable(who cutroom.Principal, text string) (root, rel string, err error) {
	if !filepath.IsAbs(text) {
		if !filepath.IsLocal(filepath.FromSlash(text)) {
			return "", "", outsideWorkspace(text)
		}
		return e.Workspace, filepath.Clean(filepath.FromSlash(text)), nil
	}
	clean := filepath.Clean(text)
	if inside, err := filepath.Rel(e.Workspace, clean); err == nil && filepath.IsLocal(inside) {
		return e.Workspace, inside, nil
	}
	if who.Role == cutroom.RoleOperator {
		return filepath.Dir(clean), filepath.Base(clean), nil
	}
	return "", "", outsideWorkspace(text)
}

func outsideWorkspace(text string) error {
	return cutroom.Errorf(cutroom.Denied, "%q is outside the workspace", text).WithHint("name an output in the workspace")
}

// intent is what the input says about writing.
func (k *call) intent() tool.Writing {
	if w, ok := k.in.(tool.Writer); ok {
		return w.Intent()
	}
	return tool.Writing{}
}

// refuseExisting stops a call before any work when a file stands in the way.
func (k *call) refuseExisting() error {
	if k.intent().Overwrite {
		return nil
	}
	for _, o := range k.outlets {
		if o.exists {
			return cutroom.Errorf(cutroom.Conflict, "%q exists already", o.text).WithHint("name another output, or pass --overwrite")
		}
	}
	return nil
}

// deliver publishes the artifacts that belong at the caller's paths. A result that is
// repeated is published again where it is missing.
func (k *call) deliver(ctx context.Context, r *stage.Result) error {
	for _, a := range r.Manifest.Artifacts {
		i := slices.IndexFunc(k.outlets, func(o outlet) bool { return a.Field != "" && o.field == a.Field })
		if i < 0 {
			continue
		}
		o := k.outlets[i]
		f, err := r.Open(ctx, a.Path)
		if err != nil {
			return err
		}
		k.progress(cutroom.Progress{Stage: "publishing " + filepath.Base(o.rel)})
		err = k.e.Stage.Publish(ctx, f, a.SHA256, o.root, filepath.ToSlash(o.rel), k.replaces(i))
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// standingAt is the identity of what stands at a path; zero when it is no file that could
// be replaced, or none any more.
func standingAt(root, rel string) (stage.Identity, error) {
	f, err := stage.OpenBeneath(root, rel)
	if err != nil {
		return stage.Identity{}, nil // publishing says what is wrong with it
	}
	defer f.Close()
	return stage.IdentityOf(f)
}

// replaces is what may be replaced at an outlet: what stood there when the call was
// authorised, and of an approved call the content that the person was shown.
func (k *call) replaces(i int) stage.Replace {
	r := stage.Replace{Asked: k.intent().Overwrite, Identity: k.outlets[i].stood}
	if i < len(k.bound.Outputs) {
		r.Digest = k.bound.Outputs[i].Replaces
	}
	return r
}

// nameOutput says in the output where this call wants the written file.
func (k *call) nameOutput() {
	m, ok := k.out.(tool.Maker)
	i := slices.IndexFunc(k.outlets, func(o outlet) bool { return o.field == "output" })
	if ok && i >= 0 {
		m.AsMade().File = &k.outlets[i].text
	}
}

// deliverable marks a file of the private folder for a field of the input.
func (k *call) deliverable(name, mediaType, field string) (cutroom.ArtifactRef, error) {
	ref, err := k.keep(name, mediaType, nil)
	if err != nil {
		return ref, err
	}
	i := slices.IndexFunc(k.kept, func(a stage.Keep) bool { return a.Path == name })
	if i < 0 {
		return ref, fmt.Errorf("%s was not kept", name)
	}
	k.kept[i].Field = field
	return ref, nil
}
