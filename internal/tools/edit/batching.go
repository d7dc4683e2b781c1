package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/project"
	"cutroom/internal/tool"
)

// batching is one batch at work.
type batching struct {
	env     tool.Env
	in      BatchInput
	recipe  project.Recipe
	tools   []*tool.Tool // of the steps
	dir     string
	match   string
	dest    string
	seen    map[string]look // files that were worked on, as they were
	before  map[string]look // all files, as the look before found them
	bad     map[string]BatchBad
	last    time.Time // when something came
	faulty  []BatchBad
	folders []string // that were made
	mu      sync.Mutex
	out     BatchOutput
}

// maxRecipe bounds a recipe.
const maxRecipe = 1 << 20

// recordings are the suffixes of files that a folder's batch takes.
var recordings = []string{
	".mp4", ".mov", ".mkv", ".webm", ".m4v", ".avi", ".ts", ".mts", ".m2ts", ".mpg", ".mpeg", ".3gp", ".flv", ".mxf",
	".mp3", ".wav", ".m4a", ".flac", ".ogg", ".opus", ".aac", ".aif", ".aiff",
}

// open reads the recipe and looks at its steps.
func (b *batching) open() error {
	text := []byte(b.in.Text)
	if b.in.Recipe != "" {
		var err error
		if text, err = b.env.ReadInput(0, maxRecipe); err != nil {
			return err
		}
	}
	var err error
	if b.recipe, err = project.ReadRecipe(text); err != nil {
		return err
	}
	b.dir, b.match = filepath.Clean(string(b.in.Folder)), b.recipe.Match
	if base := filepath.Base(b.dir); strings.ContainsAny(base, "*?[") {
		b.dir, b.match = filepath.Dir(b.dir), base
		if _, err := path.Match(base, "x"); err != nil {
			return cutroom.Errorf(cutroom.Invalid, "%q is no pattern", base).WithHint("write it as shoot/*.mp4")
		}
	}
	if b.dest = filepath.Clean(string(b.in.Out)); b.in.Out == "" {
		b.dest = filepath.Join(b.dir, "done")
	}
	for i, s := range b.recipe.Steps {
		t, err := b.find(s.Tool)
		if err != nil {
			return cutroom.Errorf(cutroom.AsError(err).Code, "step %d: %s", i+1, cutroom.AsError(err).Msg).WithHint("%s", cutroom.AsError(err).Hint)
		}
		b.tools = append(b.tools, t)
		raw, err := b.request(i, "a.mp4", "b"+b.suffix(i, ".mp4"))
		if err == nil {
			_, err = t.Decode(raw)
		}
		if err != nil {
			return cutroom.Errorf(cutroom.Invalid, "step %d: %s", i+1, cutroom.AsError(err).Msg).WithHint("%s", cutroom.AsError(err).Hint)
		}
	}
	return nil
}

// find is the tool of a step.
func (b *batching) find(name string) (*tool.Tool, error) {
	var names []string
	for _, t := range b.env.Registry() {
		family, _, _ := strings.Cut(t.Name, ".")
		can := t.Body() == tool.BodyPlan && (family == "edit" || family == "measure") || t.Name == "review.check"
		if !can {
			continue
		}
		if t.Name == name || t.Short != "" && t.Short == name {
			if _, ok := inputOf(t); !ok {
				return nil, cutroom.Errorf(cutroom.Invalid, "%s takes no single file", name).WithHint("choose a tool with one input")
			}
			return t, nil
		}
		names = append(names, t.Name)
	}
	e := cutroom.Errorf(cutroom.Invalid, "a batch cannot call %q", name)
	if near := tool.Nearest(name, names); near != "" {
		return nil, e.WithHint("did you mean %s?", near)
	}
	return nil, e.WithHint("it takes the tools edit.*, measure.* and review.check")
}

// inputOf is the member of a tool's input that takes the file.
func inputOf(t *tool.Tool) (tool.Param, bool) {
	for _, p := range t.Params() {
		if p.Positional() && p.Kind == tool.ParamIn && len(p.Path) == 1 {
			return p, true
		}
	}
	return tool.Param{}, false
}

