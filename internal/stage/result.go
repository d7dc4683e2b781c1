package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"cutroom"
)

// Result is a recorded result. One from [Stage.Lookup], [Stage.Find] or
// [Build.Seal] is verified whole; one from [Stage.List] by its manifest only.
type Result struct {
	Manifest Manifest
	// Reviewed is when a person marked the result as reviewed, zero when nobody did.
	Reviewed time.Time
	// ReviewedBy is who did.
	ReviewedBy cutroom.Principal

	stage  *Stage
	name   Name
	folder Identity            // of the folder
	seen   map[string]Identity // of the artifacts that were verified, by path
}

// Name returns what the result is named by.
func (r *Result) Name() Name { return r.name }

// Folder returns the result's folder, relative to the workspace, with forward slashes.
func (r *Result) Folder() string { return r.stage.shown(r.name.folder()) }

// Refs returns the artifacts as doors show them, with paths relative to the workspace.
func (r *Result) Refs() []cutroom.ArtifactRef {
	refs := make([]cutroom.ArtifactRef, len(r.Manifest.Artifacts))
	for i, a := range r.Manifest.Artifacts {
		refs[i] = cutroom.ArtifactRef{
			RelativePath: path.Join(r.Folder(), a.Path), SHA256: a.SHA256, SizeBytes: a.Size,
			MediaType: a.MediaType, TimestampSeconds: a.Timestamp,
		}
	}
	return refs
}

// Artifact returns the artifact with that path inside the result.
func (r *Result) Artifact(p string) (Artifact, bool) {
	for _, a := range r.Manifest.Artifacts {
		if a.Path == p {
			return a, true
		}
	}
	return Artifact{}, false
}

// Open opens an artifact by its path inside the result. What it reads is what was
// recorded: an artifact that changed since is a conflict.
func (r *Result) Open(ctx context.Context, p string) (*os.File, error) {
	a, ok := r.Artifact(p)
	if !ok {
		return nil, cutroom.Errorf(cutroom.NotFound, "the result in %q has no artifact %q", r.Folder(), p)
	}
	root, err := r.stage.root()
	if err != nil {
		return nil, r.stage.fault("open", ".", err)
	}
	defer root.close()
	d, err := r.openFolder(root)
	if err != nil {
		return nil, err
	}
	defer d.close()
	f, _, err := r.openArtifact(ctx, d, a)
	return f, err
}

// openFolder opens the result's folder if it still is the one that was loaded.
func (r *Result) openFolder(root *dir) (*dir, error) {
	d, err := root.openDir(r.name.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cutroom.Errorf(cutroom.NotFound, "the result in %q is no longer there", r.Folder()).WithHint("repeat the call that made it")
	}
	if err != nil {
		return nil, r.stage.tampered(r.name.folder(), "its folder was replaced")
	}
	if id, err := d.identity(); err != nil || !id.sameInode(r.folder) {
		d.close()
		return nil, r.stage.tampered(r.name.folder(), "its folder was replaced")
	}
	return d, nil
}

// openArtifact opens a and makes sure of its content, by identity where it was
// verified before.
func (r *Result) openArtifact(ctx context.Context, d *dir, a Artifact) (*os.File, Identity, error) {
	f, err := d.open(a.Path)
	if err != nil {
		return nil, Identity{}, r.changed(a, err)
	}
	id, err := IdentityOf(f)
	if err == nil && id == r.seen[a.Path] {
		return f, id, nil
	}
	digest := cutroom.Digest("")
	if err == nil && id.Size == a.Size {
		digest, id, err = r.stage.cache.Digest(ctx, f)
	}
	if err != nil || digest != a.SHA256 {
		f.Close()
		if ctx.Err() != nil {
			return nil, id, ctx.Err()
		}
		return nil, id, r.changed(a, err)
	}
	return f, id, nil
}

// changed says what is wrong with an artifact.
func (r *Result) changed(a Artifact, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotFolder):
		return r.stage.tampered(r.name.folder(), fmt.Sprintf("%q is missing", a.Path))
	case errors.Is(err, errLink), errors.Is(err, errNotRegular):
		return r.stage.tampered(r.name.folder(), fmt.Sprintf("%q is not a plain file", a.Path))
	case errors.Is(err, fs.ErrPermission):
		return r.stage.fault("read", r.name.folder(), err)
	}
	return r.stage.tampered(r.name.folder(), fmt.Sprintf("%q changed", a.Path))
}

