package engine

import (
	"context"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/policy"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// Meter counts calls by the hour, for all processes that share its store.
type Meter interface {
	// Used returns how many calls were counted under each key in the hour of at.
	Used(ctx context.Context, keys []string, at time.Time) (map[string]int64, error)
	// Count counts one more under each and returns how many there were before.
	Count(ctx context.Context, keys []string, at time.Time) (map[string]int64, error)
}

// kind is the authority that the call needs: to write a file at a path of the
// caller's is to execute, whatever the tool does otherwise.
func (k *call) kind() cutroom.Kind {
	if len(k.outlets) > 0 && (k.tool.Kind == cutroom.Read || k.tool.Kind == cutroom.Preview) {
		return cutroom.Execute
	}
	return k.tool.Kind
}

// question is the call as the policy is asked about it, once its inputs are open.
func (k *call) question(ctx context.Context) (policy.Request, error) {
	q := policy.Request{
		Principal: k.Principal, Tool: k.tool.Name, Kind: k.kind(), Risk: string(k.tool.Risk),
		Network: k.tool.Reaches(k.in), Writes: len(k.outlets) > 0, Inputs: k.inputPaths(),
	}
	var bytes int64
	for _, in := range k.inputs {
		bytes += in.Size
	}
	q.Bytes = &bytes
	for _, o := range k.outlets {
		q.Overwrite = q.Overwrite || o.exists && k.intent().Overwrite
		q.Outputs = append(q.Outputs, k.e.real(filepath.Join(o.root, o.rel)))
	}
	var err error
	if q.Arguments, err = tool.Encode(k.e.spell(reflect.ValueOf(k.in)).Interface()); err != nil {
		return q, err
	}
	q.Origins = k.reaching(ctx)
	return q, nil
}

// inputPaths are where the files lie that the call reads and those that the results
// which it reads came from, "" for one that is not known any more.
func (k *call) inputPaths() []string {
	var paths []string
	add := func(p string) {
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	for i, in := range k.inputs {
		if k.files[i] != nil && in.Frame == nil {
			add(k.e.path(in.Text, in.Locator))
		}
	}
	for _, r := range k.results {
		for _, s := range r.Manifest.Sources {
			if _, open := k.openedNow(s); s.Kind == cutroom.LocalFile && !(open && k.readsItself(s)) {
				add(k.e.path("", s.Locator))
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// readsItself says whether a file of that content is one of the call's own inputs.
func (k *call) readsItself(s stage.Source) bool {
	return slices.ContainsFunc(k.inputs, func(in tool.Input) bool { return in.Frame == nil && in.Digest == s.SHA256 })
}

// path is where the file of a locator lies; of one elsewhere only who named it knows.
func (e *Engine) path(text, locator string) string {
	if strings.HasPrefix(locator, outside) {
		if text == "" {
			return ""
		}
		return e.real(filepath.Clean(text))
	}
	p := e.located(locator)
	if !filepath.IsAbs(p) {
		p = filepath.Join(e.Workspace, filepath.FromSlash(p))
	}
	return e.real(p)
}

// real is an absolute path with the links on its way followed, in the workspace's own
// spelling when it lies there: beneath the workspace no link is ever followed.
func (e *Engine) real(path string) string {
	if within(e.Workspace, path) {
		return path
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	path = filepath.Join(dir, filepath.Base(path))
	if root, err := filepath.EvalSymlinks(e.Workspace); err == nil && within(root, path) {
		rel, _ := filepath.Rel(root, path)
		return filepath.Join(e.Workspace, rel)
	}
	return path
}

// spell is an input as the policy sees it: each path in the one spelling that it has, so
// that a rule on it cannot be passed by another. That is relative to the workspace, or
// absolute when it lies elsewhere.
func (e *Engine) spell(v reflect.Value) reflect.Value {
	return rewrite(v, func(v any) any {
		switch v := v.(type) {
		case cutroom.Source:
			if v.Kind == cutroom.LocalFile {
				v.Value = e.spelling(v.Value)
			}
			return v
		case cutroom.InPath:
			return cutroom.InPath(e.spelling(string(v)))
		case cutroom.OutPath:
			return cutroom.OutPath(e.spelling(string(v)))
		}
		return v
	}, func(reflect.StructField) bool { return true })
}

func (e *Engine) spelling(text string) string {
	if text == "" {
		return ""
	}
	p := filepath.FromSlash(text)
	if !filepath.IsAbs(p) {
		p = filepath.Join(e.Workspace, p)
	}
	p = e.real(filepath.Clean(p))
	if rel, err := filepath.Rel(e.Workspace, p); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return p
}

// origins are the hosts that the input names, in the form of an origin (RFC 6454).
func (k *call) origins() []string {
	var all []string
	// Nothing is opened by looking, so nothing can fail.
	_ = eachPath(reflect.ValueOf(k.in), func(v any) error {
		s, ok := v.(cutroom.Source)
		if !ok || s.Kind != cutroom.URL {
			return nil
		}
		u, err := url.Parse(s.Value)
		if err != nil || u.Host == "" {
			return nil
		}
		origin := strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Hostname())
		standard := map[string]string{"http": "80", "https": "443"}
		if port := u.Port(); port != "" && port != standard[strings.ToLower(u.Scheme)] {
			origin += ":" + port
		}
		if !slices.Contains(all, origin) {
			all = append(all, origin)
		}
		return nil
	})
	return all
}

// decide asks the policy. What costs something to find out is found out when a rule
// turns on it: how long the inputs last, how many calls there were this hour.
func (k *call) decide(ctx context.Context, q *policy.Request) (policy.Decision, error) {
	p := k.e.Policy
	d := p.Decide(*q)
	if d.Effect != policy.Allow && q.Length == nil && p.AsksLength(*q) {
		q.Length = k.length(ctx)
		d = p.Decide(*q)
	}
	keys := p.Counters(*q)
	if len(keys) == 0 || k.e.Meter == nil {
		return d, nil // what nobody counts is not known, and decided so
	}
	var err error
	if q.Used, err = k.e.Meter.Used(ctx, keys, k.started); err != nil {
		return d, err
	}
	if d = p.Decide(*q); d.Effect != policy.Allow || k.DryRun {
		return d, nil // what a person approves is not counted
	}
	// Another process may have taken the last one meanwhile: what counts is the count.
	if q.Used, err = k.e.Meter.Count(ctx, keys, k.started); err != nil {
		return d, err
	}
	return p.Decide(*q), nil
}

// length is how long the media of the call last together, nil when one cannot be probed.
func (k *call) length(ctx context.Context) *cutroom.Micros {
	var sum cutroom.Micros
	for i := range k.inputs {
		in := k.inputs[i]
		if k.files[i] == nil || in.Plain || in.Beside || in.Frame != nil {
			continue
		}
		var err error
		if in.Format, err = ffmpeg.Sniff(in.Head, in.Name); err != nil {
			return nil
		}
		doc, err := k.document(ctx, &in)
		if err != nil {
			return nil
		}
		sum += doc.DurationSeconds
	}
	return &sum
}