// request is the input of a step.
func (b *batching) request(step int, file, output string) ([]byte, error) {
	p, _ := inputOf(b.tools[step])
	with := map[string]json.RawMessage{}
	for k, v := range b.recipe.Steps[step].With {
		with[k] = v
	}
	set := func(name string, v any) {
		raw, err := json.Marshal(v)
		if err == nil {
			with[name] = raw
		}
	}
	if p.Repeat {
		set(p.Path[0], []string{file})
	} else {
		set(p.Path[0], file)
	}
	if b.tools[step].Writes() && output != "" {
		set("output", output)
		if b.in.Overwrite {
			set("overwrite", true)
		}
	}
	return json.Marshal(with)
}

// suffix is that of what a step writes: what the tool itself would name it.
func (b *batching) suffix(step int, of string) string {
	if step == len(b.tools)-1 && path.Ext(b.recipe.Name) != "" {
		return path.Ext(b.recipe.Name)
	}
	raw, err := b.request(step, "a"+of, "")
	if err != nil {
		return of
	}
	in, err := b.tools[step].Decode(raw)
	if err != nil {
		return of
	}
	v := reflect.ValueOf(b.tools[step].Named(in))
	if w, ok := v.Interface().(tool.Writer); ok && w.Intent().Output != "" {
		return filepath.Ext(string(w.Intent().Output))
	}
	if !slices.Contains([]string{".mp4", ".mov", ".mkv", ".webm", ".m4a", ".mp3", ".wav", ".flac", ".ogg", ".opus"}, of) {
		return ".mp4"
	}
	return of
}

// item is one file of a batch, and where each step writes.
type item struct {
	name    string // in the batch's folder
	file    string
	outputs []string
}

// writes reports whether step i writes a file.
func (b *batching) writes(i int) bool { return b.tools[i].Writes() }

// plan is what becomes of a file.
func (b *batching) plan(name string) item {
	it := item{name: name, file: filepath.Join(b.dir, name)}
	folder, base := filepath.Split(name)
	stem, of := strings.TrimSuffix(base, filepath.Ext(base)), strings.ToLower(filepath.Ext(base))
	final := func(what, suffix string) string {
		n := stem + "_" + what + suffix
		if b.recipe.Name != "" {
			n = strings.ReplaceAll(strings.TrimSuffix(b.recipe.Name, path.Ext(b.recipe.Name)), "{stem}", stem) + suffix
		}
		return filepath.Join(b.dest, folder, n)
	}
	if b.recipe.Project != nil {
		suffix := path.Ext(b.recipe.Name)
		if suffix == "" {
			suffix = RenderInput{Edit: *b.recipe.Project}.suffix()
		}
		it.outputs = []string{final("render", suffix)}
		return it
	}
	for i, t := range b.tools {
		suffix := b.suffix(i, of)
		switch {
		case !b.writes(i):
			it.outputs = append(it.outputs, "")
			continue
		case i == b.lastWriter():
			it.outputs = append(it.outputs, final(t.Verb(), suffix))
		default:
			it.outputs = append(it.outputs, filepath.Join(b.dest, ".work", folder, fmt.Sprintf("%s_%d%s", stem, i+1, suffix)))
		}
		of = suffix
	}
	return it
}

// lastWriter is the last step that writes a file: what it writes is the result.
func (b *batching) lastWriter() int {
	for i := len(b.tools) - 1; i >= 0; i-- {
		if b.writes(i) {
			return i
		}
	}
	return -1
}

// round works on the files that were not seen yet.
func (b *batching) round(ctx context.Context) error {
	files, faulty, err := b.files(ctx)
	if err != nil {
		return err
	}
	b.faulty = faulty
	var items []item
	for _, f := range b.news(files) {
		items = append(items, b.plan(f.name))
	}
	if len(items) == 0 {
		if b.in.Watch == 0 && len(faulty) == 0 {
			return cutroom.Errorf(cutroom.NotFound, "no file of %q matches", b.in.Folder).WithHint("give a pattern, such as '%s/*.mp4', or match in the recipe", b.dir)
		}
		if b.in.Watch > 0 {
			return nil
		}
	}
	b.last = b.env.Now()
	if items, err = b.check(ctx, items); err != nil {
		return err
	}
	for _, it := range items {
		for _, o := range it.outputs {
			if err := b.folder(ctx, filepath.Dir(o)); err != nil {
				return err
			}
		}
	}
	err = b.work(ctx, items)
	b.dropFolders(ctx)
	return err
}

