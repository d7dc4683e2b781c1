package engine

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// identity is what makes two calls the same call. Path spelling is not in it, nor
// limits that do not change the result (fields tagged key:"-").
type identity struct {
	Tool      string                    `json:"tool"`
	Revision  int                       `json:"revision"`
	Contract  string                    `json:"contract"`
	Sources   []cutroom.Digest          `json:"sources"`
	Beside    []cutroom.Digest          `json:"beside"`
	Suffixes  []string                  `json:"suffixes,omitempty"`  // of inputs whose name has to agree with what they hold
	Consulted []cutroom.Digest          `json:"consulted,omitempty"` // recorded results that what is supplied is compared with
	Request   any                       `json:"request"`
	Toolchain map[string]cutroom.Digest `json:"toolchain"`
	Settings  tool.Settings             `json:"settings"`
}

// key is step 6: the server's own identity of the call, made from the decoded
// input and never from the caller's bytes.
func (k *call) key(ctx context.Context) error {
	id := identity{
		Tool: k.tool.Name, Revision: k.tool.Revision, Contract: k.tool.Contract,
		Toolchain: map[string]cutroom.Digest{}, Settings: k.e.Settings,
	}
	for _, in := range k.inputs {
		if in.Beside {
			id.Beside = append(id.Beside, in.Digest)
		} else {
			id.Sources = append(id.Sources, in.Digest)
			if k.tool.Sometimes() && in.Frame == nil {
				id.Suffixes = append(id.Suffixes, strings.ToLower(filepath.Ext(in.Name)))
			}
		}
	}
	for _, p := range k.e.Registry.Programs(k.tool) {
		id.Toolchain[p] = k.e.Toolchain.Fingerprint(p)
	}
	if k.tool.Needs.Fonts && k.e.Fonts != nil {
		id.Toolchain["fonts"] = k.e.Fonts.Fingerprint()
	}
	if k.e.Registry.Reads(k.tool) {
		if d := k.readersKey(ctx); d != "" {
			id.Toolchain["readers"] = d
		}
	}
	if c, ok := k.in.(interface{ Consults() []string }); ok {
		for _, name := range c.Consults() {
			for _, m := range k.e.recorded(ctx, k.subject(), name) {
				id.Consulted = append(id.Consulted, m.Invocation)
			}
		}
	}
	id.Request = k.normalise(reflect.ValueOf(k.in)).Interface()
	request, err := tool.Canonical(id.Request)
	if err != nil {
		return err
	}
	canonical, err := tool.Canonical(id)
	if err != nil {
		return err
	}
	k.request = request
	k.name = stage.Name{Source: k.subject(), Tool: k.tool.Name, Invocation: cutroom.DigestOf(canonical)}
	return k.asPlanned()
}

// asPlanned refuses a call that is not what was planned any more.
func (k *call) asPlanned() error {
	if k.Planned == nil {
		return nil
	}
	for _, s := range k.Planned.Sources {
		i := slices.IndexFunc(k.inputs, func(in tool.Input) bool { return in.Text == s.Path })
		if i < 0 || k.inputs[i].Digest != s.SHA256 {
			return cutroom.Errorf(cutroom.Conflict, "%q is not the file that the plan was made for", s.Path).
				WithHint("bring the file back, or make a new plan with --plan")
		}
	}
	if k.name.Invocation != k.Planned.Run {
		return cutroom.Errorf(cutroom.Conflict, "the call is not the one that was planned: its tool, its programs or its settings changed since").
			WithHint("make a new plan with --plan")
	}
	if k.Planned.Request != "" && k.requestDigest() != k.Planned.Request {
		return cutroom.Errorf(cutroom.Conflict, "the call is not the one that was planned: an argument is another, such as the file that is written").
			WithHint("make a new plan with --plan")
	}
	return nil
}

// requestDigest is of all arguments of the call, a wish for a dry run apart.
func (k *call) requestDigest() cutroom.Digest {
	text, err := tool.Canonical(k.in)
	var members map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &members) != nil {
		return k.inputDigest()
	}
	delete(members, "dry_run")
	if text, err = tool.Canonical(members); err != nil {
		return k.inputDigest()
	}
	return cutroom.DigestOf(text)
}

// planned is what this call would be planned for.
func (k *call) planned() []PlannedSource {
	list := []PlannedSource{}
	for _, in := range k.inputs {
		list = append(list, PlannedSource{Path: in.Text, SHA256: in.Digest, Size: in.Size})
	}
	return list
}

// subject is the media that the result speaks of.
func (k *call) subject() cutroom.Digest {
	if s, ok := k.in.(interface{ Subject() cutroom.Digest }); ok && s.Subject() != "" {
		return s.Subject()
	}
	if len(k.sources) > 0 {
		return k.sources[0].SHA256
	}
	return cutroom.DigestOf(nil)
}

// normalise returns a copy of v in which paths are replaced by the digests of what
// they hold, and fields that do not change the result are zero.
func (k *call) normalise(v reflect.Value) reflect.Value {
	return rewrite(v, func(v any) any {
		switch v := v.(type) {
		case cutroom.Source:
			v.Value = string(k.digestOf(v.Value, v.Kind))
			return v
		case cutroom.InPath:
			return cutroom.InPath(k.digestOf(string(v), cutroom.LocalFile))
		case cutroom.OutPath: // where the result goes does not change it; the container does
			return cutroom.OutPath(strings.ToLower(filepath.Ext(string(v))))
		}
		return v
	}, func(f reflect.StructField) bool { return f.Tag.Get("key") != "-" })
}

// rewrite returns a copy of v with every value of a path type as named says, and without
// the members that keep refuses.
func rewrite(v reflect.Value, named func(any) any, keep func(reflect.StructField) bool) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Interface().(type) {
	case cutroom.Source, cutroom.InPath, cutroom.OutPath:
		out.Set(reflect.ValueOf(named(v.Interface())))
		return out
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(rewrite(v.Elem(), named, keep))
			out.Set(p)
		}
	case reflect.Slice:
		if !v.IsNil() {
			s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				s.Index(i).Set(rewrite(v.Index(i), named, keep))
			}
			out.Set(s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && keep(f) {
				out.Field(i).Set(rewrite(v.Field(i), named, keep))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

func (k *call) digestOf(text string, kind cutroom.SourceKind) cutroom.Digest {
	if kind != cutroom.LocalFile {
		return cutroom.DigestOf([]byte(text))
	}
	for _, in := range k.inputs {
		if in.Text == text && in.Frame == nil && !in.Inline {
			return in.Digest
		}
	}
	return ""
}
