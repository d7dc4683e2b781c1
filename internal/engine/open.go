package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// open is step 4: it opens every file that the input names, and those that belong
// beside the first, beneath the roots and without following links, and hashes
// them. Recorded artifacts and results are looked up and verified.
func (k *call) open(ctx context.Context) error {
	k.results = map[cutroom.Digest]*stage.Result{}
	if err := k.expand(ctx); err != nil {
		return err
	}
	var bad faults
	err := eachPath(reflect.ValueOf(k.in), func(v any) error {
		if k.tool.Expands() && k.opened(v) {
			return nil
		}
		switch v := v.(type) {
		case plainPath:
			return bad.keep(ctx, string(v), k.openFile(ctx, string(v), tool.Input{Plain: true}))
		case cutroom.InPath:
			return bad.keep(ctx, string(v), k.openFile(ctx, string(v), tool.Input{}))
		case cutroom.Source:
			return k.openSource(ctx, v)
		case cutroom.ArtifactRef:
			return k.openArtifact(ctx, v)
		case cutroom.Ref:
			_, err := k.openResult(ctx, v.Run)
			return err
		}
		return nil
	})
	if err == nil {
		err = bad.all()
	}
	if err != nil {
		return err
	}
	if err := k.openBeside(ctx); err != nil {
		return err
	}
	return k.findOutlets()
}

// faults are what is wrong with several inputs: a caller gets them all at once, and
// mends them in one go.
type faults []fault

type fault struct {
	input string // as the caller named it
	err   *cutroom.Error
}

// keep notes an input's fault. What stops the whole call is returned.
func (f *faults) keep(ctx context.Context, input string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	e, ok := errors.AsType[*cutroom.Error](err)
	if !ok {
		return err
	}
	*f = append(*f, fault{input, e})
	return nil
}

// maxFaults is how many of them an error names: a list of thousands is read by nobody.
const maxFaults = 50

// all is one error for all faults, with the code and the hint of the first.
func (f faults) all() error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return f[0].err
	}
	texts := make([]string, min(len(f), maxFaults))
	for i, x := range f[:len(texts)] {
		texts[i] = x.err.Msg
		if !strings.Contains(texts[i], x.input) {
			texts[i] = fmt.Sprintf("%q: %s", x.input, texts[i])
		}
	}
	if more := len(f) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	first := f[0].err
	return &cutroom.Error{Code: first.Code, Msg: fmt.Sprintf("%d inputs cannot be used: %s", len(f), strings.Join(texts, "; ")), Hint: first.Hint}
}

// plainPath is an input that is no media: a subtitle file, a list. Its field is tagged
// probe:"-".
type plainPath cutroom.InPath

// eachPath calls visit for every value of a path type inside v.
func eachPath(v reflect.Value, visit func(any) error) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return eachPath(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			if err := eachPath(v.Index(i), visit); err != nil {
				return err
			}
		}
		return nil
	case reflect.String:
		if p, ok := v.Interface().(cutroom.InPath); ok && p != "" {
			return visit(p)
		}
		return nil
	case reflect.Struct:
		switch x := v.Interface().(type) {
		case cutroom.Source, cutroom.ArtifactRef, cutroom.Ref:
			if v.IsZero() {
				return nil
			}
			return visit(x)
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			inner := visit
			if v.Type().Field(i).Tag.Get("open") == "-" {
				continue // a folder: what is opened of it is for the tool to say
			}
			if v.Type().Field(i).Tag.Get("probe") == "-" {
				inner = func(x any) error {
					if p, ok := x.(cutroom.InPath); ok {
						return visit(plainPath(p))
					}
					return visit(x)
				}
			}
			if err := eachPath(v.Field(i), inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *call) openSource(ctx context.Context, s cutroom.Source) error {
	switch s.Kind {
	case cutroom.LocalFile:
		return k.openFile(ctx, s.Value, tool.Input{})
	case cutroom.Transcript:
		d := cutroom.DigestOf([]byte(s.Value))
		k.add(tool.Input{Text: "transcript", Digest: d, Source: d, Size: int64(len(s.Value)), Inline: true, Content: s.Value}, nil,
			stage.Identity{}, stage.Source{Kind: s.Kind, SHA256: d, Size: int64(len(s.Value)), Locator: "inline:" + d.Short()})
	case cutroom.URL:
		// Nothing is opened: the address itself is the identity, until policy decides.
		d := cutroom.DigestOf([]byte(s.Value))
		k.sources = append(k.sources, stage.Source{Kind: s.Kind, SHA256: d, Locator: "url:" + d.Short()})
	}
	return nil
}

// add appends an input; an input that is there already is not opened twice.
func (k *call) add(in tool.Input, f *os.File, id stage.Identity, src stage.Source) {
	in.Index = len(k.inputs)
	k.inputs = append(k.inputs, in)
	k.files = append(k.files, f)
	k.ids = append(k.ids, id)
	k.addSource(src)
}

// addSource notes a medium that the result comes from, once.
func (k *call) addSource(src stage.Source) {
	if !slices.ContainsFunc(k.sources, func(s stage.Source) bool { return s.SHA256 == src.SHA256 && s.Locator == src.Locator }) {
		k.sources = append(k.sources, src)
	}
}

// openFile opens a file and adds it; in says what is known of it by the way it was named.
func (k *call) openFile(ctx context.Context, text string, in tool.Input) error {
	f, locator, err := k.openInput(text)
	if err != nil {
		return err
	}
	digest, id, err := k.digest(ctx, f, text)
	if err != nil {
		f.Close()
		return err
	}
	head := make([]byte, min(id.Size, tool.HeadLen))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		f.Close()
		return err
	}
	in.Text, in.Name, in.Locator, in.Digest, in.Source, in.Size, in.Head = text, filepath.Base(locator), locator, digest, digest, id.Size, head
	k.add(in, f, id,
		stage.Source{Kind: cutroom.LocalFile, SHA256: digest, Size: id.Size, Locator: locator})
	return nil
}