// folder makes a folder of results once.
func (b *batching) folder(ctx context.Context, folder string) error {
	if folder == "." || slices.Contains(b.folders, folder) {
		return nil
	}
	b.folders = append(b.folders, folder)
	return b.env.MakeFolder(ctx, cutroom.InPath(folder))
}

// dropFolders removes what is empty of the folders between the steps, the deepest first.
func (b *batching) dropFolders(ctx context.Context) {
	if !b.in.Tidy {
		return
	}
	work := filepath.Join(b.dest, ".work")
	for _, f := range slices.Backward(slices.Sorted(slices.Values(b.folders))) {
		if f == work || strings.HasPrefix(f, work+string(filepath.Separator)) {
			_ = b.env.DropFolder(ctx, cutroom.InPath(f)) // an empty folder does no harm
		}
	}
	_ = b.env.DropFolder(ctx, cutroom.InPath(work))
	b.folders = nil
}

// each calls do for 0 to n−1, as many at a time as jobs says.
func (b *batching) each(ctx context.Context, n int, do func(int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(b.out.Jobs, n) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
}

func (b *batching) say(what, file string, i, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.env.Progress(cutroom.Progress{Stage: fmt.Sprintf("%s %s", what, filepath.Base(file)), Done: int64(i), Total: int64(n), Unit: "files"})
}

// work does the steps of each file.
func (b *batching) work(ctx context.Context, items []item) error {
	results := make([]BatchItem, len(items))
	b.each(ctx, len(items), func(i int) {
		b.say("working on", items[i].file, i, len(items))
		results[i] = b.one(ctx, items[i])
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	b.out.Total += len(items)
	for _, r := range results {
		b.out.Results = append(b.out.Results, r)
		switch {
		case !r.OK:
			b.out.Failures++
			continue
		case r.Cached:
			b.out.Reused++
		}
		b.out.Done++
	}
	return nil
}

// one does the steps of one file.
func (b *batching) one(ctx context.Context, it item) BatchItem {
	r := BatchItem{File: it.file, OK: true, Cached: true}
	from := b.env.Now()
	file := it.file
	var between []tool.Reply
	for i := range it.outputs {
		reply, err := b.step(ctx, i, file, it.outputs[i])
		if f, ok := reply.Output.(interface{ Failed() bool }); err == nil && ok && f.Failed() {
			err = cutroom.Errorf(cutroom.Verification, "the check failed").WithHint("`cutroom check` says which row")
		}
		if err != nil {
			e := cutroom.AsError(err)
			r.OK, r.Cached, r.Step, r.Code, r.Error = false, false, i+1, string(e.Code), e.Msg
			break
		}
		r.Cached = r.Cached && reply.Reused
		if it.outputs[i] != "" {
			file, r.Output = it.outputs[i], it.outputs[i]
			if i != b.lastWriter() && b.recipe.Project == nil {
				between = append(between, reply)
			}
		}
	}
	if r.OK {
		b.tidy(ctx, between)
	}
	r.Seconds = cutroom.Micros(b.env.Now().Sub(from).Microseconds())
	return r
}

// step makes one call.
func (b *batching) step(ctx context.Context, i int, file, output string) (tool.Reply, error) {
	if b.recipe.Project == nil {
		raw, err := b.request(i, file, output)
		if err != nil {
			return tool.Reply{}, err
		}
		return b.env.Call(ctx, b.tools[i].Name, json.RawMessage(raw))
	}
	at := beside(string(b.in.Recipe))
	p, err := b.recipe.For(file, at)
	if err != nil {
		return tool.Reply{}, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return tool.Reply{}, err
	}
	return b.env.Call(ctx, "edit.render", RenderInput{Text: string(text), Writing: tool.Writing{Output: cutroom.OutPath(output), Overwrite: b.in.Overwrite}})
}

// wait waits for the next look; false ends the watching.
func (b *batching) wait(ctx context.Context) bool {
	if b.in.Idle > 0 && b.env.Now().Sub(b.last) >= time.Duration(b.in.Idle)*time.Microsecond {
		return false
	}
	b.env.Progress(cutroom.Progress{Stage: "waiting for files"})
	t := time.NewTimer(time.Duration(b.in.Watch) * time.Microsecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