// Verify checks the whole result against its manifest: every artifact's size and
// hash, and that nothing else lies in the folder.
func (r *Result) Verify(ctx context.Context) error {
	root, err := r.stage.root()
	if err != nil {
		return r.stage.fault("open", ".", err)
	}
	defer root.close()
	d, err := r.openFolder(root)
	if err != nil {
		return err
	}
	defer d.close()
	if err := r.verifyNames(d); err != nil {
		return err
	}
	seen := make(map[string]Identity, len(r.Manifest.Artifacts))
	for _, a := range r.Manifest.Artifacts {
		f, id, err := r.openArtifact(ctx, d, a)
		if err != nil {
			return err
		}
		f.Close()
		seen[a.Path] = id
	}
	r.seen = seen
	return nil
}

func (r *Result) verifyNames(d *dir) error {
	var paths []string
	for _, a := range r.Manifest.Artifacts {
		paths = append(paths, a.Path)
	}
	t := tree(paths)
	t["."] = append(t["."], resultFile)
	if !r.Reviewed.IsZero() {
		t["."] = append(t["."], reviewedFile)
	}
	for folder, names := range t {
		extra, missing, err := compare(d, folder, names)
		switch {
		case err != nil:
			return r.stage.tampered(r.name.folder(), fmt.Sprintf("%q is not a plain folder", folder))
		case extra == reviewedFile && folder == ".":
			// A review that came in after the result was loaded.
		case extra != "":
			return r.stage.tampered(r.name.folder(), fmt.Sprintf("%q does not belong there", path.Join(folder, extra)))
		case missing != "":
			return r.stage.tampered(r.name.folder(), fmt.Sprintf("%q is missing", path.Join(folder, missing)))
		}
	}
	return nil
}

// Lookup returns the result of that name, verified whole, or nil when there is
// none. What lies there without verifying is a conflict that names the folder.
func (s *Stage) Lookup(ctx context.Context, name Name) (*Result, error) {
	if err := name.check(); err != nil {
		return nil, err
	}
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	for try := 1; ; try++ {
		r, err := s.load(root, name.folder())
		if r != nil && err == nil {
			if r.name != name {
				return nil, s.tampered(name.folder(), "it is another result")
			}
			err = r.Verify(ctx)
		}
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case r == nil || try == 8 || root.same(name.folder(), r.folder):
			return nil, err
		}
		// A prune took the result away while it was read, and perhaps a call made it
		// anew: look again.
	}
}

// load reads and checks the manifest in the folder at, nil when there is none.
func (s *Stage) load(root *dir, at string) (*Result, error) {
	d, err := root.openDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.notThere(at, err)
	}
	defer d.close()
	r := &Result{stage: s}
	if r.folder, err = d.identity(); err != nil {
		return nil, s.notThere(at, err)
	}
	if err := s.read(d, resultFile, resultKind, &r.Manifest); err != nil {
		if errors.Is(err, fs.ErrNotExist) && !exists(root, at) {
			return nil, nil
		}
		return nil, s.notThere(at, err)
	}
	r.name = r.Manifest.Name()
	if r.name.check() != nil || r.name.folder() != at || r.Manifest.Version != manifestVersion {
		return nil, s.tampered(at, "it lies under another result's name")
	}
	return r, s.loadReview(d, r)
}

// notThere says why a result cannot be read.
func (s *Stage) notThere(at string, err error) error {
	switch {
	case errors.Is(err, errLink), errors.Is(err, errNotFolder), errors.Is(err, errNotRegular):
		return s.tampered(at, err.Error())
	case errors.Is(err, fs.ErrNotExist):
		return s.tampered(at, "its record is missing")
	case errors.Is(err, errForged):
		return s.tampered(at, errForged.Error())
	}
	return s.fault("read", at, err)
}

// read reads the document name in d.
func (s *Stage) read(d *dir, name, kind string, v document) error {
	f, err := d.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return err
	}
	if len(text) > maxDocument {
		return errForged
	}
	return unsealText(s.key, kind, text, v)
}