// openInput opens what was given with the call, or with one that makes it, else a file
// beneath the roots.
func (k *call) openInput(text string) (*os.File, string, error) {
	if open := k.given(text); open != nil {
		f, err := open()
		return f, text, err
	}
	return k.e.openBeneath(k.Principal, text)
}

// given is how an input is opened that was given with the call, or with one that makes
// it; nil for any other.
func (k *call) given(text string) Opener {
	for c := k; c != nil; c = c.parent {
		if open, ok := c.Given[text]; ok {
			return open
		}
	}
	return nil
}

// digest hashes an opened file, after its size was checked.
func (k *call) digest(ctx context.Context, f *os.File, text string) (cutroom.Digest, stage.Identity, error) {
	info, err := f.Stat()
	if err != nil {
		return "", stage.Identity{}, err
	}
	if limit := k.bounds.FileBytes; limit > 0 && info.Size() > limit {
		return "", stage.Identity{}, cutroom.Errorf(cutroom.Limit, "%q has %d bytes, more than the limit of %d", text, info.Size(), limit).
			WithHint("raise limits.max_file_bytes (--max-file-bytes), at most 8589934592")
	}
	k.progress(cutroom.Progress{Stage: "reading the source", Total: info.Size(), Unit: "B"})
	return k.e.Identity.Digest(ctx, f)
}

// openBeneath opens a path for a principal: relative to the workspace and inside
// it. For the operator a path argument is itself the grant, so an absolute path
// elsewhere opens beneath its own folder. The second result is safe to show and to
// keep.
func (e *Engine) openBeneath(who cutroom.Principal, text string) (*os.File, string, error) {
	root, rel := e.Workspace, text
	if filepath.IsAbs(text) {
		inside, err := filepath.Rel(e.Workspace, filepath.Clean(text))
		more := slices.IndexFunc(e.Roots, func(r string) bool { return within(r, text) })
		switch {
		case err == nil && filepath.IsLocal(inside):
			rel = inside
		case more >= 0:
			root = e.Roots[more]
			rel, _ = filepath.Rel(root, filepath.Clean(text))
		case who.Role == cutroom.RoleOperator:
			root, rel = filepath.Dir(filepath.Clean(text)), filepath.Base(filepath.Clean(text))
		default:
			return nil, "", cutroom.Errorf(cutroom.Denied, "%q is outside the workspace", text).
				WithHint("copy the file into the workspace, or run from a folder that holds it")
		}
	}
	f, err := stage.OpenBeneath(root, rel)
	if err != nil {
		return nil, "", err
	}
	shown := filepath.ToSlash(filepath.Clean(rel))
	switch more := slices.Index(e.Roots, root); {
	case root == e.Workspace:
	case more >= 0:
		shown = fmt.Sprintf("%s%d/%s", inRoot, more, shown)
	default:
		shown = outside + shown
	}
	return f, shown, nil
}

// within says whether an absolute path lies beneath a folder, by its spelling.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, filepath.Clean(path))
	return err == nil && filepath.IsLocal(rel)
}

// What a locator begins with when the file is not in the workspace: outside marks
// one that the operator gave from elsewhere, inRoot the number of a further root.
const (
	outside = "outside:"
	inRoot  = "root:"
)

// located is the path that a recorded locator names now.
func (e *Engine) located(locator string) string {
	number, rel, ok := strings.Cut(strings.TrimPrefix(locator, inRoot), "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || !strings.HasPrefix(locator, inRoot) || n < 0 || n >= len(e.Roots) {
		return locator
	}
	return filepath.Join(e.Roots[n], rel)
}

