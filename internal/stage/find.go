package stage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"cutroom"
)

// Find returns the result whose invocation begins with the 16 to 64 digits of
// prefix, verified whole; not_found when there is none.
func (s *Stage) Find(ctx context.Context, prefix string) (*Result, error) {
	if len(prefix) < 16 || len(prefix) > 64 || strings.Trim(prefix, "0123456789abcdef") != "" {
		return nil, cutroom.Errorf(cutroom.Invalid, "%q is not the id of a result: it has 16 to 64 hexadecimal digits", prefix)
	}
	var first error
	for at, err := range s.folders(ctx) {
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(at, "/"+prefix[:16]) {
			continue
		}
		r, err := s.verified(ctx, at)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && r != nil && strings.HasPrefix(string(r.name.Invocation), prefix) {
			return r, nil
		}
		first = cmp.Or(first, err)
	}
	if first != nil {
		return nil, first
	}
	return nil, cutroom.Errorf(cutroom.NotFound, "no result %s is recorded here", prefix).WithHint("use the run id that a result of this workspace printed")
}

// verified loads and verifies what lies in the folder at.
func (s *Stage) verified(ctx context.Context, at string) (*Result, error) {
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	r, err := s.load(root, at)
	if r == nil || err != nil {
		return nil, err
	}
	return r, r.Verify(ctx)
}

// Found is one artifact that has the content asked for.
type Found struct {
	Result   *Result
	Artifact Artifact
}

// FindArtifact returns the artifacts with that content, oldest result first: how
// a file came to be, wherever it lies now. Results that do not verify are passed
// over.
func (s *Stage) FindArtifact(ctx context.Context, digest cutroom.Digest) ([]Found, error) {
	var found []Found
	for at, err := range s.folders(ctx) {
		if err != nil {
			return nil, err
		}
		if !s.mentions(at, digest) {
			continue
		}
		r, err := s.verified(ctx, at)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || r == nil {
			continue
		}
		for _, a := range r.Manifest.Artifacts {
			if a.SHA256 == digest {
				found = append(found, Found{r, a})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return a.Result.Manifest.Created.Compare(b.Result.Manifest.Created) })
	return found, nil
}

// mentions reports whether the record in at holds the text of digest: a cheap look
// before the costly one.
func (s *Stage) mentions(at string, digest cutroom.Digest) bool {
	root, err := s.root()
	if err != nil {
		return false
	}
	defer root.close()
	f, err := root.open(at + "/" + resultFile)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument))
	return err == nil && bytes.Contains(text, []byte(digest))
}

// List yields every result, in the order of folders, with its manifest verified
// but not its artifacts ([Result.Verify] does that). A folder whose manifest does
// not verify yields a conflict, and the listing goes on.
func (s *Stage) List(ctx context.Context) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		for at, err := range s.folders(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			r, err := s.loaded(at)
			if r == nil && err == nil {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (s *Stage) loaded(at string) (*Result, error) {
	root, err := s.root()
	if err != nil {
		return nil, nil // taken away meanwhile
	}
	defer root.close()
	r, err := s.load(root, at)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// folders yields the path below the root of everything that stands where a result
// may. Entries whose names cannot be ours are passed over. An entry that stands
// where a folder of ours should and is none is yielded too, cut at its own level.
func (s *Stage) folders(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		root, err := s.root()
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield("", s.fault("open", ".", err))
			return
		}
		defer root.close()
		s.descend(ctx, root, "", []func(string) bool{hex16, toolName, hex16}, yield)
	}
}

// descend yields what lies levels below d; false once the consumer has enough.
func (s *Stage) descend(ctx context.Context, d *dir, at string, levels []func(string) bool, yield func(string, error) bool) bool {
	names, err := d.names()
	if err != nil {
		return yield("", s.fault("list", at, err))
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			yield("", err)
			return false
		}
		if !levels[0](name) {
			continue
		}
		if len(levels) == 1 {
			if !yield(at+name, nil) {
				return false
			}
			continue
		}
		sub, err := d.openDir(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, errLink), errors.Is(err, errNotFolder):
			if !yield(at+name, nil) {
				return false
			}
			continue
		case err != nil:
			return yield("", s.fault("list", at+name, err))
		}
		more := s.descend(ctx, sub, at+name+"/", levels[1:], yield)
		sub.close()
		if !more {
			return false
		}
	}
	return true
}