// openBeside opens further inputs that the tool finds in the folder of its first.
func (k *call) openBeside(ctx context.Context) error {
	if !k.tool.LooksBeside() || len(k.inputs) == 0 || k.inputs[0].Inline || k.inputs[0].Frame != nil {
		return nil
	}
	first := k.inputs[0].Text
	if k.given(first) != nil {
		return nil // it lies in no folder: what somebody put where it is named is nothing of its
	}
	dir := filepath.Dir(first)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(k.e.Workspace, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the file itself was opened; what lies beside it is optional
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	for _, name := range k.tool.Beside(k.in, names) {
		if err := k.openFile(ctx, filepath.Join(filepath.Dir(first), name), tool.Input{Beside: true}); err != nil {
			return err
		}
	}
	return nil
}

// openArtifact opens a recorded artifact. Only what the stage recorded counts: the
// path has to lie in a verified result, and hash and size have to be those of its
// manifest.
func (k *call) openArtifact(ctx context.Context, ref cutroom.ArtifactRef) error {
	for _, in := range k.inputs {
		if in.Frame != nil && in.Frame.RelativePath == ref.RelativePath && in.Frame.SHA256 == ref.SHA256 {
			return nil
		}
	}
	run, path, ok := k.e.split(ref.RelativePath)
	if !ok {
		return notEvidence(ref.RelativePath)
	}
	r, err := k.openResult(ctx, run)
	if err != nil {
		return err
	}
	a, ok := r.Artifact(path)
	if !ok || a.SHA256 != ref.SHA256 || a.Size != ref.SizeBytes || len(r.Manifest.Sources) == 0 {
		return notEvidence(ref.RelativePath)
	}
	f, err := r.Open(ctx, path)
	if err != nil {
		return err
	}
	id, err := stage.IdentityOf(f)
	if err != nil {
		f.Close()
		return err
	}
	ref.MediaType, ref.TimestampSeconds = a.MediaType, a.Timestamp
	k.add(tool.Input{Text: ref.RelativePath, Name: filepath.Base(path), Digest: a.SHA256, Size: a.Size, Frame: &ref, Source: r.Manifest.Sources[0].SHA256}, f, id, r.Manifest.Sources[0])
	return nil
}

func notEvidence(path string) error {
	return cutroom.Errorf(cutroom.Denied, "%q is not a recorded artifact with that hash and size", path).
		WithHint("give artifacts as an earlier call returned them, unchanged")
}

// split takes a workspace-relative artifact path apart: the run it lies in and its
// path inside that result.
func (e *Engine) split(relative string) (run, path string, ok bool) {
	rel, ok := strings.CutPrefix(relative, e.StageRoot+"/")
	parts := strings.SplitN(rel, "/", 4)
	if !ok || len(parts) < 4 {
		return "", "", false
	}
	return parts[2], parts[3], true
}

// openResult finds a recorded result and checks that this principal could open
// every source it came from: an id is not a permission.
func (k *call) openResult(ctx context.Context, run string) (*stage.Result, error) {
	for _, r := range k.results {
		if strings.HasPrefix(string(r.Manifest.Invocation), run) {
			return r, nil
		}
	}
	r, err := k.e.Stage.Find(ctx, run)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, cutroom.Errorf(cutroom.NotFound, "there is no recorded result %q", run).
			WithHint("give the id that an earlier call returned (invocation_sha256 or run_id)")
	}
	sources := slices.Clone(r.Manifest.Sources)
	for i, s := range sources {
		if now, ok := k.openedNow(s); ok {
			sources[i] = now
		} else if err := k.mayRead(ctx, s); err != nil {
			return nil, err
		}
	}
	// Where the policy asks, it is the call that needs the approval; what it denies, no
	// call reads by way of a record.
	d, err := k.e.remember(ctx, k.Principal, &r.Manifest, sources)
	if err == nil && d.Effect == policy.Deny {
		err = closed(&r.Manifest, d)
	}
	if err != nil {
		return nil, err
	}
	k.results[r.Manifest.Invocation] = r
	k.parents = append(k.parents, r.Manifest.Invocation)
	for _, s := range sources {
		k.addSource(s)
	}
	return r, nil
}

// openedNow returns the medium of that content which this call, or one that makes
// it, has opened already: the file may have another name than when the result was
// recorded.
func (k *call) openedNow(s stage.Source) (stage.Source, bool) {
	for c := k; c != nil && s.Kind == cutroom.LocalFile; c = c.parent {
		for _, now := range c.sources {
			if now.Kind == s.Kind && now.SHA256 == s.SHA256 {
				return now, true
			}
		}
	}
	return stage.Source{}, false
}

// mayRead checks that the principal could open a source now and that it is still
// the file that was read then.
func (k *call) mayRead(ctx context.Context, s stage.Source) error {
	if s.Kind != cutroom.LocalFile {
		return nil
	}
	if name, ok := strings.CutPrefix(s.Locator, outside); ok {
		if k.Principal.Role == cutroom.RoleOperator {
			return nil
		}
		return cutroom.Errorf(cutroom.Denied, "the result came from %q, which is outside the workspace", name).
			WithHint("watch a copy of the file inside the workspace")
	}
	same, err := k.holds(ctx, k.e.located(s.Locator), s.SHA256)
	if err != nil {
		same = k.maskedHolds(ctx, s)
	}
	if err != nil && !same {
		return err
	}
	if !same {
		return cutroom.Errorf(cutroom.Conflict, "%q is not the file any more that the result came from", s.Locator).
			WithHint("call the tool on the file again")
	}
	return nil
}
